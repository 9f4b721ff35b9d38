"""The two stores as one: readings are replaced whole, what is erased is gone from both, a crash is mended."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pincite.errors import GiveUpError, NotFoundError, StoreBusyError
from pincite.index import Index, front
from pincite.index.vectors import Vectors
from pincite.model import FileState, Filters
from tests.engines import MODEL, Shelf

WAIT_S = 60.0
RENT = "# Rent\nThe tenant pays nine hundred pounds each month."
NOTICE = "# Notice\nEither party may end this lease by three months notice."
SECRET = "rumpelstilzchen"


def files_of(shelf: Shelf) -> list[Path]:
    return [path for path in shelf.settings.library_dir.rglob("*") if path.is_file()]


def vector_ids(shelf: Shelf) -> set[str]:
    return shelf.index._vectors.ids()


def live_ids(shelf: Shelf) -> set[str]:
    with shelf.index._db.reading() as connection:
        return {row["id"] for row in connection.execute("SELECT id FROM chunks")}


# Replacing


def test_a_reading_is_found_by_words_and_by_vectors(shelf: Shelf) -> None:
    shelf.write("lease.txt", f"{RENT}\n{NOTICE}")
    shelf.update()
    assert shelf.found("pounds") == ["The tenant pays nine hundred pounds each month."]
    assert shelf.near("three months notice", k=1) == ["Either party may end this lease by three months notice."]
    assert vector_ids(shelf) == live_ids(shelf)


def test_a_changed_file_replaces_itself(shelf: Shelf) -> None:
    shelf.write("lease.txt", f"{RENT}\n{NOTICE}")
    shelf.update()
    document = shelf.document_of("lease.txt")
    shelf.write("lease.txt", f"{RENT.replace('nine', 'eleven')}\n{NOTICE}")
    shelf.update()
    assert shelf.found("nine") == [] and shelf.found("eleven") == ["The tenant pays eleven hundred pounds each month."]
    assert shelf.document_of("lease.txt") == document
    assert vector_ids(shelf) == live_ids(shelf)
    assert not [text for text in shelf.near("nine hundred pounds") if "nine" in text]


def test_only_the_chunk_that_changed_is_embedded_again(shelf: Shelf) -> None:
    sections = [f"# Section {n}\nThis is what section {n} says of its own matter." for n in range(12)]
    shelf.write("rules.txt", "\n".join(sections))
    shelf.update()
    assert len(shelf.engine.embedded) == 12
    shelf.engine.embedded.clear()
    sections[5] = "# Section 5\nThis was put in its place later on."
    shelf.write("rules.txt", "\n".join(sections))
    shelf.update()
    assert [text.split("\n")[1] for text in shelf.engine.embedded] == ["This was put in its place later on."]
    assert vector_ids(shelf) == live_ids(shelf) and len(live_ids(shelf)) == 12


def test_an_unchanged_chunk_is_never_without_its_vector(shelf: Shelf) -> None:
    shelf.write("lease.txt", f"{RENT}\n{NOTICE}")
    shelf.update()
    shelf.write("lease.txt", f"{RENT.replace('nine', 'eleven')}\n{NOTICE}")
    shelf.update(embed=False)
    assert "Either party may end this lease by three months notice." in shelf.near("three months notice")


def test_a_searching_thread_sees_one_version_whole_at_any_time(shelf: Shelf) -> None:
    versions = [
        "\n".join(f"# Part {n}\nThe {word} clause {n} stands here." for n in range(8)) for word in ("old", "new")
    ]
    shelf.write("terms.txt", versions[0])
    shelf.update(embed=False)
    seen: set[tuple[int, int]] = set()
    stopping = threading.Event()

    def search() -> None:
        while not stopping.is_set():
            texts = shelf.found("clause stands", k=100)
            seen.add((sum("old" in text for text in texts), sum("new" in text for text in texts)))

    with ThreadPoolExecutor(1) as beside:
        searching = beside.submit(search)
        for turn in range(20):
            shelf.write("terms.txt", versions[(turn + 1) % 2] + "\n" + "# More\nof it" * (turn % 3))
            shelf.update(embed=False)
        stopping.set()
        searching.result(WAIT_S)
    assert seen <= {(8, 0), (0, 8)} and seen, seen


def test_storing_the_same_reading_again_changes_nothing(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    readings: list[tuple[str, front.Reading]] = []
    store = Index.store

    def remember(index: Index, path: str, reading: front.Reading) -> bool:
        readings.append((path, reading))
        return store(index, path, reading)

    monkeypatch.setattr(Index, "store", remember)
    shelf.write("lease.txt", f"{RENT}\n{NOTICE}")
    shelf.update()
    before, vectors_before = live_ids(shelf), vector_ids(shelf)
    [(path, reading)] = readings
    assert shelf.index.store(path, reading)
    assert live_ids(shelf) == before and vector_ids(shelf) == vectors_before
    assert shelf.index.ledger().chunks_without_vectors == 0
    assert shelf.index.generation_of(reading.id) == reading.generation


# Erasing


def test_nothing_of_a_forgotten_document_is_left_anywhere(shelf: Shelf) -> None:
    shelf.write("keep.txt", RENT)
    shelf.write("secret.txt", f"# {SECRET}\nThe name is {SECRET} and nobody knows it.")
    shelf.update()
    document = shelf.document_of("secret.txt")
    shelf.index.put_trace("t1", "2024-01-01", {"answer": SECRET}, [document])
    assert any(SECRET.encode() in path.read_bytes() for path in files_of(shelf))
    assert shelf.index.forget(document) == 1
    assert_gone(shelf, document)
    assert shelf.states() == {"keep.txt": "read", "secret.txt": "forgotten"}
    assert shelf.found("pounds") and shelf.near("nine hundred pounds")


def assert_gone(shelf: Shelf, document: str) -> None:
    assert shelf.found(SECRET) == [] and shelf.found(f'"{SECRET}"') == []
    assert not [text for text in shelf.near(SECRET) if SECRET in text]
    assert shelf.index.chunks_left(document) == 0
    assert vector_ids(shelf) == live_ids(shelf)
    for path in files_of(shelf):
        content = path.read_bytes().lower()
        assert SECRET.encode() not in content, path.name
        if path.name.startswith("library.sqlite"):
            assert document.encode() not in content, path.name
    with pytest.raises(NotFoundError):
        shelf.index.trace("t1")
    with pytest.raises(NotFoundError):
        shelf.index.document_info(document)
    assert shelf.index.pages(document, [1]) == {}


def test_nothing_of_a_deleted_file_is_left_anywhere(shelf: Shelf) -> None:
    shelf.write("keep.txt", RENT)
    path = shelf.write("secret.txt", f"# {SECRET}\nThe name is {SECRET} and nobody knows it.")
    shelf.update()
    document = shelf.document_of("secret.txt")
    shelf.index.put_trace("t1", "2024-01-01", {"answer": SECRET}, [document])
    path.unlink()
    assert shelf.update().deleted == 1
    assert_gone(shelf, document)


def test_nothing_of_a_removed_folder_is_left_anywhere(shelf: Shelf, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "secret.txt").write_text(f"# {SECRET}\nThe name is {SECRET} and nobody knows it.")
    shelf.index.add_root(str(other))
    shelf.write("keep.txt", RENT)
    shelf.update()
    document = shelf.index.document_info(str(other / "secret.txt")).id
    shelf.index.put_trace("t1", "2024-01-01", {"answer": SECRET}, [document])
    assert shelf.index.drop_root(str(other)) == 1
    assert_gone(shelf, document)
    assert [folder.path for folder in shelf.index.folders()] == [str(shelf.folder)]


def test_the_text_goes_even_when_the_vectors_cannot(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf.write("secret.txt", f"# {SECRET}\nThe name is {SECRET} and nobody knows it.")
    shelf.update()

    def broken(vectors: Vectors, ids: Sequence[str]) -> None:
        raise GiveUpError("The vector index cannot be used.")

    monkeypatch.setattr(Vectors, "delete", broken)
    with pytest.raises(GiveUpError):
        shelf.index.forget(shelf.document_of("secret.txt"))
    assert shelf.found(SECRET) == []
    assert not any(SECRET.encode() in path.read_bytes() for path in files_of(shelf))
    monkeypatch.undo()
    shelf.index.repair()
    assert vector_ids(shelf) == set()


def test_the_record_of_a_question_goes_with_any_of_its_documents(shelf: Shelf) -> None:
    shelf.write("a.txt", RENT)
    shelf.write("b.txt", NOTICE)
    shelf.update()
    a, b = shelf.document_of("a.txt"), shelf.document_of("b.txt")
    shelf.index.put_trace("both", "2024-01-01", {"of": "both"}, [a, b])
    shelf.index.put_trace("one", "2024-01-01", {"of": "one"}, [a])
    shelf.index.forget(b)
    assert shelf.index.trace("one") == {"of": "one"}
    with pytest.raises(NotFoundError, match="no record"):
        shelf.index.trace("both")


def test_a_question_that_was_being_answered_when_its_document_was_erased_is_not_kept(shelf: Shelf) -> None:
    shelf.write("a.txt", RENT)
    shelf.update()
    document = shelf.document_of("a.txt")
    shelf.index.forget(document)
    shelf.index.put_trace("late", "2024-01-01", {"answer": RENT}, [document])
    with pytest.raises(NotFoundError):
        shelf.index.trace("late")


def test_what_is_not_there_cannot_be_forgotten(shelf: Shelf) -> None:
    with pytest.raises(NotFoundError, match="no document"):
        shelf.index.forget("nobody")


# Erased while something else is at work on it


def test_a_file_taken_out_while_it_was_read_is_not_stored(shelf: Shelf) -> None:
    shelf.write("secret.txt", f"# {SECRET}\nThe name is {SECRET}.")
    shelf.reader.meanwhile = lambda path: shelf.index.drop_root(str(shelf.folder))
    assert shelf.update().read == 0
    assert shelf.found(SECRET) == [] and live_ids(shelf) == set() and vector_ids(shelf) == set()


def test_a_document_forgotten_while_its_file_was_read_again_stays_forgotten(shelf: Shelf) -> None:
    shelf.write("secret.txt", f"# {SECRET}\nThe name is {SECRET}.\n{NOTICE}")
    shelf.update()
    document = shelf.document_of("secret.txt")
    shelf.write("secret.txt", f"# {SECRET}\nThe name is still {SECRET}.\n{NOTICE}")
    shelf.reader.meanwhile = lambda path: shelf.index.forget(document)
    shelf.update()
    assert shelf.states() == {"secret.txt": "forgotten"}
    assert live_ids(shelf) == set() and vector_ids(shelf) == set()


def test_a_file_that_turns_out_unreadable_after_it_was_forgotten_stays_forgotten(shelf: Shelf) -> None:
    shelf.write("a.txt", RENT)
    shelf.update()
    shelf.index.forget(shelf.document_of("a.txt"))
    shelf.index.note_unreadable(str(shelf.folder / "a.txt"), "", FileState.FAILED, "It crashed.")
    assert shelf.states() == {"a.txt": "forgotten"}


def test_a_document_erased_while_it_is_embedded_leaves_no_vector(shelf: Shelf) -> None:
    shelf.write("a.txt", RENT)
    shelf.write("b.txt", NOTICE)
    shelf.update(embed=False)
    document = shelf.document_of("a.txt")
    forgotten = threading.Event()

    def forget(texts: Sequence[str]) -> None:
        if not forgotten.is_set():
            forgotten.set()
            shelf.index.forget(document)

    shelf.engine.meanwhile = forget
    shelf.update()
    assert forgotten.is_set()
    assert vector_ids(shelf) == live_ids(shelf) != set()


# A crash between the two stores


class Crash(BaseException):
    """The process dies here."""


def crash(*_: object) -> None:
    raise Crash


def crashed(shelf: Shelf, monkeypatch: pytest.MonkeyPatch, place: object, name: str) -> None:
    """Update until the process dies at a place, then start again over the same files."""
    with monkeypatch.context() as patched:
        patched.setattr(place, name, crash)
        with pytest.raises(Crash):
            shelf.update()
    shelf.close()
    shelf.index = Index(shelf.settings.library_dir, MODEL)


def test_vectors_written_before_a_crash_that_the_catalogue_does_not_know_are_made_known(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf.write("lease.txt", f"{RENT}\n{NOTICE}")
    crashed(shelf, monkeypatch, front.documents, "mark_embedded")
    assert len(vector_ids(shelf)) == 2 and shelf.index.ledger().chunks_without_vectors == 2
    shelf.index.repair()
    shelf.update()
    assert vector_ids(shelf) == live_ids(shelf) and shelf.index.ledger().chunks_without_vectors == 0


def test_vectors_of_a_reading_that_was_never_made_live_are_deleted(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf.write("lease.txt", f"{RENT}\n{NOTICE}")
    shelf.update()
    before = live_ids(shelf)
    shelf.write("lease.txt", f"{RENT} More.\n{NOTICE}")
    crashed(shelf, monkeypatch, front.documents, "put_reading")
    assert live_ids(shelf) == before and vector_ids(shelf) > before
    assert sorted(shelf.near("notice", k=2)) == sorted(shelf.found("tenant OR party")), "the old version, whole"
    orphans, missing = shelf.index.repair()
    assert (orphans, missing) == (1, 0) and vector_ids(shelf) == before
    shelf.update()
    assert vector_ids(shelf) == live_ids(shelf)


def test_vectors_of_a_replaced_reading_that_were_not_deleted_yet_are_deleted(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf.write("lease.txt", f"{RENT}\n{NOTICE}")
    shelf.update()
    shelf.write("lease.txt", f"{RENT} More.\n{NOTICE}")
    crashed(shelf, monkeypatch, Vectors, "delete")
    assert vector_ids(shelf) - live_ids(shelf)
    assert not set(shelf.near("nine hundred pounds")) - set(shelf.found("tenant party")), "dead vectors find nothing"
    shelf.index.repair()
    shelf.update()
    assert vector_ids(shelf) == live_ids(shelf)


def test_vectors_that_were_lost_are_made_again(shelf: Shelf) -> None:
    shelf.write("lease.txt", f"{RENT}\n{NOTICE}")
    shelf.update()
    [lost, _] = sorted(live_ids(shelf))
    assert shelf.index.stores_agree()
    shelf.index._vectors.delete([lost])
    assert not shelf.index.stores_agree()
    assert shelf.index.repair() == (0, 1)
    shelf.engine.embedded.clear()
    shelf.update()
    assert len(shelf.engine.embedded) == 1 and vector_ids(shelf) == live_ids(shelf)


def test_documents_that_no_file_leads_to_are_erased_by_a_repair(shelf: Shelf) -> None:
    shelf.write("lease.txt", RENT)
    shelf.update()
    with shelf.index._db.writing() as connection:
        connection.execute("DELETE FROM files")
    assert shelf.found("pounds") == [], "nothing is found that cannot be opened"
    shelf.index.repair()
    assert live_ids(shelf) == set() and vector_ids(shelf) == set()


def test_files_are_read_and_found_while_the_vector_store_is_broken(shelf: Shelf) -> None:
    shelf.write("lease.txt", f"{RENT}\n{NOTICE}")
    shelf.write("kept.txt", "# Kept\nThis stays as it is.")
    gone = shelf.write("gone.txt", "# Gone\nThis will be deleted.")
    shelf.update()
    vectors = shelf.settings.library_dir / "vectors"
    (vectors / "chroma.sqlite3").write_bytes(b"This is no database. " * 500)
    shelf.write("lease.txt", f"{RENT.replace('nine', 'eleven')}\n{NOTICE}")
    gone.unlink()
    report = shelf.update(embed=False)
    assert (report.read, report.deleted) == (1, 1)
    assert shelf.found("eleven") and not shelf.found("nine OR deleted")
    with pytest.raises(GiveUpError, match="Delete that folder"):
        shelf.index.stores_agree()
    shutil.rmtree(vectors)
    assert not shelf.index.stores_agree()
    shelf.index.repair()
    shelf.update()
    assert vector_ids(shelf) == live_ids(shelf) and shelf.index.stores_agree()


def test_repairing_what_agrees_changes_nothing(shelf: Shelf) -> None:
    assert shelf.index.repair() == (0, 0)
    shelf.write("lease.txt", f"{RENT}\n{NOTICE}")
    shelf.update()
    assert shelf.index.repair() == (0, 0)
    assert vector_ids(shelf) == live_ids(shelf)


def test_another_model_embeds_everything_anew_beside_the_first(shelf: Shelf) -> None:
    shelf.write("lease.txt", f"{RENT}\n{NOTICE}")
    shelf.update()
    shelf.close()
    shelf.engine.embedded.clear()
    shelf.index = Index(shelf.settings.library_dir, "another model")
    assert shelf.near("notice") == [] and shelf.found("notice")
    shelf.update()
    assert len(shelf.engine.embedded) == 2 and vector_ids(shelf) == live_ids(shelf)
    assert shelf.reader.reads == ["lease.txt"], "and reads nothing again"


# Filters and k, in both legs


@pytest.fixture
def mixed(shelf: Shelf) -> Shelf:
    """Thirty documents in two folders that all speak of rent."""
    for number in range(15):
        shelf.write(f"leases/{number}.txt", f"# Lease {number}\nThe rent of lease {number} is due on day {number}.")
        shelf.write(f"letters/{number}.txt", f"# Letter {number}\nYour letter {number} about the rent came in.")
    shelf.update()
    return shelf


@pytest.fixture(params=["exact", "by the index", "long filter"])
def leg(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The ways in which a filter can act in the vector leg."""
    if request.param != "exact":
        monkeypatch.setattr(front, "EXACT_SCAN_CHUNKS", 0)
    if request.param == "long filter":
        monkeypatch.setattr(front, "MAX_FILTER_DOCUMENTS", 0)
    return str(request.param)


