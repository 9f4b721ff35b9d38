"""Windows over a library that is not real. A test that leaves a thread or a window behind fails."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from pincite.gui.app import make_window
from pincite.gui.window import MainWindow
from tests.fakes import FakeLibrary

OpenWindow = Callable[[FakeLibrary], MainWindow]


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
