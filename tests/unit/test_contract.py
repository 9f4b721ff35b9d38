"""The JSON of the command line: exactly these fields, whatever else changes."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from pincite.contract import answer_json, box_json, found_something, ledger_json, search_json
from pincite.model import (
    Answer,
    AnswerVerdict,
    BlockKind,
    Box,
    Citation,
    Claim,
    DuplicatePlace,
    FileState,
    Filters,
    Folder,
    Ledger,
    LedgerEntry,
    NotSearched,
    Passage,
    Region,
    Scores,
    SearchResult,
    Span,
    Stage,
    Verdict,
)

REGION = Region(14, "xii", (Box(72, 150.126, 200.5, 160),))
PASSAGE = Passage(
    chunk="c1",
    document="d1",
    title="Staff Handbook",
    path="/papers/handbook.pdf",
    kind=BlockKind.TABLE,
    heading_path=("Leave", "Vacation"),
    text="Leave is given.",
    spans=(Span(14, 0, 3),),
    words=(),
    regions=(REGION,),
    scores=Scores(lexical_rank=2, fused=0.01612903),
    modified="2025-01-01T00:00:00+00:00",
    duplicates=(DuplicatePlace("d2", 3),),
)
MISSED = NotSearched("/papers/locked.pdf", "needs a password", "It is locked.")
RESULT = SearchResult(
    query="leave",
    filters=Filters(folder="/papers", after="2025-01-01"),
    results=(PASSAGE, replace(PASSAGE, chunk="c2", scores=Scores(None, 1, 0.01, 3.14159))),
    stages=(Stage("lexical", 1.5, 1, 2), Stage("dense", 0.5, 1, 0, "Searched by words alone.")),
    not_searched=(MISSED,),
    total_ms=12.5,
)
CITATION = Citation(
    "d1", "Staff Handbook", "/papers/handbook.pdf", "Leave is given.", (REGION,), "Staff Handbook, p. xii"
)
ANSWER = Answer(
    question="Is leave given?",
    verdict=AnswerVerdict.ANSWERED,
    text="It is.",
    mode="normal",
    claims=(Claim("It is.", Verdict.SUPPORTED, 0.9, (CITATION,)),),
    nearest=(PASSAGE,),
    passages=(PASSAGE,),
    not_searched=(MISSED,),
    model="small",
    trace="t1",
    timings_ms={"sources": 1.0, "first_token": 2.0, "total": 3.0},
    tokens={"prompt": 7},
    notes=("One page is missing.",),
)

REGION_JSON = {"page": 14, "label": "xii", "boxes": [[72, 150.13, 200.5, 160]]}
MISSED_JSON = {"path": "/papers/locked.pdf", "state": "needs a password", "reason": "It is locked."}
PASSAGE_JSON = {
    "rank": 1,
    "chunk": "c1",
    "document": "d1",
    "title": "Staff Handbook",
    "path": "/papers/handbook.pdf",
    "kind": "table",
    "heading_path": ["Leave", "Vacation"],
    "text": "Leave is given.",
    "regions": [REGION_JSON],
    "scores": {"lexical_rank": 2, "dense_rank": None, "fused": 0.016129, "rerank": None},
    "duplicates": [{"document": "d2", "page": 3}],
    "modified": "2025-01-01T00:00:00+00:00",
    "version": {"family": None, "current": True},
}


def printed(value: dict[str, Any]) -> Any:
    """What a script reads: as strict JSON, which has no NaN."""
    return json.loads(json.dumps(value, allow_nan=False))


def test_search() -> None:
    found = printed(search_json(RESULT))
    second = PASSAGE_JSON | {
        "rank": 2,
        "chunk": "c2",
        "scores": {"lexical_rank": None, "dense_rank": 1, "fused": 0.01, "rerank": 3.1416},
    }
    assert found == {
        "query": "leave",
        "rewritten": None,
        "filters": {"folder": "/papers", "after": "2025-01-01"},
        "total_ms": 12.5,
        "stages": [
            {"name": "lexical", "ms": 1.5, "in": 1, "out": 2},
            {"name": "dense", "ms": 0.5, "in": 1, "out": 0, "note": "Searched by words alone."},
        ],
        "results": [PASSAGE_JSON, second],
        "not_searched": [MISSED_JSON],
    }


def test_ask() -> None:
    citation = {
        "document": "d1",
        "title": "Staff Handbook",
        "path": "/papers/handbook.pdf",
        "quote": "Leave is given.",
        "regions": [REGION_JSON],
        "pincite": "Staff Handbook, p. xii",
    }
    assert printed(answer_json(ANSWER)) == {
        "question": "Is leave given?",
        "rewritten": None,
        "verdict": "answered",
        "answer": "It is.",
        "mode": "normal",
        "claims": [{"text": "It is.", "verdict": "supported", "score": 0.9, "citations": [citation]}],
        "conflicts": [],
        "nearest": [PASSAGE_JSON],
        "not_searched": [MISSED_JSON],
        "passages": [PASSAGE_JSON],
        "model": "small",
        "trace": "t1",
        "timings_ms": {"sources": 1.0, "first_token": 2.0, "total": 3.0},
        "tokens": {"prompt": 7, "answer": 0},
        "notes": ["One page is missing."],
    }


def test_an_answer_of_which_nothing_was_written_has_no_first_token() -> None:
    timings = printed(answer_json(replace(ANSWER, timings_ms={"sources": 1.0, "total": 2.0}, tokens={})))
    assert timings["timings_ms"] == {"sources": 1.0, "first_token": None, "total": 2.0}
    assert timings["tokens"] == {"prompt": 0, "answer": 0}


def test_status() -> None:
    read = LedgerEntry("/papers/a.pdf", "/papers", FileState.READ, "", "d1", 12, 3, 1, "2025-01-01T00:00:00+00:00")
    waiting = LedgerEntry("/papers/b.pdf", "/papers", FileState.WAITING, "It was added just now.")
    ledger = Ledger((Folder("/papers", True),), (read, waiting), 40, 2)
    assert printed(ledger_json(ledger)) == {
        "folders": [{"path": "/papers", "online": True}],
        "counts": {"read": 1, "waiting": 1},
        "chunks": 40,
        "chunks_without_vectors": 2,
        "documents": [
            {
                "document": "d1",
                "path": "/papers/a.pdf",
                "folder": "/papers",
                "state": "read",
                "reason": "",
                "pages": 12,
                "ocr_pages": 3,
                "review_pages": 1,
                "modified": "2025-01-01T00:00:00+00:00",
            },
            {
                "document": None,
                "path": "/papers/b.pdf",
                "folder": "/papers",
                "state": "waiting",
                "reason": "It was added just now.",
                "pages": 0,
                "ocr_pages": 0,
                "review_pages": 0,
                "modified": "",
            },
        ],
    }


def test_words_of_the_contract_are_these() -> None:
    assert {verdict.value for verdict in Verdict} == {"supported", "partly", "unsupported", "quote"}
    assert {verdict.value for verdict in AnswerVerdict} == {"answered", "partly", "not_found", "listed"}
    found = [search_json(replace(RESULT, results=(replace(PASSAGE, kind=kind),)))["results"] for kind in BlockKind]
    kinds = {passage["kind"] for (passage,) in found}
    assert kinds == {"heading", "prose", "list", "table", "caption", "code", "footnote", "furniture"}


def test_boxes_are_rounded_to_a_hundredth_of_a_point() -> None:
    assert box_json(Box(0.004, 1.005001, 2, 3.999)) == [0.0, 1.01, 2, 4.0]


def test_no_filters_are_none() -> None:
    assert search_json(replace(RESULT, filters=Filters()))["filters"] == {}


def test_only_an_answer_that_was_not_found_found_nothing() -> None:
    found = {verdict: found_something(replace(ANSWER, verdict=verdict)) for verdict in AnswerVerdict}
    assert [verdict for verdict, something in found.items() if not something] == [AnswerVerdict.NOT_FOUND]
