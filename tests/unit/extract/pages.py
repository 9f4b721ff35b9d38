"""Small PDFs made for a test, and a look at what is painted where."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from pincite.extract.mupdf import pymupdf
from pincite.model import Box, Picture, ReadPage, Word

DARK = 300  # sum of the three colours below which a pixel is ink
DARK_GREYS = bytes(grey < DARK // 3 for grey in range(256))
MARKED = (255, 226, 102)


def pdf_with(path: Path, draw: Callable[[Any], None], pages: int = 1, **page_size: float) -> Path:
    """A PDF at `path` with `draw` done to each of its pages."""
    pdf = pymupdf.open()
    for _ in range(pages):
        draw(pdf.new_page(**page_size))
    pdf.save(path)
    return path


def pdf_with_text(path: Path, *lines: str, pages: int = 1) -> Path:
    """A PDF at `path` whose pages all say `lines`."""

    def draw(page: Any) -> None:
        for at, line in enumerate(lines):
            page.insert_text((72, 100 + 20 * at), line, fontsize=11)

    return pdf_with(path, draw, pages)


def words_of(page: ReadPage) -> list[Word]:
    return [word for line in page.lines for word in line.words]


def texts_of(page: ReadPage) -> list[str]:
    """The page's lines as text."""
    return [line.text for line in page.lines]


class Painting:
    """The pixels of a picture of a page."""

    def __init__(self, picture: Picture, zoom: float) -> None:
        self._pixmap = pymupdf.Pixmap(picture.png)
        self._zoom = zoom
        assert (self._pixmap.width, self._pixmap.height) == (picture.width_px, picture.height_px)

    def ink(self, box: Box) -> int:
        """How many pixels of `box` are dark."""
        return sum(1 for colour in self._colours(box) if sum(colour) < DARK)

    def marked(self, box: Box) -> float:
        """The share of `box` that has the highlight's colour or is ink."""
        colours = list(self._colours(box))
        return sum(1 for colour in colours if colour == MARKED or sum(colour) < 2 * DARK) / len(colours)

    def ink_outside(self, boxes: Iterable[Box]) -> int:
        """How many dark pixels of the picture are in none of `boxes`, give or take a point."""
        width, height = self._pixmap.width, self._pixmap.height
        outside = bytearray(b"\1") * (width * height)
        for box in boxes:
            x0, x1 = (max(0, min(width, int(x * self._zoom))) for x in (box.x0 - 1, box.x1 + 1 + 1 / self._zoom))
            for y in range(max(0, int((box.y0 - 1) * self._zoom)), min(height, int((box.y1 + 1) * self._zoom) + 1)):
                outside[y * width + x0 : y * width + x1] = bytes(x1 - x0)
        dark = pymupdf.Pixmap(pymupdf.csGRAY, self._pixmap).samples.translate(DARK_GREYS)
        return (int.from_bytes(dark) & int.from_bytes(outside)).bit_count()

    def _colours(self, box: Box) -> Iterable[tuple[int, int, int]]:
        x0, y0 = max(0, int(box.x0 * self._zoom)), max(0, int(box.y0 * self._zoom))
        for y in range(y0, min(self._pixmap.height, int(box.y1 * self._zoom) + 1)):
            for x in range(x0, min(self._pixmap.width, int(box.x1 * self._zoom) + 1)):
                yield self._pixmap.pixel(x, y)
