"""Stops 7 and 8: a question → sources, streamed text, checked claims, and the answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field

from pincite.answer import (
    DraftClaim,
    DraftStream,
    answer_text,
    best_quotes,
    grammar_for,
    messages_for,
    naming_identifiers,
    quote_candidates,
    word_scores,
)
from pincite.ask.searching import search, with_spans
from pincite.ask.tools import MAX_QUESTION_CHARS, Clock, Tools
from pincite.engine import GenerationStats
from pincite.errors import EngineError, GiveUpError, ModelError, UsageError
from pincite.model import (
    Answer,
    Answered,
    AnswerVerdict,
    AskEvent,
    Claim,
    ClaimChecked,
    Filters,
    Passage,
    SearchResult,
    SourcesFound,
    TextAdded,
    Verdict,
)
from pincite.retrieve import within_budget
from pincite.verify import attributed, quoted

PROMPT_CANDIDATES = 6
QUOTE_PASSAGES = 6
NEAREST_SHOWN = 5
# A section is read in a chunk's stead while it is at most this much of the evidence: more would crowd out the rest.
SECTION_SHARE = 0.4
ASK_MODES = ("normal", "quotes")


@dataclass(slots=True)
class _Asking:
    """One question under way."""

    tools: Tools
    question: str  # as it is put to the models: standing alone
    cancelled: Callable[[], bool]
    found: SearchResult
    passages: tuple[Passage, ...]
    clock: Clock
    claims: list[Claim] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    timings_ms: dict[str, float] = field(default_factory=dict)
    tokens: dict[str, int] = field(default_factory=dict)


def ask(
    tools: Tools,
    question: str,
    *,
    filters: Filters,
    mode: str = "normal",
    history: Sequence[str] = (),
    trace: str,
    cancelled: Callable[[], bool],
) -> Iterator[AskEvent]:
    """Sources, then text and checked claims as they are written, then the answer. Raises UsageError, Cancelled.

    `history` holds the earlier questions of the conversation, oldest first. Without a model fit to write, or when
    nothing it writes is supported, the answer is made of quotes.
    """
    _check_question(question, mode)
    clock = Clock()
    depth = max(PROMPT_CANDIDATES, QUOTE_PASSAGES)
    found = search(tools, question, k=depth, filters=filters, history=history, cancelled=cancelled)
    writes = mode == "normal" and bool(tools.model)
    passages = _evidence(tools, found) if writes else found.results[:QUOTE_PASSAGES]
    asking = _Asking(tools, found.rewritten or question, cancelled, found, tuple(passages), clock)
    if found.rewritten:
        asking.notes.append("Read together with the question before it.")
    asking.notes += [stage.note for stage in found.stages if stage.note]
    asking.timings_ms = {stage.name: stage.ms for stage in found.stages} | {"sources": clock.total_ms()}
    yield SourcesFound(asking.passages, found.not_searched)
    refused = False
    if writes and asking.passages:
        refused = yield from _written(asking)
    if not refused and not any(claim.verdict is not Verdict.UNSUPPORTED for claim in asking.claims):
        yield from _quoted(asking)
    yield Answered(_answer(asking, "normal" if writes else "quotes", trace))


def _check_question(question: str, mode: str) -> None:
    if mode == "deep":
        raise UsageError("Answering in several rounds (deep) does not exist yet; ask without it.")
    if mode not in ASK_MODES:
        raise UsageError(f"There is no way of asking called {mode!r}; there are {', '.join(ASK_MODES)}.")
    if not any(char.isalnum() for char in question):
        raise UsageError("There is no word in this question to look for; please ask in words.")
    if len(question) > MAX_QUESTION_CHARS:
        raise UsageError(
            f"The question is {len(question):,} characters long, and at most {MAX_QUESTION_CHARS:,} can be asked at "
            "once; please shorten it."
        )


def _evidence(tools: Tools, found: SearchResult) -> list[Passage]:
    """What the model may read: whole sections where they are short, within the budget."""
    kept, _ = within_budget(
        _widened(tools, found.results[:PROMPT_CANDIDATES]), tools.evidence_tokens, tools.count_tokens
    )
    return kept


def _widened(tools: Tools, passages: Sequence[Passage]) -> list[Passage]:
    limit = SECTION_SHARE * tools.evidence_tokens
    chunks = tools.index.chunks([passage.chunk for passage in passages])
    wide: list[Passage] = []
    seen: set[tuple[str, int]] = set()
    for passage in passages:
        stored = chunks.get(passage.chunk)
        if stored is None or (stored.document, stored.section) in seen:
            continue
        spans, tokens = tools.index.section(stored.document, stored.section)
        if tokens <= limit:
            seen.add((stored.document, stored.section))
            wide.append(with_spans(tools.index, passage, spans) or passage)
        else:
            wide.append(passage)
    return wide


def _written(asking: _Asking) -> Generator[AskEvent, None, bool]:
    """Stream the model's answer and check each sentence; returns whether the model refused."""
    tools = asking.tools
    drafts = DraftStream(tools.prompt.refusal)
    try:
        pieces = tools.engine.generate(
            messages_for(asking.question, asking.passages, tools.prompt),
            grammar_for(len(asking.passages), tools.prompt),
            model=tools.model,
            max_tokens=tools.answer_tokens,
            cancelled=asking.cancelled,
        )
        yield from _streamed(asking, pieces, drafts)
        for draft in drafts.end():
            yield from _claimed(asking, draft)
    except (EngineError, GiveUpError) as error:  # the model is gone or missing, or cannot take this much in
        asking.notes.append(f"The answer is made of quotes. {error}")
    return drafts.refused


