"""What a line end becomes when its block is read: a line break, a space, or nothing after a divided word."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from pincite.model import Line, Word

SOFT_HYPHEN = "\u00ad"
HYPHENS = "-\u2010" + SOFT_HYPHEN
JOINING = frozenset({"and", "or", "und", "oder"})  # "short- and long-term": the hyphen stands for the rest of a word
PUNCTUATION = ".,;:()“”\"'"


def vocabulary_of(lines: Iterable[Line]) -> frozenset[str]:
    """The words that stand inside lines, where no hyphen comes of a line end."""
    return frozenset(word.text.casefold().strip(PUNCTUATION) for line in lines for word in line.words[1:-1])


def line_ended(line: Line, following: Word | None, flowing: bool, vocabulary: frozenset[str]) -> Line:
    """The line with what comes after it: `following` is the next word of its block, which may be `flowing` text."""
    last = line.words[-1]
    if following is None:
        ended = replace(last, after="\n")
    elif not flowing:
        ended = last if "\n" in last.after else replace(last, after="\n")
    elif last.after == "":
        ended = last  # a word that was too long for its line
    elif line.kind is not None:
        ended = replace(last, after=" ")  # wrapped by its reader, which divides no words at hyphens
    else:
        ended = _over_line_end(last, following.text, vocabulary)
    return replace(line, words=(*line.words[:-1], ended))


def _over_line_end(last: Word, following: str, vocabulary: frozenset[str]) -> Word:
    """A line's last word and a space, or nothing after a hyphen (which falls away if it only divided)."""
    text = last.text
    if len(text) < 2 or text[-1] not in HYPHENS or not text[-2].isalnum() or not following[:1].isalnum():
        return replace(last, after=" ")
    if text[-1] == SOFT_HYPHEN:
        return replace(last, after="", joined=True)
    if not text[-2].isalpha() or not following[0].islower():
        return replace(last, after="")  # "Anglo-Saxon", "2019-2024"
    head, tail = text.casefold().lstrip(PUNCTUATION), following.casefold().rstrip(PUNCTUATION)
    if tail in JOINING and head[:-1] + tail not in vocabulary:
        return replace(last, after=" ")
    return replace(last, after="", joined=not _keeps_hyphen(head, tail, vocabulary))


def _keeps_hyphen(head: str, tail: str, vocabulary: frozenset[str]) -> bool:
    """Whether the hyphen belongs to the word ("part-time") rather than to the line end ("contin-ues").

    The document itself is the dictionary: it may have the word in full, or both halves as words but not the whole.
    """
    if head + tail in vocabulary:
        return True
    return head[:-1] + tail not in vocabulary and head[:-1] in vocabulary and tail in vocabulary
