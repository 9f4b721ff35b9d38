"""How good the answers are on the sample gold set: the right page found, and every cited region on the evidence.

Answers are quotes, so that the figures are those of retrieval and of the choice of quotes, with any language model.
"""

from __future__ import annotations

import inspect
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from pincite.evaluate import GoldQuestion, checked_regions, hit_rank, load_gold
from pincite.library import Library
from pincite.model import NEEDS_ATTENTION, Answer, Answered
from pincite.settings import resources_dir

FIRST_RESULTS = 5
PAGE_HITS = 0.95  # of the answerable questions whose files are read
REGION_HITS = 0.90

Outcome = tuple[GoldQuestion, bool, str]  # whether it is a hit, and what there was instead


@pytest.fixture(scope="module")
def questions(sample_library: Library) -> list[GoldQuestion]:
    """The answerable questions whose evidence can be read."""
    unread = {Path(entry.path).name for entry in sample_library.ledger().entries if entry.state in NEEDS_ATTENTION}
    gold = load_gold(resources_dir() / "samples")
    return [
        item for item in gold if item.answerable and not any(evidence.file in unread for evidence in item.evidence)
    ]


def test_the_right_page_is_among_the_first_results(
    sample_library: Library, questions: list[GoldQuestion], record_property: pytest.FixtureRequest
) -> None:
    outcomes: list[Outcome] = []
    for item in questions:
        found = sample_library.search(item.question, k=FIRST_RESULTS, **_history(sample_library.search, item))
        places = [f"{Path(passage.path).name} {[r.page for r in passage.regions]}" for passage in found.results]
        outcomes.append((item, hit_rank(found.results, item.evidence) is not None, "; ".join(places)))
    _report("page among the first results", outcomes)
    assert _share(outcomes) >= PAGE_HITS


def test_every_cited_region_lies_on_the_evidence(sample_library: Library, questions: list[GoldQuestion]) -> None:
    outcomes: list[Outcome] = []
    for item in questions:
        answer = _answer(sample_library, item)
        hit = checked_regions(answer, item.evidence, sample_library.page).hit
        outcomes.append((item, hit, " / ".join(claim.text for claim in answer.claims)))
    _report("every cited region on the evidence", outcomes)
    assert _share(outcomes) >= REGION_HITS
