"""Frames, and children that behave, misbehave and die."""

from __future__ import annotations

import io
import os
import signal
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pincite.process import HEADER, MAX_MESSAGE_BYTES, Channel, Child, ChildDied, Frame

WAIT_S = 30.0
START = "from pincite.process import parent_channel\nchannel = parent_channel()\n"
ECHO = START + "while (frame := channel.receive()) is not None:\n    channel.send(frame.message, frame.block)\n"
WAIT_FOREVER = "import threading; threading.Event().wait()\n"
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(), lambda inner: st.lists(inner, max_size=4)
)


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Child]]:
    """Starts a child that runs the given program, and stops it afterwards."""
    paths = [str(tmp_path), *sys.path]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path for path in paths if path))
    children: list[Child] = []

    def begin(program: str, memory_limit_bytes: int | None = None) -> Child:
        name = f"child_{len(children)}"
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(program), encoding="utf-8")
        children.append(Child(name, memory_limit_bytes=memory_limit_bytes))
        return children[-1]

    yield begin
    for child in children:
        child.stop()


def there_and_back(message: dict[str, object], block: bytes = b"") -> Frame | None:
    """What comes out of a channel when a frame was put in."""
    pipe = io.BytesIO()
    Channel(io.BytesIO(), pipe).send(message, block)
    return Channel(io.BytesIO(pipe.getvalue()), io.BytesIO()).receive()


@given(message=st.dictionaries(st.text(), json_values), block=st.binary())
def test_a_frame_arrives_as_it_was_sent(message: dict[str, object], block: bytes) -> None:
    assert there_and_back(message, block) == Frame(message, block)


def test_text_that_is_not_valid_unicode_arrives_too() -> None:
    assert there_and_back({"name": "\udcff.pdf"}) == Frame({"name": "\udcff.pdf"})


@pytest.mark.parametrize("cut", [0, 3, 8, 12])
def test_a_stream_that_ends_is_an_end_and_not_a_frame(cut: int) -> None:
    pipe = io.BytesIO()
    Channel(io.BytesIO(), pipe).send({"op": "read"}, b"block")
    assert Channel(io.BytesIO(pipe.getvalue()[:cut]), io.BytesIO()).receive() is None


@pytest.mark.parametrize(
    "sent",
    [
        HEADER.pack(MAX_MESSAGE_BYTES + 1, 0),
        HEADER.pack(2, 0) + b"[]",
        HEADER.pack(2, 0) + b"no",
        HEADER.pack(2, 0) + b"\xff\xfe",
    ],
    ids=["too large", "no object", "no JSON", "no text"],
)
def test_what_is_no_frame_is_refused(sent: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        Channel(io.BytesIO(sent), io.BytesIO()).receive()


def test_a_child_answers_until_it_is_stopped(start: Callable[..., Child]) -> None:
    child = start(ECHO)
    for number in range(3):
        child.send({"number": number}, bytes([number]) * 100_000)
        assert child.receive(WAIT_S) == Frame({"number": number}, bytes([number]) * 100_000)
    assert child.alive()
    child.stop()
    assert not child.alive()
    with pytest.raises(ChildDied) as died:
        child.receive(WAIT_S)
    assert died.value.cause == "stopped"
    with pytest.raises(ChildDied):
        child.send({"number": 4})
    child.stop()


def test_what_a_library_prints_does_not_break_the_frames(start: Callable[..., Child]) -> None:
    child = start(START + "import os; print('loading…', flush=True); os.write(1, b'raw'); channel.send({'ready': 1})\n")
    assert child.receive(WAIT_S).message == {"ready": 1}


def test_waiting_for_a_silent_child_ends(start: Callable[..., Child]) -> None:
    child = start(START + WAIT_FOREVER)
    with pytest.raises(TimeoutError):
        child.receive(0.01)
    assert child.alive()


def test_the_last_words_of_a_child_are_kept(start: Callable[..., Child]) -> None:
    child = start(START + "raise LookupError('the page is missing')\n")
    for _ in range(2):  # it stays dead for whoever asks again
        with pytest.raises(ChildDied) as died:
            child.receive(WAIT_S)
    assert (died.value.status, died.value.cause) == (1, "")
    assert died.value.last_words.rstrip().endswith("LookupError: the page is missing")


def test_frames_sent_before_death_still_arrive(start: Callable[..., Child]) -> None:
    child = start(START + "channel.send({'page': 1}); channel.send({'page': 2}); import os; os._exit(3)\n")
    assert [child.receive(WAIT_S).message["page"] for _ in range(2)] == [1, 2]
    with pytest.raises(ChildDied) as died:
        child.receive(WAIT_S)
    assert died.value.status == 3


@pytest.mark.skipif(sys.platform == "win32", reason="there are no signals on Windows")
def test_a_killed_child_is_dead_at_once(start: Callable[..., Child]) -> None:
    child = start(ECHO)
    child.send({})
    child.receive(WAIT_S)
    os.kill(child.pid, signal.SIGKILL)
    with pytest.raises(ChildDied) as died:
        child.receive(WAIT_S)
    assert died.value.status == -signal.SIGKILL


@pytest.mark.parametrize(
    "noise", ["b'this is no frame at all'", "HEADER.pack(60_000, 0) + b'[' * 60_000"], ids=["noise", "deep nesting"]
)
def test_a_child_that_does_not_speak_in_frames_is_ended(start: Callable[..., Child], noise: str) -> None:
    child = start(f"import os\nfrom pincite.process import HEADER\nos.write(1, {noise})\n{WAIT_FOREVER}")
    with pytest.raises(ChildDied):
        child.receive(WAIT_S)


def test_a_child_that_takes_too_much_memory_is_ended(start: Callable[..., Child]) -> None:
    # It grows until it is ended, so the limit is met whatever the interpreter itself needs.
    program = START + "hoard = []\nwhile True:\n    hoard.append(bytearray(b'x' * 4_000_000))\n"
    child = start(program, memory_limit_bytes=200_000_000)
    with pytest.raises(ChildDied) as died:
        child.receive(WAIT_S)
    assert died.value.cause == "memory"


@pytest.mark.skipif(sys.platform == "win32", reason="ending a process cannot be ignored on Windows")
def test_a_child_that_ignores_requests_is_killed(start: Callable[..., Child], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pincite.process.TERMINATE_GRACE_S", 0.05)
    ignore = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); channel.send({})\n"
    child = start(START + ignore + WAIT_FOREVER)
    child.receive(WAIT_S)
    child.stop()
    assert not child.alive()


def test_what_a_child_started_ends_with_it(start: Callable[..., Child]) -> None:
    other = f"subprocess.Popen([sys.executable, '-c', {WAIT_FOREVER!r}])"
    child = start(
        START + f"import subprocess, sys\nother = {other}\nchannel.send({{'pid': other.pid}})\n" + WAIT_FOREVER
    )
    other_process = psutil.Process(child.receive(WAIT_S).message["pid"])
    child.stop()
    psutil.wait_procs([other_process], timeout=WAIT_S)
    assert not other_process.is_running()


def test_a_child_does_not_outlive_a_parent_that_died(start: Callable[..., Child]) -> None:
    start(ECHO)  # as child_0, which the parent below starts once more
    parent = start(
        START
        + "import os\nfrom pincite.process import Child\nchild = Child('child_0')\n"
        + "child.send({'pid': child.pid})\nchannel.send(child.receive(30).message)\nos._exit(0)\n"
    )
    orphan = psutil.Process(parent.receive(WAIT_S).message["pid"])
    psutil.wait_procs([orphan], timeout=WAIT_S)
    assert not orphan.is_running()
