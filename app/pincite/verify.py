"""Stop 8 of the walk: a sentence and the passages it cites → verdict, and the very words that support it. Pure.

The verdict is computed from the words on the page: how much of the claim's content the best sentence holds, whether
each of its numbers is there, and whether both deny or both affirm.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pincite.model import Citation, Claim, Passage, Region, Verdict, reading_text
from pincite.regions import regions_of_words
from pincite.sentences import sentence_bounds

# Shares of the claim's content found in the supporting sentences. Set by hand on the sample questions, not fitted.
SUPPORTED_SHARE = 0.7
PARTLY_SHARE = 0.4
# A cited passage that holds less than this of the claim lends it nothing and is not shown as its source.
WORTHWHILE_SHARE = 0.3
NUMBER_WEIGHT = 2.0
TWO_SENTENCES_COST = 0.1  # a second sentence must add at least this share, or the highlight stays with one

TERM = re.compile(r"\d+(?:[.,:/]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)?")
STOP_WORDS = frozenset(
    "a an and are as at be been but by can could did do does for from had has have he her his how i if in into "
    "is it its may me more most must my of on or our shall she should so such than that the their them then "
    "there these they this those to under up upon was we were what when where which while who whom whose will "
    "with would you your also any all each only per document documents".split()
)
NEGATIONS = frozenset("no not never none neither nor without cannot can't won't isn't aren't doesn't don't".split())
NUMBER_WORDS = {
    word: str(value)
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen twenty".split()
    )
} | {"thirty": "30", "forty": "40", "fifty": "50", "sixty": "60", "ninety": "90", "hundred": "100"}
SUFFIXES = tuple("ations ation ments ment ingly edly ings ing ies ied es ed ly s e".split())


@dataclass(frozen=True, slots=True)
class _Window:
    first: int
    end: int
    share: float


def checked(text: str, cited: Sequence[Passage]) -> Claim:
    """The claim `text` with its verdict and, for each cited passage that supports it, the supporting words."""
    terms = _terms(text)
    if not cited or not terms:
        return Claim(text, Verdict.UNSUPPORTED, 0.0, ())
    found = [(passage, _best_window(passage, terms)) for passage in cited]
    worthwhile = [pair for pair in found if pair[1].share >= WORTHWHILE_SHARE]
    kept = worthwhile or [max(found, key=lambda pair: pair[1].share)]
    evidence = " ".join(reading_text(passage.words[window.first : window.end]) for passage, window in kept)
    around = " ".join(_with_headings(passage) for passage, _ in kept)
    score = _share(terms, _terms(evidence) | _terms(" ".join(h for p, _ in kept for h in p.heading_path)))
    citations = tuple(citation_for(passage, window.first, window.end) for passage, window in kept)
    return Claim(text, _verdict(text, score, evidence, around), round(score, 3), citations)


def quoted(passage: Passage, first: int, end: int, score: float) -> Claim:
    """Words `first` to `end` of a passage as a claim that is its own evidence."""
    text = reading_text(passage.words[first:end])
    return Claim(text, Verdict.QUOTE, round(score, 3), (citation_for(passage, first, end),))


def citation_for(passage: Passage, first: int, end: int) -> Citation:
    """The citation of words `first` to `end` of a passage."""
    regions = regions_of_words(passage, first, end)
    return Citation(
        document=passage.document,
        title=passage.title,
        path=passage.path,
        quote=reading_text(passage.words[first:end]),
        regions=regions,
        pincite=", ".join(part for part in (passage.title, _pages(regions), _headings(passage)) if part),
    )


def _pages(regions: Sequence[Region]) -> str:
    """ "p. 12", "pp. 12–13", or "p. xii (sheet 14)" where the printed label is not the number of the sheet."""
    shown = [
        region.label if region.label == str(region.page) else f"{region.label} (sheet {region.page})"
        for region in regions
    ]
    if not shown:
        return ""
    return f"p. {shown[0]}" if len(shown) == 1 else f"pp. {shown[0]}–{shown[-1]}"


def _headings(passage: Passage) -> str:
    return "§ " + " › ".join(passage.heading_path) if passage.heading_path else ""


def _with_headings(passage: Passage) -> str:
    return " ".join((*passage.heading_path, passage.text))


def _verdict(text: str, score: float, evidence: str, around: str) -> Verdict:
    numbers = _numbers(text)
    if score < PARTLY_SHARE or not numbers <= _numbers(around, generous=True):
        return Verdict.UNSUPPORTED
    same_polarity = _denies(text) == _denies(evidence)
    if score >= SUPPORTED_SHARE and same_polarity and numbers <= _numbers(evidence, generous=True):
        return Verdict.SUPPORTED
    return Verdict.PARTLY


def _best_window(passage: Passage, terms: frozenset[str]) -> _Window:
    """The sentence, or two in a row, that hold most of the claim."""
    bounds = sentence_bounds(passage.words)
    held = [_terms(reading_text(passage.words[first:end])) for first, end in bounds]
    best = _Window(0, len(passage.words), -1.0)
    for i, (first, end) in enumerate(bounds):
        best = max(best, _Window(first, end, _share(terms, held[i])), key=lambda window: window.share)
    for i in range(len(bounds) - 1):
        share = _share(terms, held[i] | held[i + 1])
        if share >= best.share + TWO_SENTENCES_COST:
            best = _Window(bounds[i][0], bounds[i + 1][1], share)
    return best


def _share(terms: frozenset[str], held: frozenset[str]) -> float:
    """The share of the claim's terms that are held, numbers counting double; 0 to 1."""
    whole = sum(_weight(term) for term in terms)
    return sum(_weight(term) for term in terms & held) / whole if whole else 0.0


def _weight(term: str) -> float:
    return NUMBER_WEIGHT if term[0].isdigit() else 1.0


def _terms(text: str) -> frozenset[str]:
    words = (match.casefold().replace("’", "'") for match in TERM.findall(text))
    return frozenset(_stem(word) for word in words if word not in STOP_WORDS)


def _stem(word: str) -> str:
    if word in NUMBER_WORDS:
        return NUMBER_WORDS[word]
    if word[0].isdigit():
        return _number(word)
    bare = word.removesuffix("'s")
    for suffix in SUFFIXES:
        if bare.endswith(suffix) and len(bare) - len(suffix) >= 3:
            return bare[: -len(suffix)]
    return bare


def _numbers(text: str, generous: bool = False) -> frozenset[str]:
    """The numbers in a text. Number words count in evidence; in a claim "one" and "two" are mostly not figures."""
    found = {_number(match) for match in TERM.findall(text) if match[0].isdigit()}
    for match in TERM.findall(text):
        value = NUMBER_WORDS.get(match.casefold())
        if value is not None and (generous or int(value) > 2):
            found.add(value)
    return frozenset(found)


def _number(text: str) -> str:
    """A number without thousands separators and trailing zeros: "1,250.00" and "1250" are the same."""
    plain = re.sub(r"(?<=\d),(?=\d{3}(?:\D|$))", "", text)
    if re.fullmatch(r"\d+\.\d+", plain):
        plain = plain.rstrip("0").rstrip(".")
    return plain.lstrip("0") or "0"


def _denies(text: str) -> bool:
    return any(word.casefold().replace("’", "'") in NEGATIONS for word in TERM.findall(text))
