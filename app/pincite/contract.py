"""The JSON that the command line prints and the records of questions keep: nouns → plain values.

Field names are a contract with scripts: add, don't rename. Boxes are points from the top left of the page as
displayed, rounded to a hundredth; pages count from 1.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pincite.model import (
    Answer,
    AnswerVerdict,
    BlockKind,
    Box,
    Citation,
    Claim,
    Filters,
    Ledger,
    LedgerEntry,
    NotSearched,
    Passage,
    Region,
    SearchResult,
    Stage,
)

Json = dict[str, Any]
KIND_NAMES = {BlockKind.PARAGRAPH: "prose", BlockKind.LIST_ITEM: "list"}  # the other kinds have their own names


def search_json(result: SearchResult) -> Json:
    """What `search --json` prints."""
    return {
        "query": result.query,
        "rewritten": result.rewritten,
        "filters": _filters(result.filters),
        "total_ms": result.total_ms,
        "stages": [_stage(stage) for stage in result.stages],
        "results": [_passage(passage, rank) for rank, passage in enumerate(result.results, start=1)],
        "not_searched": _not_searched(result.not_searched),
    }


def answer_json(answer: Answer) -> Json:
    """What `ask --json` prints, and what is kept of a question."""
    return {
        "question": answer.question,
        "rewritten": answer.rewritten,
        "verdict": answer.verdict.value,
        "answer": answer.text,
        "mode": answer.mode,
        "claims": [_claim(claim) for claim in answer.claims],
        "conflicts": [],
        "nearest": [_passage(passage, rank) for rank, passage in enumerate(answer.nearest, start=1)],
        "not_searched": _not_searched(answer.not_searched),
        "passages": [_passage(passage, rank) for rank, passage in enumerate(answer.passages, start=1)],
        "model": answer.model,
        "trace": answer.trace,
        "timings_ms": {"first_token": None} | answer.timings_ms,  # None: nothing was written
        "tokens": {"prompt": 0, "answer": 0} | answer.tokens,
        "notes": list(answer.notes),
    }


def ledger_json(ledger: Ledger) -> Json:
    """What `status --json` prints."""
    return {
        "folders": [{"path": folder.path, "online": folder.online} for folder in ledger.folders],
        "counts": ledger.counts,
        "chunks": ledger.chunks,
        "chunks_without_vectors": ledger.chunks_without_vectors,
        "documents": [_entry(entry) for entry in ledger.entries],
    }


def found_something(answer: Answer) -> bool:
    """Whether the documents answered the question, at least in part."""
    return answer.verdict is not AnswerVerdict.NOT_FOUND


def _entry(entry: LedgerEntry) -> Json:
    return {
        "document": entry.document or None,
        "path": entry.path,
        "folder": entry.folder,
        "state": entry.state.value,
        "reason": entry.reason,
        "pages": entry.pages,
        "ocr_pages": entry.ocr_pages,
        "review_pages": entry.review_pages,
        "modified": entry.modified,
    }


def _claim(claim: Claim) -> Json:
    return {
        "text": claim.text,
        "verdict": claim.verdict.value,
        "score": claim.score,
        "citations": [_citation(citation) for citation in claim.citations],
    }


def _citation(citation: Citation) -> Json:
    return {
        "document": citation.document,
        "title": citation.title,
        "path": citation.path,
        "quote": citation.quote,
        "regions": [_region(region) for region in citation.regions],
        "pincite": citation.pincite,
    }


def _passage(passage: Passage, rank: int) -> Json:
    scores = passage.scores
    return {
        "rank": rank,
        "chunk": passage.chunk,
        "document": passage.document,
        "title": passage.title,
        "path": passage.path,
        "kind": KIND_NAMES.get(passage.kind, passage.kind.value),
        "heading_path": list(passage.heading_path),
        "text": passage.text,
        "regions": [_region(region) for region in passage.regions],
        "scores": {
            "lexical_rank": scores.lexical_rank,
            "dense_rank": scores.dense_rank,
            "fused": round(scores.fused, 6),
            "rerank": None if scores.rerank is None else round(scores.rerank, 4),
        },
        "duplicates": [{"document": place.document, "page": place.page} for place in passage.duplicates],
        "modified": passage.modified,
        "version": {"family": None, "current": True},
    }


def _region(region: Region) -> Json:
    return {"page": region.page, "label": region.label, "boxes": [box_json(box) for box in region.boxes]}


def box_json(box: Box) -> list[float]:
    """A box as [x0, y0, x1, y1]."""
    return [round(edge, 2) for edge in (box.x0, box.y0, box.x1, box.y1)]


def _stage(stage: Stage) -> Json:
    plain: Json = {"name": stage.name, "ms": stage.ms, "in": stage.received, "out": stage.returned}
    return plain | ({"note": stage.note} if stage.note else {})


def _filters(filters: Filters) -> Json:
    named = {
        "folder": filters.folder,
        "document": filters.document,
        "type": filters.type,
        "after": filters.after,
        "before": filters.before,
    }
    return {name: value for name, value in named.items() if value}


def _not_searched(files: Iterable[NotSearched]) -> list[Json]:
    return [{"path": file.path, "state": file.state, "reason": file.reason} for file in files]
