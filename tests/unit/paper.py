"""Pages of words made for a test: lines at their places as a reader gives them, documents in normal form, passages.

Every letter is half as wide as its line's type is high, so a test can say where a word stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from pincite.model import (
    Block,
    BlockKind,
    Box,
    Document,
    Line,
    Metadata,
    OutlineEntry,
    Page,
    Passage,
    ReadPage,
    Scores,
    Span,
    Word,
    reading_text,
    union_of,
)
from pincite.regions import regions_of_spans
from pincite.structure import structured

WIDTH, HEIGHT = 595.0, 842.0
LEFT, TOP = 72.0, 150.0  # below the margin in which running headers are looked for
PITCH = 1.2  # from one line to the next, in sizes of the type
CELL_BORDER = " | "


def set_words(text: str, x: float = LEFT, y: float = TOP, size: float = 10.0) -> tuple[Word, ...]:
    """`text` set in one line from x on; its top is y. A "|" between spaces is the border between two cells."""
    words: list[Word] = []
    for token in text.split():
        if token == "|":
            before = words[-1].after
            words[-1] = replace(words[-1], after=(before if "|" in before else "") + CELL_BORDER)
            continue
        right = x + 0.5 * size * len(token)
        words.append(Word(token, Box(x, y, right, y + size)))
        x = right + 0.5 * size
    return (*words[:-1], replace(words[-1], after="\n")) if words else ()


def line(
    text: str,
    x: float = LEFT,
    y: float = TOP,
    size: float = 10.0,
    *,
    bold: bool = False,
    mono: bool = False,
    group: int = 0,
    kind: BlockKind | None = None,
    level: int = 0,
    row: int | None = None,
    header_row: bool = False,
) -> Line:
    """One printed line."""
    words = set_words(text, x, y, size)
    return Line(words, size, bold, mono, group, kind, level, row, header_row)


def column(text: str, x: float = LEFT, y: float = TOP, size: float = 10.0, *, mono: bool = False) -> list[Line]:
    """The lines of `text` below one another; an empty one is a gap as between paragraphs."""
    return [
        line(row, x, y + at * PITCH * size, size, mono=mono)
        for at, row in enumerate(text.strip("\n").split("\n"))
        if row.strip()
    ]


def table(*rows: str, y: float = TOP, group: int = 9, header_rows: int = 1) -> list[Line]:
    """The rows of a ruled table, cells divided by " | "."""
    return [
        line(text, y=y + 15.0 * at, group=group, kind=BlockKind.TABLE, row=at, header_row=at < header_rows)
        for at, text in enumerate(rows)
    ]


def page(*lines: Line | Iterable[Line], number: int = 1, label: str = "") -> ReadPage:
    """A page as a reader returns it."""
    flat = [one for item in lines for one in ([item] if isinstance(item, Line) else item)]
    return ReadPage(number, label, WIDTH, HEIGHT, tuple(flat))


def read(*pages: ReadPage, outline: Sequence[OutlineEntry] = ()) -> Document:
    """The pages in normal form, numbered in the order given."""
    numbered = [replace(one, number=at) for at, one in enumerate(pages, 1)]
    return structured(Metadata("pdf", outline=tuple(outline)), numbered)


@dataclass(frozen=True)
class Told:
    """A block as a test speaks of it."""

    kind: BlockKind
    text: str
    level: int = 0
    number: str = ""


def told(document: Document, *, furniture: bool = False) -> list[Told]:
    """The document's blocks in order, or its furniture instead."""
    return [
        Told(block.kind, text_of(document, block), block.level, block.number)
        for block in document.blocks
        if (block.kind is BlockKind.FURNITURE) is furniture
    ]


def texts(document: Document, *, furniture: bool = False) -> list[str]:
    """The text of each block."""
    return [block.text for block in told(document, furniture=furniture)]


def text_of(document: Document, block: Block) -> str:
    return reading_text(document.words_in(block.spans))


# Documents in normal form


@dataclass(frozen=True)
class Part:
    """A block before it has a place. Tables give one text for each row, others one in all; a new page may follow."""

    kind: BlockKind
    lines: tuple[str, ...]
    level: int = 0
    number: str = ""
    header_rows: int = 0
    new_page: bool = False


def heading(text: str, level: int = 1) -> Part:
    return Part(BlockKind.HEADING, (text,), level)


def paragraph(text: str, number: str = "", *, new_page: bool = False) -> Part:
    return Part(BlockKind.PARAGRAPH, (text,), number=number, new_page=new_page)


def rows(*lines: str, header_rows: int = 1) -> Part:
    return Part(BlockKind.TABLE, lines, header_rows=header_rows)


def document(*parts: Part) -> Document:
    """The parts one below the other, each line with its own line end; furniture stands where it is put."""
    pages: list[list[Word]] = [[]]
    blocks: list[Block] = []
    for part in parts:
        if part.new_page:
            pages.append([])
        spans = []
        for text in part.lines:
            first = len(pages[-1])
            pages[-1].extend(set_words(text, y=TOP + 15.0 * len(pages[-1])))
            spans.append(Span(len(pages), first, len(pages[-1])))
        whole = (Span(len(pages), spans[0].first, spans[-1].end),)
        in_rows = tuple((span,) for span in spans) if part.kind is BlockKind.TABLE else ()
        blocks.append(Block(part.kind, whole, part.level, part.number, in_rows, part.header_rows))
    numbered = tuple(Page(at, "", WIDTH, HEIGHT, tuple(words)) for at, words in enumerate(pages, 1))
    return Document(Metadata("pdf"), numbered, tuple(blocks))


# Passages


def passage(
    *lines: str,
    kind: BlockKind = BlockKind.PARAGRAPH,
    heading_path: tuple[str, ...] = (),
    title: str = "Lease",
    document: str = "d1",
    page: int = 1,
    label: str = "",
    next_page_from: int | None = None,
) -> Passage:
    """A passage of these lines, each with its own line end; from line `next_page_from` on they stand a page later."""
    split = len(lines) if next_page_from is None else next_page_from
    pages: dict[int, Page] = {}
    spans: list[Span] = []
    for number, of_page in ((page, lines[:split]), (page + 1, lines[split:])):
        words = [word for at, text in enumerate(of_page) for word in set_words(text, y=TOP + 15.0 * at)]
        if words:
            pages[number] = Page(number, label, WIDTH, HEIGHT, tuple(words))
            spans.append(Span(number, 0, len(words)))
    words = tuple(word for span in spans for word in pages[span.page].words)
    return Passage(
        chunk=f"c-{document}-{page}",
        document=document,
        title=title,
        path=f"/papers/{title}.pdf",
        kind=kind,
        heading_path=heading_path,
        text=reading_text(words),
        spans=tuple(spans),
        words=words,
        regions=regions_of_spans(pages, spans),
        scores=Scores(),
        modified="2025-01-01T00:00:00+00:00",
    )


def box_of(words: Iterable[Word]) -> Box:
    return union_of(word.box for word in words)
