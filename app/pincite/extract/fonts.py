"""The fonts that synthetic pages are set in: widths for the layout, and the same glyphs for the picture."""

from __future__ import annotations

import unicodedata
from enum import IntFlag
from typing import Any

from pincite.extract.mupdf import pymupdf

REPLACEMENT = "\ufffd"
# MuPDF's built-in fonts. For characters they lack it falls back on others it carries, when measuring and when
# drawing alike, so that most scripts are shown.
NAMES = {
    0: "helv", 1: "hebo", 2: "heit", 3: "hebi",
    4: "cour", 5: "cobo", 6: "coit", 7: "cobi",
}  # fmt: skip


class Style(IntFlag):
    """How a run of text is set."""

    PLAIN = 0
    BOLD = 1
    ITALIC = 2
    MONO = 4


class Face(dict[str, float]):
    """A font with the width of each character at 1 pt, looked up once."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.font: Any = pymupdf.Font(name)

    def __missing__(self, char: str) -> float:
        width = float(self.font.glyph_advance(ord(self.shown(char))))
        self[char] = width
        return width

    def width(self, text: str) -> float:
        """The width of `text` at 1 pt."""
        return sum([self[char] for char in text])

    def shown(self, text: str) -> str:
        """What is drawn for `text`: characters that no font has become a visible replacement."""
        if text.isascii():
            return text
        return "".join(char if self.font.has_glyph(ord(char), fallback=True) else REPLACEMENT for char in text)


class Faces(dict[Style, Face]):
    """The font of each style, loaded when first asked for."""

    def __missing__(self, style: Style) -> Face:
        self[style] = Face(NAMES[int(style)])
        return self[style]


def reads_right_to_left(text: str) -> bool:
    """Whether the first letter of `text` belongs to a script that is written from right to left."""
    for char in text:
        direction = unicodedata.bidirectional(char)
        if direction in ("R", "AL"):
            return True
        if direction == "L":
            return False
    return False
