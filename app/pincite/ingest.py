"""Stops 2 to 5 of the walk, as one straight function per file: read, structure, chunk, store."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

from pincite.chunk import CHUNKER_VERSION, ChunkLimits, chunked
from pincite.engine import TokenCounter
from pincite.errors import BugError, PasswordNeededError, UnreadableError, UnsupportedError
from pincite.extract import ReadDocument, Reader, supported
from pincite.index import Index, Reading
from pincite.index.files import FileRecord
from pincite.model import FileState, Metadata
from pincite.structure import structured

# Raised with any change to reading or structure that makes stored pages out of date.
READER_VERSION = "1"
HASH_BLOCK_BYTES = 1 << 20
SCAN_PICTURE_SHARE = 0.5  # a page without text that is covered by pictures this far is taken for a scan
PAGES_NAMED = 8
# Titles that programs put into files by themselves and that name nothing.
EMPTY_TITLES = re.compile(
    r"untitled.*|unknown|document\d*|microsoft word - .*|microsoft powerpoint - .*|powerpoint presentation|"
    r"slide \d+|scan.*|.*\.(?:docx?|pdf|pptx?|xlsx?|odt|rtf|indd|tex|dvi|ps)",
    re.IGNORECASE,
)


class Outcome(StrEnum):
    """What became of a file that was waiting."""

    READ = "read"
    KNOWN = "known"  # its content is already in the library
    UNREADABLE = "unreadable"
    CHANGING = "changing"  # it was written to while it was read; it stays in the queue
    DROPPED = "dropped"  # it was taken out of the library while it was read


@dataclass(frozen=True, slots=True)
class IngestTools:
    """What reading a file takes."""

    index: Index
    reader: Reader
    count_tokens: TokenCounter
    limits: ChunkLimits


def ingest_file(
    tools: IngestTools, record: FileRecord, on_page: Callable[[int, int], None], cancelled: Callable[[], bool]
) -> Outcome:
    """Read a waiting file into the library. Idempotent by content: stopping anywhere and starting again is safe.

    Raises Cancelled, and what the stores raise. What is wrong with the file itself ends up in the ledger.
    """
    path = Path(record.path)
    content = ""
    try:
        if supported(path):  # else the reader only says why not, and hashing a film to hear that takes long
            content = content_hash(path)
            if tools.index.link_known(record.path, content) is not None:
                return Outcome.KNOWN
        read = tools.reader.read(path, on_page=on_page, cancelled=cancelled)
        if _stamp(path) != (record.size, record.mtime_ns):
            return Outcome.CHANGING
    except FileNotFoundError:
        return Outcome.CHANGING  # gone or renamed meanwhile: the next sweep says which
    except (UnreadableError, BugError, OSError) as error:
        state, reason = _failure(error)
        tools.index.note_unreadable(record.path, content, state, reason)
        return Outcome.UNREADABLE
    state, reason = _reading_state(read)
    if not any(line.words for page in read.pages for line in page.lines):
        tools.index.note_unreadable(record.path, content, state, reason)
        return Outcome.UNREADABLE
    with tools.index.naming():
        # Looked at again: another thread may have read a copy of it meanwhile.
        if tools.index.link_known(record.path, content) is not None:
            return Outcome.KNOWN
        stored = tools.index.store(record.path, _reading(tools, record, content, read, state, reason))
    return Outcome.READ if stored else Outcome.DROPPED


def content_hash(path: Path) -> str:
    """SHA-256 of the file's bytes. Raises OSError."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(HASH_BLOCK_BYTES):
            digest.update(block)
    return digest.hexdigest()


def _reading(
    tools: IngestTools, record: FileRecord, content: str, read: ReadDocument, state: FileState, reason: str
) -> Reading:
    identity = tools.index.document_id_for(record.path, content)
    made_by = (READER_VERSION, CHUNKER_VERSION, tools.count_tokens.name, repr(tools.limits))
    generation = hashlib.sha256("\x00".join((identity, content, *made_by)).encode()).hexdigest()[:16]
    document = structured(read.metadata, read.pages)
    title = document_title(read.metadata, Path(record.path))
    chunking = chunked(document, title, f"{identity}.{generation}", tools.count_tokens, tools.limits)
    return Reading(
        id=identity,
        generation=generation,
        content_hash=content,
        title=title,
        modified=datetime.fromtimestamp(record.mtime_ns / 1e9, UTC).isoformat(timespec="seconds"),
        document=document,
        sections=chunking.sections,
        chunks=chunking.chunks,
        state=state,
        reason=reason,
    )


def document_title(metadata: Metadata, path: Path) -> str:
    """The title the file states, unless a program put it there; else its name made readable."""
    stated = " ".join(metadata.title.split())
    if stated and not EMPTY_TITLES.fullmatch(stated):
        return stated[:200]
    return " ".join(re.sub(r"[_]+", " ", path.stem).split()) or path.name


def _stamp(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_size, status.st_mtime_ns


def _failure(error: UnreadableError | BugError | OSError) -> tuple[FileState, str]:
    if isinstance(error, PasswordNeededError):
        return FileState.PASSWORD, str(error)
    if isinstance(error, UnsupportedError):
        return FileState.UNSUPPORTED, str(error)
    if isinstance(error, (UnreadableError, BugError)):
        return FileState.FAILED, str(error)
    return FileState.FAILED, f"The file cannot be opened: {error.strerror or error}."


def _reading_state(read: ReadDocument) -> tuple[FileState, str]:
    """Whether all of the file was read, and if not, what is missing."""
    empty = [page.number for page in read.pages if not any(line.words for line in page.lines)]
    scans = [page.number for page in read.pages if page.number in set(empty) and _is_scan(page.picture_share)]
    problems = list(read.problems)
    if scans and len(empty) == len(read.pages):  # a scanned letter may have blank backs
        problems.insert(0, "It is a scan: its pages are pictures without text, which this version cannot read.")
        return FileState.UNSUPPORTED, " ".join(problems)
    if len(empty) == len(read.pages):
        problems.insert(0, "There is no text in it.")
        return FileState.FAILED, " ".join(problems)
    if scans:
        problems.insert(0, f"{_named(scans)} without text, which this version cannot read.")
        return FileState.PARTLY, " ".join(problems)
    return (FileState.PARTLY if read.partly_read else FileState.READ), " ".join(problems)


def _is_scan(picture_share: float) -> bool:
    return picture_share >= SCAN_PICTURE_SHARE


def _named(pages: list[int]) -> str:
    listed = ", ".join(str(page) for page in pages[:PAGES_NAMED])
    more = f" and {len(pages) - PAGES_NAMED} more" if len(pages) > PAGES_NAMED else ""
    return f"Page {listed} is a picture" if len(pages) == 1 else f"Pages {listed}{more} are pictures"
