"""Start of the window: makes the parts and hands each what it needs.

In order: the window appears; then the library is opened on a lane; then folders are watched and brought up to date,
and the model is warmed up. Until the window is visible nothing is imported but Qt and the plain nouns.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING

import psutil
from PySide6.QtCore import QMessageLogContext, QTimer, QtMsgType, qInstallMessageHandler
from PySide6.QtWidgets import QApplication

from pincite.errors import UsageError
from pincite.gui.bridge import Bridge, Failure, failure_of
from pincite.gui.window import MainWindow
from pincite.settings import resources_dir

if TYPE_CHECKING:
    from pincite.library import Library

log = logging.getLogger("pincite.gui")
qt_log = logging.getLogger("pincite.gui.qt")

QT_LEVELS = {
    QtMsgType.QtDebugMsg: logging.DEBUG,
    QtMsgType.QtInfoMsg: logging.INFO,
    QtMsgType.QtWarningMsg: logging.WARNING,
    QtMsgType.QtCriticalMsg: logging.ERROR,
    QtMsgType.QtFatalMsg: logging.CRITICAL,
}


def run(open_library: Callable[[], Library], samples: bool = False) -> int:
    """Show the window until it is closed; returns the exit status. With `samples` it adds the sample documents.

    Raises UsageError where there is no display.
    """
    if not _display_available():
        raise UsageError("There is no display to open a window on. Try `pincite ask` instead.")
    qInstallMessageHandler(_log_qt_message)
    app = QApplication.instance() or QApplication(sys.argv[:1])
    assert isinstance(app, QApplication)
    app.setApplicationName("Pincite")
    window = make_window(open_library, samples)
    window.appeared.connect(_log_start_time)
    catch_the_rest(window)
    for number in (signal.SIGINT, signal.SIGTERM):  # Ctrl+C; the end of the person's session
        # Seen at the next look at the engine, which may be in the middle of anything: hence not closed on the spot.
        signal.signal(number, lambda _number, _frame: QTimer.singleShot(0, window, window.close))
    window.show()
    return app.exec()


def make_window(open_library: Callable[[], Library], samples: bool = False) -> MainWindow:
    """The window with its bridge, not yet shown."""
    samples_dir = resources_dir() / "samples" / "documents"
    bridge = Bridge(open_library)
    window = MainWindow(bridge, samples_dir, (samples_dir,) if samples else ())
    bridge.setParent(window)
    return window


def _display_available() -> bool:
    if sys.platform != "linux" or os.environ.get("QT_QPA_PLATFORM"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _log_start_time() -> None:
    log.info("window visible after %d ms", (time.time() - psutil.Process().create_time()) * 1000)


def _log_qt_message(kind: QtMsgType, _context: QMessageLogContext, message: str) -> None:
    qt_log.log(QT_LEVELS.get(kind, logging.WARNING), "%s", message)


def catch_the_rest(window: MainWindow) -> None:
    """A mistake in the window's own code is shown like one on a lane."""

    def show(_kind: type[BaseException], error: BaseException, _trace: TracebackType | None) -> None:
        if isinstance(error, KeyboardInterrupt):
            window.close()
        elif isinstance(error, Exception):
            failure: Failure = failure_of(error, "showing the window")
            window.message.show_failure(failure)

    sys.excepthook = show
