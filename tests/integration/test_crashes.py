"""Processes that are killed in the middle of their work cost that piece of work and nothing else."""

from __future__ import annotations

import itertools
import json
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from pincite import update
from pincite.index import Index
from pincite.library import Library
from pincite.model import Answered, AnswerVerdict, IndexProgress, TextAdded, UpdateReport
from tests.integration.conftest import SAMPLES, WAIT_S, children, environment_at, settings_at, wait_until
from tests.unit.extract.pages import pdf_with

SMALL = "SmolLM2-135M-Instruct"
READER, ENGINE = "pincite.extract.child", "pincite.engine.server"
LONG_PAGES = 60
SECTIONS = "\n\n".join(f"## Clause {n}\n\nThe duty number {n} of the tenant is to keep record {n}." for n in range(100))
READ_BY_NOW = "SELECT COUNT(*) FROM documents"
EMBEDDED_BY_NOW = "SELECT COUNT(*) FROM chunks WHERE embedded != ''"

ExpectLog = Callable[[str], None]

unix_only = pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL here")


def kill(module: str) -> None:
    """Kill the child that runs the module, the youngest if there are several, and see it gone."""
    child = max(children(module), key=psutil.Process.create_time)
    child.kill()
    wait_until(lambda: child not in children(module), "the child to end")  # its parent is who asks how it ended


def long_pdf(path: Path) -> Path:
    """A file that takes a while to read."""
    numbers = itertools.count(1)

    def draw(page: Any) -> None:
        number = next(numbers)
        for line in range(12):
            page.insert_text((72, 100 + 20 * line), f"On day {number} the landlord mends roof {number * line}.")

    return pdf_with(path, draw, pages=LONG_PAGES)


def states(library: Library) -> dict[str, str]:
    return {Path(entry.path).name: entry.state.value for entry in library.ledger().entries}


def found(library: Library, query: str) -> list[str]:
    result = library.search(query, mode="lexical", rerank=False)
    return [passage.text for passage in result.results]


# The reader


@pytest.fixture
def long_file(tmp_path: Path, library: Library) -> Path:
    """A file that takes a while to read, beside a short one."""
    (tmp_path / "documents" / "short.md").write_text("The tenant pays nine hundred pounds.\n")
    return long_pdf(tmp_path / "documents" / "long.pdf")


def killing_the_reader_of(path: Path, times: int) -> Callable[[IndexProgress], None]:
    """Progress that kills the reader in the middle of a file, the first so many times that it is read."""
    left = times

    def note(progress: IndexProgress) -> None:
        nonlocal left
        if progress.phase == "reading" and progress.path == str(path) and left and children(READER):
            left -= 1
            kill(READER)

    return note


