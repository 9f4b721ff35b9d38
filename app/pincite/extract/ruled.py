"""Ruled tables: from the lines and shaded areas drawn on a page to rows of cells of words. Pure geometry.

Lines that touch form a *grid*. Its lines divide the plane into slots; slots with no line between them are one cell
(a merged one). A grid is a table when it has two rows and two columns with words in most cells. Outer lines may be
missing, as they often are. Tables without lines between their columns are not found here.

Written instead of PyMuPDF's `find_tables`, which takes 50 to 150 ms on every page that has any lines (this: one or
two), edits the page while it looks, and finds only cells that are closed on all sides.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from pincite.model import Box

MAX_DRAWN = 20_000  # beyond it the page is a drawing
MAX_CROSSINGS = 1_000_000
LINE_THICKNESS_PT = 3.0
SNAP_PT = 2.5  # lines this close in parallel are one: both edges of a double line, or of neighbouring shaded cells
GAP_PT = 3.0  # dashes and the strokes of neighbouring cells join over such a gap
MIN_LINE_PT = 8.0
COVERED_SHARE = 0.6  # of a slot's side that must be drawn for it to be a wall
MIN_FILLED_SHARE = 0.5
MAX_CELL_WORDS = 250  # more is a page layout with a frame, not a table
MAX_HEADER_ROWS = 3
COLUMN_SPACE_SHARE = 0.6  # of the height of the type: a wider space than that between words is one between columns
FIGURES_SHARE = 0.7

NUMBER = re.compile(r"[^\w]*\d[\d\s.,:/%()+\-–−€$£]*(?:[a-zA-Z%°]{1,3})?[^\w]*")
NOTHING = re.compile(r"[-–—.*/]*|n/?a", re.IGNORECASE)  # how tables say that there is no figure
YEAR = re.compile(r"[^\w]*(?:19|20)\d\d(?:\s*[-–/]\s*(?:\d\d){1,2})?[^\w]*")


Row = tuple[tuple[int, ...], ...]  # cells of word numbers


@dataclass(frozen=True, slots=True)
class Drawn:
    """An area that a page paints: `box` with its colour. Only upright rectangles and lines are of use here."""

    box: Box
    colour: int
    stroked: bool


@dataclass(frozen=True, slots=True)
class PlacedText:
    """A word as far as a table cares."""

    text: str
    box: Box
    bold: bool


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells of word numbers, in reading order; the first `header_rows` head the columns."""

    rows: tuple[Row, ...]
    header_rows: int

    @property
    def words(self) -> list[int]:
        """The numbers of all its words, smallest first."""
        return sorted(word for row in self.rows for cell in row for word in cell)


@dataclass(frozen=True, slots=True)
class Stroke:
    """A straight line: at `at` on one axis, from `start` to `end` on the other."""

    at: float
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Grid:
    """Slots between `xs` and between `ys`; `cells` gives for each slot (row, column) the slot its cell begins in."""

    xs: tuple[float, ...]
    ys: tuple[float, ...]
    cells: dict[tuple[int, int], tuple[int, int]]

    @property
    def area(self) -> float:
        return (self.xs[-1] - self.xs[0]) * (self.ys[-1] - self.ys[0])

    def cell_at(self, x: float, y: float) -> tuple[int, int] | None:
        """The cell at a point, named by the slot it begins in."""
        if not (self.xs[0] <= x <= self.xs[-1] and self.ys[0] <= y <= self.ys[-1]):
            return None
        row = min(bisect_right(self.ys, y), len(self.ys) - 1) - 1
        column = min(bisect_right(self.xs, x), len(self.xs) - 1) - 1
        return self.cells[row, column]


def ruled_tables(words: Sequence[PlacedText], drawn: Sequence[Drawn]) -> list[Table]:
    """The tables that lines or shaded cells mark on a page. No word is in two of them."""
    if len(drawn) > MAX_DRAWN:
        return []
    lines = [item.box for item in drawn if _is_line(item.box)]
    frames = [item.box for item in drawn if item.stroked and not _is_line(item.box)]
    shades = [item for item in drawn if not item.stroked and not _is_line(item.box)]
    free = set(range(len(words)))
    tables: list[Table] = []
    # Shaded cells count as lines only where drawn lines made no table: many tables shade parts of their cells.
    for boxes, sides in ((lines, frames), (lines, frames + [shade.box for shade in shades])):
        for grid in sorted(_grids(boxes, sides), key=lambda grid: grid.area):
            table = _table(grid, words, free, shades)
            if table is not None:
                tables.append(table)
                free.difference_update(table.words)
    return sorted(tables, key=lambda table: table.words[0])


