"""Messages that do not belong to a question: a strip at the top of the window, and the report of a mistake."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QFontDatabase
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFrame,
    QHBoxLayout,
    QPlainTextEdit,
    QPushButton,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from pincite.gui.bridge import Failure
from pincite.gui.buttons import tool_button
from pincite.gui.labels import TextLabel
from pincite.gui.style import Tones, icon


class MessageStrip(QFrame):
    """One message at a time; it stays until it is dismissed or replaced."""

    report_asked = Signal(object)  # Failure

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("message")
        self._failure: Failure | None = None
        self.text = TextLabel(parent=self)
        self.details = QPushButton(self.tr("&Details…"), self)
        self.details.clicked.connect(lambda: self.report_asked.emit(self._failure))
        self.dismiss_action = QAction(self.tr("Dismiss"), self)
        self.dismiss_action.triggered.connect(self.hide)
        row = QHBoxLayout(self)
        row.setContentsMargins(14, 6, 8, 6)
        row.addWidget(self.text, 1)
        row.addWidget(self.details)
        row.addWidget(tool_button(self.dismiss_action, self))
        self.hide()

    def show_failure(self, failure: Failure) -> None:
        """Say what went wrong."""
        self._failure = failure
        self.show_note(failure.sentence)
        self.details.setVisible(bool(failure.report))

    def show_note(self, sentence: str) -> None:
        """Say something the person should see."""
        self.text.setText(sentence)
        self.details.hide()
        self.show()

    def restyle(self, tones: Tones) -> None:
        """Take on colours."""
        self.dismiss_action.setIcon(icon("close", tones.text))


class ReportDialog(QDialog):
    """The report of a mistake of ours, to read and to copy."""

    def __init__(self, failure: Failure, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("What went wrong"))
        self.resize(720, 420)
        self.report = QPlainTextEdit(failure.report, self)
        self.report.setReadOnly(True)
        self.report.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.report.setAccessibleName(self.tr("Report"))
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.addWidget(TextLabel(failure.sentence, parent=self))
        column.addWidget(TextLabel(self.tr("The report may contain words of your documents."), "quiet", self))
        column.addWidget(self.report, 1)
        column.addWidget(buttons)


class ShortcutsDialog(QDialog):
    """Every shortcut, in the words of the menus."""

    def __init__(self, rows: list[tuple[str, str]], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Keyboard shortcuts"))
        self.resize(460, 560)
        self.table = QTableWidget(len(rows), 2, self)
        self.table.setHorizontalHeaderLabels([self.tr("Keys"), self.tr("What they do")])
        self.table.verticalHeader().hide()
        self.table.horizontalHeader().setStretchLastSection(True)
        self.table.setEditTriggers(QTableWidget.EditTrigger.NoEditTriggers)
        self.table.setShowGrid(False)
        self.table.setSelectionMode(QTableWidget.SelectionMode.NoSelection)
        self.table.setAccessibleName(self.tr("Keyboard shortcuts"))
        for at, (keys, what) in enumerate(rows):
            self.table.setItem(at, 0, QTableWidgetItem(keys))
            self.table.setItem(at, 1, QTableWidgetItem(what))
        self.table.resizeColumnToContents(0)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.addWidget(self.table, 1)
        column.addWidget(buttons)
