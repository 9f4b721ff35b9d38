"""Lists of hits into one: fused, folded, reordered, grouped by section, and cut to what fits."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pincite.model import Span
from pincite.retrieve import (
    Candidate,
    Wording,
    folded,
    fused,
    grouped,
    interleaved,
    joined_spans,
    reranked,
    within_budget,
    wording_of,
)
from tests.unit.paper import passage

HITS = st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=8)


def tokens(text: str) -> int:
    return len(text.split())


def candidates(*chunks: str) -> list[Candidate]:
    return fused(chunks, ())


def order(found: list[Candidate]) -> str:
    return "".join(candidate.chunk for candidate in found)


# Wording


def test_a_first_question_is_searched_as_it_is_asked() -> None:
    assert wording_of("And it?", []) == Wording(("And it?",), "And it?")


@pytest.mark.parametrize(
    "question", ["Is it also paid in May and June?", "And what does the Landlord pay for water?", "Outside London?"]
)
def test_a_question_that_points_back_is_ranked_together_with_the_last_one(question: str) -> None:
    together = f"What is the hotel limit? {question}"
    assert wording_of(question, ["Who are you?", "What is the hotel limit?"]) == Wording(
        (question, together), together, rewritten=together
    )


def test_a_question_that_stands_alone_is_searched_both_ways_and_ranked_as_asked() -> None:
    question = "Who signs calibration certificates for turbidity probes?"
    assert wording_of(question, ["What is the rent?"]) == Wording((question, f"What is the rent? {question}"), question)


def test_rankings_take_turns_and_name_each_chunk_once() -> None:
    assert interleaved([["a", "b", "c"], ["b", "d"], []]) == ["a", "b", "d", "c"]
    assert interleaved([]) == []


# Fusion


def test_what_both_legs_found_comes_before_what_one_found_a_little_higher() -> None:
    found = fused(["a", "b"], ["c", "b"])
    assert order(found)[0] == "b"
    ranks = {one.chunk: (one.scores.lexical_rank, one.scores.dense_rank) for one in found}
    assert ranks == {"a": (1, None), "b": (2, 2), "c": (None, 1)}


def test_what_only_one_leg_found_stays_in_its_order() -> None:
    found = order(fused(["a", "b", "c"], ["d", "e"]))
    assert [chunk for chunk in found if chunk in "abc"] == ["a", "b", "c"]
    assert [chunk for chunk in found if chunk in "de"] == ["d", "e"]


@pytest.mark.parametrize(("lexical", "dense", "expected"), [([], [], ""), (["a"], [], "a"), ([], ["b", "a"], "ba")])
def test_one_leg_or_none_is_enough(lexical: list[str], dense: list[str], expected: str) -> None:
    assert order(fused(lexical, dense)) == expected


@given(HITS, HITS)
@settings(deadline=None)
def test_fusion_keeps_every_hit_once_and_the_better_in_both_is_never_behind(
    lexical: list[str], dense: list[str]
) -> None:
    found = fused(lexical, dense)
    assert sorted(order(found)) == sorted({*lexical, *dense})
    places = {candidate.chunk: at for at, candidate in enumerate(found)}
    for one in lexical:
        for other in lexical[lexical.index(one) + 1 :]:
            if one in dense and other in dense and dense.index(one) < dense.index(other):
                assert places[one] < places[other]


# Folding


def test_the_same_text_elsewhere_is_folded_into_the_best_of_its_kind() -> None:
    texts = {"a": "The rent is due.", "b": "Other.", "c": "the RENT\nis  due.", "d": "The rent is due."}
    found = folded(candidates("a", "b", "c", "d"), texts)
    assert [(candidate.chunk, candidate.duplicates) for candidate in found] == [("a", ("c", "d")), ("b", ())]


def test_texts_that_differ_in_one_figure_are_not_folded() -> None:
    texts = {"a": "The rent is £20.", "b": "The rent is £25."}
    assert order(folded(candidates("a", "b"), texts)) == "ab"


# The cross-encoder's vote


def test_the_cross_encoder_outvotes_one_leg_and_its_scores_and_the_ranks_are_kept() -> None:
    found = reranked(candidates("a", "b"), [-8.0, 4.5])
    assert order(found) == "ba"
    assert [candidate.scores.rerank for candidate in found] == [4.5, -8.0]
    assert [candidate.scores.lexical_rank for candidate in found] == [2, 1]


def test_what_both_legs_put_first_stays_first_when_the_cross_encoder_puts_it_second() -> None:
    """What the cross-encoder puts first here, both legs have far behind."""
    both = "abcdefgh"
    assert order(reranked(fused(both, both), [0.9, *[0.0] * 6, 1.0]))[0] == "a"


def test_those_beyond_the_scored_ones_follow_in_their_old_order() -> None:
    found = reranked(candidates("a", "b", "c", "d"), [-8.0, -2.0])
    assert order(found[2:]) == "cd"
    assert [candidate.scores.rerank for candidate in found[2:]] == [None, None]


def test_equal_scores_keep_the_order_of_fusion() -> None:
    assert order(reranked(candidates("a", "b", "c"), [1.0, 1.0, 1.0])) == "abc"


@given(HITS, HITS, st.lists(st.floats(-12, 12), max_size=8))
@settings(deadline=None)
def test_reordering_keeps_every_candidate_once_best_first(
    lexical: list[str], dense: list[str], scores: list[float]
) -> None:
    before = fused(lexical, dense)
    scores = scores[: len(before)]
    after = reranked(before, scores)
    assert sorted(order(after)) == sorted(order(before))
    totals = [candidate.scores.fused for candidate in after[: len(scores)]]
    assert totals == sorted(totals, reverse=True)


# Sections


SECTIONS = {"a": ("d1", 3), "b": ("d2", 3), "c": ("d1", 3), "d": ("d1", 4), "e": ("d2", 3)}


def test_chunks_of_one_section_stand_together_where_the_best_of_them_stood() -> None:
    found = grouped(candidates(*"abcde"), SECTIONS, depth=5)
    assert [(candidate.chunk, candidate.neighbours) for candidate in found] == [("a", ("c",)), ("b", ("e",)), ("d", ())]


def test_a_neighbour_far_down_the_list_adds_nothing() -> None:
    found = grouped(candidates(*"abcde"), SECTIONS, depth=4)
    assert [(candidate.chunk, candidate.neighbours) for candidate in found] == [("a", ("c",)), ("b", ()), ("d", ())]


def test_spans_are_joined_in_reading_order_with_each_word_once() -> None:
    spans = [Span(2, 0, 4), Span(1, 10, 20), Span(1, 5, 12), Span(1, 0, 2), Span(1, 20, 22)]
    assert joined_spans(spans) == (Span(1, 0, 2), Span(1, 5, 22), Span(2, 0, 4))


@given(st.lists(st.builds(lambda page, at, length: Span(page, at, at + length), *[st.integers(1, 9)] * 3), max_size=8))
@settings(deadline=None)
def test_joining_spans_neither_loses_nor_adds_a_word(spans: list[Span]) -> None:
    joined = joined_spans(spans)
    places = [(span.page, at) for span in joined for at in range(span.first, span.end)]
    assert places == sorted({(span.page, at) for span in spans for at in range(span.first, span.end)})


# The budget


def test_whole_passages_are_kept_while_they_fit_and_the_rest_is_named() -> None:
    found = [passage("one two three"), passage("four five six seven"), passage("eight nine")]
    kept, dropped = within_budget(found, 5, tokens)
    assert (kept, dropped) == ([found[0], found[2]], [found[1]])


def test_the_first_is_kept_even_if_it_alone_is_too_long() -> None:
    found = [passage("one two three"), passage("four")]
    assert within_budget(found, 2, tokens) == ([found[0]], [found[1]])
    assert within_budget([], 2, tokens) == ([], [])


@given(st.lists(st.integers(1, 9), max_size=8), st.integers(1, 30))
@settings(deadline=None)
def test_the_budget_is_kept_and_nothing_is_lost(lengths: list[int], budget: int) -> None:
    found = [passage(" ".join(["word"] * length), document=f"d{at}") for at, length in enumerate(lengths)]
    kept, dropped = within_budget(found, budget, tokens)
    assert sorted([*kept, *dropped], key=found.index) == found
    assert kept == sorted(kept, key=found.index)
    assert sum(tokens(one.text) for one in kept) <= budget or len(kept) == 1
