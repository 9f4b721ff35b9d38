"""Opening a file by its format, and keeping the last few open."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

from pincite.errors import UnreadableError, UnsupportedError
from pincite.extract.formats import Format, format_of, unsupported_sentence
from pincite.extract.pdf import PdfFile
from pincite.extract.textfile import TextFile
from pincite.model import Metadata, ReadPage

KEPT_OPEN = 4


class OpenFile(Protocol):
    """A file that can be read page by page and drawn.

    `page_count` may be an estimate until `pages` has come to its end. `problems` grow while pages are read;
    `partly_read` says whether any of them cost text.
    """

    page_count: int
    problems: list[str]
    partly_read: bool

    def metadata(self) -> Metadata: ...

    def pages(self) -> Iterator[ReadPage]: ...

    def page_to_draw(self, number: int) -> Any:
        """MuPDF's own page `number`, for painting. Raises UnreadableError when there is no such page."""

    def close(self) -> None: ...


def opened(path: Path) -> OpenFile:
    """The file, open. Raises UnreadableError and its kin."""
    match format_of(path):
        case Format.PDF:
            return PdfFile(path)
        case Format.MARKDOWN | Format.TEXT as format:
            return TextFile(path, format)
        case None:
            raise UnsupportedError(unsupported_sentence(path))


class Shelf:
    """The files opened last, each until it changes on disk or `KEPT_OPEN` others were opened after it."""

    def __init__(self) -> None:
        self._open: OrderedDict[tuple[Path, int, int], OpenFile] = OrderedDict()

    def file(self, path: Path) -> OpenFile:
        """The file as it is on disk now. Raises UnreadableError and its kin."""
        try:
            status = path.stat()
        except OSError as error:
            raise UnreadableError(f"The file cannot be opened: {error.strerror}.") from error
        key = (path, status.st_size, status.st_mtime_ns)
        for stale in [other for other in self._open if other[0] == path and other != key]:
            self._open.pop(stale).close()
        if key not in self._open:
            self._open[key] = opened(path)
        self._open.move_to_end(key)
        while len(self._open) > KEPT_OPEN:
            self._open.popitem(last=False)[1].close()
        return self._open[key]
