"""Stand-ins for what is slow or heavy: a reader without a child process, an engine without models.

With them `Shelf` runs real updates over real files and real stores in milliseconds.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from zlib import crc32

import numpy as np
import numpy.typing as npt

from pincite.chunk import ChunkLimits
from pincite.engine import TokenCounter
from pincite.errors import Cancelled, UnsupportedError
from pincite.extract import ReadDocument, supported
from pincite.index import Index
from pincite.index.front import LegHit
from pincite.ingest import IngestTools
from pincite.model import (
    BlockKind,
    Box,
    Filters,
    IndexProgress,
    Line,
    Metadata,
    Picture,
    ReadPage,
    UpdateReport,
    Word,
)
from pincite.settings import Settings
from pincite.update import Update, UpdateTools

WIDTH_PT, HEIGHT_PT, LINE_PT, LETTER_PT = 595.0, 842.0, 14.0, 5.0
DIMENSIONS = 64
WORDS_OF_A_CHUNK = 40
MODEL = "words-in-buckets"

Vectors = npt.NDArray[np.float32]


def never() -> bool:
    return False


def nothing(*_: object) -> None:
    return None


def read_document(text: str) -> ReadDocument:
    """What a reader makes of a text: form feeds end pages, empty lines paragraphs, and "# " begins a heading."""
    return ReadDocument(
        Metadata(format="text"),
        tuple(_page(number, page) for number, page in enumerate(text.split("\f"), start=1)),
    )


def _page(number: int, text: str) -> ReadPage:
    lines: list[Line] = []
    group = 0
    for at, line in enumerate(text.split("\n")):
        heading = line.startswith("# ")
        words = line.removeprefix("# ").split()
        group += heading or not words
        if words:
            lines.append(
                Line(
                    words=tuple(_words(words, y=40.0 + LINE_PT * at)),
                    size_pt=11.0,
                    group=group,
                    kind=BlockKind.HEADING if heading else None,
                    level=1 if heading else 0,
                )
            )
        group += heading
    return ReadPage(number, str(number), WIDTH_PT, HEIGHT_PT, tuple(lines))


def _words(texts: Sequence[str], y: float) -> list[Word]:
    words, x = [], 50.0
    for index, text in enumerate(texts):
        width = LETTER_PT * len(text)
        after = "\n" if index == len(texts) - 1 else " "
        words.append(Word(text, Box(x, y, x + width, y + LINE_PT - 2), after))
        x += width + LETTER_PT
    return words


class FakeReader:
    """Reads text files in this process. What it was asked to read is in `reads`.

    `failures` are raised for the files of those names, and `meanwhile` is called with each file before it is returned.
    """

    def __init__(self) -> None:
        self.reads: list[str] = []
        self.failures: dict[str, Exception] = {}
        self.meanwhile: Callable[[Path], object] = nothing
        self._lock = threading.Lock()

    def read(
        self, path: Path, *, on_page: Callable[[int, int], None] = nothing, cancelled: Callable[[], bool] = never
    ) -> ReadDocument:
        with self._lock:
            self.reads.append(path.name)
        if not supported(path):
            raise UnsupportedError("Files of this format are not read.")
        if cancelled():
            raise Cancelled("Reading was cancelled.")
        if path.name in self.failures:
            raise self.failures[path.name]
        document = read_document(path.read_text(encoding="utf-8"))
        for page in document.pages:
            on_page(page.number, len(document.pages))
        self.meanwhile(path)
        return document

    def render(self, path: Path, page: int, zoom: float, *, boxes: Sequence[Box] = ()) -> Picture:
        raise NotImplementedError

    def close(self) -> None:
        """Nothing is open."""


class FakeEngine:
    """Embeds texts by counting their words in buckets: the same words are near each other.

    What it was given is in `embedded`. `failure` is raised instead; `meanwhile` is called after each batch.
    """

    def __init__(self) -> None:
        self.embedded: list[str] = []
        self.failure: Exception | None = None
        self.meanwhile: Callable[[Sequence[str]], object] = nothing

    def embed_passages(
        self, texts: Sequence[str], *, cancelled: Callable[[], bool] = never, urgent: bool = False
    ) -> Vectors:
        if self.failure is not None:
            raise self.failure
        if cancelled():
            raise Cancelled("Stopped, as asked.")
        self.embedded += texts
        vectors = np.stack([_vector(text) for text in texts])
        self.meanwhile(texts)
        return vectors

    def embed_query(self, text: str, *, cancelled: Callable[[], bool] = never) -> Vectors:
        return _vector(text)


def _vector(text: str) -> Vectors:
    vector = np.full(DIMENSIONS, 1e-3, dtype=np.float32)
    for word in re.findall(r"\w+", text.casefold()):
        vector[crc32(word.encode()) % DIMENSIONS] += 1
    norm: Vectors = vector / np.linalg.norm(vector)
    return norm


class Shelf:
    """A folder, and a library over it that is brought up to date without child processes or models."""

    def __init__(self, place: Path) -> None:
        self.folder = place / "documents"
        self.folder.mkdir(parents=True)
        self.settings = Settings(
            data_dir=place / "data", library_dir=place / "library", embedding_model=MODEL, settle_s=0.0
        )
        self.reader = FakeReader()
        self.engine = FakeEngine()
        self.limits = ChunkLimits(WORDS_OF_A_CHUNK, 3 * WORDS_OF_A_CHUNK)
        self.index = Index(self.settings.library_dir, MODEL)
        self.index.add_root(str(self.folder))

    def write(self, name: str, text: str) -> Path:
        """A file in the folder, with a text that the reader will make pages of."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def tools(self) -> IngestTools:
        """What reading one file takes."""
        counter = TokenCounter("words", lambda text: len(text.split()))
        return IngestTools(self.index, self.reader, counter, self.limits)  # type: ignore[arg-type]

    def updating(
        self,
        progress: Callable[[IndexProgress], None] = nothing,
        cancelled: Callable[[], bool] = never,
        settings: Settings | None = None,
    ) -> Update:
        """One update, not yet run. Its readers are those of `pincite.update.Reader`, which a test replaces."""
        tools = self.tools()
        return Update(
            UpdateTools(self.index, settings or self.settings, tools.count_tokens, tools.limits), progress, cancelled
        )

    def update(self, *, embed: bool = True) -> UpdateReport:
        """Read what changed, and make the vectors."""
        update = self.updating()
        report = update.run()
        if embed:
            update.embed(self.engine)  # type: ignore[arg-type]
        return report

    def found(self, query: str, *, filters: Filters = Filters(), k: int = 10) -> list[str]:
        """The texts that a search by words finds, best first."""
        with self.index.one_state():
            return self.texts(self.index.lexical(query, k, filters))

    def near(self, query: str, *, filters: Filters = Filters(), k: int = 10) -> list[str]:
        """The texts that a search by vectors finds, best first."""
        with self.index.one_state():
            return self.texts(self.index.dense(_vector(query), k, filters))

    def texts(self, hits: Sequence[LegHit]) -> list[str]:
        """The texts of those hits that lead to a file, in their order."""
        chunks = self.index.chunks([hit.chunk for hit in hits])
        return [chunks[hit.chunk].text for hit in hits if hit.chunk in chunks]

    def states(self) -> dict[str, str]:
        """The state of every file by its name."""
        return {Path(entry.path).name: entry.state.value for entry in self.index.ledger().entries}

    def document_of(self, name: str) -> str:
        """The id of the document that a file of the folder holds."""
        return self.index.document_info(str(self.folder / name)).id

    def close(self) -> None:
        """Let go of the stores."""
        self.index.close()
