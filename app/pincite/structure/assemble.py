"""Lines with roles → blocks, and the pages' words in reading order."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from statistics import median

from pincite.model import Block, BlockKind, Document, Line, Metadata, Page, ReadPage, Span, Word
from pincite.structure.furniture import furniture_lines
from pincite.structure.order import reading_order
from pincite.structure.roles import Role, Roles, typography_of

PARAGRAPH_GAP_RATIO = 1.35  # against the usual distance between lines: more is a new paragraph
INDENT_PT = 8.0
SHORT_LINE_SHARE = 0.85
STOPS = re.compile(r"[.!?:;…][\"'”’)\]]*$")
HYPHENS = "-\u2010\u00ad"
FLOWING = frozenset({BlockKind.PARAGRAPH, BlockKind.LIST_ITEM, BlockKind.FOOTNOTE, BlockKind.CAPTION})


@dataclass(slots=True)
class Placed:
    """A line at its place in the document."""

    line: Line
    role: Role
    page: int
    column: int
    first: int = 0  # index of its first word on the page

    @property
    def span(self) -> Span:
        return Span(self.page, self.first, self.first + len(self.line.words))


@dataclass(slots=True)
class Draft:
    """A block while its lines are being collected."""

    role: Role
    lines: list[Placed] = field(default_factory=list)


def structured(metadata: Metadata, pages: Sequence[ReadPage]) -> Document:
    """The document in normal form. `pages` must be numbered 1, 2, 3 … without gaps."""
    furniture = furniture_lines(pages)
    body = [line for page, skip in zip(pages, furniture, strict=True) for line in _kept(page, skip)]
    roles = Roles(typography_of(body), metadata.outline)
    placed: list[Placed] = []
    aside: list[Placed] = []
    for page, skip in zip(pages, furniture, strict=True):
        on_page = _placed_lines(page, skip, roles)
        extra = [Placed(page.lines[i], Role(BlockKind.FURNITURE, starts=True), page.number, 0) for i in sorted(skip)]
        _number_words(on_page + extra)
        placed += on_page
        aside += extra
    drafts = _without_repeated_headers(_drafts(placed))
    vocabulary = {word.text.casefold().strip(".,;:()“”\"'") for line in body for word in line.words[1:-1]}
    finished = [_finish(draft, vocabulary) for draft in drafts] + [_finish(Draft(p.role, [p]), set()) for p in aside]
    words = _words_by_page(placed + aside)
    return Document(
        metadata,
        tuple(Page(p.number, p.label, p.width, p.height, tuple(words.get(p.number, ()))) for p in pages),
        tuple(finished),
    )


def _kept(page: ReadPage, skip: set[int]) -> list[Line]:
    return [line for i, line in enumerate(page.lines) if i not in skip and line.words]


def _placed_lines(page: ReadPage, skip: set[int], roles: Roles) -> list[Placed]:
    return [
        Placed(ordered.line, roles.role(ordered.line, page.number, page.height), page.number, ordered.column)
        for ordered in reading_order(_kept(page, skip))
    ]


def _number_words(lines: list[Placed]) -> None:
    first = 0
    for placed in lines:
        placed.first = first
        first += len(placed.line.words)


def _words_by_page(lines: list[Placed]) -> dict[int, list[Word]]:
    words: dict[int, list[Word]] = {}
    for placed in sorted(lines, key=lambda p: (p.page, p.first)):
        words.setdefault(placed.page, []).extend(placed.line.words)
    return words


def _drafts(lines: list[Placed]) -> list[Draft]:
    pitch = _usual_pitch(lines)
    drafts: list[Draft] = []
    for placed in lines:
        last = drafts[-1].lines[-1] if drafts else None
        if last is not None and _continues(drafts[-1], last, placed, pitch):
            drafts[-1].lines.append(placed)
        else:
            drafts.append(Draft(placed.role, [placed]))
    return drafts


def _usual_pitch(lines: list[Placed]) -> float:
    """The usual distance from one line's top to the next, as a ratio to the type size."""
    ratios = [
        (after.line.box.y0 - before.line.box.y0) / before.line.size_pt
        for before, after in pairwise(lines)
        if before.page == after.page
        and before.column == after.column
        and before.line.size_pt > 0
        and 0 < after.line.box.y0 - before.line.box.y0 < 2.2 * before.line.size_pt
    ]
    return median(ratios) if ratios else 1.2


