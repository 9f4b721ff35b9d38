"""The sample documents: which text, which look and which directives make each of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from drawings import Bars, Letterhead, Rule, Signature
from markup import OPTION, Heading, Setter, syllables_from
from pages import TEXT_WIDTH_PT, Footnote, Look, write_pdf
from reportlab.lib.styles import ParagraphStyle
from reportlab.platypus import (
    CondPageBreak,
    Flowable,
    FrameBreak,
    NextPageTemplate,
    PageBreak,
    Paragraph,
    Spacer,
    TableStyle,
)
from reportlab.platypus.tableofcontents import TableOfContents
from style import (
    BODY,
    BOOK_HEADINGS,
    BYLINE,
    CAPTION,
    CENTRE,
    DEED_HEADINGS,
    DEED_SUBTITLE,
    DEED_TITLE,
    LETTER,
    LETTER_LEFT,
    LETTER_RIGHT,
    NARROW,
    PLAIN_HEADINGS,
    QUOTED,
    SANS,
    SANS_BOLD,
    SUBTITLE,
    TERM,
    TITLE,
)

TEXTS = Path(__file__).parent / "text"
COMPANY = "Brackwater Instruments Ltd"


def text_of(name: str) -> str:
    return (TEXTS / name).read_text(encoding="utf-8")


def paragraphs(setter: Setter) -> Mapping[str, Callable[[str], list[Flowable]]]:
    """Directives that set their words in a style of their own."""

    def in_style(style: ParagraphStyle) -> Callable[[str], list[Flowable]]:
        return lambda rest: [Paragraph(setter.inline(rest), style)]

    return {
        "title": in_style(TITLE),
        "subtitle": in_style(SUBTITLE),
        "byline": in_style(BYLINE),
        "centre": in_style(CENTRE),
        "term": in_style(TERM),
        "quote": in_style(QUOTED),
        "rule": lambda _: [Rule(TEXT_WIDTH_PT)],
        "pagebreak": lambda _: [PageBreak()],
    }


class HandbookSetter(Setter):
    """The handbook's front matter, and its chapters in one or two columns."""

    def __init__(self) -> None:
        super().__init__(BOOK_HEADINGS, syllables=syllables_from(TEXTS / "hyphens.txt"), width_pt=TEXT_WIDTH_PT)
        self.directives = {
            "frontmatter": lambda _: [NextPageTemplate("opening"), PageBreak()],
            "contents": lambda _: [
                Paragraph("Contents", BOOK_HEADINGS[0]),
                FrameBreak(),
                NextPageTemplate("body"),
                contents(),
                PageBreak(),
            ],
            "h0": lambda rest: [Heading(self.inline(rest), BOOK_HEADINGS[0], 0, rest)],
            "body": lambda _: [PageBreak()],
            "footnote": lambda rest: [Footnote(self.inline(f"^{rest[0]}^ {rest[2:]}"))],
            "columns": self.begin_columns,
            "single": self.end_columns,
        }
        self.around_heading = self.chapter_opening

    def begin_columns(self, _rest: str) -> list[Flowable]:
        """The next chapter opens across a new page and goes on in two columns."""
        self.body = NARROW
        return [NextPageTemplate("opening"), PageBreak()]

    def end_columns(self, _rest: str) -> list[Flowable]:
        """The next chapter begins on a new page without columns."""
        self.body = BODY
        return [NextPageTemplate("body"), PageBreak()]

    def chapter_opening(self, heading: Heading) -> list[Flowable]:
        """The heading, after which a chapter in columns goes on in the first of them."""
        if heading.level == 1 and self.body is NARROW:
            return [heading, FrameBreak(), NextPageTemplate("columns")]
        return [CondPageBreak(120), heading] if heading.level == 1 else [heading]


def contents() -> TableOfContents:
    """Chapters in bold, sections below them, each with the printed page number."""
    return TableOfContents(
        tableStyle=TableStyle(
            [
                ("TOPPADDING", (0, 0), (-1, -1), 1.4),
                ("BOTTOMPADDING", (0, 0), (-1, -1), 1.4),
                ("LEFTPADDING", (0, 0), (-1, -1), 0),
                ("RIGHTPADDING", (0, 0), (-1, -1), 0),
            ]
        ),
        dotsMinLevel=1,
        levelStyles=[
            ParagraphStyle("toc1", fontName=SANS_BOLD, fontSize=9.6, leading=12, spaceBefore=6),
            ParagraphStyle("toc2", fontName=SANS, fontSize=8.6, leading=10.4, leftIndent=14),
        ],
    )