@pytest.mark.usefixtures("leg")
def test_k_means_k_results_that_the_filter_lets_through(mixed: Shelf) -> None:
    only = Filters(folder=str(mixed.folder / "letters"))
    for search in (mixed.found, mixed.near):
        texts = search("rent lease", filters=only, k=12)
        assert len(texts) == 12 and all("Your letter" in text for text in texts)
        assert len(search("rent lease", filters=only, k=100)) == 15
        assert len(search("rent", k=7)) == 7
        assert len(search("rent", k=100)) == 30


@pytest.mark.usefixtures("leg")
def test_a_filter_that_lets_nothing_through_finds_nothing(mixed: Shelf) -> None:
    for search in (mixed.found, mixed.near):
        assert search("rent", filters=Filters(folder=str(mixed.folder / "lett"))) == []
        assert search("rent", filters=Filters(document="nobody")) == []


def test_dead_vectors_take_no_places(mixed: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Vectors, "delete", lambda *_: None)
    for number in range(10):
        mixed.index.forget(mixed.document_of(f"leases/{number}.txt"))
    assert len(vector_ids(mixed)) == 30
    assert len(mixed.near("The rent of lease is due on day", k=8)) == 8


BY = ["path", "id", "title", "file as folder", "folder", "time", "all at once"]


