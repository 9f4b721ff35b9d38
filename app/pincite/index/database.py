"""The SQLite file of a library: its schema, its connections and its errors.

One connection per thread, write-ahead logging so that reading never waits for writing, and one writer at a time.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pincite.errors import GiveUpError, StoreBusyError

SCHEMA_VERSION = 1
BUSY_TIMEOUT_S = 15.0

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
        self._connections: list[sqlite3.Connection] = []
        self._lock = threading.RLock()
        self._closed = False
        with self._translated():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._prepare()

    @property
    def path(self) -> Path:
        return self._path

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection on which every statement sees one state of the library."""
        with self._translated():
            connection = self._connection()
            if connection.in_transaction:
                yield connection  # inside a writing block of this thread
                return
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                connection.rollback()

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A connection on which everything done becomes visible at once, at the end, or not at all."""
        with self._lock, self._translated():
            connection = self._connection()
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
            except BaseException:
                connection.rollback()
                raise
            connection.commit()

    def erase_deleted(self) -> None:
        """Leave nothing of deleted rows in the file, the keyword index or the write-ahead log.

        secure_delete has overwritten the rows already; the keyword index keeps deleted terms until it is merged, and
        the log keeps the old pages until it is emptied.
        """
        with self.writing() as connection:
            connection.execute("INSERT INTO keywords(keywords) VALUES ('optimize')")
        with self._lock, self._translated():
            self._connection().execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Close the connections of all threads; none of them may be working."""
        with self._lock:
            self._closed = True
            for connection in self._connections:
                connection.close()
            self._connections.clear()

    def _connection(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            if self._closed:
                raise StoreBusyError("The library has been closed.")
            connection = sqlite3.connect(
                self._path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False
            )
            connection.row_factory = sqlite3.Row
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA secure_delete = ON")
            connection.execute("PRAGMA synchronous = NORMAL")
            self._local.connection = connection
            with self._lock:
                self._connections.append(connection)
        return connection

    def _prepare(self) -> None:
        connection = self._connection()
        connection.execute("PRAGMA journal_mode = WAL")
        with self.writing() as writer:
            version = writer.execute("PRAGMA user_version").fetchone()[0]
            if version == 0:
                for statement in _statements(SCHEMA):
                    writer.execute(statement)
                writer.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            elif version != SCHEMA_VERSION:
                raise GiveUpError(
                    f"The library {self._path.parent} was made by another version of Pincite (its form is {version}, "
                    f"this version reads {SCHEMA_VERSION}). Index the folders again into a new library."
                )

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
        except (sqlite3.DatabaseError, OSError) as error:
            raise GiveUpError(f"The library {self._path} cannot be used: {error}.") from error


def _statements(script: str) -> list[str]:
    statements: list[str] = []
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            statements.append(pending)
            pending = ""
    return statements
