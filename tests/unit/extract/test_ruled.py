"""Ruled tables are found in lines and words alone."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pincite.extract.ruled import Drawn, PlacedText, Table, ruled_tables
from pincite.model import Box

BLACK, GREY, WHITE = 0x000000, 0xCCCCCC, 0xFFFFFF
ROW_PT, COLUMN_PT, LEFT_PT, TOP_PT = 20.0, 100.0, 50.0, 100.0
CHAR_PT = 5.0


def across(y: float, x0: float, x1: float) -> Drawn:
    return Drawn(Box(x0, y - 0.5, x1, y + 0.5), BLACK, True)


def down(x: float, y0: float, y1: float) -> Drawn:
    return Drawn(Box(x - 0.5, y0, x + 0.5, y1), BLACK, True)


def grid(rows: int, columns: int) -> list[Drawn]:
    right, bottom = LEFT_PT + columns * COLUMN_PT, TOP_PT + rows * ROW_PT
    return [across(TOP_PT + row * ROW_PT, LEFT_PT, right) for row in range(rows + 1)] + [
        down(LEFT_PT + column * COLUMN_PT, TOP_PT, bottom) for column in range(columns + 1)
    ]


def text_at(text: str, x: float, y: float, bold: bool = False) -> list[PlacedText]:
    words = []
    for word in text.split():
        words.append(PlacedText(word, Box(x, y, x + CHAR_PT * len(word), y + 10), bold))
        x += CHAR_PT * (len(word) + 1)
    return words


def cells(rows: Sequence[Sequence[str]], bold_rows: int = 0) -> list[PlacedText]:
    return [
        word
        for at, row in enumerate(rows)
        for column, text in enumerate(row)
        for word in text_at(text, LEFT_PT + 4 + column * COLUMN_PT, TOP_PT + 5 + at * ROW_PT, at < bold_rows)
    ]


def found(table: Table, words: Sequence[PlacedText]) -> list[list[str]]:
    return [[" ".join(words[i].text for i in cell) for cell in row] for row in table.rows]


def only_table(words: Sequence[PlacedText], drawn: Sequence[Drawn]) -> list[list[str]]:
    (table,) = ruled_tables(words, drawn)
    return found(table, words)


LEDGER = [["Item", "Amount", "Due"], ["Rent", "1,200", "1 May"], ["Deposit", "2,400", "1 March"]]


def test_a_full_grid_is_a_table() -> None:
    assert only_table(cells(LEDGER), grid(3, 3)) == LEDGER


@settings(max_examples=50)
@given(st.data())
def test_whatever_stands_in_a_grid_is_found_cell_by_cell(data: st.DataObject) -> None:
    rows, columns = data.draw(st.integers(2, 6)), data.draw(st.integers(2, 5))
    texts = st.sampled_from(["Rent", "is due", "on the first", "1,200", "n/a"])
    content = [[data.draw(texts) for _ in range(columns)] for _ in range(rows)]
    assert only_table(cells(content), grid(rows, columns)) == content


def test_the_outer_lines_may_be_missing() -> None:
    right, bottom = LEFT_PT + 3 * COLUMN_PT, TOP_PT + 3 * ROW_PT
    inner = [across(TOP_PT + row * ROW_PT, LEFT_PT, right) for row in (1, 2)]
    inner += [down(LEFT_PT + column * COLUMN_PT, TOP_PT, bottom) for column in (1, 2)]
    assert only_table(cells(LEDGER), inner) == LEDGER


def test_dashed_and_doubled_lines_are_lines() -> None:
    dashed = [
        across(line.box.y0 + 0.5, x, min(x + 6, line.box.x1))
        for line in grid(3, 3)
        if line.box.width > 2
        for x in range(int(line.box.x0), int(line.box.x1), 8)
    ]
    doubled = [down(line.box.x0 + offset, line.box.y0, line.box.y1) for line in grid(3, 3)[4:] for offset in (0, 1.8)]
    assert only_table(cells(LEDGER), dashed + doubled) == LEDGER


def test_empty_cells_keep_their_place() -> None:
    rows = [["Item", "Amount", "Due"], ["Rent", "", "1 May"], ["", "2,400", "1 March"]]
    assert only_table(cells(rows), grid(3, 3)) == rows


def test_lines_in_a_cell_stay_in_it() -> None:
    words = cells([["Item", "Note"], ["Rent", "payable in"]])
    words += text_at("advance", LEFT_PT + 4 + COLUMN_PT, TOP_PT + ROW_PT + 17)
    drawn = [across(y, LEFT_PT, LEFT_PT + 200) for y in (TOP_PT, TOP_PT + ROW_PT, TOP_PT + 3 * ROW_PT)]
    drawn += [down(x, TOP_PT, TOP_PT + 3 * ROW_PT) for x in (LEFT_PT, LEFT_PT + 100, LEFT_PT + 200)]
    assert only_table(words, drawn) == [["Item", "Note"], ["Rent", "payable in advance"]]


def test_a_merged_heading_belongs_to_its_first_column() -> None:
    lines = [d for d in grid(3, 3) if not (d.box.height > 2 and d.box.x0 == LEFT_PT + 2 * COLUMN_PT - 0.5)]
    lines.append(down(LEFT_PT + 2 * COLUMN_PT, TOP_PT + ROW_PT, TOP_PT + 3 * ROW_PT))
    words = text_at("City", LEFT_PT + 4, TOP_PT + 5) + text_at("Cases in 2026", LEFT_PT + 166, TOP_PT + 5)
    words += cells([["", "", ""], ["", "N", "Share"], ["Bonn", "12", "3%"]])
    assert only_table(words, lines) == [["City", "Cases in 2026", ""], ["", "N", "Share"], ["Bonn", "12", "3%"]]


def test_a_column_that_is_ruled_in_the_head_only_is_still_a_column() -> None:
    lines = [d for d in grid(3, 3) if d.box.width > 2]
    lines += [down(LEFT_PT + column * COLUMN_PT, TOP_PT, TOP_PT + ROW_PT) for column in (1, 2)]
    lines += [down(LEFT_PT + column * COLUMN_PT, TOP_PT, TOP_PT + 3 * ROW_PT) for column in (0, 3)]
    assert only_table(cells(LEDGER), lines) == LEDGER


def test_records_that_no_line_divides_are_told_by_their_figures() -> None:
    lines = [across(TOP_PT + row * ROW_PT, LEFT_PT, LEFT_PT + 300) for row in (0, 1, 4)]
    lines += [down(LEFT_PT + column * COLUMN_PT, TOP_PT, TOP_PT + 4 * ROW_PT) for column in range(4)]
    rows = [["Country", "2025", "2026"], ["Austria", "86.2", "13.8"], ["Belgium", "0", "–"], ["Bulgaria", "1,136", "4"]]
    assert only_table(cells(rows), lines) == rows


def test_wrapped_text_is_not_cut_into_records() -> None:
    lines = [across(TOP_PT + row * ROW_PT, LEFT_PT, LEFT_PT + 200) for row in (0, 1, 3)]
    lines += [down(LEFT_PT + column * COLUMN_PT, TOP_PT, TOP_PT + 3 * ROW_PT) for column in range(3)]
    words = cells([["Who", "What"], ["the tenant of", "pays the rent"], ["the premises", "on time"]])
    assert only_table(words, lines) == [["Who", "What"], ["the tenant of the premises", "pays the rent on time"]]


def test_shaded_cells_without_lines_are_a_table() -> None:
    shades = [
        Drawn(
            Box(
                LEFT_PT + c * COLUMN_PT,
                TOP_PT + r * ROW_PT,
                LEFT_PT + (c + 1) * COLUMN_PT - 1,
                TOP_PT + (r + 1) * ROW_PT - 1,
            ),
            GREY,
            False,
        )
        for r in range(3)
        for c in range(3)
    ]
    assert only_table(cells(LEDGER), shades) == LEDGER


@pytest.mark.parametrize(
    "drawn",
    [
        [],
        grid(1, 1),
        grid(3, 1),
        grid(1, 3),
        [across(TOP_PT, LEFT_PT, 350), across(TOP_PT + 60, LEFT_PT, 350)],
        [down(LEFT_PT + 100, TOP_PT, TOP_PT + 60)],
    ],
    ids=["nothing drawn", "a frame", "one column", "one row", "two rules", "a rule between columns"],
)
def test_other_lines_make_no_table(drawn: list[Drawn]) -> None:
    assert ruled_tables(cells(LEDGER), drawn) == []


def test_a_chart_with_a_grid_and_few_words_is_no_table() -> None:
    assert ruled_tables(text_at("100", LEFT_PT + 4, TOP_PT + 5) + text_at("2026", LEFT_PT + 4, 190), grid(6, 6)) == []


def test_a_page_full_of_prose_in_a_grid_is_no_table() -> None:
    long = [word for n in range(60) for word in text_at("a b c d e f", LEFT_PT + 4, TOP_PT + 2 + n % 8)]
    assert ruled_tables(cells(LEDGER) + long, grid(3, 3)) == []


def test_two_tables_on_a_page_are_two_in_order() -> None:
    shift = 300.0
    lower = [
        Drawn(Box(d.box.x0, d.box.y0 + shift, d.box.x1, d.box.y1 + shift), d.colour, d.stroked) for d in grid(3, 3)
    ]
    words = cells(LEDGER)
    moved = [PlacedText(w.text, Box(w.box.x0, w.box.y0 + shift, w.box.x1, w.box.y1 + shift), w.bold) for w in words]
    tables = ruled_tables(words + moved, lower + grid(3, 3))
    assert [table.words for table in tables] == [list(range(len(words))), list(range(len(words), 2 * len(words)))]


@pytest.mark.parametrize(
    ("rows", "bold_rows", "header_rows"),
    [
        (LEDGER, 0, 1),
        ([["Rent", "1,200"], ["Deposit", "2,400"]], 0, 0),
        ([["Landlord", "A. Person"], ["Tenant", "B. Other"]], 0, 0),
        ([["Landlord", "Tenant"], ["A. Person", "B. Other"]], 1, 1),
        ([["", "2025", "2026"], ["Bonn", "1,100", "1,200"]], 0, 1),
        ([["5 %", "7", "9"], ["6 %", "8", "1"]], 0, 0),
        ([["Where", "", "When"], ["Street", "Town", "Year"], ["High St", "Bonn", "2026"]], 2, 2),
    ],
    ids=["words over figures", "figures only", "keys and values", "bold", "years", "all figures", "two bold rows"],
)
def test_the_rows_that_head_the_columns(rows: list[list[str]], bold_rows: int, header_rows: int) -> None:
    (table,) = ruled_tables(cells(rows, bold_rows), grid(len(rows), len(rows[0])))
    assert table.header_rows == header_rows


def test_a_shaded_first_row_heads_the_columns() -> None:
    rows = [["Landlord", "Tenant"], ["A. Person", "B. Other"], ["C. Third", "D. Fourth"]]
    shade = Drawn(Box(LEFT_PT, TOP_PT, LEFT_PT + 200, TOP_PT + ROW_PT), GREY, False)
    (table,) = ruled_tables(cells(rows), [*grid(3, 2), shade])
    assert table.header_rows == 1


def test_a_page_with_too_many_drawings_is_left_alone() -> None:
    assert ruled_tables(cells(LEDGER), grid(3, 3) * 3000) == []
