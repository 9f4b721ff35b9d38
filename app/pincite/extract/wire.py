"""How a page travels from the reading process: packed into a frame there, checked and unpacked here.

The reading process has parsed a hostile document and may have been taken over by it. Whatever comes out of it is
called `untrusted_…` until its types, sizes and places have been checked; anything that no honest reader would send
raises NonsenseError.
"""

from __future__ import annotations

import math
import re
import sys
from array import array
from typing import Any

from pincite.extract.limits import (
    MAX_LABEL_CHARS,
    MAX_NAME_CHARS,
    MAX_OUTLINE_ENTRIES,
    MAX_PAGE_PT,
    MAX_PROBLEM_CHARS,
    MAX_PROBLEMS,
    MAX_WORD_CHARS,
    MAX_WORDS_PER_PAGE,
    MIN_PAGE_PT,
)
from pincite.model import BlockKind, Box, Line, Metadata, OutlineEntry, ReadPage, Word

BOLD, MONO, HEADER_ROW = 1, 2, 4
SEPARATOR = re.compile(r"\n?| |(?: \| ){1,500}")
OUTSIDE_PAGE_PT = 2.0  # rounding may put a box this far outside its page
KINDS = frozenset(kind.value for kind in BlockKind)
MAX_SIZE_PT = 100_000.0
NOT_TEXT = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")  # control characters and halves of characters


class NonsenseError(Exception):
    """A message that no honest reader would have sent."""


def packed_page(page: ReadPage) -> tuple[dict[str, Any], bytes]:
    """A page as the message and the block of a frame."""
    texts: list[str] = []
    boxes = array("f")
    afters: list[tuple[int, str]] = []
    joined: list[int] = []
    lines: list[list[Any]] = []
    for line in page.lines:
        last = line.words[-1]
        for word in line.words:
            if word.after != ("\n" if word is last else " "):
                afters.append((len(texts), word.after))
            if word.joined:
                joined.append(len(texts))
            texts.append(word.text)
            boxes.extend((word.box.x0, word.box.y0, word.box.x1, word.box.y1))
        flags = BOLD * line.bold | MONO * line.mono | HEADER_ROW * line.header_row
        lines.append([len(line.words), round(line.size_pt, 2), flags, line.group, line.kind, line.level, line.row])
    message = {
        "page": page.number,
        "label": page.label,
        "width": page.width,
        "height": page.height,
        "picture_share": page.picture_share,
        "texts": texts,
        "lines": lines,
        "afters": afters,
        "joined": joined,
    }
    return message, _little_endian(boxes).tobytes()


def checked_page(untrusted_message: dict[str, Any], untrusted_block: bytes, number: int) -> ReadPage:
    """The page numbered `number`, from a frame. Raises NonsenseError when the frame is not that page."""
    if _whole(untrusted_message.get("page"), 1, sys.maxsize) != number:
        raise NonsenseError("a page is out of turn")
    width = _finite(untrusted_message.get("width"), MIN_PAGE_PT, MAX_PAGE_PT)
    height = _finite(untrusted_message.get("height"), MIN_PAGE_PT, MAX_PAGE_PT)
    words = _checked_words(untrusted_message, _checked_boxes(untrusted_block, width, height))
    return ReadPage(
        number=number,
        label=_text(untrusted_message.get("label"), MAX_LABEL_CHARS),
        width=width,
        height=height,
        lines=_checked_lines(untrusted_message.get("lines"), words),
        picture_share=_finite(untrusted_message.get("picture_share"), 0.0, 1.0),
    )


def packed_metadata(metadata: Metadata) -> dict[str, Any]:
    """What a file says of itself, as part of a message."""
    return {
        "format": metadata.format,
        "title": metadata.title[:MAX_NAME_CHARS],
        "author": metadata.author[:MAX_NAME_CHARS],
        "created": metadata.created,
        "modified": metadata.modified,
        "outline": [
            [entry.level, entry.title[:MAX_NAME_CHARS], entry.page] for entry in metadata.outline[:MAX_OUTLINE_ENTRIES]
        ],
    }


def checked_metadata(untrusted: object, format: str) -> Metadata:
    """Metadata from a message about a file of that format. Raises NonsenseError."""
    if not isinstance(untrusted, dict):
        raise NonsenseError("metadata is not an object")
    return Metadata(
        format=format,
        title=_text(untrusted.get("title"), MAX_NAME_CHARS),
        author=_text(untrusted.get("author"), MAX_NAME_CHARS),
        created=_iso_date(untrusted.get("created")),
        modified=_iso_date(untrusted.get("modified")),
        outline=tuple(_checked_entry(entry) for entry in _list(untrusted.get("outline"), MAX_OUTLINE_ENTRIES)),
    )


def checked_count(untrusted: object, most: int) -> int:
    """A number of things from a message, 0 to `most`. Raises NonsenseError."""
    return _whole(untrusted, 0, most)


def checked_problems(untrusted: object) -> tuple[str, ...]:
    """Sentences from a message. Raises NonsenseError."""
    return tuple(_text(problem, MAX_PROBLEM_CHARS) for problem in _list(untrusted, MAX_PROBLEMS))


def checked_sentence(untrusted: object) -> str:
    """One sentence from a message. Raises NonsenseError."""
    return _text(untrusted, MAX_PROBLEM_CHARS)


