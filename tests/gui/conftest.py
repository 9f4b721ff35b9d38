"""Windows over a library that is not real. A test that leaves a thread or a window behind fails."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from pincite.gui.app import make_window
from pincite.gui.window import MainWindow
from tests.fakes import FakeLibrary

# Said by Qt's off-screen platform, which is used where there is no display, of every window that is shown.
OFFSCREEN_NOISE = "This plugin does not support propagateSizeHints"

OpenWindow = Callable[[FakeLibrary], MainWindow]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.qt_log_ignore(OFFSCREEN_NOISE, extend=True))


def process_deletions() -> None:
    """Let go of what was marked for deletion, as the event loop does when it is idle."""
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    QCoreApplication.processEvents()


@pytest.fixture(autouse=True)
def nothing_left_behind(qapp: QApplication) -> Iterator[None]:
    threads = set(threading.enumerate())
    widgets = set(QApplication.topLevelWidgets())
    yield
    process_deletions()
    assert [thread.name for thread in threading.enumerate() if thread not in threads] == []
    assert [widget for widget in QApplication.topLevelWidgets() if widget not in widgets] == []


@pytest.fixture
def open_window(qtbot: QtBot, nothing_left_behind: None) -> Iterator[OpenWindow]:
    """Opens a window on a fake library and waits until it is up to date; closes it after the test."""
    windows: list[MainWindow] = []

    def opened(library: FakeLibrary) -> MainWindow:
        window = make_window(lambda: library)
        windows.append(window)
        window.resize(1300, 900)
        window.show()
        window.activateWindow()
        qtbot.waitUntil(window.isActiveWindow)  # shortcuts are for the active window
        qtbot.waitUntil(lambda: bool(library.called("update")))
        return window

    yield opened
    for window in windows:
        window.close()
        window.deleteLater()
    process_deletions()


@pytest.fixture
def drop(qapp: QApplication) -> Callable[[QWidget, list[Path]], None]:
    """Drops files on a widget as the window system does: first they enter, then they are let go."""

    def dropped(widget: QWidget, paths: list[Path]) -> None:
        data = QMimeData()
        data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
        _drop(qapp, widget, data, widget.rect().center())

    return dropped


@pytest.fixture
def drop_text(qapp: QApplication) -> Callable[[QWidget, str, QPoint], None]:
    """Drops text on a widget."""

    def dropped(widget: QWidget, text: str, place: QPoint) -> None:
        data = QMimeData()
        data.setText(text)
        _drop(qapp, widget, data, place)

    return dropped


def _drop(app: QApplication, widget: QWidget, data: QMimeData, place: QPoint) -> None:
    how = (Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)
    app.sendEvent(widget, QDragEnterEvent(place, *how))
    app.sendEvent(widget, QDragMoveEvent(place, *how))
    app.sendEvent(widget, QDropEvent(QPointF(place), *how))
