"""The parent's side of reading: one limited child, started on need and replaced after it died."""

from __future__ import annotations

import struct
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pincite.errors import BugError, Cancelled, LimitError, PinciteError, UnreadableError, UnsupportedError, error_for
from pincite.extract.formats import Format, format_of, unsupported_sentence
from pincite.extract.limits import MAX_PICTURE_PIXELS
from pincite.extract.wire import (
    NonsenseError,
    checked_count,
    checked_metadata,
    checked_page,
    checked_problems,
    checked_sentence,
)
from pincite.model import Box, Metadata, Picture, ReadPage
from pincite.process import Child, ChildDied, Frame
from pincite.settings import Settings

CHILD_MODULE = "pincite.extract.child"
CANCEL_POLL_S = 0.1
PNG_START = struct.Struct(">16sII")  # the signature and head of the first part, then width and height
PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
HIGHLIGHT = (255, 226, 102)
SENDABLE_ERRORS = frozenset({"unreadable", "password", "unsupported", "limit", "bug"})

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """What a reader found in a file.

    `problems` are sentences for the ledger (a damaged page, a guessed encoding); `partly_read` says whether any of
    them cost text. A page that failed alone is in `pages` without lines.
    """

    metadata: Metadata
    pages: tuple[ReadPage, ...]
    problems: tuple[str, ...] = ()
    partly_read: bool = False


def _never() -> bool:
    return False


def _ignore(done: int, total: int) -> None:
    """Progress that nobody asked for."""


