"""What is laid down in the store comes back as it was."""

from __future__ import annotations

import math

from hypothesis import given, settings
from hypothesis import strategies as st

from pincite.index.encoding import (
    packed_blocks,
    packed_spans,
    packed_words,
    unpacked_blocks,
    unpacked_spans,
    unpacked_words,
)
from pincite.model import Block, BlockKind, Box, Span, Word

edges = st.floats(-20_000, 20_000, width=32)
boxes = st.builds(Box, edges, edges, edges, edges)
texts = st.text(st.characters(), min_size=1, max_size=20)  # lone surrogates among them: broken files have such
words = st.builds(Word, texts, boxes, st.sampled_from([" ", "\n", " | ", ""]), st.booleans())
spans = st.lists(st.builds(Span, st.integers(1, 9_999), st.integers(0, 9_999), st.integers(0, 9_999)), max_size=4).map(
    tuple
)
blocks = st.builds(
    Block,
    st.sampled_from(BlockKind),
    spans,
    st.integers(0, 6),
    st.text(max_size=5),
    st.lists(spans, max_size=3).map(tuple),
    st.integers(0, 3),
)


@settings(deadline=None)
@given(st.lists(words))
def test_words_come_back_with_their_boxes(given_words: list[Word]) -> None:
    assert unpacked_words(packed_words(given_words)) == tuple(given_words)


def test_boxes_keep_the_precision_of_32_bits() -> None:
    [word] = unpacked_words(packed_words([Word("x", Box(72.1, 0.2, 1 / 3, 841.89))]))
    assert math.isclose(word.box.x0, 72.1, rel_tol=1e-6) and math.isclose(word.box.y1, 841.89, rel_tol=1e-6)


@settings(deadline=None)
@given(spans)
def test_spans_come_back(given_spans: tuple[Span, ...]) -> None:
    assert unpacked_spans(packed_spans(given_spans)) == given_spans


@settings(deadline=None)
@given(st.lists(blocks, max_size=5))
def test_blocks_come_back(given_blocks: list[Block]) -> None:
    assert unpacked_blocks(packed_blocks(given_blocks)) == tuple(given_blocks)


def test_a_word_costs_few_bytes() -> None:
    text = "the tenant shall pay the rent in advance on the first working day of each month".split()
    page = [
        Word(text[i % len(text)], Box(i * 3.7 % 500, i * 1.3, i * 3.7 % 500 + 20, i * 1.3 + 11)) for i in range(500)
    ]
    assert len(packed_words(page)) < 14 * len(page)