def write_handbook(path: Path) -> None:
    write_pdf(
        path,
        HandbookSetter().pieces(text_of("handbook.txt")),
        Look(
            title="Staff Handbook, fourth edition",
            author=COMPANY,
            date="2024-12-09",
            footer=COMPANY,
            header="Staff Handbook",
            front_pages=3,
            outline=True,
            cover=(
                COMPANY,
                "Staff Handbook",
                "Fourth edition",
                "In force from 1 January 2025",
                "Approved by the directors on 9 December 2024",
                "",
                "Unit 7, Ropewalk Wharf, Aldersea",
            ),
        ),
    )


def write_deed(path: Path, text: str, look: Look) -> None:
    """A legal document: numbered clauses with hanging numbers, no outline."""
    setter = Setter(DEED_HEADINGS, width_pt=TEXT_WIDTH_PT, clauses=True)
    setter.directives = {
        **paragraphs(setter),
        "title": lambda rest: [Paragraph(setter.inline(rest), DEED_TITLE)],
        "subtitle": lambda rest: [Paragraph(setter.inline(rest), DEED_SUBTITLE)],
    }
    write_pdf(path, setter.pieces(text_of(text)), look)


def write_lease(path: Path) -> None:
    write_deed(
        path,
        "lease.txt",
        Look(
            title="Lease of Unit 7, Ropewalk Wharf",
            author="Ropewalk Estates LLP",
            date="2022-03-14",
            footer="Lease · Unit 7, Ropewalk Wharf · 14 March 2022",
        ),
    )


def write_amendment(path: Path) -> None:
    write_deed(
        path,
        "amendment.txt",
        Look(
            title="Deed of variation, Unit 7, Ropewalk Wharf",
            author="Ropewalk Estates LLP",
            date="2024-09-02",
            footer="Deed of variation · Unit 7, Ropewalk Wharf · 2 September 2024",
        ),
    )


def write_report(path: Path) -> None:
    setter = Setter(PLAIN_HEADINGS, width_pt=TEXT_WIDTH_PT)
    setter.directives = {**paragraphs(setter), "chart": chart}
    write_pdf(
        path,
        setter.pieces(text_of("report.txt")),
        Look(
            title="Quarterly report, second quarter of 2025",
            author="Priya Nandakumar",
            date="2025-07-18",
            footer=f"{COMPANY} · Quarterly report Q2 2025",
        ),
    )


def chart(rest: str) -> list[Flowable]:
    """A bar chart with its caption below it."""
    options = {key: value.strip('"') for key, value in OPTION.findall(rest)}
    values = [(label, float(value)) for label, value in (pair.split(":") for pair in options["values"].split(","))]
    return [Bars(values, TEXT_WIDTH_PT), Paragraph(f"Figure 1. {options['caption']}", CAPTION), Spacer(1, 8)]


def write_letter(path: Path) -> None:
    """The letter before it was printed, signed and scanned."""
    setter = Setter(PLAIN_HEADINGS, width_pt=TEXT_WIDTH_PT, body=LETTER)

    def lines(style: ParagraphStyle) -> Callable[[str], list[Flowable]]:
        return lambda rest: [Paragraph(setter.inline(rest).replace(" / ", "<br/>"), style)]

    setter.directives = {
        **paragraphs(setter),
        "left": lines(LETTER_LEFT),
        "right": lines(LETTER_RIGHT),
        "signature": lambda _: [Signature(), Spacer(1, 6)],
        "letterhead": lambda rest: [Letterhead(*(part.strip() for part in rest.split("|")), TEXT_WIDTH_PT)],
    }
    write_pdf(
        path,
        setter.pieces(text_of("letter.txt")),
        Look(
            title="Letter",
            author="Pellow & Strand",
            date="2025-07-08",
            footer="",
        ),
    )
