"""Whatever a person types is a legal query, and exact things are found by it."""

from __future__ import annotations

import sqlite3
import unicodedata
from collections.abc import Iterator

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pincite.index.database import SCHEMA, _statements
from pincite.index.keyword import best_matches, identifier_expression, match_expression

TEXTS = {
    "error": "At 09:14 the gateway reported ERR_CONN_4021 and closed the session.",
    "other": "At 09:15 the gateway reported ERR_CONN_4022; session 4021 went on. The conn was good.",
    "clause": "Subject to clause 14.3(c) the Tenant may assign the whole of the Premises.",
    "invoice": "Invoice INV-2024/0091 of 3 May 2024 for £1,250.00 is due.",
    "leave": "Vacation days are carried over until the end of March.",
    "holiday": "The office is closed on public holidays.",
    "notice": "Either party may end this agreement by three months' notice.",
    "notices": "All notices must be in writing. Three weeks or months do not matter.",
    "french": "Le café de l'Ouest est fermé à Noël.",
    "names": "Signed by Ms O’Connor-Smith for Grünwald & Söhne GmbH.",
    "number": "The rent is 900 pounds.",
}
SYNTAX = [*"\"()*^:+-{}_\x00'’“”„«»§&./²Ⅷ\u0301\ud800ſİ", *"AND OR NOT NEAR NEAR( text: 日本語 हिन्दी هذا".split()]


@pytest.fixture(scope="module")
def connection() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.row_factory = sqlite3.Row
    for statement in _statements(SCHEMA):
        connection.execute(statement)
    for name, text in TEXTS.items():
        connection.execute(
            "INSERT INTO documents VALUES (?, '', '', '', '', '', '', '', 1, 'read', '', x'')", (f"doc {name}",)
        )
        connection.execute(
            "INSERT INTO chunks(id, document, generation, ordinal, section, kind, heading_path, context, text, spans, "
            "tokens, text_hash) VALUES (?, ?, '', 0, 0, 'paragraph', '[]', 'Papers', ?, '[]', 1, '')",
            (name, f"doc {name}", text),
        )
    yield connection
    connection.close()


def found(connection: sqlite3.Connection, query: str, documents: list[str] | None = None, k: int = 10) -> list[str]:
    expression = match_expression(query)
    return [] if expression is None else [chunk for chunk, _ in best_matches(connection, expression, k, documents)]


@settings(deadline=None)
@given(query=st.lists(st.one_of(st.text(max_size=12), st.sampled_from(SYNTAX))).map("".join))
@example(query='"')
@example(query='""')
@example(query='"" OR ""')
@example(query='"___" "§§"')
@example(query="“never closed")
@example(query='NEAR("a" "b", 3)')
@example(query="a" * 10_000)
@example(query="word " * 2_000)
@example(query='"quoted" ' * 1_000)
@example(query='"' + "phrase " * 1_000 + '"')
@example(query="1.2.3(a)(b)/c-d_e'f’g:h&i§j")
def test_any_text_is_a_legal_query(connection: sqlite3.Connection, query: str) -> None:
    assert len(found(connection, query, k=3)) <= 3


@settings(deadline=None)
@given(query=st.text())
def test_there_is_something_to_look_for_exactly_when_there_is_a_word(query: str) -> None:
    has_words = any(character.isalnum() for character in unicodedata.normalize("NFC", query))
    assert (match_expression(query) is not None) == has_words


@pytest.mark.parametrize(
    ("query", "chunk"),
    [
        ("ERR_CONN_4021", "error"),
        ("err_conn_4021", "error"),
        ("What does ERR_CONN_4021 mean?", "error"),
        ("14.3(c)", "clause"),
        ("clause 14.3(c)", "clause"),
        ("INV-2024/0091", "invoice"),
        ("1,250.00", "invoice"),
        ("3 May 2024", "invoice"),
        ("O'Connor-Smith", "names"),
        ("O’Connor-Smith", "names"),
        ("grunwald", "names"),
        ("cafe", "french"),
        ("cafe\u0301", "french"),
        ("Gru\u0308nwald", "names"),
        ("NOËL", "french"),
        ("When do my vacation days lapse?", "leave"),
        ("holiday", "holiday"),
    ],
)
def test_exact_things_and_words_are_found_first(connection: sqlite3.Connection, query: str, chunk: str) -> None:
    assert found(connection, query)[:1] == [chunk]


