"""What the command line prints: one JSON document, or text for people; progress on standard error."""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

from pincite.model import Answer, AnswerVerdict, Claim, IndexProgress, Ledger, NotSearched, Passage, Verdict

MARKS = {Verdict.SUPPORTED: "●", Verdict.PARTLY: "◐", Verdict.UNSUPPORTED: "○", Verdict.QUOTE: "❝"}
WIDTH = 96


class Output:
    """Writes results and progress the way the person asked for them."""

    def __init__(self, *, as_json: bool, quiet: bool) -> None:
        self.as_json = as_json
        self._quiet = quiet
        self._line_open = False
        self._phase = ""

    def json(self, value: dict[str, Any]) -> None:
        """Print the one JSON document."""
        print(json.dumps(value, ensure_ascii=False, indent=2))

    def text(self, text: str = "") -> None:
        """Print a result for people."""
        self.end_progress()
        print(text)

    def error(self, sentence: str) -> None:
        """Say what went wrong."""
        self.end_progress()
        print(f"pincite: {sentence}", file=sys.stderr)

    def note(self, sentence: str) -> None:
        """Say something beside the result."""
        if not self._quiet:
            self.end_progress()
            print(sentence, file=sys.stderr)

    def progress(self, sentence: str) -> None:
        """Show how far something has come: in place on a terminal, else nothing."""
        if self._quiet or not sys.stderr.isatty():
            return
        print(f"\r\033[K{sentence[: WIDTH - 1]}", end="", file=sys.stderr, flush=True)
        self._line_open = True

    def index_progress(self, progress: IndexProgress) -> None:
        """Show how far reading has come; without a terminal, say only that a phase began."""
        sentence = progress_sentence(progress)
        if sys.stderr.isatty():
            self.progress(sentence)
        elif progress.phase != self._phase and progress.total:
            self._phase = progress.phase
            self.note(sentence)

    def end_progress(self) -> None:
        """Leave the progress line as it is and go on below it."""
        if self._line_open:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
            self._line_open = False


def progress_sentence(progress: IndexProgress) -> str:
    """ "Reading 37 of 1,204 files · 9 pages/s · about 4 min left" """
    if progress.phase == "looking":
        return f"Looking through {progress.path}"
    what = "Reading {:,} of {:,} files" if progress.phase == "reading" else "Making vectors: {:,} of {:,} passages"
    parts = [what.format(progress.done, progress.total)]
    if progress.pages_per_s:
        parts.append(f"{progress.pages_per_s:.0f} pages/s")
    if progress.left_s is not None:
        parts.append(f"about {_duration(progress.left_s)} left")
    return " · ".join(parts)


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def counts_sentence(ledger: Ledger) -> str:
    """ "412 read, 3 failed, 1 unsupported." """
    counts = ", ".join(f"{count:,} {state}" for state, count in sorted(ledger.counts.items()))
    return f"{counts}." if counts else "No files yet: add a folder with `pincite index FOLDER`."


def wrapped(text: str, indent: str = "", first: str | None = None) -> str:
    """The text in lines of a readable length; a path stays in one piece, however long."""
    lead = indent if first is None else first
    return textwrap.fill(
        text, WIDTH, initial_indent=lead, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False
    )


def claim_lines(claim: Claim, first_number: int) -> list[str]:
    """A claim with its mark, and its citations numbered from `first_number`."""
    numbers = "".join(f" [{first_number + i}]" for i in range(len(claim.citations)))
    lines = [wrapped(f"{claim.text}{numbers}", "  ", f"{MARKS[claim.verdict]} ")]
    if claim.verdict in (Verdict.PARTLY, Verdict.UNSUPPORTED):
        said = "partly supported by what it cites" if claim.verdict is Verdict.PARTLY else "not in the documents"
        lines.append(f"    ({said})")
    return lines


def answer_lines(answer: Answer) -> list[str]:
    """A whole answer for people: claims, sources with their quotes, what was not searched."""
    lines: list[str] = []
    number = 1
    sources: list[str] = []
    for claim in answer.claims:
        lines += claim_lines(claim, number)
        for citation in claim.citations:
            sources.append(wrapped(f"{citation.pincite}: “{citation.quote}”", "      ", f"  [{number}] "))
            number += 1
    if answer.verdict is AnswerVerdict.NOT_FOUND:
        lines.append(answer.text)
    if sources:
        lines += ["", "Sources", *sources]
    if answer.nearest:
        lines += ["", "Nearest passages", *passage_lines(answer.nearest)]
    return lines + [f"Note: {note}" for note in answer.notes] + not_searched_lines(answer.not_searched)


def passage_lines(passages: Sequence[Passage]) -> list[str]:
    """Passages for people: place, then the beginning of the text."""
    lines: list[str] = []
    for rank, passage in enumerate(passages, start=1):
        pages = ", ".join(region.label for region in passage.regions)
        path = " › ".join((passage.title, *passage.heading_path))
        lines.append(wrapped(f"{path}, p. {pages}", "     ", f"{rank:>3}  "))
        lines.append(wrapped(textwrap.shorten(passage.text, 240, placeholder=" …"), "     "))
    return lines


def not_searched_lines(files: Iterable[NotSearched]) -> list[str]:
    """What an answer could not look at."""
    listed = list(files)
    if not listed:
        return []
    lines = ["", f"Not searched, or not wholly ({len(listed)}):"]
    return lines + [wrapped(f"{file.path} – {file.state}. {file.reason}", "      ", "  – ") for file in listed[:20]]
