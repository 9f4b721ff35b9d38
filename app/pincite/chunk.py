"""Stop 4 of the walk: blocks → chunks that are searched, inside sections that are read. Pure.

A chunk is a run of whole pieces (sentences, list items, table rows, lines of code) under one heading. A numbered
clause is a chunk of its own, with its sub-clauses. A table's header and caption are repeated in each of its chunks,
as the very same words, so that they too lead back to their place.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from pincite.model import Block, BlockKind, Chunk, Document, Section, Span, reading_text
from pincite.sentences import sentence_bounds

CHUNKER_VERSION = "1"
MAX_CONTEXT_CHARS = 240  # a runaway heading must not push the text itself out of the embedder's window
PATH_SEPARATOR = " › "
MAX_REPEATED_SHARE = 0.5  # of a chunk: what a table repeats must leave room for rows


@dataclass(frozen=True, slots=True)
class ChunkLimits:
    """Sizes in the embedder's tokens, without the context that is put before a chunk."""

    chunk_tokens: int
    section_tokens: int


@dataclass(frozen=True, slots=True)
class Piece:
    """What is never cut: a sentence, a list item, a row, a line."""

    spans: tuple[Span, ...]
    tokens: int
    kind: BlockKind
    starts_chunk: bool = False


@dataclass(slots=True)
class Scope:
    """The pieces under one heading."""

    heading_path: tuple[str, ...]
    heading_spans: tuple[Span, ...] = ()
    runs: list[list[Piece]] = field(default_factory=list)  # a run is packed by itself: a table, a log, prose
    repeated: list[tuple[Piece, ...]] = field(default_factory=list)  # for each run, what begins each of its chunks


@dataclass(frozen=True, slots=True)
class Chunking:
    """The sections of a document and the chunks inside them, both in reading order."""

    sections: tuple[Section, ...]
    chunks: tuple[Chunk, ...]


def chunked(
    document: Document, title: str, identity: str, count_tokens: Callable[[str], int], limits: ChunkLimits
) -> Chunking:
    """The chunks of `document`. `identity` (document and generation) makes their ids: same input, same ids."""
    maker = _Maker(document, title, identity, count_tokens, limits)
    for scope in _scopes(document, count_tokens, limits.chunk_tokens):
        maker.add(scope)
    return Chunking(tuple(maker.sections), tuple(maker.chunks))


def _scopes(document: Document, count_tokens: Callable[[str], int], limit: int) -> list[Scope]:
    scopes = [Scope(())]
    path: list[tuple[int, str]] = []
    caption: tuple[Piece, ...] = ()
    for block in document.blocks:
        if block.kind is BlockKind.FURNITURE or not block.spans:
            continue
        if block.kind is BlockKind.HEADING:
            text = reading_text(document.words_in(block.spans))
            path = [entry for entry in path if entry[0] < block.level] + [(block.level, text)]
            scopes.append(Scope(tuple(entry[1] for entry in path), block.spans))
            caption = ()
            continue
        if block.kind is BlockKind.TABLE and block.rows:
            _add_table(scopes[-1], block, caption, document, count_tokens, limit)
            caption = ()
        else:
            pieces = _pieces(document, block, count_tokens, limit)
            _add_text(scopes[-1], block, pieces)
            caption = tuple(pieces) if block.kind is BlockKind.CAPTION else ()
    return scopes


def _add_text(scope: Scope, block: Block, pieces: list[Piece]) -> None:
    if block.kind in (BlockKind.CODE, BlockKind.FOOTNOTE) or not _goes_with_last(scope):
        scope.runs.append(pieces)
        scope.repeated.append(())
    else:
        scope.runs[-1] += pieces


def _add_table(
    scope: Scope,
    block: Block,
    caption: tuple[Piece, ...],
    document: Document,
    count_tokens: Callable[[str], int],
    limit: int,
) -> None:
    """A table's rows as a run, with its caption and header before each part, if they leave room for the rows."""
    header_rows = block.header_rows if block.header_rows < len(block.rows) else 0
    rows = [_piece(document, row, block.kind, count_tokens) for row in block.rows]
    repeated = (*caption, *rows[:header_rows])
    if sum(piece.tokens for piece in repeated) > MAX_REPEATED_SHARE * limit:
        repeated, header_rows = (), 0
    elif caption:  # it was added as text, and is repeated with the table instead
        del scope.runs[-1][-len(caption) :]
        if not scope.runs[-1]:
            del scope.runs[-1], scope.repeated[-1]
    scope.runs.append([part for row in rows[header_rows:] for part in _fitting(document, row, count_tokens, limit)])
    scope.repeated.append(repeated)


def _goes_with_last(scope: Scope) -> bool:
    apart = (BlockKind.TABLE, BlockKind.CODE, BlockKind.FOOTNOTE)
    return bool(scope.runs) and scope.runs[-1][-1].kind not in apart


def _pieces(document: Document, block: Block, count_tokens: Callable[[str], int], limit: int) -> list[Piece]:
    """The block's pieces; one that is longer than the limit is cut hard, between words."""
    places = _places(block.spans)
    bounds = sentence_bounds(document.words_in(block.spans))
    whole = [_piece(document, _spans(places[first:end]), block.kind, count_tokens) for first, end in bounds]
    pieces = [part for piece in whole for part in _fitting(document, piece, count_tokens, limit)]
    if _begins_clause(block):
        pieces[0] = Piece(pieces[0].spans, pieces[0].tokens, pieces[0].kind, starts_chunk=True)
    return pieces


def _begins_clause(block: Block) -> bool:
    return block.kind is BlockKind.PARAGRAPH and "." in block.number


def _piece(document: Document, spans: tuple[Span, ...], kind: BlockKind, count_tokens: Callable[[str], int]) -> Piece:
    return Piece(spans, count_tokens(reading_text(document.words_in(spans))), kind)


