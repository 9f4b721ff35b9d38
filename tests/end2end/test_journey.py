"""From a folder to the highlighted words: the program as a person uses it, with nothing in it replaced."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog

from pincite.errors import NotFoundError
from pincite.gui.turn import TurnView
from pincite.library import Library
from pincite.model import AnswerVerdict, AskEvent, TextAdded, Verdict, reading_text
from tests.end2end.conftest import SMALL, Start, processes, settings_in

# Each with words of the sentence that answers it: on PDF pages, over several lines, and on pages made of plain lines.
QUESTIONS = [
    ("In how many instalments is the rent for Unit 7 paid?", "four equal instalments in advance"),
    ("What is form HS-7 for?", "within 24 hours, on form HS-7"),
    ("Which supplier won the order for the new flow tank?", "Hallam Steel"),
    ("What was wrong with TB-0447?", "lens was covered with algae"),
]
NOTICE = "Mrs Penhaligon keeps the key of the boat shed."
NEW_NOTICE = "Since Monday Mr Trevanion keeps the key of the boat shed."
WHO_HAS_THE_KEY = "Who keeps the key of the boat shed?"


def quotes(turn: TurnView) -> list[str]:
    """What an answer quotes."""
    return [" ".join(citation.quote.split()) for row in turn.claim_rows for citation in row.claim.citations]


def engine_process() -> psutil.Process:
    """The one model process that runs."""
    (process,) = [process for process in processes() if "pincite.engine.server" in process.cmdline()]
    return process


@pytest.fixture
def notices(tmp_path: Path) -> Path:
    """A folder with one short note."""
    folder = tmp_path / "notices"
    folder.mkdir()
    (folder / "keys.txt").write_text(f"{NOTICE}\n", encoding="utf-8")
    return folder


def test_from_a_folder_to_the_highlighted_words(start: Start, samples: Path) -> None:
    person = start()
    person.drop_and_wait(samples)
    assert person.window.status.progress_text.text() == "Up to date"
    for question, expected in QUESTIONS:
        turn = person.ask(question)
        assert turn.answer is not None
        assert turn.answer.verdict is AnswerVerdict.ANSWERED
        assert any(expected in quote for quote in quotes(turn)), (question, quotes(turn))
        for claim, row in enumerate(turn.claim_rows):
            assert row.claim.verdict is Verdict.QUOTE
            person.check_highlight(person.open_citation(turn, claim))
    # A later question does not take away what was clickable before.
    person.check_highlight(person.open_citation(person.window.conversation.turns[0]))
    # Larger, and with the page moved, the same words are highlighted.
    person.window.viewer.actions_of_viewer.zoom_in.trigger()
    person.window.viewer.view.reveal_current()
    person.check_highlight(person.open_citation(person.window.conversation.turns[0]))


def test_a_question_that_the_documents_do_not_answer(
    start: Start, notices: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    person = start()
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(notices))
    with person.waiting_for(person.window.updates.settled):
        QTest.keyClick(person.window, Qt.Key.Key_O, Qt.KeyboardModifier.ControlModifier)
    turn = person.ask("How tall is the tower of Pisa?")
    assert turn.answer is not None
    assert turn.answer.verdict is AnswerVerdict.NOT_FOUND
    assert turn.claim_rows == []
    assert turn.status.text() == turn.answer.text != ""
    assert turn.status_mark.isVisible()
    # The nearest passages are shown, and open like citations do.
    assert turn.nearest
    turn.nearest[0].button.click()
    page = person.library.page(turn.answer.nearest[0].document, 1)
    person.wait_until(lambda: NOTICE in " ".join(reading_text(person.words_highlighted(page)).split()))


def test_a_file_that_changes_while_it_is_open(start: Start, notices: Path) -> None:
    person = start()
    person.drop_and_wait(notices)
    before = person.ask(WHO_HAS_THE_KEY)
    assert NOTICE in quotes(before)
    person.check_highlight(person.open_citation(before, quotes(before).index(NOTICE)))
    path = notices / "keys.txt"
    path.write_text(f"The barge was sold.\n\n{NEW_NOTICE}\n", encoding="utf-8")
    person.wait_until(lambda: NEW_NOTICE in " ".join(reading_text(person.library.page(str(path), 1).words).split()))
    person.wait_until(lambda: person.window.status.progress_text.text() == "Up to date")
    after = person.ask(WHO_HAS_THE_KEY)
    assert NEW_NOTICE in quotes(after)
    assert NOTICE not in quotes(after)
    person.check_highlight(person.open_citation(after, quotes(after).index(NEW_NOTICE)))
    path.unlink()
    person.wait_until(lambda: _is_gone(person.library, path))


def _is_gone(library: Library, path: Path) -> bool:
    try:
        library.document(str(path))
    except NotFoundError:
        return True
    return False


def test_closing_the_window_while_it_reads_and_answers(start: Start, samples: Path, own_data_dir: Path) -> None:
    person = start()
    person.drop(samples)
    person.wait_until(lambda: person.library.ledger().chunks > 0)
    assert person.window.status.progress_text.text() != "Up to date"
    person.type("When is the rent due?")
    assert person.window.conversation.busy()
    assert processes()
    person.window.close()
    assert processes() == set()
    # What was finished is kept and whole, and the rest is read the next time.
    library = Library.open(settings_in(own_data_dir))
    library.update(fast=True)
    again = library.update(fast=True)
    assert again.read == 0
    assert len(library.ledger().entries) == len(list(samples.iterdir()))
    assert library.search("form HS-7", mode="lexical", rerank=False).results
    library.close()


class DisturbedLibrary(Library):
    """Lets the small language model write, which the program would not do, and kills it when it has begun to."""

    disturbed = False

    def ask(self, question: str, **options: object) -> Iterator[AskEvent]:
        for event in super().ask(question, **(options | {"model": SMALL})):  # type: ignore[arg-type]
            if isinstance(event, TextAdded) and not self.disturbed:
                self.disturbed = True
                engine_process().kill()
            yield event


def test_the_model_process_is_killed_in_the_middle_of_an_answer(
    start: Start, notices: Path, expect_log: Callable[[str], None]
) -> None:
    person = start(DisturbedLibrary.open)
    person.drop_and_wait(notices)
    turn = person.type(WHO_HAS_THE_KEY)
    person.wait_until(lambda: bool(turn.stream.written))
    expect_log("The model process ended")
    person.wait_until(lambda: not person.window.conversation.busy())
    # The answer is given all the same, and says what happened.
    assert "The model process ended unexpectedly" in turn.notes.text()
    assert turn.notes.isVisible()
    assert NOTICE in quotes(turn)
    follower = person.ask("What does Mrs Penhaligon keep?")
    assert follower.answer is not None
    assert follower.claim_rows
    assert "model process" not in follower.notes.text()
    assert person.library.engine_status().running


def test_the_model_process_is_killed_while_it_looks_for_quotes(
    start: Start, notices: Path, expect_log: Callable[[str], None]
) -> None:
    person = start()
    person.drop_and_wait(notices)
    process = engine_process()
    process.suspend()  # so that the question is surely under way when it dies
    turn = person.type(WHO_HAS_THE_KEY)
    process.kill()
    expect_log("The model process ended")
    person.wait_until(lambda: not person.window.conversation.busy())
    assert "The model process ended unexpectedly" in turn.notes.text()
    assert NOTICE in quotes(turn)
    follower = person.ask("What does Mrs Penhaligon keep?")
    assert NOTICE in quotes(follower)
    assert not follower.notes.isVisible()