@pytest.mark.parametrize("by", BY)
def test_every_kind_of_filter_acts_in_both_legs(shelf: Shelf, by: str) -> None:
    for name, year in (("a/first.txt", 2021), ("ab/second.txt", 2022), ("c/third.txt", 2023)):
        path = shelf.write(name, f"# {name}\nThe rent in {year}.")
        os.utime(path, (datetime(year, 6, 1, tzinfo=UTC).timestamp(),) * 2)
    shelf.update()
    path, document = str(shelf.folder / "a" / "first.txt"), shelf.document_of("a/first.txt")
    only = dict(
        zip(
            BY,
            [
                Filters(document=path),
                Filters(document=document),
                Filters(document="FIRST"),
                Filters(folder=path),
                Filters(folder=str(shelf.folder / "a") + os.sep),
                Filters(after="2021-06-01", before="2021-06-02"),
                Filters(str(shelf.folder), document, ".TEXT", "2021-01-01", "2022-01-01"),
            ],
            strict=True,
        )
    )[by]
    assert shelf.found("rent", filters=only) == ["The rent in 2021."]
    assert shelf.near("rent", filters=only) == ["The rent in 2021."]


def test_a_file_of_another_format_is_filtered_out(shelf: Shelf) -> None:
    shelf.write("a.txt", RENT)
    shelf.update()
    assert shelf.found("rent", filters=Filters(type="pdf")) == []
    assert shelf.found("rent", filters=Filters(type="text")) != []


