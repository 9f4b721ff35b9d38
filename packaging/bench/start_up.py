"""How long from the start of the process until the window is visible, beside an empty Qt window."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from figures import Figure, figure

EMPTY_WINDOW = Path(__file__).resolve().parent / "empty_window.py"
VISIBLE = "window visible"  # said by both on standard error
END_S = 30.0


def measure(rounds: int, scratch: Path) -> list[Figure]:
    """Both by turns; the first of each only fills the system's caches."""
    ours, empty = [], []
    for number in range(rounds + 1):
        library = scratch / f"start-{number}"
        ours.append(visible_ms(["-m", "pincite", "--library", str(library), "--verbose"]))
        empty.append(visible_ms([str(EMPTY_WINDOW)]))
    return [figure("window of Pincite visible", "ms", ours[1:], "empty Qt window visible", empty[1:])]


def visible_ms(arguments: list[str]) -> float:
    """Start Python with these arguments and end it again as soon as it says that its window is visible."""
    began_s = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-P", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    said: list[str] = []
    assert process.stderr is not None
    with process.stderr:
        for line in process.stderr:
            said.append(line)
            if VISIBLE in line:
                took_ms = (time.perf_counter() - began_s) * 1000
                process.terminate()
                process.stderr.read()
                process.wait(END_S)
                return took_ms
    raise RuntimeError(f"{arguments} ended with status {process.wait(END_S)} and showed no window:\n{''.join(said)}")
