"""One file on its way into the library: what becomes of it, whatever is wrong with it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pincite import ingest
from pincite.errors import BugError, Cancelled, LimitError, PasswordNeededError, UnreadableError
from pincite.extract import ReadDocument
from pincite.index import Index
from pincite.ingest import Outcome, content_hash, document_title, ingest_file
from pincite.model import FileState, Filters, Metadata, ReadPage
from tests.engines import Shelf, never, nothing, read_document

TEXT = "# Rent\nThe tenant pays nine hundred pounds each month."


def ingested(shelf: Shelf, path: Path) -> Outcome:
    """Queue the file as it is now, and read it."""
    status = path.stat()
    shelf.index.note_seen([(str(path), str(shelf.folder), status.st_size, status.st_mtime_ns)])
    record = shelf.index.file_at(str(path))
    assert record is not None
    return ingest_file(shelf.tools(), record, nothing, never)


def state_of(shelf: Shelf, path: Path) -> tuple[FileState, str]:
    record = shelf.index.file_at(str(path))
    assert record is not None
    return record.state, record.reason


def test_a_file_is_read_structured_cut_and_stored(shelf: Shelf) -> None:
    path = shelf.write("lease_of_2024.txt", TEXT + "\fAnother page.")
    assert ingested(shelf, path) is Outcome.READ
    assert state_of(shelf, path) == (FileState.READ, "")
    [hit] = shelf.index.lexical("pounds", 5, Filters())
    chunk = shelf.index.chunks([hit.chunk])[hit.chunk]
    assert (chunk.title, chunk.path, chunk.heading_path) == ("lease of 2024", str(path), ("Rent",))
    assert chunk.context == "lease of 2024 › Rent"
    page = shelf.index.pages(chunk.document, [1])[1]
    words = [word.text for span in chunk.spans if span.page == 1 for word in page.words[span.first : span.end]]
    assert words[:3] == ["The", "tenant", "pays"]
    assert [size.number for size in shelf.index.page_sizes(chunk.document)] == [1, 2]


def test_content_that_is_known_is_not_read_again(shelf: Shelf) -> None:
    first, copy = shelf.write("a.txt", TEXT), shelf.write("b.txt", TEXT)
    assert ingested(shelf, first) is Outcome.READ
    assert ingested(shelf, copy) is Outcome.KNOWN
    assert ingested(shelf, first) is Outcome.KNOWN
    assert shelf.reader.reads == ["a.txt"]
    assert shelf.document_of("a.txt") == shelf.document_of("b.txt")


def test_a_copy_keeps_its_document_when_the_other_changes(shelf: Shelf) -> None:
    first, copy = shelf.write("a.txt", TEXT), shelf.write("b.txt", TEXT)
    ingested(shelf, first)
    ingested(shelf, copy)
    document = shelf.document_of("b.txt")
    first.write_text("Something else.")
    assert ingested(shelf, first) is Outcome.READ
    assert shelf.document_of("b.txt") == document != shelf.document_of("a.txt")
    assert shelf.found("pounds") and shelf.found("else")


def test_a_file_that_changes_into_a_copy_of_another_leaves_its_own_document(shelf: Shelf) -> None:
    first, second = shelf.write("a.txt", TEXT), shelf.write("b.txt", "Something else.")
    ingested(shelf, first)
    ingested(shelf, second)
    second.write_text(TEXT)
    assert ingested(shelf, second) is Outcome.KNOWN
    assert shelf.document_of("a.txt") == shelf.document_of("b.txt")
    assert shelf.found("else") == []


def test_two_files_with_the_same_content_read_at_once_become_one_document(shelf: Shelf) -> None:
    """The second is read while the first is between its reading and its storing."""
    first, copy = shelf.write("a.txt", TEXT), shelf.write("b.txt", TEXT)

    def read_the_copy(path: Path) -> None:
        if path == first:
            assert ingested(shelf, copy) is Outcome.READ

    shelf.reader.meanwhile = read_the_copy
    assert ingested(shelf, first) is Outcome.KNOWN
    assert shelf.document_of("a.txt") == shelf.document_of("b.txt")
    assert len(shelf.found("pounds")) == 1


@pytest.mark.parametrize(
    ("error", "state"),
    [
        (UnreadableError("The file is damaged."), FileState.FAILED),
        (LimitError("Reading stopped after 30 s on page 2."), FileState.FAILED),
        (PasswordNeededError("The file is locked with a password."), FileState.PASSWORD),
        (BugError("A mistake in Pincite stopped the reading of this file."), FileState.FAILED),
    ],
)
def test_what_is_wrong_with_a_file_ends_up_in_the_ledger(shelf: Shelf, error: Exception, state: FileState) -> None:
    path = shelf.write("a.txt", TEXT)
    shelf.reader.failures["a.txt"] = error
    assert ingested(shelf, path) is Outcome.UNREADABLE
    assert state_of(shelf, path) == (state, str(error))


def test_a_file_that_cannot_be_opened_says_why(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    path = shelf.write("a.txt", TEXT)

    def refuse(path: Path) -> str:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(ingest, "content_hash", refuse)
    assert ingested(shelf, path) is Outcome.UNREADABLE
    assert state_of(shelf, path) == (FileState.FAILED, "The file cannot be opened: Permission denied.")


def test_a_file_of_a_format_that_is_not_read_is_listed_without_being_looked_into(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = shelf.write("film.mp4", "frames")
    monkeypatch.setattr(ingest, "content_hash", lambda path: pytest.fail("it was looked into"))
    assert ingested(shelf, path) is Outcome.UNREADABLE
    assert state_of(shelf, path) == (FileState.UNSUPPORTED, "Files of this format are not read.")


def test_a_copy_under_a_name_that_is_not_read_is_no_place_of_the_document(shelf: Shelf) -> None:
    ingested(shelf, shelf.write("b.txt", TEXT))
    copy = shelf.write("a.backup", TEXT)
    assert ingested(shelf, copy) is Outcome.UNREADABLE
    document = shelf.index.document_info(shelf.document_of("b.txt"))
    assert document.path == str(shelf.folder / "b.txt")


def test_what_a_file_held_is_not_found_once_it_cannot_be_read(shelf: Shelf) -> None:
    path = shelf.write("a.txt", TEXT)
    ingested(shelf, path)
    path.write_text("damaged")
    shelf.reader.failures["a.txt"] = UnreadableError("The file is damaged.")
    assert ingested(shelf, path) is Outcome.UNREADABLE
    assert shelf.found("pounds") == [] and shelf.index.ledger().chunks == 0


def test_a_file_that_is_written_to_while_it_is_read_stays_in_the_queue(shelf: Shelf) -> None:
    path = shelf.write("a.txt", TEXT)
    shelf.reader.meanwhile = lambda path: path.write_text(TEXT + " And more.")
    assert ingested(shelf, path) is Outcome.CHANGING
    assert state_of(shelf, path)[0] is FileState.WAITING and shelf.found("pounds") == []


@pytest.mark.parametrize("when", ["before", "while"])
def test_a_file_that_goes_away_stays_in_the_queue_for_the_sweep_to_say(shelf: Shelf, when: str) -> None:
    path = shelf.write("a.txt", TEXT)
    if when == "while":
        shelf.reader.meanwhile = os.unlink
        assert ingested(shelf, path) is Outcome.CHANGING
    else:
        shelf.index.note_seen([(str(path), str(shelf.folder), 1, 1)])
        record = shelf.index.file_at(str(path))
        assert record is not None
        path.unlink()
        assert ingest_file(shelf.tools(), record, nothing, never) is Outcome.CHANGING
    assert state_of(shelf, path)[0] is FileState.WAITING


def test_stopping_loses_nothing(shelf: Shelf) -> None:
    path = shelf.write("a.txt", TEXT)
    shelf.index.note_seen([(str(path), str(shelf.folder), path.stat().st_size, path.stat().st_mtime_ns)])
    [record] = shelf.index.waiting_files()
    with pytest.raises(Cancelled):
        ingest_file(shelf.tools(), record, nothing, lambda: True)
    assert shelf.index.waiting_files() == [record]


def test_progress_is_told_page_by_page(shelf: Shelf) -> None:
    path = shelf.write("a.txt", "One.\fTwo.\fThree.")
    shelf.index.note_seen([(str(path), str(shelf.folder), path.stat().st_size, path.stat().st_mtime_ns)])
    [record] = shelf.index.waiting_files()
    told: list[tuple[int, int]] = []
    ingest_file(shelf.tools(), record, lambda done, total: told.append((done, total)), never)
    assert told == [(1, 3), (2, 3), (3, 3)]


# What is missing of what was read


def blank(number: int, picture_share: float) -> ReadPage:
    return ReadPage(number, str(number), 595.0, 842.0, (), picture_share)


def pages(kinds: str) -> ReadDocument:
    """A document of (t)ext, (s)canned and (e)mpty pages."""
    made = []
    for number, kind in enumerate(kinds, start=1):
        text = read_document("Words of a page.").pages[0]
        made.append(
            ReadPage(number, "", 595.0, 842.0, text.lines)
            if kind == "t"
            else blank(number, 0.9 if kind == "s" else 0.1)
        )
    return ReadDocument(Metadata("pdf"), tuple(made))


@pytest.mark.parametrize(
    ("kinds", "state", "says"),
    [
        ("ttt", FileState.READ, ""),
        ("tet", FileState.READ, ""),
        ("ss", FileState.UNSUPPORTED, "It is a scan"),
        ("ee", FileState.FAILED, "There is no text in it."),
        ("sese", FileState.UNSUPPORTED, "It is a scan"),
        ("tst", FileState.PARTLY, "Page 2 is a picture without text"),
        ("ttss", FileState.PARTLY, "Pages 3, 4 are pictures without text"),
        ("t" + "s" * 12, FileState.PARTLY, "Pages 2, 3, 4, 5, 6, 7, 8, 9 and 4 more are pictures without text"),
    ],
)
def test_pages_that_could_not_be_read_are_named(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, kinds: str, state: FileState, says: str
) -> None:
    path = shelf.write("a.pdf", "anything")
    monkeypatch.setattr(shelf.reader, "read", lambda *_, **__: pages(kinds))
    assert ingested(shelf, path) is (Outcome.READ if "t" in kinds else Outcome.UNREADABLE)
    found_state, reason = state_of(shelf, path)
    assert found_state is state
    assert reason.startswith(says) if says else reason == ""


def test_problems_of_the_reader_are_kept_with_what_was_read(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    path = shelf.write("a.txt", "anything")
    for partly, state in ((True, FileState.PARTLY), (False, FileState.READ)):
        read = ReadDocument(Metadata("text"), pages("t").pages, ("Its encoding was guessed.",), partly)
        monkeypatch.setattr(shelf.reader, "read", lambda *_, read=read, **__: read)
        path.write_text(f"{partly}")
        assert ingested(shelf, path) is Outcome.READ
        assert state_of(shelf, path) == (state, "Its encoding was guessed.")


# Names and hashes


@pytest.mark.parametrize(
    ("stated", "file", "title"),
    [
        ("Staff Handbook", "x.pdf", "Staff Handbook"),
        ("  Staff\n Handbook ", "x.pdf", "Staff Handbook"),
        ("", "lease_unit_7.pdf", "lease unit 7"),
        ("untitled", "lease.pdf", "lease"),
        ("Microsoft Word - draft3.docx", "lease.pdf", "lease"),
        ("report_final.docx", "lease.pdf", "lease"),
        ("Document1", "lease.pdf", "lease"),
        ("", "___.pdf", "___.pdf"),
        ("x" * 500, "lease.pdf", "x" * 200),
    ],
)
def test_a_document_is_called_what_it_calls_itself_unless_a_program_did(stated: str, file: str, title: str) -> None:
    assert document_title(Metadata("pdf", title=stated), Path("/folder") / file) == title


def test_the_content_hash_is_that_of_the_bytes(tmp_path: Path) -> None:
    path = tmp_path / "big"
    path.write_bytes(b"x" * (3 * ingest.HASH_BLOCK_BYTES + 1))
    same = tmp_path / "same"
    same.write_bytes(path.read_bytes())
    assert content_hash(path) == content_hash(same)
    same.write_bytes(path.read_bytes()[:-1] + b"y")
    assert content_hash(path) != content_hash(same)


def test_the_same_content_read_again_makes_the_same_generation(shelf: Shelf, tmp_path: Path) -> None:
    path = shelf.write("a.txt", TEXT)
    ingested(shelf, path)
    document = shelf.document_of("a.txt")
    generation = shelf.index.generation_of(document)
    other = Index(tmp_path / "another library", "model")
    other.add_root(str(shelf.folder))
    shelf.close()
    shelf.index = other
    ingested(shelf, path)
    assert shelf.document_of("a.txt") == document and shelf.index.generation_of(document) == generation != ""
    path.write_text(TEXT + " And more.")
    ingested(shelf, path)
    assert shelf.document_of("a.txt") == document and shelf.index.generation_of(document) != generation