def _streamed(
    asking: _Asking, pieces: Generator[str, None, GenerationStats], drafts: DraftStream
) -> Generator[AskEvent, None, None]:
    while True:
        try:
            piece = next(pieces)
        except StopIteration as stop:
            stats = stop.value
            asking.tokens = {"prompt": stats.prompt_tokens, "answer": stats.answer_tokens}
            return
        asking.timings_ms.setdefault("first_token", asking.clock.total_ms())
        yield TextAdded(piece)
        for draft in drafts.add(piece):
            yield from _claimed(asking, draft)


def _claimed(asking: _Asking, draft: DraftClaim) -> Iterator[AskEvent]:
    if not draft.cited:
        asking.notes.append(f"An unfinished sentence without a citation was left out: “{draft.text}”")
        return
    claim, moved = attributed(draft.text, asking.passages, draft.cited)
    if moved:
        asking.notes.append(f"Sentence {len(asking.claims) + 1} cites the passage that supports it, not the one named.")
    asking.claims.append(claim)
    yield ClaimChecked(len(asking.claims) - 1, claim)


def _quoted(asking: _Asking) -> Iterator[AskEvent]:
    """Answer with the best sentences of the passages, word for word."""
    candidates = naming_identifiers(asking.question, quote_candidates(asking.passages))
    if not candidates:
        return
    try:
        scores = asking.tools.engine.rerank(
            asking.question, [candidate.scored_text for candidate in candidates], cancelled=asking.cancelled
        )
    except (EngineError, ModelError) as error:
        asking.notes.append(f"The quotes were chosen by their words alone. {error}")
        scores = word_scores(asking.question, candidates)
    chosen = best_quotes(candidates, scores)
    if chosen and asking.claims:
        asking.notes.append("No sentence that the model wrote was supported; quotes stand in their place.")
        asking.claims.clear()
    for candidate, score in chosen:
        share = 1 / (1 + math.exp(-score))
        claim = quoted(asking.passages[candidate.passage], candidate.first, candidate.end, share)
        asking.claims.append(claim)
        asking.timings_ms.setdefault("first_token", asking.clock.total_ms())
        yield ClaimChecked(len(asking.claims) - 1, claim)


def _answer(asking: _Asking, mode: str, trace: str) -> Answer:
    verdict = _verdict(asking.claims)
    text = answer_text([(claim.text, claim.verdict) for claim in asking.claims])
    if verdict is AnswerVerdict.NOT_FOUND:
        text = asking.tools.prompt.refusal
    quotes_only = all(claim.verdict is Verdict.QUOTE for claim in asking.claims) and bool(asking.claims)
    return Answer(
        question=asking.found.query,
        verdict=verdict,
        text=text,
        mode="quotes" if quotes_only else mode,
        claims=tuple(asking.claims),
        nearest=asking.found.results[:NEAREST_SHOWN] if verdict is AnswerVerdict.NOT_FOUND else (),
        passages=asking.passages,
        not_searched=asking.found.not_searched,
        model="" if mode == "quotes" else asking.tools.model,
        trace=trace,
        timings_ms=asking.timings_ms | {"total": asking.clock.total_ms()},
        tokens=asking.tokens,
        notes=tuple(dict.fromkeys(asking.notes)),
        rewritten=asking.found.rewritten,
    )


def _verdict(claims: Sequence[Claim]) -> AnswerVerdict:
    good = sum(claim.verdict in (Verdict.SUPPORTED, Verdict.QUOTE) for claim in claims)
    some = sum(claim.verdict is Verdict.PARTLY for claim in claims)
    if good == len(claims) and claims:
        return AnswerVerdict.ANSWERED
    return AnswerVerdict.PARTLY if good or some else AnswerVerdict.NOT_FOUND