# Which document a file is


def test_a_document_is_named_by_id_or_path(shelf: Shelf) -> None:
    path = shelf.write("lease.txt", RENT)
    shelf.update()
    by_path = shelf.index.document_info(str(path))
    assert by_path == shelf.index.document_info(by_path.id)
    assert (by_path.title, by_path.path, by_path.pages, by_path.format) == ("lease", str(path), 1, "text")


def test_a_file_of_which_nothing_was_read_says_why(shelf: Shelf) -> None:
    path = shelf.write("empty.txt", "")
    shelf.update()
    with pytest.raises(NotFoundError, match=r"Nothing could be read of .*empty\.txt\. There is no text in it\."):
        shelf.index.document_info(str(path))


def test_an_unknown_name_is_not_repeated_at_length(shelf: Shelf) -> None:
    with pytest.raises(NotFoundError) as error:
        shelf.index.document_info("x" * 10_000)
    assert len(str(error.value)) < 500


def test_a_section_that_was_replaced_meanwhile_is_not_found(shelf: Shelf) -> None:
    with pytest.raises(NotFoundError, match="ask again"):
        shelf.index.section("nobody", 0)


# Roots inside roots


def test_a_folder_inside_a_watched_one_takes_its_files_over_and_gives_them_back(shelf: Shelf) -> None:
    shelf.write("inner/a.txt", RENT)
    shelf.write("b.txt", NOTICE)
    shelf.update()
    documents = {name: shelf.document_of(name) for name in ("inner/a.txt", "b.txt")}
    inner = str(shelf.folder / "inner")
    shelf.index.add_root(inner)
    assert set(shelf.index.files_under(inner)) == {str(shelf.folder / "inner" / "a.txt")}
    for _ in range(2):
        report = shelf.update()
        assert (report.read, report.unchanged, report.deleted, report.moved) == (0, 2, 0, 0)
    assert shelf.index.drop_root(inner) == 0, "the folder around it still holds the file"
    assert shelf.update().unchanged == 2
    assert {name: shelf.document_of(name) for name in documents} == documents
    assert sorted(shelf.reader.reads) == ["a.txt", "b.txt"]


