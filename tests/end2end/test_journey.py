"""From a folder to the highlighted words: the program as a person uses it, with nothing in it replaced."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from pincite.model import AnswerVerdict, Verdict
from tests.end2end.conftest import Start

# Each with words of the sentence that answers it: on a PDF page over several lines, and on pages made of plain lines.
QUESTIONS = [
    ("In how many instalments is the rent for Unit 7 paid?", "four equal instalments in advance"),
    ("What is form HS-7 for?", "within 24 hours, on form HS-7"),
    ("What was decided in D-2025-14?", "van 3 is put off to October 2025"),
    ("What caused ERR_FMT_6007?", "missing salinity column"),
]


def test_from_a_folder_to_the_highlighted_words(start: Start, samples: Path) -> None:
    person = start()
    person.drop_and_wait(samples)
    assert person.window.status.progress_text.text() == "Up to date"
    for question, expected in QUESTIONS:
        turn = person.ask(question)
        assert turn.answer is not None
        assert turn.answer.verdict is AnswerVerdict.ANSWERED
        quotes = [row.claim.citations[0].quote for row in turn.claim_rows]
        assert any(expected in " ".join(quote.split()) for quote in quotes), (question, quotes)
        for claim, row in enumerate(turn.claim_rows):
            assert row.claim.verdict is Verdict.QUOTE
            citation = person.open_citation(turn, claim)
            person.check_highlight(citation)
