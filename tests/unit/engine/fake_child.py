"""A model process that does what a test says, and nothing by itself."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from pincite.engine.protocol import VECTOR_TYPE, Event, Op, Phase
from pincite.process import ChildDied, Frame

WAIT_S = 20.0
Answer = Callable[[dict[str, Any]], Iterable[Frame]]


def nothing(message: dict[str, Any]) -> Iterable[Frame]:
    """The answer of a child that stays silent."""
    return ()


def reply(message: dict[str, Any], event: Event = Event.DONE, block: bytes = b"", **fields: Any) -> Frame:
    """A frame that answers `message`."""
    return Frame({"id": message["id"], "event": event, **fields}, block)


def sensible(message: dict[str, Any]) -> Iterable[Frame]:
    """Answers from which the question can be told: vectors and scores begin with the length of their text."""
    op = message["op"]
    if op in (Op.EMBED_PASSAGES, Op.EMBED_QUERY):
        vectors = np.array([[len(text), 1.0] for text in message["texts"]], dtype=VECTOR_TYPE)
        yield reply(message, block=vectors.tobytes(), shape=[len(message["texts"]), 2])
    elif op == Op.RERANK:
        yield reply(message, scores=[float(len(text)) for text in message["texts"]])
    elif op == Op.COUNT:
        yield reply(message, counts=[len(text) for text in message["texts"]])
    elif op == Op.GENERATE:
        yield reply(message, Event.PROGRESS, text="")
        yield reply(message, Event.TEXT, text="Rent is due")
        yield reply(message, Event.TEXT, text=" monthly.")
        yield reply(message, stats=stats())
    elif op == Op.LOAD:
        yield reply(message)


def stats(answer_tokens: int = 10, answer_ms: float = 500.0) -> dict[str, Any]:
    """What the child says of an answer it has written."""
    return {
        "prompt_tokens": 100,
        "reused_tokens": 60,
        "answer_tokens": answer_tokens,
        "prompt_ms": 1000.0,
        "answer_ms": answer_ms,
        "stopped": "end",
    }


class FakeChild:
    """Answers each request by `answer`. Time passes for it only when the test lets it, by `be_silent`."""

    def __init__(self, answer: Answer = sensible) -> None:
        self.answer = answer
        self.stopped = threading.Event()
        self._said: queue.SimpleQueue[Frame | Exception] = queue.SimpleQueue()
        self._sent: list[dict[str, Any]] = []
        self._changed = threading.Condition()
        self._dead: ChildDied | None = None
        self.say_phase(Phase.IDLE)

    def send(self, message: dict[str, Any], block: bytes = b"") -> None:
        if self._dead is not None:
            raise self._dead
        with self._changed:
            self._sent.append(message)
            self._changed.notify_all()
        if "id" in message and message["op"] != Op.CANCEL:
            for frame in self.answer(message):
                self.say(frame)

    def receive(self, timeout_s: float | None = None) -> Frame:
        said = self._said.get()
        if isinstance(said, ChildDied):
            self._said.put(said)
        if isinstance(said, Exception):
            raise said
        return said

    def stop(self) -> None:
        self.stopped.set()
        self.die(-15, cause="stopped")

    def say(self, frame: Frame) -> None:
        """Send a frame to the engine."""
        self._said.put(frame)

    def say_phase(self, phase: Phase, subject: str = "") -> None:
        """Tell the engine what it is busy with."""
        self.say(Frame({"event": Event.PHASE, "phase": phase, "subject": subject}))

    def be_silent(self, polls: int) -> None:
        """Let the engine look for a frame so many times in vain."""
        for _ in range(polls):
            self._said.put(TimeoutError())

    def die(self, status: int, cause: str = "", last_words: str = "") -> None:
        """End, as a process ends."""
        self._dead = ChildDied(status, cause, last_words)
        self._said.put(self._dead)

    def requests(self, op: Op | None = None) -> list[dict[str, Any]]:
        """What the engine has sent so far, its configuration left out."""
        with self._changed:
            return [message for message in self._sent if "op" in message and op in (None, message["op"])]

    def wait_for(self, op: Op, count: int = 1) -> dict[str, Any]:
        """The request number `count` of its kind, once it was sent."""
        with self._changed:
            wanted = lambda: [message for message in self._sent if message.get("op") == op]  # noqa: E731
            assert self._changed.wait_for(lambda: len(wanted()) >= count, WAIT_S), f"the engine never sent {op}"
            return wanted()[count - 1]


class FakeChildren:
    """Spawns the children given to it, one after the other."""

    def __init__(self, *children: FakeChild) -> None:
        self.waiting = list(children)
        self.started: list[FakeChild] = []

    def __call__(self) -> FakeChild:
        child = self.waiting.pop(0)
        self.started.append(child)
        return child
