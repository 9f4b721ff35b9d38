"""Page templates, running headers and footers, footnotes, outline and contents of the sample PDFs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from markup import Heading
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import BaseDocTemplate, Flowable, Frame, PageTemplate, Paragraph
from style import FOOTNOTE, GREY, RULE, SANS, TEAL, WHITE

WIDTH_PT, HEIGHT_PT = A4
MARGIN_PT = 72
TEXT_WIDTH_PT = WIDTH_PT - 2 * MARGIN_PT
BOTTOM_PT, TOP_PT = 88, 78
GUTTER_PT = 22
ROMAN = ("", "i", "ii", "iii", "iv", "v", "vi")


@dataclass(frozen=True)
class Look:
    """What the pages of one document share. `date` is the day the file was made; pages of the front matter bear
    roman numbers, and a document without `header` has no rule at its top.
    """

    title: str
    author: str
    date: str
    footer: str
    header: str = ""
    front_pages: int = 0
    outline: bool = False
    cover: tuple[str, ...] = ()

    def label(self, sheet: int) -> str:
        """The number printed on a sheet that is counted from 1."""
        return ROMAN[sheet] if sheet <= self.front_pages else str(sheet - self.front_pages)


class Footnote(Flowable):
    """Takes no room where it stands: the template prints it at the foot of the page it lands on."""

    _ZEROSIZE = 1  # reportlab's own sign for pieces without extent

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text, self.width, self.height = text, 0, 0

    def wrap(self, _width: float, _height: float) -> tuple[float, float]:
        return 0, 0

    def draw(self) -> None:
        """Nothing here; see Booklet.after_page."""


class Booklet(BaseDocTemplate):
    """An A4 document with the furniture that its look asks for."""

    def __init__(self, path: Path, look: Look) -> None:
        super().__init__(
            str(path),
            pagesize=A4,
            title=look.title,
            author=look.author,
            subject="",
            creator="Sample documents",
            invariant=1,
            pageCompression=0,
            lang="en-GB",
        )
        self.look = look
        self.chapter = ""
        self.footnotes: list[str] = []
        self.addPageTemplates(
            [
                PageTemplate("first", [whole_page()], onPage=self.first_page, onPageEnd=self.after_page),
                PageTemplate("body", [whole_page()], onPageEnd=self.after_page),
                PageTemplate("opening", [*opening_columns()], onPageEnd=self.after_page),
                PageTemplate("columns", [*columns(HEIGHT_PT - TOP_PT)], onPageEnd=self.after_page),
            ]
        )

    def beforeDocument(self) -> None:  # noqa: N802 (reportlab's name)
        self.chapter, self.footnotes = "", []
        if self.look.front_pages:
            self.canv.addPageLabel(0, "ROMAN_LOWER")
            self.canv.addPageLabel(self.look.front_pages, "ARABIC")

    def afterFlowable(self, flowable: Flowable) -> None:  # noqa: N802 (reportlab's name)
        if isinstance(flowable, Footnote):
            self.footnotes.append(flowable.text)
        if isinstance(flowable, Heading):
            self.note_heading(flowable)

    def note_heading(self, heading: Heading) -> None:
        """Enters a heading into the outline, the contents and the running header."""
        if heading.level <= 1:
            self.chapter = heading.plain
        if not self.look.outline:
            return
        key = f"h-{self.page}-{heading.plain}"
        self.canv.bookmarkPage(key)
        self.canv.addOutlineEntry(heading.plain, key, max(0, heading.level - 1), closed=heading.level == 2)
        if heading.level in (1, 2):
            self.notify("TOCEntry", (heading.level - 1, heading.plain, self.page - self.look.front_pages, key))

    def first_page(self, canvas: Canvas, _document: BaseDocTemplate) -> None:
        """The cover, where there is one."""
        if self.look.cover:
            draw_cover(canvas, self.look.cover)

    def after_page(self, canvas: Canvas, _document: BaseDocTemplate) -> None:
        """Header, footer and the footnotes collected on this page."""
        if self.look.cover and self.page == 1:
            return
        canvas.saveState()
        canvas.setFont(SANS, 8)
        canvas.setFillColor(GREY)
        canvas.setStrokeColor(RULE)
        if self.look.header:
            canvas.drawString(MARGIN_PT, HEIGHT_PT - 50, self.look.header)
            canvas.drawRightString(WIDTH_PT - MARGIN_PT, HEIGHT_PT - 50, self.chapter)
            canvas.line(MARGIN_PT, HEIGHT_PT - 56, WIDTH_PT - MARGIN_PT, HEIGHT_PT - 56)
        if self.look.footer:
            canvas.drawString(MARGIN_PT, 36, self.look.footer)
            canvas.drawRightString(WIDTH_PT - MARGIN_PT, 36, self.look.label(self.page))
        self.draw_footnotes(canvas)
        canvas.restoreState()

    def draw_footnotes(self, canvas: Canvas) -> None:
        """Prints and forgets the footnotes of the page, in the strip that every frame leaves free."""
        top_pt = BOTTOM_PT - 6
        if self.footnotes:
            canvas.line(MARGIN_PT, top_pt, MARGIN_PT + 90, top_pt)
        for text in self.footnotes:
            note = Paragraph(text, FOOTNOTE)
            _, height_pt = note.wrap(TEXT_WIDTH_PT, 60)
            top_pt -= height_pt + 3
            note.drawOn(canvas, MARGIN_PT, top_pt)
        self.footnotes = []


def frame(x_pt: float, width_pt: float, bottom_pt: float, top_pt: float) -> Frame:
    """A frame without padding."""
    return Frame(x_pt, bottom_pt, width_pt, top_pt - bottom_pt, 0, 0, 0, 0)


def whole_page() -> Frame:
    return frame(MARGIN_PT, TEXT_WIDTH_PT, BOTTOM_PT, HEIGHT_PT - TOP_PT)


def columns(top_pt: float) -> tuple[Frame, Frame]:
    """Two columns below `top_pt`."""
    width_pt = (TEXT_WIDTH_PT - GUTTER_PT) / 2
    return (
        frame(MARGIN_PT, width_pt, BOTTOM_PT - 20, top_pt),
        frame(MARGIN_PT + width_pt + GUTTER_PT, width_pt, BOTTOM_PT - 20, top_pt),
    )


def opening_columns() -> tuple[Frame, Frame, Frame]:
    """A frame for the chapter's heading across the page, and two columns below it."""
    top_pt = HEIGHT_PT - TOP_PT
    return (frame(MARGIN_PT, TEXT_WIDTH_PT, top_pt - 36, top_pt), *columns(top_pt - 38))


