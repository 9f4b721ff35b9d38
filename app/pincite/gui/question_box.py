"""Where questions are typed. Nothing typed here is lost except by the person who typed it."""

from __future__ import annotations

from PySide6.QtCore import QMimeData, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit, QSizePolicy, QWidget

MAX_LINES = 6


class QuestionBox(QPlainTextEdit):
    """Enter asks, Shift+Enter starts a line, Up and Down go through earlier questions."""

    asked = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._earlier: list[str] = []
        self._place = 0  # in _earlier; its length stands for what is being typed
        self._draft = ""
        self.setTabChangesFocus(True)
        self.setPlaceholderText(self.tr("Ask your documents…"))
        self.setAccessibleName(self.tr("Question"))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.textChanged.connect(self._fit_lines)
        self._fit_lines()

    def question(self) -> str:
        """What is typed, without white space around it."""
        return self.toPlainText().strip()

    def remember(self, question: str) -> None:
        """Keep a question for Up and Down."""
        if not self._earlier or self._earlier[-1] != question:
            self._earlier.append(question)
        self._place = len(self._earlier)
        self._draft = ""

    def clear_if(self, question: str) -> None:
        """Empty the box if it still holds `question` and nothing newer."""
        if self.question() == question:
            self.clear()

    def _recall(self, step: int) -> bool:
        place = self._place + step
        if not 0 <= place <= len(self._earlier):
            return False
        if self._place == len(self._earlier):
            self._draft = self.toPlainText()
        self._place = place
        self.setPlainText(self._draft if place == len(self._earlier) else self._earlier[place])
        self.moveCursor(QTextCursor.MoveOperation.End)
        return True

    def _fit_lines(self) -> None:
        lines = min(max(int(self.document().size().height()), 1), MAX_LINES)
        margin = 2 * (self.document().documentMargin() + self.frameWidth())
        self.setFixedHeight(int(lines * self.fontMetrics().lineSpacing() + margin) + 12)

    # --- Qt ---

    def keyPressEvent(self, event: QKeyEvent) -> None:
        shifted = event.modifiers() & Qt.KeyboardModifier.ShiftModifier
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not shifted:
            if self.question():
                self.asked.emit(self.question())
            return
        cursor = self.textCursor()
        at_top = cursor.block().blockNumber() == 0
        at_bottom = cursor.block().next() == self.document().end()
        if event.key() == Qt.Key.Key_Up and at_top and self._recall(-1):
            return
        if event.key() == Qt.Key.Key_Down and at_bottom and self._recall(1):
            return
        super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_lines()

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        if any(url.isLocalFile() for url in source.urls()):
            return False  # dropped files are for the library
        return super().canInsertFromMimeData(source)

    def minimumSizeHint(self) -> QSize:
        return QSize(120, super().minimumSizeHint().height())
