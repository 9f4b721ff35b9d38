"""The catalogue's documents: pages of words, sections, chunks, and what each search leg needs of them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pincite.index.encoding import packed_blocks, packed_spans, packed_words, unpacked_spans, unpacked_words
from pincite.model import (
    BlockKind,
    Chunk,
    Document,
    DocumentInfo,
    FileState,
    Filters,
    Page,
    PageSize,
    Section,
    Span,
)


@dataclass(frozen=True, slots=True)
class Reading:
    """One reading of a document, ready to be stored. `generation` names it: same content and program, same name."""

    id: str
    generation: str
    content_hash: str
    title: str
    modified: str
    document: Document
    sections: tuple[Section, ...]
    chunks: tuple[Chunk, ...]
    state: FileState
    reason: str


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk with what a passage needs to know of its document."""

    id: str
    document: str
    title: str
    path: str
    modified: str
    ordinal: int
    section: int
    kind: BlockKind
    heading_path: tuple[str, ...]
    context: str
    text: str
    spans: tuple[Span, ...]
    text_hash: str


@dataclass(frozen=True, slots=True)
class PendingChunk:
    """A chunk that has no vector yet."""

    id: str
    document: str
    context: str
    text: str
    text_hash: str


def put_reading(connection: sqlite3.Connection, reading: Reading, embedded: dict[str, str]) -> list[str]:
    """Replace whatever was stored of the document. `embedded` names the model for chunks whose vector is stored.

    Returns the ids of the chunks that were replaced, whose vectors are now dead.
    """
    dead = chunk_ids(connection, reading.id)
    for table in ("pages", "sections", "chunks"):
        connection.execute(f"DELETE FROM {table} WHERE document = ?", (reading.id,))
    _put_document(connection, reading)
    _put_pages(connection, reading)
    _put_sections(connection, reading)
    connection.executemany(
        "INSERT INTO chunks(id, document, generation, ordinal, section, kind, heading_path, context, text, spans, "
        "tokens, text_hash, embedded) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [_chunk_row(reading, chunk, embedded.get(chunk.id, "")) for chunk in reading.chunks],
    )
    return sorted(set(dead) - {chunk.id for chunk in reading.chunks})


def _put_document(connection: sqlite3.Connection, reading: Reading) -> None:
    meta = reading.document.metadata
    connection.execute(
        "INSERT INTO documents(id, content_hash, generation, title, format, author, created, modified, pages, state, "
        "reason, blocks) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT(id) DO UPDATE SET "
        "content_hash = excluded.content_hash, generation = excluded.generation, title = excluded.title, "
        "format = excluded.format, author = excluded.author, created = excluded.created, "
        "modified = excluded.modified, pages = excluded.pages, state = excluded.state, reason = excluded.reason, "
        "blocks = excluded.blocks",
        (
            reading.id,
            reading.content_hash,
            reading.generation,
            _storable(reading.title),
            meta.format,
            _storable(meta.author),
            meta.created,
            reading.modified,
            len(reading.document.pages),
            reading.state.value,
            _storable(reading.reason),
            packed_blocks(reading.document.blocks),
        ),
    )


def _put_pages(connection: sqlite3.Connection, reading: Reading) -> None:
    connection.executemany(
        "INSERT INTO pages(document, number, label, width, height, words) VALUES (?, ?, ?, ?, ?, ?)",
        [
            (reading.id, page.number, _storable(page.label), page.width, page.height, packed_words(page.words))
            for page in reading.document.pages
        ],
    )


def _put_sections(connection: sqlite3.Connection, reading: Reading) -> None:
    connection.executemany(
        "INSERT INTO sections(document, ordinal, spans, tokens) VALUES (?, ?, ?, ?)",
        [(reading.id, s.ordinal, packed_spans(s.spans), s.tokens) for s in reading.sections],
    )


def _chunk_row(reading: Reading, chunk: Chunk, embedded: str) -> tuple[object, ...]:
    return (
        chunk.id,
        reading.id,
        reading.generation,
        chunk.ordinal,
        chunk.parent,
        chunk.kind.value,
        json.dumps([_storable(part) for part in chunk.heading_path], ensure_ascii=False),
        _storable(chunk.context),
        _storable(chunk.text),
        packed_spans(chunk.spans),
        chunk.tokens,
        chunk.text_hash,
        embedded,
    )


def _storable(text: str) -> str:
    """SQLite text is UTF-8: a lone surrogate from a broken file or file name is replaced, visibly."""
    return text.encode("utf-8", "replace").decode("utf-8")