def _is_line(box: Box) -> bool:
    return min(box.width, box.height) <= LINE_THICKNESS_PT


def _grids(lines: Iterable[Box], frames: Iterable[Box]) -> list[Grid]:
    across: list[Stroke] = []
    down: list[Stroke] = []
    for box in lines:
        if box.width >= box.height:
            across.append(Stroke((box.y0 + box.y1) / 2, box.x0, box.x1))
        else:
            down.append(Stroke((box.x0 + box.x1) / 2, box.y0, box.y1))
    for box in frames:
        across += [Stroke(box.y0, box.x0, box.x1), Stroke(box.y1, box.x0, box.x1)]
        down += [Stroke(box.x0, box.y0, box.y1), Stroke(box.x1, box.y0, box.y1)]
    across, down = _joined(across), _joined(down)
    if len(across) < 2 or not down or len(across) * len(down) > MAX_CROSSINGS:
        return []
    return [grid for part in _connected(across, down) if (grid := _grid(*part)) is not None]


def _joined(strokes: list[Stroke]) -> list[Stroke]:
    """Strokes snapped to common positions, pieces of one line joined, and what is too short for a table left out."""
    by_position: list[list[Stroke]] = []
    for stroke in sorted(strokes, key=lambda s: s.at):
        if by_position and stroke.at - by_position[-1][0].at <= SNAP_PT:
            by_position[-1].append(stroke)
        else:
            by_position.append([stroke])
    joined: list[Stroke] = []
    for group in by_position:
        at = sum(stroke.at for stroke in group) / len(group)
        pieces: list[Stroke] = []
        for stroke in sorted(group, key=lambda s: s.start):
            if pieces and stroke.start - pieces[-1].end <= GAP_PT:
                pieces[-1] = Stroke(at, pieces[-1].start, max(pieces[-1].end, stroke.end))
            else:
                pieces.append(Stroke(at, stroke.start, stroke.end))
        joined += [piece for piece in pieces if piece.end - piece.start >= MIN_LINE_PT]
    return joined


def _connected(across: list[Stroke], down: list[Stroke]) -> list[tuple[list[Stroke], list[Stroke]]]:
    """Lines that touch each other, directly or through others, together."""
    part = list(range(len(across) + len(down)))

    def root(item: int) -> int:
        while part[item] != item:
            part[item] = part[part[item]]
            item = part[item]
        return item

    for j, vertical in enumerate(down, len(across)):
        for i, horizontal in enumerate(across):
            if _touch(horizontal, vertical):
                part[root(i)] = root(j)
    found: dict[int, tuple[list[Stroke], list[Stroke]]] = {}
    for i, stroke in enumerate(across):
        found.setdefault(root(i), ([], []))[0].append(stroke)
    for j, stroke in enumerate(down, len(across)):
        found.setdefault(root(j), ([], []))[1].append(stroke)
    return [(rows, columns) for rows, columns in found.values() if len(rows) >= 2 and columns]


def _touch(across: Stroke, down: Stroke) -> bool:
    return (
        across.start - GAP_PT <= down.at <= across.end + GAP_PT
        and down.start - GAP_PT <= across.at <= down.end + GAP_PT
    )


def _grid(across: list[Stroke], down: list[Stroke]) -> Grid | None:
    ys = _positions([s.at for s in across], [s.start for s in down], [s.end for s in down])
    xs = _positions([s.at for s in down], [s.start for s in across], [s.end for s in across])
    if len(xs) < 3 or len(ys) < 3 or len(xs) * len(ys) > MAX_CROSSINGS:
        return None
    walls_below = {
        (row, column)
        for row, y in enumerate(ys[1:-1])
        for column, (left, right) in enumerate(pairwise(xs))
        if _covers(across, y, left, right)
    }
    walls_right = {
        (row, column)
        for column, x in enumerate(xs[1:-1])
        for row, (top, bottom) in enumerate(pairwise(ys))
        if _covers(down, x, top, bottom)
    }
    return Grid(xs, ys, _cells(len(ys) - 1, len(xs) - 1, walls_below, walls_right))


