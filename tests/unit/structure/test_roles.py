"""What lines are: headings and their levels, clauses, list items, captions, footnotes, code."""

from __future__ import annotations

import pytest

from pincite.model import BlockKind, OutlineEntry
from tests.unit.paper import HEIGHT, Told, column, line, page, read, text_of, told

BODY = "The Tenant pays the Rent in four equal parts\nand the Landlord keeps the roof in repair."
BODY_READ = BODY.replace("\n", " ")


def first_of(text: str, *, size: float = 10.0, bold: bool = False, outline: tuple[OutlineEntry, ...] = ()) -> Told:
    """What `text` is when it stands above a paragraph."""
    return told(read(page(line(text, y=120, size=size, bold=bold), column(BODY)), outline=outline))[0]


# Headings


def test_larger_type_makes_headings_and_the_larger_the_higher() -> None:
    document = read(
        page(
            line("Handbook", y=100, size=20),
            line("Leave", y=130, size=14),
            column(BODY, y=160),
            line("Pay", y=220, size=14),
            column(BODY, y=250),
        )
    )
    assert [(block.kind, block.level, block.text) for block in told(document)] == [
        (BlockKind.HEADING, 1, "Handbook"),
        (BlockKind.HEADING, 2, "Leave"),
        (BlockKind.PARAGRAPH, 0, BODY_READ),
        (BlockKind.HEADING, 2, "Pay"),
        (BlockKind.PARAGRAPH, 0, BODY_READ),
    ]


def test_bold_lines_and_named_divisions_are_headings() -> None:
    assert first_of("Rent and deposit", bold=True).kind is BlockKind.HEADING
    assert first_of("Schedule 2").kind is BlockKind.HEADING
    assert first_of("Article IV Termination").kind is BlockKind.HEADING


@pytest.mark.parametrize(
    "text", ["The whole of this sentence is bold.", "and so on and so forth;", "section 4 applies", "— 1.250 —"]
)
def test_sentences_and_figures_are_no_headings(text: str) -> None:
    assert first_of(text, bold=text[0] == "T").kind is not BlockKind.HEADING


@pytest.mark.parametrize("text", ["• Bring your own mug", "- Bring your own mug"])
def test_a_bold_or_large_item_of_a_list_is_an_item(text: str) -> None:
    assert first_of(text, bold=True).kind is BlockKind.LIST_ITEM
    assert first_of(text, size=14).kind is BlockKind.LIST_ITEM


def test_a_printed_number_gives_the_depth_where_type_does_not() -> None:
    assert first_of("4 Rent", bold=True).level == 1
    assert first_of("4.2 Interest", bold=True) == Told(BlockKind.HEADING, "4.2 Interest", 2, "4.2")
    assert first_of("4.2.1 Late payment", bold=True).level == 3


def test_the_outline_is_believed_before_the_type() -> None:
    outline = (OutlineEntry(1, "Money", 1), OutlineEntry(3, "rent  and DEPOSIT", 1))
    assert first_of("Rent and deposit", outline=outline) == Told(BlockKind.HEADING, "Rent and deposit", 3)
    assert first_of("Something else", bold=True, outline=outline).level == 4  # below all that the outline has


def test_an_entry_of_the_outline_names_a_heading_on_its_own_page_only() -> None:
    assert first_of("Rent and deposit", outline=(OutlineEntry(1, "Rent and deposit", 2),)).kind is BlockKind.PARAGRAPH


@pytest.mark.parametrize(
    ("printed", "entry"), [("2 Rent", "Rent"), ("2.3 Rent", "Rent"), ("Rent", "2.3 Rent"), ("2. Rent", "2 Rent")]
)
def test_the_outline_need_not_repeat_the_numbers(printed: str, entry: str) -> None:
    assert first_of(printed, bold=True, outline=(OutlineEntry(1, "A", 1), OutlineEntry(2, entry, 1))).level == 2


def test_a_heading_over_two_lines_is_one_and_found_in_the_outline() -> None:
    outline = (OutlineEntry(1, "What the company expects from all who work for it", 1), OutlineEntry(2, "Rent", 1))
    lines = [
        line("What the company expects", y=100, size=14, group=1),
        line("from all who work for it", y=116, size=14, group=1),
    ]
    found = told(read(page(lines, column(BODY)), outline=outline))
    assert found[0] == Told(BlockKind.HEADING, "What the company expects from all who work for it", 1)
    assert len(found) == 2


def test_two_headings_below_each_other_stay_two() -> None:
    lines = [line("1. Rent", y=100, size=14, group=1), line("1.1 When it is due", y=116, size=14, group=1)]
    assert [block.text for block in told(read(page(lines, column(BODY))))][:2] == ["1. Rent", "1.1 When it is due"]


# Contents pages


def test_entries_of_a_contents_page_are_neither_headings_nor_clauses() -> None:
    entries = """
1 Welcome . . . . . . . . . . . 1
1.1 Who it is for . . . . . . . 2
2.4 Working from home ......... 12
Schedule 1 ____________________ iv
"""
    found = told(read(page(line("Contents", y=100, size=16), column(entries))))
    assert [(block.kind, block.number) for block in found[1:]] == [(BlockKind.PARAGRAPH, "")] * 4
    assert found[2].text == "1.1 Who it is for . . . . . . . 2"


