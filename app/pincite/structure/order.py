"""Reading order on a page: columns found by their gutter, then top to bottom, with whole tables kept together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median

from pincite.model import BlockKind, Box, Line, union_of
from pincite.structure.roles import LEADER

MIN_GUTTER_PT = 6.0
MIN_COLUMN_LINES = 4
# Narrower "columns" are labels, numbers or cells of an unruled table, which read across, not down.
MIN_WORDS_PER_LINE = 3.0
MAX_CROSSING_SHARE = 0.45
SAME_ROW_SHARE = 0.5
MAX_COLUMNS_DEPTH = 3


@dataclass(frozen=True, slots=True)
class Unit:
    """What is moved as one: a single line, or all rows of a table."""

    box: Box
    lines: tuple[Line, ...]

    @property
    def is_table(self) -> bool:
        return self.lines[0].kind is BlockKind.TABLE


@dataclass(frozen=True, slots=True)
class OrderedLine:
    """A line in reading order; `column` changes where reading jumps to another column."""

    line: Line
    column: int


def reading_order(lines: Sequence[Line]) -> list[OrderedLine]:
    """The lines of one page as they are read. Lines of a file that states its structure keep their order."""
    if lines and all(line.kind is not None and line.kind is not BlockKind.TABLE for line in lines):
        return [OrderedLine(line, 0) for line in lines]
    columns = _columns(_units(lines), depth=0)
    return [OrderedLine(line, at) for at, column in enumerate(columns) for line in _rows_merged(column)]


def _units(lines: Sequence[Line]) -> list[Unit]:
    tables: dict[int, list[Line]] = {}
    groups: dict[int, list[Unit]] = {}
    for line in lines:
        if line.kind is BlockKind.TABLE:
            tables.setdefault(line.group, []).append(line)
        else:
            groups.setdefault(line.group, []).append(Unit(line.box, (line,)))
    units = [unit for group in groups.values() for unit in _with_figures(group)]
    units.extend(Unit(union_of(row.box for row in rows), tuple(rows)) for rows in tables.values())
    return units


def _with_figures(group: list[Unit]) -> list[Unit]:
    """The reader's group with dots and figures joined to what they stand behind, so that they make no column."""
    joined: list[Unit] = []
    for row in _rows(group):
        for piece in row:
            if piece is row[0] or any(char.isalpha() for char in piece.lines[0].text):
                joined.append(piece)
            else:
                line = _joined([joined[-1].lines[0], piece.lines[0]])
                joined[-1] = Unit(line.box, (line,))
    return joined


def _columns(units: list[Unit], depth: int) -> list[list[Unit]]:
    """Units split into runs that are each read top to bottom, in order."""
    edge = _gutter(units) if depth < MAX_COLUMNS_DEPTH else None
    if edge is None:
        return [units] if units else []
    runs: list[list[Unit]] = []
    band: list[Unit] = []
    for unit in sorted(units, key=lambda u: (u.box.y0, u.box.x0)):
        if _crosses(unit, edge):
            runs += _band_columns(band, edge, depth)
            band = []
            if runs and all(_crosses(u, edge) for u in runs[-1]):
                runs[-1].append(unit)
            else:
                runs.append([unit])
        else:
            band.append(unit)
    return runs + _band_columns(band, edge, depth)


def _band_columns(band: list[Unit], edge: float, depth: int) -> list[list[Unit]]:
    left = [unit for unit in band if unit.box.x1 <= edge]
    right = [unit for unit in band if unit.box.x1 > edge]
    return _columns(left, depth + 1) + _columns(right, depth + 1)


def _crosses(unit: Unit, edge: float) -> bool:
    return unit.box.x0 < edge - 1 and unit.box.x1 > edge


def _gutter(units: list[Unit]) -> float | None:
    """The x where a right column begins, less the gutter's tail; None on a page that reads straight down."""
    if len(units) < 2 * MIN_COLUMN_LINES:
        return None
    best: tuple[int, float] | None = None
    for start in sorted({round(unit.box.x0, 1) for unit in units}):
        edge = start - MIN_GUTTER_PT
        left = [unit for unit in units if unit.box.x1 <= edge]
        right = [unit for unit in units if unit.box.x0 >= start - 1]
        crossing = len(units) - len(left) - len(right)
        if not (_is_column(left) and _is_column(right) and _side_by_side(left, right)):
            continue
        if crossing <= MAX_CROSSING_SHARE * len(units) and (best is None or crossing < best[0]):
            best = (crossing, edge)
    return best[1] if best else None


def _is_column(units: list[Unit]) -> bool:
    lines = [line for unit in units for line in unit.lines]
    if len(lines) < MIN_COLUMN_LINES:
        return False
    return median(_prose_words(line) for line in lines) >= MIN_WORDS_PER_LINE


def _prose_words(line: Line) -> float:
    """Words with letters in them. Dots by themselves and figures are no prose; an entry of a contents page is."""
    words = sum(1 for word in line.words if sum(char.isalpha() for char in word.text) >= 2)
    return max(words, MIN_WORDS_PER_LINE) if words and LEADER.search(line.text) else words


def _side_by_side(left: list[Unit], right: list[Unit]) -> bool:
    one, other = union_of(unit.box for unit in left), union_of(unit.box for unit in right)
    return one.overlap_height(other) >= 0.5 * min(one.height, other.height)


def _rows_merged(units: list[Unit]) -> list[Line]:
    """Units top to bottom, pieces of one printed line joined left to right."""
    merged: list[Line] = []
    for row in _rows(units):
        if row[0].is_table:
            merged.extend(row[0].lines)
        else:
            merged.append(_joined([unit.lines[0] for unit in row]))
    return merged


def _rows(units: list[Unit]) -> list[list[Unit]]:
    """Units top to bottom; those of one printed line together, left to right. A table is a row by itself."""
    rows: list[list[Unit]] = []
    for unit in sorted(units, key=lambda u: (u.box.y0, u.box.x0)):
        if rows and not unit.is_table and not rows[-1][-1].is_table and _same_row(rows[-1], unit):
            rows[-1].append(unit)
        else:
            rows.append([unit])
    return [sorted(row, key=lambda u: u.box.x0) for row in rows]


def _same_row(row: list[Unit], unit: Unit) -> bool:
    box = union_of(other.box for other in row)
    if any(min(other.box.x1, unit.box.x1) - max(other.box.x0, unit.box.x0) > 1 for other in row):
        return False
    return box.overlap_height(unit.box) >= SAME_ROW_SHARE * min(box.height, unit.box.height)


def _joined(pieces: list[Line]) -> Line:
    if len(pieces) == 1:
        return pieces[0]
    words = [
        replace(word, after=" ") if word is piece.words[-1] and piece is not pieces[-1] else word
        for piece in pieces
        for word in piece.words
    ]
    longest = max(pieces, key=lambda piece: sum(len(word.text) for word in piece.words))
    return replace(longest, words=tuple(words), bold=all(piece.bold for piece in pieces))
