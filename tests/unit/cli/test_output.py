"""What the command line shows to people: progress, claims with their marks, sources, and what was not searched."""

from __future__ import annotations

import io
import json
import sys

import pytest

from pincite.cli.output import (
    Output,
    answer_lines,
    counts_sentence,
    not_searched_lines,
    passage_lines,
    progress_sentence,
    wrapped,
)
from pincite.model import (
    Answer,
    AnswerVerdict,
    BlockKind,
    Citation,
    Claim,
    FileState,
    IndexProgress,
    Ledger,
    LedgerEntry,
    NotSearched,
    Passage,
    Region,
    Scores,
    Verdict,
)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("progress", "sentence"),
    [
        (IndexProgress("looking", 0, 0, path="/docs"), "Looking through /docs"),
        (IndexProgress("reading", 37, 1204, 90, 9.2, 241), "Reading 37 of 1,204 files · 9 pages/s · about 4 min left"),
        (IndexProgress("reading", 0, 2), "Reading 0 of 2 files"),
        (IndexProgress("embedding", 9, 5000, left_s=42.4), "Making vectors: 9 of 5,000 passages · about 42 s left"),
    ],
)
def test_progress_in_words(progress: IndexProgress, sentence: str) -> None:
    assert progress_sentence(progress) == sentence


def test_on_a_terminal_progress_stays_on_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    output = Output(as_json=False, quiet=False)
    for done in range(3):
        output.index_progress(IndexProgress("reading", done, 2, path="x" * 500))
    output.note("Done.")
    shown = terminal.getvalue()
    assert shown.count("\n") == 1 and shown.endswith("\r\033[KDone.\n") and "Reading 2 of 2 files" in shown
    assert max(len(part) for part in shown.split("\r")) < 110


def test_without_a_terminal_each_phase_is_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    output = Output(as_json=True, quiet=False)
    for done in range(3):
        output.index_progress(IndexProgress("reading", done, 3))
    output.index_progress(IndexProgress("embedding", 0, 9))
    assert capsys.readouterr() == ("", "Reading 0 of 3 files\nMaking vectors: 0 of 9 passages\n")


def test_quiet_is_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    output = Output(as_json=False, quiet=True)
    output.index_progress(IndexProgress("reading", 0, 3))
    output.progress("Half done")
    output.note("A note.")
    assert capsys.readouterr() == ("", "")
    output.error("It went wrong.")
    assert capsys.readouterr() == ("", "pincite: It went wrong.\n")


def test_json_keeps_letters_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    Output(as_json=True, quiet=False).json({"title": "Söhne & “Co”"})
    shown = capsys.readouterr().out
    assert "Söhne & “Co”" in shown and json.loads(shown) == {"title": "Söhne & “Co”"}


def claim(text: str, verdict: Verdict, *pincites: str) -> Claim:
    citations = tuple(Citation("d", "Lease", "/l.pdf", f"quote of {p}", (), p) for p in pincites)
    return Claim(text, verdict, 1.0, citations)


def answer(verdict: AnswerVerdict, *claims: Claim, **more: object) -> Answer:
    values: dict[str, object] = {
        "question": "q", "verdict": verdict, "text": "The documents do not answer this question.", "mode": "normal",
        "claims": claims, "nearest": (), "passages": (), "not_searched": (), "model": "", "trace": "t",
    }  # fmt: skip
    return Answer(**(values | more))  # type: ignore[arg-type]


def test_claims_carry_their_verdicts_and_numbered_sources() -> None:
    lines = answer_lines(
        answer(
            AnswerVerdict.PARTLY,
            claim("The rent is 900.", Verdict.SUPPORTED, "Lease, p. 1"),
            claim("It rises.", Verdict.PARTLY, "Lease, p. 2", "Letter, p. 3"),
            claim("It falls.", Verdict.UNSUPPORTED),
            claim("“Rent is due.”", Verdict.QUOTE, "Lease, p. 4"),
            notes=("The answer is made of quotes.",),
        )
    )
    assert lines[:6] == [
        "● The rent is 900. [1]",
        "◐ It rises. [2] [3]",
        "    (partly supported by what it cites)",
        "○ It falls.",
        "    (not in the documents)",
        "❝ “Rent is due.” [4]",
    ]
    assert (
        "  [3] Letter, p. 3: “quote of Letter, p. 3”" in lines and "  [4] Lease, p. 4: “quote of Lease, p. 4”" in lines
    )
    assert lines[-1] == "Note: The answer is made of quotes."


def passage(text: str) -> Passage:
    regions = (Region(3, "iii", ()), Region(4, "1", ()))
    return Passage(
        "c", "d", "Lease", "/l.pdf", BlockKind.PARAGRAPH, ("Rent", "Due"), text, (), (), regions, Scores(), "2024"
    )


def test_an_answer_that_was_not_found_shows_what_was_nearest_and_not_searched() -> None:
    lines = answer_lines(
        answer(
            AnswerVerdict.NOT_FOUND,
            nearest=(passage("The rent."),),
            not_searched=(NotSearched("/scan.pdf", "unsupported", "It is a scan."),),
        )
    )
    assert lines[0] == "The documents do not answer this question."
    assert "  1  Lease › Rent › Due, p. iii, 1" in lines and "     The rent." in lines
    assert lines[-2:] == ["Not searched, or not wholly (1):", "  – /scan.pdf – unsupported. It is a scan."]


def test_long_passages_are_shortened_and_wrapped() -> None:
    lines = passage_lines([passage("word " * 500)])
    assert lines[1].endswith("…") and all(len(line) <= 96 for line in lines[1].split("\n"))


def test_many_files_that_were_not_searched_are_counted_and_some_named() -> None:
    lines = not_searched_lines(NotSearched(f"/{n}.pdf", "failed", "Damaged.") for n in range(50))
    assert lines[1] == "Not searched, or not wholly (50):" and len(lines) < 30
    assert not_searched_lines([]) == []


def test_a_ledger_in_one_sentence() -> None:
    entries = tuple(
        LedgerEntry(f"/{n}", "/", state, "") for n, state in enumerate([FileState.READ] * 2 + [FileState.FAILED])
    )
    assert counts_sentence(Ledger((), entries)) == "1 failed, 2 read."
    assert "add a folder with `pincite index FOLDER`" in counts_sentence(Ledger((), ()))


def test_wrapping_keeps_paths_whole() -> None:
    path = "/a-very-long-path/" + "with-hyphens-" * 10
    assert path in wrapped(f"{path} – failed.", "    ", "  – ")
