"""The vector store: Chroma, holding ids, vectors and the document each belongs to. Rebuildable from the catalogue."""

from __future__ import annotations

import hashlib
import struct
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pincite.errors import GiveUpError, StoreBusyError

if TYPE_CHECKING:
    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection

Floats = npt.NDArray[np.float32]

# Below this many allowed chunks a filtered search compares them all: the approximate index, which was built without
# the filter, can return too few of them or none.
EXACT_SCAN_CHUNKS = 2_000
# Chroma holds Python's interpreter lock while it writes, so the window stands still meanwhile: at 20,000 vectors an
# upsert of 64 took up to 133 ms and one of 16 43 ms; a deletion of 1,000 took 446 ms. Reading lets go of the lock.
UPSERT_BATCH = 16
DELETE_BATCH = 100
READ_BATCH = 1_000
# How a file of the index begins, and those beside it: version, offset, room for elements, elements in it.
HNSW_HEADER = struct.Struct("<iQQQ")
HNSW_HEADER_FILE = "header.bin"
HNSW_DATA_FILES = ("data_level0.bin", "length.bin")
DATABASE_FILE = "chroma.sqlite3"  # Chroma's own name for the file that every one of its writes changes


class Vectors:
    """Vectors of one embedding model. Opened on first use, because importing Chroma takes over a second."""

    def __init__(self, folder: Path, model: str) -> None:
        self._folder = folder
        self._model = model
        self._lock = threading.Lock()
        self._client: ClientAPI | None = None
        self._collection: Collection | None = None
        self._closed = False
        self._stamp: tuple[int, int] | None = None

    @property
    def model(self) -> str:
        return self._model

    def put(self, ids: Sequence[str], documents: Sequence[str], vectors: Floats) -> None:
        """Write vectors, shape (n, dimensions), for the chunks `ids` of `documents`. Writing the same again is safe."""
        with self._opened() as collection:
            for at in range(0, len(ids), UPSERT_BATCH):
                end = at + UPSERT_BATCH
                collection.upsert(
                    ids=list(ids[at:end]),
                    embeddings=vectors[at:end],
                    metadatas=[{"document": document} for document in documents[at:end]],
                )
            self._blank_empty_index()

    def get(self, ids: Sequence[str]) -> dict[str, Floats]:
        """The vectors of those of `ids` that are stored."""
        found: dict[str, Floats] = {}
        with self._opened() as collection:
            for at in range(0, len(ids), READ_BATCH):
                answer = collection.get(ids=list(ids[at : at + READ_BATCH]), include=["embeddings"])
                embeddings = answer["embeddings"]
                if embeddings is not None:
                    for chunk, vector in zip(answer["ids"], embeddings, strict=True):
                        found[chunk] = np.asarray(vector, dtype=np.float32)
        return found

    def delete(self, ids: Iterable[str]) -> None:
        """Forget the vectors of `ids`, those of models used before included; what is not stored is passed over."""
        gone = list(ids)
        if not gone:
            return
        with self._opened():
            assert self._client is not None
            for collection in self._client.list_collections():
                for at in range(0, len(gone), DELETE_BATCH):
                    collection.delete(ids=gone[at : at + DELETE_BATCH])

    def count(self) -> int:
        """How many vectors are stored."""
        with self._opened() as collection:
            stored: int = collection.count()
            return stored

    def ids(self) -> set[str]:
        """Every id that is stored."""
        with self._opened() as collection:
            return set(collection.get(include=[])["ids"])

    def ids_of(self, document: str) -> set[str]:
        """The ids stored for one document."""
        with self._opened() as collection:
            return set(collection.get(where={"document": document}, include=[])["ids"])

    def nearest(self, vector: Floats, k: int, documents: Sequence[str] | None = None) -> list[tuple[str, float]]:
        """The k nearest (chunk id, cosine similarity), best first, within `documents` where given."""
        with self._opened() as collection:
            stored = collection.count()
            if stored == 0 or (documents is not None and not documents):
                return []
            where: Any = {"document": {"$in": list(documents)}} if documents is not None else None
            answer = collection.query(
                query_embeddings=vector.reshape(1, -1),
                n_results=min(k, stored),
                where=where,
                include=["distances"],
            )
            distances = answer["distances"]
            assert distances is not None
            return [(chunk, 1.0 - float(d)) for chunk, d in zip(answer["ids"][0], distances[0], strict=True)]

    def nearest_of(self, vector: Floats, ids: Sequence[str], k: int) -> list[tuple[str, float]]:
        """The k nearest among `ids`, by comparing them all."""
        stored = self.get(ids)
        if not stored:
            return []
        matrix = np.stack(list(stored.values()))
        norms = np.linalg.norm(matrix, axis=1) * float(np.linalg.norm(vector)) + 1e-12
        similarities = (matrix @ vector) / norms
        order = np.argsort(-similarities, kind="stable")[:k]
        names = list(stored)
        return [(names[i], float(similarities[i])) for i in order]

    def close(self) -> None:
        """Let go of the files, for good."""
        with self._lock:
            self._closed = True
            self._let_go()

    def _let_go(self) -> None:
        if self._client is not None:
            self._client.close()
        self._client = None
        self._collection = None

    @contextmanager
    def _opened(self) -> Iterator[Collection]:
        # Imported here because it takes over a second, and the window must show before that.
        from chromadb.errors import ChromaError

        with self._lock:
            if self._closed:
                raise StoreBusyError("The library has been closed.")
            try:
                if self._stamp != self._stamp_now():
                    self._let_go()  # another process wrote to it, and what we hold in memory is not what is there now
                if self._collection is None:
                    self._open()
                assert self._collection is not None
                yield self._collection
                self._stamp = self._stamp_now()
            except (ChromaError, OSError) as error:
                raise GiveUpError(
                    f"The vector index in {self._folder} cannot be used ({error}). "
                    "Delete that folder: it is built again from the library."
                ) from error

    def _blank_empty_index(self) -> None:
        """Overwrite the files of an index that holds nothing yet, as it does until it is given a thousand vectors.

        Chroma writes them as they lie in memory, and that memory is whatever this process had in it before: it may be
        text of a document.
        """
        for path in self._folder.glob(f"*/{HNSW_HEADER_FILE}"):
            header = path.read_bytes()[: HNSW_HEADER.size]
            if len(header) == HNSW_HEADER.size and HNSW_HEADER.unpack(header)[-1] == 0:
                for data in (path.with_name(name) for name in HNSW_DATA_FILES):
                    if data.is_file():
                        _blank(data)

    def _stamp_now(self) -> tuple[int, int] | None:
        try:
            status = (self._folder / DATABASE_FILE).stat()
        except FileNotFoundError:
            return None
        return status.st_size, status.st_mtime_ns

    def _open(self) -> None:
        # Imported here for the same reason as above.
        import chromadb
        from chromadb.api.shared_system_client import SharedSystemClient
        from chromadb.config import Settings as ChromaSettings

        self._folder.mkdir(parents=True, exist_ok=True)
        settings = ChromaSettings(anonymized_telemetry=False)
        try:
            self._client = chromadb.PersistentClient(str(self._folder), settings=settings)
        except BaseException:
            # Chroma 1.5 keeps what it failed to open, and would hand that out the next time.
            SharedSystemClient._identifier_to_system.pop(str(self._folder), None)
            raise
        # The model is part of the name: vectors of two models can never meet in one collection.
        name = "chunks-" + hashlib.sha256(self._model.encode()).hexdigest()[:16]
        self._collection = self._client.get_or_create_collection(
            name,
            embedding_function=None,
            configuration={"hnsw": {"space": "cosine"}},
            metadata={"model": self._model},
        )


def _blank(path: Path) -> None:
    """Put zeros in the place of a file's bytes; its size stays, at any moment."""
    with path.open("r+b") as file:
        content = file.read()
        if any(content):
            file.seek(0)
            file.write(bytes(len(content)))
