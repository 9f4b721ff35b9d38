"""`Index`: the front of the two stores. What it is told in one call becomes visible whole, or not at all."""

from __future__ import annotations

import hashlib
import json
import logging
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pincite.errors import GiveUpError, NotFoundError, StoreBusyError
from pincite.index import documents, files, keyword
from pincite.index.database import Database
from pincite.index.documents import PendingChunk, Reading, StoredChunk
from pincite.index.files import FileRecord
from pincite.index.vectors import EXACT_SCAN_CHUNKS, Floats, Vectors
from pincite.model import DocumentInfo, FileState, Filters, Folder, Ledger, NotSearched, Page, PageSize, Span

EMBED_BATCH_CHUNKS = 64
# A filter that lets through more documents than this is not handed to the vector store, which refuses long ones.
MAX_FILTER_DOCUMENTS = 10_000
MAX_NAMED_CHARS = 300  # of what was asked for, in the sentence that says it is not there
FORGOTTEN_REASON = "It was erased from the library as asked, and is not read again until it changes."


logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LegHit:
    """A chunk as one leg of a search found it; a higher score is better."""

    chunk: str
    score: float


class Index:
    """The library's stores. All methods may be called from any thread; they raise GiveUpError or StoreBusyError."""

    def __init__(self, folder: Path, embedding_model: str) -> None:
        self._folder = folder
        self._db = Database(folder / "library.sqlite")
        self._vectors = Vectors(folder / "vectors", embedding_model)
        self._naming = threading.RLock()

    def close(self) -> None:
        """Let go of the stores."""
        self._vectors.close()
        self._db.close()

    @contextmanager
    def only_writer(self) -> Iterator[None]:
        """Hold the right to read files into this library. Raises StoreBusyError while another process holds it.

        A lock in SQLite rather than a file of our own: it works on every system, and a process that dies lets go.
        """
        lock = self._writers_lock()
        try:
            yield
        finally:
            lock.close()

    def _writers_lock(self) -> sqlite3.Connection:
        path = self._folder / "writer.lock"
        lock: sqlite3.Connection | None = None
        try:
            lock = sqlite3.connect(path, timeout=0, isolation_level=None)
            lock.execute("BEGIN EXCLUSIVE")
            return lock
        except sqlite3.Error as error:
            if lock is not None:
                lock.close()
            if "locked" in str(error):
                raise StoreBusyError(
                    "Another Pincite is reading files into this library; wait until it has finished."
                ) from error
            raise GiveUpError(f"The library's lock {path} cannot be used: {error}.") from error

    @contextmanager
    def one_state(self) -> Iterator[None]:
        """Let this thread read the catalogue as it is at one moment, whatever is stored or erased meanwhile.

        Not for writing in, and not for long: what is erased meanwhile leaves the log only afterwards.
        """
        with self._db.one_state():
            yield

    @contextmanager
    def naming(self) -> Iterator[None]:
        """Be the only thread that decides which document a file is, from looking that up until it is stored."""
        with self._naming:
            yield

    # Folders and files

    def folders(self) -> tuple[Folder, ...]:
        """The watched folders and single files."""
        with self._db.reading() as connection:
            return files.folders(connection)

    def add_root(self, path: str) -> None:
        """Watch a folder or file."""
        with self._db.writing() as connection:
            files.add_root(connection, path)

    def set_online(self, root: str, online: bool) -> None:
        """Note whether a root can be reached."""
        with self._db.writing() as connection:
            files.set_online(connection, root, online)

    def files_under(self, root: str) -> dict[str, FileRecord]:
        """The known files of a root."""
        with self._db.reading() as connection:
            return files.files_under(connection, root)

    def file_at(self, path: str) -> FileRecord | None:
        """What is known of the file at `path`."""
        with self._db.reading() as connection:
            return files.file_at(connection, path)

    def waiting_files(self) -> list[FileRecord]:
        """Files still to be read."""
        with self._db.reading() as connection:
            return files.waiting_files(connection)

    def note_seen(self, seen: Sequence[tuple[str, str, int, int]]) -> None:
        """Queue new and changed files for reading: (path, root, size in bytes, mtime in nanoseconds) each."""
        with self._db.writing() as connection:
            for path, root, size, mtime_ns in seen:
                files.note_seen(connection, path, root, size, mtime_ns)

    def note_unreadable(self, path: str, content_hash: str, state: FileState, reason: str) -> None:
        """Note that a file could not be read. What it held before is no longer there, so it is no longer searched."""
        with self._db.writing() as connection:
            record = files.file_at(connection, path)
            if record is None or record.state is FileState.FORGOTTEN:
                return  # taken out of the library while it was read
            files.link(connection, path, content_hash, None)
            files.note_state(connection, path, state, reason)
            dead = self._drop_orphans(connection, [record])
        self._vectors_gone_if_possible(dead)

    def link_known(self, path: str, content_hash: str) -> str | None:
        """If the content is that of a stored document, make the file one of its places, and return its id."""
        with self._naming, self._db.writing() as connection:
            known = documents.document_with(connection, content_hash)
            record = files.file_at(connection, path)
            if known is None or record is None or record.state is FileState.FORGOTTEN:
                return None
            state, reason, _ = documents.document_state(connection, known)
            files.link(connection, path, content_hash, known)
            files.note_state(connection, path, state, reason)
            dead = self._drop_orphans(connection, [record])
        self._vectors_gone_if_possible(dead)
        return known

    def keep_forgotten(self, path: str, content_hash: str) -> None:
        """Note that a file is one that was erased as asked, and was only moved since."""
        with self._db.writing() as connection:
            files.link(connection, path, content_hash, None)
            files.note_state(connection, path, FileState.FORGOTTEN, FORGOTTEN_REASON)

    def drop_files(self, paths: Sequence[str]) -> int:
        """Forget files that are gone, and documents that no file leads to any more; returns how many of those."""
        if not paths:
            return 0
        with self._db.writing() as connection:
            records = [record for path in paths if (record := files.file_at(connection, path)) is not None]
            for record in records:
                files.drop_file(connection, record.path)
            before = len(self._orphans_of(connection, records))
            dead = self._drop_orphans(connection, records)
        if before:
            self._db.erase_deleted()
            self._vectors_gone_if_possible(dead)
        return before

    def drop_root(self, root: str) -> int:
        """Stop watching, and erase what only its files held; returns how many files are out of the library."""
        with self._db.writing() as connection:
            records = list(files.files_under(connection, root).values())
            files.drop_root(connection, root)
            gone = [record for record in records if files.file_at(connection, record.path) is None]
            dead = self._drop_orphans(connection, gone)
        self._erased(dead)
        return len(gone)

    def forget(self, document: str) -> int:
        """Erase everything derived from a document; returns how many chunks that was. Its files stay where they are."""
        with self._db.writing() as connection:
            if not documents.document_exists(connection, document):
                raise NotFoundError(f"There is no document {document} in this library.")
            for path in files.paths_of(connection, document):
                files.note_state(connection, path, FileState.FORGOTTEN, FORGOTTEN_REASON)
            dead = documents.drop_document(connection, document)
        self._erased(dead)
        return len(dead)

    def chunks_left(self, document: str) -> int:
        """How many chunks of a document the two stores hold."""
        with self._db.reading() as connection:
            kept = set(documents.chunk_ids(connection, document))
        return len(kept | self._vectors.ids_of(document))

    def ledger(self) -> Ledger:
        """Every folder and file with its state."""
        with self._db.reading() as connection:
            chunks, pending = documents.chunk_counts(connection, self._vectors.model)
            return Ledger(files.folders(connection), files.ledger_entries(connection), chunks, pending)

    def not_searched(self) -> tuple[NotSearched, ...]:
        """Files a search cannot look into."""
        with self._db.reading() as connection:
            return files.not_searched(connection)

    # Documents

    def document_id_for(self, path: str, content_hash: str) -> str:
        """The id under which a file's new content is stored.

        A file that changed in place keeps its document, unless the same content also lies elsewhere.
        """
        with self._db.reading() as connection:
            record = files.file_at(connection, path)
            if record and record.document and files.paths_of(connection, record.document) == [path]:
                return record.document
            salt = 0
            while True:
                name = f"{path}\x00{content_hash}\x00{salt}".encode("utf-8", "surrogatepass")
                candidate = hashlib.sha256(name).hexdigest()[:16]
                if not documents.document_exists(connection, candidate):
                    return candidate
                salt += 1

    def generation_of(self, document: str) -> str:
        """The name of the document's stored reading, or "" when there is none."""
        with self._db.reading() as connection:
            if not documents.document_exists(connection, document):
                return ""
            return documents.document_state(connection, document)[2]

    def store(self, path: str, reading: Reading) -> bool:
        """Make a reading live in place of the one before, in one step, and link the file to it.

        Vectors of chunks whose text did not change are written first, under the new ids, where no search sees them
        until the catalogue names them; so an unchanged chunk is never without its vector. Stores nothing and returns
        False when the file was taken out of the library while it was read.
        """
        embedded = self._reuse_vectors(reading)
        with self._db.writing() as connection:
            record = files.file_at(connection, path)
            wanted = record is not None and record.state is not FileState.FORGOTTEN
            if record is not None and wanted:
                dead = documents.put_reading(connection, reading, embedded)
                files.link(connection, path, reading.content_hash, reading.id)
                files.note_state(connection, path, reading.state, reading.reason)
                dead += self._drop_orphans(connection, [record])
            else:
                dead = sorted(embedded)
        self._vectors_gone_if_possible(dead)
        return wanted

    def document_info(self, named: str) -> DocumentInfo:
        """A document by its id or by the path of one of its files."""
        with self._db.reading() as connection:
            record = files.file_at(connection, named)
            document = record.document if record else named
            if document is None:
                raise NotFoundError(f"Nothing could be read of {named}.{' ' + record.reason if record else ''}")
            places = files.paths_of(connection, document)
            info = documents.document_info(connection, document, named if record else (places or [""])[0])
        if info is None:
            raise NotFoundError(f"There is no document {named[:MAX_NAMED_CHARS]} in this library.")
        return info

    def page_sizes(self, document: str) -> tuple[PageSize, ...]:
        """Sizes and labels of a document's pages."""
        with self._db.reading() as connection:
            return documents.page_sizes(connection, document)

    def pages(self, document: str, numbers: Sequence[int]) -> dict[int, Page]:
        """The named pages with their words; those that do not exist are left out."""
        with self._db.reading() as connection:
            return documents.pages_of(connection, document, numbers)

    def section(self, document: str, ordinal: int) -> tuple[tuple[Span, ...], int]:
        """Spans and size in tokens of a section. Raises NotFoundError when the document was replaced or erased."""
        with self._db.reading() as connection:
            section = documents.section_spans(connection, document, ordinal)
        if section is None:
            raise NotFoundError("A document was changed or erased while it was being looked at; please ask again.")
        return section

    def holds_chunks(self) -> bool:
        """Whether there is anything to search."""
        with self._db.reading() as connection:
            return documents.holds_chunks(connection)

    # Searching

    def lets_through(self, filters: Filters) -> bool:
        """Whether any document passes the filters."""
        with self._db.reading() as connection:
            return documents.allowed_documents(connection, filters) != []

    def lexical(self, query: str, k: int, filters: Filters) -> list[LegHit]:
        """The k best chunks by BM25, those with an identifier of the query first; none when there is no word in it."""
        expression = keyword.match_expression(query)
        if expression is None:
            return []
        with self._db.reading() as connection:
            allowed = documents.allowed_documents(connection, filters)
            first = keyword.identifier_expression(query)
            return [LegHit(c, s) for c, s in keyword.best_matches(connection, expression, k, allowed, first)]

    def dense(self, vector: Floats, k: int, filters: Filters) -> list[LegHit]:
        """The k live chunks whose vectors are nearest; under a narrow filter all allowed ones are compared."""
        with self._db.reading() as connection:
            allowed = documents.allowed_documents(connection, filters)
            few = documents.chunk_ids_in(connection, allowed, EXACT_SCAN_CHUNKS) if allowed is not None else None
        if few is not None:
            return self._live_hits(self._vectors.nearest_of(vector, few, k), None)
        by_store = allowed if allowed is not None and len(allowed) <= MAX_FILTER_DOCUMENTS else None
        welcome = set(allowed) if allowed is not None else None
        wanted = k
        while True:
            hits = self._vectors.nearest(vector, wanted, by_store)
            live = self._live_hits(hits, welcome)
            if len(live) >= k or len(hits) < wanted:
                return live[:k]
            wanted *= 4  # dead vectors that still wait to be deleted, or what the filter keeps out, took the places

    def _live_hits(self, hits: Sequence[tuple[str, float]], welcome: set[str] | None) -> list[LegHit]:
        live = self.chunks([chunk for chunk, _ in hits])
        return [
            LegHit(chunk, score)
            for chunk, score in hits
            if chunk in live and (welcome is None or live[chunk].document in welcome)
        ]

    def chunks(self, ids: Sequence[str]) -> dict[str, StoredChunk]:
        """Those of `ids` that are live."""
        with self._db.reading() as connection:
            return documents.chunks_with(connection, ids)

    # Vectors

    def embed_pending(self, embed: Callable[[Sequence[str]], Floats], on_progress: Callable[[int, int], None]) -> int:
        """Give every chunk without a vector one, in batches that are each kept; returns how many were made."""
        done = 0
        with self._db.reading() as connection:
            _, total = documents.chunk_counts(connection, self._vectors.model)
        while True:
            with self._db.reading() as connection:
                pending = documents.pending_chunks(connection, self._vectors.model, EMBED_BATCH_CHUNKS)
            if not pending:
                return done
            on_progress(done, max(total, done + len(pending)))
            self._put_vectors(pending, embed([f"{chunk.context}\n{chunk.text}" for chunk in pending]))
            done += len(pending)

    def _put_vectors(self, pending: Sequence[PendingChunk], vectors: Floats) -> None:
        self._vectors.put([chunk.id for chunk in pending], [chunk.document for chunk in pending], vectors)
        with self._db.writing() as connection:
            dead = documents.mark_embedded(connection, [chunk.id for chunk in pending], self._vectors.model)
        self._vectors_gone(dead)  # their document was erased or replaced while the model was at work

    def stores_agree(self) -> bool:
        """Whether there are as many vectors as the catalogue believes: a quick look before a `repair`."""
        with self._db.reading() as connection:
            chunks, pending = documents.chunk_counts(connection, self._vectors.model)
        return self._vectors.count() == chunks - pending

    def repair(self) -> tuple[int, int]:
        """Make the vector store agree with the catalogue; returns (orphans deleted, vectors to be made again)."""
        stored = self._vectors.ids()
        with self._db.writing() as connection:
            believed = documents.live_embedded(connection, self._vectors.model)
            missing = believed - stored
            documents.mark_embedded(connection, missing, "")
            dead = self._drop_orphans(connection)
        orphans = (stored - believed) | set(dead)
        self._vectors.delete(orphans)
        return len(orphans), len(missing)

    def _reuse_vectors(self, reading: Reading) -> dict[str, str]:
        model = self._vectors.model
        with self._db.reading() as connection:
            twins = documents.embedded_twins(connection, model, [chunk.text_hash for chunk in reading.chunks])
        if not twins:
            return {}
        try:
            kept = self._copied_vectors(reading, twins)
        except GiveUpError as error:
            logger.info("No vectors are kept, they are made again: %s", error)
            return {}
        return dict.fromkeys(kept, model)

    def _copied_vectors(self, reading: Reading, twins: dict[str, str]) -> list[str]:
        """Give chunks of a reading the vectors of the chunks in `twins`, by text hash; returns the ids of those."""
        stored = self._vectors.get(sorted(set(twins.values())))
        kept = [c for c in reading.chunks if c.text_hash in twins and twins[c.text_hash] in stored]
        ids = [chunk.id for chunk in kept]
        if kept:
            vectors = np.stack([stored[twins[chunk.text_hash]] for chunk in kept])
            self._vectors.put(ids, [reading.id] * len(kept), vectors)
        return ids

    def _drop_orphans(self, connection: sqlite3.Connection, left: Sequence[FileRecord] | None = None) -> list[str]:
        """Erase documents that no file leads to, among those of the records where given; returns the dead chunks."""
        dead: list[str] = []
        for document in self._orphans_of(connection, left):
            dead += documents.drop_document(connection, document)
        return dead

    def _orphans_of(self, connection: sqlite3.Connection, left: Sequence[FileRecord] | None) -> list[str]:
        among = None if left is None else [record.document for record in left if record.document is not None]
        return documents.orphaned_documents(connection, among)

    def _erased(self, dead: Sequence[str]) -> None:
        """Leave nothing of what was deleted: first the text, which must go even when the vector store is broken."""
        self._db.erase_deleted()
        self._vectors_gone(dead)

    def _vectors_gone(self, ids: Sequence[str]) -> None:
        if ids:
            self._vectors.delete(ids)

    def _vectors_gone_if_possible(self, ids: Sequence[str]) -> None:
        """As above, but a broken vector store does not stop the reading of files.

        No search finds what is left, a repair deletes it, and the making of vectors says what is wrong.
        """
        try:
            self._vectors_gone(ids)
        except GiveUpError as error:
            logger.info("Dead vectors are left for a repair: %s", error)

    # Traces

    def put_trace(self, trace: str, asked: str, body: dict[str, object], used: Sequence[str]) -> None:
        """Keep the record of a question; it is erased with any of the documents it used, and not kept after that."""
        with self._db.writing() as connection:
            if not all(documents.document_exists(connection, document) for document in used):
                return
            connection.execute(
                "INSERT OR REPLACE INTO traces VALUES (?, ?, ?)", (trace, asked, json.dumps(body, ensure_ascii=False))
            )
            connection.executemany(
                "INSERT OR IGNORE INTO trace_documents VALUES (?, ?)", [(trace, document) for document in set(used)]
            )

    def trace(self, trace: str) -> dict[str, object]:
        """The record of a question."""
        with self._db.reading() as connection:
            row = connection.execute("SELECT body FROM traces WHERE id = ?", (trace,)).fetchone()
        if row is None:
            raise NotFoundError(f"There is no record of a question {trace} in this library.")
        body: dict[str, object] = json.loads(row["body"])
        return body
