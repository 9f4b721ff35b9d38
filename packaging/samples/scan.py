"""Makes a document look as if it had been printed, signed, stamped and scanned: pictures of pages, no text."""

from __future__ import annotations

import io
import random
from pathlib import Path

import pymupdf
from pages import HEIGHT_PT, WIDTH_PT, dated
from PIL import Image, ImageChops, ImageDraw, ImageFilter
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

DPI = 200
SKEW_DEGREES = (0.9, -0.6)
STAMP = (("RECEIVED", 13), ("10 JUL 2025", 11))


def scan(source: Path, target: Path, title: str, day: str) -> None:
    """Writes `target`, an image-only PDF of the pages of `source`, dated `day`."""
    chance = random.Random(640)
    with dated(day):
        canvas = Canvas(str(target), pagesize=(WIDTH_PT, HEIGHT_PT), invariant=1)
    canvas.setTitle(title)
    canvas.setCreator("Desk scanner")
    with pymupdf.open(source) as document:
        for number, page in enumerate(document):
            picture = page_picture(page, stamped=number == 0)
            worn = as_scanned(picture, SKEW_DEGREES[number % len(SKEW_DEGREES)], chance)
            canvas.drawImage(ImageReader(io.BytesIO(jpeg(worn))), 0, 0, WIDTH_PT, HEIGHT_PT)
            canvas.showPage()
    canvas.save()


def page_picture(page: pymupdf.Page, stamped: bool) -> Image.Image:
    """The page in shades of grey, with the stamp of the day it came in."""
    if stamped:
        for row, (words, size_pt) in enumerate(STAMP):
            place = pymupdf.Point(392, 236 + 16 * row)
            page.insert_text(place, words, fontname="hebo", fontsize=size_pt, color=(0.35, 0.35, 0.35))
        page.draw_rect(pymupdf.Rect(382, 220, 482, 260), color=(0.35, 0.35, 0.35), width=1.6)
    pixels = page.get_pixmap(dpi=DPI, colorspace=pymupdf.csGRAY)
    return Image.frombytes("L", (pixels.width, pixels.height), pixels.samples)


def as_scanned(picture: Image.Image, skew_degrees: float, chance: random.Random) -> Image.Image:
    """The picture askew, a little soft, on paper that is not quite white, with a shadow and specks of dust."""
    worn = picture.rotate(skew_degrees, Image.Resampling.BICUBIC, fillcolor=255)
    worn = worn.filter(ImageFilter.GaussianBlur(0.6))
    worn = worn.point([24 + level * 222 // 255 for level in range(256)])
    pen = ImageDraw.Draw(worn)
    for _ in range(90):
        x, y = int(chance.random() * worn.width), int(chance.random() * worn.height)
        pen.point((x, y), fill=int(90 + 100 * chance.random()))
    pen.rectangle((0, 0, 5, worn.height), fill=178)
    coarse = (worn.width // 3, worn.height // 3)  # grain of paper, coarse enough to survive compression cheaply
    grain = Image.frombytes("L", coarse, bytes(int(244 + 12 * chance.random()) for _ in range(coarse[0] * coarse[1])))
    return ImageChops.multiply(worn, grain.resize(worn.size, Image.Resampling.BILINEAR))


def jpeg(picture: Image.Image) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG", quality=62)
    return buffer.getvalue()
