"""The SQLite file of a library: its schema, its connections and its errors.

One connection per thread, write-ahead logging so that reading never waits for writing, and one writer at a time.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pincite.errors import GiveUpError, NotFoundError, StoreBusyError

SCHEMA_VERSION = 1
BUSY_TIMEOUT_S = 15.0
CLOSING_LIMIT_S = 30.0  # longer than any one statement waits for another process

SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE roots (path TEXT PRIMARY KEY, online INTEGER NOT NULL DEFAULT 1) WITHOUT ROWID;

CREATE TABLE files (
    path TEXT PRIMARY KEY,
    root TEXT NOT NULL REFERENCES roots(path) ON DELETE CASCADE,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    content_hash TEXT NOT NULL DEFAULT '',
    document TEXT REFERENCES documents(id) ON DELETE SET NULL,
    state TEXT NOT NULL,
    reason TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;
CREATE INDEX files_root ON files(root);
CREATE INDEX files_document ON files(document);
CREATE INDEX files_state ON files(state);

CREATE TABLE documents (
    id TEXT PRIMARY KEY,
    content_hash TEXT NOT NULL,
    generation TEXT NOT NULL,
    title TEXT NOT NULL,
    format TEXT NOT NULL,
    author TEXT NOT NULL,
    created TEXT NOT NULL,
    modified TEXT NOT NULL,
    pages INTEGER NOT NULL,
    state TEXT NOT NULL,
    reason TEXT NOT NULL,
    blocks BLOB NOT NULL
) WITHOUT ROWID;
CREATE INDEX documents_content ON documents(content_hash);

CREATE TABLE pages (
    document TEXT NOT NULL REFERENCES documents(id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    label TEXT NOT NULL,
    width REAL NOT NULL,
    height REAL NOT NULL,
    words BLOB NOT NULL,
    PRIMARY KEY (document, number)
);

CREATE TABLE sections (
    document TEXT NOT NULL REFERENCES documents(id) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    spans TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    PRIMARY KEY (document, ordinal)
) WITHOUT ROWID;

CREATE TABLE chunks (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    document TEXT NOT NULL REFERENCES documents(id) ON DELETE CASCADE,
    generation TEXT NOT NULL,
    ordinal INTEGER NOT NULL,
    section INTEGER NOT NULL,
    kind TEXT NOT NULL,
    heading_path TEXT NOT NULL,
    context TEXT NOT NULL,
    text TEXT NOT NULL,
    spans TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    text_hash TEXT NOT NULL,
    embedded TEXT NOT NULL DEFAULT ''
);
CREATE INDEX chunks_document ON chunks(document, ordinal);
CREATE INDEX chunks_text ON chunks(text_hash);
CREATE INDEX chunks_embedded ON chunks(embedded);

CREATE VIRTUAL TABLE keywords USING fts5(
    context, text, content='chunks', content_rowid='number', tokenize="porter unicode61 remove_diacritics 2"
);
CREATE TRIGGER chunks_inserted AFTER INSERT ON chunks BEGIN
    INSERT INTO keywords(rowid, context, text) VALUES (new.number, new.context, new.text);
END;
CREATE TRIGGER chunks_deleted AFTER DELETE ON chunks BEGIN
    INSERT INTO keywords(keywords, rowid, context, text) VALUES ('delete', old.number, old.context, old.text);
END;

CREATE TABLE traces (id TEXT PRIMARY KEY, asked TEXT NOT NULL, body TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE trace_documents (
    trace TEXT NOT NULL REFERENCES traces(id) ON DELETE CASCADE,
    document TEXT NOT NULL,
    PRIMARY KEY (trace, document)
) WITHOUT ROWID;
CREATE INDEX trace_documents_document ON trace_documents(document);
"""


