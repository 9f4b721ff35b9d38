"""How the window looks: colours taken from the system's palette, one style sheet, one set of icons."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from pathlib import Path

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontInfo, QIcon, QPainter, QPalette, QPixmap
from PySide6.QtSvg import QSvgRenderer

from pincite.model import FileState, Verdict
from pincite.settings import resources_dir

ICON_PX = 18
TEXT_SIZES = {"small": 0.92, "reading": 1.16, "large": 1.28, "huge": 1.9}  # times the system's
NAME = re.compile(r"@(\w+)")
ICON_SCALES = (1, 2, 3)  # for screens of ordinary, double and triple density


@dataclass(frozen=True, slots=True)
class Tones:
    """The colours that carry meaning, for a light or a dark palette. All text tones have a contrast above 4.5."""

    dark: bool
    paper: QColor  # behind text that is read
    panel: QColor  # behind controls
    desk: QColor  # behind a page
    text: QColor
    quiet: QColor  # secondary text
    line: QColor  # hairlines
    edge: QColor  # around what can be typed into
    selected: QColor
    hover: QColor
    accent: QColor
    on_accent: QColor
    good: QColor
    warn: QColor
    bad: QColor

    def verdict(self, verdict: Verdict) -> QColor:
        """The colour of a verdict's mark."""
        colours = {Verdict.SUPPORTED: self.good, Verdict.PARTLY: self.warn, Verdict.UNSUPPORTED: self.bad}
        return colours.get(verdict, self.accent)

    def state(self, state: FileState) -> QColor:
        """The colour of a file's state icon."""
        if state in (FileState.FAILED, FileState.PASSWORD):
            return self.bad
        if state in (FileState.PARTLY, FileState.REVIEW):
            return self.warn
        return self.quiet


def tones_of(palette: QPalette) -> Tones:
    """The tones that go with `palette`."""
    paper, panel = palette.color(QPalette.ColorRole.Base), palette.color(QPalette.ColorRole.Window)
    text, accent = palette.color(QPalette.ColorRole.WindowText), palette.color(QPalette.ColorRole.Highlight)
    dark = panel.lightness() < 128
    return Tones(
        dark=dark,
        paper=paper,
        panel=panel,
        desk=mixed(panel, text, 0.0 if dark else 0.10),
        text=text,
        quiet=mixed(text, panel, 0.30),
        line=mixed(panel, text, 0.16),
        edge=mixed(paper, text, 0.34),
        selected=mixed(panel, accent, 0.24),
        hover=mixed(panel, text, 0.07),
        accent=mixed(accent, QColor("white"), 0.35) if dark else mixed(accent, QColor("black"), 0.28),
        on_accent=QColor("black") if dark else QColor("white"),
        good=QColor("#6cc58a" if dark else "#1d7a43"),
        warn=QColor("#e0b04c" if dark else "#8a5a00"),
        bad=QColor("#f08a80" if dark else "#b3261e"),
    )


def mixed(colour: QColor, other: QColor, share: float) -> QColor:
    """`colour` with `share` (0 to 1) of `other` in it."""

    def blend(a: int, b: int) -> int:
        return round(a + (b - a) * share)

    return QColor(
        blend(colour.red(), other.red()), blend(colour.green(), other.green()), blend(colour.blue(), other.blue())
    )


def style_sheet(tones: Tones, font: QFont) -> str:
    """The window's style sheet: resources/style/window.qss with its names replaced by colours and sizes."""
    sheet = (resources_dir() / "style" / "window.qss").read_text(encoding="utf-8")
    colours = {name: value.name() for name, value in asdict(tones).items() if isinstance(value, QColor)}
    text_pt = QFontInfo(font).pointSizeF()
    sizes = {name: f"{text_pt * factor:.1f}pt" for name, factor in TEXT_SIZES.items()}
    return NAME.sub(lambda found: (colours | sizes)[found.group(1)], sheet)


def icon(name: str, colour: QColor) -> QIcon:
    """The icon `name` from resources/icons in `colour`, paler where it is disabled."""
    drawing = _drawing(resources_dir() / "icons" / f"{name}.svg")
    made = QIcon()
    for scale in ICON_SCALES:
        made.addPixmap(_pixmap(drawing, colour, scale), QIcon.Mode.Normal)
        pale = QColor(colour)
        pale.setAlphaF(0.35)
        made.addPixmap(_pixmap(drawing, pale, scale), QIcon.Mode.Disabled)
    return made


def icon_size() -> QSize:
    """The size icons are drawn for."""
    return QSize(ICON_PX, ICON_PX)


def _drawing(path: Path) -> bytes:
    return path.read_bytes()


def _pixmap(drawing: bytes, colour: QColor, scale: int) -> QPixmap:
    pixmap = QPixmap(ICON_PX * scale, ICON_PX * scale)
    pixmap.fill(Qt.GlobalColor.transparent)
    renderer = QSvgRenderer(QByteArray(drawing.replace(b"currentColor", colour.name().encode())))
    painter = QPainter(pixmap)
    painter.setOpacity(colour.alphaF())
    renderer.render(painter, QRectF(0, 0, pixmap.width(), pixmap.height()))
    painter.end()
    pixmap.setDevicePixelRatio(scale)
    return pixmap
