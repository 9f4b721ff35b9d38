"""The real window over a real library: real stores, readers and models, but never a model that writes well.

With the small language model the program answers in quotes by itself, so that what is tested does not depend on
which models are installed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from pincite.gui.app import make_window
from pincite.gui.window import MainWindow
from pincite.library import Library
from pincite.settings import Settings, resources_dir
from tests.end2end.person import WAIT_MS, Person

SMALL = "SmolLM2-135M-Instruct"

Start = Callable[..., Person]

told_key = pytest.StashKey[list[str]]()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    for text in config.stash.get(told_key, []):
        terminalreporter.section("measured")
        terminalreporter.write_line(text)


@pytest.fixture
def tell(pytestconfig: pytest.Config) -> Callable[[str], None]:
    """Has a text printed at the end of the run, whether the test passes or not."""
    return pytestconfig.stash.setdefault(told_key, []).append


def settings_in(folder: Path) -> Settings:
    """Settings of a library in `folder`."""
    return Settings(data_dir=folder, library_dir=folder / "library", answer_model=SMALL)


def processes() -> set[psutil.Process]:
    """The processes that this one has started, and those that they have."""
    return set(psutil.Process().children(recursive=True))


@pytest.fixture(scope="session")
def samples() -> Path:
    """The sample documents."""
    return resources_dir() / "samples" / "documents"


@pytest.fixture(scope="module")
def sample_library(
    samples: Path, installed_models: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Library]:
    """A library that holds the sample documents, for tests that only ask and look.

    Closed after each file of tests: others count the processes that are running.
    """
    library = Library.open(settings_in(tmp_path_factory.mktemp("samples")))
    library.add(samples)
    report = library.update()
    assert report.notes == ()
    yield library
    library.close()


@pytest.fixture
def start(qtbot: QtBot, own_data_dir: Path) -> Iterator[Start]:
    """Starts the program on the test's own library and hands it to a person; ends it after the test.

    A test that leaves a process or a window behind fails.
    """
    windows: list[MainWindow] = []
    before, widgets = processes(), set(QApplication.topLevelWidgets())

    def started(open_library: Callable[[Settings], Library] = Library.open) -> Person:
        libraries: list[Library] = []

        def opened() -> Library:
            libraries.append(open_library(settings_in(own_data_dir)))
            return libraries[-1]

        window = make_window(opened)
        windows.append(window)
        with qtbot.waitSignal(window.appeared, timeout=WAIT_MS):
            window.show()
            window.activateWindow()
        qtbot.waitUntil(window.isActiveWindow, timeout=WAIT_MS)  # shortcuts are for the active window
        qtbot.waitUntil(lambda: bool(libraries), timeout=WAIT_MS)
        return Person(window, libraries, qtbot)

    yield started
    for window in windows:
        window.close()
        window.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    QCoreApplication.processEvents()
    assert processes() - before == set()
    assert set(QApplication.topLevelWidgets()) - widgets == set()