def test_the_parts_of_an_identifier_by_themselves_are_no_match(connection: sqlite3.Connection) -> None:
    assert found(connection, "ERR_CONN_4021") == ["error"]


@pytest.mark.parametrize("quoted", ['"three months notice"', "“three months notice”", "«three months notice»"])
def test_a_quoted_phrase_must_occur(connection: sqlite3.Connection, quoted: str) -> None:
    assert found(connection, quoted) == ["notice"]
    assert found(connection, f"{quoted} in writing") == ["notice"]
    assert set(found(connection, "three months notice in writing")) >= {"notice", "notices"}


def test_every_quoted_phrase_must_occur(connection: sqlite3.Connection) -> None:
    assert found(connection, '"gateway reported" "session 4021"') == ["other"]
    assert found(connection, '"gateway reported" "public holidays"') == []


def test_quoted_signs_demand_nothing(connection: sqlite3.Connection) -> None:
    assert found(connection, '"___" rent') == ["number"]
    assert found(connection, '"?!" rent') == ["number"]


def test_stop_words_count_only_when_there_is_nothing_else(connection: sqlite3.Connection) -> None:
    assert found(connection, "what is the rent") == ["number"]
    assert "number" in found(connection, "is the")


def test_k_means_k(connection: sqlite3.Connection) -> None:
    assert len(found(connection, "the", k=3)) == 3
    assert len(found(connection, "the", k=1)) == 1


def test_only_allowed_documents_are_looked_into(connection: sqlite3.Connection) -> None:
    assert found(connection, "gateway", ["doc other", "doc rent"]) == ["other"]
    assert found(connection, "gateway", []) == []
    assert found(connection, "gateway", None, k=1) == found(connection, "gateway")[:1]
    assert len(found(connection, "the", ["doc clause", "doc holiday", "doc number"], k=2)) == 2


def test_better_matches_have_higher_scores(connection: sqlite3.Connection) -> None:
    scores = [score for _, score in best_matches(connection, '"gateway" OR "session" OR "conn"', 10, None)]
    assert len(scores) == 2 and scores[0] > scores[1]


@pytest.mark.parametrize(
    ("typed", "named"),
    [
        ("When is ERR_CONN_4021 raised?", '"ERR_CONN_4021"'),
        ("clause 14.3(c) and INV-2024/0091", '"14.3(c" OR "INV-2024/0091"'),
        ("the 20th of June 2024, room 7A, Q2", None),
        ("twenty-one ERR_CONN", None),
        ("", None),
    ],
)
def test_identifiers_are_told_from_words_and_numbers(typed: str, named: str | None) -> None:
    assert identifier_expression(typed) == named


@given(query=st.lists(st.one_of(st.text(max_size=12), st.sampled_from([*SYNTAX, "A1_2", "14.3(c)"]))).map("".join))
@settings(deadline=None)
def test_identifiers_of_any_text_are_a_legal_query(connection: sqlite3.Connection, query: str) -> None:
    expression, first = match_expression(query), identifier_expression(query)
    if first is not None:
        assert expression is not None
        assert len(best_matches(connection, expression, 3, None, first)) <= 3


def test_what_holds_the_identifier_comes_before_what_matches_better(connection: sqlite3.Connection) -> None:
    query = "Premises of the Tenant that may assign the whole, subject to ERR_CONN_4021"
    expression = match_expression(query)
    assert expression is not None
    plain = [chunk for chunk, _ in best_matches(connection, expression, 10, None)]
    named = [chunk for chunk, _ in best_matches(connection, expression, 10, None, identifier_expression(query))]
    assert plain[0] == "clause" and named[:2] == ["error", "clause"] and sorted(plain) == sorted(named)


def test_a_word_in_the_headings_counts_less_than_one_in_the_text() -> None:
    connection = sqlite3.connect(":memory:")
    connection.row_factory = sqlite3.Row
    for statement in _statements(SCHEMA):
        connection.execute(statement)
    connection.execute("INSERT INTO documents VALUES ('d', '', '', '', '', '', '', '', 1, 'read', '', x'')")
    for name, context, text in (("headed", "rent", "something else"), ("said", "something", "rent else")):
        connection.execute(
            "INSERT INTO chunks(id, document, generation, ordinal, section, kind, heading_path, context, text, spans, "
            "tokens, text_hash) VALUES (?, 'd', '', 0, 0, 'paragraph', '[]', ?, ?, '[]', 1, '')",
            (name, context, text),
        )
    assert found(connection, "rent") == ["said", "headed"]
    connection.close()
