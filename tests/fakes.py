"""Stand-ins for tests: a library that does what a script says, without models, documents or time."""

from __future__ import annotations

import struct
import threading
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from pincite.errors import Cancelled, NotFoundError
from pincite.model import (
    AskEvent,
    Box,
    DocumentInfo,
    EngineStatus,
    Filters,
    IndexProgress,
    Ledger,
    Page,
    PageSize,
    Picture,
    SearchResult,
    UpdateReport,
)
from pincite.settings import Settings

POLL_S = 0.005  # how soon a waiting fake notices that it was cancelled
Step = TypeVar("Step")
A4 = (595.0, 842.0)


def never() -> bool:
    return False


def ignore(_progress: IndexProgress) -> None:
    return None


class Gate:
    """A place in a script where the fake stops until the test opens the gate, or the call is cancelled."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self._open = threading.Event()

    def open(self) -> None:
        """Let whoever waits go on."""
        self._open.set()

    def wait(self, cancelled: Callable[[], bool] = never) -> None:
        """Stop here. Raises Cancelled when that is asked for meanwhile."""
        self.reached.set()
        while not self._open.wait(POLL_S):
            if cancelled():
                raise Cancelled("Stopped.")


@dataclass
class FakeDocument:
    """A document of white pages with coloured rectangles. `labels` are its pages' printed labels."""

    id: str
    title: str
    path: str = "/documents/fake.pdf"
    labels: tuple[str, ...] = ("1",)
    size: tuple[float, float] = A4
    rectangles: dict[int, list[tuple[Box, tuple[int, int, int]]]] = field(default_factory=dict)
    generation: str = "1"


class FakeLibrary:
    """Answers from scripts: lists of what to yield, gates to stop at, and exceptions to raise.

    `closed` ends whoever waits at a gate, as closing the real library ends its children.
    """

    def __init__(
        self,
        documents: Sequence[FakeDocument] = (),
        ledger: Ledger = Ledger((), ()),
        answers: Sequence[list[AskEvent | Gate | Exception]] = (),
        updates: Sequence[list[IndexProgress | UpdateReport | Gate | Exception]] = (),
    ) -> None:
        self.documents = {document.id: document for document in documents}
        self.current_ledger = ledger
        self.answers = list(answers)
        self.updates = list(updates)
        self.before: dict[str, Gate | Exception] = {}  # what a call of this name meets first
        self.status = EngineStatus(running=False, model="")
        self.refused = 0
        self.calls: list[tuple[str, object]] = []
        self.on_change: Callable[[], None] | None = None
        self.closed = threading.Event()
        self._lock = threading.Lock()

    @classmethod
    def open(cls, settings: Settings) -> FakeLibrary:
        return cls()

    def close(self) -> None:
        self._note("close")
        self.closed.set()

    def called(self, name: str) -> list[object]:
        """The arguments of every call of this name so far."""
        with self._lock:
            return [argument for called, argument in self.calls if called == name]

    # folders

    def add(self, path: Path) -> None:
        self._note("add", path)

    def remove(self, path: Path) -> UpdateReport:
        self._note("remove", path)
        return UpdateReport(deleted=1)

    def forget(self, document: str) -> None:
        self._note("forget", document)

    def update(
        self,
        *,
        fast: bool = False,
        progress: Callable[[IndexProgress], None] = ignore,
        cancelled: Callable[[], bool] = never,
    ) -> UpdateReport:
        self._note("update", fast, cancelled)
        report = UpdateReport()
        for step in self._next(self.updates):
            if isinstance(step, IndexProgress):
                progress(step)
            elif isinstance(step, UpdateReport):
                report = step
            else:
                self._meet(step, cancelled)
        return report

    def start_watching(self, on_change: Callable[[], None]) -> None:
        self._note("start_watching")
        self.on_change = on_change

    def ledger(self) -> Ledger:
        self._note("ledger")
        return self.current_ledger

    # asking

    def search(
        self,
        query: str,
        *,
        k: int = 10,
        filters: Filters = Filters(),
        mode: str = "hybrid",
        rerank: bool = True,
        history: Sequence[str] = (),
        cancelled: Callable[[], bool] = never,
    ) -> SearchResult:
        self._note("search", query)
        return SearchResult(query, filters, (), (), (), 0.0)

    def ask(
        self,
        question: str,
        *,
        filters: Filters = Filters(),
        mode: str = "normal",
        model: str = "",
        history: Sequence[str] = (),
        cancelled: Callable[[], bool] = never,
    ) -> Iterator[AskEvent]:
        self._note("ask", question, cancelled)
        for step in self._next(self.answers):
            if isinstance(step, Gate | Exception):
                self._meet(step, cancelled)
            else:
                if cancelled():
                    raise Cancelled("Stopped.")
                yield step

    # pages

    def document(self, document: str) -> DocumentInfo:
        self._note("document", document)
        found = self._document(document)
        return DocumentInfo(found.id, found.title, found.path, "pdf", len(found.labels), "", found.generation)

    def page_sizes(self, document: str) -> tuple[PageSize, ...]:
        found = self._document(document)
        return tuple(PageSize(number, label, *found.size) for number, label in enumerate(found.labels, 1))

    def page(self, document: str, number: int) -> Page:
        found = self._document(document)
        return Page(number, found.labels[number - 1], *found.size, words=())

    def render(self, document: str, number: int, *, zoom: float = 1.0, boxes: Sequence[Box] = ()) -> Picture:
        self._note("render", (document, number, zoom))
        found = self._document(document)
        return painted(found.size, zoom, found.rectangles.get(number, []))

    # engine

    def warm_up(self) -> None:
        self._note("warm_up")

    def engine_status(self) -> EngineStatus:
        self._note("engine_status")
        return self.status

    def refused_connections(self) -> int:
        return self.refused

    # how it works

    def _note(self, name: str, argument: object = None, cancelled: Callable[[], bool] = never) -> None:
        with self._lock:
            self.calls.append((name, argument))
        first = self.before.get(name)
        if first is not None:
            self._meet(first, cancelled)

    def _meet(self, step: Gate | Exception, cancelled: Callable[[], bool]) -> None:
        if isinstance(step, Exception):
            raise step
        step.wait(lambda: cancelled() or self.closed.is_set())

    def _next(self, scripts: list[list[Step]]) -> list[Step]:
        with self._lock:
            return scripts.pop(0) if scripts else []

    def _document(self, document: str) -> FakeDocument:
        if document not in self.documents:
            raise NotFoundError(f"There is no document {document} in the library.")
        return self.documents[document]


def painted(size: tuple[float, float], zoom: float, rectangles: Sequence[tuple[Box, tuple[int, int, int]]]) -> Picture:
    """A white page with rectangles given in points, at `zoom` pixels per point."""
    width, height = round(size[0] * zoom), round(size[1] * zoom)
    rows = [bytearray(b"\xff" * (3 * width)) for _ in range(height)]
    for box, colour in rectangles:
        left, right = round(box.x0 * zoom), round(box.x1 * zoom)
        for y in range(round(box.y0 * zoom), round(box.y1 * zoom)):
            rows[y][3 * left : 3 * right] = bytes(colour) * (right - left)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    pixels = zlib.compress(b"".join(b"\0" + row for row in rows), 1)
    parts = [_png_part(b"IHDR", header), _png_part(b"IDAT", pixels), _png_part(b"IEND", b"")]
    return Picture(b"\x89PNG\r\n\x1a\n" + b"".join(parts), width, height)


def _png_part(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
