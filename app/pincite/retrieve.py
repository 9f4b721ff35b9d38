"""Stop 6 of the walk: hits → passages: fuse, fold, order, fit the budget. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pincite.model import Passage, Scores, Span

# Reciprocal rank fusion (Cormack, Clarke, Büttcher 2009): score = sum of weight / (constant + rank). The constant and
# weights were chosen on the sample questions and a second set of another kind; docs/decisions/0006 has the figures.
FIRST_CONSTANT = 60
FINAL_CONSTANT = 10
LEXICAL_WEIGHT = 1.0
DENSE_WEIGHT = 1.0
RERANK_WEIGHT = 2.0


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk on its way to becoming a passage.

    `duplicates` are chunks elsewhere with the same text, folded into it; `neighbours` are chunks of the same section
    that were found too, and are shown together with it.
    """

    chunk: str
    scores: Scores
    duplicates: tuple[str, ...] = ()
    neighbours: tuple[str, ...] = ()


def fused(lexical: Sequence[str], dense: Sequence[str]) -> list[Candidate]:
    """Both legs' chunks (best first) as one list, best first; ties go to the keyword leg's order."""
    lexical_ranks = {chunk: rank for rank, chunk in enumerate(lexical, start=1)}
    dense_ranks = {chunk: rank for rank, chunk in enumerate(dense, start=1)}
    candidates = []
    for chunk in dict.fromkeys([*lexical, *dense]):
        in_lexical, in_dense = lexical_ranks.get(chunk), dense_ranks.get(chunk)
        score = _share(LEXICAL_WEIGHT, in_lexical, FIRST_CONSTANT) + _share(DENSE_WEIGHT, in_dense, FIRST_CONSTANT)
        candidates.append(Candidate(chunk, Scores(in_lexical, in_dense, score)))
    return sorted(candidates, key=lambda candidate: -candidate.scores.fused)


def _share(weight: float, rank: int | None, constant: int) -> float:
    return weight / (constant + rank) if rank is not None else 0.0


def folded(candidates: Sequence[Candidate], texts: Mapping[str, str]) -> list[Candidate]:
    """Candidates with the same text (white space and case aside) as one: the best of them, naming the others."""
    first_with: dict[str, int] = {}
    kept: list[Candidate] = []
    for candidate in candidates:
        key = " ".join(texts[candidate.chunk].casefold().split())
        if key in first_with:
            at = first_with[key]
            kept[at] = replace(kept[at], duplicates=(*kept[at].duplicates, candidate.chunk))
        else:
            first_with[key] = len(kept)
            kept.append(candidate)
    return kept


def reranked(candidates: Sequence[Candidate], scores: Sequence[float]) -> list[Candidate]:
    """Candidates fused again, with the cross-encoder's order as the third and heaviest vote.

    `scores` are those of the first candidates; the others follow in their old order.
    """
    order = sorted(range(len(scores)), key=lambda at: -scores[at])
    rerank_ranks = {at: rank for rank, at in enumerate(order, start=1)}
    scored = [
        replace(candidate, scores=replace(candidate.scores, rerank=score, fused=_final(candidate, rerank_ranks[at])))
        for at, (candidate, score) in enumerate(zip(candidates, scores, strict=False))
    ]
    scored.sort(key=lambda candidate: -candidate.scores.fused)
    return [*scored, *candidates[len(scores) :]]


def _final(candidate: Candidate, rerank_rank: int) -> float:
    return (
        _share(LEXICAL_WEIGHT, candidate.scores.lexical_rank, FINAL_CONSTANT)
        + _share(DENSE_WEIGHT, candidate.scores.dense_rank, FINAL_CONSTANT)
        + _share(RERANK_WEIGHT, rerank_rank, FINAL_CONSTANT)
    )


def grouped(candidates: Sequence[Candidate], sections: Mapping[str, tuple[str, int]], depth: int) -> list[Candidate]:
    """One candidate for each section (document and ordinal), at the place of its best chunk.

    Of the chunks beyond the first `depth`, those of a section already there are left out: they add length, not place.
    """
    at_section: dict[tuple[str, int], int] = {}
    kept: list[Candidate] = []
    for position, candidate in enumerate(candidates):
        section = sections[candidate.chunk]
        if section not in at_section:
            at_section[section] = len(kept)
            kept.append(candidate)
        elif position < depth:
            at = at_section[section]
            kept[at] = replace(kept[at], neighbours=(*kept[at].neighbours, candidate.chunk))
    return kept


def joined_spans(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Spans of one document in reading order, each word once."""
    joined: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.page, span.first)):
        if joined and joined[-1].page == span.page and span.first <= joined[-1].end:
            joined[-1] = Span(span.page, joined[-1].first, max(joined[-1].end, span.end))
        else:
            joined.append(span)
    return tuple(joined)


def within_budget(
    passages: Sequence[Passage], budget_tokens: int, count_tokens: Callable[[str], int]
) -> tuple[list[Passage], list[Passage]]:
    """(kept, dropped): whole passages in order while they fit; the first is kept even if it alone is too long."""
    kept: list[Passage] = []
    dropped: list[Passage] = []
    used = 0
    for passage in passages:
        tokens = count_tokens(passage.text)
        if not kept or used + tokens <= budget_tokens:
            kept.append(passage)
            used += tokens
        else:
            dropped.append(passage)
    return kept, dropped
