"""The real reading process: what it reads, and that whatever a file does to it costs that file only."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from pincite.errors import (
    BugError,
    Cancelled,
    LimitError,
    PasswordNeededError,
    PinciteError,
    UnreadableError,
    UnsupportedError,
)
from pincite.extract import Reader
from pincite.extract.mupdf import pymupdf
from pincite.model import BlockKind, Box
from pincite.settings import Settings
from tests.unit.extract.pages import Painting, pdf_with, pdf_with_text, texts_of, words_of

# Stands in for the reading process, and does to its parent what a document might make it do.
MISBEHAVING_CHILD = """
import os, sys, time
from pincite.process import parent_channel

HEAD = {"format": "text", "title": "", "author": "", "created": "", "modified": "", "outline": []}
PAGE = {"page": 1, "label": "", "width": 100, "height": 100, "picture_share": 0, "texts": [], "lines": [],
        "afters": [], "joined": []}
channel = parent_channel()
requests = 0
while (frame := channel.receive()) is not None:
    requests += 1
    do = os.path.basename(frame.message["path"]).partition(".")[0]
    if do == "crash_if_tired" and requests > 1:
        os.abort()
    if do == "hang_opening":
        time.sleep(600)
    if do == "unknown_error":
        channel.send({"error": "cancelled", "sentence": "no"})
        continue
    if do == "endless_sentence":
        channel.send({"error": "unreadable", "sentence": "x" * 100_000})
        continue
    if do == "no_head":
        channel.send(PAGE)
        continue
    if frame.message["do"] == "render":
        channel.send({"picture": [10**6, 10**6]}, b"\\x89PNG\\r\\n\\x1a\\n" + bytes(60))
        continue
    channel.send({"head": HEAD, "pages": 1})
    if do == "hang_on_a_page":
        time.sleep(600)
    if do == "crash":
        os.abort()
    if do == "exit":
        sys.exit(0)
    if do == "bloat":
        filled = [bytes([1]) * (16 << 20) for _ in range(1000)]
    if do == "babble":
        os.write(channel._sink.fileno(), b"not a frame at all " * 100)
        time.sleep(600)
    if do == "out_of_turn":
        channel.send({**PAGE, "page": 2})
        continue
    channel.send(PAGE)
    if do == "endless_pages":
        for number in range(2, 100):
            channel.send({**PAGE, "page": number})
    channel.send({"end": [], "partly_read": False})
