"""The viewer: opens the document behind a citation at its page, and walks through the regions that support it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QHBoxLayout, QLabel, QStackedWidget, QVBoxLayout, QWidget

from pincite.gui.bridge import Bridge, Failure, Job, Lane
from pincite.gui.buttons import tool_button
from pincite.gui.evidence import Evidence
from pincite.gui.labels import ElidedLabel, TextLabel
from pincite.gui.style import Tones, icon
from pincite.gui.viewer.navigation import PageBox, ViewerActions
from pincite.gui.viewer.page_view import ZOOM_STEP, PageView
from pincite.gui.viewer.pictures import MAX_PICTURE_PX, MAX_RENDER_ZOOM, PictureKey, Pictures
from pincite.model import DocumentInfo, PageSize, Region

if TYPE_CHECKING:
    from pincite.library import Library

SHARPEN_AFTER_MS = 60  # of rest while zooming, before a sharper picture is asked for


class ViewerPane(QWidget):
    """Shows one document. All it knows of it comes over the bridge."""

    def __init__(self, bridge: Bridge, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._evidence: Evidence | None = None
        self._info: DocumentInfo | None = None
        self._sizes: tuple[PageSize, ...] = ()
        self._page = 0
        self._region = 0
        self._opening: Job | None = None
        self._picture_failed = False
        self._pictures = Pictures(bridge, self)
        self._pictures.arrived.connect(self._show_picture)
        self._pictures.failed.connect(self._say_page_failed)
        self._sharpen = QTimer(self)
        self._sharpen.setSingleShot(True)
        self._sharpen.setInterval(SHARPEN_AFTER_MS)
        self._sharpen.timeout.connect(self._want_picture)
        self.actions_of_viewer = ViewerActions(self)
        self._build()
        self._connect()
        self._show_place()

    # --- opening ---

    def show_evidence(self, evidence: Evidence) -> None:
        """Open a document at its first region, or at its first page where it has none."""
        if self._opening is not None:
            self._opening.cancel()
        self._pictures.forget()
        if self._info is None or evidence.document not in (self._info.id, self._info.path):
            self._say(self.tr("Opening…"))  # or the old page would stand under the new title
        self.view.set_highlights((), ())
        self._evidence = evidence
        self.title.setText(evidence.title)
        self.path.setText(evidence.path)
        document = evidence.document
        self._opening = self._bridge.submit(
            Lane.PAGE, lambda library, _task: _opened(library, document), self.tr("opening a document")
        )
        self._opening.result.connect(self._start)
        self._opening.failed.connect(self._say_closed)

    def _start(self, opened: tuple[DocumentInfo, tuple[PageSize, ...]]) -> None:
        self._opening = None
        self._info, self._sizes = opened
        self.path.setText(self._info.path)
        if not self._sizes:
            self._say(self.tr("This document has no pages."))
            return
        self._stack.setCurrentWidget(self.view)
        self.note.hide()
        self._region = 0
        self._page = 0
        if self._regions():
            self._go_to_region(0)
        else:
            self._go_to_page(1)

    def _say_closed(self, failure: Failure) -> None:
        self._opening = None
        title = self._evidence.title if self._evidence is not None else ""
        self._say(self.tr("“{title}” can no longer be opened. {why}").format(title=title, why=failure.sentence))

    def _say(self, sentence: str) -> None:
        """Show a sentence in place of a page."""
        self._sizes, self._page, self._info = (), 0, None
        self.message.setText(sentence)
        self._stack.setCurrentWidget(self._message_page)
        self._show_place()

    # --- where we are ---

    def go_to_page(self, number: int) -> None:
        """Show a page; the regions on it stay highlighted."""
        if 1 <= number <= len(self._sizes):
            self._go_to_page(number)
            here = [i for i, region in enumerate(self._regions()) if region.page == number]
            if here and self._regions()[self._region].page != number:
                self._region = here[0]
            self._show_highlights()

    def step_region(self, step: int) -> None:
        """Go to the next (1) or previous (-1) region, over pages if need be."""
        if 0 <= self._region + step < len(self._regions()):
            self._go_to_region(self._region + step)

    def turn_page(self, step: int) -> None:
        """Go forward (1) or back (-1) a page."""
        self.go_to_page(self._page + step)

    def _regions(self) -> tuple[Region, ...]:
        return self._evidence.regions if self._evidence is not None else ()

    def _go_to_region(self, index: int) -> None:
        self._region = index
        page = self._regions()[index].page
        if page > len(self._sizes):
            self._go_to_page(len(self._sizes))
            self._warn(self.tr("Page {page} is no longer in this document: it has changed since.").format(page=page))
            return
        if page != self._page:
            self._go_to_page(page)
        self._show_highlights()
        self.view.reveal_current()

    def _go_to_page(self, number: int) -> None:
        self._page = number
        self.note.hide()
        self.view.show_page(self._sizes[number - 1])
        self._show_highlights()
        self._want_picture()

    def _show_highlights(self) -> None:
        here = [(i, region) for i, region in enumerate(self._regions()) if region.page == self._page]
        current = [box for i, region in here if i == self._region for box in region.boxes]
        others = [box for i, region in here if i != self._region for box in region.boxes]
        self.view.set_highlights(current, others)
        self._show_place()

    def _show_place(self) -> None:
        regions = self._regions() if self._page else ()
        text = self.tr("region {number} of {count}").format(number=self._region + 1, count=len(regions))
        self.region_place.setText(text if regions else self.tr("no region"))
        self.page_box.show_page(self._sizes, self._page)
        actions = self.actions_of_viewer
        actions.previous_region.setEnabled(bool(regions) and self._region > 0)
        actions.next_region.setEnabled(self._region + 1 < len(regions))
        actions.previous_page.setEnabled(self._page > 1)
        actions.next_page.setEnabled(0 < self._page < len(self._sizes))
        for action in (actions.go_to_page, actions.zoom_in, actions.zoom_out, actions.fit_width):
            action.setEnabled(self._page > 0)
        self._show_zoom()

    def _show_zoom(self) -> None:
        percent = round(self.view.zoom * 72 / self.view.logicalDpiX() * 100)
        self.zoom_place.setText(f"{percent} %" if self._page else "")

    # --- pictures ---

    def _want_picture(self) -> None:
        if self._info is None or not self._page:
            return
        size = self._sizes[self._page - 1]
        zoom = self.view.zoom * self.view.devicePixelRatioF()
        zoom = min(zoom, (MAX_PICTURE_PX / (size.width * size.height)) ** 0.5, MAX_RENDER_ZOOM)
        self._pictures.want(PictureKey(self._info.id, self._info.generation, self._page, round(zoom, 4)))

    def _show_picture(self, key: PictureKey, picture: QImage) -> None:
        if self._info is not None and (key.document, key.page) == (self._info.id, self._page):
            if self._picture_failed:
                self._picture_failed = False
                self.note.hide()
            self.view.set_picture(picture)

    def _say_page_failed(self, failure: Failure) -> None:
        self._picture_failed = True
        self._warn(self.tr("The picture of this page cannot be shown. {why}").format(why=failure.sentence))

    def _warn(self, sentence: str) -> None:
        self.note.setText(sentence)
        self.note.show()

    def _zoomed(self) -> None:
        self._show_zoom()
        self._sharpen.start()

    # --- building ---

    def restyle(self, tones: Tones) -> None:
        """Take on colours."""
        self.view.setBackgroundBrush(tones.desk)
        for action, name in self.actions_of_viewer.icons().items():
            action.setIcon(icon(name, tones.text))

    def _build(self) -> None:
        self.title = ElidedLabel("title", self)
        self.path = ElidedLabel("quiet", self)
        self.note = TextLabel(look="note", parent=self)
        self.note.hide()
        self.view = PageView(self)
        self.message = TextLabel(self.tr("Click a citation to see the page it comes from."), "hint")
        self.message.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._message_page = QWidget(self)
        around = QVBoxLayout(self._message_page)
        around.setContentsMargins(32, 32, 32, 32)
        around.addWidget(self.message)
        self._stack = QStackedWidget(self)
        self._stack.addWidget(self._message_page)
        self._stack.addWidget(self.view)
        self.setObjectName("viewer")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        head = QVBoxLayout()
        head.setContentsMargins(14, 10, 14, 8)
        head.setSpacing(1)
        for part in (self.title, self.path):
            head.addWidget(part)
        column.addLayout(head)
        column.addWidget(self.note)
        column.addWidget(self._stack, 1)
        column.addWidget(self._bar())

    def _bar(self) -> QWidget:
        bar = QWidget(self)
        bar.setObjectName("viewer_bar")
        actions = self.actions_of_viewer
        self.region_place, self.zoom_place = QLabel(bar), QLabel(bar)
        self.page_box = PageBox(bar)
        row = QHBoxLayout(bar)
        row.setContentsMargins(8, 4, 8, 4)
        row.setSpacing(2)
        for part in (
            tool_button(actions.previous_region, bar), self.region_place, tool_button(actions.next_region, bar), None,
            tool_button(actions.previous_page, bar), self.page_box, tool_button(actions.next_page, bar), None,
            tool_button(actions.zoom_out, bar), self.zoom_place, tool_button(actions.zoom_in, bar),
            tool_button(actions.fit_width, bar),
        ):  # fmt: skip
            if part is None:
                row.addStretch(1)
            else:
                row.addWidget(part)
        return bar

    def _connect(self) -> None:
        actions = self.actions_of_viewer
        actions.previous_region.triggered.connect(lambda: self.step_region(-1))
        actions.next_region.triggered.connect(lambda: self.step_region(1))
        actions.previous_page.triggered.connect(lambda: self.turn_page(-1))
        actions.next_page.triggered.connect(lambda: self.turn_page(1))
        actions.go_to_page.triggered.connect(self.page_box.label_box.setFocus)
        actions.go_to_page.triggered.connect(self.page_box.label_box.selectAll)
        actions.zoom_in.triggered.connect(lambda: self.view.zoom_by(ZOOM_STEP))
        actions.zoom_out.triggered.connect(lambda: self.view.zoom_by(1 / ZOOM_STEP))
        actions.fit_width.triggered.connect(self.view.fit_width)
        self.page_box.page_asked.connect(self.go_to_page)
        self.view.page_turned.connect(self.turn_page)
        self.view.zoomed.connect(self._zoomed)


def _opened(library: Library, document: str) -> tuple[DocumentInfo, tuple[PageSize, ...]]:
    return library.document(document), library.page_sizes(document)
