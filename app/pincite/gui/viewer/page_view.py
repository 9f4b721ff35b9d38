"""One page: its picture, and the highlights as items of their own over it.

The scene's coordinates are the page's (points from the top left, see `pincite.model`), so a box is drawn where it is
without being converted; only the view's scale turns points into pixels. The picture is stretched to the page's
size, whatever zoom it was rendered at, so highlights stay aligned while a sharper one is on its way.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QBrush,
    QColor,
    QImage,
    QKeyEvent,
    QPainter,
    QPen,
    QPixmap,
    QResizeEvent,
    QTransform,
    QWheelEvent,
)
from PySide6.QtWidgets import (
    QFrame,
    QGraphicsPixmapItem,
    QGraphicsRectItem,
    QGraphicsScene,
    QGraphicsView,
    QStyleOptionGraphicsItem,
    QWidget,
)

from pincite.model import Box, PageSize, union_of

MARGIN_PT = 12.0  # desk around the page
REVEAL_MARGIN_PX = 60
MIN_ZOOM, MAX_ZOOM = 0.1, 8.0  # pixels per point; 1 shows a point as a pixel
ZOOM_STEP = 1.25
CURRENT_COLOUR = QColor(255, 224, 102)
OTHER_COLOUR = QColor(255, 242, 190)
OUTLINE_COLOUR = QColor(178, 134, 0)
UNDERLINE_PX = 1.5


class Highlight(QGraphicsRectItem):
    """A highlighted box. It darkens what is under it like a felt pen, so the words stay readable."""

    def __init__(self, box: Box, current: bool) -> None:
        super().__init__(box.x0, box.y0, box.width, box.height)
        self.box = box
        self.current = current
        self.setBrush(QBrush(CURRENT_COLOUR if current else OTHER_COLOUR))
        self.setPen(QPen(Qt.PenStyle.NoPen))

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_Multiply)
        super().paint(painter, option, widget)
        if self.current:  # told apart by shape too: a line under the words
            line_pt = UNDERLINE_PX / painter.worldTransform().m11()
            under = QRectF(self.rect().left(), self.rect().bottom() - line_pt, self.rect().width(), line_pt)
            painter.fillRect(under, OUTLINE_COLOUR)


class PageView(QGraphicsView):
    """Shows one page and scrolls to regions of it."""

    zoomed = Signal()  # the scale in pixels changed; a sharper picture may be wanted
    page_turned = Signal(int)  # -1 or 1: scrolled past an end of the page

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._size = PageSize(1, "", 1.0, 1.0)
        self._fits_width = True
        self._current: tuple[Box, ...] = ()
        self._scene = QGraphicsScene(self)
        self._scene.setItemIndexMethod(QGraphicsScene.ItemIndexMethod.NoIndex)
        self.setScene(self._scene)
        self._paper = self._scene.addRect(QRectF(), QPen(Qt.PenStyle.NoPen), QBrush(Qt.GlobalColor.white))
        self._picture = QGraphicsPixmapItem()
        self._picture.setTransformationMode(Qt.TransformationMode.SmoothTransformation)
        self._scene.addItem(self._picture)
        self._highlights: list[Highlight] = []
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        self.setDragMode(QGraphicsView.DragMode.ScrollHandDrag)
        self.setTransformationAnchor(QGraphicsView.ViewportAnchor.AnchorUnderMouse)
        self.setAcceptDrops(False)  # drops are for the window
        self.setAccessibleName(self.tr("Page"))

    # --- what is shown ---

    def show_page(self, size: PageSize) -> None:
        """Start on a page: blank, without highlights, at its top."""
        self._size = size
        self._picture.setPixmap(QPixmap())
        self._paper.setRect(0, 0, size.width, size.height)
        self._scene.setSceneRect(-MARGIN_PT, -MARGIN_PT, size.width + 2 * MARGIN_PT, size.height + 2 * MARGIN_PT)
        self.set_highlights((), ())
        self._fit()
        self.verticalScrollBar().setValue(self.verticalScrollBar().minimum())
        self.horizontalScrollBar().setValue(self.horizontalScrollBar().minimum())

    def set_picture(self, image: QImage) -> None:
        """Show `image` as the picture of the current page."""
        pixmap = QPixmap.fromImage(image)
        self._picture.setPixmap(pixmap)
        if not pixmap.isNull():
            across, down = self._size.width / pixmap.width(), self._size.height / pixmap.height()
            self._picture.setTransform(QTransform.fromScale(across, down))

    def set_highlights(self, current: Sequence[Box], others: Iterable[Box]) -> None:
        """Highlight the `current` region strongly and `others` faintly, in place of what was highlighted."""
        for item in self._highlights:
            self._scene.removeItem(item)
        self._current = tuple(current)
        self._highlights = [Highlight(box, False) for box in others] + [Highlight(box, True) for box in current]
        for item in self._highlights:
            self._scene.addItem(item)

    def highlighted(self) -> tuple[Box, ...]:
        """The boxes that are highlighted, the current region's last."""
        return tuple(item.box for item in self._highlights)

    def picture_size(self) -> QSize:
        """The size in pixels of the picture that is shown; an empty one while there is none."""
        return self._picture.pixmap().size()

    def reveal_current(self) -> None:
        """Scroll the current region into view, its beginning first where it is larger than the view."""
        if not self._current:
            return
        whole = union_of(self._current)
        area = QRectF(whole.x0, whole.y0, whole.width, whole.height)
        room = self.mapToScene(self.viewport().rect()).boundingRect()
        if area.height() > room.height():
            area.setHeight(room.height() * 0.5)
        self.ensureVisible(area, REVEAL_MARGIN_PX, REVEAL_MARGIN_PX)

    # --- zoom ---

    @property
    def zoom(self) -> float:
        """Pixels of the window's own coordinates per point."""
        return float(self.transform().m11())

    @property
    def fits_width(self) -> bool:
        return self._fits_width

    def set_zoom(self, zoom: float) -> None:
        """Show a point as `zoom` pixels."""
        self._fits_width = False
        self._scale_to(zoom)

    def zoom_by(self, factor: float) -> None:
        """Enlarge (above 1) or shrink what is shown."""
        self.set_zoom(self.zoom * factor)

    def fit_width(self) -> None:
        """Make the page as wide as the view, and keep it so when the view changes its width."""
        self._fits_width = True
        self._fit()

    def page_to_view(self, x: float, y: float) -> QPointF:
        """Where a point of the page is on the view, in pixels."""
        return self.viewportTransform().map(QPointF(x, y))

    def _fit(self) -> None:
        if self._fits_width:
            # The room a scroll bar takes is kept free whether it shows or not, or the two would chase each other.
            room = self.width() - self.verticalScrollBar().sizeHint().width() - 2
            self._scale_to(room / (self._size.width + 2 * MARGIN_PT))

    def _scale_to(self, zoom: float) -> None:
        zoom = min(max(zoom, MIN_ZOOM), MAX_ZOOM)
        if abs(zoom - self.zoom) > 1e-6:
            self.setTransform(QTransform.fromScale(zoom, zoom))
            self.zoomed.emit()

    # --- Qt ---

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def wheelEvent(self, event: QWheelEvent) -> None:
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.zoom_by(ZOOM_STEP if event.angleDelta().y() > 0 else 1 / ZOOM_STEP)
            event.accept()
        else:
            super().wheelEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        bar = self.verticalScrollBar()
        onward = event.key() in (Qt.Key.Key_PageDown, Qt.Key.Key_Space)
        if onward and bar.value() == bar.maximum():
            self.page_turned.emit(1)
        elif event.key() == Qt.Key.Key_PageUp and bar.value() == bar.minimum():
            self.page_turned.emit(-1)
        elif onward:
            bar.triggerAction(bar.SliderAction.SliderPageStepAdd)
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.DevicePixelRatioChange:
            self.zoomed.emit()
        return super().event(event)
