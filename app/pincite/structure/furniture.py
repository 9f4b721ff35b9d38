"""Running headers, running footers and page numbers."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from pincite.model import Line, ReadPage

# Where running headers and footers stand: the outer eighth of the page, at most this many lines deep.
MARGIN_SHARE = 0.125
MARGIN_LINES = 3
SAME_PLACE_PT = 6.0
# A header may skip the first page of each chapter, so a third of the pages is enough, but never a single page.
REPEATED_SHARE = 0.34
MIN_SLOT_PAGES = 4
APART_SIZES = 1.0  # the gap between a running header and the text, in sizes of its type

PAGE_NUMBER = re.compile(
    r"(?:page|p\.|seite|sheet)?\s*[-–—|]?\s*(?:\d{1,5}|[ivxlc]{1,7})\s*[-–—|]?(?:\s*(?:of|/|von)\s*\d{1,5})?",
    re.IGNORECASE,
)
DIGITS = re.compile(r"\d+|\b[ivxlc]+\b", re.IGNORECASE)


def furniture_lines(pages: Sequence[ReadPage]) -> list[set[int]]:
    """For each page, the indices of its lines that are running headers, footers or page numbers."""
    texts: dict[str, list[_Place]] = defaultdict(list)
    slots: dict[tuple[int, float], list[_Place]] = defaultdict(list)
    found: list[set[int]] = [set() for _ in pages]
    for at, page in enumerate(pages):
        for index in _margin_lines(page):
            line = page.lines[index]
            place = _Place(at, index, line.box.y0)
            if PAGE_NUMBER.fullmatch(line.text):
                found[at].add(index)
            texts[DIGITS.sub("#", line.text.casefold())].append(place)
            if _stands_apart(page, index):
                slots[round(line.box.y0 / SAME_PLACE_PT), round(line.size_pt, 1)].append(place)
    least = REPEATED_SHARE * min(len(pages), 12)
    for places in texts.values():
        for place in places:
            alike = {other.page for other in places if abs(other.y - place.y) <= SAME_PLACE_PT}
            if len(alike) >= max(2, least):
                found[place.page].add(place.line)
    # A header that names the section of each page has other words on every page, but always the same place and size.
    for places in slots.values():
        if len({place.page for place in places}) >= max(MIN_SLOT_PAGES, least):
            for place in places:
                found[place.page].add(place.line)
    return found


@dataclass(frozen=True, slots=True)
class _Place:
    page: int
    line: int
    y: float


def _stands_apart(page: ReadPage, index: int) -> bool:
    """Whether a line of the margin is set off from the text by more than paragraphs are."""
    line = page.lines[index]
    above = line.box.y1 <= MARGIN_SHARE * page.height
    gaps = [
        other.box.y0 - line.box.y1 if above else line.box.y0 - other.box.y1
        for i, other in enumerate(page.lines)
        if i != index and other.words and (other.box.y0 >= line.box.y1 if above else other.box.y1 <= line.box.y0)
    ]
    return bool(gaps) and min(gaps) >= APART_SIZES * line.size_pt


def _margin_lines(page: ReadPage) -> list[int]:
    """Lines in the outer margins, outermost first on either side; lines whose kind is stated are not furniture."""
    free = [i for i, line in enumerate(page.lines) if line.words and _may_be_furniture(line)]
    top = sorted((i for i in free if page.lines[i].box.y1 <= MARGIN_SHARE * page.height), key=lambda i: _y(page, i))
    low_edge = (1 - MARGIN_SHARE) * page.height
    bottom = sorted((i for i in free if page.lines[i].box.y0 >= low_edge), key=lambda i: -_y(page, i))
    return top[:MARGIN_LINES] + bottom[:MARGIN_LINES]


def _may_be_furniture(line: Line) -> bool:
    return line.kind is None


def _y(page: ReadPage, index: int) -> float:
    return page.lines[index].box.y0
