"""The keyword leg: any text a person types becomes a legal FTS5 query, ranked by BM25."""

from __future__ import annotations

import re
import sqlite3
import unicodedata

CONTEXT_WEIGHT = 0.4  # title and headings stand before every chunk of a section, so a hit there tells less
MAX_QUERY_TERMS = 64
QUOTED = re.compile(r"\"([^\"]+)\"|“([^”]+)”|„([^“”]+)[“”]|«([^»]+)»")
# A term keeps what joins its parts ("14.3(c)", "INV-2024/0091", "ERR_CONN_4021"): FTS5 splits it the same way when
# it indexes, and searches for the parts as a phrase.
TERM = re.compile(r"\w+(?:[-_./'’:§&()]+\w+)*", re.UNICODE)
# Of at least four characters, with a digit and something other than digits: no ordinals, no plain numbers or years.
IDENTIFIER = re.compile(r"(?!\d+(?:st|nd|rd|th)$)(?=\D*\d)(?=\d*\D).{4,}", re.IGNORECASE)
STOP_WORDS = frozenset(
    "a an and are as at be been but by can could did do does for from had has have how i if in into is it its me my of "
    "on or our shall should so than that the their them then there these they this to us was we were what when where "
    "which while who whom whose why will with would you your".split()
)


def match_expression(query: str) -> str | None:
    """The FTS5 expression for what a person typed, or None when there is nothing in it to look for.

    Quoted phrases must occur; other words may, and count towards the rank.
    """
    query = unicodedata.normalize("NFC", query)  # an accent typed as a character of its own would end the term
    phrases = [_terms(next(part for part in match if part)) for match in QUOTED.findall(query)]
    required = [f'"{" ".join(phrase)}"' for phrase in phrases if phrase]
    rest = _terms(QUOTED.sub(" ", query))
    telling = [term for term in rest if term.casefold() not in STOP_WORDS] or rest
    optional = [f'"{term}"' for term in dict.fromkeys(telling)][:MAX_QUERY_TERMS]
    if required:
        must = " AND ".join(required)
        return f"({must}) AND ({' OR '.join([*required, *optional])})" if optional else must
    return " OR ".join(optional) or None


def identifier_expression(query: str) -> str | None:
    """The FTS5 expression for the identifiers in a query: what holds one of them is what was asked for.

    BM25 alone would set a rare common word ("mean") above an error code that a log repeats.
    """
    terms = _terms(unicodedata.normalize("NFC", query))
    named = [f'"{term}"' for term in dict.fromkeys(terms) if IDENTIFIER.fullmatch(term)]
    return " OR ".join(named[:MAX_QUERY_TERMS]) or None


def _terms(text: str) -> list[str]:
    """The terms of a text; one of low lines alone is none, because FTS5 finds nothing in it to look for."""
    return [term for term in TERM.findall(text) if term.strip("_")]


def best_matches(
    connection: sqlite3.Connection, expression: str, k: int, documents: list[str] | None, first: str | None = None
) -> list[tuple[str, float]]:
    """The k best (chunk id, BM25 score), best first; higher scores are better.

    `documents` limits where to look. What `first`, an expression too, also matches stands before all the rest.
    """
    limit = ""
    if documents is not None:
        connection.execute("CREATE TEMP TABLE IF NOT EXISTS allowed (document TEXT PRIMARY KEY)")
        connection.execute("DELETE FROM allowed")
        connection.executemany("INSERT OR IGNORE INTO allowed VALUES (?)", [(d,) for d in documents])
        limit = "AND chunks.document IN (SELECT document FROM allowed)"
    order = "keywords.rowid IN (SELECT rowid FROM keywords WHERE keywords MATCH ?) DESC," if first is not None else ""
    rows = connection.execute(
        f"SELECT chunks.id, bm25(keywords, {CONTEXT_WEIGHT}, 1.0) AS cost FROM keywords "
        f"JOIN chunks ON chunks.number = keywords.rowid WHERE keywords MATCH ? {limit} "
        f"ORDER BY {order} cost, chunks.number LIMIT ?",
        (expression, k) if first is None else (expression, first, k),
    ).fetchall()
    return [(row["id"], -row["cost"]) for row in rows]
