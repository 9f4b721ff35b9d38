"""One running model process: hands each of its answers to the caller that waits for it, and notices its end.

A thread reads what the child says. It also counts the time in which the child says nothing, in turns of `POLL_S`
rather than by a clock, so that a laptop that slept has not been waiting.
"""

from __future__ import annotations

import logging
import queue
import signal
import threading
from dataclasses import dataclass, field
from typing import Any, Protocol

from pincite.engine.protocol import SILENCE_LIMIT_S, EngineConfig, Event, Op, Phase
from pincite.errors import BugError, Cancelled, EngineError, ModelError, PinciteError, error_for
from pincite.process import ChildDied, Frame, Message

logger = logging.getLogger(__name__)

POLL_S = 1.0
JOIN_S = 10.0


class ChildProcess(Protocol):
    """What is needed of a child process; `pincite.process.Child` has it."""

    def send(self, message: Message, block: bytes = b"") -> None:
        """Send a frame. Raises ChildDied."""

    def receive(self, timeout_s: float | None = None) -> Frame:
        """The next frame. Raises TimeoutError or ChildDied."""

    def stop(self) -> None:
        """End the child. Returns when it is gone."""


@dataclass(frozen=True, slots=True)
class Pending:
    """A request that was sent. Its replies end with a DONE frame or an error."""

    id: int
    replies: queue.SimpleQueue[Frame | PinciteError] = field(default_factory=queue.SimpleQueue)


class Connection:
    """A model process and the requests it is working on. Safe to use from several threads."""

    def __init__(self, child: ChildProcess, config: EngineConfig, idle_limit_s: float) -> None:
        self._child = child
        self._idle_limit_s = idle_limit_s
        self._lock = threading.Lock()
        self._pending: dict[int, Pending] = {}
        self._requests = 0
        self._end: PinciteError | None = None
        self._phase = Phase.STARTING
        self._subject = ""
        self._silent_s = 0.0
        self._refused = 0
        self._reader = threading.Thread(target=self._read, name="engine replies", daemon=True)
        self._reader.start()
        self._send(config.message())

    @property
    def alive(self) -> bool:
        """Whether requests can still be made."""
        return self._end is None

    @property
    def end(self) -> PinciteError | None:
        """Why no more requests can be made."""
        return self._end

    @property
    def refused(self) -> int:
        """How many outbound connections the child has refused."""
        return self._refused

    def request(self, message: Message) -> Pending | None:
        """Send a request; None when the process has ended and another must be started."""
        with self._lock:
            if self._end is not None:
                return None
            self._requests += 1
            pending = Pending(self._requests)
            self._pending[pending.id] = pending
            self._silent_s = 0.0
        self._send({"id": pending.id, **message})
        return pending

    def abandon(self, pending: Pending) -> None:
        """Tell the child to stop working on a request. Nothing more is delivered for it."""
        with self._lock:
            waited_for = self._pending.pop(pending.id, None) is not None
        if waited_for:
            self._send({"op": Op.CANCEL, "id": pending.id})

    def stop(self) -> None:
        """End the process. Whoever waits for it gets Cancelled. Returns when process and thread are gone."""
        self._finish(Cancelled("Stopped, because the model process was closed."))
        if self._reader is not threading.current_thread():
            self._reader.join(JOIN_S)

    def _send(self, message: dict[str, Any]) -> None:
        try:
            self._child.send(message)
        except ChildDied:
            pass  # the reading thread learns it too and tells everyone who waits

    def _read(self) -> None:
        while True:
            try:
                frame = self._child.receive(POLL_S)
            except TimeoutError:
                if self._tolerated(POLL_S):
                    continue
                return
            except ChildDied as death:
                self._mourn(death)
                return
            try:
                self._deliver(frame)
            except (KeyError, TypeError, ValueError) as error:
                self._finish(_misunderstood(error))
                return

    def _mourn(self, death: ChildDied) -> None:
        if self._end is None:
            logger.warning("The model process ended: status %s while %s", death.status, self._phase)
        self._finish(self._error_of(death))

    def _tolerated(self, more_s: float) -> bool:
        """Whether the child may stay silent for longer; ends it when not."""
        with self._lock:
            self._silent_s += more_s
            silent_s, idle, phase = self._silent_s, not self._pending, self._phase
        if idle:
            if silent_s < self._idle_limit_s:
                return True
            logger.info("The models are freed after %.0f s without work", silent_s)
            return not self._finish(EngineError("The models were freed while unused."), only_if_idle=True)
        if silent_s < SILENCE_LIMIT_S[phase]:
            return True
        logger.warning("The model process was ended: silent for %.0f s while %s", silent_s, phase)
        self._finish(
            EngineError("The model process did not answer and was ended; it starts again with the next request.")
        )
        return False

    def _deliver(self, frame: Frame) -> None:
        message = frame.message
        event = message.get("event")
        with self._lock:
            self._silent_s = 0.0
            if event == Event.PHASE:
                self._phase, self._subject = Phase(message["phase"]), str(message.get("subject", ""))
                return
            if event == Event.REFUSED:
                self._refused = int(message["total"])
                return
            pending = self._pending.get(message["id"])
            if event in (Event.DONE, Event.ERROR):
                self._pending.pop(message["id"], None)
        if pending is None:
            return  # an answer to a request that was cancelled meanwhile
        if event == Event.ERROR:
            pending.replies.put(error_for(str(message["code"]), str(message["sentence"])))
        elif event != Event.PROGRESS:
            pending.replies.put(frame)

    def _finish(self, error: PinciteError, only_if_idle: bool = False) -> bool:
        """End the child and give `error` to whoever waits; False when a request came in the way of `only_if_idle`."""
        with self._lock:
            if only_if_idle and self._pending:
                return False
            if self._end is not None:
                return True
            self._end = error
            left, self._pending = list(self._pending.values()), {}
        try:
            self._child.stop()
        finally:  # whatever happens here, nobody may be left waiting
            for pending in left:
                pending.replies.put(error_for(error.code, str(error)))  # one for each: they are raised in threads
        return True

    def _error_of(self, death: ChildDied) -> PinciteError:
        if self._phase is Phase.LOADING and self._subject and not _killed(death.status):
            return ModelError(
                f"The model process crashed while it loaded {self._subject}, which is probably damaged or not meant "
                "for it: `pincite models install` mends the models that come with Pincite."
            )
        if self._phase is Phase.STARTING:
            reason = death.last_words.strip().splitlines()[-1:] or [f"status {death.status}"]
            return EngineError(f"The model process could not start ({reason[0]}).")
        how = "it was killed, most often for lack of memory" if _killed(death.status) else f"status {death.status}"
        return EngineError(f"The model process ended unexpectedly ({how}); it starts again with the next request.")


def _killed(status: int | None) -> bool:
    """Whether a process was ended from outside: by the system when memory ran out, or by someone."""
    outside = [-getattr(signal, name) for name in ("SIGKILL", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    return status in outside


def _misunderstood(error: Exception) -> BugError:
    return BugError(f"The model process said something that makes no sense ({type(error).__name__}: {error}).")
