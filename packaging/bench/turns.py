"""How long the window's event loop is held up while files are read and questions answered, and while nothing happens.

Run by itself it opens the window on the samples, asks, and prints what it measured as JSON; `--stacks FILE` notes
where every thread was whenever the loop was held up, which shows who held the interpreter's lock.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

from figures import Figure, figure

BEAT_MS = 5
LONG_MS = 100.0  # no turn may be longer, see the window's rules
NOTED_MS = 60.0
IDLE_S = 5.0
QUESTIONS = [
    "In how many instalments is the rent for Unit 7 paid?",
    "What is form HS-7 for?",
    "Who can sign for flow instruments?",
]


def measure(rounds: int, scratch: Path) -> list[Figure]:
    """The longest turn of each phase, one value a round; what an idle window shows is the machine's own doing."""
    seen: dict[str, list[dict[str, float]]] = {}
    for number in range(rounds):
        command = [sys.executable, __file__, str(scratch / f"turns-{number}")]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, encoding="utf-8", check=True)
        for phase, found in json.loads(done.stdout).items():
            seen.setdefault(phase, []).append(found)
    idle = [found["longest_ms"] for found in seen["idle"]]
    figures = []
    for phase in ("reading", "answering"):
        longest = [found["longest_ms"] for found in seen[phase]]
        figures.append(figure(f"longest turn while {phase}", "ms", longest, "longest turn while idle", idle))
        figures.append(figure(f"turns over {LONG_MS:.0f} ms while {phase}", "turns", [f["long"] for f in seen[phase]]))
    return figures


class Beats:
    """Counts how long the event loop takes to come round."""

    def __init__(self, stacks: IO[str] | None) -> None:
        self._stacks = stacks
        self._last_s = 0.0
        self._phase = ""
        self.turns_ms: dict[str, list[float]] = {}

    def enter(self, phase: str) -> None:
        """Turns belong to `phase` from now on; to none when it is ""."""
        self._phase, self._last_s = phase, time.perf_counter()

    def beat(self) -> None:
        """To be called by a timer that is always due."""
        now_s = time.perf_counter()
        turn_ms, self._last_s = (now_s - self._last_s) * 1000, now_s
        if self._phase:
            self.turns_ms.setdefault(self._phase, []).append(turn_ms)
        if self._stacks is not None:
            if turn_ms > NOTED_MS:
                print(f"=== {turn_ms:.0f} ms while {self._phase}", file=self._stacks, flush=True)
            faulthandler.dump_traceback_later(NOTED_MS / 1000, file=self._stacks)

    def found(self) -> dict[str, dict[str, float]]:
        """For each phase: the longest turn, and how many were too long."""
        return {
            phase: {"longest_ms": max(turns), "long": sum(turn > LONG_MS for turn in turns), "turns": len(turns)}
            for phase, turns in self.turns_ms.items()
        }


def watched(folder: Path, stacks: IO[str] | None) -> Beats:
    """Open the window on a new library in `folder`, read the samples, ask, and be idle for a while."""
    # The measuring parent needs none of it, and must not depend on a display.
    from PySide6.QtCore import Qt, QTimer
    from PySide6.QtWidgets import QApplication

    from pincite.gui.app import make_window
    from pincite.settings import load_settings

    app = QApplication(sys.argv[:1])
    beats = Beats(stacks)

    def open_library() -> object:
        from pincite.library import Library  # as the program does it: after the window is visible

        return Library.open(load_settings(folder))

    window = make_window(open_library, samples=True)  # type: ignore[arg-type]
    timer = QTimer()
    timer.setTimerType(Qt.TimerType.PreciseTimer)
    timer.setInterval(BEAT_MS)
    timer.timeout.connect(beats.beat)
    asked = iter(QUESTIONS)

    def ask_or_rest() -> None:
        question = next(asked, "")
        if question:
            beats.enter("answering")
            window.conversation.ask(question)
        else:
            beats.enter("idle")
            QTimer.singleShot(round(IDLE_S * 1000), window, leave)

    def leave() -> None:
        beats.enter("")  # closing waits for what runs, which is no turn that anyone sees
        window.close()

    window.appeared.connect(lambda: beats.enter("reading"))
    window.appeared.connect(timer.start)
    window.updates.settled.connect(_once(lambda: QTimer.singleShot(0, window, ask_or_rest)))
    window.conversation.answering.connect(lambda busy: None if busy else QTimer.singleShot(0, window, ask_or_rest))
    window.show()
    app.exec()
    faulthandler.cancel_dump_traceback_later()
    return beats


def _once(call: Callable[[], object]) -> Callable[[], None]:
    calls = iter([call])

    def called() -> None:
        for each in calls:
            each()

    return called


def main() -> int:
    """Measure in this process."""
    from pincite.privacy import seal_process  # like the program, before any library is imported

    seal_process()
    parser = argparse.ArgumentParser(description="Measure how long the window's event loop is held up.")
    parser.add_argument("folder", type=Path, help="for a new library")
    parser.add_argument("--stacks", type=Path, help="where to note what held it up")
    options = parser.parse_args()
    stacks = options.stacks.open("w", encoding="utf-8") if options.stacks else None
    print(json.dumps(watched(options.folder, stacks).found(), indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
