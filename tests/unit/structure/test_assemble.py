"""Lines into blocks: paragraphs, words divided at line ends, tables and sentences that go over a page."""

from __future__ import annotations

import pytest

from pincite.model import BlockKind, Line, reading_text
from tests.unit.paper import Told, column, line, page, read, table, text_of, texts, told

FOOT = 780.0


def paragraphs(text: str) -> list[str]:
    return texts(read(page(column(text))))


# Paragraphs


def test_lines_below_each_other_are_one_paragraph_until_a_gap() -> None:
    assert paragraphs("The rent is paid\nevery quarter.\n\nThe roof is kept\nin repair.") == [
        "The rent is paid every quarter.",
        "The roof is kept in repair.",
    ]


def test_a_full_stop_on_a_short_line_ends_a_paragraph() -> None:
    text = "The Tenant pays the rent in advance on each quarter\nday.\nThe Landlord keeps the roof and the walls dry."
    assert len(paragraphs(text)) == 2


def test_an_indented_line_begins_a_paragraph() -> None:
    lines = [
        *column(
            "The rent is paid in four equal parts on the days\nnamed in the second schedule, always in advance now."
        ),
        line("The roof is kept in repair by the Landlord.", x=90, y=174),
    ]
    assert len(texts(read(page(lines)))) == 2


def test_a_clause_with_a_hanging_number_goes_on_after_a_full_stop_at_the_line_end() -> None:
    lines = [
        line("7.1", y=150),
        line("The Tenant makes no structural alteration to any of it.", x=102, y=150),
        line("It may make other alterations if the Landlord agrees.", x=102, y=162),
    ]
    assert len(texts(read(page(lines)))) == 1


def test_a_clause_with_a_hanging_number_ends_where_the_next_word_would_have_fitted() -> None:
    lines = [
        line("1.1", y=150),
        line("In this lease the following words mean:", x=102, y=150),
        line("“Break Date” means the last day of March 2027.", x=102, y=162),
    ]
    assert len(texts(read(page(lines)))) == 2


# Line ends


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        ("the lease contin-\nues until March", "the lease continues until March"),
        ("the lease contin\u00ad\nues until March", "the lease continues until March"),
        ("the Anglo-\nSaxon law", "the Anglo-Saxon law"),
        ("kept from 2019-\n2024 and on", "kept from 2019-2024 and on"),
        ("the order BW-\n1604 was late", "the order BW-1604 was late"),
        ("rules for part-\nand full-time staff", "rules for part- and full-time staff"),
        ("it was late -\nand dear", "it was late - and dear"),
    ],
)
def test_what_a_hyphen_at_a_line_end_becomes(lines: str, text: str) -> None:
    assert paragraphs(lines) == [text]


def test_a_word_that_the_document_has_with_its_hyphen_keeps_it() -> None:
    assert paragraphs("a long-term plan is best\nand no other than a long-\nterm one will do") == [
        "a long-term plan is best and no other than a long-term one will do"
    ]


def test_a_hyphen_between_two_words_of_the_document_is_kept() -> None:
    text = "in part of the time he is here\nand he is here for part-\ntime work, and for no other"
    assert "for part-time work" in paragraphs(text)[0]


def test_a_word_that_the_document_has_in_one_is_joined_though_its_halves_are_words() -> None:
    text = "he may pay over the counter and his overpay is due\nto him as is all that was over-\npay and so on for ever"
    assert "that was overpay and" in paragraphs(text)[0]


def test_both_halves_of_a_divided_word_keep_their_boxes() -> None:
    document = read(page(column("the lease contin-\nues until March")))
    halves = [word for word in document.pages[0].words if word.text in ("contin-", "ues")]
    assert [word.joined for word in halves] == [True, False]
    assert halves[0].box.y0 < halves[1].box.y0 and halves[0].box.x0 > halves[1].box.x0


def test_a_line_of_a_file_without_pages_ends_in_no_division() -> None:
    """Such a file was wrapped by its reader, between words only: "pre- and" had a space."""
    lines = [
        line("rules for pre-", y=150, kind=BlockKind.PARAGRAPH, group=1),
        line("historic finds", y=162, kind=BlockKind.PARAGRAPH, group=1),
    ]
    assert texts(read(page(lines))) == ["rules for pre- historic finds"]


def test_blocks_end_in_line_ends_and_lines_inside_them_in_spaces() -> None:
    document = read(page(column("The rent is\npaid.\n\nThe roof is kept.")))
    assert reading_text(document.pages[0].words) == "The rent is paid.\nThe roof is kept."


# Over pages and columns


def over(first: str, second: str, **between: Line) -> list[str]:
    return texts(read(page(column(first, y=700), *between.values()), page(column(second))))


