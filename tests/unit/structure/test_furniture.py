"""Running headers, footers and page numbers: set apart, and nothing else with them."""

from __future__ import annotations

import pytest

from pincite.model import BlockKind, Line
from tests.unit.paper import column, line, page, read, table, texts

FOOT = 800.0  # within the lower margin
HEAD = 40.0


def body(about: str) -> list[Line]:
    return column(f"This page is about {about}\nand says a little more of it.")


def test_headers_footers_and_page_numbers_are_set_apart() -> None:
    pages = [
        page(line("Staff Handbook", y=HEAD), body(about), line("Brackwater Ltd", y=FOOT), line(f"{at}", x=500, y=FOOT))
        for at, about in enumerate(("leave", "pay", "tools"), 1)
    ]
    document = read(*pages)
    assert texts(document, furniture=True) == [
        text for at in (1, 2, 3) for text in ("Staff Handbook", "Brackwater Ltd", f"{at}")
    ]
    assert texts(document)[0] == "This page is about leave and says a little more of it."


@pytest.mark.parametrize(
    "numbered",
    ["Page {}", "– {} –", "{} of 12", "Sheet {} / 12", "Handbook 2025 | {}", "Fourth edition {}"],
)
def test_a_footer_that_counts_the_pages_is_set_apart(numbered: str) -> None:
    pages = [page(body("leave"), line(numbered.format(at), y=FOOT)) for at in (4, 5, 6)]
    assert texts(read(*pages), furniture=True) == [numbered.format(at) for at in (4, 5, 6)]


def test_roman_page_numbers_count_the_pages_too() -> None:
    pages = [page(body("leave"), line(f"Preface {number}", y=FOOT)) for number in ("iii", "iv", "v")]
    assert texts(read(*pages), furniture=True) == ["Preface iii", "Preface iv", "Preface v"]


def test_a_single_page_loses_only_its_number() -> None:
    document = read(page(line("Dear Sir or Madam", y=HEAD), body("us"), line("- 1 -", y=FOOT)))
    assert texts(document, furniture=True) == ["- 1 -"]
    assert texts(document)[0] == "Dear Sir or Madam"


def test_a_word_made_of_the_letters_of_roman_numbers_is_no_page_number() -> None:
    assert texts(read(page(line("civil", y=HEAD), body("courts"))), furniture=True) == []


def test_a_header_that_names_the_section_is_set_apart_though_its_words_differ() -> None:
    names = ["Welcome", "Working time", "Leave", "Pay", "Safety", "Leaving"]
    pages = [page(line(name, y=HEAD, size=8), body(name)) for name in names]
    assert texts(read(*pages), furniture=True) == names


def test_headings_that_open_chapters_at_the_head_of_their_pages_stay_headings() -> None:
    names = ["Welcome", "Working time", "Leave", "Pay", "Safety", "Leaving"]
    document = read(*(page(line(name, y=60, size=18), body(name)) for name in names))
    assert texts(document, furniture=True) == []
    assert [block.kind for block in document.blocks][::2] == [BlockKind.HEADING] * 6


def test_clause_numbers_that_hang_beside_their_clauses_are_no_page_numbers() -> None:
    """Each page begins with a clause whose number stands in a line of its own, at the same place on every page."""
    pages = [
        page(line(number, y=77), line(f"The Tenant keeps the {what} clean.", x=102, y=77), body("more"))
        for number, what in (("2.2", "yard"), ("6.3", "stairs"), ("6.4", "lift"))
    ]
    document = read(*pages)
    assert texts(document, furniture=True) == []
    assert [block.number for block in document.blocks if block.number] == ["2.2", "6.3", "6.4"]


@pytest.mark.parametrize("number", ["12", "iv"])
def test_a_figure_in_the_last_row_of_a_page_is_no_page_number(number: str) -> None:
    document = read(page(body("sales"), line("North", y=FOOT), line(number, x=300, y=FOOT)))
    assert texts(document, furniture=True) == []
    assert texts(document)[-1] == f"North {number}"


def test_a_row_of_figures_alone_at_the_foot_is_kept() -> None:
    document = read(page(body("sales"), line("120", y=FOOT), line("135", x=300, y=FOOT)))
    assert texts(document, furniture=True) == []


def test_a_column_of_figures_that_ends_at_the_foot_keeps_its_last_one() -> None:
    figures = [line(f"{at * 7}", y=FOOT - 12 * (5 - at)) for at in range(6)]
    assert texts(read(page(body("sales"), figures)), furniture=True) == []


def test_rows_that_differ_in_their_figures_alone_are_kept() -> None:
    """A statement runs to the foot of both pages, with the same words at the same heights."""
    first = page(body("May"), line("03/05 Card payment 12.00", y=FOOT), line("04/05 Card payment 8.50", y=FOOT + 12))
    second = page(body("June"), line("21/06 Card payment 7.25", y=FOOT), line("22/06 Card payment 5.00", y=FOOT + 12))
    assert texts(read(first, second), furniture=True) == []


def test_what_stands_at_the_foot_of_a_few_of_many_pages_is_kept() -> None:
    notes = {2: "See the plan overleaf", 5: "Signed copies are kept", 9: "Not to scale"}
    pages = [page(body("leave"), *([line(notes[at], y=FOOT)] if at in notes else [])) for at in range(12)]
    document = read(*pages)
    assert texts(document, furniture=True) == []
    assert set(notes.values()) <= set(texts(document))


def test_lines_whose_kind_the_file_states_are_never_set_apart() -> None:
    stated = [
        page(line("Totals", y=HEAD, kind=BlockKind.PARAGRAPH), table("A | B", "1 | 2", y=FOOT - 15)) for _ in range(3)
    ]
    assert texts(read(*stated), furniture=True) == []
