"""Text without pages → pages of words with boxes, and what to draw so that exactly those words stand there.

The layout is a function of the blocks alone, so a page can be drawn later, in another process, from the file.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pincite.extract.blocks import Block, Run, RunLine, TableBlock, TextBlock
from pincite.extract.fonts import Faces, Style, reads_right_to_left
from pincite.extract.tables import row_words
from pincite.extract.wrap import RowSetter, SetWord
from pincite.model import BlockKind, Box, Line, ReadPage, Word

PAGE_WIDTH_PT, PAGE_HEIGHT_PT = 595.0, 842.0  # A4
LEFT_PT, RIGHT_PT = 56.0, 539.0
TOP_PT, BOTTOM_PT = 60.0, 782.0
PITCH = 1.4  # from one row to the next, as a ratio to the size
ASCENT, DESCENT = 1.05, 0.3  # of a word's box, as ratios to the size; the tallest accents fit
MARKER_GAP_PT = 4.0
COLUMN_GAP_PT = 10.0
CELL_PAD_PT = 2.0
MAX_COLUMNS = 12  # tables of more are set smaller
MIN_SIZE_PT = 3.0
ROWS_AFTER_HEADING = 2
BAR_OFFSET_PT = 8.0
ROUNDING_PT = 0.01


@dataclass(frozen=True, slots=True)
class Glyphs:
    """Text to draw: `x` and `baseline` in points of the page."""

    text: str
    style: Style
    x: float
    baseline: float
    size_pt: float


@dataclass(frozen=True, slots=True)
class Bar:
    """A thin line to draw."""

    x0: float
    y0: float
    x1: float
    y1: float


@dataclass(frozen=True, slots=True)
class LaidPage:
    """A page and how to draw it."""

    page: ReadPage
    glyphs: tuple[Glyphs, ...]
    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True)
class Start:
    """Where layout can be taken up: block number `block` begins on page `page` at height `y`."""

    page: int = 1
    y: float = TOP_PT
    block: int = 0


class Layout:
    """Lays blocks out from `start` on, without glyphs and bars where nothing is `to_draw`.

    `starts` tells for each page reached where to begin in order to lay it again.
    """

    def __init__(self, blocks: Sequence[Block], faces: Faces, start: Start | None = None, to_draw: bool = True) -> None:
        self._blocks = blocks
        self._faces = faces
        self._to_draw = to_draw
        self._begun = start or Start()
        self.starts: dict[int, Start] = {self._begun.page: self._begun}
        self._number = self._begun.page
        self._y = self._begun.y
        self._lines: list[Line] = []
        self._glyphs: list[Glyphs] = []
        self._bars: list[Bar] = []
        self._done: list[LaidPage] = []

    def pages(self) -> Iterator[LaidPage]:
        """The pages in order. The first is incomplete if its `Start` was not at its top."""
        for index in range(self._begun.block, len(self._blocks)):
            self._begun = Start(self._number, self._y, index)
            self._set(self._blocks[index])
            yield from self._done
            self._done.clear()
        if self._lines or self._number == 1:
            self._break_page()
            yield from self._done

    def _set(self, block: Block) -> None:
        if self._y > TOP_PT:
            self._y += block.space_before_pt
        if isinstance(block, TextBlock):
            self._set_text(block)
        elif isinstance(block, TableBlock):
            self._set_table(block)
        elif self._y < BOTTOM_PT:
            self._bars.append(Bar(LEFT_PT, self._y, RIGHT_PT, self._y))

    def _set_text(self, block: TextBlock) -> None:
        pitch = PITCH * block.size_pt
        if block.new_page and self._y > TOP_PT:
            self._break_page()
        rows_wanted = 1 + ROWS_AFTER_HEADING if block.kind is BlockKind.HEADING else 1
        if self._y > TOP_PT and self._y + rows_wanted * pitch > BOTTOM_PT:
            self._break_page()
        for index, line in enumerate(block.lines):
            rows = self._rows(line, RIGHT_PT - LEFT_PT - block.indent_pt, block.size_pt, block.exact)
            if index == 0 and block.marker:
                rows = self._with_marker(rows, block)
            if not rows:
                self._y += pitch
            for unit in [rows] if block.exact else _units(rows):
                self._place(unit, block)

    def _rows(self, line: RunLine, width: float, size_pt: float, exact: bool = False) -> list[list[SetWord]]:
        rows = RowSetter(self._faces, width, size_pt, exact).rows(line)
        if not exact and reads_right_to_left("".join(run.text for run in line)):
            return [[_mirrored(word, width) for word in row] for row in rows]
        return rows

    def _with_marker(self, rows: list[list[SetWord]], block: TextBlock) -> list[list[SetWord]]:
        """The rows with the bullet or number to the left of the first one, as its first word."""
        (words,) = RowSetter(self._faces, RIGHT_PT - LEFT_PT, block.size_pt).rows([Run(block.marker)])
        shift = max(-block.indent_pt, -words[-1].x1 - MARKER_GAP_PT)
        marker = [_shifted(word, shift) for word in words]
        return [marker + rows[0], *rows[1:]] if rows else [marker]

    def _place(self, rows: list[list[SetWord]], block: TextBlock) -> None:
        """Rows that make one line, on this page if they fit, else on the next; longer ones go over."""
        pitch = PITCH * block.size_pt
        height = len(rows) * pitch
        if self._y > TOP_PT and self._y + height > BOTTOM_PT and height <= BOTTOM_PT - TOP_PT:
            self._break_page()
        words: list[Word] = []
        for row in rows:
            if self._y + pitch > BOTTOM_PT:
                self._end_line(words, block)
                words = []
                self._break_page()
            words += self._placed(row, LEFT_PT + block.indent_pt, self._y, block.size_pt)
            if block.quoted:
                x = LEFT_PT + block.indent_pt - BAR_OFFSET_PT
                self._bars.append(Bar(x, self._y, x, self._y + pitch))
            self._y += pitch
        if words:
            words[-1] = replace(words[-1], after="\n")
            self._end_line(words, block)

    def _end_line(self, words: list[Word], block: TextBlock) -> None:
        if words:
            bold, mono = _mostly(block, Style.BOLD), _mostly(block, Style.MONO)
            line = Line(tuple(words), block.size_pt, bold, mono, block.group, block.kind, block.level)
            self._lines.append(line)

    def _placed(self, row: Sequence[SetWord], left: float, top: float, size_pt: float) -> list[Word]:
        baseline = top + ASCENT * size_pt
        words = []
        for word in row:
            x1 = min(left + word.x1, PAGE_WIDTH_PT)
            box = Box(min(left + word.x0, x1), top, x1, min(baseline + DESCENT * size_pt, PAGE_HEIGHT_PT))
            words.append(Word(word.text, box, word.after))
            if self._to_draw:
                self._glyphs += [Glyphs(p.text, p.style, left + p.x, baseline, size_pt) for p in word.pieces]
        return words

    def _set_table(self, table: TableBlock) -> None:
        columns = max((len(row) for row in table.rows), default=1)
        table = replace(table, size_pt=max(MIN_SIZE_PT, table.size_pt * min(1.0, MAX_COLUMNS / columns)))
        available = RIGHT_PT - LEFT_PT - table.indent_pt
        gap = min(COLUMN_GAP_PT, 0.2 * available / columns)
        widths = self._column_widths(table, columns, available - gap * (columns - 1))
        for index in range(len(table.rows)):
            self._set_row(table, index, widths, gap)
        if self._y > TOP_PT:
            self._bars.append(Bar(LEFT_PT + table.indent_pt, self._y, RIGHT_PT, self._y))

    def _column_widths(self, table: TableBlock, columns: int, available: float) -> list[float]:
        """What each column needs if that fits, else less of it, down to its longest word, else an equal share."""
        natural, least = [1.0] * columns, [1.0] * columns
        for row in table.rows:
            for column, cell in enumerate(row):
                for words in RowSetter(self._faces, math.inf, table.size_pt).rows(cell):
                    natural[column] = max(natural[column], words[-1].x1 + ROUNDING_PT)
                    least[column] = max(least[column], max(word.x1 - word.x0 for word in words) + ROUNDING_PT)
        if sum(natural) <= available:
            return natural
        if sum(least) > available:
            return [available / columns] * columns
        share = (available - sum(least)) / (sum(natural) - sum(least))
        return [few + share * (many - few) for few, many in zip(least, natural, strict=True)]

    def _set_row(self, table: TableBlock, index: int, widths: Sequence[float], gap: float) -> None:
        """One row; it goes over to the next page only if it is higher than a page."""
        pitch = PITCH * table.size_pt
        left = LEFT_PT + table.indent_pt
        cells = [self._rows(cell, width, table.size_pt) for cell, width in zip(table.rows[index], widths, strict=False)]
        to_set = max((len(rows) for rows in cells), default=0)
        height = to_set * pitch + 2 * CELL_PAD_PT
        if self._y > TOP_PT and self._y + min(height, BOTTOM_PT - TOP_PT) > BOTTOM_PT:
            self._break_page()
        self._bars.append(Bar(left, self._y, RIGHT_PT, self._y))
        first = 0
        while first < to_set:
            if first:
                self._break_page()
            count = max(1, min(to_set - first, int((BOTTOM_PT - self._y - 2 * CELL_PAD_PT) // pitch)))
            words: list[list[Word]] = []
            x = left
            for rows, width in zip(cells, widths, strict=False):
                words.append([])
                for n, row in enumerate(rows[first : first + count]):
                    words[-1] += self._placed(row, x, self._y + CELL_PAD_PT + n * pitch, table.size_pt)
                x += width + gap
            self._end_row(table, index, words)
            self._y += count * pitch + 2 * CELL_PAD_PT
            first += count

    def _end_row(self, table: TableBlock, index: int, cells: list[list[Word]]) -> None:
        words = row_words(cells)
        if words:
            header = index < table.header_rows
            self._lines.append(
                Line(
                    words,
                    table.size_pt,
                    bold=header,
                    group=table.group,
                    kind=BlockKind.TABLE,
                    row=index,
                    header_row=header,
                )
            )

    def _break_page(self) -> None:
        page = ReadPage(self._number, "", PAGE_WIDTH_PT, PAGE_HEIGHT_PT, tuple(self._lines))
        self._done.append(LaidPage(page, tuple(self._glyphs), tuple(self._bars)))
        self._lines, self._glyphs, self._bars = [], [], []
        self._number += 1
        self._y = TOP_PT
        self.starts[self._number] = self._begun


def _units(rows: list[list[SetWord]]) -> list[list[list[SetWord]]]:
    """Rows grouped so that no word is divided between groups."""
    units: list[list[list[SetWord]]] = []
    goes_on = False
    for row in rows:
        if goes_on:
            units[-1].append(row)
        else:
            units.append([row])
        goes_on = row[-1].after == ""
    return units


def _shifted(word: SetWord, by: float) -> SetWord:
    return replace(word, pieces=tuple(replace(piece, x=piece.x + by) for piece in word.pieces))


def _mirrored(word: SetWord, width: float) -> SetWord:
    return replace(word, pieces=tuple(replace(p, x=width - p.x - p.width) for p in word.pieces))


def _mostly(block: TextBlock, style: Style) -> bool:
    """Whether most of a block's characters are of a style."""
    total = of_style = 0
    for line in block.lines:
        for run in line:
            total += len(run.text)
            of_style += len(run.text) if run.style & style else 0
    return 2 * of_style > total