def _continues(draft: Draft, last: Placed, placed: Placed, pitch: float) -> bool:
    """Whether `placed` goes on with the block that `last` ends."""
    if placed.line.kind is not None or last.line.kind is not None:
        return _same_stated_block(last, placed)
    if placed.role.kind is BlockKind.HEADING or draft.role.kind is BlockKind.HEADING:
        return _same_heading(last, placed)
    if placed.role.starts and not _wrapped_figure(draft, last, placed, pitch):
        return False
    if placed.role.kind is BlockKind.CODE or draft.role.kind is BlockKind.CODE:
        return placed.role.kind is draft.role.kind and _close(last, placed, pitch)
    if placed.page != last.page or placed.column != last.column:
        return not STOPS.search(last.line.text) and placed.line.text[:1].islower()
    if not _close(last, placed, pitch) or _sizes_differ(last.line, placed.line):
        return False
    return not _ends_paragraph(draft, last, placed)


def _wrapped_figure(draft: Draft, last: Placed, placed: Placed, pitch: float) -> bool:
    """Whether a line begins with a figure ("13.2 per cent") that its sentence carried over, no clause number."""
    if draft.role.kind not in FLOWING or not placed.role.number[:1].isdigit():
        return False
    aligned = abs(placed.line.box.x0 - min(line.line.box.x0 for line in draft.lines)) <= INDENT_PT
    return aligned and not STOPS.search(last.line.text) and _close(last, placed, pitch)


def _same_stated_block(last: Placed, placed: Placed) -> bool:
    same = last.line.group == placed.line.group and last.role.kind is placed.role.kind
    return same and last.line.kind is not None and placed.line.kind is not None and last.page == placed.page


def _same_heading(last: Placed, placed: Placed) -> bool:
    if last.role.kind is not placed.role.kind or last.page != placed.page or last.column != placed.column:
        return False
    if _sizes_differ(last.line, placed.line) or last.line.bold != placed.line.bold or placed.role.number:
        return False
    return 0 < placed.line.box.y0 - last.line.box.y0 <= 1.5 * last.line.size_pt and last.line.group == placed.line.group


def _close(last: Placed, placed: Placed, pitch: float) -> bool:
    distance = placed.line.box.y0 - last.line.box.y0
    return placed.page == last.page and 0 <= distance <= PARAGRAPH_GAP_RATIO * pitch * max(last.line.size_pt, 1.0)


def _sizes_differ(one: Line, other: Line) -> bool:
    return abs(one.size_pt - other.size_pt) > 0.1 * max(one.size_pt, other.size_pt)


def _ends_paragraph(draft: Draft, last: Placed, placed: Placed) -> bool:
    """Whether `last` closes its paragraph: a full stop on a short line, or an indent after it."""
    if not STOPS.search(last.line.text):
        return False
    widest = max(line.line.box.x1 for line in draft.lines)
    left = min(line.line.box.x0 for line in draft.lines)
    reach = max(widest, placed.line.box.x1)
    short = last.line.box.x1 < left + SHORT_LINE_SHARE * (reach - left)
    indented = draft.role.kind is BlockKind.PARAGRAPH and placed.line.box.x0 > last.line.box.x0 + INDENT_PT
    return short or indented


def _without_repeated_headers(drafts: list[Draft]) -> list[Draft]:
    """Tables that go on over a page: one draft, its repeated header rows turned into furniture."""
    joined: list[Draft] = []
    for draft in drafts:
        before = joined[-1] if joined else None
        if before is not None and _goes_on(before, draft):
            header = _header_texts(before)
            for placed in draft.lines:
                if placed.line.header_row and placed.line.text in header:
                    joined.insert(len(joined) - 1, Draft(Role(BlockKind.FURNITURE), [placed]))
                else:
                    before.lines.append(placed)
        else:
            joined.append(draft)
    return joined