def _fitting(document: Document, piece: Piece, count_tokens: Callable[[str], int], limit: int) -> list[Piece]:
    """The piece itself, or parts of it of at most `limit` tokens: the last resort for an endless sentence or row.

    A single "word" that is longer (base64, a ruled line) stays whole: the embedder truncates it.
    """
    places = _places(piece.spans)
    if piece.tokens <= limit or len(places) == 1:
        return [piece]
    parts = -(-piece.tokens // limit)
    size = -(-len(places) // parts)
    fitting: list[Piece] = []
    for at in range(0, len(places), size):
        part = _piece(document, _spans(places[at : at + size]), piece.kind, count_tokens)
        fitting += _fitting(document, part, count_tokens, limit)
    return fitting


def _places(spans: Sequence[Span]) -> list[tuple[int, int]]:
    return [(span.page, index) for span in spans for index in range(span.first, span.end)]


def _spans(places: Sequence[tuple[int, int]]) -> tuple[Span, ...]:
    spans: list[Span] = []
    for page, index in places:
        if spans and spans[-1].page == page and spans[-1].end == index:
            spans[-1] = Span(page, spans[-1].first, index + 1)
        else:
            spans.append(Span(page, index, index + 1))
    return tuple(spans)


class _Maker:
    """Packs scopes into sections and chunks, numbering both."""

    def __init__(
        self, document: Document, title: str, identity: str, count_tokens: Callable[[str], int], limits: ChunkLimits
    ) -> None:
        self._document = document
        self._title = title
        self._identity = identity
        self._count_tokens = count_tokens
        self._limits = limits
        self.sections: list[Section] = []
        self.chunks: list[Chunk] = []

    def add(self, scope: Scope) -> None:
        """Pack one scope; a heading without anything under it is a chunk of its own, so that it can be found."""
        groups = [
            (group, repeated)
            for run, repeated in zip(scope.runs, scope.repeated, strict=True)
            for group in _packed(run, repeated, self._limits.chunk_tokens)
        ]
        if not groups and scope.heading_spans:
            heading = _piece(self._document, scope.heading_spans, BlockKind.HEADING, self._count_tokens)
            parts = _fitting(self._document, heading, self._count_tokens, self._limits.chunk_tokens)
            groups = [([part], ()) for part in parts]
            scope = Scope(scope.heading_path)
        for section_groups in _grouped(groups, self._limits.section_tokens):
            self._add_section(scope, section_groups)
            scope = Scope(scope.heading_path)  # only the first section of a scope holds its heading

    def _add_section(self, scope: Scope, groups: list[tuple[list[Piece], tuple[Piece, ...]]]) -> None:
        ordinal = len(self.sections)
        spans: list[Span] = list(scope.heading_spans)
        for pieces, repeated in groups:
            fresh = [piece for piece in repeated if not set(piece.spans) <= set(spans)]
            spans += [span for piece in (*fresh, *pieces) for span in piece.spans]
            self._add_chunk(ordinal, scope.heading_path, pieces, repeated)
        joined = _spans(_places(spans))
        text = reading_text(self._document.words_in(joined))
        self.sections.append(Section(ordinal, scope.heading_path, text, joined, self._count_tokens(text)))

    def _add_chunk(
        self, section: int, heading_path: tuple[str, ...], pieces: list[Piece], repeated: tuple[Piece, ...]
    ) -> None:
        spans = _spans(_places([span for piece in (*repeated, *pieces) for span in piece.spans]))
        text = reading_text(self._document.words_in(spans))
        context = _context(self._title, heading_path)
        ordinal = len(self.chunks)
        text_hash = _digest(context, text)
        self.chunks.append(
            Chunk(
                id=_digest(self._identity, str(ordinal), text_hash)[:20],
                ordinal=ordinal,
                parent=section,
                kind=pieces[0].kind,
                heading_path=heading_path,
                context=context,
                text=text,
                spans=spans,
                tokens=self._count_tokens(text),
                text_hash=text_hash,
            )
        )


def _packed(run: list[Piece], repeated: tuple[Piece, ...], limit: int) -> list[list[Piece]]:
    """Runs of pieces that fit the limit together with what each chunk repeats."""
    room = max(1, limit - sum(piece.tokens for piece in repeated))
    groups: list[list[Piece]] = []
    used = 0
    for piece in run:
        if groups and not piece.starts_chunk and used + piece.tokens <= room:
            groups[-1].append(piece)
            used += piece.tokens
        else:
            groups.append([piece])
            used = piece.tokens
    return groups


def _grouped(
    groups: list[tuple[list[Piece], tuple[Piece, ...]]], limit: int
) -> list[list[tuple[list[Piece], tuple[Piece, ...]]]]:
    sections: list[list[tuple[list[Piece], tuple[Piece, ...]]]] = []
    used = 0
    for group in groups:
        tokens = sum(piece.tokens for piece in group[0])
        if sections and used + tokens <= limit:
            sections[-1].append(group)
            used += tokens
        else:
            sections.append([group])
            used = tokens
    return sections


def _context(title: str, heading_path: tuple[str, ...]) -> str:
    """Title and heading path; the deepest headings are kept when it would be too long."""
    kept: list[str] = []
    length = len(title)
    for heading in reversed(heading_path):
        length += len(heading) + len(PATH_SEPARATOR)
        if kept and length > MAX_CONTEXT_CHARS:
            break
        kept.append(heading[:MAX_CONTEXT_CHARS])
    return PATH_SEPARATOR.join([title[:MAX_CONTEXT_CHARS], *reversed(kept)])


def _digest(*parts: str) -> str:
    return hashlib.sha256("\x00".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
