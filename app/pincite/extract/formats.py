"""Which formats are read here, told by the name of a file alone."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path


class Format(StrEnum):
    """A format that can be read, as `Metadata.format` names it."""

    PDF = "pdf"
    MARKDOWN = "markdown"
    TEXT = "text"


FORMAT_OF_SUFFIX = {
    ".pdf": Format.PDF,
    ".md": Format.MARKDOWN,
    ".markdown": Format.MARKDOWN,
    ".txt": Format.TEXT,
    ".text": Format.TEXT,
    ".log": Format.TEXT,
}


def format_of(path: Path) -> Format | None:
    """The format a file's name promises, or None when nothing here reads it."""
    return FORMAT_OF_SUFFIX.get(path.suffix.lower())


def supported(path: Path) -> bool:
    """Whether a file of this name can be read."""
    return format_of(path) is not None


def unsupported_sentence(path: Path) -> str:
    """Why a file of this name is not read."""
    if not path.suffix:
        return "A file whose name has no ending is not read, because its format is unknown."
    return f"Files of the format {path.suffix.lower()} are not read."
