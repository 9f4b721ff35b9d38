"""Gold sets, and whether what was found and cited is what should have been.

A *page hit* at k: a page of the evidence is among the first k results. A *region hit* at k: the boxes of one of the
first k results cover the words of the evidence text. `checked_regions` looks at every region that an answer cites.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from pincite.errors import UsageError
from pincite.model import Answer, Page, Passage, Region, reading_text
from pincite.sentences import word_offsets

# How many words a cited region and the evidence must share, as a share of the smaller of them.
COVERED_SHARE = 0.5
# How many of the evidence's words must lie under a result's boxes: nearly all, as words may be divided differently.
REGION_SHARE = 0.9
# The evidence stands where a run of this share of its words is found; the rest may be on another page.
FOUND_SHARE = 0.4
TOKEN = re.compile(r"\w+")


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


def region_hit(results: Sequence[Passage], evidence: Sequence[Evidence], page: Callable[[str, int], Page]) -> bool:
    """Whether the words of some piece of evidence lie under the boxes of one of the results.

    `page(document, number)` gives a page's words. The evidence is found on the page by its words and compared by their
    places, so that right text with wrong boxes is no hit, and neither is a sentence that is merely like it.
    """
    for passage in results:
        for item in evidence:
            if Path(passage.path).name == item.file:
                stands = under = 0
                for region in passage.regions:
                    places = _places(item, region, page(passage.document, region.page))
                    stands += len(places.evidence)
                    under += len(places.evidence & places.covered)
                if stands and under >= REGION_SHARE * stands:
                    return True
    return False


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
            own = [item for item in evidence if item.file == Path(citation.path).name]
            for region in citation.regions:
                cited += 1
                on = page(citation.document, region.page)
                covering += any(_places(item, region, on).shared >= COVERED_SHARE for item in own)
    return RegionCheck(cited, covering)


@dataclass(frozen=True, slots=True)
class _Places:
    """Indices of words on one page: those of the evidence, and those under the boxes of a region."""

    evidence: frozenset[int]
    covered: frozenset[int]

    @property
    def shared(self) -> float:
        smaller = min(len(self.evidence), len(self.covered))
        return len(self.evidence & self.covered) / smaller if smaller else 0.0


def _places(item: Evidence, region: Region, page: Page) -> _Places:
    if item.page not in (0, region.page):
        return _Places(frozenset(), frozenset())
    covered = (i for i, word in enumerate(page.words) if any(box.covers(word.box) for box in region.boxes))
    return _Places(_evidence_words(item.text, page), frozenset(covered))


def _evidence_words(text: str, page: Page) -> frozenset[int]:
    """Where the evidence stands on a page: the words of the longest run it shares with the page's text."""
    offsets = word_offsets(page.words)
    tokens = [(m.group().casefold(), m.start()) for m in TOKEN.finditer(reading_text(page.words))]
    wanted = [token.casefold() for token in TOKEN.findall(text)]
    matcher = SequenceMatcher(None, [token for token, _ in tokens], wanted, autojunk=False)
    run = matcher.find_longest_match()
    if run.size < FOUND_SHARE * len(wanted):
        return frozenset()
    return frozenset(bisect_right(offsets, start) - 1 for _, start in tokens[run.a : run.a + run.size])