def test_a_folder_around_a_watched_one_leaves_it_its_files(shelf: Shelf) -> None:
    shelf.write("a.txt", RENT)
    shelf.update()
    around = shelf.folder.parent / "documents-and-more"
    around.mkdir()
    shelf.folder.rename(around / "documents")
    shelf.index.drop_root(str(shelf.folder))
    shelf.index.add_root(str(around / "documents"))
    shelf.update()
    shelf.reader.reads.clear()
    shelf.index.add_root(str(around))
    (around / "b.txt").write_text(NOTICE)
    for unchanged in (1, 2):
        assert shelf.update().unchanged == unchanged
    assert shelf.reader.reads == ["b.txt"]
    assert shelf.index.drop_root(str(around)) == 1
    assert shelf.states() == {"a.txt": "read"}


def test_adding_a_file_by_its_own_name_reads_again_what_was_given_up_or_forgotten(shelf: Shelf) -> None:
    path = shelf.write("a.txt", RENT)
    shelf.update()
    shelf.index.forget(shelf.document_of("a.txt"))
    shelf.update()
    assert shelf.states() == {"a.txt": "forgotten"}
    shelf.index.add_root(str(path))
    shelf.update()
    assert shelf.states() == {"a.txt": "read"} and shelf.found("pounds")


