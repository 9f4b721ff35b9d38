"""PDF → pages of words with boxes.

Each page is interpreted once, into a display list. MuPDF applies rotation and crop box when it makes one, so all
that is taken from it (words, ruling lines, pictures) is already in the coordinates of the page as displayed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from pincite.errors import LimitError, PasswordNeededError, UnreadableError
from pincite.extract.formats import Format
from pincite.extract.limits import (
    MAX_LABEL_CHARS,
    MAX_NAME_CHARS,
    MAX_OUTLINE_ENTRIES,
    MAX_PAGE_PT,
    MAX_WORD_CHARS,
    MAX_WORDS_PER_PAGE,
    MIN_PAGE_PT,
)
from pincite.extract.mupdf import MUPDF_ERRORS, MUPDF_OR_MEMORY_ERRORS, pymupdf, ran_out_of_memory, text_of
from pincite.extract.tables import with_tables
from pincite.model import Box, Line, Metadata, OutlineEntry, ReadPage, Word

# Ligatures are spelt out (no PRESERVE_LIGATURES); glyphs without a known character become U+FFFD rather than
# whatever character happens to have the glyph's number; what lies outside the visible page is left out.
TEXT_FLAGS = pymupdf.TEXT_PRESERVE_WHITESPACE | pymupdf.TEXT_MEDIABOX_CLIP
BOLD_CHAR, BOLD_SPAN, MONO_SPAN = 8, 16, 8
BOLD_NAME = re.compile(r"bold|black|heavy|demi(?!light)", re.IGNORECASE)
MONO_NAME = re.compile(r"mono|courier|consol|typewriter|menlo", re.IGNORECASE)
MAX_PICTURES = 100  # the largest ones: what remains is too small to tell a scan
KEPT_IN_MEMORY_BYTES = 64 << 20
SOFT_HYPHEN = "\u00ad"
CONTROLS = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]")  # all but those that are white space
PDF_DATE = re.compile(
    r"(?:D:)?(?P<y>\d{4})(?P<m>\d\d)?(?P<d>\d\d)?(?P<H>\d\d)?(?P<M>\d\d)?(?P<S>\d\d)?"
    r"(?:(?P<utc>Z)|(?P<zone>[+-]\d\d)'?(?P<minutes>\d\d)?)?"
)


class OddPageError(ValueError):
    """A page that could be parsed but cannot be used; says why."""


class PdfFile:
    """An open PDF. Raises UnreadableError and its kin when it cannot be opened."""

    def __init__(self, path: Path) -> None:
        self._pdf = _opened(path)
        self.problems: list[str] = []
        self.partly_read = False
        try:
            self.page_count: int = self._pdf.page_count
            repaired = bool(self._pdf.is_repaired)
            self._labelled = bool(self._pdf.get_page_labels())
            self._metadata = self._stated()
        except MUPDF_ERRORS as error:
            raise UnreadableError("The PDF is too damaged to be read.") from error
        if self.page_count < 1:
            raise UnreadableError("No page can be found in the PDF.")
        if repaired:
            self.problems.append("The PDF is damaged and was repaired; parts of it may be missing.")

    def metadata(self) -> Metadata:
        """Title, author, dates and table of contents, as far as the file states them."""
        return self._metadata

    def pages(self) -> Iterator[ReadPage]:
        """Every page in order; one that cannot be read is empty and named in `problems`."""
        for number in range(1, self.page_count + 1):
            try:
                yield self._page(number)
            except MUPDF_OR_MEMORY_ERRORS as error:
                self.partly_read = True
                self.problems.append(f"Page {number} could not be read: {_reason(error)}.")
                yield ReadPage(number, "", 595.0, 842.0, ())

    def page_to_draw(self, number: int) -> Any:
        """MuPDF's own page `number`, for painting. Raises UnreadableError when there is no such page."""
        if number > self.page_count:
            raise UnreadableError(f"There is no page {number} in this file.")
        try:
            return self._loaded(number)
        except MUPDF_ERRORS as error:
            raise UnreadableError("The page is damaged and cannot be shown.") from error

    def close(self) -> None:
        self._pdf.close()

    def _loaded(self, number: int) -> Any:
        try:
            return self._pdf[number - 1]
        except IndexError as error:  # a page that MuPDF had counted, until it looked for it
            raise OddPageError("it is missing") from error

    def _page(self, number: int) -> ReadPage:
        page = self._loaded(number)
        content = page.get_displaylist()
        width, height = content.rect.width, content.rect.height
        if not (MIN_PAGE_PT <= width <= MAX_PAGE_PT and MIN_PAGE_PT <= height <= MAX_PAGE_PT):
            raise OddPageError("its size is impossible")
        lines = _lines(text_of(content, TEXT_FLAGS), width, height)
        if sum(len(line.words) for line in lines) > MAX_WORDS_PER_PAGE:
            raise OddPageError(f"it has more than {MAX_WORDS_PER_PAGE:,} words")
        lines = with_tables(lines, content)
        return ReadPage(
            number=number,
            label=self._label(page, number),
            width=width,
            height=height,
            lines=tuple(lines),
            picture_share=_picture_share(content),
        )

    def _label(self, page: Any, number: int) -> str:
        """The printed number, where the file states one that differs from the page's place."""
        try:
            label = _clean(page.get_label()) if self._labelled else ""
        except MUPDF_ERRORS:
            return ""
        return "" if label == str(number) else label[:MAX_LABEL_CHARS]

    def _stated(self) -> Metadata:
        stated = self._pdf.metadata or {}
        return Metadata(
            format=Format.PDF.value,
            title=_clean(stated.get("title")),
            author=_clean(stated.get("author")),
            created=iso_date(stated.get("creationDate") or ""),
            modified=iso_date(stated.get("modDate") or ""),
            outline=self._outline(),
        )

    def _outline(self) -> tuple[OutlineEntry, ...]:
        try:
            entries = self._pdf.get_toc(simple=True)
        except MUPDF_ERRORS:
            self.problems.append("The PDF's table of contents is damaged and was not read.")
            return ()
        return tuple(
            OutlineEntry(max(1, int(level)), _clean(title), page)
            for level, title, page in entries[:MAX_OUTLINE_ENTRIES]
            if 1 <= page <= self.page_count and _clean(title)
        )


