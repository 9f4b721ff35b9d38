"""The SQLite file: whole changes or none, threads, other processes, damage, and nothing left of what was erased."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pincite.errors import GiveUpError, NotFoundError, StoreBusyError
from pincite.index import database as module
from pincite.index.database import SCHEMA_VERSION, Database

WAIT_S = 30.0
SECRET = "Rumpelstilzchen"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "library" / "library.sqlite"


@pytest.fixture
def database(path: Path) -> Iterator[Database]:
    database = Database(path)
    yield database
    database.close()


def add_chunk(connection: sqlite3.Connection, name: str, text: str) -> None:
    """A document of one chunk."""
    connection.execute("INSERT INTO documents VALUES (?, '', '', '', '', '', '', '', 1, 'read', '', x'')", (name,))
    connection.execute(
        "INSERT INTO chunks(id, document, generation, ordinal, section, kind, heading_path, context, text, spans, "
        "tokens, text_hash) VALUES (?, ?, '', 0, 0, 'paragraph', '[]', '', ?, '[]', 1, '')",
        (name, name, text),
    )


def documents(database: Database) -> list[str]:
    with database.reading() as connection:
        return [row["id"] for row in connection.execute("SELECT id FROM documents ORDER BY id")]


def matches(database: Database, word: str) -> int:
    with database.reading() as connection:
        count: int = connection.execute("SELECT COUNT(*) FROM keywords WHERE keywords MATCH ?", (word,)).fetchone()[0]
        return count


# Changes


def test_what_is_written_is_there_when_it_is_opened_again(database: Database, path: Path) -> None:
    with database.writing() as connection:
        add_chunk(connection, "a", "text")
    database.close()
    again = Database(path)
    assert documents(again) == ["a"] and matches(again, "text") == 1
    again.close()


def test_a_change_that_fails_leaves_nothing_behind(database: Database) -> None:
    with pytest.raises(GiveUpError):
        write(database, "a", "a")
    assert documents(database) == [] and matches(database, "text") == 0
    with database.writing() as connection:
        add_chunk(connection, "b", "text")
    assert documents(database) == ["b"]


def test_a_change_that_cannot_be_committed_leaves_nothing_behind(database: Database) -> None:
    with database.writing() as connection:
        connection.execute("CREATE TABLE child (parent TEXT REFERENCES roots(path) DEFERRABLE INITIALLY DEFERRED)")
    with pytest.raises(GiveUpError), database.writing() as connection:
        connection.execute("INSERT INTO child VALUES ('nobody')")  # found out at the commit
    with database.writing() as connection:
        add_chunk(connection, "a", "text")
    assert documents(database) == ["a"], "the thread can go on"


def test_a_reader_sees_one_state_throughout(database: Database) -> None:
    with ThreadPoolExecutor(1) as beside, database.reading() as connection:
        before = connection.execute("SELECT COUNT(*) FROM documents").fetchone()[0]
        beside.submit(write, database, "a").result(WAIT_S)
        assert connection.execute("SELECT COUNT(*) FROM documents").fetchone()[0] == before
    assert documents(database) == ["a"]


def write(database: Database, *names: str) -> None:
    """Documents of one chunk each, in one change; a name given twice makes it fail."""
    with database.writing() as connection:
        for name in names:
            add_chunk(connection, name, "text")


def test_a_writer_reads_its_own_changes(database: Database) -> None:
    with database.writing() as connection:
        add_chunk(connection, "a", "text")
        assert documents(database) == ["a"]


def test_deleting_a_document_takes_its_words_out_of_the_keyword_index(database: Database) -> None:
    with database.writing() as connection:
        add_chunk(connection, "a", f"text {SECRET}")
        add_chunk(connection, "b", "text")
    with database.writing() as connection:
        connection.execute("DELETE FROM documents WHERE id = 'a'")
    assert matches(database, SECRET) == 0 and matches(database, "text") == 1
    with database.writing() as connection:
        connection.execute("INSERT INTO keywords(keywords) VALUES ('integrity-check')")  # raises when they differ


def test_nothing_of_erased_text_is_left_in_any_file(database: Database, path: Path) -> None:
    with database.writing() as connection:
        for number in range(50):
            add_chunk(connection, f"doc {number}", f"{SECRET} " + "filling " * 200)
    assert any(SECRET.encode() in file.read_bytes() for file in path.parent.iterdir())
    with database.writing() as connection:
        connection.execute("DELETE FROM documents")
    database.erase_deleted()
    for file in path.parent.iterdir():
        content = file.read_bytes()
        assert SECRET.encode() not in content and SECRET.casefold().encode() not in content, file.name


# Threads


def test_many_threads_write_and_read_at_once(database: Database) -> None:
    def work(number: int) -> None:
        for turn in range(5):
            write(database, f"{number}-{turn}")
            documents(database)
            matches(database, "text")

    with ThreadPoolExecutor(8) as pool:
        for job in [pool.submit(work, number) for number in range(8)]:
            job.result(WAIT_S)
    assert len(documents(database)) == 40


def test_the_connections_of_threads_that_ended_are_closed(database: Database) -> None:
    for _ in range(10):
        with ThreadPoolExecutor(2) as pool:
            pool.submit(documents, database).result(WAIT_S)
    assert len(database._connections) <= 3


def test_closing_waits_for_work_and_refuses_more(database: Database) -> None:
    began, may_end = threading.Event(), threading.Event()

    def read_slowly() -> int:
        with database.reading() as connection:
            began.set()
            assert may_end.wait(WAIT_S)
            count: int = connection.execute("SELECT COUNT(*) FROM documents").fetchone()[0]
            return count

    with ThreadPoolExecutor(2) as pool:
        reading = pool.submit(read_slowly)
        assert began.wait(WAIT_S)
        closing = pool.submit(database.close)
        assert not closing.done()
        may_end.set()
        assert reading.result(WAIT_S) == 0
        closing.result(WAIT_S)
        with pytest.raises(StoreBusyError, match="closed"):
            pool.submit(documents, database).result(WAIT_S)
    database.close()


# Other processes


LOCK_AND_WAIT = """
import sqlite3, sys
lock = sqlite3.connect(sys.argv[1], isolation_level=None)
lock.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def locked_elsewhere(database: Database, path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Another process is in the middle of a change."""
    database.close()
    monkeypatch.setattr(module, "BUSY_TIMEOUT_S", 0.05)
    other = subprocess.Popen(
        [sys.executable, "-c", LOCK_AND_WAIT, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with other:
        assert other.stdout is not None and other.stdout.readline().strip() == b"locked"
        yield
        other.communicate()


@pytest.mark.usefixtures("locked_elsewhere")
def test_a_library_that_another_process_writes_to_can_be_opened_and_read(path: Path) -> None:
    database = Database(path)
    assert documents(database) == []
    database.close()


@pytest.mark.usefixtures("locked_elsewhere")
def test_writing_while_another_process_does_is_refused_in_a_sentence(path: Path) -> None:
    database = Database(path)
    with pytest.raises(StoreBusyError, match="Another program is writing"), database.writing():
        pass
    assert documents(database) == [], "reading goes on"
    database.close()


# Damage


def refused(path: Path) -> str:
    """The sentence with which a library is not opened."""
    with pytest.raises(GiveUpError) as refusal:
        Database(path)
    sentence = str(refusal.value)
    assert sentence.endswith(".") and "Traceback" not in sentence
    return sentence


def test_a_file_that_is_no_library_is_refused(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"This is a letter and not a library. " * 100)
    assert "not a database" in refused(path)
    assert path.read_bytes().startswith(b"This is a letter"), "and is left as it is"


def test_damage_is_named_when_it_is_opened_or_met(database: Database, path: Path) -> None:
    with database.writing() as connection:
        for number in range(50):
            add_chunk(connection, f"doc {number}", "filling " * 200)
    database.close()
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2] + b"\x55" * (len(whole) - len(whole) // 2))
    damaged = Database(path)
    with pytest.raises(GiveUpError, match="malformed"), damaged.reading() as connection:
        connection.execute("SELECT SUM(LENGTH(text)) FROM chunks").fetchall()
    damaged.close()
    path.write_bytes(whole[:4096] + b"\x55" * (len(whole) - 4096))
    assert "malformed" in refused(path)


@pytest.mark.parametrize("version", [SCHEMA_VERSION + 1, 99])
def test_a_library_of_another_version_is_refused(database: Database, path: Path, version: int) -> None:
    database.close()
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {version}")
    connection.close()
    assert "another version of Pincite" in refused(path)


def test_a_library_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("text")
    assert refused(tmp_path / "letter.txt" / "library.sqlite").endswith("is a file, and a library is a folder.")
    assert "Not a directory" in refused(tmp_path / "letter.txt" / "inside" / "library.sqlite")


def test_a_folder_in_the_place_of_the_file_is_refused(path: Path) -> None:
    path.mkdir(parents=True)
    assert "unable to open" in refused(path)


def test_a_full_disk_is_said_and_what_was_there_stays(database: Database) -> None:
    write(database, "a")
    with database.writing() as connection:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(GiveUpError, match="full"), database.writing() as connection:
        add_chunk(connection, "b", "filling " * 100_000)
    assert documents(database) == ["a"]


def test_a_name_that_is_not_text_is_not_found(database: Database) -> None:
    with pytest.raises(NotFoundError, match="not valid text"), database.reading() as connection:
        connection.execute("SELECT 1 FROM files WHERE path = ?", ("caf\udce9.txt",))
