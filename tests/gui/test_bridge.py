"""The door between lanes and widgets: order, threads, cancelling, mistakes, closing."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest
from pytestqt.qtbot import QtBot

from pincite.errors import BugError, NotFoundError, SettingsError
from pincite.gui.bridge import Bridge, Failure, Job, Lane, Task
from tests.fakes import FakeLibrary, Gate

MakeBridge = Callable[[Callable[[], FakeLibrary]], Bridge]


@pytest.fixture
def make_bridge(qtbot: QtBot) -> Iterator[MakeBridge]:
    bridges: list[Bridge] = []

    def made(open_library: Callable[[], FakeLibrary]) -> Bridge:
        bridges.append(Bridge(open_library))
        return bridges[-1]

    yield made
    for bridge in bridges:
        bridge.close()
        bridge.deleteLater()


@pytest.fixture
def library() -> FakeLibrary:
    return FakeLibrary()


@pytest.fixture
def bridge(make_bridge: MakeBridge, library: FakeLibrary) -> Bridge:
    made = make_bridge(lambda: library)
    made.open("opening")
    return made


class Heard:
    """Everything a job said, in order, and on which threads."""

    def __init__(self, job: Job) -> None:
        self.said: list[tuple[str, object]] = []
        self.threads: set[threading.Thread] = set()
        job.reported.connect(lambda event: self._hear("event", event))
        job.result.connect(lambda result: self._hear("result", result))
        job.failed.connect(lambda failure: self._hear("failed", failure))
        job.cancelled.connect(lambda: self._hear("cancelled", None))
        job.ended.connect(lambda: self._hear("ended", None))

    def _hear(self, kind: str, payload: object) -> None:
        self.said.append((kind, payload))
        self.threads.add(threading.current_thread())

    def kinds(self) -> list[str]:
        return [kind for kind, _payload in self.said]

    def ended(self) -> bool:
        return "ended" in self.kinds()


def test_a_result_arrives_on_the_interface_thread_while_the_call_runs_elsewhere(bridge: Bridge, qtbot: QtBot) -> None:
    ran_on: list[threading.Thread] = []

    def call(_library: object, task: Task) -> int:
        ran_on.append(threading.current_thread())
        task.report("first")
        task.report("second")
        return 7

    heard = Heard(bridge.submit(Lane.ANSWER, call, "trying"))
    qtbot.waitUntil(heard.ended)
    assert heard.said == [("event", "first"), ("event", "second"), ("result", 7), ("ended", None)]
    assert heard.threads == {threading.main_thread()}
    assert ran_on[0] is not threading.main_thread()


def test_of_progress_only_the_newest_is_delivered(bridge: Bridge, qtbot: QtBot) -> None:
    told = threading.Event()

    def call(_library: object, task: Task) -> None:
        for number in range(1000):
            task.report_latest(number)
        told.set()

    job = bridge.submit(Lane.INDEX, call, "trying")
    heard = Heard(job)
    assert told.wait(10)  # nothing is delivered while the interface thread waits here
    qtbot.waitUntil(heard.ended)
    assert heard.said == [("event", 999), ("result", None), ("ended", None)]


def test_calls_on_one_lane_follow_each_other_and_other_lanes_go_on(bridge: Bridge, qtbot: QtBot) -> None:
    gate = Gate()
    order: list[str] = []

    def held(_library: object, task: Task) -> None:
        gate.wait(task.cancelled)
        order.append("held")

    first = Heard(bridge.submit(Lane.INDEX, held, "trying"))
    second = Heard(bridge.submit(Lane.INDEX, lambda _library, _task: order.append("second"), "trying"))
    other = Heard(bridge.submit(Lane.SHORT, lambda _library, _task: order.append("other"), "trying"))
    qtbot.waitUntil(other.ended)
    assert order == ["other"]
    gate.open()
    qtbot.waitUntil(lambda: first.ended() and second.ended())
    assert order == ["other", "held", "second"]


def test_cancelling_before_its_turn_ends_a_job_at_once(bridge: Bridge, qtbot: QtBot) -> None:
    gate = Gate()
    ran: list[str] = []
    holding = Heard(bridge.submit(Lane.PAGE, lambda _library, task: gate.wait(task.cancelled), "trying"))
    job = bridge.submit(Lane.PAGE, lambda _library, _task: ran.append("ran"), "trying")
    waiting = Heard(job)
    assert gate.reached.wait(10)
    job.cancel()
    qtbot.waitUntil(waiting.ended)
    assert waiting.kinds() == ["cancelled", "ended"]
    assert not holding.ended()
    gate.open()
    qtbot.waitUntil(holding.ended)
    after = Heard(bridge.submit(Lane.PAGE, lambda _library, _task: None, "trying"))
    qtbot.waitUntil(after.ended)
    assert ran == []


def test_after_cancelling_no_event_or_result_arrives(bridge: Bridge, qtbot: QtBot) -> None:
    gate = Gate()

    def stubborn(_library: object, task: Task) -> str:
        gate.wait()
        task.report("late")
        task.report_latest("later")
        return "result"

    job = bridge.submit(Lane.ANSWER, stubborn, "trying")
    heard = Heard(job)
    assert gate.reached.wait(10)
    job.cancel()
    gate.open()
    qtbot.waitUntil(heard.ended)
    assert heard.kinds() == ["cancelled", "ended"]


def test_a_known_error_is_passed_on_as_its_sentence(bridge: Bridge, qtbot: QtBot) -> None:
    def fail(_library: object, _task: Task) -> None:
        raise NotFoundError("There is no such page.")

    heard = Heard(bridge.submit(Lane.PAGE, fail, "trying"))
    qtbot.waitUntil(heard.ended)
    failure = heard.said[0][1]
    assert isinstance(failure, Failure)
    assert failure.sentence == "There is no such page."
    assert failure.report == ""


def test_a_mistake_of_ours_becomes_a_sentence_with_a_report_and_the_log_keeps_its_message_out(
    bridge: Bridge, qtbot: QtBot, caplog: pytest.LogCaptureFixture, expect_log: Callable[[str], None]
) -> None:
    def stumble(_library: object, _task: Task) -> None:
        raise ValueError("secret words of a document")

    expect_log("ValueError while trying things")
    heard = Heard(bridge.submit(Lane.SHORT, stumble, "trying things"))
    qtbot.waitUntil(heard.ended)
    failure = heard.said[0][1]
    assert isinstance(failure, Failure)
    assert isinstance(failure.error, BugError)
    assert "while trying things" in failure.sentence
    assert "secret words" in failure.report
    assert "stumble" in failure.report
    assert "stumble" in caplog.text
    assert "secret words" not in caplog.text
    after = Heard(bridge.submit(Lane.SHORT, lambda _library, _task: "alive", "trying"))
    qtbot.waitUntil(after.ended)
    assert after.said[0] == ("result", "alive")


def test_calls_wait_for_the_library_to_open(make_bridge: MakeBridge, library: FakeLibrary, qtbot: QtBot) -> None:
    gate = Gate()

    def open_slowly() -> FakeLibrary:
        gate.wait()
        return library

    bridge = make_bridge(open_slowly)
    opening = Heard(bridge.open("opening"))
    early = Heard(bridge.submit(Lane.ANSWER, lambda given, _task: given is library, "trying"))
    assert gate.reached.wait(10)
    assert not early.ended()
    gate.open()
    qtbot.waitUntil(lambda: opening.ended() and early.ended())
    assert early.said[0] == ("result", True)


@pytest.mark.parametrize("lane", [lane for lane in Lane if lane is not Lane.OPENING])
def test_a_call_may_come_before_the_library_is_even_asked_to_open(
    make_bridge: MakeBridge, library: FakeLibrary, qtbot: QtBot, lane: Lane
) -> None:
    bridge = make_bridge(lambda: library)
    early = Heard(bridge.submit(lane, lambda given, _task: given is library, "trying"))
    bridge.open("opening")
    qtbot.waitUntil(early.ended)
    assert early.said[0] == ("result", True)


def test_when_the_library_does_not_open_every_call_says_why(make_bridge: MakeBridge, qtbot: QtBot) -> None:
    def refuse() -> FakeLibrary:
        raise SettingsError("The settings file cannot be read.")

    bridge = make_bridge(refuse)
    heard = [Heard(bridge.open("opening"))]
    heard += [Heard(bridge.submit(lane, lambda _library, _task: None, "trying")) for lane in (Lane.SHORT, Lane.ANSWER)]
    qtbot.waitUntil(lambda: all(one.ended() for one in heard))
    failures = [one.said[0][1] for one in heard]
    assert all(isinstance(failure, Failure) and isinstance(failure.error, SettingsError) for failure in failures)
    assert [one.kinds() for one in heard] == [["failed", "ended"]] * 3


def test_closing_cancels_what_runs_closes_the_library_and_ends_the_lanes(
    bridge: Bridge, library: FakeLibrary, qtbot: QtBot
) -> None:
    gates = [Gate(), Gate()]
    lanes = (Lane.INDEX, Lane.ANSWER)
    heard = [
        Heard(bridge.submit(lane, lambda _library, task, gate=gate: gate.wait(task.cancelled), "trying"))
        for lane, gate in zip(lanes, gates, strict=True)
    ]
    queued = Heard(bridge.submit(Lane.INDEX, lambda _library, _task: None, "trying"))
    assert all(gate.reached.wait(10) for gate in gates)
    bridge.close()
    assert library.closed.is_set()
    assert not any(thread.name.startswith("pincite lane") for thread in threading.enumerate())
    assert [one.kinds() for one in [*heard, queued]] == [[], [], []]
    assert bridge.idle()


def test_a_call_that_only_ends_with_the_library_does_not_keep_the_window_open(
    make_bridge: MakeBridge, library: FakeLibrary
) -> None:
    gate = Gate()
    library.before["warm_up"] = gate
    bridge = make_bridge(lambda: library)
    bridge.open("opening")
    bridge.submit(Lane.ENGINE, lambda given, _task: given.warm_up(), "warming up")
    assert gate.reached.wait(10)
    bridge.close()  # the fake's gate gives way when the library is closed
    assert not any(thread.name.startswith("pincite lane") for thread in threading.enumerate())


def test_a_library_that_opens_after_closing_began_is_closed_again(
    make_bridge: MakeBridge, library: FakeLibrary
) -> None:
    gate = Gate()

    def open_late() -> FakeLibrary:
        gate.wait()
        return library

    bridge = make_bridge(open_late)
    bridge.open("opening")
    assert gate.reached.wait(10)
    closer = threading.Timer(0, gate.open)  # while the interface thread waits in close()
    closer.start()
    bridge.close()
    closer.join()
    assert library.closed.is_set()


def test_submitting_after_closing_runs_nothing(bridge: Bridge, library: FakeLibrary) -> None:
    bridge.close()
    ran: list[int] = []
    bridge.submit(Lane.SHORT, lambda _library, _task: ran.append(1), "trying")
    assert ran == []
    assert not any(thread.name.startswith("pincite lane") for thread in threading.enumerate())


def test_changes_told_by_a_thread_of_the_librarys_arrive_as_a_signal(
    bridge: Bridge, library: FakeLibrary, qtbot: QtBot
) -> None:
    watching = Heard(bridge.watch("watching"))
    qtbot.waitUntil(watching.ended)
    assert library.on_change is not None
    with qtbot.waitSignal(bridge.library_changed):
        other = threading.Thread(target=library.on_change)
        other.start()
    other.join()
