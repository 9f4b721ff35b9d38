"""Telling a text that goes in circles from one that repeats a word."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pincite.engine.llm import LONGEST_RUN_TOKENS, REPEAT_TOKENS, REPEATS, runs_in_circles

BEFORE = list(range(1000, 1040))


@given(length=st.integers(1, LONGEST_RUN_TOKENS))
def test_a_run_that_comes_again_and_again_is_found_as_soon_as_it_is_certain(length: int) -> None:
    run = list(range(length))
    enough = max(REPEATS, -(-REPEAT_TOKENS // length))
    assert runs_in_circles(BEFORE + run * enough)
    assert not runs_in_circles(BEFORE + (run * enough)[:-1])


@given(tokens=st.lists(st.integers(0, 10_000), unique=True))
def test_a_text_without_repetition_is_left_alone(tokens: list[int]) -> None:
    assert not runs_in_circles(tokens)


@pytest.mark.parametrize("tokens", [[], [5], [5, 5, 5], [7, 8] * 5, BEFORE * 2])
def test_saying_something_twice_is_allowed(tokens: list[int]) -> None:
    assert not runs_in_circles(tokens)
