"""The catalogue's files: watched roots, what is known of each file, and the ledger."""

from __future__ import annotations

import os
import sqlite3
from dataclasses import dataclass

from pincite.model import FileState, Folder, LedgerEntry, NotSearched


@dataclass(frozen=True, slots=True)
class FileRecord:
    """What was last known of a file. `content_hash` and `document` are those of its last reading until the next."""

    path: str
    root: str
    size: int
    mtime_ns: int
    content_hash: str
    document: str | None
    state: FileState
    reason: str


def folders(connection: sqlite3.Connection) -> tuple[Folder, ...]:
    """The watched folders and single files, by path."""
    rows = connection.execute("SELECT path, online FROM roots ORDER BY path")
    return tuple(Folder(row["path"], bool(row["online"])) for row in rows)


def add_root(connection: sqlite3.Connection, path: str) -> None:
    """Watch `path` from now on. What is known of its files through a folder around it is from now on known through it.

    A file that was given up or forgotten and is now added by its own name is read again.
    """
    connection.execute("INSERT OR IGNORE INTO roots(path) VALUES (?)", (path,))
    for around in _roots_around(connection, path):
        connection.execute(
            "UPDATE files SET root = ? WHERE root = ? AND (path = ? OR substr(path, 1, ?) = ?)",
            (path, around, path, len(_inside(path)), _inside(path)),
        )
    connection.execute(
        "UPDATE files SET state = ?, reason = '' WHERE path = ? AND document IS NULL", (FileState.WAITING.value, path)
    )


def _roots_around(connection: sqlite3.Connection, path: str) -> list[str]:
    """The watched folders that `path` lies in, innermost first."""
    roots = [row["path"] for row in connection.execute("SELECT path FROM roots")]
    return sorted((root for root in roots if path.startswith(_inside(root))), key=len, reverse=True)


def _inside(folder: str) -> str:
    """What the path of everything in a folder begins with."""
    return folder if folder.endswith(os.sep) else folder + os.sep


def set_online(connection: sqlite3.Connection, path: str, online: bool) -> None:
    """Note whether a root can be reached."""
    connection.execute("UPDATE roots SET online = ? WHERE path = ?", (int(online), path))


def files_under(connection: sqlite3.Connection, root: str) -> dict[str, FileRecord]:
    """The known files of a root, by path."""
    rows = connection.execute("SELECT * FROM files WHERE root = ?", (root,))
    return {row["path"]: _record(row) for row in rows}


def file_at(connection: sqlite3.Connection, path: str) -> FileRecord | None:
    """What is known of the file at `path`."""
    row = connection.execute("SELECT * FROM files WHERE path = ?", (path,)).fetchone()
    return _record(row) if row else None


def waiting_files(connection: sqlite3.Connection) -> list[FileRecord]:
    """Files still to be read, smallest first, so that most of a new folder can be searched soon."""
    rows = connection.execute(
        "SELECT files.* FROM files JOIN roots ON roots.path = files.root WHERE state = ? AND online "
        "ORDER BY size, path",
        (FileState.WAITING.value,),
    )
    return [_record(row) for row in rows]


def note_seen(connection: sqlite3.Connection, path: str, root: str, size: int, mtime_ns: int) -> None:
    """Queue a new or changed file for reading; what was read of it before stays until then.

    Does nothing when its root is not watched any more.
    """
    connection.execute(
        "INSERT INTO files(path, root, size, mtime_ns, state) SELECT ?, path, ?, ?, ? FROM roots WHERE path = ? "
        "ON CONFLICT(path) DO UPDATE SET size = excluded.size, mtime_ns = excluded.mtime_ns, state = excluded.state, "
        "reason = '', root = excluded.root",
        (path, size, mtime_ns, FileState.WAITING.value, root),
    )


def note_state(connection: sqlite3.Connection, path: str, state: FileState, reason: str) -> None:
    """Set a file's state and the reason for it."""
    connection.execute("UPDATE files SET state = ?, reason = ? WHERE path = ?", (state.value, reason, path))


def link(connection: sqlite3.Connection, path: str, content_hash: str, document: str | None) -> None:
    """Note what a file contains, as of its last reading."""
    connection.execute("UPDATE files SET content_hash = ?, document = ? WHERE path = ?", (content_hash, document, path))


def drop_file(connection: sqlite3.Connection, path: str) -> None:
    """Forget a file that is gone; its document is another matter."""
    connection.execute("DELETE FROM files WHERE path = ?", (path,))


def drop_root(connection: sqlite3.Connection, path: str) -> None:
    """Stop watching a root and forget its files, but for those that a watched folder around it holds as well."""
    for around in _roots_around(connection, path)[:1]:
        connection.execute("UPDATE files SET root = ? WHERE root = ?", (around, path))
    connection.execute("DELETE FROM roots WHERE path = ?", (path,))


def paths_of(connection: sqlite3.Connection, document: str) -> list[str]:
    """Where a document's content lies, reachable places first."""
    rows = connection.execute(
        "SELECT files.path FROM files JOIN roots ON roots.path = files.root WHERE document = ? "
        "ORDER BY online DESC, files.path",
        (document,),
    )
    return [row["path"] for row in rows]


def ledger_entries(connection: sqlite3.Connection) -> tuple[LedgerEntry, ...]:
    """Every file with its state; files of an unreachable root are offline, whatever was read of them."""
    rows = connection.execute(
        "SELECT files.path, files.root, files.state, files.reason, files.document, roots.online, files.mtime_ns, "
        "documents.pages, documents.modified FROM files JOIN roots ON roots.path = files.root "
        "LEFT JOIN documents ON documents.id = files.document ORDER BY files.path"
    )
    return tuple(_entry(row) for row in rows)


def not_searched(connection: sqlite3.Connection) -> tuple[NotSearched, ...]:
    """The files that a search cannot look into, or not wholly, with the reason."""
    rows = connection.execute(
        "SELECT files.path, files.root, files.state, files.reason, files.document, roots.online, files.mtime_ns, "
        "NULL AS pages, NULL AS modified FROM files JOIN roots ON roots.path = files.root "
        "WHERE NOT online OR state != ? ORDER BY files.path",
        (FileState.READ.value,),
    )
    return tuple(NotSearched(e.path, e.state.value, e.reason) for e in map(_entry, rows))


def _entry(row: sqlite3.Row) -> LedgerEntry:
    state, reason = FileState(row["state"]), row["reason"]
    if not row["online"]:
        state = FileState.OFFLINE
        reason = f"The folder {row['root']} cannot be reached; what was read of this file is kept."
    return LedgerEntry(
        path=row["path"],
        folder=row["root"],
        state=state,
        reason=reason,
        document=row["document"] or "",
        pages=row["pages"] or 0,
        modified=row["modified"] or "",
    )


def _record(row: sqlite3.Row) -> FileRecord:
    return FileRecord(
        row["path"],
        row["root"],
        row["size"],
        row["mtime_ns"],
        row["content_hash"],
        row["document"],
        FileState(row["state"]),
        row["reason"],
    )