def test_noting_a_file_of_a_folder_that_is_no_longer_watched_does_nothing(shelf: Shelf) -> None:
    shelf.index.note_seen([("/elsewhere/a.txt", "/elsewhere", 1, 1)])
    assert shelf.states() == {}


# One writer


def test_only_one_may_read_files_into_a_library_at_a_time(shelf: Shelf) -> None:
    other = Index(shelf.settings.library_dir, MODEL)
    with shelf.index.only_writer(), pytest.raises(StoreBusyError, match="Another Pincite"), other.only_writer():
        pass
    with other.only_writer():
        pass
    other.close()


def test_a_lock_that_cannot_be_made_is_said(shelf: Shelf) -> None:
    (shelf.settings.library_dir / "writer.lock").mkdir()
    with pytest.raises(GiveUpError, match=r"lock .* cannot be used"), shelf.index.only_writer():
        pass


def test_a_closed_library_refuses_everything(shelf: Shelf) -> None:
    shelf.close()
    calls: list[Callable[[], object]] = [
        shelf.index.folders, shelf.index.ledger, shelf.index.repair, lambda: shelf.found("rent"),
        lambda: shelf.index.add_root("/r"),
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(StoreBusyError, match="closed"):
            call()


# The ledger


def test_the_ledger_says_what_became_of_every_file(shelf: Shelf) -> None:
    shelf.write("read.txt", "One page.\fAnother page.")
    shelf.write("film.mp4", "not a film")
    shelf.write("empty.txt", " ")
    shelf.update(embed=False)
    shelf.index.note_seen([(str(shelf.folder / "new.txt"), str(shelf.folder), 1, 1)])
    ledger = shelf.index.ledger()
    assert {Path(e.path).name: (e.state, e.pages, bool(e.reason), bool(e.document)) for e in ledger.entries} == {
        "read.txt": (FileState.READ, 2, False, True),
        "film.mp4": (FileState.UNSUPPORTED, 0, True, False),
        "empty.txt": (FileState.FAILED, 0, True, False),
        "new.txt": (FileState.WAITING, 0, False, False),
    }
    assert (ledger.chunks, ledger.chunks_without_vectors) == (1, 1)
    assert {Path(file.path).name for file in shelf.index.not_searched()} == {"film.mp4", "empty.txt", "new.txt"}


def test_files_of_a_root_out_of_reach_are_offline_and_still_found(shelf: Shelf) -> None:
    shelf.write("a.txt", RENT)
    shelf.update()
    shelf.index.set_online(str(shelf.folder), False)
    [entry] = shelf.index.ledger().entries
    assert entry.state is FileState.OFFLINE and "cannot be reached" in entry.reason and entry.pages == 1
    assert shelf.found("pounds") and shelf.near("pounds")
    assert [file.state for file in shelf.index.not_searched()] == ["offline"]
    assert shelf.index.waiting_files() == []


def test_waiting_files_come_smallest_first_and_none_of_a_root_out_of_reach(shelf: Shelf) -> None:
    root = str(shelf.folder)
    shelf.index.add_root("/unplugged")
    shelf.index.note_seen(
        [(f"{root}/b", root, 30, 1), (f"{root}/a", root, 20, 1), ("/unplugged/c", "/unplugged", 1, 1)]
    )
    shelf.index.set_online("/unplugged", False)
    assert [record.path for record in shelf.index.waiting_files()] == [f"{root}/a", f"{root}/b"]
