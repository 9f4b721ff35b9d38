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
TWO_SENTENCES_COST = 0.25  # a second sentence must add at least this share, or the highlight stays with one

STANDING = (Verdict.UNSUPPORTED, Verdict.PARTLY, Verdict.SUPPORTED)

TERM = re.compile(r"\d+(?:[.,:/]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)?")
STOP_WORDS = frozenset(
    "a an and are as at be been but by can could did do does for from had has have he her his how i if in into "
    "is it its may me more most must my of on or our shall she should so such than that the their them then "
    "there these they this those to under up upon was we were what when where which while who whom whose will "
    "with would you your also any all each only per document documents".split()
)
NEGATIONS = frozenset("no not never none neither nor without cannot".split())  # and whatever ends in "n't"
ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
SMALL_WORDS = {word: value for value, word in enumerate(ONES)} | {word: 10 * at for at, word in enumerate(TENS, 2)}
LARGE_WORDS = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_SMALL, _LARGE = "|".join(SMALL_WORDS), "|".join(LARGE_WORDS)
WRITTEN_NUMBER = re.compile(
    rf"\b(?:{_SMALL}|a\s+(?:{_LARGE}))(?:(?:[\s-]+and)?[\s-]+(?:{_SMALL}|{_LARGE}))*\b", re.IGNORECASE
)
SUFFIXES = tuple("ations ation ments ment ingly edly ings ing es ed ly s e".split())


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
    verdict = _verdict(text, score, evidence, around)
    if verdict is Verdict.UNSUPPORTED:  # a citation would make it look like a sentence that has one
        return Claim(text, verdict, round(score, 3), ())
    citations = tuple(citation_for(passage, window.first, window.end) for passage, window in kept)
    return Claim(text, verdict, round(score, 3), citations)


def attributed(text: str, passages: Sequence[Passage], cited: Sequence[int]) -> tuple[Claim, bool]:
    """The claim `text`, resting on the passages it cites (numbers from 1) or on the one that supports it better.

    Small models often write what one passage says and cite another. Returns the claim, and whether its citation was
    changed. A sentence that its own citations support keeps them.
    """
    claimed = checked(text, [passages[number - 1] for number in cited])
    others = [checked(text, [passage]) for number, passage in enumerate(passages, start=1) if number not in cited]
    best = max(others, key=_standing, default=claimed)
    if _standing(best)[0] > _standing(claimed)[0]:
        return best, True
    return claimed, False


def _standing(claim: Claim) -> tuple[int, float]:
    return STANDING.index(claim.verdict), claim.score


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
    words = (match.casefold().replace("’", "'") for match in TERM.findall(_in_figures(text)))
    return frozenset(_stem(word) for word in words if word not in STOP_WORDS)


def _stem(word: str) -> str:
    if word[0].isdigit():
        return _number(word)
    bare = word.removesuffix("'s")
    if bare.endswith(("ies", "ied")) and len(bare) > 4:
        return bare[:-3] + "y"
    if bare.endswith("ss"):
        return bare
    for suffix in SUFFIXES:
        if bare.endswith(suffix) and len(bare) - len(suffix) >= 3:
            return bare[: -len(suffix)]
    return bare


def _numbers(text: str, generous: bool = False) -> frozenset[str]:
    """The numbers in a text. Number words count in evidence; in a claim "one" and "two" are mostly not figures."""
    figures = _in_figures(text, least=0 if generous else 3)
    return frozenset(_number(match) for match in TERM.findall(figures) if match[0].isdigit())


def _number(text: str) -> str:
    """A number without thousands separators and an empty fraction: "1,250.00" and "1250" are the same.

    A fraction keeps its zeros otherwise, since clause 7.10 is not clause 7.1.
    """
    plain = re.sub(r"(?<=\d),(?=\d{3}(?:\D|$))", "", text)
    return re.sub(r"^(\d+)\.0+$", r"\1", plain).lstrip("0") or "0"


def _in_figures(text: str, least: int = 0) -> str:
    """The text with "twenty-five" as "25" and "two hundred" as "200"; numbers below `least` stay words."""

    def figures(match: re.Match[str]) -> str:
        values = _values(re.findall(r"[a-z]+", match[0].casefold()))
        return match[0] if max(values) < least else " ".join(str(value) for value in values if value >= least)

    return WRITTEN_NUMBER.sub(figures, text)


def _values(words: Sequence[str]) -> list[int]:
    """The numbers that a run of number words names: "two hundred and five" is one, "five and ten" are two."""
    values: list[int] = []
    thousands = group = 0  # what is complete of the number, and its part below a thousand
    began = False
    for word in words:
        small, large = SMALL_WORDS.get(word), LARGE_WORDS.get(word)
        if small is not None:
            after_ten = small < 10 and group % 100 >= 20 and group % 10 == 0
            follows = after_ten or (group % 100 == 0 and group + thousands > 0)
            if began and not (follows and small):
                values.append(thousands + group)
                thousands = group = 0
            group, began = group + small, True
        elif large == 100:
            group = max(group, 1) * 100
        elif large is not None:
            thousands, group = thousands + max(group, 1) * large, 0
    return [*values, thousands + group]


def _denies(text: str) -> bool:
    words = (word.casefold().replace("’", "'") for word in TERM.findall(text))
    return any(word in NEGATIONS or word.endswith("n't") for word in words)