"""


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path / "data", library_dir=tmp_path / "library")


@pytest.fixture
def reader(settings: Settings) -> Iterator[Reader]:
    reader = Reader(settings)
    yield reader
    reader.close()


@pytest.fixture
def misbehaving(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., tuple[Reader, Path]]]:
    """A reader whose child does what the name of the file says, and the file."""
    folder = tmp_path / "modules"
    folder.mkdir()
    (folder / "misbehaving_child.py").write_text(MISBEHAVING_CHILD)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), *filter(None, sys.path)]))
    readers: list[Reader] = []

    def start(what: str, **limits: Any) -> tuple[Reader, Path]:
        readers.append(Reader(replace(settings, **limits), child_module="misbehaving_child"))
        return readers[-1], written(tmp_path / f"{what}.txt", "text")

    yield start
    for reader in readers:
        reader.close()


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def children() -> list[psutil.Process]:
    return psutil.Process().children(recursive=True)


# What is read


def test_a_pdf_arrives_whole(reader: Reader, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    path = pdf_with_text(tmp_path / "lease.pdf", "Rent is due", "monthly", pages=3)
    document = reader.read(path, on_page=lambda done, total: seen.append((done, total)))
    assert [page.number for page in document.pages] == [1, 2, 3]
    assert all(texts_of(page) == ["Rent is due", "monthly"] for page in document.pages)
    assert document.metadata.format == "pdf"
    assert (document.problems, document.partly_read) == ((), False)
    assert seen == [(1, 3), (2, 3), (3, 3)]


def test_markdown_and_plain_text_arrive_as_pages(reader: Reader, tmp_path: Path) -> None:
    notes = reader.read(written(tmp_path / "notes.md", "# Notes\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"))
    assert notes.metadata.title == "Notes"
    assert [(line.kind, line.text) for line in notes.pages[0].lines] == [
        (BlockKind.HEADING, "Notes"),
        (BlockKind.TABLE, "a | b"),
        (BlockKind.TABLE, "1 | 2"),
    ]
    log = reader.read(written(tmp_path / "app.log", "2026-03-01 12:00 ERROR E1042 disk full\n" * 500))
    assert len(log.pages) > 1
    assert sum(len(page.lines) for page in log.pages) == 500


def test_a_page_is_drawn_with_its_words_marked(reader: Reader, tmp_path: Path) -> None:
    path = pdf_with_text(tmp_path / "lease.pdf", "Rent is due monthly")
    words = words_of(reader.read(path).pages[0])
    painting = Painting(reader.render(path, 1, 2.0, boxes=[words[0].box]), 2.0)
    assert painting.marked(words[0].box) > 0.95
    assert painting.ink(words[0].box) > 50
    part = reader.render(path, 1, 2.0, clip=Box(0, 0, 100, 50))
    assert (part.width_px, part.height_px) == (200, 100)


def test_a_changed_file_is_drawn_as_it_is_now(reader: Reader, tmp_path: Path) -> None:
    path = pdf_with_text(tmp_path / "lease.pdf", "Rent")
    before = reader.render(path, 1, 1.0)
    pdf_with_text(path, "Rent and much more than there was")
    assert reader.render(path, 1, 1.0) != before


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not allow such names")
def test_names_of_any_bytes_are_read_and_drawn(reader: Reader, tmp_path: Path) -> None:
    for name in (b"rent \xff\xfe.pdf", "Mietvertrag ‘ü’\n.pdf".encode(), b"-rf %s.pdf"):
        path = tmp_path / os.fsdecode(name)
        path.write_bytes(pdf_with_text(tmp_path / "plain.pdf", "Rent").read_bytes())
        assert texts_of(reader.read(path).pages[0]) == ["Rent"]
        assert reader.render(path, 1, 0.5).width_px > 100


def test_a_symbolic_link_is_read_as_what_it_leads_to(reader: Reader, tmp_path: Path) -> None:
    link = tmp_path / "link.txt"
    link.symlink_to(written(tmp_path / "notes.txt", "Rent is due"))
    assert texts_of(reader.read(link).pages[0]) == ["Rent is due"]


# What is refused, each with a sentence


def locked(path: Path) -> None:
    pdf = pymupdf.open()
    pdf.new_page()
    pdf.save(path, encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="open", owner_pw="own")


@pytest.mark.parametrize(
    ("name", "make", "error", "says"),
    [
        ("empty.pdf", lambda path: path.write_bytes(b""), UnreadableError, "empty"),
        ("none.pdf", lambda path: path.write_bytes(b"no PDF at all"), UnreadableError, "not a PDF"),
        ("picture.pdf", lambda path: path.write_bytes(b"\x89PNG\r\n\x1a\n"), UnreadableError, "PDF"),
        ("junk.txt", lambda path: path.write_bytes(bytes(range(256)) * 40), UnreadableError, "not text"),
        ("folder.pdf", lambda path: path.mkdir(), UnreadableError, "folder"),
        ("gone.pdf", lambda path: None, UnreadableError, "No such file"),
        ("locked.pdf", locked, PasswordNeededError, "password"),
        ("letter.docx", lambda path: path.write_bytes(b"PK"), UnsupportedError, ".docx"),
        ("loop.txt", lambda path: path.symlink_to(path), UnreadableError, "cannot be opened"),
    ],
)
def test_what_cannot_be_read_gets_a_sentence(
    reader: Reader, tmp_path: Path, name: str, make: Callable[[Path], object], error: type[PinciteError], says: str
) -> None:
    make(tmp_path / name)
    for attempt in (lambda: reader.read(tmp_path / name), lambda: reader.render(tmp_path / name, 1, 1.0)):
        with pytest.raises(error, match=says) as refused:
            attempt()
        assert type(refused.value) is error
        assert str(refused.value).endswith(".")


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_gets_a_sentence(reader: Reader, tmp_path: Path) -> None:
    path = written(tmp_path / "secret.txt", "text")
    path.chmod(0)
    with pytest.raises(UnreadableError, match="Permission denied"):
        reader.read(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_pipe_is_not_waited_for(reader: Reader, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    with pytest.raises(UnreadableError, match="not a file"):
        reader.read(tmp_path / "pipe.txt")


def test_a_file_that_is_too_large_is_not_opened(settings: Settings, tmp_path: Path) -> None:
    reader = Reader(replace(settings, max_file_mb=1))
    path = tmp_path / "large.txt"
    with path.open("wb") as file:
        file.truncate(3 << 20)
    with pytest.raises(LimitError, match="3 MB"):
        reader.read(path)
    assert children() == []


def test_pages_beyond_the_limit_are_left_out_and_said_to_be(settings: Settings, tmp_path: Path) -> None:
    reader = Reader(replace(settings, reader_max_pages=2))
    document = reader.read(pdf_with_text(tmp_path / "long.pdf", "text", pages=5))
    reader.close()
    assert len(document.pages) == 2
    assert document.partly_read
    assert document.problems == ("Only the first 2 pages were read: 2 pages is the most that is read of one file.",)


def test_a_damaged_file_is_read_as_far_as_it_goes(reader: Reader, tmp_path: Path) -> None:
    whole = pdf_with_text(tmp_path / "whole.pdf", "Rent", pages=2).read_bytes()
    (tmp_path / "cut.pdf").write_bytes(whole[: whole.rindex(b"xref")])
    document = reader.read(tmp_path / "cut.pdf")
    assert [texts_of(page) for page in document.pages] == [["Rent"], ["Rent"]]
    assert "repaired" in document.problems[0]


# What a file may do to the process that reads it


@pytest.mark.parametrize(
    ("what", "error", "says", "limits"),
    [
        ("hang_opening", LimitError, "after 0.5 s while opening", {"reader_seconds_to_open": 0.5}),
        ("hang_on_a_page", LimitError, "after 0.2 s on page 1", {"reader_seconds_per_page": 0.2}),
        ("crash", UnreadableError, "crashed on page 1", {}),
        ("exit", UnreadableError, "crashed on page 1", {}),
        ("bloat", LimitError, "page 1: it needed more than 200 MB of memory", {"reader_memory_mb": 200}),
        ("babble", UnreadableError, "crashed on page 1", {}),
        ("out_of_turn", UnreadableError, "makes no sense", {}),
        ("no_head", UnreadableError, "makes no sense", {}),
        ("endless_pages", UnreadableError, "makes no sense", {"reader_max_pages": 5}),
        ("endless_sentence", UnreadableError, "makes no sense", {}),
        ("unknown_error", BugError, "mistake in Pincite", {}),
    ],
)
def test_a_process_that_misbehaves_costs_one_file(
    misbehaving: Callable[..., tuple[Reader, Path]],
    what: str,
    error: type[PinciteError],
    says: str,
    limits: dict[str, Any],
) -> None:
    reader, path = misbehaving(what, **limits)
    with pytest.raises(error, match=says) as failed:
        reader.read(path)
    assert type(failed.value) is error
    reader._settings = replace(reader._settings, reader_seconds_to_open=60.0)  # for a machine that is slow to start one
    assert len(reader.read(written(path.with_name("fine.txt"), "text")).pages) == 1


def test_a_picture_of_a_false_size_is_refused(misbehaving: Callable[..., tuple[Reader, Path]]) -> None:
    reader, path = misbehaving("fine")
    with pytest.raises(UnreadableError, match="makes no sense"):
        reader.render(path, 1, 1.0)


def test_a_page_that_swells_in_memory_stops_the_reading_of_its_file(settings: Settings, tmp_path: Path) -> None:
    def bomb(page: Any) -> None:
        page.insert_text((72, 72), "x")
        text = b"BT /helv 11 Tf 72 700 Td " + b"(word ) Tj 1 0 Td " * 1_000_000 + b" ET"
        page.parent.update_stream(page.get_contents()[0], text)

    reader = Reader(replace(settings, reader_memory_mb=160))
    path = pdf_with(tmp_path / "bomb.pdf", bomb)
    with pytest.raises(LimitError, match="160 MB of memory"):
        reader.read(path)
    assert texts_of(reader.read(pdf_with_text(tmp_path / "fine.pdf", "Rent")).pages[0]) == ["Rent"]
    reader.close()


def test_a_file_is_not_blamed_for_what_earlier_ones_did_to_the_process(
    misbehaving: Callable[..., tuple[Reader, Path]],
) -> None:
    reader, path = misbehaving("crash_if_tired")
    assert len(reader.read(written(path.with_name("fine.txt"), "text")).pages) == 1
    assert len(reader.read(path).pages) == 1


# Stopping


def test_cancelling_ends_the_process_and_the_next_file_gets_a_new_one(reader: Reader, tmp_path: Path) -> None:
    path = pdf_with_text(tmp_path / "lease.pdf", "Rent", pages=50)
    pages: list[int] = []
    with pytest.raises(Cancelled):
        reader.read(path, on_page=lambda done, total: pages.append(done), cancelled=lambda: len(pages) >= 2)
    assert children() == []
    assert len(reader.read(path).pages) == 50


def test_an_error_of_the_caller_is_not_taken_for_the_reader_s(reader: Reader, tmp_path: Path) -> None:
    def fail(done: int, total: int) -> None:
        raise ValueError("of the caller")

    path = pdf_with_text(tmp_path / "lease.pdf", "Rent", pages=3)
    with pytest.raises(ValueError, match="of the caller"):
        reader.read(path, on_page=fail)
    assert len(reader.read(path).pages) == 3


def test_closing_ends_a_reading_under_way(misbehaving: Callable[..., tuple[Reader, Path]]) -> None:
    reader, path = misbehaving("hang_on_a_page")
    started = threading.Event()
    outcome: list[PinciteError] = []

    def read() -> None:
        def looked() -> bool:
            started.set()
            return False

        try:
            reader.read(path, cancelled=looked)
        except PinciteError as error:
            outcome.append(error)

    thread = threading.Thread(target=read)
    thread.start()
    assert started.wait(60)
    reader.close()
    thread.join(60)
    assert [type(error) for error in outcome] == [Cancelled]
    assert children() == []
    with pytest.raises(Cancelled):
        reader.read(path)


def test_nothing_runs_before_it_is_needed_or_after_it_was_closed(settings: Settings, tmp_path: Path) -> None:
    reader = Reader(settings)
    assert children() == []
    reader.read(written(tmp_path / "notes.txt", "Rent"))
    assert len(children()) == 1
    reader.close()
    assert children() == []


def test_callers_on_several_threads_wait_their_turn(reader: Reader, tmp_path: Path) -> None:
    paths = [pdf_with_text(tmp_path / f"{n}.pdf", f"number {n}", pages=n) for n in range(1, 6)]
    found: dict[Path, list[str]] = {}

    def read(path: Path) -> None:
        found[path] = [text for page in reader.read(path).pages for text in texts_of(page)]

    threads = [threading.Thread(target=read, args=(path,)) for path in paths]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {path: [f"number {n}"] * n for n, path in enumerate(paths, 1)}
