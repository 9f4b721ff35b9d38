"""The window as a whole: how it starts, what it reports, how it closes, and that everyone can use it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QGraphicsView,
    QHeaderView,
    QLineEdit,
    QPlainTextEdit,
    QScrollArea,
    QWidget,
)
from pytestqt.qtbot import QtBot

from pincite.errors import ModelError, NotFoundError, SettingsError, StoreBusyError, UsageError
from pincite.gui import app
from pincite.gui.app import make_window
from pincite.gui.messages import ReportDialog, ShortcutsDialog
from pincite.gui.status import engine_sentence, progress_sentence
from pincite.gui.style import tones_of
from pincite.model import (
    Answered,
    EngineStatus,
    Folder,
    IndexProgress,
    Ledger,
    SourcesFound,
    TextAdded,
    UpdateReport,
    Verdict,
)
from pincite.settings import resources_dir
from tests.fakes import FakeLibrary, Gate
from tests.gui.conftest import OFFSCREEN_NOISE, OpenWindow
from tests.gui.material import HANDBOOK, LEAVE, RENT, SUPPORTED, answer

READING = IndexProgress("reading", 37, 1204, pages=200, pages_per_s=9.2, left_s=243.0)


def test_the_window_is_seen_before_the_library_is_opened(qtbot: QtBot, nothing_left_behind: None) -> None:
    order: list[str] = []
    library = FakeLibrary()

    def open_library() -> FakeLibrary:
        order.append("opened")
        return library

    window = make_window(open_library)
    window.appeared.connect(lambda: order.append("appeared"))
    window.show()
    qtbot.waitUntil(lambda: bool(library.called("update")))
    assert order == ["appeared", "opened"]
    assert [name for name, _ in library.calls if name in ("start_watching", "update")] == ["start_watching", "update"]
    qtbot.waitUntil(lambda: bool(library.called("warm_up")))
    window.close()
    window.deleteLater()


def test_importing_the_window_loads_nothing_heavy() -> None:
    heavy = ("chromadb", "torch", "pymupdf", "llama_cpp", "sentence_transformers", "numpy", "pincite.library")
    code = f"import sys, pincite.gui.app; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_without_a_display_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    if sys.platform != "linux":
        pytest.skip("only Linux runs without a display")
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(UsageError, match="pincite ask"):
        app.run(FakeLibrary)


def test_with_samples_the_sample_documents_are_added(qtbot: QtBot, nothing_left_behind: None) -> None:
    library = FakeLibrary()
    window = make_window(lambda: library, samples=True)
    window.show()
    qtbot.waitUntil(lambda: library.called("add") == [resources_dir() / "samples" / "documents"])
    window.close()
    window.deleteLater()


def test_the_first_run_offers_a_folder_or_the_samples(open_window: OpenWindow, qtbot: QtBot) -> None:
    library = FakeLibrary()
    window = open_window(library)
    qtbot.waitUntil(window.conversation.samples_button.isVisible)
    library.current_ledger = Ledger((Folder("/samples", online=True),), ())
    qtbot.mouseClick(window.conversation.samples_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not window.conversation.samples_button.isVisible())
    assert library.called("add") == [resources_dir() / "samples" / "documents"]
    assert window.conversation.welcome.isVisible()


def test_a_library_that_cannot_be_opened_is_said_and_a_question_is_not_lost(
    qtbot: QtBot, nothing_left_behind: None
) -> None:
    def refuse() -> FakeLibrary:
        raise SettingsError("The settings file cannot be read.")

    window = make_window(refuse)
    window.show()
    qtbot.waitUntil(window.message.isVisible)
    assert window.message.text.text() == "The settings file cannot be read."
    qtbot.keyClicks(window.conversation.box, "Anyone?")
    qtbot.keyClick(window.conversation.box, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: not window.conversation.busy())
    assert window.conversation.turns[0].status.text() == "The settings file cannot be read."
    assert window.conversation.box.question() == "Anyone?"
    window.close()
    window.deleteLater()


def test_progress_is_shown_with_rate_and_time_left_and_can_be_paused(open_window: OpenWindow, qtbot: QtBot) -> None:
    gate = Gate()
    library = FakeLibrary(updates=[[READING, gate]])
    window = open_window(library)
    status = window.status
    qtbot.waitUntil(lambda: "37" in status.progress_text.text())
    assert status.progress_text.text() == progress_sentence(READING)
    assert (status.bar.value(), status.bar.maximum()) == (37, 1204)
    assert status.bar.isVisible()

    qtbot.mouseClick(status.pause_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: status.progress_text.text() == "Reading is paused")
    assert status.pause_button.isVisible()
    assert status.pause_button.accessibleName() == "Resume reading"
    with qtbot.waitSignal(window._bridge.library_changed):
        library_changed(library)
    assert len(library.called("update")) == 1

    qtbot.mouseClick(status.pause_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: status.progress_text.text() == "Up to date")
    assert len(library.called("update")) == 2
    assert not status.bar.isVisible()


def library_changed(library: FakeLibrary) -> None:
    """Tell of a change as the library does, from a thread of its own."""
    assert library.on_change is not None
    teller = threading.Thread(target=library.on_change)
    teller.start()
    teller.join()


def test_a_change_in_the_folders_leads_to_one_more_update(open_window: OpenWindow, qtbot: QtBot) -> None:
    gate = Gate()
    library = FakeLibrary(updates=[[gate]])
    window = open_window(library)
    assert gate.reached.wait(10)
    for _ in range(3):
        library_changed(library)
    gate.open()
    qtbot.waitUntil(lambda: window.status.progress_text.text() == "Up to date" and window._bridge.idle())
    assert len(library.called("update")) == 2


def test_adding_interrupts_a_long_update_and_goes_on_after_it(
    open_window: OpenWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    library = FakeLibrary(updates=[[READING, Gate()]])
    window = open_window(library)
    qtbot.waitUntil(lambda: "37" in window.status.progress_text.text())
    window.updates.add([tmp_path])
    qtbot.waitUntil(lambda: window.status.progress_text.text() == "Up to date" and window._bridge.idle())
    names = [name for name, _ in library.calls if name in ("add", "update")]
    assert names == ["update", "add", "update"]


def test_what_cannot_be_added_is_said(open_window: OpenWindow, qtbot: QtBot, tmp_path: Path) -> None:
    library = FakeLibrary()
    library.before["add"] = NotFoundError("There is no such folder.")
    window = open_window(library)
    window.updates.add([tmp_path])
    qtbot.waitUntil(window.message.isVisible)
    assert window.message.text.text() == "There is no such folder."
    assert not window.message.details.isVisible()


def test_notes_and_failures_of_an_update_are_said_and_it_is_not_repeated_for_ever(
    open_window: OpenWindow, qtbot: QtBot
) -> None:
    library = FakeLibrary(
        updates=[[UpdateReport(notes=("One file is too large.",))], [StoreBusyError("Another program is writing.")]]
    )
    window = open_window(library)
    qtbot.waitUntil(lambda: window.message.text.text() == "One file is too large.")
    library_changed(library)
    qtbot.waitUntil(lambda: window.message.text.text() == "Another program is writing.")
    qtbot.waitUntil(window._bridge.idle)
    assert len(library.called("update")) == 2
    window.message.dismiss_action.trigger()
    assert not window.message.isVisible()


def test_a_mistake_while_reading_shows_a_report_and_questions_go_on(
    open_window: OpenWindow, qtbot: QtBot, expect_log: Callable[[str], None]
) -> None:
    expect_log("ZeroDivisionError while reading your files")
    library = FakeLibrary(updates=[[ZeroDivisionError("division")]], answers=[[Answered(answer("Still?", SUPPORTED))]])
    window = open_window(library)
    qtbot.waitUntil(window.message.isVisible)
    qtbot.mouseClick(window.message.details, Qt.MouseButton.LeftButton)
    dialog = window.findChild(ReportDialog)
    assert isinstance(dialog, ReportDialog)
    assert "ZeroDivisionError" in dialog.report.toPlainText()
    dialog.close()
    window.conversation.ask("Still?")
    qtbot.waitUntil(lambda: window.conversation.turns[0].answer is not None)


def test_a_missing_model_is_said_and_the_state_of_the_engine_is_shown(open_window: OpenWindow, qtbot: QtBot) -> None:
    library = FakeLibrary()
    library.before["warm_up"] = ModelError("No model is installed; `pincite models install` installs one.")
    library.refused = 2
    window = open_window(library)
    qtbot.waitUntil(lambda: "pincite models install" in window.message.text.text())
    qtbot.waitUntil(lambda: window.status.offline.text() == "offline · 2 connections refused")
    assert window.status.engine.text() == "no model: answers are quotes"


def test_words_for_progress_and_engine() -> None:
    assert progress_sentence(READING) == "Reading 37 of 1204 files · 9.2 pages/s · about 4 min"
    assert progress_sentence(IndexProgress("embedding", 5, 10, left_s=12.0)) == (
        "Preparing search by meaning: 5 of 10 passages · less than a minute"
    )
    assert progress_sentence(IndexProgress("reading", 1, 9, pages_per_s=31.4, left_s=8000.0)) == (
        "Reading 1 of 9 files · 31 pages/s · about 2 h"
    )
    assert progress_sentence(IndexProgress("looking", 0, 0)) == "Looking for changes"
    assert engine_sentence(EngineStatus(True, "qwen", 14.2)) == "qwen · 14 tok/s"
    assert engine_sentence(EngineStatus(True, "qwen")) == "qwen · ready"
    assert engine_sentence(EngineStatus(False, "qwen", 14.2)) == "qwen · resting"


def test_closing_in_the_middle_of_everything_is_clean(open_window: OpenWindow, qtbot: QtBot) -> None:
    gates = [Gate() for _ in range(4)]
    library = FakeLibrary(
        [HANDBOOK],
        answers=[[SourcesFound((RENT, LEAVE), ()), TextAdded("You have"), gates[0]]],
        updates=[[READING, gates[1]]],
    )
    library.before["warm_up"] = gates[2]
    library.before["render"] = gates[3]
    window = open_window(library)
    window.conversation.ask("How much leave do I have?")
    qtbot.waitUntil(lambda: bool(window.conversation.turns[0].strip.buttons))
    window.conversation.open_source(2)
    assert all(gate.reached.wait(10) for gate in gates[:3])
    qtbot.waitUntil(gates[3].reached.is_set)
    window.close()
    assert not window.isVisible()
    assert library.called("close") == [None]
    assert not any(thread.name.startswith("pincite") for thread in threading.enumerate())


def test_closing_twice_closes_once(open_window: OpenWindow) -> None:
    library = FakeLibrary()
    window = open_window(library)
    window.close()
    window.close()
    assert library.called("close") == [None]


def test_every_control_has_a_name_a_reader_can_say(open_window: OpenWindow, qtbot: QtBot) -> None:
    library = FakeLibrary(answers=[[SourcesFound((RENT, LEAVE), ()), Answered(answer("?", SUPPORTED))]])
    window = open_window(library)
    window.conversation.ask("?")
    qtbot.waitUntil(lambda: not window.conversation.busy())
    kinds = (QAbstractButton, QAbstractItemView, QGraphicsView, QLineEdit, QPlainTextEdit, QScrollArea)
    controls = [one for one in window.findChildren(QWidget) if isinstance(one, kinds)]
    named_by_qt = [one for one in controls if one.objectName().startswith("qt_") or isinstance(one, QHeaderView)]
    nameless = [
        one
        for one in controls
        if one not in named_by_qt and not one.accessibleName() and not (isinstance(one, QAbstractButton) and one.text())
    ]
    assert len(controls) > 15
    assert nameless == []


def test_f1_lists_every_shortcut(open_window: OpenWindow, qtbot: QtBot) -> None:
    window = open_window(FakeLibrary())
    qtbot.keyClick(window, Qt.Key.Key_F1)
    dialog = window.findChild(ShortcutsDialog)
    assert isinstance(dialog, ShortcutsDialog)
    listed = {dialog.table.item(row, 0).text() for row in range(dialog.table.rowCount())}
    assert {"Enter", "Esc", "F3", "Shift+F3", "Ctrl+G", "Ctrl+L", "Ctrl+O", "F1", "Ctrl+1 … Ctrl+9"} <= listed
    keys = [dialog.table.item(row, 0).text() for row in range(dialog.table.rowCount())]
    assert len(keys) == len(set(keys))  # no key does two things
    dialog.close()


@pytest.fixture
def system_palette(qapp: QApplication) -> Iterator[Callable[[QPalette], None]]:
    """Changes the palette as the system does when it turns dark, and changes it back."""
    before = QApplication.palette()
    yield QApplication.setPalette
    QApplication.setPalette(before)


def dark_palette() -> QPalette:
    palette = QPalette(QApplication.palette())
    for role, colour in (
        (QPalette.ColorRole.Window, "#2b2b2d"),
        (QPalette.ColorRole.Base, "#1f1f21"),
        (QPalette.ColorRole.WindowText, "#ececec"),
        (QPalette.ColorRole.Text, "#ececec"),
        (QPalette.ColorRole.Button, "#3a3a3d"),
        (QPalette.ColorRole.ButtonText, "#ececec"),
    ):
        palette.setColor(role, QColor(colour))
    return palette


def test_the_window_follows_the_system_into_the_dark_and_back(
    open_window: OpenWindow, qtbot: QtBot, system_palette: Callable[[QPalette], None]
) -> None:
    light = QApplication.palette()
    window = open_window(FakeLibrary())
    paper = window.conversation.grab().toImage().pixelColor(5, 5)
    assert paper.lightness() > 200
    system_palette(dark_palette())
    qtbot.waitUntil(lambda: window.conversation.grab().toImage().pixelColor(5, 5).lightness() < 60)
    system_palette(light)
    qtbot.waitUntil(lambda: window.conversation.grab().toImage().pixelColor(5, 5) == paper)


@pytest.mark.parametrize("dark", [False, True])
def test_text_is_readable_in_light_and_dark(qapp: QApplication, dark: bool) -> None:
    tones = tones_of(dark_palette() if dark else QApplication.palette())
    assert tones.dark is dark
    for colour in (tones.text, tones.quiet, tones.accent, *(tones.verdict(verdict) for verdict in Verdict)):
        assert contrast(colour, tones.paper) >= 4.5
    assert contrast(tones.quiet, tones.panel) >= 4.5
    assert contrast(tones.on_accent, tones.accent) >= 4.5


def contrast(one: QColor, other: QColor) -> float:
    """The ratio WCAG 2 asks 4.5 of for text."""

    def luminance(colour: QColor) -> float:
        parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour.getRgbF()[:3]]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_a_mistake_in_the_window_itself_is_shown_not_fatal(
    open_window: OpenWindow, monkeypatch: pytest.MonkeyPatch, expect_log: Callable[[str], None]
) -> None:
    expect_log("RuntimeError while showing the window")
    window = open_window(FakeLibrary())
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    app.catch_the_rest(window)
    sys.excepthook(RuntimeError, RuntimeError("oops"), None)
    assert "went wrong inside Pincite" in window.message.text.text()


def test_the_program_tells_how_long_the_window_took(tmp_path: Path) -> None:
    code = (
        "import logging, sys\n"
        "logging.basicConfig(level=logging.INFO)\n"
        "from PySide6.QtCore import QTimer\n"
        "from pincite.gui import app\n"
        "from tests.fakes import FakeLibrary\n"
        "library = FakeLibrary()\n"
        "start = app.make_window\n"
        "def make(*given):\n"
        "    window = start(*given)\n"
        "    window.appeared.connect(lambda: QTimer.singleShot(0, window.close))\n"
        "    return window\n"
        "app.make_window = make\n"
        "sys.exit(app.run(lambda: library))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=Path(__file__).resolve().parents[2],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    )
    assert done.returncode == 0, done.stderr
    assert "window visible after" in done.stderr
    assert "Traceback" not in done.stderr
    assert [line for line in done.stderr.splitlines() if "WARNING" in line and OFFSCREEN_NOISE not in line] == []
