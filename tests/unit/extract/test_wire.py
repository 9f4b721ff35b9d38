"""Pages survive the way from the reading process, and nothing that is not a page gets through."""

from __future__ import annotations

import json
import math
import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pincite.extract.limits import MAX_WORD_CHARS
from pincite.extract.wire import (
    NonsenseError,
    checked_count,
    checked_metadata,
    checked_page,
    checked_problems,
    packed_metadata,
    packed_page,
)
from pincite.model import BlockKind, Box, Line, Metadata, OutlineEntry, ReadPage, Word

WIDTH, HEIGHT = 600.0, 800.0
on_wire = st.floats(0, 500, width=32)  # boxes travel in single precision
texts = st.text(st.characters(exclude_categories=("Cs", "Cc", "Z")), min_size=1, max_size=20)
boxes = st.builds(
    lambda x, y, w, h: Box(x, y, struct.unpack("f", struct.pack("f", x + w))[0], y + h),
    on_wire,
    on_wire,
    st.floats(0, 64, width=16),
    st.just(0.0),
)
words = st.builds(Word, texts, boxes, st.sampled_from([" ", "", "\n", " | ", " |  | "]), st.booleans())
lines = st.builds(
    Line,
    st.lists(words, min_size=1, max_size=5).map(tuple),
    st.floats(1, 99).map(lambda size: round(size, 2)),
    st.booleans(),
    st.booleans(),
    st.integers(0, 999),
    st.one_of(st.none(), st.sampled_from(BlockKind)),
    st.integers(0, 6),
    st.one_of(st.none(), st.integers(0, 99)),
    st.booleans(),
)
pages = st.builds(
    ReadPage,
    st.integers(1, 10_000),
    texts,
    st.just(WIDTH),
    st.just(HEIGHT),
    st.lists(lines, max_size=5).map(tuple),
    st.floats(0, 1),
)


def a_page() -> ReadPage:
    words = (Word("Rent", Box(10, 10, 40, 20)), Word("due", Box(44, 10, 60, 20), "\n"))
    return ReadPage(3, "iii", WIDTH, HEIGHT, (Line(words, 11.0),))


def sent(page: ReadPage) -> tuple[dict[str, Any], bytes]:
    """The page after it went through JSON."""
    message, block = packed_page(page)
    return json.loads(json.dumps(message)), block


@given(pages)
def test_a_page_arrives_as_it_was_sent(page: ReadPage) -> None:
    assert checked_page(*sent(page), page.number) == page


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("page", 4),
        ("page", True),
        ("page", "3"),
        ("label", 7),
        ("label", "x" * 101),
        ("width", math.nan),
        ("width", -1),
        ("height", math.inf),
        ("height", None),
        ("width", 1e9),
        ("picture_share", 1.5),
        ("texts", ["Rent"]),
        ("texts", ["Rent", ""]),
        ("texts", ["Rent", 5]),
        ("texts", ["Rent", "x" * (MAX_WORD_CHARS + 1)]),
        ("texts", "Rent"),
        ("lines", [[1, 11.0, 0, 0, None, 0, None]]),
        ("lines", [[3, 11.0, 0, 0, None, 0, None]]),
        ("lines", [[2, 11.0, 8, 0, None, 0, None]]),
        ("lines", [[2, 11.0, 0, -1, None, 0, None]]),
        ("lines", [[2, 11.0, 0, 0, "banner", 0, None]]),
        ("lines", [[2, 11.0, 0, 0, None, 7, None]]),
        ("lines", [[2, 11.0, 0, 0, None, 0]]),
        ("lines", {}),
        ("afters", [[0, "<br>"]]),
        ("afters", [[2, " "]]),
        ("joined", [-1]),
    ],
)
def test_what_is_not_a_page_is_refused(field: str, value: object) -> None:
    message, block = packed_page(a_page())
    with pytest.raises(NonsenseError):
        checked_page({**message, field: value}, block, 3)


@pytest.mark.parametrize("box", [(math.nan, 1, 2, 3), (5, 1, 2, 3), (1, 1, 2, 900), (-9, 1, 2, 3), (1, math.inf, 2, 3)])
def test_a_box_that_is_none_or_off_the_page_is_refused(box: tuple[float, ...]) -> None:
    message, block = packed_page(a_page())
    with pytest.raises(NonsenseError):
        checked_page(message, struct.pack("<4f", *box) + block[16:], 3)


anything = st.sampled_from([None, True, -1, 0, 1, 10**30, 0.5, math.nan, math.inf, "", "x", "\ud800", [], {}, [None]])
in_lists = st.lists(anything | st.lists(anything, max_size=7), max_size=4)


@given(
    st.dictionaries(
        st.sampled_from(["page", "label", "width", "height", "picture_share", "texts", "lines", "afters", "joined"]),
        anything | in_lists,
    ),
    st.binary(max_size=64),
)
def test_nothing_sent_can_raise_anything_but_nonsense(changes: dict[str, Any], block: bytes) -> None:
    message, honest_block = packed_page(a_page())
    for sent_block in (block, honest_block):
        try:
            page = checked_page({**message, **changes}, sent_block, 3)
        except NonsenseError:
            continue
        assert all(math.isfinite(edge) for line in page.lines for word in line.words for edge in edges(word.box))


def edges(box: Box) -> tuple[float, ...]:
    return box.x0, box.y0, box.x1, box.y1


def test_halves_of_characters_and_control_characters_become_visible() -> None:
    message, block = packed_page(a_page())
    page = checked_page({**message, "texts": ["Re\ud800nt", "d\x07ue"]}, block, 3)
    assert [word.text for word in page.lines[0].words] == ["Re\ufffdnt", "d\ufffdue"]


def test_metadata_arrives_as_it_was_sent() -> None:
    metadata = Metadata(
        "pdf", "A lease", "A. Person", "2026-03-01T12:00:00+01:00", "2026-03", (OutlineEntry(1, "One", 2),)
    )
    assert checked_metadata(json.loads(json.dumps(packed_metadata(metadata))), "pdf") == metadata


@pytest.mark.parametrize(
    "change",
    [{"title": None}, {"created": "yesterday"}, {"outline": [[0, "One", 1]]}, {"outline": [[1, "One"]]}, {"author": 3}],
)
def test_metadata_that_makes_no_sense_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(NonsenseError):
        checked_metadata({**packed_metadata(Metadata("pdf")), **change}, "pdf")


def test_counts_and_problems_are_bounded() -> None:
    assert checked_count(5, 5) == 5
    with pytest.raises(NonsenseError):
        checked_count(6, 5)
    with pytest.raises(NonsenseError):
        checked_problems(["fine"] * 10_000)
    with pytest.raises(NonsenseError):
        checked_problems([b"bytes"])
