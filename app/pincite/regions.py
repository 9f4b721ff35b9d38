"""Runs of words → regions on pages: one box for each line of each run. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from pincite.model import Box, Page, Passage, Region, Span, Word

SAME_LINE_SHARE = 0.5
# Words of one line further apart than this many times their height stand in different columns or cells.
MAX_GAP_HEIGHTS = 4.0


def regions_of_spans(pages: Mapping[int, Page], spans: Iterable[Span]) -> tuple[Region, ...]:
    """The regions of `spans`, whose pages must all be in `pages`; one region a page, in reading order."""
    placed = [(span.page, word) for span in spans for word in pages[span.page].words[span.first : span.end]]
    return _regions(placed, {number: page.shown_label for number, page in pages.items()})


def regions_of_words(passage: Passage, first: int, end: int) -> tuple[Region, ...]:
    """The regions of words `first` to `end` of a passage."""
    numbers = [span.page for span in passage.spans for _ in range(span.first, span.end)]
    labels = {region.page: region.label for region in passage.regions}
    return _regions(list(zip(numbers[first:end], passage.words[first:end], strict=True)), labels)


def _regions(placed: Sequence[tuple[int, Word]], labels: Mapping[int, str]) -> tuple[Region, ...]:
    boxes: dict[int, list[Box]] = {}
    for page, word in placed:
        lines = boxes.setdefault(page, [])
        if lines and _same_line(lines[-1], word.box):
            lines[-1] = lines[-1].union(word.box)
        else:
            lines.append(word.box)
    return tuple(Region(page, labels.get(page, str(page)), tuple(lines)) for page, lines in boxes.items())


def _same_line(line: Box, box: Box) -> bool:
    shared = line.overlap_height(box)
    if shared < SAME_LINE_SHARE * min(line.height, box.height):
        return False
    return line.x0 <= box.x0 and box.x0 - line.x1 <= MAX_GAP_HEIGHTS * max(line.height, box.height)
