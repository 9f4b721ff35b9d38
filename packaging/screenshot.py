"""Draws the README's picture: `python packaging/screenshot.py [--question TEXT] [--png FILE]`.

The real window on a copy of the sample documents, in a library that is thrown away: it asks, waits for the answer,
clicks the last citation and saves what is then in the window. With the models that are installed; needs a display.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QApplication

from pincite.gui.app import make_window
from pincite.gui.window import MainWindow
from pincite.library import Library
from pincite.privacy import seal_process
from pincite.settings import default_data_dir, load_settings, resources_dir

PNG = Path(__file__).resolve().parents[1] / "docs" / "images" / "window.png"
QUESTION = "How much annual leave do I get, and what happens to days I have not taken?"
LOOK_MS = 100


class Photographer(QObject):
    """Looks at the window again and again, and does the next thing when the one before is done."""

    def __init__(self, window: MainWindow, question: str, png: Path) -> None:
        super().__init__(window)
        self._window, self._question, self._png = window, question, png
        self._steps = iter([self._ask, self._click, self._save])
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._look)
        window.updates.settled.connect(self._timer.start)
        self._timer.setInterval(LOOK_MS)

    def _look(self) -> None:
        window = self._window
        if window.updates.updating or window.conversation.busy() or not window.library_pane.model.rowCount():
            return
        if window.viewer.view.highlighted() and window.viewer.view.picture_size().isEmpty():
            return  # the page is being drawn
        step = next(self._steps, None)
        if step is not None:
            step()

    def _ask(self) -> None:
        self._window.conversation.ask(self._question)

    def _click(self) -> None:
        self._window.conversation.turns[-1].claim_rows[-1].text.follow("cite:0")

    def _save(self) -> None:
        if not self._window.viewer.view.highlighted():
            self._steps = iter([self._save])  # the document is being opened
            return
        self._png.parent.mkdir(parents=True, exist_ok=True)
        self._window.conversation.box.clearFocus()
        QTimer.singleShot(20 * LOOK_MS, self, self._grab)  # a sharper picture of the page may be on its way

    def _grab(self) -> None:
        self._window.grab().save(str(self._png))
        self._window.close()


def main() -> int:
    seal_process()
    parser = argparse.ArgumentParser(description="Draw the README's picture of the window.")
    parser.add_argument("--question", default=QUESTION)
    parser.add_argument("--png", type=Path, default=PNG)
    options = parser.parse_args()
    os.environ.setdefault("PINCITE_MODELS", str(default_data_dir() / "models"))
    app = QApplication(sys.argv[:1])
    with tempfile.TemporaryDirectory(prefix="pincite-", ignore_cleanup_errors=True) as folder:
        documents = Path(folder) / "Brackwater Instruments"
        shutil.copytree(resources_dir() / "samples" / "documents", documents)
        window = make_window(lambda: Library.open(load_settings(Path(folder) / "library")))
        window.appeared.connect(lambda: window.updates.add([documents]))
        Photographer(window, options.question, options.png)
        window.show()
        return app.exec()


if __name__ == "__main__":
    sys.exit(main())
