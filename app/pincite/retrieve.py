"""Stop 6 of the walk: hits → passages: fuse, fold, order, fit the budget. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pincite.model import Passage, Scores, Span

# Reciprocal rank fusion (Cormack, Clarke, Büttcher 2009): score = sum of weight / (constant + rank). The constant and
# weights were chosen on the sample questions and a second set of another kind; docs/decisions/0006 has the figures.
FIRST_CONSTANT = 60
FINAL_CONSTANT = 5
LEXICAL_WEIGHT = 0.7
DENSE_WEIGHT = 1.0
RERANK_WEIGHT = 3.0

POINTS_BACK = frozenset("it its that this these those they them their there he she him her his then same".split())
SHORT_QUESTION_WORDS = 4


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


@dataclass(frozen=True, slots=True)
class Wording:
    """How a question is searched: by each of `searched`, and ranked in the end by `ranked`.

    `rewritten` is the question made to stand alone, or None when it does so as it was asked.
    """

    searched: tuple[str, ...]
    ranked: str
    rewritten: str | None = None


def wording_of(question: str, history: Sequence[str]) -> Wording:
    """How to search a question that follows the earlier questions `history` (oldest first).

    With a history it is searched as asked and also together with the last question. When it points back ("it",
    "that", "and outside London?") it is ranked together with that one too.
    """
    if not history:
        return Wording((question,), question)
    together = f"{history[-1]} {question}"
    words = [word.casefold() for word in re.findall(r"[^\W_]+", question)]
    points_back = any(word in POINTS_BACK for word in words) or words[:1] in (["and"], ["or"], ["but"])
    if points_back or len(words) < SHORT_QUESTION_WORDS:
        return Wording((question, together), together, rewritten=together)
    return Wording((question, together), question)


def interleaved(rankings: Sequence[Sequence[str]]) -> list[str]:
    """Several rankings as one: the firsts, then the seconds …, each chunk once."""
    deepest = max((len(ranking) for ranking in rankings), default=0)
    in_turn = [ranking[place] for place in range(deepest) for ranking in rankings if place < len(ranking)]
    return list(dict.fromkeys(in_turn))


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
