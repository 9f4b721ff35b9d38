"""Stop 6 of the walk: hits → passages: fuse, fold, order, fit the budget. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from pincite.model import Passage, Scores

# Reciprocal rank fusion (Cormack, Clarke, Büttcher 2009): score = sum of weight / (constant + rank).
RRF_CONSTANT = 60
LEXICAL_WEIGHT = 1.0
DENSE_WEIGHT = 1.0


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk on its way to becoming a passage. `duplicates` are chunks with the same text, folded into it."""

    chunk: str
    scores: Scores
    duplicates: tuple[str, ...] = ()


def fused(lexical: Sequence[str], dense: Sequence[str]) -> list[Candidate]:
    """Both legs' chunks (best first) as one list, best first; ties go to the keyword leg's order."""
    lexical_ranks = {chunk: rank for rank, chunk in enumerate(lexical, start=1)}
    dense_ranks = {chunk: rank for rank, chunk in enumerate(dense, start=1)}
    candidates = []
    for chunk in dict.fromkeys([*lexical, *dense]):
        in_lexical, in_dense = lexical_ranks.get(chunk), dense_ranks.get(chunk)
        score = _share(LEXICAL_WEIGHT, in_lexical) + _share(DENSE_WEIGHT, in_dense)
        candidates.append(Candidate(chunk, Scores(in_lexical, in_dense, score)))
    return sorted(candidates, key=lambda candidate: -candidate.scores.fused)


def _share(weight: float, rank: int | None) -> float:
    return weight / (RRF_CONSTANT + rank) if rank is not None else 0.0


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
    """Candidates in the order of the cross-encoder's scores; those beyond the scored ones follow in their old order."""
    scored = [
        replace(candidate, scores=replace(candidate.scores, rerank=score))
        for candidate, score in zip(candidates, scores, strict=False)
    ]
    scored.sort(key=lambda candidate: -(candidate.scores.rerank or 0.0))
    return [*scored, *candidates[len(scores) :]]


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
