"""Pages → PNG pictures, with highlights painted so that the words under them stay readable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pincite.errors import LimitError, UnreadableError
from pincite.extract.limits import MAX_PICTURE_PIXELS
from pincite.extract.mupdf import MUPDF_OR_MEMORY_ERRORS, pymupdf, ran_out_of_memory
from pincite.model import Box, Picture

Colour = tuple[int, int, int]


def picture_of(
    page: Any, zoom: float, boxes: Sequence[Box] = (), colour: Colour = (255, 226, 102), clip: Box | None = None
) -> Picture:
    """MuPDF's `page` at `zoom` pixels per point, `boxes` highlighted; only what lies in `clip`, if given."""
    shown = pymupdf.Rect(clip.x0, clip.y0, clip.x1, clip.y1) & page.rect if clip else page.rect
    area = (shown * zoom).irect
    if area.is_empty:
        raise UnreadableError("There is nothing to show in that part of the page.")
    if area.width * area.height > MAX_PICTURE_PIXELS:
        raise LimitError(
            f"At this size the picture would have {area.width * area.height / 1e6:.0f} million pixels; "
            f"{MAX_PICTURE_PIXELS / 1e6:.0f} million is the most."
        )
    try:
        pixmap = page.get_pixmap(matrix=pymupdf.Matrix(zoom, zoom), clip=shown, alpha=False)
        if boxes:
            pixmap = _highlighted(pixmap, [pymupdf.Rect(b.x0, b.y0, b.x1, b.y1) * zoom for b in boxes], colour)
        return Picture(pixmap.tobytes("png"), pixmap.width, pixmap.height)
    except MUPDF_OR_MEMORY_ERRORS as error:
        if ran_out_of_memory(error):
            raise LimitError("Showing this page needs more memory than a reader may use.") from error
        raise UnreadableError("The page is damaged and cannot be shown.") from error


def _highlighted(pixmap: Any, areas: list[Any], colour: Colour) -> Any:
    """The picture with each area multiplied by the colour, as a marker pen does: white takes it, black stays."""
    samples = bytearray(pixmap.samples)
    darker = [bytes(value * part // 255 for value in range(256)) for part in colour]
    for y, runs in _runs_by_row(pixmap, areas).items():
        for x0, x1 in runs:
            start, end = y * pixmap.stride + 3 * x0, y * pixmap.stride + 3 * x1
            for channel, table in enumerate(darker):
                samples[start + channel : end : 3] = samples[start + channel : end : 3].translate(table)
    return pymupdf.Pixmap(pymupdf.csRGB, pixmap.width, pixmap.height, bytes(samples), False)


def _runs_by_row(pixmap: Any, areas: list[Any]) -> dict[int, list[tuple[int, int]]]:
    """For each row of pixels the runs to paint, without overlaps: a place is painted once however often it is named."""
    rows: dict[int, list[tuple[int, int]]] = {}
    for area in areas:
        place = area.irect & pixmap.irect
        for y in range(place.y0, place.y1):
            rows.setdefault(y - pixmap.y, []).append((place.x0 - pixmap.x, place.x1 - pixmap.x))
    return {y: _merged(sorted(runs)) for y, runs in rows.items()}


def _merged(runs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for x0, x1 in runs:
        if merged and x0 <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], x1))
        else:
            merged.append((x0, x1))
    return merged