def drop_document(connection: sqlite3.Connection, document: str) -> list[str]:
    """Erase a document and every trace of a question that used it; returns its chunks' ids, whose vectors are dead."""
    dead = chunk_ids(connection, document)
    connection.execute(
        "DELETE FROM traces WHERE id IN (SELECT trace FROM trace_documents WHERE document = ?)", (document,)
    )
    connection.execute("DELETE FROM documents WHERE id = ?", (document,))
    return dead


def orphaned_documents(connection: sqlite3.Connection, among: Iterable[str] | None = None) -> list[str]:
    """Documents that no file leads to any more; `among` these, where given, which spares looking at all."""
    alone = "SELECT id FROM documents WHERE NOT EXISTS (SELECT 1 FROM files WHERE files.document = documents.id)"
    if among is None:
        return [row["id"] for row in connection.execute(alone)]
    return [one for one in sorted(set(among)) if connection.execute(f"{alone} AND id = ?", (one,)).fetchone()]


def document_with(connection: sqlite3.Connection, content_hash: str) -> str | None:
    """The document whose content has this hash."""
    row = connection.execute(
        "SELECT id FROM documents WHERE content_hash = ? ORDER BY id LIMIT 1", (content_hash,)
    ).fetchone()
    return row["id"] if row else None


def document_state(connection: sqlite3.Connection, document: str) -> tuple[FileState, str, str]:
    """State, reason and generation of a document's last reading."""
    row = connection.execute("SELECT state, reason, generation FROM documents WHERE id = ?", (document,)).fetchone()
    return FileState(row["state"]), row["reason"], row["generation"]


def holds_chunks(connection: sqlite3.Connection) -> bool:
    """Whether there is any chunk at all."""
    return connection.execute("SELECT 1 FROM chunks LIMIT 1").fetchone() is not None


def document_exists(connection: sqlite3.Connection, document: str) -> bool:
    """Whether the id is taken."""
    return connection.execute("SELECT 1 FROM documents WHERE id = ?", (document,)).fetchone() is not None


def document_info(connection: sqlite3.Connection, document: str, path: str) -> DocumentInfo | None:
    """What is known of a document without its words."""
    row = connection.execute("SELECT * FROM documents WHERE id = ?", (document,)).fetchone()
    if row is None:
        return None
    return DocumentInfo(row["id"], row["title"], path, row["format"], row["pages"], row["modified"], row["generation"])


def page_sizes(connection: sqlite3.Connection, document: str) -> tuple[PageSize, ...]:
    """The sizes and labels of a document's pages."""
    rows = connection.execute(
        "SELECT number, label, width, height FROM pages WHERE document = ? ORDER BY number", (document,)
    )
    return tuple(PageSize(row["number"], row["label"], row["width"], row["height"]) for row in rows)


def pages_of(connection: sqlite3.Connection, document: str, numbers: Iterable[int]) -> dict[int, Page]:
    """The named pages of a document, with their words."""
    pages: dict[int, Page] = {}
    for number in sorted(set(numbers)):
        row = connection.execute("SELECT * FROM pages WHERE document = ? AND number = ?", (document, number)).fetchone()
        if row is not None:
            pages[number] = Page(number, row["label"], row["width"], row["height"], unpacked_words(row["words"]))
    return pages


def section_spans(connection: sqlite3.Connection, document: str, ordinal: int) -> tuple[tuple[Span, ...], int] | None:
    """The spans of a section and its size in the embedder's tokens; None when there is no such section."""
    row = connection.execute(
        "SELECT spans, tokens FROM sections WHERE document = ? AND ordinal = ?", (document, ordinal)
    ).fetchone()
    return (unpacked_spans(row["spans"]), row["tokens"]) if row else None


def chunk_ids(connection: sqlite3.Connection, document: str) -> list[str]:
    """The ids of a document's chunks in order."""
    rows = connection.execute("SELECT id FROM chunks WHERE document = ? ORDER BY ordinal", (document,))
    return [row["id"] for row in rows]


