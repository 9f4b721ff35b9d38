"""What the start of the window is compared with: an empty Qt window that says when it has been painted."""

from __future__ import annotations

import sys

from PySide6.QtCore import QTimer
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QApplication, QMainWindow


class EmptyWindow(QMainWindow):
    """Shows nothing."""

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802  (the name is Qt's)
        super().paintEvent(event)
        QTimer.singleShot(0, self, lambda: print("window visible", file=sys.stderr, flush=True))


if __name__ == "__main__":
    app = QApplication(sys.argv[:1])
    window = EmptyWindow()
    window.resize(1360, 860)
    window.show()
    sys.exit(app.exec())
