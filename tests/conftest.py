"""What holds for every test: no network, no files in the person's folders, no noise, nothing left running.

Qt is not imported here, so that the unit tests need no window system.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import hypothesis
import pytest

from pincite.settings import default_data_dir

TESTS = Path(__file__).resolve().parent
KINDS = ("unit", "gui", "integration", "end2end")
DISPLAY_START_S = 20
THREAD_END_S = 10
ON_THIS_MACHINE = ("127.0.0.1", "::1", "localhost")

# No time limit for a single example: on a machine that has much else to do it would fail for nothing.
hypothesis.settings.register_profile("pincite", deadline=None)
hypothesis.settings.load_profile("pincite")

display_key = pytest.StashKey[int]()  # the process of the window server


# Kinds of test, and a display for those that show something


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        kind = item.path.relative_to(TESTS).parts[0]
        if kind in KINDS:
            item.add_marker(kind)
    shown = [item for item in items if item.get_closest_marker("gui") or item.get_closest_marker("end2end")]
    if not shown or not sys.platform.startswith("linux") or "DISPLAY" in os.environ or "WAYLAND_DISPLAY" in os.environ:
        return
    if _start_display(config):
        return
    # Qt's own off-screen platform draws, but no other program can see or touch what it draws.
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    no_display = pytest.mark.skip(
        reason="no display, and Xvfb, which would make one, is not installed or did not start"
    )
    for item in shown:
        if item.get_closest_marker("end2end"):
            item.add_marker(no_display)


def _start_display(config: pytest.Config) -> bool:
    """Start a window server of our own; whether it is there. It is ended by `pytest_unconfigure`."""
    program = shutil.which("Xvfb")
    if program is None:
        return False
    told, tell = os.pipe()
    # -displayfd lets it choose a free number itself: no race with other test runs.
    command = [program, "-displayfd", str(tell), "-screen", "0", "1600x1000x24", "-nolisten", "tcp", "-noreset"]
    # A shell starts it and is gone, so that tests which look at this process's children see only their own.
    detach = ["sh", "-c", '"$@" > /dev/null 2>&1 & echo $!', "sh", *command]
    config.stash[display_key] = int(subprocess.run(detach, pass_fds=[tell], check=True, stdout=subprocess.PIPE).stdout)
    os.close(tell)
    with os.fdopen(told, "rb") as reader:
        ready, _, _ = select.select([reader], [], [], DISPLAY_START_S)
        number = reader.readline().strip().decode() if ready else ""
    if not number:
        return False
    os.environ["DISPLAY"] = f":{number}"
    os.environ["QT_QPA_PLATFORM"] = "xcb"
    return True


def pytest_unconfigure(config: pytest.Config) -> None:
    server = config.stash.get(display_key, None)
    if server is not None:
        with contextlib.suppress(ProcessLookupError):  # it did not start, or its work was done before ours
            os.kill(server, signal.SIGTERM)


# No network


class _Network:
    """Refuses connections, this machine's own ports included, and remembers what was tried."""

    def __init__(self) -> None:
        self.tried: list[str] = []

    def hook(self, event: str, arguments: tuple[object, ...]) -> None:
        if event in ("socket.connect", "socket.sendto"):
            family, address = getattr(arguments[0], "family", None), arguments[1]
            if family in (socket.AF_INET, socket.AF_INET6) and not self._of_python_itself(address):
                self._refuse(f"{event} to {address!r}")
        elif event in ("socket.getaddrinfo", "socket.gethostbyname") and arguments[0] not in ON_THIS_MACHINE:
            self._refuse(f"{event} of {arguments[0]!r}")

    @staticmethod
    def _of_python_itself(address: object) -> bool:
        """Windows has no socket pairs: there Python connects a loopback socket to itself instead."""
        return sys.platform == "win32" and isinstance(address, tuple) and address[0] in ON_THIS_MACHINE

    def _refuse(self, attempt: str) -> None:
        self.tried.append(attempt)
        raise ConnectionRefusedError(f"tests have no network: {attempt}")


network = _Network()
sys.addaudithook(network.hook)  # for the life of the process; below Python's own socket module, so nothing slips past


@pytest.fixture(autouse=True)
def no_network() -> Iterator[list[str]]:
    """Fails a test that tried to connect, even where a library swallowed the refusal. Clear the list to allow it."""
    network.tried.clear()
    yield network.tried
    assert not network.tried, f"tried to use the network: {network.tried}"


# No files but its own


@pytest.fixture(autouse=True, scope="session")
def installed_models() -> Path:
    """Where the models that are really installed live; tests of the engine use them and change nothing there."""
    chosen = os.environ.setdefault("PINCITE_MODELS", str(default_data_dir() / "models"))
    return Path(chosen)


@pytest.fixture(autouse=True)
def own_data_dir(
    installed_models: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A data folder for this test alone, as PINCITE_DATA."""
    data_dir = tmp_path_factory.mktemp("data")
    monkeypatch.setenv("PINCITE_DATA", str(data_dir))
    monkeypatch.delenv("PINCITE_LIBRARY", raising=False)
    return data_dir


# No noise


class _Warnings(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(f"{record.levelname} {record.name}: {record.getMessage()}")


@pytest.fixture(autouse=True)
def expect_log() -> Iterator[Callable[[str], None]]:
    """A log message of level WARNING or above fails its test, unless the test says it expects it.

    `expect_log(pattern)` may be called before or after; what was expected must then really be logged.
    """
    handler, patterns = _Warnings(), list[str]()
    logging.getLogger().addHandler(handler)
    yield patterns.append
    logging.getLogger().removeHandler(handler)
    unexpected = [text for text in handler.texts if not any(re.search(pattern, text) for pattern in patterns)]
    missing = [pattern for pattern in patterns if not any(re.search(pattern, text) for text in handler.texts)]
    assert not unexpected, f"unexpected log messages: {unexpected}"
    assert not missing, f"expected log messages that did not come: {missing}"


# Nothing left running


@pytest.fixture(autouse=True)
def no_leaked_threads() -> Iterator[None]:
    """Fails a test that leaves a thread behind which would keep the program from ending."""
    before = set(threading.enumerate())
    yield
    started = [thread for thread in threading.enumerate() if thread not in before and not thread.daemon]
    for thread in started:
        thread.join(THREAD_END_S)
    left = [thread.name for thread in started if thread.is_alive()]
    assert not left, f"threads left running: {left}"
