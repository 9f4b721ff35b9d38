"""What each line is: heading (and of which level), list item, numbered clause, caption, footnote, or plain text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pincite.model import BlockKind, Line, OutlineEntry

HEADING_SIZE_RATIO = 1.12  # smaller differences are rounding in the file or small capitals
SMALL_SIZE_RATIO = 0.9
MAX_HEADING_WORDS = 16
MAX_LEVEL = 6

CLAUSE_NUMBER = re.compile(r"§{0,2}(?:\d{1,3}(?:\.\d{1,3}){1,5}|[A-Z]\.\d{1,3}(?:\.\d{1,3}){0,4})\.?")
PLAIN_NUMBER = re.compile(r"\d{1,3}[.)]")
LETTER_NUMBER = re.compile(r"\((?:[a-z]{1,2}|[ivx]{1,5}|\d{1,2})\)|[a-z]\)", re.IGNORECASE)
BULLET = re.compile(r"[•‣▪●○◦·–—*+\-▸➢✓]")
NAMED_DIVISION = re.compile(
    r"(?:article|section|clause|schedule|annex|appendix|exhibit|part|chapter)\s+(?:\d[\d.]*|[ivxlc]+|[a-z])\b[.:]?",
    re.IGNORECASE,
)
CAPTION = re.compile(r"(?:table|figure|fig\.|chart|exhibit)\s+[a-z]?\d[\d.]*[a-z]?\s*[:.–—-]", re.IGNORECASE)
FOOTNOTE_MARK = re.compile(r"(?:\d{1,3}|[*†‡§])\.?")
LEADER = re.compile(r"(?:[.…·_]\s?){4,}")
PAGE = re.compile(r"[\divxlc–-]{1,7}", re.IGNORECASE)
CONTENTS_ENTRY = re.compile(rf"{LEADER.pattern}\s*{PAGE.pattern}$", re.IGNORECASE)
SENTENCE_END = re.compile(r"[.;,:!?][\"'”’)\]]*$")


@dataclass(frozen=True, slots=True)
class Role:
    """What a line is. `starts` says that it begins a block of its own whatever stands before it."""

    kind: BlockKind
    level: int = 0
    number: str = ""
    starts: bool = False


@dataclass(frozen=True, slots=True)
class Typography:
    """What is usual in a document: the size of its running text, and the sizes of its headings, largest first."""

    body_pt: float
    heading_sizes: tuple[float, ...]


def typography_of(lines: Iterable[Line]) -> Typography:
    """The document's usual sizes, weighed by characters."""
    weights: Counter[float] = Counter()
    short: Counter[float] = Counter()
    for line in lines:
        size = round(line.size_pt * 2) / 2
        weights[size] += len(line.text)
        if len(line.words) <= MAX_HEADING_WORDS:
            short[size] += 1
    if not weights:
        return Typography(0.0, ())
    body = max(weights, key=lambda size: (weights[size], size))
    larger = [size for size in short if size >= HEADING_SIZE_RATIO * body]
    return Typography(body, tuple(sorted(larger, reverse=True)))


