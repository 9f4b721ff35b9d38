"""Gold sets, and whether what was found and cited is what should have been.

A *page hit* at k: a page of the evidence is among the first k results. A *region hit*: each region that an answer
cites covers words of the evidence text.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pincite.errors import UsageError
from pincite.model import Answer, Box, Page, Passage

# How much of the shorter of two texts must be in the other, in words, for a region to cover the evidence.
COVERED_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Evidence:
    """Where an answer stands: a file's name, its page from 1 (0: unknown, for formats without pages), and its text."""

    file: str
    page: int
    text: str


@dataclass(frozen=True, slots=True)
class GoldQuestion:
    """A question with what is known of its answer. `history` holds the earlier questions of a conversation."""

    id: str
    question: str
    stratum: str
    answerable: bool
    evidence: tuple[Evidence, ...]
    history: tuple[str, ...] = ()


def load_gold(folder: Path) -> tuple[GoldQuestion, ...]:
    """The questions of a gold set. Raises UsageError naming the line that cannot be used."""
    path = folder / "questions.jsonl"
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"The gold set {path} cannot be read: {error}.") from error
    questions = []
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                questions.append(_question(json.loads(line)))
            except (ValueError, KeyError, TypeError) as error:
                raise UsageError(f"Line {number} of {path} is no gold question: {error!r}.") from error
    return tuple(questions)


def _question(fields: dict[str, object]) -> GoldQuestion:
    places = fields.get("evidence", [])
    texts = fields.get("evidence_text", "")
    if not isinstance(places, list) or not isinstance(fields["question"], str):
        raise TypeError("evidence must be a list, and question a text")
    listed = [texts] * len(places) if isinstance(texts, str) else list(texts) if isinstance(texts, list) else []
    if len(listed) != len(places):
        listed = [" ".join(map(str, listed))] * len(places)
    history = fields.get("history", [])
    return GoldQuestion(
        id=str(fields["id"]),
        question=fields["question"],
        stratum=str(fields.get("stratum", "all")),
        answerable=fields.get("answerable", True) is True,
        evidence=tuple(
            Evidence(place["file"], int(place.get("page", 0)), str(text))
            for place, text in zip(places, listed, strict=True)
        ),
        history=tuple(str(turn["question"]) for turn in history) if isinstance(history, list) else (),
    )


def hit_rank(results: Sequence[Passage], evidence: Iterable[Evidence]) -> int | None:
    """The rank (from 1) of the first result on a page of the evidence."""
    wanted = list(evidence)
    for rank, passage in enumerate(results, start=1):
        if any(_on_page(passage, item) for item in wanted):
            return rank
    return None


def _on_page(passage: Passage, item: Evidence) -> bool:
    if Path(passage.path).name != item.file:
        return False
    return not item.page or any(region.page == item.page for region in passage.regions)


@dataclass(frozen=True, slots=True)
class RegionCheck:
    """How many regions an answer cites, and how many of them cover words of the evidence."""

    cited: int
    covering: int

    @property
    def hit(self) -> bool:
        """Whether something was cited, and every cited region covers words of the evidence."""
        return self.cited > 0 and self.cited == self.covering


def checked_regions(answer: Answer, evidence: Sequence[Evidence], page: Callable[[str, int], Page]) -> RegionCheck:
    """Look at the words under each region that the answer cites. `page(document, number)` gives a page's words."""
    cited = covering = 0
    for claim in answer.claims:
        for citation in claim.citations:
            for region in citation.regions:
                cited += 1
                words = _words_under(page(citation.document, region.page), region.boxes)
                name = Path(citation.path).name
                covering += any(
                    item.file == name and item.page in (0, region.page) and _overlap(words, item.text) >= COVERED_SHARE
                    for item in evidence
                )
    return RegionCheck(cited, covering)


def _words_under(page: Page, boxes: Sequence[Box]) -> str:
    return " ".join(word.text for word in page.words if any(box.covers(word.box) for box in boxes))


def _overlap(one: str, other: str) -> float:
    """The share of the shorter text's words that the longer one holds."""
    first, second = _bag(one), _bag(other)
    shorter = min(sum(first.values()), sum(second.values()))
    return sum((first & second).values()) / shorter if shorter else 0.0


def _bag(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", text.casefold()))
