"""The sample documents and their questions: what the questions claim of the documents is true, and the kept generator
makes these very documents.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pymupdf
import pytest

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "resources" / "samples"
DOCUMENTS = SAMPLES / "documents"
GENERATOR = ROOT / "packaging" / "samples" / "generate.py"
SCAN = "letter-managing-agents-scan.pdf"
STRATA = {
    "paraphrase",
    "identifier",
    "multi-document",
    "table",
    "time-bound",
    "follow-up",
    "scanned",
    "unanswerable",
    "injection",
}
QUESTIONS: list[dict[str, Any]] = [
    json.loads(line) for line in (SAMPLES / "questions.jsonl").read_text(encoding="utf-8").splitlines()
]
ANSWERABLE = [question for question in QUESTIONS if question["answerable"]]


def squeezed(text: str) -> str:
    """`text` without white space, hyphens and Markdown's marks, so that line ends and table cells do not matter."""
    return re.sub(r"[\s\-|`*]", "", text)


@cache
def page_texts(file: str) -> list[str]:
    """The squeezed text of each page; a file without pages is one."""
    path = DOCUMENTS / file
    if path.suffix != ".pdf":
        return [squeezed(path.read_text(encoding="utf-8"))]
    with pymupdf.open(path) as document:
        return [squeezed(page.get_text()) for page in document]


def evidence(question: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    """Each place a question names, with the text to be found there."""
    texts = question["evidence_text"]
    return zip(question["evidence"], [texts] if isinstance(texts, str) else texts, strict=True)


def test_there_are_enough_questions_with_names_of_their_own() -> None:
    assert len(QUESTIONS) >= 60
    assert len({question["id"] for question in QUESTIONS}) == len(QUESTIONS)
    assert len({question["question"] for question in QUESTIONS}) == len(QUESTIONS)


def test_every_stratum_has_questions() -> None:
    assert {question["stratum"] for question in QUESTIONS} == STRATA
    assert sum(not question["answerable"] for question in QUESTIONS) >= 10


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question["id"])
def test_a_question_carries_what_its_kind_needs(question: dict[str, Any]) -> None:
    unanswerable = question["stratum"] == "unanswerable"
    assert question["answerable"] is not unanswerable
    assert bool(question["evidence"]) is not unanswerable
    assert bool(question.get("answers")) is not unanswerable
    assert bool(question.get("history")) is (question["stratum"] == "follow-up")
    if question["stratum"] == "multi-document":
        assert len({place["file"] for place in question["evidence"]}) > 1


@pytest.mark.parametrize("question", ANSWERABLE, ids=lambda question: question["id"])
def test_evidence_stands_on_its_page_and_on_no_other(question: dict[str, Any]) -> None:
    for place, text in evidence(question):
        if place["file"] == SCAN:
            assert 1 <= place["page"] <= 2
            continue
        having = [number for number, page in enumerate(page_texts(place["file"]), 1) if squeezed(text) in page]
        assert having == [place.get("page", 1)]


def test_only_files_with_fixed_pages_are_cited_by_page() -> None:
    for question in ANSWERABLE:
        for place in question["evidence"]:
            assert (DOCUMENTS / place["file"]).is_file()
            assert ("page" in place) is place["file"].endswith(".pdf")


def test_the_scan_is_nothing_but_pictures() -> None:
    with pymupdf.open(DOCUMENTS / SCAN) as document:
        for page in document:
            assert page.get_text("words") == []
            (picture,) = page.get_image_info()
            assert (pymupdf.Rect(picture["bbox"]) & page.rect).get_area() > 0.99 * page.rect.get_area()


def test_the_handbook_has_roman_front_matter_and_an_outline() -> None:
    with pymupdf.open(DOCUMENTS / "staff-handbook.pdf") as document:
        assert [page.get_label() for page in document][:5] == ["i", "ii", "iii", "1", "2"]
        assert {level for level, _, _ in document.get_toc()} == {1, 2, 3}
        for _, title, sheet in document.get_toc():
            assert squeezed(title) in squeezed(document[sheet - 1].get_text())


def test_the_long_table_repeats_its_header_on_its_second_page() -> None:
    with pymupdf.open(DOCUMENTS / "staff-handbook.pdf") as document:
        texts = [page.get_text() for page in document]
    (first,) = (number for number, text in enumerate(texts) if "EX-01\n" in text)
    (last,) = (number for number, text in enumerate(texts) if "EX-32\n" in text)
    assert last == first + 1
    assert all("Who decides above it" in texts[number] for number in (first, last))


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder freshly written by the generator."""
    folder = tmp_path_factory.mktemp("samples")
    subprocess.run([sys.executable, "-B", str(GENERATOR), str(folder)], check=True)
    return folder


def test_the_generator_makes_these_files(generated: Path) -> None:
    names = sorted(path.name for path in DOCUMENTS.iterdir())
    assert sorted(path.name for path in generated.iterdir()) == names
    for name in names:
        if name != SCAN:
            assert (generated / name).read_bytes() == (DOCUMENTS / name).read_bytes(), name


def test_the_generator_makes_this_scan_but_for_rounding(generated: Path) -> None:
    with pymupdf.open(generated / SCAN) as made, pymupdf.open(DOCUMENTS / SCAN) as kept:
        assert made.page_count == kept.page_count
        for made_page, kept_page in zip(made, kept, strict=True):
            pair = [page.get_pixmap(colorspace=pymupdf.csGRAY).samples for page in (made_page, kept_page)]
            assert len(pair[0]) == len(pair[1])
            assert sum(abs(one - other) for one, other in zip(*pair, strict=True)) / len(pair[0]) < 1


def test_the_samples_stay_small() -> None:
    assert sum(path.stat().st_size for path in SAMPLES.rglob("*") if path.is_file()) < 1_500_000
