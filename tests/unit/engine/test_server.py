"""The model process over models that are not real: what it does first, and what it says of failures."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any

import numpy as np
import pytest

from pincite.engine.inbox import Inbox
from pincite.engine.protocol import Event, GenerationStats, Op, Phase, Rank
from pincite.engine.server import Server
from pincite.errors import Cancelled, ModelError

STATS = GenerationStats(7, 0, 3, 1.0, 1.0, "end")


class FakeChannel:
    """Keeps what is sent."""

    def __init__(self) -> None:
        self.frames: list[tuple[dict[str, Any], bytes]] = []

    def send(self, message: dict[str, Any], block: bytes = b"") -> None:
        self.frames.append((message, block))

    def said(self, *events: Event) -> list[tuple[int, Event]]:
        """Request and event, in order."""
        return [(message["id"], message["event"]) for message, _ in self.frames if message["event"] in events]

    def phases(self) -> list[tuple[Phase, str]]:
        """What it said it was busy with."""
        return [(m["phase"], m["subject"]) for m, _ in self.frames if m["event"] == Event.PHASE]


class FakeModels:
    """Models that answer at once. `between` is called at each step of an answer, `broken` when one is loaded."""

    def __init__(self, say_loading: Callable[[str], None]) -> None:
        self.say_loading = say_loading
        self.language_model_name = ""
        self.between: Callable[[int], None] = lambda step: None
        self.broken: Callable[[], None] = lambda: None
        self.closed = 0

    def embedder(self) -> FakeModels:
        return self._loaded("/models/embedder")

    def reranker(self) -> FakeModels:
        return self._loaded("/models/reranker")

    def language_model(self, name: str) -> FakeModels:
        self.language_model_name = name
        return self._loaded(f"/models/{name}.gguf")

    def _loaded(self, subject: str) -> FakeModels:
        self.say_loading(subject)
        self.broken()
        self.say_loading("")
        return self

    def passages(self, texts: Sequence[str]) -> Any:
        return np.array([[len(text), 0.5] for text in texts], dtype=np.float32)

    queries = passages

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        return [float(len(text)) for text in texts]

    def count(self, texts: Sequence[str]) -> list[int]:
        return [len(text) for text in texts]

    def write(
        self, messages: Any, grammar: str, max_tokens: int, aborted: Callable[[], bool]
    ) -> Generator[str, None, GenerationStats]:
        try:
            for step, text in enumerate(["", "Rent", " is", " due"]):
                self.between(step)
                if aborted():
                    raise Cancelled("Stopped, as asked.")
                yield text
            return STATS
        finally:
            self.closed += 1


class Bench:
    """A server with everything around it."""

    def __init__(self) -> None:
        self.channel = FakeChannel()
        self.inbox = Inbox()
        self.server = Server(self.channel, self.inbox, self.load)  # type: ignore[arg-type]

    def load(self, say_loading: Callable[[str], None]) -> Any:
        self.models = FakeModels(say_loading)
        return self.models

    def ask(self, number: int, op: Op, rank: Rank, **fields: Any) -> None:
        """Put a request."""
        self.inbox.put({"id": number, "op": op, "rank": rank, **fields})

    def ask_for_answer(self, number: int, model: str = "Small") -> None:
        """Put a request for an answer."""
        self.ask(number, Op.GENERATE, Rank.ANSWER, model=model, messages=[], grammar="", max_tokens=9)

    def run(self) -> FakeChannel:
        """Work off what was asked."""
        self.inbox.close()
        self.server.run()
        return self.channel


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_vectors_go_as_float32(bench: Bench) -> None:
    bench.ask(1, Op.EMBED_PASSAGES, Rank.INDEXING, texts=["a", "abc"])
    message, block = next(frame for frame in bench.run().frames if frame[0]["event"] == Event.DONE)
    assert message["shape"] == [2, 2]
    assert np.frombuffer(block, "<f4").tolist() == [1.0, 0.5, 3.0, 0.5]


def test_each_kind_of_request_is_answered_once(bench: Bench) -> None:
    bench.ask(1, Op.EMBED_QUERY, Rank.QUESTION, texts=["a"])
    bench.ask(2, Op.RERANK, Rank.QUESTION, query="q", texts=["ab"])
    bench.ask(3, Op.COUNT, Rank.QUESTION, model="Small", texts=["abc"])
    bench.ask(4, Op.LOAD, Rank.QUESTION, model="Small")
    bench.ask_for_answer(5)
    channel = bench.run()
    assert channel.said(Event.DONE, Event.ERROR) == [(number, Event.DONE) for number in range(1, 6)]
    done = {message["id"]: message for message, _ in channel.frames if message["event"] == Event.DONE}
    assert done[2]["scores"] == [2.0]
    assert done[3]["counts"] == [3]
    assert GenerationStats(**done[5]["stats"]) == STATS
    assert "".join(m["text"] for m, _ in channel.frames if m["event"] == Event.TEXT) == "Rent is due"


def test_a_question_is_served_between_two_tokens_and_indexing_is_not(bench: Bench) -> None:
    def more_work(step: int) -> None:
        if step == 1:
            bench.ask(2, Op.EMBED_PASSAGES, Rank.INDEXING, texts=["a"])
            bench.ask(3, Op.RERANK, Rank.QUESTION, query="q", texts=["a"])

    bench.models.between = more_work
    bench.ask_for_answer(1)
    assert bench.run().said(Event.PROGRESS, Event.TEXT, Event.DONE) == [
        (1, Event.PROGRESS),
        (1, Event.TEXT),
        (3, Event.DONE),
        (1, Event.TEXT),
        (1, Event.TEXT),
        (1, Event.DONE),
        (2, Event.DONE),
    ]


def test_answers_are_written_one_after_the_other(bench: Bench) -> None:
    bench.ask_for_answer(1)
    bench.ask_for_answer(2)
    events = bench.run().said(Event.TEXT, Event.DONE)
    assert [number for number, _ in events] == [1] * 4 + [2] * 4


def test_another_model_waits_for_the_end_of_the_answer(bench: Bench) -> None:
    def count(step: int) -> None:
        if step == 1:
            bench.ask(2, Op.COUNT, Rank.QUESTION, model="Large", texts=["a"])
            bench.ask(3, Op.COUNT, Rank.QUESTION, model="Small", texts=["a"])

    bench.models.between = count
    bench.ask_for_answer(1, model="Small")
    assert [number for number, _ in bench.run().said(Event.DONE)] == [3, 1, 2]


def test_a_cancelled_answer_is_dropped_between_two_tokens(bench: Bench) -> None:
    bench.models.between = lambda step: bench.inbox.cancel(1) if step == 2 else None
    bench.ask_for_answer(1)
    bench.ask(2, Op.EMBED_QUERY, Rank.QUESTION, texts=["a"])
    channel = bench.run()
    assert channel.said(Event.TEXT, Event.DONE)[-1] == (1, Event.TEXT)
    assert channel.said(Event.DONE) == [(2, Event.DONE)]
    assert bench.models.closed == 1, "what the model holds for the answer is given back"


def test_phases_tell_what_is_loaded(bench: Bench) -> None:
    bench.ask(1, Op.EMBED_QUERY, Rank.QUESTION, texts=["a"])
    assert bench.run().phases() == [
        (Phase.IDLE, ""),
        (Phase.WORKING, ""),
        (Phase.LOADING, "/models/embedder"),
        (Phase.WORKING, ""),
        (Phase.IDLE, ""),
    ]


def failure(channel: FakeChannel) -> tuple[str, str]:
    """Code and sentence of the one error that was sent."""
    errors = [message for message, _ in channel.frames if message["event"] == Event.ERROR]
    assert len(errors) == 1
    return errors[0]["code"], errors[0]["sentence"]


def test_an_error_of_ours_goes_over_as_it_is(bench: Bench) -> None:
    def broken() -> None:
        raise ModelError("The model Small is not installed: run `pincite models install`.")

    bench.models.broken = broken
    bench.ask_for_answer(1)
    assert failure(bench.run()) == ("model", "The model Small is not installed: run `pincite models install`.")


def test_whatever_a_library_raises_while_loading_is_about_the_model(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    class InvalidProtobuf(Exception):
        pass

    def broken() -> None:
        raise InvalidProtobuf("Load model failed")

    bench.models.broken = broken
    bench.ask(1, Op.EMBED_QUERY, Rank.QUESTION, texts=["a"])
    code, sentence = failure(bench.run())
    assert code == "model"
    assert sentence.startswith("The model in /models/embedder cannot be loaded (InvalidProtobuf)")
    assert "Load model failed" in capsys.readouterr().err


def test_a_mistake_of_ours_says_where_and_leaves_the_process_working(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.ask(1, Op.RERANK, Rank.QUESTION, query="q")  # no texts
    bench.ask(2, Op.RERANK, Rank.QUESTION, query="q", texts=["a"])
    channel = bench.run()
    code, sentence = failure(channel)
    assert code == "bug"
    assert sentence.startswith("The model process made a mistake of its own (KeyError in server.py, line ")
    assert channel.said(Event.DONE) == [(2, Event.DONE)]
    assert "KeyError" in capsys.readouterr().err


def test_an_answer_that_fails_makes_room_for_the_next(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    def stumble(step: int) -> None:
        if step == 2 and bench.models.closed == 0:
            raise MemoryError

    bench.models.between = stumble
    bench.ask_for_answer(1)
    bench.ask_for_answer(2)
    channel = bench.run()
    assert failure(channel) == ("engine", "There is not enough memory for the model.")
    assert channel.said(Event.DONE) == [(2, Event.DONE)]
    assert "MemoryError" in capsys.readouterr().err
