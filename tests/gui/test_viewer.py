"""The viewer: right page, right boxes, right pixels; paging, zoom, and what happens when it cannot."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QColor, QImage
from pytestqt.qtbot import QtBot

from pincite.errors import UnreadableError
from pincite.gui.evidence import Evidence, of_passage
from pincite.gui.viewer.page_view import UNDERLINE_PX, Highlight
from pincite.gui.viewer.pictures import PictureCache, PictureKey
from pincite.gui.window import MainWindow
from pincite.model import Box, Region
from tests.fakes import FakeDocument, FakeLibrary, Gate
from tests.gui.conftest import OpenWindow
from tests.gui.material import FIRST_BOX, HANDBOOK, LATER_BOX, LEASE, LEAVE, SECOND_BOX

PLAIN = QColor(200, 200, 255)  # what the page shows under the boxes
MARKED = QColor(200, 176, 102)  # the same under a highlight
MARKED_WHITE = QColor(255, 224, 102)


@pytest.fixture
def library() -> FakeLibrary:
    return FakeLibrary([HANDBOOK, LEASE])


@pytest.fixture
def window(open_window: OpenWindow, library: FakeLibrary) -> MainWindow:
    return open_window(library)


def sharp(window: MainWindow) -> bool:
    """Whether the picture in view was rendered for the zoom in use."""
    view = window.viewer.view
    expected = HANDBOOK.size[0] * view.zoom * view.devicePixelRatioF()
    return abs(view.picture_size().width() - expected) <= 1


def show(qtbot: QtBot, window: MainWindow, evidence: Evidence = of_passage(LEAVE)) -> None:
    window.viewer.show_evidence(evidence)
    qtbot.waitUntil(lambda: window.viewer.page_box.label_box.text() != "" and sharp(window))


def grabbed(window: MainWindow) -> QImage:
    return window.viewer.view.viewport().grab().toImage()


def pixels_of(image: QImage, colour: QColor) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    """Which pixels of `image`, by row and column, are of exactly `colour`."""
    plain = image.convertToFormat(QImage.Format.Format_RGB32)
    values = np.frombuffer(plain.constBits(), dtype=np.uint32).reshape(plain.height(), plain.bytesPerLine() // 4)
    return (values[:, : plain.width()] & 0xFFFFFF) == (colour.rgb() & 0xFFFFFF)


def area_of(image: QImage, colour: QColor) -> QRect:
    """The smallest rectangle of `image`, in its own pixels, that holds all pixels of exactly `colour`."""
    down, across = np.nonzero(pixels_of(image, colour))
    if not across.size:
        return QRect()
    return QRect(QPoint(int(across.min()), int(down.min())), QPoint(int(across.max()), int(down.max())))


def near(area: QRect, box: Box, window: MainWindow) -> bool:
    """Whether `area` is where the view shows `box`, to within a pixel and a half."""
    view = window.viewer.view
    ratio = view.devicePixelRatioF()
    first, last = view.page_to_view(box.x0, box.y0) * ratio, view.page_to_view(box.x1, box.y1) * ratio
    sides = [
        area.left() - first.x(),
        area.top() - first.y(),
        area.right() + 1 - last.x(),
        area.bottom() + 1 - last.y(),
    ]
    return all(abs(side) <= 1.5 for side in sides)


def test_the_scene_has_the_boxes_at_their_page_coordinates(window: MainWindow, qtbot: QtBot) -> None:
    show(qtbot, window)
    view = window.viewer.view
    items = [item for item in view.scene().items() if isinstance(item, Highlight)]
    rectangles = {(r.left(), r.top(), r.right(), r.bottom()) for r in (item.sceneBoundingRect() for item in items)}
    assert rectangles == {(b.x0, b.y0, b.x1, b.y1) for b in (FIRST_BOX, SECOND_BOX)}
    assert all(item.current for item in items)


def test_the_region_is_scrolled_into_view(window: MainWindow, qtbot: QtBot) -> None:
    low = Region(3, "1", (LATER_BOX,))
    window.resize(1300, 500)
    show(qtbot, window, Evidence("handbook", "Staff Handbook", "", (low,)))
    seen = window.viewer.view.viewport().rect()
    first = window.viewer.view.page_to_view(LATER_BOX.x0, LATER_BOX.y0).toPoint()
    last = window.viewer.view.page_to_view(LATER_BOX.x1, LATER_BOX.y1).toPoint()
    assert seen.contains(first)
    assert seen.contains(last)


@pytest.mark.parametrize("zoom", [0.6, 1.0, 1.37, 2.5])
def test_highlights_stay_on_their_words_at_every_zoom(window: MainWindow, qtbot: QtBot, zoom: float) -> None:
    show(qtbot, window)
    view = window.viewer.view
    view.set_zoom(zoom)
    qtbot.waitUntil(lambda: sharp(window))
    view.reveal_current()
    qtbot.waitUntil(lambda: not area_of(grabbed(window), MARKED).isNull())
    image = grabbed(window)
    if zoom <= 1.5:  # all of both boxes is in view
        whole = FIRST_BOX.union(SECOND_BOX)
        assert near(area_of(image, MARKED), Box(whole.x0, whole.y0, whole.x1, whole.y1 - UNDERLINE_PX / zoom), window)
    # No more than a pixel's edge of the boxes is bare, and no more than that lies beside them.
    for colour in (PLAIN, MARKED_WHITE):
        stray = int(pixels_of(image, colour).sum())
        assert stray <= 2 * (FIRST_BOX.width + SECOND_BOX.width + 24) * zoom * view.devicePixelRatioF()


def test_while_a_sharper_picture_is_drawn_the_old_one_is_stretched_under_the_same_boxes(
    window: MainWindow, library: FakeLibrary, qtbot: QtBot
) -> None:
    show(qtbot, window)
    gate = Gate()
    library.before["render"] = gate
    before = window.viewer.view.picture_size()
    window.viewer.actions_of_viewer.zoom_in.trigger()
    window.viewer.view.reveal_current()
    qtbot.waitUntil(gate.reached.is_set)
    assert window.viewer.view.picture_size() == before
    area = area_of(grabbed(window), MARKED)
    left = window.viewer.view.page_to_view(FIRST_BOX.x0, 0).x() * window.viewer.view.devicePixelRatioF()
    assert abs(area.left() - left) <= 2.5
    gate.open()
    qtbot.waitUntil(lambda: sharp(window))


def test_next_and_previous_region_go_across_pages(window: MainWindow, qtbot: QtBot) -> None:
    show(qtbot, window)
    viewer, actions = window.viewer, window.viewer.actions_of_viewer
    assert viewer.region_place.text() == "region 1 of 2"
    assert not actions.previous_region.isEnabled()
    actions.next_region.trigger()
    assert viewer.view.highlighted() == (LATER_BOX,)
    assert viewer.page_box.label_box.text() == "2"
    assert viewer.region_place.text() == "region 2 of 2"
    assert not actions.next_region.isEnabled()
    qtbot.keyClick(window, Qt.Key.Key_F3, Qt.KeyboardModifier.ShiftModifier)
    assert viewer.view.highlighted() == (FIRST_BOX, SECOND_BOX)
    assert viewer.page_box.sheet.text() == "(sheet 3 of 4)"


def test_pages_turn_and_are_found_by_label_and_by_sheet(window: MainWindow, qtbot: QtBot) -> None:
    show(qtbot, window)
    viewer = window.viewer
    viewer.actions_of_viewer.previous_page.trigger()
    assert viewer.page_box.label_box.text() == "ii"
    assert viewer.view.highlighted() == ()
    for typed, label, sheet in (
        ("i", "i", "(sheet 1 of 4)"),
        ("2", "2", "(sheet 4 of 4)"),
        ("3", "1", "(sheet 3 of 4)"),
    ):
        viewer.page_box.label_box.setText(typed)
        qtbot.keyClick(viewer.page_box.label_box, Qt.Key.Key_Return)
        assert (viewer.page_box.label_box.text(), viewer.page_box.sheet.text()) == (label, sheet)
    assert viewer.view.highlighted() == (FIRST_BOX, SECOND_BOX)
    viewer.page_box.label_box.setText("99")
    qtbot.keyClick(viewer.page_box.label_box, Qt.Key.Key_Return)
    assert viewer.page_box.label_box.text() == "1"


def test_page_keys_scroll_and_turn_at_the_ends(window: MainWindow, qtbot: QtBot) -> None:
    show(qtbot, window, Evidence("handbook", "Staff Handbook", ""))
    view = window.viewer.view
    while view.verticalScrollBar().value() < view.verticalScrollBar().maximum():
        qtbot.keyClick(view, Qt.Key.Key_PageDown)
    assert window.viewer.page_box.label_box.text() == "i"
    qtbot.keyClick(view, Qt.Key.Key_PageDown)
    assert window.viewer.page_box.label_box.text() == "ii"
    assert view.verticalScrollBar().value() == view.verticalScrollBar().minimum()
    qtbot.keyClick(view, Qt.Key.Key_PageUp)
    assert window.viewer.page_box.label_box.text() == "i"


def test_a_picture_that_comes_too_late_is_not_shown(window: MainWindow, library: FakeLibrary, qtbot: QtBot) -> None:
    show(qtbot, window)
    gate = Gate()
    library.before["render"] = gate
    window.viewer.go_to_page(4)
    assert gate.reached.wait(10)
    window.viewer.go_to_page(2)  # nothing on this page, and its picture waits behind the other
    gate.open()
    qtbot.waitUntil(lambda: sharp(window))
    qtbot.waitUntil(lambda: window._bridge.idle())
    image = grabbed(window)
    assert area_of(image, QColor(0, 200, 0)).isNull()  # page 4's rectangle
    assert [number for _document, number, _zoom in library.called("render")][-2:] == [4, 2]  # type: ignore[misc]


def test_a_picture_seen_before_is_not_drawn_again(window: MainWindow, library: FakeLibrary, qtbot: QtBot) -> None:
    show(qtbot, window)
    window.viewer.go_to_page(4)
    qtbot.waitUntil(lambda: sharp(window))
    drawn = len(library.called("render"))
    window.viewer.go_to_page(3)
    assert sharp(window)
    assert len(library.called("render")) == drawn


def test_a_changed_document_is_drawn_anew(window: MainWindow, library: FakeLibrary, qtbot: QtBot) -> None:
    show(qtbot, window)
    drawn = len(library.called("render"))
    library.documents["handbook"] = FakeDocument("handbook", "Staff Handbook", labels=("1", "2", "3"), generation="2")
    window.viewer.show_evidence(of_passage(LEAVE))
    qtbot.waitUntil(lambda: len(library.called("render")) > drawn)
    qtbot.waitUntil(lambda: window.viewer.page_box.sheet.text() == "of 3")


def test_a_region_on_a_page_that_is_gone_is_said(window: MainWindow, library: FakeLibrary, qtbot: QtBot) -> None:
    library.documents["handbook"] = FakeDocument("handbook", "Staff Handbook", labels=("1", "2"))
    window.viewer.show_evidence(of_passage(LEAVE))
    qtbot.waitUntil(window.viewer.note.isVisible)
    assert window.viewer.note.text().startswith("Page 3 is no longer in this document")
    assert window.viewer.view.highlighted() == ()


def test_a_document_that_can_no_longer_be_opened_says_so(
    window: MainWindow, library: FakeLibrary, qtbot: QtBot
) -> None:
    show(qtbot, window)
    window.viewer.show_evidence(Evidence("gone", "Old Contract", "/documents/old.pdf"))
    qtbot.waitUntil(lambda: "no longer be opened" in window.viewer.message.text())
    assert window.viewer.message.isVisible()
    assert not window.viewer.view.isVisible()
    assert "Old Contract" in window.viewer.message.text()
    assert not window.viewer.actions_of_viewer.next_page.isEnabled()
    show(qtbot, window)  # and the next one opens
    assert window.viewer.view.isVisible()


def test_the_page_before_is_gone_while_another_document_opens(
    window: MainWindow, library: FakeLibrary, qtbot: QtBot
) -> None:
    show(qtbot, window)
    gate = Gate()
    library.before["document"] = gate
    window.viewer.show_evidence(Evidence("lease", "Lease", ""))
    assert gate.reached.wait(10)
    assert not window.viewer.view.isVisible()
    assert window.viewer.view.highlighted() == ()
    gate.open()
    qtbot.waitUntil(window.viewer.view.isVisible)


def test_a_page_that_cannot_be_drawn_is_said_and_its_boxes_stay(
    window: MainWindow, library: FakeLibrary, qtbot: QtBot
) -> None:
    library.before["render"] = UnreadableError("The file is damaged.")
    window.viewer.show_evidence(of_passage(LEAVE))
    qtbot.waitUntil(window.viewer.note.isVisible)
    assert "The file is damaged." in window.viewer.note.text()
    assert window.viewer.view.highlighted() == (FIRST_BOX, SECOND_BOX)


def test_fit_width_follows_the_window_and_a_chosen_zoom_does_not(window: MainWindow, qtbot: QtBot) -> None:
    show(qtbot, window)
    view = window.viewer.view
    fitted = view.zoom
    window.resize(1700, 900)
    qtbot.waitUntil(lambda: view.zoom > fitted)
    window.viewer.actions_of_viewer.zoom_out.trigger()
    chosen = view.zoom
    width = view.width()
    window.resize(1300, 900)
    qtbot.waitUntil(lambda: view.width() < width)
    assert view.zoom == chosen
    window.viewer.actions_of_viewer.fit_width.trigger()
    assert view.fits_width


def test_the_cache_keeps_what_was_used_last() -> None:
    cache = PictureCache(capacity_bytes=3 * 400)
    keys = [PictureKey("handbook", "1", page, 1.0) for page in range(4)]
    picture = QImage(10, 10, QImage.Format.Format_RGB32)  # 400 bytes
    for key in keys[:3]:
        cache.put(key, picture)
    assert cache.get(keys[0]) is not None
    cache.put(keys[3], picture)
    assert cache.get(keys[1]) is None
    assert [cache.get(key) is not None for key in (keys[0], keys[2], keys[3])] == [True, True, True]
    cache.put(keys[3], picture)
    assert len(cache) == 3
