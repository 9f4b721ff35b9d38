"""Where sentences end in a run of words. Pure; shared by chunking, quoting and verification.

Words, not characters, are the unit, so that a sentence is always a run of words with boxes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pincite.model import Box, Word, read_word, reading_text

CLOSING = "\"'”’)]»"
OPENING = "\"'“‘„([«¿¡"
ENDS = re.compile(rf"[.!?…][{re.escape(CLOSING)}]*$")
WIDE_ENDS = re.compile(r"[。！？][」』）”’]*$")
# A full stop after these does not end a sentence. "no" and "art" end sentences too, hence the digit test below.
ABBREVIATIONS = frozenset(
    "mr mrs ms dr prof st sr jr hon rev gen col sgt capt vs v cf eg ie etc al approx est inc ltd co corp llc llp plc "
    "dept div ed eds vol fig figs ex exs para paras sec secs ch pp p nr bzw ca usw z.b d.h u.a e.g i.e a.m p.m u.s "
    "u.k jan feb mar apr jun jul aug sep sept oct nov dec".split()
)
BEFORE_NUMBERS = frozenset("no nos art arts nr cl".split())
NUMBER = re.compile(r"\(?\d{1,3}(\.\d{1,3})*")
MONTHS = frozenset("januar februar märz april mai juni juli august september oktober november dezember".split())
BEGINS_WITH_MARK = frozenset("•-–—§£€$")
_NOWHERE = Box(0.0, 0.0, 0.0, 0.0)


def sentence_bounds(words: Sequence[Word]) -> list[tuple[int, int]]:
    """Index pairs (first, end) of the sentences in `words`; together they cover every word exactly once.

    A line break that is kept when the text is read (rows of a table, lines of a log, ends of blocks) ends one too.
    """
    bounds: list[tuple[int, int]] = []
    first = 0
    for index, word in enumerate(words):
        if index + 1 == len(words) or "\n" in word.after or _ends_sentence(words, first, index):
            bounds.append((first, index + 1))
            first = index + 1
    return bounds


def _ends_sentence(words: Sequence[Word], first: int, index: int) -> bool:
    """Whether word `index` ends the sentence that begins at `first`; another word follows."""
    text, following = words[index].text, words[index + 1].text
    if WIDE_ENDS.search(text):
        return True
    if not ENDS.search(text) or not _may_begin(following):
        return False
    bare = text.rstrip(CLOSING)
    if not bare.endswith("."):
        return True
    printed = bare[:-1].lstrip(OPENING)
    stem = printed.casefold()
    if stem in ABBREVIATIONS or (len(printed) == 1 and printed.isupper()):
        return False
    if stem in BEFORE_NUMBERS and following[:1].isdigit():
        return False
    if not NUMBER.fullmatch(stem):
        return True
    numbers_it = index <= first + 1  # "7. The Tenant pays", "Table 3. Fees"
    return not numbers_it and following.casefold().rstrip(".,;:") not in MONTHS  # "am 3. Oktober"


def _may_begin(word: str) -> bool:
    """Whether a sentence may begin with this word: no small letter does, in whatever script."""
    start = word.lstrip(OPENING)[:1]
    return start in BEGINS_WITH_MARK or (start.isalnum() and not start.islower())


def sentences(text: str) -> list[str]:
    """The sentences of a plain text, white space folded inside each. Line breaks end sentences."""
    found: list[str] = []
    for line in text.splitlines():
        words = [Word(token, _NOWHERE) for token in line.split()]
        found += [reading_text(words[first:end]) for first, end in sentence_bounds(words)]
    return found


def word_offsets(words: Sequence[Word]) -> list[int]:
    """For each word, the offset of its first character in reading_text(words)."""
    offsets: list[int] = []
    at = 0
    for word in words:
        offsets.append(at)
        at += len(read_word(word))
    return offsets
