"""Colours, fonts and paragraph styles of the sample documents."""

from __future__ import annotations

from reportlab.lib.colors import Color, HexColor
from reportlab.lib.enums import TA_CENTER, TA_JUSTIFY, TA_RIGHT
from reportlab.lib.styles import ParagraphStyle

INK = HexColor("#1d2730")
TEAL = HexColor("#14535e")
GREY = HexColor("#66727c")
PALE = HexColor("#e9f1f1")
RULE = HexColor("#9fb3b7")
WHITE = HexColor("#ffffff")

SERIF, SERIF_BOLD = "Times-Roman", "Times-Bold"
SANS, SANS_BOLD = "Helvetica", "Helvetica-Bold"

BODY = ParagraphStyle(
    "body",
    fontName=SERIF,
    fontSize=10.5,
    leading=14.6,
    textColor=INK,
    alignment=TA_JUSTIFY,
    spaceAfter=7,
    embeddedHyphenation=1,
    splitLongWords=0,
    allowWidows=0,
    allowOrphans=0,
)
NARROW = ParagraphStyle("narrow", parent=BODY, fontSize=9.8, leading=13.2, spaceAfter=6)
LIST = ParagraphStyle(
    "list", parent=BODY, leftIndent=16, bulletIndent=3, spaceAfter=4, bulletFontName=SERIF, bulletFontSize=10.5
)
QUOTED = ParagraphStyle("quoted", parent=BODY, leftIndent=42, rightIndent=24)
CLAUSE = ParagraphStyle("clause", parent=BODY, leftIndent=30, bulletIndent=0, bulletFontName=SERIF, bulletFontSize=10.5)
SUBCLAUSE = ParagraphStyle("subclause", parent=CLAUSE, leftIndent=52, bulletIndent=32, spaceAfter=5)
TERM = ParagraphStyle("term", parent=BODY, leftIndent=30, spaceAfter=5)
LETTER = ParagraphStyle("letter", parent=BODY, fontSize=11.5, leading=17, spaceAfter=10)
LETTER_LEFT = ParagraphStyle("letterleft", parent=LETTER, alignment=0, spaceAfter=14)
LETTER_RIGHT = ParagraphStyle("letterright", parent=LETTER, alignment=TA_RIGHT, spaceAfter=18)
CENTRE = ParagraphStyle("centre", parent=BODY, alignment=TA_CENTER)
CALLOUT = ParagraphStyle(
    "callout",
    parent=BODY,
    fontName=SANS,
    fontSize=9.2,
    leading=13,
    backColor=PALE,
    borderPadding=(7, 9, 7, 9),
    leftIndent=9,
    rightIndent=9,
    spaceBefore=18,
    spaceAfter=14,
    alignment=0,
)
FOOTNOTE = ParagraphStyle("footnote", parent=BODY, fontSize=8.4, leading=10.6, spaceAfter=0)
CAPTION = ParagraphStyle(
    "caption",
    parent=BODY,
    fontName=SANS_BOLD,
    fontSize=8.8,
    leading=12,
    textColor=TEAL,
    spaceBefore=6,
    spaceAfter=4,
    alignment=0,
)
CELL = ParagraphStyle("cell", parent=BODY, fontName=SANS, fontSize=8.8, leading=11.4, alignment=0, spaceAfter=0)
TITLE = ParagraphStyle(
    "title", parent=BODY, fontName=SANS_BOLD, fontSize=24, leading=29, textColor=TEAL, alignment=0, spaceAfter=4
)
SUBTITLE = ParagraphStyle(
    "subtitle", parent=BODY, fontName=SANS, fontSize=13, leading=17, textColor=GREY, alignment=0, spaceAfter=6
)
DEED_TITLE = ParagraphStyle("deedtitle", parent=TITLE, fontSize=20, alignment=TA_CENTER, textColor=INK)
DEED_SUBTITLE = ParagraphStyle("deedsubtitle", parent=SUBTITLE, fontSize=11.5, alignment=TA_CENTER, spaceAfter=10)
BYLINE = ParagraphStyle("byline", parent=SUBTITLE, fontSize=9, leading=12, spaceAfter=16)


def heading_style(level: int, size_pt: float, before_pt: float, colour: Color = TEAL) -> ParagraphStyle:
    """A heading of `level` that stays with the paragraph after it."""
    return ParagraphStyle(
        f"heading{level}",
        fontName=SANS_BOLD,
        fontSize=size_pt,
        leading=size_pt * 1.25,
        textColor=colour,
        spaceBefore=before_pt,
        spaceAfter=size_pt * 0.35,
        keepWithNext=1,
    )


BOOK_HEADINGS = {
    0: heading_style(0, 19, 0),
    1: heading_style(1, 19, 20),
    2: heading_style(2, 12.2, 9),
    3: heading_style(3, 10.6, 5, INK),
}
PLAIN_HEADINGS = {1: heading_style(1, 13.5, 12), 2: heading_style(2, 11, 8), 3: heading_style(3, 10, 5, INK)}
DEED_HEADINGS = {1: heading_style(1, 11.5, 10, INK), 2: heading_style(2, 10.5, 6, INK)}
