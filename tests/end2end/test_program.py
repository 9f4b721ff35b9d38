"""The program from outside: started as a person starts it, watched through its output, its pictures and its end."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from pincite.library import Library
from pincite.model import Box
from tests.end2end.conftest import SMALL
from tests.end2end.person import WAIT_MS
from tests.end2end.sight import channels, same_text, words_under

ZOOM = 2.0  # of the picture that the demonstration draws
PROGRAM = [sys.executable, "-P", "-m", "pincite"]


@pytest.fixture(autouse=True)
def small_model(own_data_dir: Path) -> None:
    """The small language model is chosen, whatever others are installed."""
    (own_data_dir / "settings.toml").write_text(f'answer_model = "{SMALL}"\n', encoding="utf-8")


class Running:
    """A program whose standard error can be waited for line by line."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.lines: list[str] = []
        self._queue: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._pump)
        self._thread.start()

    def line_with(self, words: str) -> str:
        """Wait for a line that holds `words`."""
        while (line := self._queue.get(timeout=WAIT_MS / 1000)) is not None:
            if words in line:
                return line
        raise AssertionError(f"it ended without saying {words!r}: {self.lines}")

    def end(self) -> int:
        """Wait until it has ended; returns its status."""
        status = self.process.wait(WAIT_MS / 1000)
        self._thread.join()
        return status

    def _pump(self) -> None:
        assert self.process.stderr is not None
        with self.process.stderr:
            for line in self.process.stderr:
                self.lines.append(line.rstrip())
                self._queue.put(line)
        self._queue.put(None)


@contextmanager
def running(*arguments: str) -> Iterator[Running]:
    """The program with these arguments; it is killed if it still runs at the end."""
    process = subprocess.Popen(
        [*PROGRAM, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    program = Running(process)
    try:
        yield program
    finally:
        process.kill()
        program.end()


def on_screen() -> int:
    """How many pixels of the screen are not of its most frequent colour."""
    picture = QGuiApplication.primaryScreen().grabWindow(0).toImage()
    colours = channels(picture).reshape(-1, 3) @ np.array([1 << 16, 1 << 8, 1])
    return int(colours.size - np.unique(colours, return_counts=True)[1].max())


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such signal on Windows")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_window_opens_on_the_samples_and_ends_when_told_to(
    number: signal.Signals, qapp: QApplication, qtbot: QtBot, own_data_dir: Path
) -> None:
    bare = on_screen() if QGuiApplication.platformName() == "xcb" else None
    with running("--samples", "--verbose") as program:
        assert program.line_with("window visible after").rstrip().endswith("ms")
        if bare is not None:
            qtbot.waitUntil(lambda: on_screen() > bare + 10_000, timeout=WAIT_MS)
        store = own_data_dir / "library"
        # It has begun to work: only now is there something to end in an orderly way.
        qtbot.waitUntil(lambda: store.is_dir() and bool(children_of(program.process)), timeout=WAIT_MS)
        children = children_of(program.process)
        program.process.send_signal(number)
        assert program.end() == 0
    psutil.wait_procs(children, timeout=WAIT_MS / 1000)
    assert [child for child in children if child.is_running()] == []
    assert [line for line in program.lines if "Traceback" in line or "Error" in line] == []


def children_of(process: subprocess.Popen[str]) -> list[psutil.Process]:
    try:
        return psutil.Process(process.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def test_the_demonstration_cites_and_draws_the_words_it_cites(
    sample_library: Library, samples: Path, tmp_path: Path
) -> None:
    png = tmp_path / "cited-page.png"
    done = subprocess.run(
        [*PROGRAM, "demo", "--json", "--png", str(png)], capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    answer = json.loads(done.stdout)
    assert answer["verdict"] == "answered"
    assert answer["claims"]
    citations: list[dict[str, Any]] = [each for claim in answer["claims"] for each in claim["citations"]]
    assert all(claim["citations"] for claim in answer["claims"])
    assert all(citation["regions"] for citation in citations)
    for citation in citations:
        words = [
            word
            for region in citation["regions"]
            for word in words_under(sample_library.page(citation["path"], region["page"]), boxes_of(region))
        ]
        assert same_text(words, citation["quote"])
    assert answer["png"] == str(png)
    _check_drawing(sample_library, citations[0], png)


def boxes_of(region: dict[str, Any]) -> list[Box]:
    return [Box(*edges) for edges in region["boxes"]]


def _check_drawing(library: Library, citation: dict[str, Any], png: Path) -> None:
    """The picture differs from that of the bare page on the cited words, where it is yellow, and nowhere else."""
    region = citation["regions"][0]
    page = library.page(citation["path"], region["page"])
    bare, drawn = QImage(), QImage(str(png))
    bare.loadFromData(library.render(citation["path"], region["page"], zoom=ZOOM).png)
    assert (bare.width(), bare.height()) == (drawn.width(), drawn.height())
    before, after = channels(bare), channels(drawn)
    changed = (before != after).any(axis=2)
    cited = words_under(page, boxes_of(region))
    for word in page.words:
        rows, columns = _pixels(word.box, inwards_pt=word.box.height / 4)
        paper = before[rows, columns].min(axis=2) > 200
        if word in cited:
            assert changed[rows, columns][paper].all(), word.text
            assert (after[rows, columns][paper][:, 2] < after[rows, columns][paper][:, 0]).all(), "yellow lacks blue"
        else:
            assert not changed[rows, columns].any(), word.text
    allowed = np.zeros_like(changed)
    for box in boxes_of(region):
        allowed[_pixels(box, inwards_pt=-1.0)] = True
    assert not (changed & ~allowed).any()


def _pixels(box: Box, inwards_pt: float) -> tuple[slice, slice]:
    """The rows and columns of a box in the picture, its upper and lower edges moved in."""
    top, bottom = (box.y0 + inwards_pt) * ZOOM, (box.y1 - inwards_pt) * ZOOM
    sideways = min(inwards_pt, 0.0)
    left, right = (box.x0 + sideways) * ZOOM, (box.x1 - sideways) * ZOOM
    return slice(round(top), round(bottom)), slice(max(0, round(left)), round(right))


def test_without_a_display_it_says_so_in_a_sentence() -> None:
    bare = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    bare.pop("QT_QPA_PLATFORM", None)
    if sys.platform != "linux":
        pytest.skip("only Linux runs without a display")
    done = subprocess.run(PROGRAM, capture_output=True, text=True, encoding="utf-8", check=False, env=bare)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("pincite: There is no display")
    assert len(done.stderr.splitlines()) == 1