def _checked_boxes(untrusted_block: bytes, width: float, height: float) -> list[Box]:
    if len(untrusted_block) % 16 or len(untrusted_block) > 16 * MAX_WORDS_PER_PAGE:
        raise NonsenseError("a page's boxes have a wrong size")
    values = array("f")
    values.frombytes(untrusted_block)
    numbers = _little_endian(values).tolist()
    edges = iter(numbers)
    boxes = []
    for x0, y0, x1, y1 in zip(edges, edges, edges, edges, strict=True):
        # A comparison with not-a-number is false, so this refuses those too.
        if not (-OUTSIDE_PAGE_PT <= x0 <= x1 <= width + OUTSIDE_PAGE_PT):
            raise NonsenseError("a word's box is off its page")
        if not (-OUTSIDE_PAGE_PT <= y0 <= y1 <= height + OUTSIDE_PAGE_PT):
            raise NonsenseError("a word's box is off its page")
        boxes.append(Box(x0, y0, x1, y1))
    return boxes


def _checked_words(untrusted_message: dict[str, Any], boxes: list[Box]) -> list[tuple[str, Box, str | None, bool]]:
    untrusted_texts = _list(untrusted_message.get("texts"), MAX_WORDS_PER_PAGE)
    if len(untrusted_texts) != len(boxes):
        raise NonsenseError("words and boxes differ in number")
    texts = [_word_text(untrusted) for untrusted in untrusted_texts]
    afters: list[str | None] = [None] * len(texts)
    for untrusted in _list(untrusted_message.get("afters"), len(texts)):
        index, separator = _list_of(untrusted, 2)
        if not isinstance(separator, str) or not SEPARATOR.fullmatch(separator):
            raise NonsenseError("a word is followed by what cannot follow it")
        afters[_whole(index, 0, len(texts) - 1)] = separator
    joined = [False] * len(texts)
    for untrusted_index in _list(untrusted_message.get("joined"), len(texts)):
        joined[_whole(untrusted_index, 0, len(texts) - 1)] = True
    return list(zip(texts, boxes, afters, joined, strict=True))


def _checked_lines(untrusted: object, words: list[tuple[str, Box, str | None, bool]]) -> tuple[Line, ...]:
    lines = []
    start = 0
    for untrusted_line in _list(untrusted, len(words)):
        count, size, flags, group, kind, level, row = _list_of(untrusted_line, 7)
        end = start + _whole(count, 1, len(words) - start)
        last = end - 1
        lines.append(
            Line(
                words=tuple(
                    Word(text, box, ("\n" if index == last else " ") if after is None else after, joined)
                    for index, (text, box, after, joined) in enumerate(words[start:end], start)
                ),
                size_pt=_finite(size, 0.0, MAX_SIZE_PT),
                bold=bool(_whole(flags, 0, 7) & BOLD),
                mono=bool(flags & MONO),
                group=_whole(group, 0, sys.maxsize),
                kind=None if kind is None else _kind(kind),
                level=_whole(level, 0, 6),
                row=None if row is None else _whole(row, 0, sys.maxsize),
                header_row=bool(flags & HEADER_ROW),
            )
        )
        start = end
    if start != len(words):
        raise NonsenseError("some words are in no line")
    return tuple(lines)


def _kind(untrusted: object) -> BlockKind:
    text = _text(untrusted, MAX_LABEL_CHARS)
    if text not in KINDS:
        raise NonsenseError("a line is of a kind that does not exist")
    return BlockKind(text)


def _checked_entry(untrusted: object) -> OutlineEntry:
    level, title, page = _list_of(untrusted, 3)
    return OutlineEntry(_whole(level, 1, 1000), _text(title, MAX_NAME_CHARS), _whole(page, 1, sys.maxsize))


def _word_text(untrusted: object) -> str:
    if not isinstance(untrusted, str) or not untrusted or len(untrusted) > MAX_WORD_CHARS:
        raise NonsenseError("a word is empty, too long or no text")
    return untrusted if untrusted.isprintable() else NOT_TEXT.sub("\ufffd", untrusted)


def _text(untrusted: object, most_chars: int) -> str:
    if not isinstance(untrusted, str) or len(untrusted) > most_chars:
        raise NonsenseError("a text is too long or no text")
    return NOT_TEXT.sub("\ufffd", untrusted)


def _iso_date(untrusted: object) -> str:
    text = _text(untrusted, 40)
    if text and not re.fullmatch(r"\d{4}(-\d\d){0,2}(T\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)?)?", text):
        raise NonsenseError("a date is not ISO 8601")
    return text


def _list(untrusted: object, longest: int) -> list[Any]:
    if not isinstance(untrusted, list) or len(untrusted) > longest:
        raise NonsenseError("a list is too long or no list")
    return untrusted


def _list_of(untrusted: object, length: int) -> list[Any]:
    if len(_list(untrusted, length)) != length:
        raise NonsenseError("a list is too short")
    return untrusted  # type: ignore[return-value]  # _list has just checked it


def _whole(untrusted: object, least: int, most: int) -> int:
    if type(untrusted) is not int or not least <= untrusted <= most:
        raise NonsenseError("a number is not whole or out of range")
    return untrusted


def _finite(untrusted: object, least: float, most: float) -> float:
    if type(untrusted) not in (int, float) or not math.isfinite(untrusted) or not least <= untrusted <= most:  # type: ignore[arg-type,operator]
        raise NonsenseError("a number is not finite or out of range")
    return float(untrusted)  # type: ignore[arg-type]


def _little_endian(values: array[float]) -> array[float]:
    if sys.byteorder == "big":
        values.byteswap()
    return values