def test_a_file_whose_reader_dies_of_an_earlier_file_is_tried_once_more(
    library: Library, long_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(update.os, "cpu_count", lambda: 2)  # one reader: the short file is read by the same child
    report = library.update(fast=True, progress=killing_the_reader_of(long_file, times=1))
    assert (report.read, report.failed) == (2, 0)
    assert found(library, "pounds") and found(library, "landlord")


def test_a_file_that_kills_its_reader_costs_that_file_only(library: Library, long_file: Path) -> None:
    report = library.update(fast=True, progress=killing_the_reader_of(long_file, times=10))
    assert (report.read, report.failed) == (1, 1)
    assert states(library) == {"short.md": "read", "long.pdf": "failed"}
    [failed] = [entry for entry in library.ledger().entries if entry.state.value == "failed"]
    assert re.fullmatch(r"The program that read it crashed on page \d+\.", failed.reason)
    assert found(library, "pounds") and not found(library, "landlord")
    assert library.update(fast=True).unchanged == 2, "it is not tried again by itself"
    library.add(long_file)
    assert library.update(fast=True).read == 1
    assert found(library, "landlord") and not children(READER)


# The engine


def test_an_engine_killed_while_embedding_leaves_keyword_search_and_the_rest_follows(
    library: Library, tmp_path: Path, expect_log: ExpectLog
) -> None:
    expect_log("The model process ended")
    (tmp_path / "documents" / "rules.md").write_text(SECTIONS)
    phases: list[IndexProgress] = []
    killed = False

    def kill_in_the_second_batch() -> bool:
        """Asked while the answer to a request is waited for."""
        nonlocal killed
        if not killed and phases and phases[-1].phase == "embedding" and phases[-1].done:
            kill(ENGINE)
            killed = True
        return False

    report = library.update(progress=phases.append, cancelled=kill_in_the_second_batch)
    assert killed and report.read == 1 and report.embedded == 0
    assert any("by their words only" in note and "ended unexpectedly" in note for note in report.notes)
    ledger = library.ledger()
    assert 0 < ledger.chunks_without_vectors < ledger.chunks
    assert found(library, "duty number 42")
    assert library.update().embedded == ledger.chunks_without_vectors
    assert library.ledger().chunks_without_vectors == 0
    assert library.search("what is the tenant to do", mode="dense", rerank=False).results


def test_an_engine_killed_while_answering_leaves_an_answer_of_quotes_and_the_next_question_works(
    samples: Library, expect_log: ExpectLog
) -> None:
    expect_log("The model process ended")
    question = "How much notice must a tenant give?"
    killed = False
    for event in samples.ask(question, model=SMALL):
        if isinstance(event, TextAdded) and not killed:
            kill(ENGINE)
            killed = True
    assert killed and isinstance(event, Answered)
    assert any(note.startswith("The answer is made of quotes.") for note in event.answer.notes)
    assert event.answer.mode == "quotes" and event.answer.verdict is AnswerVerdict.ANSWERED
    *_, last = samples.ask(question, mode="quotes")
    assert isinstance(last, Answered) and last.answer.claims and not last.answer.notes


# The whole program


def index_in_a_process(place: Path, *arguments: str) -> subprocess.Popen[str]:
    """`pincite index` on the folder of documents, with a library and settings of its own."""
    (place / "data").mkdir(exist_ok=True)
    (place / "data" / "settings.toml").write_text("settle_s = 0.0\n")
    return subprocess.Popen(
        [sys.executable, "-m", "pincite", "--library", str(place / "library"), "index", *arguments, "--json"],
        env=environment_at(place),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def count(place: Path, question: str) -> int:
    """What the library holds by now, looked at from outside."""
    try:
        connection = sqlite3.connect(f"file:{place / 'library' / 'library.sqlite'}?mode=ro", uri=True)
    except sqlite3.OperationalError:
        return 0
    try:
        number: int = connection.execute(question).fetchone()[0]
        return number
    except sqlite3.OperationalError:
        return 0  # the tables are not there yet
    finally:
        connection.close()


@unix_only
@pytest.mark.parametrize("phase", ["reading", "embedding"])
def test_a_program_killed_in_the_middle_finishes_the_next_time(tmp_path: Path, phase: str) -> None:
    documents = tmp_path / "documents"
    documents.mkdir()
    shutil.copy(SAMPLES / "operations-meeting-notes.md", documents)
    (documents / "rules.md").write_text(SECTIONS)
    long_pdf(documents / "long.pdf")
    question, speed = (READ_BY_NOW, ("--fast",)) if phase == "reading" else (EMBEDDED_BY_NOW, ())
    program = index_in_a_process(tmp_path, str(documents), *speed)
    with program:
        wait_until(lambda: count(tmp_path, question) > 0 or program.poll() is not None, "some of the work")
        assert program.poll() is None, program.stderr.read() if program.stderr else ""
        started = psutil.Process(program.pid).children(recursive=True)
        program.send_signal(signal.SIGKILL)
        program.wait(WAIT_S)
    psutil.wait_procs(started, WAIT_S)
    assert not [process for process in started if process.is_running()], "its children end with it"

    with index_in_a_process(tmp_path, str(documents), *speed) as again:
        out, err = again.communicate(timeout=WAIT_S)
    assert again.returncode == 0, err
    told = json.loads(out)
    update = told["update"]
    assert told["counts"] == {"read": 3} and update["notes"] == [] and update["read"] + update["unchanged"] == 3
    assert update["unchanged"] >= (1 if phase == "reading" else 3), "what was finished is kept"
    if phase == "embedding":
        assert told["chunks_without_vectors"] == 0 and update["embedded"] < told["chunks"]
    assert_consistent(tmp_path, told["chunks"], told["chunks"] - told["chunks_without_vectors"])


def assert_consistent(place: Path, chunks: int, vectors: int) -> None:
    """The stores are whole, agree with each other, and hold what an undisturbed run would have made."""
    connection = sqlite3.connect(place / "library" / "library.sqlite")
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    connection.execute("INSERT INTO keywords(keywords) VALUES ('integrity-check')")
    connection.rollback()
    connection.close()
    settings = settings_at(place)
    index = Index(settings.library_dir, settings.embedding_model)
    assert index.repair() == (0, 0) and index.ledger().chunks == chunks
    assert len(index._vectors.ids()) == vectors
    index.close()
    undisturbed = Library.open(settings_at(place / "undisturbed"))
    undisturbed.add(place / "documents")
    assert undisturbed.update(fast=True) == UpdateReport(read=3)
    assert undisturbed.ledger().chunks == chunks
    undisturbed.close()
