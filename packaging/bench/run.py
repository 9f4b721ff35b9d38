"""Measures what a person waits for, each beside what they would get without Pincite: `make bench`.

    python packaging/bench/run.py [PART…] [--rounds N] [--json FILE]

Ours and the baseline are measured by turns in the same run, so that a ratio means something on any machine; a figure
by itself does so only on one that has nothing else to do. Needs the models that `make test` installs.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import reading
import searching
import start_up
import turns
from figures import Figure

from pincite.privacy import seal_process
from pincite.settings import default_data_dir, load_settings

SMALL = "SmolLM2-135M-Instruct"  # so that the figures do not depend on which models are installed
ROUNDS = 5
HEADINGS = {
    "start": "Start-up",
    "turns": "Turns of the window's event loop",
    "reading": "Reading and embedding",
    "searching": "Searching and answering",
}


def main() -> int:
    seal_process()
    parser = argparse.ArgumentParser(description="Measure Pincite beside what one would use without it.")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(HEADINGS)} (default: all)")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"repetitions (default: {ROUNDS})")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    options = parser.parse_args()
    wanted = options.parts or list(HEADINGS)
    if unknown := set(wanted) - set(HEADINGS):
        parser.error(f"there is no part {', '.join(sorted(unknown))}; there are {', '.join(HEADINGS)}")
    print(f"{os.cpu_count()} cores{_load()}, medians of {options.rounds} rounds (lowest to highest)")
    measured = {}
    with tempfile.TemporaryDirectory(prefix="pincite-bench-", ignore_cleanup_errors=True) as folder, display():
        scratch = Path(folder)
        use_own_data(scratch / "data")
        for part in wanted:
            print(f"\n{HEADINGS[part]}", flush=True)
            measured[part] = MEASURES[part](options.rounds, scratch)
            for figure in measured[part]:
                print("\n".join(figure.lines()), flush=True)
    if options.json:
        found = {part: [figure.json() for figure in figures] for part, figures in measured.items()}
        options.json.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    return 0


def _searching(rounds: int, scratch: Path) -> list[Figure]:
    return searching.measure(max(1, rounds // 3), load_settings(scratch / "searched"), scratch)


MEASURES: dict[str, Callable[[int, Path], list[Figure]]] = {
    "start": start_up.measure,
    "turns": turns.measure,
    "reading": lambda rounds, scratch: reading.measure(min(rounds, 3), load_settings(scratch / "none"), scratch),
    "searching": _searching,
}


def use_own_data(data_dir: Path) -> None:
    """From now on, here and in every process started from here: settings of our own, but the installed models."""
    os.environ.setdefault("PINCITE_MODELS", str(default_data_dir() / "models"))
    os.environ["PINCITE_DATA"] = str(data_dir)
    data_dir.mkdir()
    (data_dir / "settings.toml").write_text(f'answer_model = "{SMALL}"\n', encoding="utf-8")


@contextmanager
def display() -> Iterator[None]:
    """A display for the windows: the person's, else one of our own where that can be had."""
    if not sys.platform.startswith("linux") or "DISPLAY" in os.environ or "WAYLAND_DISPLAY" in os.environ:
        yield
        return
    program = shutil.which("Xvfb")
    if program is None:
        raise SystemExit("There is no display, and Xvfb, which would make one, is not installed.")
    told, tell = os.pipe()
    command = [program, "-displayfd", str(tell), "-screen", "0", "1600x1000x24", "-nolisten", "tcp", "-noreset"]
    server = subprocess.Popen(command, pass_fds=[tell], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.close(tell)
    try:
        with os.fdopen(told) as reader:
            os.environ["DISPLAY"] = f":{reader.readline().strip()}"
        os.environ["QT_QPA_PLATFORM"] = "xcb"
        yield
    finally:
        server.terminate()
        server.wait()


def _load() -> str:
    """How busy the machine is already, where that can be told."""
    return f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""


if __name__ == "__main__":
    sys.exit(main())
