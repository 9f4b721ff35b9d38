"""One question and what came of it, from the first sign of work to the checked answer."""

from __future__ import annotations

from PySide6.QtCore import QElapsedTimer, Qt, QTimer, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from pincite.gui.bridge import Failure
from pincite.gui.claims import MARK_WIDTH_PX, MARKS, ClaimRow, StreamRow
from pincite.gui.evidence import Numbering
from pincite.gui.labels import TextLabel
from pincite.gui.marked_text import rest_after
from pincite.gui.sources import NearestPassage, NotSearchedNote, SourceStrip, heading
from pincite.gui.style import Tones
from pincite.model import (
    Answer,
    Answered,
    AnswerVerdict,
    AskEvent,
    Claim,
    ClaimChecked,
    SourcesFound,
    TextAdded,
    Verdict,
)

TICK_MS = 1000


class TurnView(QFrame):
    """Takes in the events of one question in the order they come."""

    evidence_chosen = Signal(object)  # Evidence
    again_asked = Signal(str)  # the question
    report_asked = Signal(object)  # a Failure with a report

    def __init__(self, question: str, tones: Tones, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.asked = question
        self.answer: Answer | None = None
        self.claim_rows: list[ClaimRow] = []
        self.nearest: list[NearestPassage] = []
        self._failure: Failure | None = None
        self._tones = tones
        self._numbering = Numbering()
        self._build()
        self._waiting = ""
        self._since = QElapsedTimer()
        self._since.start()
        self._tick = QTimer(self)
        self._tick.setInterval(TICK_MS)
        self._tick.timeout.connect(self._show_waiting)
        self._wait_for(self.tr("Looking through your documents…"))

    # --- events ---

    def take(self, event: AskEvent) -> None:
        """Show what an event brings."""
        if isinstance(event, SourcesFound):
            self._show_sources(event)
        elif isinstance(event, TextAdded):
            self._say("")
            self.stream.set_written(self.stream.written + event.text, self._tones)
        elif isinstance(event, ClaimChecked):
            self._show_checked(event)
        elif isinstance(event, Answered):
            self._show_answer(event.answer)

    def stop(self) -> None:
        """Say that the person stopped it. What was checked stays; what was not goes."""
        self.stream.set_written("", self._tones)
        self._say(self.tr("Stopped."))
        self.again.show()

    def fail(self, failure: Failure) -> None:
        """Say what went wrong."""
        self._failure = failure
        self.stream.set_written("", self._tones)
        self._say(failure.sentence, look="problem")
        self.again.show()
        self.details.setVisible(bool(failure.report))

    def end(self) -> None:
        """The work has ended; without an answer, a stop or a failure that needs saying."""
        if self.answer is None and self.again.isHidden():
            self.stream.set_written("", self._tones)
            self._say(self.tr("The answer ended before it was complete."), look="problem")
            self.again.show()

    def focus_order(self) -> list[QWidget]:
        """What Tab goes through, in reading order."""
        links: list[QWidget] = [row.text for row in self.claim_rows]
        cards: list[QWidget] = [card.button for card in self.nearest]
        return [
            *self.strip.buttons, *links, self.stream.text, self.again, self.details, *cards, self.not_searched.button
        ]  # fmt: skip

    def open_source(self, number: int) -> None:
        """Open source `number` in the viewer."""
        self.strip.open(number)

    def _show_sources(self, event: SourcesFound) -> None:
        self._numbering = Numbering(event.passages)
        self.strip.show_passages(event.passages)
        self.stream.set_sources(self._numbering)
        self.not_searched.show_files(event.not_searched, unfolded=False)
        if event.passages:
            self._wait_for(self.tr("Reading the sources…"))

    def _show_checked(self, event: ClaimChecked) -> None:
        self._say("")
        self.stream.set_written(rest_after(self.stream.written, event.claim.text), self._tones)
        if event.index < len(self.claim_rows):
            self._replace(event.index, event.claim)
        else:
            self._append(event.claim)

    def _show_answer(self, answer: Answer) -> None:
        self.answer = answer
        self.stream.set_written("", self._tones)
        if answer.passages and answer.passages != self._numbering.passages:
            self._numbering = Numbering(answer.passages)
            self.strip.show_passages(answer.passages)
        self._show_claims(answer.claims)
        found = answer.verdict is not AnswerVerdict.NOT_FOUND
        self._say("" if found and answer.claims else answer.text, look="answer" if found else "refusal")
        if not found:
            self._show_nearest(answer)
        self.not_searched.show_files(answer.not_searched, unfolded=not found)
        self.notes.setText("\n".join(answer.notes))
        self.notes.setVisible(bool(answer.notes))
        self._show_footer(answer)

    # --- parts ---

    def _show_claims(self, claims: tuple[Claim, ...]) -> None:
        for row in self.claim_rows:
            self._claims.removeWidget(row)
            row.deleteLater()
        self.claim_rows = []
        for claim in claims:
            self._append(claim)

    def _append(self, claim: Claim) -> None:
        row = self._row(claim)
        self.claim_rows.append(row)
        self._claims.addWidget(row)

    def _replace(self, index: int, claim: Claim) -> None:
        old, new = self.claim_rows[index], self._row(claim)
        self._claims.replaceWidget(old, new)
        old.deleteLater()
        self.claim_rows[index] = new

    def _row(self, claim: Claim) -> ClaimRow:
        row = ClaimRow(claim, self._numbering, self._tones, self)
        row.text.evidence_chosen.connect(self.evidence_chosen)
        return row

    def _show_nearest(self, answer: Answer) -> None:
        self.strip.hide()  # the nearest passages say the same with their words
        nearest = answer.nearest
        if nearest:
            self._column.insertWidget(self._column.indexOf(self.not_searched), heading(self.tr("Nearest passages")))
        for passage in nearest:
            card = NearestPassage(passage, self)
            card.evidence_chosen.connect(self.evidence_chosen)
            self.nearest.append(card)
            self._column.insertWidget(self._column.indexOf(self.not_searched), card)

    def _show_footer(self, answer: Answer) -> None:
        parts = [answer.model] if answer.model else []
        if answer.rewritten:
            parts.append(self.tr("searched as “{query}”").format(query=answer.rewritten))
        if "total" in answer.timings_ms:
            parts.append(self.tr("{seconds} s").format(seconds=f"{answer.timings_ms['total'] / 1000:.1f}"))
        self.footer.setText(" · ".join(parts))
        self.footer.setVisible(bool(parts))

    def _wait_for(self, sentence: str) -> None:
        """Say what is being waited for, and since when the question was asked."""
        self._waiting = sentence
        self._tick.start()
        self._show_waiting()

    def _show_waiting(self) -> None:
        seconds = self._since.elapsed() // 1000
        self.status.setText(f"{self._waiting} {seconds} s" if seconds else self._waiting)

    def _say(self, sentence: str, look: str = "quiet") -> None:
        self._tick.stop()
        self.status.setText(sentence)
        self.status.setProperty("look", look)
        self.status.style().unpolish(self.status)
        self.status.style().polish(self.status)
        self.status.setVisible(bool(sentence))
        self.status_mark.setVisible(bool(sentence) and look == "refusal")
        self.status_mark.setStyleSheet(f"color: {self._tones.warn.name()};")

    # --- building ---

    def restyle(self, tones: Tones) -> None:
        """Take on colours."""
        self._tones = tones
        for row in self.claim_rows:
            row.restyle(tones)
        self.stream.set_written(self.stream.written, tones)

    def _build(self) -> None:
        self.question = TextLabel(self.asked, "question", self)
        self.strip = SourceStrip(self)
        self.strip.evidence_chosen.connect(self.evidence_chosen)
        self.stream = StreamRow(self)
        self.stream.text.evidence_chosen.connect(self.evidence_chosen)
        self.stream.hide()
        self.not_searched = NotSearchedNote(self)
        self.notes = TextLabel(look="quiet", parent=self)
        self.notes.hide()
        self.footer = TextLabel(look="footer", parent=self)
        self.footer.hide()
        self._claims = QVBoxLayout()
        self._claims.setSpacing(8)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(10)
        self._column.addWidget(self.question)
        self._column.addWidget(self.strip)
        self._column.addLayout(self._claims)
        self._column.addWidget(self.stream)
        self._column.addLayout(self._status_row())
        self._column.addLayout(self._retry_row())
        self._column.addWidget(self.not_searched)
        self._column.addWidget(self.notes)
        self._column.addWidget(self.footer)

    def _status_row(self) -> QHBoxLayout:
        self.status_mark = TextLabel(MARKS[Verdict.UNSUPPORTED], "mark", self)
        self.status_mark.setFixedWidth(MARK_WIDTH_PX)
        self.status_mark.hide()
        self.status = TextLabel(look="quiet", parent=self)
        row = QHBoxLayout()
        row.setSpacing(0)
        row.addWidget(self.status_mark, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self.status, 1)
        return row

    def _retry_row(self) -> QHBoxLayout:
        self.again = QPushButton(self.tr("Ask again"), self)
        self.again.clicked.connect(lambda: self.again_asked.emit(self.asked))
        self.details = QPushButton(self.tr("Details…"), self)
        self.details.clicked.connect(lambda: self.report_asked.emit(self._failure))
        row = QHBoxLayout()
        for button in (self.again, self.details):
            button.hide()
            row.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        row.addStretch(1)
        return row
