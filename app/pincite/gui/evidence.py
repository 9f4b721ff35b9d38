"""What the viewer is asked to show: a document and the regions of it that matter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pincite.model import Citation, Passage, Region


@dataclass(frozen=True, slots=True)
class Evidence:
    """A document with the regions to highlight, in reading order; without any, it opens at its first page."""

    document: str
    title: str
    path: str
    regions: tuple[Region, ...] = ()


def of_citation(citation: Citation) -> Evidence:
    """The words that support a claim."""
    return Evidence(citation.document, citation.title, citation.path, citation.regions)


def of_passage(passage: Passage) -> Evidence:
    """A whole passage."""
    return Evidence(passage.document, passage.title, passage.path, passage.regions)


def place_of(passage: Passage) -> str:
    """A passage's title and pages: "Staff Handbook, p. 12"."""
    return ", ".join(filter(None, (passage.title, pages_of(passage))))


def pages_of(passage: Passage) -> str:
    """The printed labels of a passage's pages: "p. 12", "pp. xi\u2013xii", or nothing."""
    labels = list(dict.fromkeys(region.label or str(region.page) for region in passage.regions))
    if len(labels) > 1:
        return f"pp. {labels[0]}\u2013{labels[-1]}"
    return f"p. {labels[0]}" if labels else ""


class Numbering:
    """The numbers citations are shown under: those of the sources they lie in, which count from 1."""

    def __init__(self, passages: Sequence[Passage] = ()) -> None:
        self._passages = tuple(passages)
        self._others: list[Citation] = []

    @property
    def passages(self) -> tuple[Passage, ...]:
        return self._passages

    def number(self, citation: Citation) -> int:
        """The number of the source that holds `citation`, or one after the last source for one that none holds."""
        for number, passage in enumerate(self._passages, 1):
            if passage.document == citation.document and _holds(passage.regions, citation.regions):
                return number
        if citation not in self._others:
            self._others.append(citation)
        return len(self._passages) + 1 + self._others.index(citation)


def _holds(outer: Sequence[Region], inner: Sequence[Region]) -> bool:
    """Whether every box of `inner` lies within a box of `outer` on the same page."""
    return bool(inner) and all(
        any(place.page == region.page and any(whole.covers(box) for whole in place.boxes) for place in outer)
        for region in inner
        for box in region.boxes
    )
