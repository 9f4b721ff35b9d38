"""The model process: `python -m pincite.engine.server`, started by `pincite.engine.client`.

One thread reads requests into an inbox; the main thread works, always on the request of the best rank. An answer is
written one step at a time, and between two steps whatever is more urgent is served. The process ends with its input.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Generator
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from pincite.engine.inbox import Inbox, Request
from pincite.engine.loaded import LoadedModels
from pincite.engine.protocol import VECTOR_TYPE, EngineConfig, Event, GenerationStats, Op, Phase, Rank
from pincite.errors import BugError, EngineError, ModelError, PinciteError, place_of
from pincite.privacy import refused_connections, seal_process
from pincite.process import Channel, parent_channel

# How long a thread of llama.cpp spins while it waits for the others (GNU OpenMP's default is a thousand times that).
# When another process has one of the cores, as when documents are being read, long spinning makes writing ten times
# slower; this much costs a few per cent when nothing else runs.
SPIN_COUNT = 300

Writing = Generator[str, None, GenerationStats]


@dataclass(frozen=True, slots=True)
class Answering:
    """The answer that is being written."""

    request: Request
    writing: Writing


class Server:
    """Works off an inbox. Everything in it happens in one thread."""

    def __init__(self, channel: Channel, inbox: Inbox, load: Callable[[Callable[[str], None]], LoadedModels]) -> None:
        self._channel = channel
        self._inbox = inbox
        self._models = load(self._say_loading)
        self._loading = ""
        self._answering: Answering | None = None
        self._refused_told = 0

    def run(self) -> None:
        """Work until the inbox is closed."""
        self._say_phase(Phase.IDLE)
        while True:
            if self._answering is not None:
                request = self._inbox.next_before(Rank.ANSWER, unless=self._wants_other_model)
            else:
                request = self._inbox.next()
                if request is None:
                    return
                self._say_phase(Phase.WORKING)
            if request is not None:
                self._attempt(request, self._serve)
            elif self._answering is not None:
                self._attempt(self._answering.request, self._write_on)
            self._tell_refused()
            if self._answering is None and self._inbox.empty():
                self._say_phase(Phase.IDLE)

    def _attempt(self, request: Request, work: Callable[[Request], None]) -> None:
        try:
            work(request)
        except Exception as error:  # noqa: BLE001 - the boundary of this process: who asked is told what went wrong
            if self._answering is not None and self._answering.request is request:
                self._answering = None
            self._fail(request, error)
        finally:
            self._loading = ""

    def _wants_other_model(self, request: Request) -> bool:
        """Whether a request would take away the language model that the current answer is written with."""
        wanted = request.message.get("model", "")
        return bool(wanted) and wanted != self._models.language_model_name

    def _serve(self, request: Request) -> None:
        message = request.message
        op = Op(message["op"])
        if op is Op.GENERATE:
            writing = self._models.language_model(message["model"]).write(
                message["messages"], message["grammar"], message["max_tokens"], request.cancelled.is_set
            )
            self._answering = Answering(request, writing)
        elif op is Op.EMBED_PASSAGES:
            self._send_vectors(request, self._models.embedder().passages(message["texts"]))
        elif op is Op.EMBED_QUERY:
            self._send_vectors(request, self._models.embedder().queries(message["texts"]))
        elif op is Op.RERANK:
            self._done(request, scores=self._models.reranker().scores(message["query"], message["texts"]))
        elif op is Op.COUNT:
            self._done(request, counts=self._models.language_model(message["model"]).count(message["texts"]))
        elif op is Op.LOAD:
            self._load(message["model"])
            self._done(request)
        else:
            raise BugError(f"The model process cannot {op}.")

    def _load(self, model: str) -> None:
        self._models.embedder()
        self._models.reranker()
        if model:
            self._models.language_model(model)

    def _write_on(self, request: Request) -> None:
        """One step of the answer: a slice of its prompt, or a token."""
        assert self._answering is not None
        if request.cancelled.is_set():
            self._answering.writing.close()
            self._answering = None
            self._inbox.done(request)
            return
        try:
            text = next(self._answering.writing)
        except StopIteration as end:
            self._answering = None
            self._done(request, stats=asdict(end.value))
        else:
            self._send(request, Event.TEXT if text else Event.PROGRESS, text=text)

    def _fail(self, request: Request, error: Exception) -> None:
        told = self._error_to_tell(error)
        if isinstance(told, BugError) or not isinstance(error, PinciteError):
            traceback.print_exception(error)
        self._inbox.done(request)
        self._send(request, Event.ERROR, code=told.code, sentence=str(told))

    def _error_to_tell(self, error: Exception) -> PinciteError:
        if isinstance(error, PinciteError):
            return error
        if isinstance(error, MemoryError):
            return EngineError("There is not enough memory for the model.")
        if self._loading:
            # Loading an encoder runs what its folder describes, in libraries that promise no kind of error.
            return ModelError(
                f"The model in {self._loading} cannot be loaded ({type(error).__name__}): it is damaged, or not of a "
                "kind that can be used here."
            )
        return BugError(f"The model process made a mistake of its own ({place_of(error)}).")

    def _send_vectors(self, request: Request, vectors: Any) -> None:
        self._inbox.done(request)
        block = vectors.astype(VECTOR_TYPE).tobytes()
        self._channel.send({"id": request.id, "event": Event.DONE, "shape": list(vectors.shape)}, block)

    def _done(self, request: Request, **fields: Any) -> None:
        self._inbox.done(request)
        self._send(request, Event.DONE, **fields)

    def _send(self, request: Request, event: Event, **fields: Any) -> None:
        self._channel.send({"id": request.id, "event": event, **fields})

    def _say_phase(self, phase: Phase, subject: str = "") -> None:
        self._channel.send({"event": Event.PHASE, "phase": phase, "subject": subject})

    def _say_loading(self, subject: str) -> None:
        """Called by LoadedModels before it loads `subject`, and with "" when that is done."""
        self._loading = subject
        self._say_phase(Phase.LOADING if subject else Phase.WORKING, subject)

    def _tell_refused(self) -> None:
        refused = refused_connections()
        if refused != self._refused_told:
            self._refused_told = refused
            self._channel.send({"event": Event.REFUSED, "total": refused})


def _read(channel: Channel, inbox: Inbox) -> None:
    """Fill the inbox until the parent is gone, and then end the process at once, whatever it is busy with."""
    try:
        while (frame := channel.receive()) is not None:
            if frame.message.get("op") == Op.CANCEL:
                inbox.cancel(int(frame.message["id"]))
            else:
                inbox.put(frame.message)
    finally:
        os._exit(0)


def main() -> int:
    """Serve the parent process until it closes our input."""
    os.environ.setdefault("GOMP_SPINCOUNT", str(SPIN_COUNT))
    seal_process()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C in a terminal reaches us too, but is for the parent to handle
    channel = parent_channel()
    first = channel.receive()
    if first is None:
        return 0
    inbox = Inbox()
    threading.Thread(target=_read, args=(channel, inbox), name="requests", daemon=True).start()
    Server(channel, inbox, partial(LoadedModels, EngineConfig(**first.message))).run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