def _goes_on(before: Draft, draft: Draft) -> bool:
    """Whether a table continues the one before it: next page, same columns, and the same header or none."""
    if before.role.kind is not BlockKind.TABLE or draft.role.kind is not BlockKind.TABLE:
        return False
    first, last = draft.lines[0], before.lines[-1]
    if first.page != last.page + 1 or _columns_of(first.line) != _columns_of(before.lines[0].line):
        return False
    header = _header_texts(draft)
    return not header or header == _header_texts(before)


def _columns_of(row: Line) -> int:
    return sum(1 for word in row.words if "|" in word.after) + 1


def _header_texts(draft: Draft) -> list[str]:
    return [placed.line.text for placed in draft.lines if placed.line.header_row]


def _finish(draft: Draft, vocabulary: set[str]) -> Block:
    """The block of a draft, after setting what follows each of its words when it is read."""
    flowing = draft.role.kind in FLOWING or draft.role.kind is BlockKind.HEADING
    for index, placed in enumerate(draft.lines):
        following = draft.lines[index + 1].line.words[0] if index + 1 < len(draft.lines) else None
        placed.line = _line_ended(placed.line, following, flowing, vocabulary)
    spans = _merged([placed.span for placed in draft.lines])
    rows: tuple[tuple[Span, ...], ...] = ()
    header_rows = 0
    if draft.role.kind is BlockKind.TABLE:
        rows = _rows(draft.lines)
        header_rows = len({p.line.row for p in draft.lines if p.line.header_row})
    return Block(draft.role.kind, spans, draft.role.level, draft.role.number, rows, header_rows)


def _rows(lines: list[Placed]) -> tuple[tuple[Span, ...], ...]:
    rows: list[list[Placed]] = []
    for placed in lines:
        if rows and rows[-1][-1].line.row == placed.line.row and rows[-1][-1].page == placed.page:
            rows[-1].append(placed)
        else:
            rows.append([placed])
    return tuple(_merged([placed.span for placed in row]) for row in rows)


def _line_ended(line: Line, following: Word | None, flowing: bool, vocabulary: set[str]) -> Line:
    last = line.words[-1]
    if following is None:
        ended = replace(last, after="\n")
    elif not flowing:
        ended = last if "\n" in last.after else replace(last, after="\n")
    else:
        ended = _joined_over_line_end(last, following, vocabulary)
    return replace(line, words=(*line.words[:-1], ended))


def _joined_over_line_end(last: Word, following: Word, vocabulary: set[str]) -> Word:
    """What reading makes of a line end: a space, or nothing after a hyphen (which falls away if it only divided)."""
    text = last.text
    if len(text) < 2 or text[-1] not in HYPHENS or not text[-2].isalpha() or not following.text[:1].isalpha():
        return replace(last, after=" ")
    if following.text[0].isupper():
        return replace(last, after="")  # "Anglo-Saxon"
    if text[-1] != "\u00ad" and _keeps_hyphen(text.casefold(), following.text.casefold(), vocabulary):
        return replace(last, after="")
    return replace(last, after="", joined=True)


def _keeps_hyphen(first: str, second: str, vocabulary: set[str]) -> bool:
    """Whether the hyphen belongs to the word ("part-time") rather than to the line end ("contin-ues").

    The document itself is the dictionary: it may have the word in full, or both halves as words but not the whole.
    """
    head, tail = first.lstrip("(“\"'"), second.rstrip(".,;:()”\"'")
    if head + tail in vocabulary:
        return True
    return head[:-1] + tail not in vocabulary and head[:-1] in vocabulary and tail in vocabulary


def _merged(spans: list[Span]) -> tuple[Span, ...]:
    merged: list[Span] = []
    for span in spans:
        if merged and merged[-1].page == span.page and merged[-1].end == span.first:
            merged[-1] = Span(span.page, merged[-1].first, span.end)
        else:
            merged.append(span)
    return tuple(merged)
