"""The conversation: earlier questions above, the box below, one question at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QScrollArea, QVBoxLayout, QWidget

from pincite.gui.bridge import Bridge, Job, Lane, Task
from pincite.gui.buttons import tool_button
from pincite.gui.labels import TextLabel
from pincite.gui.question_box import QuestionBox
from pincite.gui.style import Tones, icon
from pincite.gui.turn import TurnView
from pincite.model import Answered, AskEvent

if TYPE_CHECKING:
    from pincite.library import Library

COLUMN_PX = 720  # of text: longer lines are hard to follow


class ConversationPane(QWidget):
    """Asks, and shows what comes back."""

    evidence_chosen = Signal(object)  # Evidence
    report_asked = Signal(object)  # Failure
    samples_asked = Signal()
    folder_asked = Signal()
    answering = Signal(bool)

    def __init__(self, bridge: Bridge, tones: Tones, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._tones = tones
        self._job: Job | None = None
        self._at_end = True
        self.turns: list[TurnView] = []
        self.ask_action = QAction(self.tr("&Ask"), self)
        self.ask_action.setToolTip(self.tr("Ask (Enter)"))
        self.ask_action.triggered.connect(lambda: self.ask(self.box.question()))
        self.stop_action = QAction(self.tr("&Stop answering"), self)
        self.stop_action.setShortcut("Esc")
        self.stop_action.setToolTip(self.tr("Stop answering (Esc)"))
        self.stop_action.triggered.connect(self.stop)
        self.setObjectName("conversation")
        self._build()
        self._show_busy(False)

    # --- asking ---

    def ask(self, question: str) -> None:
        """Ask `question`. While an answer is being written, say so and ask nothing."""
        if not question:
            return
        if self._job is not None:
            self.hint.setText(self.tr("One question at a time: press Esc to stop this answer first."))
            return
        self.box.remember(question)
        self.box.selectAll()  # it stays until it is answered, and typing replaces it
        earlier = [turn.asked for turn in self.turns]
        turn = self._add_turn(question)
        job = self._bridge.submit(
            Lane.ANSWER, lambda library, task: _ask(library, task, question, earlier), self.tr("answering")
        )
        self._job = job
        job.reported.connect(self._take)
        job.cancelled.connect(turn.stop)
        job.failed.connect(turn.fail)
        job.ended.connect(lambda: self._end(job, turn))
        self._show_busy(True)

    def stop(self) -> None:
        """Stop the answer that is being written. The next question can be asked at once."""
        if self._job is not None:
            self._job.cancel()
            self._job = None
            self.turns[-1].stop()
            self._show_busy(False)

    def busy(self) -> bool:
        """Whether an answer is being written."""
        return self._job is not None

    def open_source(self, number: int) -> None:
        """Open a source of the last answer."""
        if self.turns:
            self.turns[-1].open_source(number)

    def show_welcome(self, has_folders: bool) -> None:
        """Before the first question: say what to do, depending on whether there is anything to ask."""
        self.welcome.setVisible(not self.turns)
        self.samples_button.setVisible(not has_folders)
        self.folder_button.setVisible(not has_folders)
        self.welcome_text.setText(
            self.tr("Ask a question. Every sentence of the answer shows where it stands, to check on the page.")
            if has_folders
            else self.tr("Choose a folder to ask questions about what is in it. Nothing leaves this computer.")
        )

    def _take(self, event: AskEvent) -> None:
        self.turns[-1].take(event)
        self._order_tabs()
        if isinstance(event, Answered):
            self.box.clear_if(self.turns[-1].asked)

    def _end(self, job: Job, turn: TurnView) -> None:
        turn.end()
        self._order_tabs()
        if self._job is job:
            self._job = None
            self._show_busy(False)

    def _add_turn(self, question: str) -> TurnView:
        turn = TurnView(question, self._tones, self._column)
        turn.evidence_chosen.connect(self.evidence_chosen)
        turn.report_asked.connect(self.report_asked)
        turn.again_asked.connect(self.ask)
        self.welcome.hide()
        self._turns.insertWidget(self._turns.count() - 1, turn)
        self.turns.append(turn)
        self._at_end = True
        return turn

    def _order_tabs(self) -> None:
        """Keep Tab in reading order: widgets that were made last would otherwise come last."""
        before: QWidget = self.scroll_area
        for widget in [widget for turn in self.turns for widget in turn.focus_order()] + [self.box]:
            QWidget.setTabOrder(before, widget)
            before = widget

    def _show_busy(self, busy: bool) -> None:
        self.hint.setText(self.tr("Answering… Esc stops.") if busy else self.tr("Enter asks · Shift+Enter new line"))
        self.stop_action.setEnabled(busy)
        self.stop_button.setVisible(busy)
        self.ask_button.setVisible(not busy)
        self.answering.emit(busy)

    # --- scrolling: the end stays in view as it grows, unless the person scrolled away from it ---

    def _notice_scroll(self, value: int) -> None:
        self._at_end = value >= self.scroll_area.verticalScrollBar().maximum() - 4

    def _follow_end(self, _minimum: int, maximum: int) -> None:
        if self._at_end:
            self.scroll_area.verticalScrollBar().setValue(maximum)

    # --- building ---

    def restyle(self, tones: Tones) -> None:
        """Take on colours."""
        self._tones = tones
        self.ask_action.setIcon(icon("ask", tones.on_accent))
        self.stop_action.setIcon(icon("stop", tones.on_accent))
        for turn in self.turns:
            turn.restyle(tones)

    def _build(self) -> None:
        self._column = QWidget(self)
        self._column.setMaximumWidth(COLUMN_PX)
        self._turns = QVBoxLayout(self._column)
        self._turns.setContentsMargins(28, 24, 28, 24)
        self._turns.setSpacing(34)
        self._turns.addWidget(self._build_welcome())
        self._turns.addStretch(1)
        inside = QWidget(self)
        inside.setObjectName("conversation_inside")
        centred = QHBoxLayout(inside)
        centred.setContentsMargins(0, 0, 0, 0)
        centred.addStretch(1)
        centred.addWidget(self._column, 1000)
        centred.addStretch(1)
        self.scroll_area = QScrollArea(self)
        self.scroll_area.setWidgetResizable(True)
        self.scroll_area.setFrameShape(QFrame.Shape.NoFrame)
        self.scroll_area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.scroll_area.setAccessibleName(self.tr("Conversation"))
        self.scroll_area.setWidget(inside)
        self.scroll_area.verticalScrollBar().valueChanged.connect(self._notice_scroll)
        self.scroll_area.verticalScrollBar().rangeChanged.connect(self._follow_end)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        outer.addWidget(self.scroll_area, 1)
        outer.addWidget(self._build_box())

    def _build_box(self) -> QWidget:
        around = QWidget(self)
        around.setObjectName("question_area")
        frame = QFrame(around)
        frame.setObjectName("question_frame")
        frame.setMaximumWidth(COLUMN_PX - 40)
        self.box = QuestionBox(frame)
        self.box.asked.connect(self.ask)
        self.ask_button = tool_button(self.ask_action, frame)
        self.stop_button = tool_button(self.stop_action, frame)
        row = QHBoxLayout(frame)
        row.setContentsMargins(8, 4, 6, 4)
        row.addWidget(self.box, 1)
        for button in (self.ask_button, self.stop_button):
            button.setProperty("look", "primary")
            row.addWidget(button, 0, Qt.AlignmentFlag.AlignBottom)
        self.hint = TextLabel(look="footer", parent=around)
        self.hint.setMaximumWidth(COLUMN_PX - 40)
        centred = QHBoxLayout(around)
        centred.setContentsMargins(20, 8, 20, 8)
        column = QVBoxLayout()
        column.setSpacing(4)
        for part in (frame, self.hint):
            column.addWidget(part)
        centred.addStretch(1)
        centred.addLayout(column, 1000)
        centred.addStretch(1)
        return around

    def _build_welcome(self) -> QWidget:
        self.welcome = QWidget(self)
        title = TextLabel(self.tr("Ask your documents"), "welcome")
        self.welcome_text = TextLabel(look="hint")
        self.folder_button = QPushButton(self.tr("&Choose a folder…"))
        self.folder_button.clicked.connect(self.folder_asked)
        self.samples_button = QPushButton(self.tr("&Look at the sample documents"))
        self.samples_button.clicked.connect(self.samples_asked)
        buttons = QHBoxLayout()
        for button in (self.folder_button, self.samples_button):
            button.hide()
            buttons.addWidget(button)
        buttons.addStretch(1)
        column = QVBoxLayout(self.welcome)
        column.setContentsMargins(0, 40, 0, 0)
        column.setSpacing(12)
        column.addWidget(title)
        column.addWidget(self.welcome_text)
        column.addLayout(buttons)
        return self.welcome


def _ask(library: Library, task: Task, question: str, earlier: list[str]) -> None:
    for event in library.ask(question, history=earlier, cancelled=task.cancelled):
        task.report(event)
