"""Bytes become text, and whatever had to be guessed or left out is said."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pincite.errors import UnreadableError
from pincite.extract import decoding
from pincite.extract.decoding import decoded

GERMAN = "Die Miete beträgt 1.200 € und ist jeweils am Ersten des Monats fällig.\n" * 5
RUSSIAN = "Арендная плата составляет тысячу двести рублей в месяц и вносится первого числа.\n" * 20


@given(st.text(st.characters(exclude_categories=("Cc", "Cs", "Cf", "Zl", "Zp"), exclude_characters="\ufffd")))
def test_utf8_is_read_as_it_is(text: str) -> None:
    found = decoded(text.encode())
    assert (found.text, found.problems, found.cut_short) == (text, (), False)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_is_believed(encoding: str) -> None:
    assert decoded(GERMAN.encode(encoding)) == decoding.Decoded(GERMAN, ())


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_without_a_mark_is_recognised_and_said(encoding: str) -> None:
    found = decoded(GERMAN.encode(encoding))
    assert found.text == GERMAN
    assert found.problems == ("The encoding is not stated; it was taken to be UTF-16.",)


def test_western_text_without_utf8_is_taken_for_windows_1252() -> None:
    found = decoded(GERMAN.encode("cp1252"))
    assert found.text == GERMAN
    assert found.problems == ("The encoding is not stated; it was taken to be Windows-1252.",)


def test_other_alphabets_are_guessed_and_the_guess_is_named() -> None:
    found = decoded(RUSSIAN.encode("cp1251"))
    assert found.text == RUSSIAN
    assert found.problems == ("The encoding is not stated; it was taken to be cp1251.",)


def test_a_flipped_bit_does_not_cost_the_other_accents() -> None:
    data = bytearray((GERMAN * 10).encode())
    data[data.index("ä".encode())] = 0xFF
    found = decoded(bytes(data))
    assert found.text.count("ä") == GERMAN.count("ä") * 10 - 1
    assert "cannot be told" in found.problems[0]


@pytest.mark.parametrize("end", ["\r\n", "\r", "\n", "\u2028", "\x85"])
def test_line_ends_are_alike(end: str) -> None:
    assert decoded(f"one{end}two{end}".encode()).text == "one\ntwo\n"


def test_form_feeds_and_tabs_stay() -> None:
    assert decoded(b"a\tb\fc").text == "a\tb\fc"


def test_terminal_colours_are_dropped() -> None:
    assert decoded(b"\x1b[1;31mERROR\x1b[0m disk \x1b]0;title\x07full").text == "ERROR disk full"


def test_control_characters_are_left_out_and_counted() -> None:
    found = decoded(b"a log line with\x00 a few\x01 stray bytes in it, as crashed programs leave them\n")
    assert found.text == "a log line with a few stray bytes in it, as crashed programs leave them\n"
    assert found.problems == ("2 control characters were left out.",)


@pytest.mark.parametrize("data", [bytes(1000), random.Random(1).randbytes(5000), b"\x7fELF\x02\x01\x01" + bytes(200)])
def test_binary_data_is_not_text(data: bytes) -> None:
    with pytest.raises(UnreadableError, match="not text"):
        decoded(data)


@given(st.binary(max_size=300))
def test_any_bytes_are_text_or_refused(data: bytes) -> None:
    try:
        found = decoded(data)
    except UnreadableError:
        return
    assert "\r" not in found.text
    assert "\x00" not in found.text
    found.text.encode()


def test_no_more_than_the_limit_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "MAX_TEXT_BYTES", 11)
    found = decoded("äöüäöüäöü".encode())
    assert found.text == "äöüäö"  # the limit divides a character: it is left out, not broken
    assert found.cut_short
    assert found.problems[0].startswith("Only the first")
