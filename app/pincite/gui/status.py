"""The status bar: how far reading has come, what the model is doing, and the proof that nothing leaves."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QLocale, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QSizePolicy, QWidget

from pincite.gui.buttons import tool_button
from pincite.gui.labels import ElidedLabel
from pincite.gui.style import Tones, icon
from pincite.model import EngineStatus, IndexProgress

BAR_WIDTH_PX = 120


class StatusBar(QWidget):
    """Shows what it is told."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("status")
        self.pause_action = QAction(self.tr("&Pause reading"), self)
        self.pause_action.setShortcut("Ctrl+Shift+P")
        self._tones: Tones | None = None
        self._paused = False
        self.progress_text = ElidedLabel(parent=self)
        self.bar = QProgressBar(self)
        self.bar.setFixedWidth(BAR_WIDTH_PX)
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(self.tr("Reading progress"))
        self.pause_button = tool_button(self.pause_action, self)
        self.engine = QLabel(self)
        self.offline = QLabel(self)
        self.offline_icon = QLabel(self)
        for label in (self.engine, self.offline):
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        row = QHBoxLayout(self)
        row.setContentsMargins(14, 3, 14, 3)
        row.setSpacing(10)
        row.addWidget(self.bar)
        row.addWidget(self.pause_button)
        row.addWidget(self.progress_text, 1)
        for label in (self.engine, self.offline_icon, self.offline):
            row.addWidget(label)
        self.show_settled()
        self.show_refused(0)
        self.show_engine(self.tr("model not started"))

    def show_progress(self, progress: IndexProgress) -> None:
        """Show how far reading has come."""
        self.bar.setRange(0, progress.total)  # 0 of 0: it moves without an end
        self.bar.setValue(progress.done)
        self._show_reading(True, progress_sentence(progress))

    def show_starting(self) -> None:
        """Reading has begun and has not told anything yet."""
        self.bar.setRange(0, 0)
        self._show_reading(True, self.tr("Looking for changes"))

    def show_settled(self) -> None:
        """Nothing is being read."""
        self._show_reading(False, self.tr("Up to date"))

    def set_paused(self, paused: bool) -> None:
        """Offer to resume where reading is paused, else to pause."""
        self._paused = paused
        self._show_pause()

    def show_paused(self) -> None:
        """Reading was paused by the person."""
        self._show_reading(False, self.tr("Reading is paused"))
        self.pause_button.show()

    def show_blank(self, sentence: str) -> None:
        """Show a sentence and no progress."""
        self._show_reading(False, sentence)

    def show_engine(self, sentence: str) -> None:
        """Say what the model is doing."""
        self.engine.setText(sentence)

    def show_refused(self, refused: int) -> None:
        """Say how many connections to other machines were refused."""
        count = QLocale().toString(refused)
        self.offline.setText(
            self.tr("offline · 1 connection refused")
            if refused == 1
            else self.tr("offline · {n} connections refused").format(n=count)
        )
        self.offline.setToolTip(self.tr("Pincite connects to no other machine. What tried to was refused."))

    def restyle(self, tones: Tones) -> None:
        """Take on colours."""
        self._tones = tones
        self.offline_icon.setPixmap(icon("lock", tones.quiet).pixmap(14, 14))
        self._show_pause()

    def _show_reading(self, reading: bool, sentence: str) -> None:
        self.progress_text.setText(sentence)
        self.bar.setVisible(reading)
        self.pause_button.setVisible(reading)

    def _show_pause(self) -> None:
        text = self.tr("&Resume reading") if self._paused else self.tr("&Pause reading")
        self.pause_action.setText(text)
        self.pause_action.setToolTip(f"{text.replace('&', '')} (Ctrl+Shift+P)")
        self.pause_button.setAccessibleName(text.replace("&", ""))
        if self._tones is not None:
            self.pause_action.setIcon(icon("resume" if self._paused else "pause", self._tones.text))


def progress_sentence(progress: IndexProgress) -> str:
    """Progress in words: "Reading 37 of 1,204 files · 9 pages/s · about 4 min"."""

    def tr(text: str) -> str:
        return QCoreApplication.translate("progress", text)

    locale = QLocale()
    what = {
        "looking": tr("Looking at {done} of {total} files"),
        "reading": tr("Reading {done} of {total} files"),
        "embedding": tr("Preparing search by meaning: {done} of {total} passages"),
    }.get(progress.phase, progress.phase)
    if progress.total == 0:
        what = tr("Looking for changes")
    parts = [what.format(done=locale.toString(progress.done), total=locale.toString(progress.total))]
    if progress.pages_per_s > 0 and progress.phase == "reading":
        rate = locale.toString(progress.pages_per_s, "f", 0 if progress.pages_per_s >= 10 else 1)
        parts.append(tr("{rate} pages/s").format(rate=rate))
    if progress.left_s is not None:
        parts.append(time_left(progress.left_s))
    return " · ".join(parts)


def time_left(seconds: float) -> str:
    """An estimate in the coarseness it deserves."""

    def tr(text: str) -> str:
        return QCoreApplication.translate("progress", text)

    if seconds < 60:
        return tr("less than a minute")
    if seconds < 90 * 60:
        return tr("about {n} min").format(n=round(seconds / 60))
    return tr("about {n} h").format(n=round(seconds / 3600))


def engine_sentence(status: EngineStatus) -> str:
    """The model's state in words: "qwen2.5 · 14 tok/s"."""

    def tr(text: str) -> str:
        return QCoreApplication.translate("engine", text)

    if not status.model:
        return tr("no model: answers are quotes")
    if not status.running:
        return tr("{model} · resting").format(model=status.model)
    if status.tokens_per_s is None:
        return tr("{model} · ready").format(model=status.model)
    return tr("{model} · {rate} tok/s").format(model=status.model, rate=round(status.tokens_per_s))
