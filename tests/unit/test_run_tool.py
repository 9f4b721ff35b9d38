"""Running another program to its end, or not to its end."""

from __future__ import annotations

import sys
from pathlib import Path

import psutil
import pytest

from pincite.process import run_tool


def test_lines_of_both_streams_come_one_by_one_and_the_status_is_returned() -> None:
    program = "import sys; print('out', flush=True); print('err', file=sys.stderr, flush=True); sys.exit(7)"
    lines: list[str] = []
    assert run_tool([sys.executable, "-c", program], lines.append) == 7
    assert lines == ["out", "err"]


def test_bytes_that_are_no_text_do_not_break_it() -> None:
    lines: list[str] = []
    assert run_tool([sys.executable, "-c", "import os; os.write(1, b'a\\xffb\\n')"], lines.append) == 0
    assert lines == ["a\ufffdb"]


def test_it_has_no_standard_input() -> None:
    lines: list[str] = []
    assert run_tool([sys.executable, "-c", "import sys; print(len(sys.stdin.read()))"], lines.append) == 0
    assert lines == ["0"]


def test_raising_while_it_runs_ends_it() -> None:
    def stop(line: str) -> None:
        raise KeyboardInterrupt(line)

    program = (
        "import os, sys; print(os.getpid(), flush=True); sys.stdout.close(); import threading; threading.Event().wait()"
    )
    with pytest.raises(KeyboardInterrupt) as raised:
        run_tool([sys.executable, "-c", program], stop)
    assert not psutil.pid_exists(int(str(raised.value)))


def test_a_program_that_is_not_there_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        run_tool([str(tmp_path / "absent")], lambda _: None)
