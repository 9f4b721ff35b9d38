"""What is highlighted on the page in view: according to the scene, and according to the pixels on the screen.

Both are answered in words of the page, which are looked up in the library and have nothing to do with the window.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPoint
from PySide6.QtGui import QGuiApplication, QImage

from pincite.gui.viewer.page_view import CURRENT_COLOUR, OUTLINE_COLOUR, Highlight, PageView
from pincite.model import Box, Page, Word, reading_text

Mask = npt.NDArray[np.bool_]

LIGHT = 140  # the brightest channel of a pixel that is paper, or the edge of a letter, rather than ink
TINT_TOLERANCE = 8  # of a channel: rounding, where the picture is stretched
CORE_SHARE = 0.5  # of a word's height, about its middle: boxes of neighbouring lines may touch
EDGE_PX = 1.5  # how far from a word's box a highlighted pixel may lie
GAP_HEIGHTS = 4.0  # how wide, in heights, a gap between words of a line may be, as after the number of a clause


def same_text(words: Sequence[Word], quote: str) -> bool:
    """Whether the words read as `quote`, but for how its lines are broken."""
    return reading_text(words).split() == quote.split()


def words_under(page: Page, boxes: Sequence[Box]) -> list[Word]:
    """The words of a page that lie in one of `boxes`."""
    return [word for word in page.words if any(box.covers(word.box) for box in boxes)]


def current_boxes(view: PageView) -> list[Box]:
    """Where the scene has the highlights of the current region, in the page's coordinates."""
    rectangles = [item.sceneBoundingRect() for item in view.scene().items() if _is_current(item)]
    return [Box(place.left(), place.top(), place.right(), place.bottom()) for place in rectangles]


def _is_current(item: object) -> bool:
    return isinstance(item, Highlight) and item.current and item.isVisible()


@dataclass(frozen=True)
class Sight:
    """Pixels of a page: which are tinted, which are light, and where points of the page are among them."""

    tinted: Mask
    light: Mask
    zoom: float  # pixels per point
    left_px: float
    top_px: float

    def marked_words(self, page: Page) -> list[Word]:
        """The words of the page that are seen to be highlighted."""
        return [word for word in page.words if self._share(word) > 0.5]

    def doubtful_words(self, page: Page) -> list[tuple[str, float]]:
        """Words in sight that are neither wholly highlighted nor wholly bare, with the share that is."""
        shares = [(word.text, self._share(word)) for word in page.words]
        return [(text, share) for text, share in shares if 0.02 < share < 0.95]

    def strays(self, words: Iterable[Word]) -> list[tuple[float, float]]:
        """The points of the page under tinted pixels that lie neither on `words` nor between two of them on a line."""
        allowed = np.zeros_like(self.tinted)
        for place in _line_boxes(list(words)):
            rows, columns = self._pixels(place, EDGE_PX)
            allowed[rows, columns] = True
        down, across = np.nonzero(self.tinted & ~allowed)
        return [
            (round((x - self.left_px) / self.zoom, 1), round((y - self.top_px) / self.zoom, 1))
            for x, y in zip(across.tolist(), down.tolist(), strict=True)
        ]

    def _share(self, word: Word) -> float:
        """How much of the light part of a word's core is tinted; 0 when it is out of sight."""
        margin = word.box.height * (1 - CORE_SHARE) / 2
        rows, columns = self._pixels(Box(word.box.x0, word.box.y0 + margin, word.box.x1, word.box.y1 - margin), -0.5)
        light = self.light[rows, columns]
        return float((self.tinted[rows, columns] & light).sum() / light.sum()) if light.any() else 0.0

    def _pixels(self, box: Box, more_px: float) -> tuple[slice, slice]:
        """The rows and columns of a box that is `more_px` larger on each side."""
        left, right = box.x0 * self.zoom + self.left_px - more_px, box.x1 * self.zoom + self.left_px + more_px
        top, bottom = box.y0 * self.zoom + self.top_px - more_px, box.y1 * self.zoom + self.top_px + more_px
        return _between(top, bottom), _between(left, right)


def _between(first: float, last: float) -> slice:
    return slice(max(0, round(first)), max(0, round(last)))


def _line_boxes(words: Sequence[Word]) -> list[Box]:
    """The boxes of runs of words that follow one another on a line."""
    boxes: list[Box] = []
    for word in words:
        last = boxes[-1] if boxes else None
        if last is not None and _continues(last, word.box):
            boxes[-1] = last.union(word.box)
        else:
            boxes.append(word.box)
    return boxes


def _continues(line: Box, box: Box) -> bool:
    on_line = line.overlap_height(box) > 0.5 * min(line.height, box.height)
    return on_line and -1.0 <= box.x0 - line.x1 <= GAP_HEIGHTS * box.height


def grabbed_view(view: PageView) -> Sight:
    """The page as the viewer paints it."""
    return _sight(view, view.viewport().grab().toImage())


def on_screen(view: PageView) -> Sight:
    """The page as it is on the screen, whatever put it there. For X11, where a program may look at the screen."""
    screen = QGuiApplication.primaryScreen()
    place, size = view.viewport().mapToGlobal(QPoint(0, 0)), view.viewport().size()
    picture = screen.grabWindow(0, place.x(), place.y(), size.width(), size.height())
    return _sight(view, picture.toImage())


def _sight(view: PageView, image: QImage) -> Sight:
    ratio = image.devicePixelRatio()
    origin = view.page_to_view(0.0, 0.0) * ratio
    colours = channels(image)
    tinted = _tinted(colours, CURRENT_COLOUR.getRgb()) | _exactly(colours, OUTLINE_COLOUR.getRgb())
    return Sight(tinted, colours.max(axis=2) > LIGHT, view.zoom * ratio, origin.x(), origin.y())


def channels(image: QImage) -> npt.NDArray[np.int32]:
    """Red, green and blue of each pixel, by row and column."""
    plain = image.convertToFormat(QImage.Format.Format_RGB888)
    rows = np.frombuffer(plain.constBits(), dtype=np.uint8).reshape(plain.height(), plain.bytesPerLine())
    return rows[:, : 3 * plain.width()].reshape(plain.height(), plain.width(), 3).astype(np.int32)


def _tinted(colours: npt.NDArray[np.int32], ink: tuple[int, ...]) -> Mask:
    """Which pixels are a grey seen through `ink`: that is how a felt pen marks black letters on white paper."""
    grey = colours[..., 0] / ink[0]
    close = [abs(colours[..., at] - grey * ink[at]) <= TINT_TOLERANCE for at in (1, 2)]
    strong = colours[..., 0] - colours[..., 2] > 40  # the darkest letters say nothing of what lies over them
    result: Mask = close[0] & close[1] & strong
    return result


def _exactly(colours: npt.NDArray[np.int32], colour: tuple[int, ...]) -> Mask:
    result: Mask = (abs(colours - np.array(colour[:3])) <= 1).all(axis=2)
    return result