def iso_date(pdf_date: str) -> str:
    """A date as PDF writes it ("D:20260301120000+01'00'") as ISO 8601, or "" when it is none."""
    match = PDF_DATE.match(pdf_date.strip())
    if match is None:
        return ""
    year, month, day = match["y"], match["m"] or "01", match["d"] or "01"
    hour, minute, second = match["H"] or "00", match["M"] or "00", match["S"] or "00"
    if not ("01" <= month <= "12" and "01" <= day <= "31" and hour <= "23" and minute <= "59" and second <= "59"):
        return ""
    if match["H"] is None:
        return f"{year}-{month}-{day}"
    zone = "Z" if match["utc"] else f"{match['zone']}:{match['minutes'] or '00'}" if match["zone"] else ""
    return f"{year}-{month}-{day}T{hour}:{minute}:{second}{zone}"


def _opened(path: Path) -> Any:
    # Held in memory where it fits: the file is read at one moment, and is not kept open (and so undeletable on
    # Windows). It also keeps names that are not valid Unicode away from MuPDF, which cannot open those.
    try:
        if path.stat().st_size <= KEPT_IN_MEMORY_BYTES:
            pdf = pymupdf.open(stream=path.read_bytes(), filetype="pdf")
        else:
            pdf = pymupdf.open(str(path), filetype="pdf")
        locked = pdf.needs_pass and not pdf.authenticate("")
    except OSError as error:
        raise UnreadableError(f"The file cannot be opened: {error.strerror}.") from error
    except MUPDF_OR_MEMORY_ERRORS as error:
        if ran_out_of_memory(error):
            raise LimitError("Opening the PDF needs more memory than a reader may use.") from error
        raise UnreadableError("The file is not a PDF, or is too damaged to be opened.") from error
    if locked:
        raise PasswordNeededError("The PDF is locked with a password.")
    if not pdf.is_pdf:  # MuPDF goes by what a file begins with, and knows other formats too
        raise UnreadableError("The file is not a PDF, although its name says so.")
    return pdf


def _reason(error: Exception) -> str:
    if isinstance(error, OddPageError):
        return str(error)
    return "it needs too much memory" if ran_out_of_memory(error) else "it is damaged"


def _clean(stated: str | None) -> str:
    text = " ".join((stated or "").replace("\x00", "").split())
    return text[:MAX_NAME_CHARS].strip()