def test_an_entry_without_dots_is_known_by_the_outline() -> None:
    outline = (OutlineEntry(1, "3 Leave and absence", 5),)
    assert first_of("3 Leave and absence 5", bold=True, outline=outline).kind is BlockKind.PARAGRAPH
    assert first_of("3 Leave and absence 5", bold=True).kind is BlockKind.HEADING


def test_a_blank_to_be_filled_in_does_not_break_its_sentence() -> None:
    found = told(read(page(column("This lease is made with\n_______________ of Aldersea, who\npays for it."))))
    assert [block.text for block in found] == ["This lease is made with _______________ of Aldersea, who pays for it."]


# Clauses and lists


def test_numbered_clauses_and_their_parts() -> None:
    text = """
7.1 The Tenant may not alter the walls.
7.2 The Tenant may with consent:
(a) put up shelves and benches;
(b) paint the rooms.
7.10.2 Consent is given in writing.
A.3 See the plan.
"""
    paragraph, item = BlockKind.PARAGRAPH, BlockKind.LIST_ITEM
    assert [(block.kind, block.number) for block in told(read(page(column(text))))] == [
        (paragraph, "7.1"),
        (paragraph, "7.2"),
        (item, "(a)"),
        (item, "(b)"),
        (paragraph, "7.10.2"),
        (paragraph, "A.3"),
    ]


@pytest.mark.parametrize("marks", ["1. 2. 3.", "1) 2) 3)", "a) b) c)", "(i) (ii) (iii)", "• • •", "- - -", "4. 5. 6."])
def test_items_of_a_list_stay_apart_with_or_without_stops(marks: str) -> None:
    """None of these items ends with a full stop, and the first is as wide as the page's text."""
    ends = ["a thing that takes the width of the whole line", "another thing", "one more thing"]
    items = [f"{mark} {end}" for mark, end in zip(marks.split(), ends, strict=True)]
    found = told(read(page(column("\n".join(("You need the following", *items))))))
    assert [block.text for block in found] == ["You need the following", *items]
    assert all(block.kind is BlockKind.LIST_ITEM for block in found[1:])


def test_an_item_goes_on_in_its_next_lines() -> None:
    lines = [
        line("• Bring your own mug, since", y=150),
        line("there are none here.", x=82, y=162),
        line("• Leave it clean.", y=174),
    ]
    found = told(read(page(lines)))
    assert [block.text for block in found] == ["• Bring your own mug, since there are none here.", "• Leave it clean."]


@pytest.mark.parametrize("carried", ["13.2 per cent more than", "30. It is more than", "12) that is higher than"])
def test_a_figure_carried_over_to_the_next_line_is_no_clause(carried: str) -> None:
    text = f"Revenue rose in the second quarter by about\n{carried} it was\na year ago."
    found = told(read(page(column(text))))
    assert [(block.kind, block.number) for block in found] == [(BlockKind.PARAGRAPH, "")]


def test_a_clause_after_a_line_without_a_stop_is_a_clause() -> None:
    text = "7.1 Definitions and other words of use\n7.2 Rent\n7.3 Repair"
    assert [block.number for block in told(read(page(column(text))))] == ["7.1", "7.2", "7.3"]


# Captions, footnotes, code


@pytest.mark.parametrize("text", ["Table 3: Fees by class", "Figure A2. The quay", "Fig. 12 – Income"])
def test_captions(text: str) -> None:
    assert first_of(text).kind is BlockKind.CAPTION


def test_a_sentence_about_a_table_is_no_caption() -> None:
    assert first_of("Table 3 shows what each class costs").kind is BlockKind.PARAGRAPH


def test_small_numbered_lines_at_the_foot_are_footnotes() -> None:
    lines = [*column(BODY), line("1 Approved by the directors", y=700, size=8), line("on 9 December.", y=709.6, size=8)]
    found = told(read(page(lines)))
    assert found[-1] == Told(BlockKind.FOOTNOTE, "1 Approved by the directors on 9 December.", number="1")


def test_small_figures_at_the_foot_are_no_footnote() -> None:
    """They are what stands beside the bars of a chart."""
    found = told(read(page(column(BODY), line("720 742 731 770", y=0.8 * HEIGHT, size=8))))
    assert found[-1].kind is BlockKind.PARAGRAPH


def test_code_keeps_its_lines() -> None:
    text = "[uplink]\nattempts = 8\nfirst_wait_s = 5"
    found = told(read(page(line("It says:", y=130), column(text, mono=True), line("and no more.", y=200))))
    assert found[1] == Told(BlockKind.CODE, text)


def test_what_a_file_states_is_believed() -> None:
    lines = [
        line("7.1 not a clause", y=120, kind=BlockKind.PARAGRAPH, group=1),
        line("small heading", y=140, size=7, kind=BlockKind.HEADING, level=3, group=2),
        line("2025-06-01 INFO started", y=160, kind=BlockKind.CODE, group=3),
        line("2025-06-01 WARN slow", y=172, kind=BlockKind.CODE, group=3),
    ]
    document = read(page(lines))
    assert [(block.kind, block.level, block.number) for block in document.blocks] == [
        (BlockKind.PARAGRAPH, 0, ""),
        (BlockKind.HEADING, 3, ""),
        (BlockKind.CODE, 0, ""),
    ]
    assert text_of(document, document.blocks[2]) == "2025-06-01 INFO started\n2025-06-01 WARN slow"
