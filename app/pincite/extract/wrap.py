"""Breaking a line of styled text into rows that fit a width, word by word."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pincite.extract.blocks import Run
from pincite.extract.fonts import Faces, Style
from pincite.extract.limits import MAX_WORD_CHARS

SPACES_OR_WORD = re.compile(r"(\s+)|(\S+)")
# Chinese and Japanese put no spaces between words. Cut after the end of a sentence, so that none shares a "word".
WIDE_SENTENCE = re.compile(r"[^。！？]*[。！？]+[」』）”’]*|[^。！？]+")
MAX_INDENT_SHARE = 0.6
EXACT_HANG_SPACES = 2  # what an exact line that is too long is indented by after its first row


@dataclass(frozen=True, slots=True)
class Piece:
    """Part of a word in one style, at `x` from the left of the text."""

    text: str
    style: Style
    x: float
    width: float


@dataclass(frozen=True, slots=True)
class SetWord:
    """A word at its place in a row. `after` is "" where the word goes on in what follows."""

    pieces: tuple[Piece, ...]
    after: str = " "

    @property
    def text(self) -> str:
        return self.pieces[0].text if len(self.pieces) == 1 else "".join(piece.text for piece in self.pieces)

    @property
    def x0(self) -> float:
        return self.pieces[0].x

    @property
    def x1(self) -> float:
        return self.pieces[-1].x + self.pieces[-1].width


@dataclass(frozen=True, slots=True)
class Token:
    """A word before it has a place, after so many spaces; `glued` to the one before it when there is no space."""

    parts: tuple[tuple[str, Style], ...]
    spaces: int
    glued: bool = False
    wide: bool = False


class RowSetter:
    """Sets one line of text into rows no wider than `width`, all at one size."""

    def __init__(self, faces: Faces, width: float, size_pt: float, exact: bool = False) -> None:
        self._faces = faces
        self._width = width
        self._size = size_pt
        self._exact = exact
        self._space = faces[Style.MONO if exact else Style.PLAIN][" "] * size_pt
        self._rows: list[list[SetWord]] = [[]]
        self._x = 0.0

    def rows(self, line: Sequence[Run]) -> list[list[SetWord]]:
        """The rows of `line`; none when it has no words."""
        for token in tokens_of(line):
            self._add(token)
        return [row for row in self._rows if row]

    def _add(self, token: Token) -> None:
        row = self._rows[-1]
        gap = self._gap(token, at_start=not row)
        if row and token.glued:
            row[-1] = replace(row[-1], after="")
        widths = self._widths(token.parts)
        width = sum(widths)
        if row and self._x + gap + width > self._width and not token.wide:
            self._next_row()
            gap = 0.0
        self._x += gap
        if self._x + width <= self._width and sum([len(text) for text, _ in token.parts]) <= MAX_WORD_CHARS:
            self._place(token.parts, widths)
        else:
            self._place_cut(token)

    def _gap(self, token: Token, at_start: bool) -> float:
        """The space before a word."""
        if self._exact:
            gap = token.spaces * self._space
            return min(gap, MAX_INDENT_SHARE * self._width) if at_start else gap
        return 0.0 if at_start or token.glued else self._space

    def _next_row(self) -> None:
        self._rows.append([])
        self._x = EXACT_HANG_SPACES * self._space if self._exact else 0.0

    def _place(self, parts: Sequence[tuple[str, Style]], widths: Sequence[float], after: str = " ") -> None:
        pieces = []
        for (text, style), width in zip(parts, widths, strict=True):
            pieces.append(Piece(text, style, self._x, width))
            self._x += width
        self._rows[-1].append(SetWord(tuple(pieces), after))

    def _place_cut(self, token: Token) -> None:
        """A word that is too long for a row, in as many pieces as it takes."""
        pending: list[tuple[str, Style]] = []
        chars = 0
        x = self._x
        for text, style in token.parts:
            for char in text:
                width = self._faces[style][char] * self._size
                full = x + width > self._width and (pending or self._rows[-1])
                if full or chars == MAX_WORD_CHARS:
                    if pending:
                        self._place(pending, self._widths(pending), after="")
                    if full:
                        self._next_row()
                    pending, chars, x = [], 0, self._x
                if pending and pending[-1][1] == style:
                    pending[-1] = (pending[-1][0] + char, style)
                else:
                    pending.append((char, style))
                chars += 1
                x += width
        if pending:
            self._place(pending, self._widths(pending))

    def _widths(self, parts: Sequence[tuple[str, Style]]) -> list[float]:
        return [self._faces[style].width(text) * self._size for text, style in parts]


def tokens_of(line: Sequence[Run]) -> list[Token]:
    """The words of a line of runs."""
    tokens: list[Token] = []
    spaces = 0
    open_word = False  # the last token goes on in the next run
    for run in line:
        for match in SPACES_OR_WORD.finditer(run.text):
            if match[1] is not None:
                spaces += len(match[1])
                open_word = False
            elif open_word:
                tokens[-1] = replace(tokens[-1], parts=(*tokens[-1].parts, (match[2], run.style)))
            else:
                tokens.append(Token(((match[2], run.style),), spaces))
                spaces, open_word = 0, True
    return [part for token in tokens for part in _wide_parts(token)]


def _wide_parts(token: Token) -> list[Token]:
    if all(text.isascii() for text, _ in token.parts):
        return [token]
    if not any(unicodedata.east_asian_width(char) in "WF" for text, _ in token.parts for char in text):
        return [token]
    parts: list[Token] = []
    for text, style in token.parts:
        for sentence in WIDE_SENTENCE.findall(text):
            parts.append(Token(((sentence, style),), 0 if parts else token.spaces, glued=bool(parts), wide=True))
    return parts