def _lines(text_page: Any, width: float, height: float) -> list[Line]:
    words: dict[tuple[int, int], list[Word]] = {}
    for x0, y0, x1, y1, text, block, line, _ in text_page.extractWORDS():
        box = Box(x0, y0, x1, y1)
        if not (0 <= x0 <= x1 <= width and 0 <= y0 <= y1 <= height):
            box = _clipped(box, width, height)
        if text.isprintable() and len(text) <= MAX_WORD_CHARS:
            words.setdefault((block, line), []).append(Word(text, box))
        else:
            words.setdefault((block, line), []).extend(_words(text, box))
    lines = []
    for block in text_page.extractDICT()["blocks"]:
        for index, line in enumerate(block["lines"]):
            in_line = words.pop((block["number"], index), None)
            if in_line:
                lines.append(_line(in_line, line["spans"], block["number"]))
    # MuPDF numbers lines alike in both lists; should it ever not, the words are still there.
    lines += [_line(in_line, [], block) for (block, _), in_line in words.items() if in_line]
    return lines


def _clipped(box: Box, width: float, height: float) -> Box:
    """The part of a box on the page. A damaged font can have glyphs without size or place: such a box has no area."""
    x0, y0, x1, y1 = (edge if math.isfinite(edge) else 0.0 for edge in (box.x0, box.y0, box.x1, box.y1))
    x0, y0 = min(max(x0, 0.0), width), min(max(y0, 0.0), height)
    return Box(x0, y0, max(x0, min(x1, width)), max(y0, min(y1, height)))


def _words(text: str, box: Box) -> list[Word]:
    """The words in what MuPDF took for one: it knows fewer kinds of space, and has no longest word."""
    last = len(text) - 1
    shown = "".join(c for i, c in enumerate(text) if c != SOFT_HYPHEN or i == last)
    shown = CONTROLS.sub("", shown)
    words = []
    per_char = box.width / max(len(shown), 1)
    for run in re.finditer(r"\S+", shown):
        for start in range(run.start(), run.end(), MAX_WORD_CHARS):
            end = min(start + MAX_WORD_CHARS, run.end())
            place = Box(box.x0 + start * per_char, box.y0, box.x0 + end * per_char, box.y1)
            words.append(Word(shown[start:end], place, " " if end == run.end() else ""))
    return words


def _line(words: list[Word], spans: list[dict[str, Any]], block: int) -> Line:
    weights: dict[float, int] = {}
    total = bold = mono = 0
    for span in spans:
        chars = len(span["text"].strip())
        total += chars
        weights[span["size"]] = weights.get(span["size"], 0) + chars
        if span["flags"] & BOLD_SPAN or span["char_flags"] & BOLD_CHAR or BOLD_NAME.search(span["font"]):
            bold += chars
        if span["flags"] & MONO_SPAN or MONO_NAME.search(span["font"]):
            mono += chars
    size = max(weights, key=lambda size: weights[size]) if weights else words[0].box.height
    ended = Word(words[-1].text, words[-1].box, "\n")
    return Line(
        words=(*words[:-1], ended),
        size_pt=size,
        bold=2 * bold > total,
        mono=2 * mono > total,
        group=block,
    )


def _picture_share(content: Any) -> float:
    """The share of the page that its pictures cover, overlaps counted once."""
    pictures = text_of(content, pymupdf.TEXT_PRESERVE_IMAGES).extractIMGINFO()
    page = content.rect
    shown = [pymupdf.Rect(picture["bbox"]) & page for picture in pictures]
    shown = sorted((box for box in shown if not box.is_empty), key=lambda box: -box.get_area())[:MAX_PICTURES]
    area: float = page.get_area()
    return min(1.0, _covered_area([(box.x0, box.y0, box.x1, box.y1) for box in shown]) / area)


def _covered_area(boxes: list[tuple[float, float, float, float]]) -> float:
    edges = sorted({x for box in boxes for x in (box[0], box[2])})
    area = 0.0
    for left, right in pairwise(edges):
        reached = -math.inf
        for _, y0, _, y1 in sorted((box for box in boxes if box[0] <= left and box[2] >= right), key=lambda b: b[1]):
            area += (right - left) * max(0.0, y1 - max(y0, reached))
            reached = max(reached, y1)
    return area
