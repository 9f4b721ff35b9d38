"""Gold sets, and whether what was found and cited is what should have been."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from pincite.errors import UsageError
from pincite.evaluate import Evidence, checked_regions, hit_rank, load_gold, region_hit
from pincite.model import Answer, AnswerVerdict, Box, Page, Passage, Region, Span
from pincite.regions import regions_of_words
from pincite.verify import quoted
from tests.unit.paper import HEIGHT, WIDTH, passage

TEXT = "The fee is 20 pounds a year."
EVIDENCE = (Evidence("Lease.pdf", 1, TEXT),)


def page_of(passage: Passage) -> Page:
    return Page(1, "", WIDTH, HEIGHT, passage.words)


def answer_with(*passages: Passage) -> Answer:
    claims = tuple(quoted(one, 0, len(one.words), 1.0) for one in passages)
    return Answer("?", AnswerVerdict.ANSWERED, "", "quotes", claims, (), passages, (), "", "t")


def test_a_gold_set_is_read_with_its_evidence_in_order(tmp_path: Path) -> None:
    line = {
        "id": "q1",
        "question": "What is the fee?",
        "stratum": "table",
        "evidence": [{"file": "a.pdf", "page": 2}, {"file": "b.md"}],
        "evidence_text": ["one", "two"],
        "history": [{"question": "Before?", "answer": "Yes."}],
    }
    (tmp_path / "questions.jsonl").write_text(json.dumps(line) + "\n\n", encoding="utf-8")
    (question,) = load_gold(tmp_path)
    assert question.evidence == (Evidence("a.pdf", 2, "one"), Evidence("b.md", 0, "two"))
    assert question.answerable
    assert question.history == ("Before?",)


def test_a_line_that_is_no_question_is_named(tmp_path: Path) -> None:
    (tmp_path / "questions.jsonl").write_text('{"id": "q1"}\n', encoding="utf-8")
    with pytest.raises(UsageError, match=r"Line 1 of .*questions\.jsonl is no gold question"):
        load_gold(tmp_path)


def test_the_rank_is_that_of_the_first_result_on_an_evidence_page() -> None:
    right, other = passage(TEXT), passage("Nothing here.", page=3)
    assert hit_rank([other, right], EVIDENCE) == 2
    assert hit_rank([other], EVIDENCE) is None
    assert hit_rank([other], (Evidence("Lease.pdf", 0, TEXT),)) == 1, "without a page, the file counts"


def test_boxes_on_the_evidence_are_a_region_hit() -> None:
    one = passage("Before it. " + TEXT)
    assert region_hit([one], EVIDENCE, lambda _, __: page_of(one))


def test_right_text_under_wrong_boxes_is_no_region_hit() -> None:
    one = passage(TEXT)
    moved = replace(one, regions=(Region(1, "1", (Box(0, 500, 10, 510),)),))
    assert not region_hit([moved], EVIDENCE, lambda _, __: page_of(one))


def test_half_of_the_evidence_is_no_region_hit() -> None:
    whole = passage(TEXT)
    half = replace(whole, regions=regions_of_words(whole, 0, 4))
    assert not region_hit([half], EVIDENCE, lambda _, __: page_of(whole))


def test_every_cited_region_counts() -> None:
    right = passage(TEXT)
    wrong = passage("Dogs are kept on a lead in the yard.", document="d2", title="House rules")
    pages = {"d1": page_of(right), "d2": page_of(wrong)}
    check = checked_regions(answer_with(right, wrong), EVIDENCE, lambda document, _: pages[document])
    assert (check.cited, check.covering, check.hit) == (2, 1, False)
    assert checked_regions(answer_with(right), EVIDENCE, lambda document, _: pages[document]).hit


def test_a_sentence_that_is_merely_like_the_evidence_does_not_cover_it() -> None:
    one = passage("The fee is 30 pounds a year in the first year.", TEXT)
    near = replace(one, words=one.words[:11], spans=(Span(1, 0, 11),))
    answer = Answer("?", AnswerVerdict.ANSWERED, "", "quotes", (quoted(near, 0, 11, 1.0),), (), (), (), "", "t")
    assert not checked_regions(answer, EVIDENCE, lambda _, __: page_of(one)).hit


def test_an_answer_that_cites_nothing_is_no_hit() -> None:
    assert not checked_regions(answer_with(), EVIDENCE, lambda _, __: page_of(passage(TEXT))).hit
