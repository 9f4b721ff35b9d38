"""Where sentences end, in words."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pincite.model import Box, Word, reading_text
from pincite.sentences import sentence_bounds, sentences, word_offsets

BOX = Box(0, 0, 1, 1)
TOKENS = st.sampled_from(
    "The rent is 7. 7.2 (a) e.g. No. 5 “Yes.” paid. due! why? – J. Smith etc. 2024. は。 ende… 3.".split()
)
WORDS = st.lists(
    st.builds(
        Word,
        TOKENS,
        st.just(BOX),
        st.sampled_from([" ", " ", " ", "", "\n", " | "]),
        st.sampled_from([False, False, True]),
    ),
    max_size=30,
)


@pytest.mark.parametrize(
    "text",
    [
        "The rent is due. | It is paid quarterly.",
        "Is it due? | Yes! | So pay.",
        "The fee is £25. | The deposit is £50.",
        "It rose by 12. | It fell by 7.",
        "It is governed by clause 7. | Nothing else counts.",
        "See clause 7.2. | The Tenant pays.",
        "It was built in 1998. | Repairs followed.",
        "He said “No.” | She left.",
        "It ended (at last.) | Then we went.",
        "The rate rose by 3.5 per cent. | Wages did not.",
        "Wait… | Then it came.",
        "Он живёт здесь. | Она тоже.",
        "Η ενοικίαση λήγει. | Δεν ανανεώνεται.",
        "¿Quién paga? | ¡El inquilino!",
        "The list follows. | • Rent",
        "The fee rose. | £20 is due.",
        "It is governed by clause 7. | Maintenance is not.",
    ],
)
def test_a_stop_before_a_new_beginning_ends_a_sentence(text: str) -> None:
    assert sentences(text.replace("|", "")) == text.split(" | ")


@pytest.mark.parametrize(
    "text",
    [
        "Mr. Wilk of Ropewalk Estates Ltd. Aldersea pays.",
        "It was signed by J. Smith and by (K. Brown) of the bank.",
        "Use a mug, e.g. Your own.",
        "The invoice No. 5 is late.",
        "Art. 12 applies.",
        "7.2 The Tenant pays.",
        "7. The Tenant pays.",
        "(3) The Tenant pays.",
        "Section 12. Definitions",
        "Table 3. Fees of the second class",
        "Es beginnt am 3. Oktober und endet nie.",
        "The version is 3.4.1 of the firmware.",
        "It costs £1,250.00 a year.",
        "the end... and so on",
        "He asked why? and left.",
    ],
)
def test_other_stops_do_not(text: str) -> None:
    assert sentences(text) == [text]


def test_chinese_and_japanese_sentences_end_without_a_space() -> None:
    words = [Word("家賃は毎月支払う。", BOX, ""), Word("遅れると利息がつく。", BOX, ""), Word("Rent", BOX)]
    assert sentence_bounds(words) == [(0, 1), (1, 2), (2, 3)]


def test_line_breaks_end_sentences_and_white_space_inside_is_folded() -> None:
    assert sentences("ERROR   401 at\t12:00\n\nWARN slow\r\n") == ["ERROR 401 at 12:00", "WARN slow"]


def test_no_text_has_no_sentences() -> None:
    assert sentences(" \n ") == []
    assert sentence_bounds([]) == []


@given(WORDS)
@settings(deadline=None)
def test_sentences_cover_every_word_once_and_in_order(words: list[Word]) -> None:
    bounds = sentence_bounds(words)
    assert [at for first, end in bounds for at in range(first, end)] == list(range(len(words)))
    assert all(first < end for first, end in bounds)


@given(WORDS)
@settings(deadline=None)
def test_a_kept_line_break_is_never_inside_a_sentence(words: list[Word]) -> None:
    for first, end in sentence_bounds(words):
        assert not any("\n" in word.after for word in words[first : end - 1])


@given(WORDS)
@settings(deadline=None)
def test_a_sentence_found_by_itself_is_one_sentence(words: list[Word]) -> None:
    """What a quote shows is what the verifier sees of it."""
    for first, end in sentence_bounds(words):
        assert sentence_bounds(words[first:end]) == [(0, end - first)]


@given(WORDS)
@settings(deadline=None)
def test_offsets_say_where_each_word_begins_in_the_text(words: list[Word]) -> None:
    text = reading_text(words)
    for word, offset in zip(words, word_offsets(words), strict=True):
        printed = word.text[:-1] if word.joined else word.text
        assert text[offset : offset + len(printed)] == printed