def test_a_sentence_goes_on_over_the_page() -> None:
    assert over("After a call-out there are eleven hours of rest and\nthe hours that are lost", "are paid.") == [
        "After a call-out there are eleven hours of rest and the hours that are lost are paid."
    ]


def test_a_sentence_goes_on_over_the_page_with_a_name_or_a_figure() -> None:
    """A line that is as wide as those above it and has no stop was not the last of its paragraph."""
    first = (
        "The notice is sent to the agents of the owner, to the\noffice at 2 Customs House, and to the secretaries of"
    )
    assert len(over(first, "Brackwater Instruments Ltd in Aldersea.")) == 1
    assert len(over(first, "12 other tenants.")) == 1


def test_a_short_line_without_a_stop_is_not_continued_by_a_name() -> None:
    assert len(over("Signed on the second day of March by both of them:\nfor the Landlord", "Ann Archer")) == 2


def test_a_paragraph_that_ended_is_not_continued() -> None:
    assert len(over("The rent is paid.", "the roof is kept.")) == 2


def test_a_sentence_goes_on_past_the_footnotes_of_its_page() -> None:
    note = line("1 See the second schedule", y=FOOT, size=8)
    document = read(
        page(column("The rent¹ is paid to the agents of the owner or\nto whoever else is", y=700), note),
        page(column("named by the owner.")),
    )
    assert told(document) == [
        Told(
            BlockKind.PARAGRAPH,
            "The rent¹ is paid to the agents of the owner or to whoever else is named by the owner.",
        ),
        Told(BlockKind.FOOTNOTE, "1 See the second schedule", number="1"),
    ]


def test_a_stated_paragraph_goes_on_over_the_page() -> None:
    first = line("The tank is ordered from Hallam", y=770, kind=BlockKind.PARAGRAPH, group=5)
    second = line("Steel of Port Sallow.", y=60, kind=BlockKind.PARAGRAPH, group=5)
    third = line("Nobody else was asked.", y=80, kind=BlockKind.PARAGRAPH, group=6)
    assert texts(read(page(first), page(second, third))) == [
        "The tank is ordered from Hallam Steel of Port Sallow.",
        "Nobody else was asked.",
    ]


# Tables


def test_a_table_over_two_pages_is_one_and_its_repeated_header_is_set_apart() -> None:
    document = read(
        page(line("Table 1. Fees", y=640), table("Name | Fee", "Anna | 20", "Ben | 30", y=660)),
        page(table("Name | Fee", "Cleo | 40", y=60), line("The fees are paid in May.", y=200)),
    )
    assert texts(document) == [
        "Table 1. Fees",
        "Name | Fee\nAnna | 20\nBen | 30\nCleo | 40",
        "The fees are paid in May.",
    ]
    assert texts(document, furniture=True) == ["Name | Fee"]
    block = next(block for block in document.blocks if block.kind is BlockKind.TABLE)
    assert block.header_rows == 1
    assert [reading_text(document.words_in(row)) for row in block.rows] == [
        "Name | Fee",
        "Anna | 20",
        "Ben | 30",
        "Cleo | 40",
    ]


def test_a_table_goes_on_without_a_repeated_header_and_over_three_pages() -> None:
    document = read(
        page(table("Name | Fee", "Anna | 20", y=700)),
        page(table("Ben | 30", "Cleo | 40", header_rows=0, y=60)),
        page(table("Name | Fee", "Dora | 50", y=60)),
    )
    assert texts(document) == ["Name | Fee\nAnna | 20\nBen | 30\nCleo | 40\nDora | 50"]


@pytest.mark.parametrize(
    "second",
    [
        table("Name | Town", "Anna | Aldersea", y=60),
        table("Name | Fee | Town", "Anna | 20 | Aldersea", y=60),
        [line("So much for fees.", y=60), *table("Name | Fee", "Cleo | 40", y=90)],
    ],
)
def test_another_table_on_the_next_page_stays_another(second: list[Line]) -> None:
    document = read(page(table("Name | Fee", "Anna | 20", y=700)), page(second))
    assert sum(block.kind is BlockKind.TABLE for block in document.blocks) == 2
    assert texts(document, furniture=True) == []


def test_two_tables_on_one_page_stay_two() -> None:
    both = [*table("Name | Fee", "Anna | 20"), *table("Name | Fee", "Ben | 30", y=300, group=10)]
    assert len(texts(read(page(both)))) == 2


def test_cells_without_words_do_not_end_a_table() -> None:
    """The reader marks each border, so a row has as many as the header whatever is in its cells."""
    document = read(
        page(table("Name | Fee | Town", "Anna | 20 | Aldersea")), page(table("Ben | | Wick", header_rows=0))
    )
    assert text_of(document, document.blocks[0]).endswith("Ben |  | Wick")
