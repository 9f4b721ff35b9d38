"""Reading order: columns one after the other, tables whole, rows across."""

from __future__ import annotations

from pincite.model import Line
from tests.unit.paper import column, line, page, read, table, texts

LEFT_TEXT = """
The leave year runs from
April to March and days
that are left at its end
lapse at the end of June
unless a manager agrees
to carry them further on.
"""
RIGHT_TEXT = """
Expenses are claimed with
a receipt for each of the
payments and within thirty
days of spending the money
or else only if a director
agrees to pay them later.
"""


def one(text: str) -> str:
    return " ".join(text.split())


def order_of(*lines: Line | list[Line]) -> str:
    """The whole page as it is read."""
    return " ".join(texts(read(page(*lines))))


def test_two_columns_are_read_one_after_the_other() -> None:
    both = [*column(RIGHT_TEXT, x=310), *column(LEFT_TEXT)]
    assert order_of(both) == f"{one(LEFT_TEXT)} {one(RIGHT_TEXT)}"


def test_a_heading_across_two_columns_stands_before_and_a_note_across_them_after() -> None:
    document = read(
        page(
            line("How we deal with leave and with money", y=100, size=16),
            column(RIGHT_TEXT, x=310),
            column(LEFT_TEXT),
            line("This page was last changed in the spring of the year 2025 by the office.", y=300),
        )
    )
    assert texts(document)[0] == "How we deal with leave and with money"
    assert texts(document)[-1].startswith("This page was last changed")
    assert " ".join(texts(document)[1:-1]) == f"{one(LEFT_TEXT)} {one(RIGHT_TEXT)}"


def test_a_line_across_the_middle_divides_the_columns_into_two_bands() -> None:
    lower = 320
    read_text = order_of(
        column(LEFT_TEXT),
        column(RIGHT_TEXT, x=310),
        line("An announcement that crosses from the left side of the page to the right one.", y=280),
        column(LEFT_TEXT.replace("leave", "tax"), y=lower),
        column(RIGHT_TEXT.replace("Expenses", "Journeys"), x=310, y=lower),
    )
    places = [read_text.index(start) for start in ("The leave", "Expenses", "An announcement", "The tax", "Journeys")]
    assert places == sorted(places)


def test_three_columns() -> None:
    third = RIGHT_TEXT.replace("Expenses", "Journeys")
    read_text = order_of(column(LEFT_TEXT, x=40), column(RIGHT_TEXT, x=230), column(third, x=420))
    assert read_text == f"{one(LEFT_TEXT)} {one(RIGHT_TEXT)} {one(third)}"


def test_columns_of_labels_and_figures_read_across() -> None:
    labels = ["Rent", "Insurance", "Service charge", "Deposit", "Water", "Heating"]
    rows = [
        piece
        for at, label in enumerate(labels)
        for piece in (line(label, y=150 + 15 * at), line(f"£{at * 110}", x=320, y=150 + 15 * at))
    ]
    assert texts(read(page(rows))) == [" ".join(f"{label} £{at * 110}" for at, label in enumerate(labels))]


def test_a_contents_page_in_two_columns_is_read_down_each() -> None:
    names = [["Welcome", "Hours", "Leave", "Pay"], ["Safety", "Data", "Review", "Leaving"]]
    entries = [
        line(f"{at + 4 * side + 1}.1 {name} . . . . . {at}", x=72 + 240 * side, y=150 + 15 * at)
        for side, of_side in enumerate(names)
        for at, name in enumerate(of_side)
    ]
    assert [text.split()[1] for text in texts(read(page(entries)))] == [*names[0], *names[1]]


def test_the_dots_of_a_contents_page_are_read_with_their_entries() -> None:
    """In two columns, with the dots as lines of their own that come first, as a PDF may have it."""
    names = [["Welcome to you all", "Working time", "Leave", "Pay"], ["Safety at work", "Data", "Review", "Leaving"]]
    entries = [
        piece
        for side, of_side in enumerate(names)
        for at, name in enumerate(of_side)
        for piece in (
            line(f". . . . . {at}", x=200 + 240 * side, y=150 + 15 * at, group=10 * side + at),
            line(f"{at}.1 {name}", x=72 + 240 * side, y=150 + 15 * at, group=10 * side + at),
        )
    ]
    assert texts(read(page(entries))) == [
        f"{at}.1 {name} . . . . . {at}" for of_side in names for at, name in enumerate(of_side)
    ]


def test_a_number_that_hangs_before_its_paragraph_is_read_with_it() -> None:
    lines = [line("7.1", y=150), line("The Tenant pays the Rent", x=102, y=150), line("every quarter.", x=102, y=162)]
    document = read(page(lines))
    assert texts(document) == ["7.1 The Tenant pays the Rent every quarter."]
    assert document.blocks[0].number == "7.1"


def test_a_table_beside_nothing_stays_whole_between_its_paragraphs() -> None:
    lines = [line("Before it.", y=120), *table("Name | Fee", "Anna | 20", "Ben | 30"), line("After it.", y=260)]
    assert texts(read(page(lines))) == ["Before it.", "Name | Fee\nAnna | 20\nBen | 30", "After it."]


def test_a_table_inside_a_column_is_read_with_its_column() -> None:
    rows = table("Name | Fee", "Anna | 20", y=240)
    text = order_of(column(LEFT_TEXT), rows, column(RIGHT_TEXT + "and so\non and on\nuntil the end.\n", x=310))
    assert text.index("Anna") < text.index("Expenses")


def test_a_page_without_words_is_kept_and_has_none() -> None:
    document = read(page(), page(line("Something.")))
    assert [len(found.words) for found in document.pages] == [0, 1]
    assert [span.page for block in document.blocks for span in block.spans] == [2]
