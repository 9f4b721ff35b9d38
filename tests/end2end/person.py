"""Someone at the window: drops folders, types questions, clicks citations, and waits for what comes of it.

Nothing here reaches behind the widgets, but for looking up in the library what the words of a page are.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl, SignalInstance
from PySide6.QtGui import QCursor, QDragEnterEvent, QDropEvent, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from pincite.gui.claims import LinkedText
from pincite.gui.turn import TurnView
from pincite.gui.window import MainWindow
from pincite.library import Library
from pincite.model import Citation, Page, Word
from tests.end2end.sight import Sight, current_boxes, grabbed_view, on_screen, same_text, words_under

WAIT_MS = 150_000  # for models to load on a machine that has much else to do
STEP_PX = 4  # of the pointer that looks for a link: links are wider and taller


class Person:
    """Uses one window."""

    def __init__(self, window: MainWindow, libraries: list[Library], qtbot: QtBot) -> None:
        self.window = window
        self._libraries = libraries
        self._qtbot = qtbot

    @property
    def library(self) -> Library:
        """The library that the window has opened."""
        return self._libraries[-1]

    def wait_until(self, condition: Callable[[], bool]) -> None:
        """Let the window work until `condition` holds."""
        self._qtbot.waitUntil(condition, timeout=WAIT_MS)

    def waiting_for(self, signal: SignalInstance) -> AbstractContextManager[object]:
        """Let the window work, at the end of the block, until `signal` comes."""
        return self._qtbot.waitSignal(signal, timeout=WAIT_MS)

    # Documents

    def drop(self, *paths: Path) -> None:
        """Drop files or folders on the window."""
        data = QMimeData()
        data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
        place = self.window.rect().center()
        how = (Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)
        QApplication.sendEvent(self.window, QDragEnterEvent(place, *how))
        QApplication.sendEvent(self.window, QDropEvent(QPointF(place), *how))

    def drop_and_wait(self, *paths: Path) -> None:
        """Drop files or folders, and wait until all is read."""
        with self.waiting_for(self.window.updates.settled):
            self.drop(*paths)

    # Questions

    def type(self, question: str) -> TurnView:
        """Type a question and press Enter."""
        box = self.window.conversation.box
        QTest.mouseClick(box.viewport(), Qt.MouseButton.LeftButton)
        QTest.keyClicks(box, question)
        QTest.keyClick(box, Qt.Key.Key_Return)
        return self.window.conversation.turns[-1]

    def ask(self, question: str) -> TurnView:
        """Type a question and wait for what comes of it."""
        turn = self.type(question)
        assert turn.asked == question
        self.wait_until(lambda: not self.window.conversation.busy())
        return turn

    # Citations

    def click_link(self, text: LinkedText, address: str) -> None:
        """Move the pointer over a text until it is on the link, and click."""
        self.window.conversation.scroll_area.ensureWidgetVisible(text)
        QApplication.processEvents()
        hovered: list[str] = []
        text.linkHovered.connect(hovered.append)
        for place in _places(text):
            self.wait_until(lambda place=place: self._pointer_is_at(text, place))
            if hovered and hovered[-1] == address:
                QTest.mouseClick(text, Qt.MouseButton.LeftButton, pos=place)
                return
        raise AssertionError(f"no link {address} under the pointer in {text.text()!r}; there are {hovered}")

    def _pointer_is_at(self, text: LinkedText, place: QPoint) -> bool:
        """Move the pointer there, and say whether it has arrived: the text may have moved meanwhile."""
        if text.mapFromGlobal(QCursor.pos()) == place:
            return True
        QTest.mouseMove(text, place)
        return False

    def open_citation(self, turn: TurnView, claim: int = 0, at: int = 0) -> Citation:
        """Click a citation mark of an answer, and wait until the page is drawn."""
        row = turn.claim_rows[claim]
        citation = row.claim.citations[at]
        self.click_link(row.text, f"cite:{at}")
        self.wait_for_page(citation)
        return citation

    def wait_for_page(self, citation: Citation) -> None:
        """Wait until the viewer shows the citation's first region on a picture as sharp as the screen."""
        viewer, view = self.window.viewer, self.window.viewer.view
        region = citation.regions[0]

        def drawn() -> bool:
            sizes = self.library.page_sizes(citation.document)
            wanted_px = sizes[region.page - 1].width * view.zoom * view.devicePixelRatioF()
            return abs(view.picture_size().width() - wanted_px) <= 1 and viewer.page_box.label_box.text() != ""

        self.wait_until(lambda: len(current_boxes(view)) == len(region.boxes) and drawn())

    # What is seen

    def page(self, citation: Citation) -> Page:
        """The page of the citation's first region, from the library."""
        return self.library.page(citation.document, citation.regions[0].page)

    def words_highlighted(self, page: Page) -> list[Word]:
        """The words of `page` under the current region's highlights in the scene."""
        return words_under(page, current_boxes(self.window.viewer.view))

    def check_highlight(self, citation: Citation) -> None:
        """Scene, painted widget and screen must all show exactly the words of the citation's quote highlighted."""
        view, page = self.window.viewer.view, self.page(citation)
        words = self.words_highlighted(page)
        assert same_text(words, citation.quote), "in the scene"
        looks: list[Callable[[], Sight]] = [lambda: grabbed_view(view)]
        if QGuiApplication.platformName() == "xcb":
            looks.append(lambda: on_screen(view))
        for look in looks:
            self.wait_until(lambda look=look: bool(look().marked_words(page)))
            sight = look()
            assert same_text(sight.marked_words(page), citation.quote), "in the pixels"
            assert sight.doubtful_words(page) == []
            assert sight.strays(words) == []


def _places(text: LinkedText) -> list[QPoint]:
    """Points all over a text, from its end: citations follow the words."""
    columns, rows = range(text.width() - 2, 0, -STEP_PX), range(text.height() - 2, 0, -STEP_PX)
    return [QPoint(x, y) for y in rows for x in columns]
