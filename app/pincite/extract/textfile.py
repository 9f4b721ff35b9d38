"""Markdown and plain text as files with pages: parsed, laid out, and drawn from the same layout."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pincite.errors import UnreadableError
from pincite.extract.blocks import Block
from pincite.extract.decoding import MAX_TEXT_BYTES, decoded
from pincite.extract.fonts import Faces, reads_right_to_left
from pincite.extract.formats import Format
from pincite.extract.layout import LaidPage, Layout, Start
from pincite.extract.markdown import parsed_markdown
from pincite.extract.mupdf import pymupdf
from pincite.extract.plain import plain_blocks
from pincite.model import Metadata, ReadPage

CHARS_PER_PAGE = 3000  # roughly, for progress
BAR_WIDTH_PT = 0.5
BAR_COLOUR = (0.6, 0.6, 0.6)


class TextFile:
    """An open text file. Raises UnreadableError when it is none."""

    def __init__(self, path: Path, format: Format) -> None:
        try:
            with path.open("rb") as file:
                data = file.read(MAX_TEXT_BYTES + 1)
        except OSError as error:
            raise UnreadableError(f"The file cannot be opened: {error.strerror}.") from error
        text = decoded(data)
        self.problems = list(text.problems)
        self.partly_read = text.cut_short
        self.page_count = 1 + len(text.text) // CHARS_PER_PAGE
        self._format = format
        self._title = ""
        self._blocks: list[Block]
        if format is Format.MARKDOWN:
            parsed = parsed_markdown(text.text)
            self._blocks, self._title = parsed.blocks, parsed.title
            if parsed.too_deep:
                self.partly_read = True
                self.problems.append("Lists or quotations nested too deeply were left out.")
        else:
            self._blocks = list(plain_blocks(text.text))
        self._faces = Faces()
        self._starts: dict[int, Start] = {}
        self._drawn: Any = None  # the document of the page drawn last, which would not live without it

    def metadata(self) -> Metadata:
        """The title, which is all that these formats state."""
        return Metadata(self._format.value, title=self._title)

    def pages(self) -> Iterator[ReadPage]:
        """Every page in order."""
        for laid in self._laid_from(Start(), to_draw=False):
            yield laid.page

    def page_to_draw(self, number: int) -> Any:
        """The page set in a PDF of its own. Raises UnreadableError when there is no such page."""
        if number not in self._starts:
            reached = max((page for page in self._starts if page < number), default=1)
            any(laid.page.number == number for laid in self._laid_from(self._starts.get(reached, Start()), False))
        if number not in self._starts:
            raise UnreadableError(f"There is no page {number} in this file.")
        laid = next(laid for laid in self._laid_from(self._starts[number]) if laid.page.number == number)
        self._drawn = pymupdf.open()
        return self._set_page(self._drawn, laid)

    def close(self) -> None:
        """Nothing is held that needs closing."""

    def _laid_from(self, start: Start, to_draw: bool = True) -> Iterator[LaidPage]:
        layout = Layout(self._blocks, self._faces, start, to_draw)
        for laid in layout.pages():
            # Never replaced: a layout taken up in the middle of a page knows only that page's lower part.
            self._starts.setdefault(laid.page.number, layout.starts[laid.page.number])
            yield laid

    def _set_page(self, pdf: Any, laid: LaidPage) -> Any:
        page = pdf.new_page(width=laid.page.width, height=laid.page.height)
        writer = pymupdf.TextWriter(page.rect)
        for glyphs in laid.glyphs:
            face = self._faces[glyphs.style]
            writer.append(
                (glyphs.x, glyphs.baseline),
                face.shown(glyphs.text),
                font=face.font,
                fontsize=glyphs.size_pt,
                right_to_left=reads_right_to_left(glyphs.text),
            )
        if laid.glyphs:
            writer.write_text(page)
        shape = page.new_shape()
        for bar in laid.bars:
            shape.draw_line((bar.x0, bar.y0), (bar.x1, bar.y1))
        if laid.bars:
            shape.finish(width=BAR_WIDTH_PT, color=BAR_COLOUR)
            shape.commit()
        return page