class Roles:
    """Gives lines their roles, from the outline, the typography and the numbering of one document."""

    def __init__(self, typography: Typography, outline: Sequence[OutlineEntry]) -> None:
        self._type = typography
        self._outline = {(entry.page, _plain(entry.title)): entry.level for entry in outline}
        for entry in outline:
            self._outline.setdefault((entry.page, _without_number(entry.title)), entry.level)
        self._titles = frozenset(_plain(entry.title) for entry in outline)
        self._outline_depth = max((entry.level for entry in outline), default=0)

    def role(self, line: Line, page: int, page_height: float) -> Role:
        """The role of one line on page `page`."""
        if line.kind is not None:
            return Role(line.kind, line.level, starts=False)
        first = line.words[0].text
        if self._is_contents_entry(line):
            return Role(BlockKind.PARAGRAPH, starts=True)  # however it is numbered or set
        if LEADER.search(line.text):
            return _text_role(line, first)  # a blank to be filled in
        listed = self.outline_level(line.text, page)
        if listed is not None:
            return Role(BlockKind.HEADING, listed, _number_of(first), True)
        if CAPTION.match(line.text) and len(line.words) <= 30:
            return Role(BlockKind.CAPTION, starts=True)
        if self._is_heading(line):
            return Role(BlockKind.HEADING, self._level(line), _number_of(first), True)
        if self._is_footnote(line, page_height):
            return Role(BlockKind.FOOTNOTE, number=first.rstrip("."), starts=True)
        return _text_role(line, first)

    def outline_level(self, text: str, page: int) -> int | None:
        """The level of a heading in the outline, which may leave out the printed number; None when it is not there."""
        found = (self._outline.get((page, form)) for form in (_plain(text), _without_number(text)) if form)
        return next((level for level in found if level is not None), None)

    def _is_contents_entry(self, line: Line) -> bool:
        if CONTENTS_ENTRY.search(line.text):
            return True
        title = " ".join(word.text for word in line.words[:-1])
        return bool(PAGE.fullmatch(line.words[-1].text)) and _plain(title) in self._titles

    def _is_heading(self, line: Line) -> bool:
        words = len(line.words)
        if line.mono or words > MAX_HEADING_WORDS or not any(char.isalpha() for char in line.text):
            return False
        if BULLET.fullmatch(line.words[0].text):
            return False
        if line.size_pt >= HEADING_SIZE_RATIO * self._type.body_pt:
            return not line.text.endswith((".", ",", ";")) or words <= 4
        if SENTENCE_END.search(line.text) or line.size_pt < SMALL_SIZE_RATIO * self._type.body_pt:
            return False
        if line.bold and words <= 12:
            return True
        return bool(NAMED_DIVISION.match(line.text)) and words <= 8 and line.text[0].isupper()

    def _level(self, line: Line) -> int:
        """Deeper for smaller type; a printed number such as 2.3 says the depth itself where type does not."""
        size = round(line.size_pt * 2) / 2
        larger = sum(1 for other in self._type.heading_sizes if other > size)
        level = larger + 1
        number = _number_of(line.words[0].text)
        if self._outline_depth:
            level = self._outline_depth + 1
        elif number and size not in self._type.heading_sizes:
            level = max(level, number.count(".") + 1)
        return min(level, MAX_LEVEL)

    def _is_footnote(self, line: Line, page_height: float) -> bool:
        small = line.size_pt <= SMALL_SIZE_RATIO * self._type.body_pt
        low = line.box.y0 >= 0.6 * page_height
        says = any(char.isalpha() for word in line.words[1:] for char in word.text)  # the figures of a chart do not
        return small and low and says and bool(FOOTNOTE_MARK.fullmatch(line.words[0].text))


def _text_role(line: Line, first: str) -> Role:
    if CLAUSE_NUMBER.fullmatch(first) and len(line.words) > 1:
        return Role(BlockKind.PARAGRAPH, number=_number_of(first), starts=True)
    if BULLET.fullmatch(first) and len(line.words) > 1:
        return Role(BlockKind.LIST_ITEM, starts=True)
    if (PLAIN_NUMBER.fullmatch(first) or LETTER_NUMBER.fullmatch(first)) and len(line.words) > 1:
        return Role(BlockKind.LIST_ITEM, number=_number_of(first), starts=True)
    if line.mono:
        return Role(BlockKind.CODE)
    return Role(BlockKind.PARAGRAPH)


def _number_of(first_word: str) -> str:
    for pattern in (CLAUSE_NUMBER, PLAIN_NUMBER, LETTER_NUMBER):
        if pattern.fullmatch(first_word):
            return first_word.rstrip(".")
    return ""


def _plain(text: str) -> str:
    return re.sub(r"[\W_]+", " ", text.casefold()).strip()


def _without_number(text: str) -> str:
    return re.sub(r"^(?:\d+ )+", "", _plain(text))
