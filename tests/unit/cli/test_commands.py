"""What the commands make of their options, and what they print, over a library that is not real."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pincite.cli import commands, main
from pincite.cli.commands import filters_from
from pincite.errors import UsageError
from pincite.library import Erased
from pincite.model import (
    Answer,
    Answered,
    AnswerVerdict,
    Box,
    DocumentInfo,
    FileState,
    Filters,
    Folder,
    Ledger,
    LedgerEntry,
    Picture,
    UpdateReport,
)
from tests.fakes import FakeDocument, FakeLibrary

LEDGER = Ledger(
    folders=(Folder("/docs", True), Folder("/drive", False)),
    entries=(
        LedgerEntry("/docs/a.pdf", "/docs", FileState.READ, "", "d1", pages=3),
        LedgerEntry("/docs/b.pdf", "/docs", FileState.FAILED, "The file is damaged."),
    ),
    chunks=10,
    chunks_without_vectors=4,
)
CALM = Ledger((Folder("/docs", True),), LEDGER.entries[:1], 10, 0)


class RecordingLibrary(FakeLibrary):
    """Draws nothing and erases nothing, and notes what was asked for."""

    def render(self, document: str, number: int, *, zoom: float = 1.0, boxes: object = ()) -> Picture:
        self._note("render", (document, number, zoom, boxes))
        return Picture(b"png", 10, 20)

    def forget(self, document: str) -> Erased:  # type: ignore[override]
        super().forget(document)
        return Erased(DocumentInfo(document, "A lease", "/docs/a.pdf", "pdf", 3, "", "g"), 7, 0, "2024-01-01T00:00:00")


Use = Callable[[FakeLibrary], FakeLibrary]


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch) -> Use:
    """Let the commands work on this library."""

    def use(library: FakeLibrary) -> FakeLibrary:
        @contextmanager
        def opened(settings: object) -> Iterator[FakeLibrary]:
            yield library

        monkeypatch.setattr(commands, "opened", opened)
        return library

    return use


def printed(capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    """The one JSON document on standard output."""
    document: dict[str, object] = json.loads(capsys.readouterr().out)
    return document


# Filters


def filters(**given: str) -> Filters:
    options = {"folder": "", "document": "", "type": "", "after": "", "before": ""} | given
    return filters_from(argparse.Namespace(**options))


def test_no_options_are_no_filter() -> None:
    assert not filters()


def test_paths_are_taken_from_where_one_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lease.pdf").touch()
    assert filters(folder="docs/../docs").folder == str(tmp_path / "docs")
    assert filters(document="lease.pdf").document == str(tmp_path / "lease.pdf")
    assert filters(document="./nowhere/lease.pdf").document == str(tmp_path / "nowhere" / "lease.pdf")
    assert filters(document="Staff Handbook").document == "Staff Handbook"
    assert filters(document="x" * 10_000).document == "x" * 10_000


@pytest.mark.parametrize("typed", ["2024-03-31", "20240331", "2024-W13-7"])
def test_dates_are_compared_in_one_form(typed: str) -> None:
    assert filters(after=typed).after == "2024-03-31"


@pytest.mark.parametrize("typed", ["yesterday", "2024-13-01", "31.3.2024", "2024"])
def test_a_date_that_is_none_is_wrong_usage(typed: str) -> None:
    with pytest.raises(UsageError, match="--before takes a date like 2024-03-31"):
        filters(before=typed)


@pytest.mark.parametrize(
    ("typed", "format"),
    [("pdf", "pdf"), (".PDF", "pdf"), ("md", "markdown"), ("markdown", "markdown"), ("txt", "text"), ("Log", "text")],
)
def test_formats_go_by_their_name_or_their_ending(typed: str, format: str) -> None:
    assert filters(type=typed).type == format


def test_a_format_that_is_not_read_is_wrong_usage() -> None:
    with pytest.raises(UsageError, match="There is no format 'docx'; there are pdf, markdown, text"):
        filters(type="docx")


# Boxes


@pytest.mark.parametrize(
    "boxes",
    ["", "[", "{}x", "5", '"abcd"', "[1,2,3,4]", "[[1,2,3]]", '[["a",2,3,4]]', '[["1",2,3,4]]', "[[null,2,3,4]]",
     "[[NaN,0,1,1]]", "[[0,0,Infinity,1]]", "[[true,2,3,4]]", "[" * 100_000, f"[[{10**400},0,1,1]]", '{"abcd": 1}'],
    ids=lambda boxes: boxes[:20],
)  # fmt: skip
def test_boxes_that_are_none_are_wrong_usage(use: Use, capsys: pytest.CaptureFixture[str], boxes: str) -> None:
    use(RecordingLibrary())
    assert main(["show", "d", "--page", "1", "--png", "x.png", "--boxes", boxes]) == 2
    assert capsys.readouterr().err == "pincite: --boxes takes a JSON list of [x0, y0, x1, y1] in points.\n"


def test_too_many_boxes_are_wrong_usage(use: Use, capsys: pytest.CaptureFixture[str]) -> None:
    use(RecordingLibrary())
    boxes = json.dumps([[0, 0, 1, 1]] * (commands.MAX_BOXES + 1))
    assert main(["show", "d", "--page", "1", "--png", "x.png", "--boxes", boxes]) == 2
    assert "At most 5,000 boxes" in capsys.readouterr().err


# Commands


def test_show_draws_a_page_with_boxes(use: Use, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    library = use(RecordingLibrary())
    png = tmp_path / "page.png"
    arguments = ["show", "d", "--page", "3", "--zoom", "1.5", "--boxes", "[[1, 2, 3.5, 4]]", "--png", str(png)]
    assert main([*arguments, "--json"]) == 0
    assert printed(capsys) == {"png": str(png), "width_px": 10, "height_px": 20}
    assert png.read_bytes() == b"png"
    assert library.called("render") == [("d", 3, 1.5, [Box(1.0, 2.0, 3.5, 4.0)])]


def test_a_picture_that_cannot_be_written_is_said(use: Use, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    use(RecordingLibrary())
    assert main(["show", "d", "--page", "1", "--png", str(tmp_path / "no" / "x.png")]) == 2
    assert "cannot be written: No such file or directory." in capsys.readouterr().err


def test_status_lists_what_needs_attention(use: Use, capsys: pytest.CaptureFixture[str]) -> None:
    use(FakeLibrary(ledger=LEDGER))
    assert main(["status"]) == 3
    said = capsys.readouterr().out
    assert "/drive  (cannot be reached)" in said and "1 failed, 1 read." in said
    assert "4 of 10 passages have no vectors yet." in said and "/docs/b.pdf – failed. The file is damaged." in said
    assert main(["status", "--json"]) == 3
    assert printed(capsys)["counts"] == {"read": 1, "failed": 1}


def test_status_without_anything_to_mend_ends_with_0(use: Use, capsys: pytest.CaptureFixture[str]) -> None:
    use(FakeLibrary(ledger=CALM))
    assert main(["status"]) == 0
    assert capsys.readouterr().out == "/docs\n1 read.\n"


@pytest.mark.parametrize(
    ("ledger", "notes", "status"), [(LEDGER, ("A note.",), 3), (CALM, ("A note.",), 3), (CALM, (), 0), (LEDGER, (), 3)]
)
def test_index_says_what_was_done(
    use: Use, capsys: pytest.CaptureFixture[str], ledger: Ledger, notes: tuple[str, ...], status: int
) -> None:
    report = UpdateReport(read=2, moved=1, unchanged=3, embedded=9, notes=notes)
    library = use(FakeLibrary(ledger=ledger, updates=[[report], [report]]))
    assert main(["index", "/docs", "/drive", "--fast"]) == status
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "2 read, 3 unchanged, 1 moved, 0 deleted, 0 not readable."
    assert said[1 : 1 + len(notes)] == list(notes)
    assert library.called("add") == [Path("/docs"), Path("/drive")] and library.called("update") == [True]
    assert main(["index", "--json"]) == status
    update = {"read": 2, "moved": 1, "deleted": 0, "unchanged": 3, "failed": 0, "embedded": 9, "notes": list(notes)}
    assert printed(capsys)["update"] == update
    assert library.called("update") == [True, False]


def test_remove_says_what_it_erased(use: Use, capsys: pytest.CaptureFixture[str]) -> None:
    use(FakeLibrary())
    assert main(["remove", "/docs"]) == 0
    assert "/docs is no longer watched; what was read from its 1 file is erased." in capsys.readouterr().out
    assert main(["remove", "/docs", "--json"]) == 0
    assert printed(capsys) == {"removed": "/docs", "files": 1}


RECEIPT = {
    "document": "d1",
    "title": "A lease",
    "path": "/docs/a.pdf",
    "forgotten": "2024-01-01T00:00:00",
    "erased": {"pages": 3, "chunks": 7},
    "left": {"chunks": 0},
}


def test_forget_gives_a_receipt(use: Use, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    use(RecordingLibrary([FakeDocument("d1", "A lease")]))
    assert main(["forget", "d1", "--receipt", str(tmp_path / "receipt.json"), "--json"]) == 0
    assert printed(capsys) == RECEIPT == json.loads((tmp_path / "receipt.json").read_text())


def test_nothing_is_forgotten_when_the_receipt_cannot_be_written(use: Use, tmp_path: Path) -> None:
    library = use(RecordingLibrary([FakeDocument("d1", "A lease")]))
    assert main(["forget", "d1", "--receipt", str(tmp_path)]) == 2
    assert library.called("forget") == []


def test_forgetting_what_is_not_there_touches_no_receipt(use: Use, tmp_path: Path) -> None:
    use(RecordingLibrary())
    receipt = tmp_path / "receipt.json"
    receipt.write_text("an older one")
    assert main(["forget", "nobody", "--receipt", str(receipt)]) == 1
    assert receipt.read_text() == "an older one"


def answer(verdict: AnswerVerdict) -> Answered:
    return Answered(Answer("q", verdict, "The text.", "quotes", (), (), (), (), "", "t1"))


@pytest.mark.parametrize(("verdict", "status"), [(AnswerVerdict.ANSWERED, 0), (AnswerVerdict.NOT_FOUND, 1)])
def test_asking_ends_with_whether_there_was_an_answer(
    use: Use, capsys: pytest.CaptureFixture[str], verdict: AnswerVerdict, status: int
) -> None:
    use(FakeLibrary(answers=[[answer(verdict)]]))
    assert main(["ask", "What?", "--json"]) == status
    assert printed(capsys)["verdict"] == verdict.value


def test_search_hands_its_options_on(use: Use, monkeypatch: pytest.MonkeyPatch) -> None:
    library = use(FakeLibrary())
    asked: dict[str, object] = {}
    search = library.search
    monkeypatch.setattr(library, "search", lambda query, **options: asked.update(options) or search(query, **options))
    assert main(["search", "rent", "-k", "3", "--mode", "dense", "--no-rerank", "--type", "pdf", "--quiet"]) == 0
    assert asked == {"k": 3, "filters": Filters(type="pdf"), "mode": "dense", "rerank": False}
