"""The engine as the rest of the application sees it: blocking calls, safe from any thread.

The models live in a child process (`pincite.engine.server`) that is started when something is first asked of it,
freed when nothing was for a while, and replaced when it dies. A request that was lost with it fails with EngineError;
the next one starts a new child.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from typing import Any

import numpy as np
import numpy.typing as npt

from pincite.engine.connection import ChildProcess, Connection, Pending
from pincite.engine.protocol import VECTOR_TYPE, EngineConfig, Event, GenerationStats, Op, Rank
from pincite.errors import Cancelled, EngineError, PinciteError
from pincite.model import EngineStatus
from pincite.process import Child, Frame, Message
from pincite.settings import Settings

CANCEL_POLL_S = 0.05
# Small, so that a question that comes in waits for a fraction of a second; larger ones are no faster on a CPU.
PASSAGES_PER_REQUEST = 8
PAIRS_PER_REQUEST = 32

Vectors = npt.NDArray[np.float32]


def never() -> bool:
    """The `cancelled` of a caller that cannot be."""
    return False


def spawn_engine() -> ChildProcess:
    """Start a model process."""
    return Child("pincite.engine.server")


class Engine:
    """Embeds, ranks, counts and writes, by models in a child process. Starts nothing until it is used.

    Every method may raise ModelError (a model is missing, damaged or unfit), EngineError (the process died or did not
    answer; the next call starts another) and Cancelled (also after `close`).
    """

    def __init__(self, settings: Settings, *, spawn: Callable[[], ChildProcess] = spawn_engine) -> None:
        self._config = EngineConfig.of(settings)
        self._idle_limit_s = settings.engine_idle_s
        self._spawn = spawn
        self._lock = threading.Lock()
        self._connection: Connection | None = None
        self._closed = False
        self._refused_before = 0
        self._model = settings.answer_model
        self._tokens_per_s: float | None = None

    def embed_passages(
        self, texts: Sequence[str], *, cancelled: Callable[[], bool] = never, urgent: bool = False
    ) -> Vectors:
        """Unit vectors of `texts`, float32 of shape (texts, dimensions); of shape (0, 0) for no texts.

        Gives way to questions after every few texts, unless `urgent`. What goes beyond the tokens that the model
        reads (512 for the default one) has no part in its vector.
        """
        rank = Rank.QUESTION if urgent else Rank.INDEXING
        vectors: list[Vectors | None] = [None] * len(texts)
        for batch in _by_length(texts, PASSAGES_PER_REQUEST):
            message = {"op": Op.EMBED_PASSAGES, "rank": rank, "texts": [texts[index] for index in batch]}
            for index, vector in zip(batch, _vectors(self._answer(message, cancelled)), strict=True):
                vectors[index] = vector
        rows = [vector for vector in vectors if vector is not None]
        return np.stack(rows) if rows else np.zeros((0, 0), dtype=np.float32)

    def embed_query(self, text: str, *, cancelled: Callable[[], bool] = never) -> Vectors:
        """The unit vector of a question, with the prefix that the model's authors ask for."""
        message = {"op": Op.EMBED_QUERY, "rank": Rank.QUESTION, "texts": [text]}
        vector: Vectors = _vectors(self._answer(message, cancelled))[0]
        return vector

    def rerank(self, query: str, texts: Sequence[str], *, cancelled: Callable[[], bool] = never) -> list[float]:
        """How well each text answers `query`, as the model's own logits: about -11 (not at all) to 11.

        Scores of one query can be compared with each other. The logistic function makes them shares from 0 to 1.
        """
        scores = [0.0] * len(texts)
        for batch in _by_length(texts, PAIRS_PER_REQUEST):
            message = {
                "op": Op.RERANK,
                "rank": Rank.QUESTION,
                "query": query,
                "texts": [texts[index] for index in batch],
            }
            for index, score in zip(batch, self._answer(message, cancelled).message["scores"], strict=True):
                scores[index] = float(score)
        return scores

    def count_answer_tokens(
        self, model: str, texts: Sequence[str], *, cancelled: Callable[[], bool] = never
    ) -> list[int]:
        """How many tokens each text has for the language model `model`, which is loaded for it."""
        message = {"op": Op.COUNT, "rank": Rank.QUESTION, "model": model, "texts": list(texts)}
        return [int(count) for count in self._answer(message, cancelled).message["counts"]]

    def generate(
        self,
        messages: Sequence[dict[str, str]],
        grammar: str,
        *,
        model: str,
        max_tokens: int,
        cancelled: Callable[[], bool] = never,
    ) -> Generator[str, None, GenerationStats]:
        """Yield an answer to `messages` (each with `role` and `content`) piece by piece; return what it took.

        The text follows `grammar` (GBNF, from its rule `root`; "" for none) unless it was cut by `max_tokens` or ran
        in circles, and is the same for the same input. Marks of the chat format inside a `content` count as plain
        text. With `max_tokens` 0 the prompt is only read, which makes the next one that begins the same faster.

        The other methods may be used, from the same thread too, while an answer is being written. Closing the
        generator stops the writing. Raises UsageError when the messages are too long for the model, BugError when
        the grammar is wrong.
        """
        self._model = model
        message = {
            "op": Op.GENERATE,
            "rank": Rank.ANSWER,
            "model": model,
            "messages": list(messages),
            "grammar": grammar,
            "max_tokens": max_tokens,
        }
        with closing(self._replies(message, cancelled)) as replies:
            for frame in replies:
                if frame.message["event"] == Event.TEXT:
                    yield str(frame.message["text"])
        stats = GenerationStats(**frame.message["stats"])
        self._tokens_per_s = stats.tokens_per_s or self._tokens_per_s
        return stats

    def warm_up(self, model: str = "", *, cancelled: Callable[[], bool] = never) -> None:
        """Load the encoders, and the language model `model` where one is named, so that a question need not wait."""
        self._answer({"op": Op.LOAD, "rank": Rank.QUESTION, "model": model}, cancelled)

    def status(self) -> EngineStatus:
        """What the model process is doing."""
        connection = self._connection
        running = connection is not None and connection.alive
        return EngineStatus(running=running, model=self._model, tokens_per_s=self._tokens_per_s)

    def refused_connections(self) -> int:
        """How many outbound connections were refused in the model processes so far."""
        with self._lock:
            return self._refused_before + (self._connection.refused if self._connection else 0)

    def stop(self) -> None:
        """Free the models. Whoever waits for them gets Cancelled; the next request loads them again."""
        with self._lock:
            connection = self._connection
        if connection is not None:
            connection.stop()

    def close(self) -> None:
        """Free the models for good: every later request raises Cancelled."""
        with self._lock:
            self._closed = True
        self.stop()

    def _answer(self, message: Message, cancelled: Callable[[], bool]) -> Frame:
        """The one frame that answers a request."""
        with closing(self._replies(message, cancelled)) as replies:
            return next(replies)

    def _replies(self, message: Message, cancelled: Callable[[], bool]) -> Generator[Frame, None, None]:
        """The frames that answer a request, DONE last. The request is withdrawn when the caller stops early."""
        connection, pending = self._sent(message)
        try:
            done = False
            while not done:
                frame = _next_reply(pending, cancelled)
                done = frame.message["event"] == Event.DONE
                yield frame
        finally:
            connection.abandon(pending)

    def _sent(self, message: Message) -> tuple[Connection, Pending]:
        with self._lock:
            if self._closed:
                raise Cancelled("Stopped, because the model process was closed.")
            if self._connection is not None and (pending := self._connection.request(message)) is not None:
                return self._connection, pending
            self._refused_before += self._connection.refused if self._connection else 0
            self._connection = Connection(self._started(), self._config, self._idle_limit_s)
            pending = self._connection.request(message)
            if pending is None:  # it ended as soon as it was started
                raise self._connection.end or EngineError("The model process could not start.")
            return self._connection, pending

    def _started(self) -> ChildProcess:
        try:
            return self._spawn()
        except OSError as error:
            raise EngineError(f"The model process could not be started: {error.strerror or error}.") from error


def _next_reply(pending: Pending, cancelled: Callable[[], bool]) -> Frame:
    while True:
        if cancelled():
            raise Cancelled("Stopped, as asked.")
        try:
            reply = pending.replies.get(timeout=CANCEL_POLL_S)
        except queue.Empty:
            continue
        if isinstance(reply, PinciteError):
            raise reply
        return reply


def _by_length(texts: Sequence[str], size: int) -> Iterator[list[int]]:
    """The positions of `texts` in batches of about equal length, so that little of a batch is padding."""
    order = sorted(range(len(texts)), key=lambda index: len(texts[index]))
    for start in range(0, len(order), size):
        yield order[start : start + size]


def _vectors(frame: Frame) -> Vectors:
    shape: Any = frame.message["shape"]
    return np.frombuffer(frame.block, dtype=VECTOR_TYPE).astype(np.float32, copy=False).reshape(shape)