def chunks_with(connection: sqlite3.Connection, ids: Sequence[str]) -> dict[str, StoredChunk]:
    """Those of `ids` that are live, with a reachable path of their document where there is one."""
    found: dict[str, StoredChunk] = {}
    for chunk in ids:
        row = connection.execute(
            "SELECT chunks.*, documents.title, documents.modified AS changed, (SELECT files.path FROM files JOIN roots "
            "ON roots.path = files.root WHERE files.document = chunks.document ORDER BY online DESC, files.path "
            "LIMIT 1) AS path FROM chunks JOIN documents ON documents.id = chunks.document WHERE chunks.id = ?",
            (chunk,),
        ).fetchone()
        if row is not None and row["path"] is not None:
            found[chunk] = _stored(row)
    return found


def _stored(row: sqlite3.Row) -> StoredChunk:
    return StoredChunk(
        id=row["id"],
        document=row["document"],
        title=row["title"],
        path=row["path"],
        modified=row["changed"],
        ordinal=row["ordinal"],
        section=row["section"],
        kind=BlockKind(row["kind"]),
        heading_path=tuple(json.loads(row["heading_path"])),
        context=row["context"],
        text=row["text"],
        spans=unpacked_spans(row["spans"]),
        text_hash=row["text_hash"],
    )


def allowed_documents(connection: sqlite3.Connection, filters: Filters) -> list[str] | None:
    """The documents a filter lets through; None when it lets all through."""
    if not filters:
        return None
    conditions, values = ["documents.id = files.document"], []
    if filters.folder:
        folder = filters.folder.rstrip("/\\")
        conditions.append("(files.path = ? OR substr(files.path, 1, ?) IN (?, ?))")
        values += [folder, len(folder) + 1, folder + "/", folder + "\\"]
    if filters.document:
        conditions.append("(documents.id = ? OR files.path = ? OR documents.title = ? COLLATE NOCASE)")
        values += [filters.document] * 3
    if filters.type:
        conditions.append("documents.format = ?")
        values.append(filters.type.casefold().lstrip("."))
    if filters.after:
        conditions.append("documents.modified >= ?")
        values.append(filters.after)
    if filters.before:
        conditions.append("documents.modified < ?")
        values.append(filters.before)
    rows = connection.execute(
        f"SELECT DISTINCT documents.id FROM documents JOIN files ON {' AND '.join(conditions)}", values
    )
    return [row["id"] for row in rows]


def chunk_ids_in(connection: sqlite3.Connection, documents: Sequence[str], limit: int) -> list[str] | None:
    """All chunk ids of `documents`, or None when there are more than `limit`."""
    ids: list[str] = []
    for document in documents:
        ids += chunk_ids(connection, document)
        if len(ids) > limit:
            return None
    return ids


def pending_chunks(connection: sqlite3.Connection, model: str, limit: int) -> list[PendingChunk]:
    """Up to `limit` chunks without a vector of `model`."""
    # Not "!=" and not in order: either would look through every chunk of the library for each batch.
    rows = connection.execute(
        "SELECT id, document, context, text, text_hash FROM chunks WHERE embedded < ? OR embedded > ? LIMIT ?",
        (model, model, limit),
    )
    return [PendingChunk(row["id"], row["document"], row["context"], row["text"], row["text_hash"]) for row in rows]


def chunk_counts(connection: sqlite3.Connection, model: str) -> tuple[int, int]:
    """How many chunks there are, and how many of them have no vector of `model`."""
    row = connection.execute(
        "SELECT COUNT(*) AS n, COALESCE(SUM(embedded != ?), 0) AS pending FROM chunks", (model,)
    ).fetchone()
    return row["n"], row["pending"]


def embedded_twins(connection: sqlite3.Connection, model: str, text_hashes: Iterable[str]) -> dict[str, str]:
    """For each text hash, a chunk with that very text whose vector of `model` is stored."""
    twins: dict[str, str] = {}
    for text_hash in set(text_hashes):
        row = connection.execute(
            "SELECT id FROM chunks WHERE text_hash = ? AND embedded = ? LIMIT 1", (text_hash, model)
        ).fetchone()
        if row is not None:
            twins[text_hash] = row["id"]
    return twins


def mark_embedded(connection: sqlite3.Connection, ids: Iterable[str], model: str) -> list[str]:
    """Note that the vectors of `ids` are stored; returns those chunks that died meanwhile."""
    return [
        chunk
        for chunk in ids
        if connection.execute("UPDATE chunks SET embedded = ? WHERE id = ?", (model, chunk)).rowcount == 0
    ]


def live_embedded(connection: sqlite3.Connection, model: str) -> set[str]:
    """The chunks whose vectors the catalogue believes to be stored."""
    return {row["id"] for row in connection.execute("SELECT id FROM chunks WHERE embedded = ?", (model,))}
