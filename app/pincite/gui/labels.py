"""Labels that show exactly the text they are given: nothing from a document or a path is taken for markup."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from pincite.gui.marked_text import tooltip


class TextLabel(QLabel):
    """Plain text, wrapped, selectable. `look` names a rule of the style sheet ("quiet", "question", …)."""

    def __init__(self, text: str = "", look: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(True)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        self.setProperty("look", look)
        self.setText(text)


class ElidedLabel(QLabel):
    """One line of plain text, shortened in the middle when there is no room; the tool tip has all of it."""

    def __init__(self, look: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setProperty("look", look)

    def setText(self, text: str) -> None:
        super().setText(text)
        self.setToolTip(tooltip(text) if text else "")

    def minimumSizeHint(self) -> QSize:
        return QSize(0, super().minimumSizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        metrics = QFontMetrics(self.font())
        shown = metrics.elidedText(self.text(), Qt.TextElideMode.ElideMiddle, self.contentsRect().width())
        painter = QPainter(self)
        painter.setPen(self.palette().color(self.foregroundRole()))
        painter.drawText(self.contentsRect(), int(self.alignment()), shown)
        painter.end()
