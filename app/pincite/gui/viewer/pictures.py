"""Page pictures: asked for on the page lane, the newest wish first, and a few kept for turning back."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QImage

from pincite.errors import UnreadableError
from pincite.gui.bridge import Bridge, Failure, Job, Lane

if TYPE_CHECKING:
    from pincite.library import Library

KEPT_BYTES = 96 << 20
# Beyond these a picture is enlarged rather than rendered sharper.
MAX_PICTURE_PX = 20_000_000  # of a page
MAX_RENDER_ZOOM = 8.0  # the library draws no finer


@dataclass(frozen=True, slots=True)
class PictureKey:
    """What a picture shows. `generation` is the reading of the document; `zoom` is in device pixels per point."""

    document: str
    generation: str
    page: int
    zoom: float


class PictureCache:
    """The pictures used last, as many as fit into `capacity_bytes`."""

    def __init__(self, capacity_bytes: int = KEPT_BYTES) -> None:
        self._capacity_bytes = capacity_bytes
        self._used_bytes = 0
        self._pictures: OrderedDict[PictureKey, QImage] = OrderedDict()

    def get(self, key: PictureKey) -> QImage | None:
        """The picture, or None when it is not kept."""
        picture = self._pictures.get(key)
        if picture is not None:
            self._pictures.move_to_end(key)
        return picture

    def put(self, key: PictureKey, picture: QImage) -> None:
        """Keep a picture and let go of those used longest ago."""
        replaced = self._pictures.pop(key, None)
        self._used_bytes += picture.sizeInBytes() - (replaced.sizeInBytes() if replaced is not None else 0)
        self._pictures[key] = picture
        while self._used_bytes > self._capacity_bytes and len(self._pictures) > 1:
            self._used_bytes -= self._pictures.popitem(last=False)[1].sizeInBytes()

    def __len__(self) -> int:
        return len(self._pictures)


class Pictures(QObject):
    """Gets the picture of the page in view. A new wish replaces the last one, whose picture is then not delivered."""

    arrived = Signal(object, QImage)  # the PictureKey and its picture
    failed = Signal(object)  # a Failure

    def __init__(self, bridge: Bridge, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._cache = PictureCache()
        self._wanted: PictureKey | None = None
        self._job: Job | None = None

    def want(self, key: PictureKey) -> None:
        """Ask for a picture; it may arrive before this returns."""
        if key == self._wanted and self._job is not None:
            return
        self.forget()
        kept = self._cache.get(key)
        if kept is not None:
            self.arrived.emit(key, kept)
            return
        self._wanted = key
        self._job = self._bridge.submit(
            Lane.PAGE, lambda library, _task: _rendered(library, key), self.tr("drawing a page")
        )
        self._job.result.connect(self._take)
        self._job.failed.connect(self._fail)

    def forget(self) -> None:
        """Take back the last wish."""
        if self._job is not None:
            self._job.cancel()
        self._job = None
        self._wanted = None

    def _take(self, picture: QImage) -> None:
        key = self._wanted
        self._job = None
        self._wanted = None
        if key is not None:
            self._cache.put(key, picture)
            self.arrived.emit(key, picture)

    def _fail(self, failure: Failure) -> None:
        self._job = None
        self._wanted = None
        self.failed.emit(failure)


def _rendered(library: Library, key: PictureKey) -> QImage:
    """On the page lane: render and unpack, so that the interface thread only has to draw."""
    png = library.render(key.document, key.page, zoom=key.zoom).png
    image = QImage.fromData(png)
    if image.isNull():
        raise UnreadableError("The picture of this page came out damaged.")
    return image
