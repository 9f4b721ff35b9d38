"""Page pictures: size, part of a page, and highlights that leave the words readable."""

from __future__ import annotations

from pathlib import Path

import pytest

from pincite.errors import LimitError, UnreadableError
from pincite.extract.mupdf import pymupdf
from pincite.extract.pdf import PdfFile
from pincite.extract.pictures import picture_of
from pincite.model import Box
from tests.unit.extract.pages import MARKED, Painting, pdf_with_text, words_of


@pytest.fixture
def file(tmp_path: Path) -> PdfFile:
    return PdfFile(pdf_with_text(tmp_path / "page.pdf", "Rent is due monthly"))


def test_a_picture_has_zoom_pixels_for_each_point(file: PdfFile) -> None:
    picture = picture_of(file.page_to_draw(1), 1.5)
    assert (picture.width_px, picture.height_px) == (893, 1263)  # an A4 page, 595 by 842 points
    assert picture.png.startswith(b"\x89PNG")


def test_places_named_twice_are_painted_once(file: PdfFile) -> None:
    blank = Box(100, 300, 200, 320)
    once = picture_of(file.page_to_draw(1), 1.0, [blank])
    thrice = picture_of(file.page_to_draw(1), 1.0, [blank, blank, Box(150, 305, 180, 330), blank])
    assert pymupdf.Pixmap(once.png).pixel(160, 310) == MARKED
    assert pymupdf.Pixmap(thrice.png).pixel(160, 310) == MARKED
    assert pymupdf.Pixmap(once.png).pixel(160, 325) == (255, 255, 255)


def test_black_stays_black_under_a_highlight(file: PdfFile) -> None:
    (page,) = file.pages()
    word = words_of(page)[0].box
    pixels = pymupdf.Pixmap(picture_of(file.page_to_draw(1), 4.0, [word]).png)
    row = int(4 * word.y1) - 20  # through the letters
    colours = [pixels.pixel(x, row) for x in range(int(4 * word.x0), int(4 * word.x1))]
    assert min(map(sum, colours)) < 30
    assert MARKED in colours


def test_highlights_beyond_the_page_are_cut_off(file: PdfFile) -> None:
    picture = picture_of(file.page_to_draw(1), 1.0, [Box(-50, -50, 700, 20), Box(580, 830, 9000, 9000)])
    painting = Painting(picture, 1.0)
    assert painting.marked(Box(0, 0, 594, 19)) == 1.0
    assert painting.marked(Box(0, 400, 500, 500)) == 0.0


def test_part_of_a_page(file: PdfFile) -> None:
    whole = pymupdf.Pixmap(picture_of(file.page_to_draw(1), 2.0, [Box(70, 90, 100, 104)]).png)
    part = picture_of(file.page_to_draw(1), 2.0, [Box(70, 90, 100, 104)], clip=Box(60, 80, 160, 120))
    assert (part.width_px, part.height_px) == (200, 80)
    pixels = pymupdf.Pixmap(part.png)
    assert all(pixels.pixel(x, 30) == whole.pixel(x + 120, 30 + 160) for x in range(200))


def test_a_part_that_is_not_on_the_page_is_refused(file: PdfFile) -> None:
    with pytest.raises(UnreadableError, match="nothing to show"):
        picture_of(file.page_to_draw(1), 1.0, clip=Box(600, 0, 700, 100))


@pytest.mark.parametrize("zoom", [0.0, -1.0])
def test_a_picture_without_pixels_is_refused(file: PdfFile, zoom: float) -> None:
    with pytest.raises(UnreadableError):
        picture_of(file.page_to_draw(1), zoom)


def test_a_picture_of_too_many_pixels_is_refused_before_it_is_made(file: PdfFile) -> None:
    with pytest.raises(LimitError, match="million pixels"):
        picture_of(file.page_to_draw(1), 1000.0)