def _positions(lines: list[float], starts: list[float], ends: list[float]) -> tuple[float, ...]:
    """Where lines stand, and where the lines across them begin and end should the outer ones be missing."""
    positions = sorted(set(lines))
    first, last = min(starts), max(ends)
    if first < positions[0] - 2 * GAP_PT:
        positions.insert(0, first)
    if last > positions[-1] + 2 * GAP_PT:
        positions.append(last)
    return tuple(positions)


def _covers(strokes: list[Stroke], at: float, start: float, end: float) -> bool:
    drawn = sum(max(0.0, min(s.end, end) - max(s.start, start)) for s in strokes if s.at == at)
    return drawn >= COVERED_SHARE * (end - start)


def _cells(
    rows: int, columns: int, walls_below: set[tuple[int, int]], walls_right: set[tuple[int, int]]
) -> dict[tuple[int, int], tuple[int, int]]:
    """For each slot the slot its cell begins in. Slots without a wall between them are one cell."""
    cells: dict[tuple[int, int], tuple[int, int]] = {}
    for row in range(rows):
        for column in range(columns):
            if (row, column) in cells:
                continue
            right = column
            while right + 1 < columns and (row, right) not in walls_right and (row, right + 1) not in cells:
                right += 1
            bottom = row
            while bottom + 1 < rows and not any((bottom, c) in walls_below for c in range(column, right + 1)):
                bottom += 1
            for r in range(row, bottom + 1):
                for c in range(column, right + 1):
                    cells[r, c] = (row, column)
    return cells