class Database:
    """Connections to one library's SQLite file. All methods may be called from any thread."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._local = threading.local()
        self._connections: dict[threading.Thread, sqlite3.Connection] = {}
        self._one_writer = threading.RLock()
        self._state = threading.Condition()
        self._working = 0
        self._closed = False
        if path.parent.exists() and not path.parent.is_dir():
            raise GiveUpError(f"{path.parent} is a file, and a library is a folder.")
        with self._translated():
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                self._prepare()
            except BaseException:
                self.close()
                raise

    @property
    def path(self) -> Path:
        return self._path

    @contextmanager
    def one_state(self) -> Iterator[None]:
        """Meanwhile this thread reads the library as it is at one moment, whatever others write."""
        with self._at_work():
            with self._translated():
                connection = self._connection()
                inside = connection.in_transaction  # a block of this thread that reads or writes
                if not inside:
                    connection.execute("BEGIN")
            try:
                yield
            finally:
                if not inside:
                    connection.rollback()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection on which every statement sees one state of the library."""
        with self.one_state(), self._translated():
            yield self._connection()

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A connection on which everything done becomes visible at once, at the end, or not at all."""
        with self._one_writer, self._at_work(), self._translated():
            connection = self._connection()
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.commit()
            except BaseException:
                connection.rollback()  # after a failed commit too: a full disk leaves the transaction open
                raise

    def erase_deleted(self) -> None:
        """Leave nothing of deleted rows in the file, the keyword index or the write-ahead log.

        secure_delete has overwritten the rows already; the keyword index keeps deleted terms until it is merged, and
        the log keeps the old pages until it is emptied. That waits for whoever is reading; when they take too long, it
        is left to the next time or to the closing of the library.
        """
        with self.writing() as connection:
            connection.execute("INSERT INTO keywords(keywords) VALUES ('optimize')")
        with self._one_writer, self._at_work(), self._translated():
            self._connection().execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Close the connections of all threads, each when it is done with what it is doing. Later use is refused."""
        with self._state:
            self._closed = True
            if self._state.wait_for(lambda: not self._working, CLOSING_LIMIT_S):
                for connection in self._connections.values():
                    connection.close()
                self._connections.clear()

    @contextmanager
    def _at_work(self) -> Iterator[None]:
        with self._state:
            if self._closed:
                raise StoreBusyError("The library has been closed.")
            self._working += 1
        try:
            yield
        finally:
            with self._state:
                self._working -= 1
                self._state.notify_all()

    def _connection(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._connected()
            self._local.connection = connection
            with self._state:
                # Every update reads with threads of its own: their connections would pile up for as long as we run.
                for thread in [thread for thread in self._connections if not thread.is_alive()]:
                    self._connections.pop(thread).close()
                self._connections[threading.current_thread()] = connection
        return connection

    def _connected(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False)
        try:
            connection.row_factory = sqlite3.Row
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA secure_delete = ON")
            connection.execute("PRAGMA synchronous = NORMAL")
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare(self) -> None:
        self._connection().execute("PRAGMA journal_mode = WAL")
        if self._version() == 0:
            with self.writing() as writer:
                if self._version() == 0:  # looked at again: another process may have been first
                    for statement in _statements(SCHEMA):
                        writer.execute(statement)
                    writer.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        version = self._version()
        if version != SCHEMA_VERSION:
            raise GiveUpError(
                f"The library {self._path.parent} was made by another version of Pincite (its form is {version}, "
                f"this version reads {SCHEMA_VERSION}). Index the folders again into a new library."
            )

    def _version(self) -> int:
        with self.reading() as connection:
            version: int = connection.execute("PRAGMA user_version").fetchone()[0]
            return version

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            if "locked" in str(error) or "busy" in str(error):
                raise StoreBusyError(
                    "Another program is writing to this library; try again when it has finished."
                ) from error
            raise GiveUpError(f"The library {self._path} cannot be used: {error}.") from error
        except sqlite3.DatabaseError as error:
            raise GiveUpError(
                f"The library {self._path} cannot be used: {error}. If the file is damaged, move it away and index the "
                "folders again: your documents themselves are not in it."
            ) from error
        except OSError as error:
            raise GiveUpError(f"The library {self._path} cannot be used: {error.strerror or error}.") from error
        except UnicodeEncodeError as error:  # what the system makes of a file name that is not UTF-8
            raise NotFoundError("A name that is not valid text cannot be looked for in a library.") from error


def _statements(script: str) -> list[str]:
    statements: list[str] = []
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            statements.append(pending)
            pending = ""
    return statements
