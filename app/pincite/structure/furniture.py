"""Running headers, running footers and page numbers."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from pincite.model import Line, ReadPage

# Where running headers and footers stand: the outer eighth of the page, at most this many lines deep.
MARGIN_SHARE = 0.125
MARGIN_LINES = 3
SAME_PLACE_PT = 6.0
# A header may skip the first page of each chapter, so a third of the pages is enough, but never a single page.
REPEATED_SHARE = 0.34
REPEATED_OF_PAGES = 12  # a chapter's name stands only on its own pages: a third of so many is enough for words
MIN_SLOT_PAGES = 4
APART_SIZES = 1.0  # the gap between a running header and the text, in sizes of its type
NUMBER_APART_SIZES = 0.5  # the gap between a page number and the text; lines of text have none
SAME_ROW_SHARE = 0.5

ROMAN = r"(?=[ivxlc])c{0,3}(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})"
PAGE_NUMBER = re.compile(
    rf"(?:page|p\.|seite|sheet)?\s*[-–—|]?\s*(?:\d{{1,5}}|{ROMAN})\s*[-–—|]?(?:\s*(?:of|/|von)\s*\d{{1,5}})?",
    re.IGNORECASE,
)
NUMBER = re.compile(rf"\d{{1,9}}|\b{ROMAN}(?![^\W_])", re.IGNORECASE)
ROMAN_VALUES = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}


def furniture_lines(pages: Sequence[ReadPage]) -> list[set[int]]:
    """For each page, the indices of its lines that are running headers, footers or page numbers."""
    places = [_Place(at, i, page.lines[i]) for at, page in enumerate(pages) for i in _margin_lines(page)]
    found: list[set[int]] = [set() for _ in pages]
    few = max(2.0, REPEATED_SHARE * min(len(pages), REPEATED_OF_PAGES))
    many = max(MIN_SLOT_PAGES, REPEATED_SHARE * len(pages))
    numbers = (place for place in places if PAGE_NUMBER.fullmatch(place.line.text))
    repeated = _on_pages(((words, place) for place in places for words in _same_words(place)), few)
    # A header that names the section of each page has other words on each, but always the same place and size.
    in_slots = _on_pages(_slots(places, pages), many)
    for place in chain(numbers, repeated, in_slots):
        found[place.page].add(place.index)
    for page, indices in zip(pages, found, strict=True):
        # All at once: a figure among figures is no more a page number than its neighbours are.
        indices -= {index for index in indices if _is_figure_of_text(page, index, indices)}
    return found


@dataclass(frozen=True, slots=True)
class _Place:
    """A line in a margin: number `index` of page `page`, both from 0."""

    page: int
    index: int
    line: Line


def _on_pages(keyed: Iterable[tuple[Hashable, _Place]], least: float) -> Iterator[_Place]:
    """The places that share their key and, about, their height with places on at least so many pages."""
    bands: dict[Hashable, dict[int, list[_Place]]] = defaultdict(lambda: defaultdict(list))
    for key, place in keyed:
        bands[key][round(place.line.box.y0 / SAME_PLACE_PT)].append(place)
    for by_band in bands.values():
        for band, places in by_band.items():
            near = (by_band.get(other, ()) for other in (band - 1, band, band + 1))
            if len({place.page for group in near for place in group}) >= least:
                yield from places


def _same_words(place: _Place) -> Iterator[str]:
    """The line's words, and again with each of its numbers as what it is on page 0 if it counts the pages."""
    text = place.line.text.casefold()
    yield text
    for match in NUMBER.finditer(text):
        yield f"{text[: match.start()]}#{_value(match[0]) - place.page}{text[match.end() :]}"


def _value(number: str) -> int:
    if number.isdigit():
        return int(number)
    values = [ROMAN_VALUES[letter] for letter in number]
    return sum(-one if one < after else one for one, after in zip(values, [*values[1:], 0], strict=True))


def _slots(places: Sequence[_Place], pages: Sequence[ReadPage]) -> Iterator[tuple[float, _Place]]:
    usual: Counter[float] = Counter()
    for page in pages:
        for line in page.lines:
            usual[round(line.size_pt, 1)] += len(line.words)
    text_size = max(usual, key=lambda size: usual[size], default=0.0)
    for place in places:
        size = round(place.line.size_pt, 1)
        # Larger type at the head of a page, however regular, is the heading of a chapter.
        if size <= text_size and _stands_apart(pages[place.page], place.index):
            yield size, place


def _stands_apart(page: ReadPage, index: int) -> bool:
    """Whether a line of the margin is set off from the text by more than paragraphs are."""
    line = page.lines[index]
    above = _is_above(page, line)
    gaps = [
        other.box.y0 - line.box.y1 if above else line.box.y0 - other.box.y1
        for i, other in enumerate(page.lines)
        if i != index and other.words and (other.box.y0 >= line.box.y1 if above else other.box.y1 <= line.box.y0)
    ]
    return bool(gaps) and min(gaps) >= APART_SIZES * line.size_pt


def _is_figure_of_text(page: ReadPage, index: int, furniture: set[int]) -> bool:
    """Whether a line of nothing but a number belongs to the text: a clause's own number, or a table's figure."""
    line = page.lines[index]
    if not _is_number(line):
        return False
    above = _is_above(page, line)
    for i, other in enumerate(page.lines):
        if i == index or not other.words or (i in furniture and not _is_number(other)):
            continue
        if line.box.overlap_height(other.box) >= SAME_ROW_SHARE * min(line.box.height, other.box.height):
            return True
        gap = other.box.y0 - line.box.y1 if above else line.box.y0 - other.box.y1
        if gap < NUMBER_APART_SIZES * line.size_pt:
            return True
    return False


def _is_number(line: Line) -> bool:
    return bool(NUMBER.fullmatch(line.text)) or not any(char.isalpha() for char in line.text)


def _is_above(page: ReadPage, line: Line) -> bool:
    return line.box.y1 <= MARGIN_SHARE * page.height


def _margin_lines(page: ReadPage) -> list[int]:
    """Lines in the outer margins, outermost first on either side; lines whose kind is stated are not furniture."""
    free = [i for i, line in enumerate(page.lines) if line.words and line.kind is None]
    top = sorted((i for i in free if _is_above(page, page.lines[i])), key=lambda i: _y(page, i))
    low_edge = (1 - MARGIN_SHARE) * page.height
    bottom = sorted((i for i in free if page.lines[i].box.y0 >= low_edge), key=lambda i: -_y(page, i))
    return top[:MARGIN_LINES] + bottom[:MARGIN_LINES]


def _y(page: ReadPage, index: int) -> float:
    return page.lines[index].box.y0