class Reader:
    """Reads and draws documents in one child process, one request at a time; further callers wait their turn.

    A file that crashes, hangs or bloats the child costs that request only: the next one gets a new child.
    """

    def __init__(self, settings: Settings, child_module: str = CHILD_MODULE) -> None:
        self._settings = settings
        self._child_module = child_module
        self._turn = threading.Lock()
        self._child: Child | None = None
        self._closed = False
        self._answered = True  # the child has nothing more to say to the last request
        self._doing = ""  # for the sentence that says where reading stopped

    def read(
        self,
        path: Path,
        *,
        on_page: Callable[[int, int], None] = _ignore,
        cancelled: Callable[[], bool] = _never,
    ) -> ReadDocument:
        """All of the file. `on_page(done, total)` after each page. Raises UnreadableError and its kin, Cancelled."""
        format = self._checked_format(path)
        request = {"do": "read", "path": str(path), "max_pages": self._settings.reader_max_pages}
        return self._asked(request, lambda child: self._document_from(child, format, on_page, cancelled))

    def render(
        self,
        path: Path,
        page: int,
        zoom: float,
        *,
        boxes: Sequence[Box] = (),
        colour: tuple[int, int, int] = HIGHLIGHT,
        clip: Box | None = None,
        cancelled: Callable[[], bool] = _never,
    ) -> Picture:
        """The page at `zoom` pixels per point, `boxes` highlighted. Raises UnreadableError and its kin, Cancelled."""
        self._checked_format(path)
        request = {
            "do": "render",
            "path": str(path),
            "page": page,
            "zoom": zoom,
            "boxes": [_edges(box) for box in boxes],
            "colour": colour,
            "clip": None if clip is None else _edges(clip),
        }
        return self._asked(request, lambda child: self._picture_from(child, page, cancelled))

    def close(self) -> None:
        """End the child; a request that is running ends as Cancelled."""
        self._closed = True
        child = self._child
        if child is not None:
            child.stop()
        with self._turn:
            self._end_child()

    def _checked_format(self, path: Path) -> Format:
        """What can be said of a file without parsing it. Raises UnreadableError and its kin."""
        try:
            if path.is_dir():
                raise UnreadableError("It is a folder, not a file.")
            size = path.stat().st_size
        except (OSError, ValueError) as error:
            raise UnreadableError(f"The file cannot be opened: {_reason(error)}.") from error
        if not path.is_file():
            raise UnreadableError("It is not a file that can be read.")  # a pipe or device would be waited for
        format = format_of(path)
        if format is None:
            raise UnsupportedError(unsupported_sentence(path))
        if size == 0:
            raise UnreadableError("The file is empty.")
        if size > self._settings.max_file_mb << 20:
            raise LimitError(
                f"The file has {size / (1 << 20):,.0f} MB; {self._settings.max_file_mb:,} MB is the most that is read."
            )
        return format

    def _asked(self, request: dict[str, Any], answer: Callable[[Child], T]) -> T:
        """The answer to a request, from this child or, if that dies of an earlier file, from a fresh one."""
        with self._turn:
            has_read_before = self._child is not None and self._child.alive()
            try:
                return self._asked_once(request, answer)
            except ChildDied as died:
                if not has_read_before or died.cause == "stopped":
                    raise self._error_of(died) from died
            try:
                return self._asked_once(request, answer)
            except ChildDied as died:
                raise self._error_of(died) from died

    def _asked_once(self, request: dict[str, Any], answer: Callable[[Child], T]) -> T:
        self._doing = "while opening the file"
        child = self._running_child()
        self._answered = False
        try:
            child.send(request)
            return answer(child)
        except NonsenseError as error:
            raise UnreadableError("The program that read it sent what makes no sense, and was stopped.") from error
        finally:
            if not self._answered:
                self._end_child()

    def _document_from(
        self, child: Child, format: Format, on_page: Callable[[int, int], None], cancelled: Callable[[], bool]
    ) -> ReadDocument:
        head = self._next_frame(child, self._settings.reader_seconds_to_open, cancelled).message
        metadata = checked_metadata(head.get("head"), format.value)
        total = checked_count(head.get("pages"), self._settings.reader_max_pages)
        pages: list[ReadPage] = []
        while True:
            self._doing = f"on page {len(pages) + 1}"
            frame = self._next_frame(child, self._settings.reader_seconds_per_page, cancelled)
            if "end" in frame.message:
                break
            if len(pages) >= self._settings.reader_max_pages:
                raise NonsenseError("more pages than were asked for")
            pages.append(checked_page(frame.message, frame.block, len(pages) + 1))
            total = max(total, len(pages))
            on_page(len(pages), total)
        self._answered = True
        problems = checked_problems(frame.message.get("end"))
        return ReadDocument(metadata, tuple(pages), problems, frame.message.get("partly_read") is True)

    def _picture_from(self, child: Child, page: int, cancelled: Callable[[], bool]) -> Picture:
        self._doing = f"while drawing page {page}"
        limit_s = self._settings.reader_seconds_to_open + self._settings.reader_seconds_per_page
        frame = self._next_frame(child, limit_s, cancelled)
        picture = _checked_picture(frame)
        self._answered = True
        return picture

    def _next_frame(self, child: Child, limit_s: float, cancelled: Callable[[], bool]) -> Frame:
        """The child's next frame. Raises what the child reports, LimitError after `limit_s`, Cancelled, ChildDied."""
        deadline_s = time.monotonic() + limit_s
        while True:
            if cancelled():
                raise Cancelled("Reading was cancelled.")
            left_s = deadline_s - time.monotonic()
            try:
                frame = child.receive(max(0.0, min(CANCEL_POLL_S, left_s)))
            except TimeoutError:
                if left_s <= 0:
                    raise LimitError(f"Reading stopped after {limit_s:g} s {self._doing}.") from None
                continue
            if "error" in frame.message:
                self._answered = True
                raise _reported_error(frame.message)
            return frame

    def _running_child(self) -> Child:
        if self._child is not None and not self._child.alive():
            self._end_child()
        if self._child is None and not self._closed:
            memory_bytes = self._settings.reader_memory_mb << 20
            self._child = Child(self._child_module, (str(memory_bytes),), memory_limit_bytes=memory_bytes)
        if self._closed or self._child is None:  # looked at again: close() may have come while the child started
            self._end_child()
            raise Cancelled("Reading was stopped.")
        return self._child

    def _end_child(self) -> None:
        if self._child is not None:
            self._child.stop()
            self._child = None

    def _error_of(self, died: ChildDied) -> PinciteError:
        if died.cause == "memory":
            most = self._settings.reader_memory_mb
            said = f"{most / 1024:.3g} GB" if most >= 1024 else f"{most} MB"
            return LimitError(f"Reading stopped {self._doing}: it needed more than {said} of memory.")
        if died.cause == "stopped":
            return Cancelled("Reading was stopped.")
        return UnreadableError(f"The program that read it crashed {self._doing}.")


def _edges(box: Box) -> tuple[float, float, float, float]:
    return box.x0, box.y0, box.x1, box.y1


def _reason(error: Exception) -> str:
    return (isinstance(error, OSError) and error.strerror) or "its name cannot be used"


def _reported_error(untrusted: dict[str, Any]) -> PinciteError:
    code = untrusted.get("error")
    if not isinstance(code, str) or code not in SENDABLE_ERRORS:
        return BugError("A mistake in Pincite stopped the reading of this file.")
    return error_for(code, checked_sentence(untrusted.get("sentence")))


def _checked_picture(untrusted: Frame) -> Picture:
    """The picture in a frame. Raises NonsenseError when it is not a PNG of the size it claims."""
    if len(untrusted.block) < PNG_START.size:
        raise NonsenseError("a picture is no PNG")
    signature, width, height = PNG_START.unpack_from(untrusted.block)
    if signature != PNG_SIGNATURE or not 0 < width * height <= MAX_PICTURE_PIXELS:
        raise NonsenseError("a picture is no PNG, or too large")
    if untrusted.message.get("picture") != [width, height]:
        raise NonsenseError("a picture has not the size it claims")
    return Picture(untrusted.block, width, height)
