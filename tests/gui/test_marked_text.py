"""Answers as rich text: what is escaped, what becomes a link, what is left of a stream."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pincite.gui.marked_text import escaped, rest_after, streamed_html, tooltip, without_markers


@given(st.text())
def test_escaped_text_holds_no_markup_but_line_breaks(text: str) -> None:
    assert "<" not in escaped(text).replace("<br>", "")


def test_a_tool_tip_is_never_guessed_to_be_markup() -> None:
    assert tooltip("<img src='x'>") == "<qt>&lt;img src=&#x27;x&#x27;&gt;</qt>"


def test_markers_of_known_sources_become_links_and_others_stay_text() -> None:
    shown = streamed_html("Leave is 23 days [1][2]. Rent [9] <b>", known=2, colour="#123456")
    assert 'href="source:1"' in shown
    assert 'href="source:2"' in shown
    assert "source:9" not in shown
    assert "Rent [9] &lt;b&gt;" in shown


def test_without_markers() -> None:
    assert without_markers("Leave [1] is 23 days [2][3].") == "Leave is 23 days."


@pytest.mark.parametrize(
    ("streamed", "sentence", "rest"),
    [
        ("Leave is 23 days [1]. Rent is", "Leave is 23 days.", "Rent is"),
        ("Leave is 23 days. [1][2] Rent is", "Leave is 23 days.", "Rent is"),
        ("Leave is\n23   days [1].", "Leave is 23 days.", ""),
        ("First one. Second one [1]. Third", "First one.", "Second one [1]. Third"),
        ("Leave is 32 days [1]. Rent is", "Leave is 23 days, as the handbook says.", "Rent is"),
        ("Leave is 32 days", "Leave is 23 days.", ""),
        ("What (a+b)* costs [2]. Next", "What (a+b)* costs.", "Next"),
        ("", "Leave is 23 days.", ""),
    ],
)
def test_what_remains_of_a_stream_after_a_checked_sentence(streamed: str, sentence: str, rest: str) -> None:
    assert rest_after(streamed, sentence) == rest
