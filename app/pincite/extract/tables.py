"""The ruled tables of a PDF page, as lines: one for each row, its cells' words in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pincite.extract.mupdf import pymupdf, text_of
from pincite.extract.ruled import Drawn, PlacedText, Row, ruled_tables
from pincite.model import BlockKind, Box, Line, Word

VECTOR_BLOCK = 3
CELL_SEPARATOR = " | "


def with_tables(lines: Sequence[Line], content: Any) -> list[Line]:
    """`lines` of a page, with those words that stand in ruled tables moved into one line for each row.

    `content` is the page's display list. A table stands where its first word stood. Its lines share a `group` that
    nothing else on the page has.
    """
    drawn = _drawn(content)
    if not drawn:
        return list(lines)
    source = [line for line in lines for _ in line.words]
    words = [word for line in lines for word in line.words]
    tables = ruled_tables([PlacedText(w.text, w.box, ln.bold) for w, ln in zip(words, source, strict=True)], drawn)
    group = max((line.group for line in lines), default=0)
    rows_at: dict[int, list[Line]] = {}
    taken: set[int] = set()
    for number, table in enumerate(tables, 1):
        taken.update(table.words)
        rows_at[table.words[0]] = [
            replace(_row_line(row, words, source), group=group + number, row=at, header_row=at < table.header_rows)
            for at, row in enumerate(table.rows)
        ]
    return _merged(lines, taken, rows_at)


def row_words(cells: Sequence[Sequence[Word]]) -> tuple[Word, ...]:
    """The words of a table's row, told apart cell by cell: " | " for each border between one word and the next."""
    words: list[Word] = []
    borders = 0
    for cell in cells:
        if cell and words:
            words[-1] = replace(words[-1], after=CELL_SEPARATOR * borders)
        if cell:
            words += [replace(word, after=" ") if "\n" in word.after else word for word in cell]
            borders = 0
        borders += 1
    if words:
        words[-1] = replace(words[-1], after="\n")
    return tuple(words)


def _drawn(content: Any) -> list[Drawn]:
    # A text page of its own: collecting drawings along with the text would cut MuPDF's blocks of text at every rule.
    blocks = text_of(content, pymupdf.TEXT_COLLECT_VECTORS).extractDICT()["blocks"]
    return [
        Drawn(Box(*block["bbox"]), block["color"], block["stroked"])
        for block in blocks
        if block["type"] == VECTOR_BLOCK and block["isrect"] and block["alpha"]
    ]


def _row_line(row: Row, words: Sequence[Word], source: Sequence[Line]) -> Line:
    like = source[next(i for cell in row for i in cell)]
    cells = [[words[i] for i in cell] for cell in row]
    return Line(row_words(cells), like.size_pt, like.bold, like.mono, kind=BlockKind.TABLE)


def _merged(lines: Sequence[Line], taken: set[int], rows_at: dict[int, list[Line]]) -> list[Line]:
    merged: list[Line] = []
    first = 0
    for line in lines:
        end = first + len(line.words)
        left = [word for at, word in enumerate(line.words, first) if at not in taken]
        for at in range(first, end):
            merged += rows_at.get(at, [])
        if len(left) == len(line.words):
            merged.append(line)
        elif left:
            merged.append(replace(line, words=(*left[:-1], replace(left[-1], after="\n"))))
        first = end
    return merged
