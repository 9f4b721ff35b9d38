"""The nouns: boxes, and words as text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pincite.model import (
    Box,
    FileState,
    Filters,
    Ledger,
    LedgerEntry,
    Line,
    Page,
    Word,
    read_word,
    reading_text,
    union_of,
)
from tests.unit.paper import document, paragraph, set_words

EDGES = st.floats(0, 800, allow_nan=False)


@st.composite
def boxes(draw: st.DrawFn) -> Box:
    x0, x1 = sorted((draw(EDGES), draw(EDGES)))
    y0, y1 = sorted((draw(EDGES), draw(EDGES)))
    return Box(x0, y0, x1, y1)


@given(st.lists(boxes(), min_size=1, max_size=6))
@settings(deadline=None)
def test_a_union_covers_all_and_touches_the_outermost(some: list[Box]) -> None:
    whole = union_of(some)
    assert all(whole.covers(box, tolerance_pt=0) for box in some)
    assert whole.x0 in {box.x0 for box in some} and whole.y1 in {box.y1 for box in some}
    assert whole == union_of(reversed(some))


@given(boxes(), boxes())
@settings(deadline=None)
def test_shared_height_is_mutual_and_no_more_than_either_has(one: Box, other: Box) -> None:
    shared = one.overlap_height(other)
    assert shared == other.overlap_height(one)
    assert 0 <= shared <= min(one.height, other.height)


def test_a_box_covers_another_give_or_take_a_point() -> None:
    box = Box(10, 10, 20, 20)
    assert box.covers(Box(9.5, 10, 20.5, 20))
    assert not box.covers(Box(8, 10, 20, 20))
    assert not box.covers(Box(9.5, 10, 20, 20), tolerance_pt=0)


def test_no_boxes_have_no_union() -> None:
    with pytest.raises(ValueError):
        union_of([])


def test_words_are_read_with_what_follows_each_and_divided_ones_in_one() -> None:
    box = Box(0, 0, 1, 1)
    words = [Word("a", box, " | "), Word("contin-", box, "", True), Word("ues", box), Word("on", box, "\n")]
    assert reading_text(words) == "a | continues on"
    assert "".join(read_word(word) for word in words) == "a | continues on\n"
    assert reading_text([]) == ""


def test_the_words_of_spans_come_in_the_order_of_the_spans() -> None:
    read = document(paragraph("one two three"), paragraph("four five", new_page=True))
    spans = [*read.blocks[1].spans, *read.blocks[0].spans]
    assert [word.text for word in read.words_in(spans)] == ["four", "five", "one", "two", "three"]


def test_a_line_knows_its_text_and_box() -> None:
    line = Line(set_words("The rent", x=10, y=20, size=10), 10)
    assert (line.text, line.box) == ("The rent", Box(10, 20, 50, 30))


def test_a_page_without_a_printed_label_shows_its_number() -> None:
    assert Page(14, "xii", 1, 1, ()).shown_label == "xii"
    assert Page(14, "", 1, 1, ()).shown_label == "14"


def test_filters_are_true_when_anything_is_limited() -> None:
    assert not Filters()
    assert all(Filters(**{name: "x"}) for name in ("folder", "document", "type", "after", "before"))


def test_a_ledger_counts_the_states_that_occur() -> None:
    states = [FileState.READ, FileState.FAILED, FileState.READ]
    ledger = Ledger((), tuple(LedgerEntry(f"/{at}", "/", state, "") for at, state in enumerate(states)))
    assert ledger.counts == {"read": 2, "failed": 1}
