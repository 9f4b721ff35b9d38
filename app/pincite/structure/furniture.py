"""Running headers, running footers and page numbers."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from pincite.model import Line, ReadPage

# Where running headers and footers stand: the outer eighth of the page, at most this many lines deep.
MARGIN_SHARE = 0.125
MARGIN_LINES = 3
SAME_PLACE_PT = 6.0
# A header may skip the first page of each chapter, so a third of the pages is enough, but never a single page.
REPEATED_SHARE = 0.34

PAGE_NUMBER = re.compile(
    r"(?:page|p\.|seite|sheet)?\s*[-–—|]?\s*(?:\d{1,5}|[ivxlc]{1,7})\s*[-–—|]?(?:\s*(?:of|/|von)\s*\d{1,5})?",
    re.IGNORECASE,
)
DIGITS = re.compile(r"\d+|\b[ivxlc]+\b", re.IGNORECASE)


def furniture_lines(pages: Sequence[ReadPage]) -> list[set[int]]:
    """For each page, the indices of its lines that are running headers, footers or page numbers."""
    seen: dict[str, list[tuple[int, int, float]]] = defaultdict(list)
    found: list[set[int]] = [set() for _ in pages]
    for at, page in enumerate(pages):
        for index in _margin_lines(page):
            line = page.lines[index]
            if PAGE_NUMBER.fullmatch(line.text):
                found[at].add(index)
            seen[DIGITS.sub("#", line.text.casefold())].append((at, index, line.box.y0))
    for places in seen.values():
        for at, index, y in places:
            alike = {other for other, _, other_y in places if abs(other_y - y) <= SAME_PLACE_PT}
            if len(alike) >= 2 and len(alike) >= REPEATED_SHARE * min(len(pages), 12):
                found[at].add(index)
    return found


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
