"""The requests that wait in the model process, best rank first, oldest first within a rank."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pincite.engine.protocol import Rank


@dataclass(frozen=True, slots=True)
class Request:
    """Something asked of the model process. `cancelled` is set when nobody waits for it any more."""

    id: int
    rank: Rank
    message: dict[str, Any]
    cancelled: threading.Event = field(default_factory=threading.Event)


class Inbox:
    """Filled by one thread, emptied by another. A cancelled request is not given out any more."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: list[Request] = []
        self._given_out: dict[int, Request] = {}
        self._closed = False

    def put(self, message: dict[str, Any]) -> None:
        """Add a request."""
        request = Request(int(message["id"]), Rank(message["rank"]), message)
        with self._changed:
            self._waiting.append(request)
            self._changed.notify()

    def cancel(self, request_id: int) -> None:
        """Take a request back, or tell whoever works on it."""
        with self._changed:
            for request in [*self._waiting, *self._given_out.values()]:
                if request.id == request_id:
                    request.cancelled.set()
            self._waiting = [request for request in self._waiting if request.id != request_id]

    def close(self) -> None:
        """Nothing more will come."""
        with self._changed:
            self._closed = True
            self._changed.notify()

    def empty(self) -> bool:
        """Whether nothing waits."""
        with self._changed:
            return not self._waiting

    def next(self) -> Request | None:
        """The most urgent request, waiting for one; None once closed and empty."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._closed)
            return self._taken(lambda request: True)

    def next_before(self, rank: Rank, unless: Callable[[Request], bool]) -> Request | None:
        """The most urgent request of a better rank than `rank` that `unless` does not hold back, if one waits."""
        with self._changed:
            return self._taken(lambda request: request.rank < rank and not unless(request))

    def done(self, request: Request) -> None:
        """Forget a request that was given out."""
        with self._changed:
            self._given_out.pop(request.id, None)

    def _taken(self, wanted: Callable[[Request], bool]) -> Request | None:
        candidates = [request for request in self._waiting if wanted(request)]
        if not candidates:
            return None
        request = min(candidates, key=lambda request: request.rank)  # the oldest of the best: min takes the first
        self._waiting.remove(request)
        self._given_out[request.id] = request
        return request