def _table(grid: Grid, words: Sequence[PlacedText], free: set[int], shades: Sequence[Drawn]) -> Table | None:
    """The grid with its words, if it is a table. Rows and columns without any words are left out."""
    found: dict[tuple[int, int], list[int]] = {}
    for index in sorted(free):
        box = words[index].box
        cell = grid.cell_at((box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2)
        if cell is not None:
            found.setdefault(cell, []).append(index)
    if not found or max(map(len, found.values())) > MAX_CELL_WORDS:
        return None
    found = {part: ids for cell, inside in found.items() for part, ids in _unmerged(grid, cell, inside, words).items()}
    rows, columns = sorted({row for row, _ in found}), sorted({column for _, column in found})
    cells = {cell for (row, column), cell in grid.cells.items() if row in rows and column in columns}
    if len(columns) < 2 or len(found) < MIN_FILLED_SHARE * len(cells):
        return None
    filled: list[tuple[int, Row]] = []
    for row in rows:
        cells_in_row = tuple(tuple(found.get((row, column), ())) for column in columns)
        filled += [(row, part) for part in _records(cells_in_row, words)]
    if sum(1 for _, row in filled if sum(map(bool, row)) >= 2) < 2:
        return None
    header_rows = _header_rows([row for _, row in filled], words, [_row_shade(grid, at, shades) for at, _ in filled])
    if header_rows:
        spanned = max((_rows_spanned(grid, rows, cell) for cell in found if cell[0] == rows[0]), default=1)
        header_rows = min(max(header_rows, spanned), len(filled) - 1)
    return Table(tuple(row for _, row in filled), header_rows)


def _unmerged(
    grid: Grid, cell: tuple[int, int], inside: list[int], words: Sequence[PlacedText]
) -> dict[tuple[int, int], list[int]]:
    """A cell over several columns, cut between those where its text keeps clear of the line that is not drawn.

    Many tables rule the columns of their head and leave out the lines below.
    """
    row, column = cell
    end = column + 1
    while grid.cells.get((row, end)) == cell:
        end += 1
    parts: dict[tuple[int, int], list[int]] = {}
    begins = column
    rest = inside
    for boundary in range(column + 1, end):
        x = grid.xs[boundary]
        left = [i for i in rest if words[i].box.x1 <= x]
        right = [i for i in rest if words[i].box.x0 >= x]
        if left and right and len(left) + len(right) == len(rest) and _apart(left, right, words):
            parts[row, begins] = left
            begins, rest = boundary, right
        elif not left:
            begins = boundary
    parts[row, begins if _within(rest, grid.xs[begins : begins + 2], words) else column] = rest
    return parts


def _within(ids: list[int], edges: Sequence[float], words: Sequence[PlacedText]) -> bool:
    return all(edges[0] - SNAP_PT <= words[i].box.x0 and words[i].box.x1 <= edges[1] + SNAP_PT for i in ids)


def _apart(left: list[int], right: list[int], words: Sequence[PlacedText]) -> bool:
    """Whether more than a word space lies between words that stand beside each other."""
    for i in right:
        box = words[i].box
        beside = [words[j].box for j in left if words[j].box.overlap_height(box) > box.height / 2]
        if any(box.x0 - other.x1 < COLUMN_SPACE_SHARE * box.height for other in beside):
            return False
    return True


def _records(row: Row, words: Sequence[PlacedText]) -> list[Row]:
    """A row of several records that no line divides, as its records: told by figures, which never wrap."""
    lines = _text_lines([i for cell in row for i in cell], words)
    first = next(column for column, cell in enumerate(row) if cell)
    others = [column for column, cell in enumerate(row) if cell and column > first]
    if len(lines) < 2 or not others:
        return [row]
    records = [[tuple(i for i in cell if i in line) for cell in row] for line in lines]
    starts = [at for at, record in enumerate(records) if any(record[column] for column in others)]
    values = [" ".join(words[i].text for i in records[at][column]) for at in starts for column in others]
    figures = sum(1 for value in values if NUMBER.fullmatch(value) or NOTHING.fullmatch(value))
    labels = sum(1 for at in starts if records[at][first])
    if len(starts) < 2 or figures < FIGURES_SHARE * len(values) or labels < FIGURES_SHARE * len(starts):
        return [row]
    starts[0] = 0  # a label may begin above its figures
    return [
        tuple(tuple(i for record in records[start:end] for i in record[column]) for column in range(len(row)))
        for start, end in pairwise([*starts, len(records)])
    ]


def _text_lines(ids: list[int], words: Sequence[PlacedText]) -> list[set[int]]:
    lines: list[set[int]] = []
    middle = -1e9
    for i in sorted(ids, key=lambda i: words[i].box.y0 + words[i].box.y1):
        box = words[i].box
        here = (box.y0 + box.y1) / 2
        if here - middle > box.height / 2:
            lines.append(set())
            middle = here
        lines[-1].add(i)
    return lines


def _rows_spanned(grid: Grid, rows: list[int], cell: tuple[int, int]) -> int:
    return sum(1 for row in rows if grid.cells.get((row, cell[1])) == cell)


def _row_shade(grid: Grid, row: int, shades: Sequence[Drawn]) -> int | None:
    """The colour behind the middle of a row, None where none is painted. The last one painted is on top."""
    y = (grid.ys[row] + grid.ys[row + 1]) / 2
    colours = []
    for left, right in pairwise(grid.xs):
        x = (left + right) / 2
        under = [s.colour for s in shades if s.box.x0 <= x <= s.box.x1 and s.box.y0 <= y <= s.box.y1]
        colours.append(under[-1] if under else None)
    return max(set(colours), key=colours.count)


def _header_rows(rows: Sequence[Row], words: Sequence[PlacedText], shades: Sequence[int | None]) -> int:
    """How many of the first rows head the columns: by bold type, by shading, else by what stands in them."""
    bold = [all(words[i].bold for cell in row for i in cell) for row in rows]
    for marked in (bold, [shade == shades[0] != shades[-1] for shade in shades]):
        count = marked.index(False) if False in marked else 0
        if 0 < count <= MAX_HEADER_ROWS and count < len(rows):
            return count
    texts = [[" ".join(words[i].text for i in cell) for cell in row] for row in rows]
    first, rest = texts[0], texts[1:]
    if any(NUMBER.fullmatch(text) and not YEAR.fullmatch(text) for text in first):
        return 0
    numbers_below = any(NUMBER.fullmatch(text) for row in rest for text in row[1:])
    filled = sum(1 for text in first if text)
    if len(first) == 2:
        return int(numbers_below and filled == 2)
    return int(filled >= 2 and (numbers_below or filled == len(first)))
