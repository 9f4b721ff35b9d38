"""The strip of sources over an answer, the nearest passages under a refusal, and what was not searched."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QToolButton, QVBoxLayout, QWidget

from pincite.gui.evidence import of_passage, pages_of, place_of
from pincite.gui.flow import FlowLayout
from pincite.gui.labels import ElidedLabel, TextLabel
from pincite.gui.marked_text import tooltip
from pincite.model import NotSearched, Passage

TOOLTIP_CHARACTERS = 400
SNIPPET_CHARACTERS = 240
LISTED_AT_FIRST = 5
CHIP_PX = 262  # at most: two fit beside each other
CHIP_TITLE_SHARE = 0.4  # of it, where a heading follows


class SourceStrip(QWidget):
    """A button for each source, numbered as the answer cites them."""

    evidence_chosen = Signal(object)  # Evidence

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.buttons: list[QToolButton] = []
        self._passages: tuple[Passage, ...] = ()
        self._flow = FlowLayout(self)
        self.hide()

    def show_passages(self, passages: Sequence[Passage]) -> None:
        """Show these sources in place of those before."""
        if tuple(passages) == self._passages:
            return
        while (item := self._flow.takeAt(0)) is not None:
            old = item.widget()
            if old is not None:
                old.deleteLater()
        self._passages = tuple(passages)
        self.buttons = [self._button(number, passage) for number, passage in enumerate(passages, 1)]
        for button in self.buttons:
            self._flow.addWidget(button)
        self.setVisible(bool(self.buttons))
        self.updateGeometry()

    def open(self, number: int) -> None:
        """Open source `number`, counted from 1; nothing happens where there is none."""
        if 1 <= number <= len(self._passages):
            self.evidence_chosen.emit(of_passage(self._passages[number - 1]))

    def _button(self, number: int, passage: Passage) -> QToolButton:
        button = QToolButton(self)
        button.setProperty("look", "source")
        button.setMaximumWidth(CHIP_PX)
        place = place_of(passage)
        shown = _chip_text(button.fontMetrics(), passage)
        button.setText(f"{number}  {shown}".replace("&", "&&"))
        button.setAccessibleName(self.tr("Source {number}: {place}").format(number=number, place=place))
        about = (place, " › ".join(passage.heading_path), _cut(passage.text, TOOLTIP_CHARACTERS))
        button.setToolTip(tooltip("\n".join(filter(None, about))))
        button.setCursor(Qt.CursorShape.PointingHandCursor)
        button.clicked.connect(lambda: self.open(number))
        return button


class NearestPassage(QFrame):
    """A passage that came near without answering: where it stands, how it begins; a click opens it."""

    evidence_chosen = Signal(object)  # Evidence

    def __init__(self, passage: Passage, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("look", "card")
        self.button = QPushButton(place_of(passage).replace("&", "&&"), self)
        self.button.setProperty("look", "link")
        self.button.setCursor(Qt.CursorShape.PointingHandCursor)
        self.button.setAccessibleName(self.tr("Open {place}").format(place=place_of(passage)))
        self.button.clicked.connect(lambda: self.evidence_chosen.emit(of_passage(passage)))
        snippet = TextLabel(_cut(passage.text, SNIPPET_CHARACTERS), "quiet")
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 8, 12, 10)
        column.setSpacing(2)
        column.addWidget(self.button, 0, Qt.AlignmentFlag.AlignLeft)
        if passage.heading_path:
            heading = ElidedLabel("quiet")
            heading.setText(" › ".join(passage.heading_path))
            column.addWidget(heading)
        column.addWidget(snippet)


class NotSearchedNote(QWidget):
    """The files an answer could not look at: how many, and on request which and why."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.files: tuple[NotSearched, ...] = ()
        self.button = QToolButton(self)
        self.button.setProperty("look", "link")
        self.button.setCheckable(True)
        self.button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.button.toggled.connect(self._unfold)
        self.list = TextLabel(look="quiet", parent=self)
        self.list.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addWidget(self.button, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self.list)
        self.hide()

    def show_files(self, files: Sequence[NotSearched], *, unfolded: bool) -> None:
        """Say which files were not searched; nothing for none."""
        self.files = tuple(files)
        count = len(self.files)
        self.button.setText(
            self.tr("1 file was not searched") if count == 1 else self.tr("{n} files were not searched").format(n=count)
        )
        self.list.setText("\n".join(f"{file.path}: {file.state}. {file.reason}".strip() for file in self.files))
        self.button.setChecked(unfolded and count <= LISTED_AT_FIRST)
        self._unfold(self.button.isChecked())
        self.setVisible(bool(self.files))

    def _unfold(self, unfolded: bool) -> None:
        self.button.setArrowType(Qt.ArrowType.DownArrow if unfolded else Qt.ArrowType.RightArrow)
        self.list.setVisible(unfolded)


def heading(text: str) -> QLabel:
    """A small heading within an answer."""
    return TextLabel(text, "heading")


def _chip_text(metrics: QFontMetrics, passage: Passage) -> str:
    """Title, page and heading, each no longer than there is room for: sources of one document differ in the last."""
    room_px = CHIP_PX - metrics.horizontalAdvance("000000")
    pages = pages_of(passage)
    rest = " · ".join(filter(None, (pages, passage.heading_path[-1] if passage.heading_path else "")))
    title_px = int(room_px * CHIP_TITLE_SHARE) if passage.heading_path else room_px - metrics.horizontalAdvance(pages)
    title = metrics.elidedText(passage.title, Qt.TextElideMode.ElideRight, title_px)
    whole = ", ".join(filter(None, (title, rest)))
    return metrics.elidedText(whole, Qt.TextElideMode.ElideRight, room_px)


def _cut(text: str, characters: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= characters else text[: characters - 1].rstrip() + "…"
