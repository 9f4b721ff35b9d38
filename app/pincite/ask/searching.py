"""Stop 6: a query → passages, through both legs, fusion and the cross-encoder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from pincite.ask.tools import MAX_QUESTION_CHARS, Clock, Tools
from pincite.engine import Engine
from pincite.errors import EngineError, GiveUpError, ModelError, UsageError
from pincite.index import Index
from pincite.model import (
    DuplicatePlace,
    Filters,
    Passage,
    SearchResult,
    Span,
    Stage,
    reading_text,
)
from pincite.regions import regions_of_spans
from pincite.retrieve import Candidate, Wording, folded, fused, grouped, interleaved, joined_spans, reranked, wording_of

LEG_CANDIDATES = 50
RERANK_CANDIDATES = 24
GROUP_DEPTH = 20
SEARCH_MODES = ("hybrid", "lexical", "dense")


@dataclass(slots=True)
class _Run:
    """One search under way."""

    index: Index
    engine: Engine
    wording: Wording
    filters: Filters
    depth: int
    cancelled: Callable[[], bool]
    clock: Clock = field(default_factory=Clock)
    stages: list[Stage] = field(default_factory=list)

    def note(self, name: str, received: int, returned: int, note: str = "") -> None:
        self.stages.append(Stage(name, self.clock.lap_ms(), received, returned, note))


def search(
    tools: Tools,
    query: str,
    *,
    k: int,
    filters: Filters,
    mode: str = "hybrid",
    rerank: bool = True,
    history: Sequence[str] = (),
    cancelled: Callable[[], bool],
) -> SearchResult:
    """The k best passages for `query`, which may follow earlier questions (`history`, oldest first).

    Raises Cancelled, and UsageError for a mode or k that makes no sense.
    """
    if mode not in SEARCH_MODES:
        raise UsageError(f"There is no search mode {mode!r}; there are {', '.join(SEARCH_MODES)}.")
    if k < 1:
        raise UsageError("At least one result must be asked for.")
    wording = wording_of(query[:MAX_QUESTION_CHARS], [earlier[:MAX_QUESTION_CHARS] for earlier in history])
    run = _Run(tools.index, tools.engine, wording, filters, max(LEG_CANDIDATES, k), cancelled)
    lexical = _lexical(run) if mode != "dense" else []
    dense = _dense(run) if mode != "lexical" else []
    candidates = _fused(run, lexical, dense)
    if rerank and query.strip():
        candidates = _reranked(run, candidates)
    candidates = _grouped(run, candidates)
    passages = _passages(run.index, candidates[:k])
    run.note("passages", len(candidates), len(passages))
    return SearchResult(
        query,
        filters,
        tuple(passages),
        tuple(run.stages),
        run.index.not_searched(),
        run.clock.total_ms(),
        wording.rewritten,
    )


def _lexical(run: _Run) -> list[str]:
    rankings = [run.index.lexical(query, run.depth, run.filters) for query in run.wording.searched]
    hits = interleaved([[hit.chunk for hit in ranking] for ranking in rankings])
    run.note("lexical", len(rankings), len(hits))
    return hits


def _dense(run: _Run) -> list[str]:
    hits: list[str] = []
    note = ""
    queries = [query for query in run.wording.searched if query.strip()]
    try:
        vectors = [run.engine.embed_query(query, cancelled=run.cancelled) for query in queries]
        rankings = [run.index.dense(vector, run.depth, run.filters) for vector in vectors]
        hits = interleaved([[hit.chunk for hit in ranking] for ranking in rankings])
    except (EngineError, GiveUpError) as error:  # no model, or no vector store that can be used
        note = f"Searched by words alone. {error}"
    run.note("dense", len(queries), len(hits), note)
    return hits


def _fused(run: _Run, lexical: Sequence[str], dense: Sequence[str]) -> list[Candidate]:
    candidates = fused(lexical, dense)
    texts = {chunk: stored.text for chunk, stored in run.index.chunks([c.chunk for c in candidates]).items()}
    kept = folded([candidate for candidate in candidates if candidate.chunk in texts], texts)
    run.note("fused", len(lexical) + len(dense), len(kept))
    return kept


def _reranked(run: _Run, candidates: list[Candidate]) -> list[Candidate]:
    stored = run.index.chunks([candidate.chunk for candidate in candidates[:RERANK_CANDIDATES]])
    head = [candidate for candidate in candidates[:RERANK_CANDIDATES] if candidate.chunk in stored]
    note = ""
    ordered = candidates
    if head:
        try:
            texts = [f"{stored[c.chunk].context}\n{stored[c.chunk].text}" for c in head]
            scores = run.engine.rerank(run.wording.ranked, texts, cancelled=run.cancelled)
            ordered = reranked([*head, *candidates[RERANK_CANDIDATES:]], scores)
        except (EngineError, ModelError) as error:
            note = f"Not ranked a second time. {error}"
    run.note("reranked", len(candidates), len(ordered), note)
    return ordered


def _grouped(run: _Run, candidates: list[Candidate]) -> list[Candidate]:
    chunks = run.index.chunks([candidate.chunk for candidate in candidates])
    live = [candidate for candidate in candidates if candidate.chunk in chunks]
    sections = {chunk: (stored.document, stored.section) for chunk, stored in chunks.items()}
    kept = grouped(live, sections, GROUP_DEPTH)
    run.note("grouped", len(candidates), len(kept))
    return kept


def _passages(index: Index, candidates: Sequence[Candidate]) -> list[Passage]:
    chunks = index.chunks([chunk for c in candidates for chunk in (c.chunk, *c.duplicates, *c.neighbours)])
    passages: list[Passage] = []
    for candidate in candidates:
        stored = chunks.get(candidate.chunk)
        if stored is None:
            continue  # its document was replaced or deleted while we searched; the new text is found next time
        twins = [chunks[chunk] for chunk in candidate.duplicates if chunk in chunks]
        bare = Passage(
            chunk=stored.id,
            document=stored.document,
            title=stored.title,
            path=stored.path,
            kind=stored.kind,
            heading_path=stored.heading_path,
            text=stored.text,
            spans=stored.spans,
            words=(),
            regions=(),
            scores=candidate.scores,
            modified=stored.modified,
            duplicates=tuple(DuplicatePlace(twin.document, twin.spans[0].page) for twin in twins),
        )
        together = [chunks[chunk] for chunk in (candidate.chunk, *candidate.neighbours) if chunk in chunks]
        spans = stored.spans if len(together) == 1 else joined_spans(s for one in together for s in one.spans)
        placed = with_spans(index, bare, spans)
        if placed is not None:
            passages.append(placed)
    return passages


def with_spans(index: Index, passage: Passage, spans: Sequence[Span]) -> Passage | None:
    """The passage with the words of other spans of its document; None when the document was replaced meanwhile."""
    pages = index.pages(passage.document, [span.page for span in spans])
    if any(span.page not in pages or span.end > len(pages[span.page].words) for span in spans):
        return None
    words = tuple(word for span in spans for word in pages[span.page].words[span.first : span.end])
    return replace(
        passage, text=reading_text(words), spans=tuple(spans), words=words, regions=regions_of_spans(pages, spans)
    )
