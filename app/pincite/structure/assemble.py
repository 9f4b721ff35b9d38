"""Lines with roles → blocks, and the pages' words in reading order."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from statistics import median

from pincite.model import Block, BlockKind, Document, Line, Metadata, Page, ReadPage, Span, Word
from pincite.structure.furniture import furniture_lines
from pincite.structure.line_ends import line_ended, vocabulary_of
from pincite.structure.order import reading_order
from pincite.structure.roles import Role, Roles, typography_of

PARAGRAPH_GAP_RATIO = 1.35  # against the usual distance between lines: more is a new paragraph
INDENT_PT = 8.0
SHORT_LINE_SHARE = 0.85
STOPS = re.compile(r"[.!?:;…][\"'”’)\]]*$")
FLOWING = frozenset({BlockKind.PARAGRAPH, BlockKind.LIST_ITEM, BlockKind.FOOTNOTE, BlockKind.CAPTION})
# What may stand between two halves of a paragraph, at the end of the column or page that it leaves.
ASIDE = frozenset({BlockKind.FOOTNOTE, BlockKind.CAPTION, BlockKind.TABLE})
MIN_REACH_LINES = 4  # fewer do not show how wide their column is
WORD_SPACE_SIZES = 0.2


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


@dataclass(frozen=True, slots=True)
class Setting:
    """How the text is set: the distance from line to line in sizes of its type; how far right each column reaches."""

    pitch: float
    reach: dict[tuple[int, int], float]


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
    drafts = [_as_outlined(draft, roles) for draft in _without_repeated_headers(_drafts(placed))]
    drafts += [Draft(one.role, [one]) for one in aside]
    vocabulary = vocabulary_of(body)
    finished = [_finish(draft, vocabulary) for draft in drafts]
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
    setting = _setting_of(lines)
    drafts: list[Draft] = []
    for placed in lines:
        draft = _draft_before(drafts, placed)
        if draft is not None and _continues(draft, draft.lines[-1], placed, setting):
            draft.lines.append(placed)
        else:
            drafts.append(Draft(placed.role, [placed]))
    return drafts


def _draft_before(drafts: list[Draft], placed: Placed) -> Draft | None:
    """The draft that a line may go on with: the last, or the one before what stands at the end of its column."""
    for draft in reversed(drafts):
        last = draft.lines[-1]
        elsewhere = (last.page, last.column) != (placed.page, placed.column)
        if not (elsewhere and draft.role.kind in ASIDE and placed.line.kind is None):
            return draft
    return None


def _setting_of(lines: list[Placed]) -> Setting:
    ratios = [
        (after.line.box.y0 - before.line.box.y0) / before.line.size_pt
        for before, after in pairwise(lines)
        if before.page == after.page
        and before.column == after.column
        and before.line.size_pt > 0
        and 0 < after.line.box.y0 - before.line.box.y0 < 2.2 * before.line.size_pt
    ]
    ends: dict[tuple[int, int], list[float]] = defaultdict(list)
    for placed in lines:
        if placed.role.kind in FLOWING:
            ends[placed.page, placed.column].append(placed.line.box.x1)
    widest = max((max(column) for column in ends.values()), default=0.0)
    reach = {at: max(column) if len(column) >= MIN_REACH_LINES else widest for at, column in ends.items()}
    return Setting(median(ratios) if ratios else 1.2, reach)


def _continues(draft: Draft, last: Placed, placed: Placed, setting: Setting) -> bool:
    """Whether `placed` goes on with the block that `last` ends."""
    if placed.line.kind is not None or last.line.kind is not None:
        return _same_stated_block(last, placed)
    if placed.role.kind is BlockKind.HEADING or draft.role.kind is BlockKind.HEADING:
        return _same_heading(last, placed)
    if placed.role.starts and not _wrapped_figure(draft, last, placed, setting):
        return False
    if placed.role.kind is BlockKind.CODE or draft.role.kind is BlockKind.CODE:
        return placed.role.kind is draft.role.kind and _close(last, placed, setting.pitch)
    if _sizes_differ(last.line, placed.line):
        return False
    if placed.page != last.page or placed.column != last.column:
        return _carried_over(last, placed, setting)
    return _close(last, placed, setting.pitch) and not _ends_paragraph(draft, last, placed, setting)


def _carried_over(last: Placed, placed: Placed, setting: Setting) -> bool:
    """Whether a sentence goes on in the next column or on the next page."""
    if STOPS.search(last.line.text) or not last.page <= placed.page <= last.page + 1:
        return False
    return placed.line.text[:1].islower() or _is_full(last, placed, setting)


def _wrapped_figure(draft: Draft, last: Placed, placed: Placed, setting: Setting) -> bool:
    """Whether a line begins with a figure ("13.2 per cent") that its sentence carried over, no clause number."""
    number = placed.role.number
    if draft.role.kind not in FLOWING or not number[:1].isdigit() or _is_next(number, draft.role.number):
        return False
    aligned = abs(placed.line.box.x0 - min(line.line.box.x0 for line in draft.lines)) <= INDENT_PT
    unfinished = not STOPS.search(last.line.text) and _is_full(last, placed, setting)
    return aligned and unfinished and _close(last, placed, setting.pitch)


def _is_next(number: str, before: str) -> bool:
    """Whether a printed number begins a list or follows another: 8, 7.5 or 7.4.1 after 7.4."""
    figures, last = (tuple(int(part) for part in re.findall(r"\d+", text)) for text in (number, before))
    return figures in {(1,), (*last, 1), *((*last[:depth], last[depth] + 1) for depth in range(len(last)))}


def _is_full(last: Placed, placed: Placed, setting: Setting) -> bool:
    """Whether the first word of `placed` would not have fitted behind `last`."""
    word = placed.line.words[0].box.width
    return last.line.box.x1 + word + WORD_SPACE_SIZES * last.line.size_pt > setting.reach[last.page, last.column]


def _same_stated_block(last: Placed, placed: Placed) -> bool:
    if last.line.kind is not placed.line.kind or last.line.group != placed.line.group:
        return False
    # Tables are joined over pages later, by their columns.
    return last.page == placed.page or (last.page + 1 == placed.page and placed.line.kind is not BlockKind.TABLE)


def _as_outlined(draft: Draft, roles: Roles) -> Draft:
    """A heading of several lines may be in the outline although none of its lines is."""
    if draft.role.kind is BlockKind.HEADING and len(draft.lines) > 1:
        level = roles.outline_level(" ".join(placed.line.text for placed in draft.lines), draft.lines[0].page)
        if level is not None:
            draft.role = replace(draft.role, level=level)
    return draft


def _same_heading(last: Placed, placed: Placed) -> bool:
    if last.role.kind is not placed.role.kind or last.page != placed.page or last.column != placed.column:
        return False
    if _sizes_differ(last.line, placed.line) or last.line.bold != placed.line.bold or placed.role.number:
        return False
    return 0 < placed.line.box.y0 - last.line.box.y0 <= 1.5 * last.line.size_pt and last.line.group == placed.line.group


def _close(last: Placed, placed: Placed, pitch: float) -> bool:
    distance = placed.line.box.y0 - last.line.box.y0
    together = (placed.page, placed.column) == (last.page, last.column)
    return together and 0 <= distance <= PARAGRAPH_GAP_RATIO * pitch * max(last.line.size_pt, 1.0)


def _sizes_differ(one: Line, other: Line) -> bool:
    return abs(one.size_pt - other.size_pt) > 0.1 * max(one.size_pt, other.size_pt)


def _ends_paragraph(draft: Draft, last: Placed, placed: Placed, setting: Setting) -> bool:
    """Whether `last` closes its paragraph: a full stop on a short line, or an indent after it."""
    if not STOPS.search(last.line.text):
        return False
    reach = max(placed.line.box.x1, *(line.line.box.x1 for line in draft.lines))
    left = min(line.line.box.x0 for line in draft.lines)
    short = last.line.box.x1 < left + SHORT_LINE_SHARE * (reach - left)
    indented = placed.line.box.x0 > last.line.box.x0 + INDENT_PT
    if draft.role.kind is not BlockKind.PARAGRAPH:
        return short
    if draft.role.number and len(draft.lines) == 1:  # the number hangs, so the second line is indented anyway
        return short or not _is_full(last, placed, setting)
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
    if draft.lines[0].page != before.lines[-1].page + 1:
        return False
    header = _header_texts(draft)
    return header == _header_texts(before) if header else _columns_of(draft) == _columns_of(before)


def _columns_of(draft: Draft) -> int:
    """The most cells that a row has: those without words at its ends leave no trace in it."""
    return max(sum(word.after.count("|") for word in placed.line.words) for placed in draft.lines) + 1


def _header_texts(draft: Draft) -> list[str]:
    return [placed.line.text for placed in draft.lines if placed.line.header_row]


def _finish(draft: Draft, vocabulary: frozenset[str]) -> Block:
    """The block of a draft, after setting what follows each of its words when it is read."""
    flowing = draft.role.kind in FLOWING or draft.role.kind is BlockKind.HEADING
    for index, placed in enumerate(draft.lines):
        following = draft.lines[index + 1].line.words[0] if index + 1 < len(draft.lines) else None
        placed.line = line_ended(placed.line, following, flowing, vocabulary)
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


def _merged(spans: list[Span]) -> tuple[Span, ...]:
    merged: list[Span] = []
    for span in spans:
        if merged and merged[-1].page == span.page and merged[-1].end == span.first:
            merged[-1] = Span(span.page, merged[-1].first, span.end)
        else:
            merged.append(span)
    return tuple(merged)
