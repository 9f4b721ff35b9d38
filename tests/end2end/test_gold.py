"""How good the answers are on the sample gold set: the right page found, and every cited region on the evidence.

Answers are made of quotes, so that the figures are those of retrieval and of the choice of quotes, whatever language
model is installed. The run prints them for each stratum, with the questions that were missed.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from pincite.evaluate import GoldQuestion, checked_regions, hit_rank, load_gold
from pincite.library import Library
from pincite.model import NEEDS_ATTENTION, Answer, Answered
from pincite.settings import resources_dir

FIRST_RESULTS = 5
# Shares of the answerable questions whose files are read.
PAGE_HITS = 0.95
REGION_HITS = 0.90


@dataclass(frozen=True)
class Outcome:
    """What became of a question; `instead` is what was found or cited."""

    question: GoldQuestion
    hit: bool
    instead: str


@pytest.fixture(scope="module")
def questions(sample_library: Library) -> list[GoldQuestion]:
    """The answerable questions whose evidence can be read."""
    entries = sample_library.ledger().entries
    unread = {Path(entry.path).name for entry in entries if entry.state in NEEDS_ATTENTION}
    wanted = [item for item in load_gold(resources_dir() / "samples") if item.answerable]
    return [item for item in wanted if not unread & {evidence.file for evidence in item.evidence}]


def test_the_right_page_is_among_the_first_results(
    sample_library: Library, questions: list[GoldQuestion], tell: Callable[[str], None]
) -> None:
    outcomes = []
    for item in questions:
        found = sample_library.search(item.question, k=FIRST_RESULTS, **_history(sample_library.search, item))
        places = [f"{Path(at.path).name} {[region.page for region in at.regions]}" for at in found.results]
        outcomes.append(Outcome(item, hit_rank(found.results, item.evidence) is not None, "; ".join(places)))
    tell(_scorecard(f"A page of the evidence among the first {FIRST_RESULTS} results", outcomes))
    assert _share(outcomes) >= PAGE_HITS


def test_every_cited_region_lies_on_the_evidence(
    sample_library: Library, questions: list[GoldQuestion], tell: Callable[[str], None]
) -> None:
    outcomes = []
    for item in questions:
        answer = _answer(sample_library, item)
        hit = checked_regions(answer, item.evidence, sample_library.page).hit
        outcomes.append(Outcome(item, hit, " / ".join(claim.text for claim in answer.claims)))
    tell(_scorecard("Every cited region on words of the evidence", outcomes))
    assert _share(outcomes) >= REGION_HITS


def _answer(library: Library, item: GoldQuestion) -> Answer:
    for event in library.ask(item.question, mode="quotes", **_history(library.ask, item)):
        if isinstance(event, Answered):
            return event.answer
    raise AssertionError(f"{item.id} ended without an answer")


def _history(call: Callable[..., object], item: GoldQuestion) -> dict[str, object]:
    """The earlier questions, for a call that takes them."""
    return {"history": item.history} if "history" in inspect.signature(call).parameters else {}


def _share(outcomes: list[Outcome]) -> float:
    return sum(outcome.hit for outcome in outcomes) / len(outcomes)


def _scorecard(what: str, outcomes: list[Outcome]) -> str:
    lines = [f"{what}: {_share(outcomes):.3f} of {len(outcomes)}"]
    for stratum in sorted({outcome.question.stratum for outcome in outcomes}):
        own = [outcome for outcome in outcomes if outcome.question.stratum == stratum]
        lines.append(f"  {stratum:<16} {_share(own):.3f} of {len(own)}")
    missed = [outcome for outcome in outcomes if not outcome.hit]
    return "\n".join(lines + [f"  missed {outcome.question.id}: {outcome.instead}" for outcome in missed])
