"""Runs of words as boxes on pages: one for each printed line, none that covers what it should not."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from pincite.model import Box, Page, Region, Span, Word
from pincite.regions import regions_of_spans, regions_of_words
from tests.unit.paper import box_of, passage, set_words


def pages(*words: tuple[Word, ...]) -> dict[int, Page]:
    labels = ["i", "ii", ""]
    return {at: Page(at, labels[at - 1], 595, 842, found) for at, found in enumerate(words, 1)}


def test_each_line_has_one_box_around_its_words() -> None:
    first, second = set_words("The rent is paid", y=100), set_words("in advance.", y=112)
    (region,) = regions_of_spans(pages(first + second), [Span(1, 1, 6)])
    assert region == Region(1, "i", (box_of(first[1:]), box_of(second)))


def test_words_over_two_pages_make_two_regions_with_their_labels() -> None:
    read = pages(set_words("The rent", y=700), set_words("is paid.", y=60), set_words("The end."))
    regions = regions_of_spans(read, [Span(1, 0, 2), Span(2, 0, 1), Span(3, 1, 2)])
    assert [(region.page, region.label) for region in regions] == [(1, "i"), (2, "ii"), (3, "3")]
    assert regions[1].boxes == (read[2].words[0].box,)


def test_a_divided_word_is_covered_on_both_lines() -> None:
    words = (Word("contin-", Box(480, 100, 520, 110), "", True), Word("ues", Box(72, 112, 90, 122)))
    (region,) = regions_of_spans(pages(words), [Span(1, 0, 2)])
    assert region.boxes == (words[0].box, words[1].box)


def test_words_of_one_height_in_two_columns_are_not_covered_by_one_box() -> None:
    words = (*set_words("end of left.", x=72, y=100), *set_words("Start of right", x=330, y=100))
    (region,) = regions_of_spans(pages(words), [Span(1, 0, 6)])
    assert region.boxes == (box_of(words[:3]), box_of(words[3:]))


def test_a_small_raised_word_belongs_to_its_line() -> None:
    words = (Word("rent", Box(72, 100, 92, 110)), Word("1", Box(93, 98, 96, 104)), Word("is", Box(98, 100, 108, 110)))
    (region,) = regions_of_spans(pages(words), [Span(1, 0, 3)])
    assert region.boxes == (Box(72, 98, 108, 110),)


def test_the_words_of_a_passage_know_their_pages() -> None:
    found = passage("The rent is", "paid quarterly.", page=4, label="iv", next_page_from=1)
    regions = regions_of_words(found, 1, 4)
    assert regions == (
        Region(4, "iv", (box_of(found.words[1:3]),)),
        Region(5, "iv", (found.words[3].box,)),
    )


def test_no_words_have_no_region() -> None:
    assert regions_of_words(passage("The rent is paid."), 2, 2) == ()
    assert regions_of_spans({}, []) == ()


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 30)), min_size=1, max_size=20))
@settings(deadline=None)
def test_every_word_is_covered_and_no_box_reaches_beyond_its_words(at: list[tuple[int, int]]) -> None:
    words = tuple(Word("rent", Box(20 * x, 12 * y, 20 * x + 18, 12 * y + 10)) for y, x in at)
    (region,) = regions_of_spans(pages(words), [Span(1, 0, len(words))])
    assert all(any(box.covers(word.box, tolerance_pt=0) for box in region.boxes) for word in words)
    for box in region.boxes:
        assert box == box_of(word for word in words if box.covers(word.box, tolerance_pt=0))
