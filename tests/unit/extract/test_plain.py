"""Plain text: prose flows, lines that must stay lines stay."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pincite.extract.blocks import TextBlock
from pincite.extract.plain import plain_blocks
from pincite.model import BlockKind

PROSE = """This is prose that was wrapped by hand at about seventy columns, as
people who write plain text still do. It goes on for a few lines so that
the usual width can be told."""
LOG = """2026-03-01 12:00:01 INFO  server started
2026-03-01 12:00:02 ERROR E1042 disk full
    at write()
2026-03-01 12:00:03 INFO  retrying"""


def text_of(block: TextBlock) -> str:
    return "".join(run.text for line in block.lines for run in line)


def kinds(text: str) -> list[BlockKind | None]:
    return [block.kind for block in plain_blocks(text)]


def test_the_lines_of_a_paragraph_share_a_group() -> None:
    blocks = plain_blocks(f"{PROSE}\n\nAnother paragraph.\n")
    assert [block.group for block in blocks] == [1, 1, 1, 2]
    assert all(block.kind is None and not block.exact for block in blocks)
    assert " ".join(text_of(block) for block in blocks[:3]) == PROSE.replace("\n", " ")


def test_a_log_keeps_its_lines_and_their_spaces() -> None:
    blocks = plain_blocks(LOG)
    assert [text_of(block) for block in blocks] == LOG.split("\n")
    assert all(block.kind is BlockKind.CODE and block.exact for block in blocks)


@pytest.mark.parametrize(
    "start",
    [
        "2026-03-01T12:00:00Z",
        "[2026/03/01 12:00]",
        "Mar  1 12:00:00 host",
        "12:00:00.123",
        "[ERROR]",
        "WARNING:",
        "01/Mar/2026:12:00",
    ],
)
def test_what_a_log_line_may_begin_with(start: str) -> None:
    assert set(kinds(f"{start} one thing happened\n{start} and another\n")) == {BlockKind.CODE}


def test_columns_addresses_and_verse_keep_their_lines() -> None:
    columns = "Name       Amount\nSmith      1,200\nJones        900"
    address = "A. Person\n12 High Street\nLondon"
    assert kinds(f"{PROSE}\n\n{columns}\n\n{address}") == [None] * 3 + [BlockKind.CODE] * 6


def test_lists_and_clauses_are_left_to_be_recognised() -> None:
    clauses = "1. Definitions\n1.1 The rent is due monthly.\n1.2 The deposit is due once."
    items = "- one\n- two\n  goes on\n- three"
    assert set(kinds(f"{PROSE}\n\n{clauses}\n\n{items}")) == {None}


def test_indents_are_kept() -> None:
    blocks = plain_blocks("1.1 The rent\n    is due\n\tmonthly")
    assert [block.indent_pt for block in blocks] == [0, 16, 32]


def test_a_form_feed_begins_a_page() -> None:
    blocks = plain_blocks("one\n\n\ftwo\n\nthree\ffour\n\f\n\f\nfive")
    assert [(text_of(block), block.new_page) for block in blocks] == [
        ("one", False),
        ("two", True),
        ("three", False),
        ("four", True),
        ("five", True),
    ]


@given(st.text(st.sampled_from("ab1 -.\t\n\f"), max_size=200))
def test_no_word_is_lost(text: str) -> None:
    assert " ".join(text_of(block) for block in plain_blocks(text)).split() == text.split()
