"""One update of a library: what is new, moved, changed, deleted, waiting or out of reach, and what goes wrong."""

from __future__ import annotations

import os
import shutil
import sys
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from pincite import ingest, update, watch
from pincite.errors import BugError, Cancelled, EngineError, StoreBusyError, UnreadableError
from pincite.index import Index
from pincite.model import FileState, IndexProgress, UpdateReport
from pincite.watch import Found, Seen
from tests.engines import Shelf

RENT = "# Rent\nThe tenant pays nine hundred pounds each month."
NOTICE = "# Notice\nEither party may end this lease by three months notice."
NEVER_ENDING = 1e6


def counts(report: UpdateReport) -> dict[str, int]:
    """What happened, without what did not."""
    told = {name: getattr(report, name) for name in ("read", "moved", "deleted", "unchanged", "failed")}
    return {name: count for name, count in told.items() if count}


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files whose content was looked into."""
    looked_into: list[str] = []
    content_hash = ingest.content_hash

    def noting(path: Path) -> str:
        looked_into.append(path.name)
        return content_hash(path)

    monkeypatch.setattr(ingest, "content_hash", noting)
    monkeypatch.setattr(update, "content_hash", noting)
    return looked_into


# Nothing new


def test_an_unchanged_folder_is_not_read(shelf: Shelf, hashed: list[str]) -> None:
    for number in range(5):
        shelf.write(f"{number}.txt", f"{RENT} Of lease {number}.")
    assert counts(shelf.update()) == {"read": 5}
    shelf.reader.reads.clear()
    shelf.engine.embedded.clear()
    hashed.clear()
    assert counts(shelf.update()) == {"unchanged": 5}
    assert not shelf.reader.reads and not shelf.engine.embedded and not hashed


def test_an_empty_library_is_up_to_date(shelf: Shelf) -> None:
    assert shelf.update() == UpdateReport()


def test_a_file_that_was_only_touched_is_not_read(shelf: Shelf) -> None:
    path = shelf.write("a.txt", RENT)
    shelf.update()
    os.utime(path, (1, 1))
    assert counts(shelf.update()) == {"unchanged": 1}
    assert counts(shelf.update()) == {"unchanged": 1}
    assert shelf.reader.reads == ["a.txt"]


def test_a_file_that_could_not_be_read_is_tried_again_only_when_it_changes(shelf: Shelf) -> None:
    path = shelf.write("a.txt", RENT)
    shelf.reader.failures["a.txt"] = UnreadableError("The file is damaged.")
    assert counts(shelf.update()) == {"failed": 1}
    assert counts(shelf.update()) == {"unchanged": 1}
    assert shelf.reader.reads == ["a.txt"]
    shelf.reader.failures.clear()
    path.write_text(NOTICE)
    assert counts(shelf.update()) == {"read": 1}


# Changed, deleted, moved


def test_a_changed_file_is_read_and_a_deleted_one_is_gone(shelf: Shelf) -> None:
    first, second = shelf.write("a.txt", RENT), shelf.write("b.txt", NOTICE)
    shelf.update()
    first.write_text(f"{RENT} More.")
    second.unlink()
    assert counts(shelf.update()) == {"read": 1, "deleted": 1}
    assert shelf.found("notice") == [] and shelf.near("notice three months party") == shelf.found("More")


@pytest.mark.parametrize("target", ["renamed.txt", "deeper/a.txt", "0.txt"])
def test_a_move_keeps_the_document_and_reads_nothing(shelf: Shelf, target: str) -> None:
    path = shelf.write("a.txt", RENT)
    shelf.write("other.txt", NOTICE)
    shelf.update()
    document = shelf.document_of("a.txt")
    (shelf.folder / target).parent.mkdir(exist_ok=True)
    path.rename(shelf.folder / target)
    assert counts(shelf.update()) == {"moved": 1, "unchanged": 1}
    assert shelf.document_of(target) == document
    assert sorted(shelf.reader.reads) == ["a.txt", "other.txt"] and len(shelf.engine.embedded) == 2


@pytest.mark.parametrize("order", ["source first", "target first"])
def test_a_move_from_one_watched_folder_to_another_keeps_the_document(shelf: Shelf, tmp_path: Path, order: str) -> None:
    names = ("a", "b") if order == "source first" else ("b", "a")
    source, target = (tmp_path / name for name in names)
    for root in (source, target):
        root.mkdir()
        shelf.index.add_root(str(root))
    (source / "a.txt").write_text(RENT)
    shelf.update()
    document = shelf.index.document_info(str(source / "a.txt")).id
    (source / "a.txt").rename(target / "a.txt")
    assert counts(shelf.update()) == {"moved": 1}
    assert shelf.index.document_info(str(target / "a.txt")).id == document
    assert shelf.reader.reads == ["a.txt"]


def test_a_renamed_folder_keeps_all_its_documents(shelf: Shelf) -> None:
    for number in range(4):
        shelf.write(f"old/{number}.txt", f"{RENT} {number}")
    shelf.update()
    documents = {shelf.document_of(f"old/{n}.txt") for n in range(4)}
    (shelf.folder / "old").rename(shelf.folder / "new")
    assert counts(shelf.update()) == {"moved": 4}
    assert {shelf.document_of(f"new/{n}.txt") for n in range(4)} == documents
    assert len(shelf.reader.reads) == 4


def test_a_copy_made_beside_a_move_is_told_from_it(shelf: Shelf) -> None:
    path = shelf.write("a.txt", RENT)
    shelf.update()
    shutil.copy(path, shelf.folder / "copy.txt")
    path.rename(shelf.folder / "b.txt")
    assert counts(shelf.update()) == {"moved": 1, "unchanged": 1}
    assert shelf.document_of("b.txt") == shelf.document_of("copy.txt") and len(shelf.reader.reads) == 1


def test_a_move_onto_another_file_keeps_the_moved_document(shelf: Shelf) -> None:
    first, second = shelf.write("a.txt", RENT), shelf.write("b.txt", NOTICE)
    shelf.update()
    document = shelf.document_of("a.txt")
    os.utime(first, (1, 1))
    shelf.update()
    os.replace(first, second)
    assert counts(shelf.update()) == {"moved": 1}
    assert shelf.document_of("b.txt") == document
    assert shelf.found("notice") == [] and len(shelf.reader.reads) == 2


def test_two_files_that_change_places_keep_their_documents_contents_apart(shelf: Shelf) -> None:
    first, second = shelf.write("a.txt", RENT), shelf.write("b.txt", NOTICE)
    shelf.update()
    for path, text in ((first, NOTICE), (second, RENT)):
        path.write_text(text)
        os.utime(path, (1, 1))
    shelf.update()
    assert shelf.found("pounds") == ["The tenant pays nine hundred pounds each month."]
    assert shelf.index.document_info(shelf.document_of("b.txt")).path == str(second)
    assert shelf.states() == {"a.txt": "read", "b.txt": "read"} and shelf.index.ledger().chunks == 2


def test_the_same_content_in_two_places_is_one_document(shelf: Shelf) -> None:
    first, copy = shelf.write("a.txt", RENT), shelf.write("copy/b.txt", RENT)
    assert counts(shelf.update()) == {"read": 1, "unchanged": 1}
    assert shelf.document_of("a.txt") == shelf.document_of("copy/b.txt")
    assert len(shelf.found("pounds")) == 1 == len(shelf.near("pounds"))
    first.unlink()
    assert counts(shelf.update()) == {"deleted": 1, "unchanged": 1}
    assert len(shelf.found("pounds")) == 1
    copy.unlink()
    assert counts(shelf.update()) == {"deleted": 1}
    assert shelf.found("pounds") == [] == shelf.near("pounds")


def test_copies_read_by_several_readers_at_once_become_one_document(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(update.os, "cpu_count", lambda: 5)
    together = threading.Barrier(4)
    shelf.reader.meanwhile = lambda path: together.wait(30)
    for number in range(4):
        shelf.write(f"{number}.txt", RENT)
    assert counts(shelf.update()) == {"read": 1, "unchanged": 3}
    assert len({shelf.document_of(f"{n}.txt") for n in range(4)}) == 1
    assert shelf.index.ledger().chunks == 1 == len(shelf.near("pounds"))


def test_a_forgotten_file_stays_out_when_it_is_moved_and_comes_back_when_it_changes(shelf: Shelf) -> None:
    path = shelf.write("a.txt", RENT)
    shelf.update()
    shelf.index.forget(shelf.document_of("a.txt"))
    assert counts(shelf.update()) == {"unchanged": 1}
    moved = path.rename(shelf.folder / "b.txt")
    assert counts(shelf.update()) == {"moved": 1}
    assert counts(shelf.update()) == {"unchanged": 1}
    assert shelf.states() == {"b.txt": "forgotten"} and shelf.found("pounds") == []
    moved.write_text(f"{RENT} More.")
    assert counts(shelf.update()) == {"read": 1}
    assert shelf.states() == {"b.txt": "read"}


# Out of reach


def test_a_folder_out_of_reach_keeps_everything_and_says_so(shelf: Shelf, tmp_path: Path) -> None:
    shelf.write("a.txt", RENT)
    shelf.update()
    document = shelf.document_of("a.txt")
    shelf.folder.rename(tmp_path / "unplugged")
    assert counts(shelf.update()) == {}
    assert shelf.states() == {"a.txt": "offline"} and shelf.found("pounds")
    (tmp_path / "unplugged").rename(shelf.folder)
    assert counts(shelf.update()) == {"unchanged": 1}
    assert shelf.states() == {"a.txt": "read"} and shelf.document_of("a.txt") == document
    assert shelf.reader.reads == ["a.txt"]


def test_a_folder_that_cannot_be_entered_deletes_nothing_and_is_named(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf.write("closed/a.txt", RENT)
    shelf.write("open/b.txt", NOTICE)
    shelf.update()
    closed = str(shelf.folder / "closed")
    sweep = watch.sweep

    def as_if_closed(root: Path, *arguments: object, **options: object) -> Found:
        found = sweep(root, *arguments, **options)  # type: ignore[arg-type]
        rest = tuple(seen for seen in found.files if not seen.path.startswith(closed))
        return replace(found, files=rest, unreadable=((closed, "Permission denied"),))

    monkeypatch.setattr(update, "sweep", as_if_closed)
    report = shelf.update()
    assert counts(report) == {"unchanged": 1}
    assert report.notes == (f"{closed} could not be looked into: Permission denied.",)
    assert shelf.found("pounds")


def test_a_file_that_waits_in_a_folder_out_of_reach_is_read_when_that_is_back(shelf: Shelf, tmp_path: Path) -> None:
    shelf.write("a.txt", RENT)
    with pytest.raises(Cancelled):
        shelf.updating(cancelled=lambda: shelf.states() == {"a.txt": "waiting"}).run()
    shelf.folder.rename(tmp_path / "unplugged")
    assert counts(shelf.update()) == {}
    (tmp_path / "unplugged").rename(shelf.folder)
    assert counts(shelf.update()) == {"read": 1}


def test_a_single_file_that_is_deleted_is_gone_and_one_out_of_reach_is_kept(shelf: Shelf, tmp_path: Path) -> None:
    drive = tmp_path / "drive"
    drive.mkdir()
    path = drive / "one.txt"
    path.write_text(RENT)
    shelf.index.add_root(str(path))
    shelf.update()
    drive.rename(tmp_path / "unplugged")
    assert counts(shelf.update()) == {}
    assert shelf.states() == {"one.txt": "offline"}
    (tmp_path / "unplugged").rename(drive)
    path.unlink()
    assert counts(shelf.update()) == {"deleted": 1}
    assert shelf.states() == {} and shelf.found("pounds") == []
    path.write_text(RENT)
    assert counts(shelf.update()) == {"read": 1}


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere file names are always text")
def test_a_name_that_is_not_text_costs_that_file_only(shelf: Shelf) -> None:
    shelf.write("a.txt", RENT)
    with open(os.fsencode(shelf.folder) + b"/caf\xe9.txt", "wb") as file:
        file.write(NOTICE.encode())
    report = shelf.update()
    assert counts(report) == {"read": 1}
    [note] = report.notes
    assert note.endswith("caf\\udce9.txt could not be looked into: its name is not valid text; give it another.")
    note.encode("utf-8")


def test_own_data_inside_a_watched_folder_is_not_read(shelf: Shelf, tmp_path: Path) -> None:
    shelf.write("a.txt", RENT)
    shelf.index.add_root(str(tmp_path))
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "notes.txt").write_text(NOTICE)
    shelf.update()
    assert shelf.states() == {"a.txt": "read"}


# Settling


def test_a_file_that_is_still_being_written_waits_until_it_has_settled(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = shelf.write("a.txt", RENT)
    now_s = path.stat().st_mtime + 1.0
    pauses: list[float] = []

    def pause(updating: update.Update) -> None:
        nonlocal now_s
        pauses.append(now_s)
        now_s += 5.0

    monkeypatch.setattr(update.time, "time", lambda: now_s)
    monkeypatch.setattr(update.Update, "_let_settle", pause)
    report = shelf.updating(settings=replace(shelf.settings, settle_s=2.0)).run()
    assert counts(report) == {"read": 1} and len(pauses) == 1


def test_a_file_that_never_settles_is_left_to_the_next_time_and_named(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf.write("a.txt", RENT)
    shelf.write("b.txt", NOTICE)
    os.utime(shelf.folder / "b.txt", (1, 1))
    monkeypatch.setattr(update.Update, "_let_settle", lambda updating: None)
    report = shelf.updating(settings=replace(shelf.settings, settle_s=NEVER_ENDING)).run()
    assert counts(report) == {"read": 1}
    assert report.notes == ("1 file is still being written and will be read later.",)


def test_a_file_that_changes_each_time_it_is_read_is_left_to_the_next_time(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = shelf.write("a.txt", RENT)

    def grow(path: Path) -> None:
        path.write_text(path.read_text() + " more")

    shelf.reader.meanwhile = grow
    monkeypatch.setattr(update.Update, "_let_settle", lambda updating: None)
    report = shelf.updating().run()
    assert counts(report) == {} and len(report.notes) == 1 and len(shelf.reader.reads) == update.MAX_SWEEPS
    shelf.reader.meanwhile = lambda path: None
    assert counts(shelf.update()) == {"read": 1}
    assert path.read_text().split()[-1] == shelf.found("more")[0].split()[-1]


def test_stopping_while_files_settle_is_at_once(shelf: Shelf) -> None:
    shelf.write("a.txt", RENT)
    stops = iter([False] * 3)
    updating = shelf.updating(
        cancelled=lambda: next(stops, True), settings=replace(shelf.settings, settle_s=NEVER_ENDING)
    )
    with pytest.raises(Cancelled):
        updating.run()


# Going wrong


def test_what_goes_wrong_with_one_file_costs_that_file_only(shelf: Shelf) -> None:
    for name in ("a.txt", "b.txt", "c.txt", "d.txt"):
        shelf.write(name, f"{RENT} {name}")
    shelf.reader.failures |= {
        "a.txt": UnreadableError("The program that read it crashed on page 1."),
        "b.txt": BugError("A mistake in Pincite stopped the reading of this file."),
    }
    assert counts(shelf.update()) == {"read": 2, "failed": 2}
    assert shelf.states() == {"a.txt": "failed", "b.txt": "failed", "c.txt": "read", "d.txt": "read"}


def test_a_mistake_of_ours_costs_that_file_only_and_does_not_quote_it(shelf: Shelf, expect_log: object) -> None:
    assert callable(expect_log)
    expect_log("Reading a file failed: KeyError in engines.py")
    shelf.write("a.txt", f"{RENT} secret")
    shelf.write("b.txt", NOTICE)
    shelf.reader.failures["a.txt"] = KeyError("secret")
    assert counts(shelf.update()) == {"read": 1, "failed": 1}
    [failed] = [entry for entry in shelf.index.ledger().entries if entry.state is FileState.FAILED]
    assert "A mistake in Pincite" in failed.reason and "KeyError" in failed.reason and "secret" not in failed.reason


def test_progress_that_cannot_be_shown_is_no_fault_of_the_file(shelf: Shelf) -> None:
    shelf.write("a.txt", RENT)

    def broken(progress: IndexProgress) -> None:
        if progress.phase == "reading":
            raise BrokenPipeError(32, "Broken pipe")

    with pytest.raises(BrokenPipeError):
        shelf.updating(progress=broken).run()
    assert shelf.states() == {"a.txt": "waiting"}
    assert counts(shelf.update()) == {"read": 1}


def test_a_store_that_is_busy_stops_the_update_and_loses_nothing(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf.write("a.txt", RENT)

    def busy(*_: object) -> bool:
        raise StoreBusyError("Another program is writing to this library; try again when it has finished.")

    with monkeypatch.context() as patched:
        patched.setattr(Index, "store", busy)
        with pytest.raises(StoreBusyError):
            shelf.update()
    assert counts(shelf.update()) == {"read": 1}


def test_an_engine_that_dies_leaves_keyword_search_and_the_next_update_makes_the_rest(shelf: Shelf) -> None:
    for number in range(3):
        shelf.write(f"{number}.txt", f"{RENT} {number}")
    shelf.engine.failure = EngineError("The model process ended unexpectedly.")
    with pytest.raises(EngineError):
        shelf.update()
    assert len(shelf.found("pounds")) == 3 and shelf.near("pounds") == []
    shelf.engine.failure = None
    assert counts(shelf.update()) == {"unchanged": 3}
    assert len(shelf.near("pounds")) == 3 and len(shelf.reader.reads) == 3


def test_vectors_made_before_the_engine_died_are_not_made_again(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pincite.index.front.EMBED_BATCH_CHUNKS", 2)
    for number in range(5):
        shelf.write(f"{number}.txt", f"{RENT} {number}")

    def die(texts: Sequence[str]) -> None:
        shelf.engine.failure = EngineError("The model process ended unexpectedly.")

    shelf.engine.meanwhile = die
    with pytest.raises(EngineError):
        shelf.update()
    assert shelf.index.ledger().chunks_without_vectors == 3
    shelf.engine.failure, shelf.engine.meanwhile = None, lambda texts: None
    shelf.update()
    assert len(shelf.engine.embedded) == 5 == len(set(shelf.engine.embedded))


def test_stopping_keeps_what_was_finished_and_the_rest_resumes(shelf: Shelf) -> None:
    for number in range(6):
        shelf.write(f"{number}.txt", f"{RENT} " + "more " * number)
    stopping = threading.Event()

    def stop_at_the_third(path: Path) -> None:
        if path.name == "2.txt":
            stopping.set()

    shelf.reader.meanwhile = stop_at_the_third
    with pytest.raises(Cancelled):
        shelf.updating(cancelled=stopping.is_set).run()
    done = sum(state == "read" for state in shelf.states().values())
    assert 2 <= done < 6
    shelf.reader.meanwhile = lambda path: None
    assert counts(shelf.update())["read"] == 6 - done
    assert set(shelf.states().values()) == {"read"}


def test_a_folder_removed_while_it_is_looked_at_comes_to_nothing(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf.write("a.txt", RENT)
    sweep = watch.sweep

    def sweep_and_remove(root: Path, *arguments: object, **options: object) -> Found:
        found = sweep(root, *arguments, **options)  # type: ignore[arg-type]
        shelf.index.drop_root(str(root))
        return found

    monkeypatch.setattr(update, "sweep", sweep_and_remove)
    assert counts(shelf.update()) == {}
    assert shelf.states() == {}


# Progress


def test_progress_tells_files_pages_and_passages(shelf: Shelf) -> None:
    shelf.write("a.txt", "One.\fTwo.\fThree.")
    shelf.write("b.txt", NOTICE)
    told: list[IndexProgress] = []
    updating = shelf.updating(progress=told.append)
    updating.run()
    updating.embed(shelf.engine)  # type: ignore[arg-type]
    assert [p.path for p in told if p.phase == "looking"] == [str(shelf.folder)]
    reading = [p for p in told if p.phase == "reading"]
    assert [p.total for p in reading] == [2] * len(reading) and reading[-1].done == 2 and reading[-1].pages == 4
    embedding = [p for p in told if p.phase == "embedding"]
    assert (embedding[0].done, embedding[0].total) == (0, shelf.index.ledger().chunks)


def test_many_sweeps_tell_one_state(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that settles later makes a second look, which must not count the first one's files twice."""
    shelf.write("a.txt", RENT)
    shelf.write("b.txt", NOTICE)
    looks = iter([("b.txt",), ()])
    changes = update.changes

    def settling(found: Found, *arguments: object) -> watch.Changes:
        late = next(looks)
        held: list[Seen] = [seen for seen in found.files if Path(seen.path).name in late]
        rest = replace(found, files=tuple(seen for seen in found.files if seen not in held))
        return replace(changes(rest, *arguments), unsettled=tuple(seen.path for seen in held))  # type: ignore[arg-type]

    monkeypatch.setattr(update, "changes", settling)
    monkeypatch.setattr(update.Update, "_let_settle", lambda updating: None)
    assert counts(shelf.update()) == {"read": 2}


def test_a_large_folder_deleted_at_once_is_gone_at_once(shelf: Shelf) -> None:
    for number in range(40):
        shelf.write(f"many/{number}.txt", f"{RENT} {number}")
    shelf.write("keep.txt", NOTICE)
    shelf.update()
    shutil.rmtree(shelf.folder / "many")
    assert counts(shelf.update()) == {"deleted": 40, "unchanged": 1}
    assert shelf.found("pounds") == [] == [text for text in shelf.near("pounds") if "pounds" in text]