def draw_cover(canvas: Canvas, lines: tuple[str, ...]) -> None:
    """A coloured upper half with the organisation and the title, and the rest of the lines below it."""
    organisation, title, *rest = lines
    canvas.saveState()
    canvas.setFillColor(TEAL)
    canvas.rect(0, HEIGHT_PT * 0.45, WIDTH_PT, HEIGHT_PT * 0.55, stroke=0, fill=1)
    canvas.setStrokeColor(WHITE)
    canvas.setFillColor(WHITE)
    canvas.setLineWidth(1.2)
    for step in range(5):  # ripples, the mark of a firm that measures water
        canvas.bezier(72, 700 - 9 * step, 110, 716 - 9 * step, 130, 684 - 9 * step, 168, 700 - 9 * step)
    canvas.setFont(SANS, 14)
    canvas.drawString(MARGIN_PT, 520, organisation)
    canvas.setFont("Helvetica-Bold", 40)
    canvas.drawString(MARGIN_PT, 470, title)
    canvas.setFillColor(GREY)
    canvas.setFont(SANS, 11)
    for number, line in enumerate(rest):
        canvas.drawString(MARGIN_PT, 330 - 18 * number, line)
    canvas.restoreState()


@contextmanager
def dated(day: str) -> Iterator[None]:
    """Makes reportlab date files with noon of `day` instead of with now."""
    moment = datetime.fromisoformat(f"{day}T12:00:00").replace(tzinfo=UTC)
    before = os.environ.get("SOURCE_DATE_EPOCH")
    os.environ["SOURCE_DATE_EPOCH"] = str(int(moment.timestamp()))
    try:
        yield
    finally:
        del os.environ["SOURCE_DATE_EPOCH"]
        if before is not None:
            os.environ["SOURCE_DATE_EPOCH"] = before


def write_pdf(path: Path, pieces: list[Flowable], look: Look) -> None:
    """Sets the pieces and writes the file; the same pieces give the same bytes."""
    with dated(look.date):
        Booklet(path, look).multiBuild(pieces)
