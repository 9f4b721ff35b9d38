"""The engine's own side: order, cancelling, and what becomes of a request when the process ends."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pincite.engine.client import PASSAGES_PER_REQUEST, Engine
from pincite.engine.connection import POLL_S
from pincite.engine.protocol import SILENCE_LIMIT_S, Event, GenerationStats, Op, Phase, Rank
from pincite.errors import BugError, Cancelled, EngineError, ModelError
from pincite.process import Frame
from pincite.settings import Settings
from tests.unit.engine.fake_child import WAIT_S, FakeChild, FakeChildren, nothing, reply, sensible, stats

MESSAGES = [{"role": "user", "content": "When is rent due?"}]
IDLE_S = 5.0


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path, library_dir=tmp_path / "library", engine_idle_s=IDLE_S)


@pytest.fixture
def engine_of(settings: Settings) -> Iterator[Callable[..., Engine]]:
    """Makes an engine over the given children and closes it afterwards."""
    engines: list[Engine] = []

    def make(*children: FakeChild) -> Engine:
        engines.append(Engine(settings, spawn=FakeChildren(*children)))
        return engines[-1]

    yield make
    for engine in engines:
        engine.close()


@pytest.fixture
def beside() -> Iterator[ThreadPoolExecutor]:
    """Runs calls that wait."""
    with ThreadPoolExecutor() as executor:
        yield executor


def polls(silence_s: float) -> int:
    """How many looks in vain make up so much silence."""
    return int(silence_s / POLL_S)


def written(engine: Engine, **options: Any) -> tuple[list[str], GenerationStats]:
    """An answer's pieces and what they took."""
    answer = engine.generate(MESSAGES, "", model="Small", max_tokens=50, **options)
    pieces: list[str] = []
    while True:
        try:
            pieces.append(next(answer))
        except StopIteration as end:
            return pieces, end.value


def test_nothing_is_started_before_it_is_needed(settings: Settings) -> None:
    children = FakeChildren(FakeChild())
    engine = Engine(settings, spawn=children)
    assert not engine.status().running
    assert engine.embed_passages([]).shape == (0, 0)
    assert engine.rerank("rent", []) == []
    assert not children.started
    engine.embed_query("rent")
    assert engine.status().running
    assert len(children.started) == 1
    engine.close()


def test_vectors_come_in_the_order_of_their_texts(engine_of: Callable[..., Engine]) -> None:
    child = FakeChild()
    texts = ["x" * (1 + 7 * index % 29) for index in range(3 * PASSAGES_PER_REQUEST + 1)]
    vectors = engine_of(child).embed_passages(texts)
    assert vectors.dtype == np.float32
    assert vectors[:, 0].tolist() == [len(text) for text in texts]
    batches = [[len(text) for text in request["texts"]] for request in child.requests(Op.EMBED_PASSAGES)]
    assert len(batches) == 4
    assert [length for batch in batches for length in batch] == sorted(map(len, texts)), (
        "texts of like length go together"
    )


def test_indexing_ranks_below_questions(engine_of: Callable[..., Engine]) -> None:
    child = FakeChild()
    engine = engine_of(child)
    engine.embed_passages(["indexing"])
    engine.embed_passages(["a citation to check"], urgent=True)
    engine.embed_query("a question")
    engine.rerank("a question", ["a passage"])
    written(engine)
    ranks = [request["rank"] for request in child.requests()]
    assert ranks == [Rank.INDEXING, Rank.QUESTION, Rank.QUESTION, Rank.QUESTION, Rank.ANSWER]
    assert Rank.QUESTION < Rank.ANSWER < Rank.INDEXING


def test_the_vector_of_a_question_is_one_row(engine_of: Callable[..., Engine]) -> None:
    assert engine_of(FakeChild()).embed_query("rent").tolist() == [4.0, 1.0]


def test_scores_come_in_the_order_of_their_texts(engine_of: Callable[..., Engine]) -> None:
    texts = ["x" * (1 + 11 * index % 71) for index in range(70)]
    assert engine_of(FakeChild()).rerank("rent", texts) == [float(len(text)) for text in texts]


def test_tokens_are_counted_by_the_model_named(engine_of: Callable[..., Engine]) -> None:
    child = FakeChild()
    assert engine_of(child).count_answer_tokens("Small", ["a", "abc"]) == [1, 3]
    assert child.wait_for(Op.COUNT)["model"] == "Small"


def test_an_answer_streams_and_ends_with_what_it_took(engine_of: Callable[..., Engine]) -> None:
    child = FakeChild()
    engine = engine_of(child)
    pieces, took = written(engine)
    assert pieces == ["Rent is due", " monthly."]
    assert took == GenerationStats(**stats())
    status = engine.status()
    assert (status.model, status.tokens_per_s) == ("Small", 20.0)
    assert not child.requests(Op.CANCEL), "what has ended need not be cancelled"


def test_other_work_is_done_while_an_answer_streams(engine_of: Callable[..., Engine]) -> None:
    engine = engine_of(FakeChild())
    answer = engine.generate(MESSAGES, "", model="Small", max_tokens=50)
    assert next(answer) == "Rent is due"
    assert engine.rerank("rent", ["four"]) == [4.0]
    assert next(answer) == " monthly."


def test_each_of_two_threads_gets_its_own_answer(engine_of: Callable[..., Engine], beside: ThreadPoolExecutor) -> None:
    child = FakeChild(nothing)
    engine = engine_of(child)
    first = beside.submit(engine.embed_query, "four")
    asked_first = child.wait_for(Op.EMBED_QUERY)
    second = beside.submit(engine.embed_query, "eleven char")
    asked_second = child.wait_for(Op.EMBED_QUERY, 2)
    for message in (asked_second, asked_first):
        for frame in sensible(message):
            child.say(frame)
    assert first.result(WAIT_S)[0] == 4
    assert second.result(WAIT_S)[0] == 11


def test_cancelling_returns_at_once_and_tells_the_process(
    engine_of: Callable[..., Engine], beside: ThreadPoolExecutor
) -> None:
    child = FakeChild(nothing)
    stop = threading.Event()
    waiting = beside.submit(engine_of(child).embed_passages, ["rent"], cancelled=stop.is_set)
    request = child.wait_for(Op.EMBED_PASSAGES)
    stop.set()
    with pytest.raises(Cancelled):
        waiting.result(WAIT_S)
    assert child.wait_for(Op.CANCEL)["id"] == request["id"]


def test_cancelling_stops_between_two_pieces(engine_of: Callable[..., Engine]) -> None:
    child = FakeChild()
    stop = threading.Event()
    answer = engine_of(child).generate(MESSAGES, "", model="Small", max_tokens=50, cancelled=stop.is_set)
    next(answer)
    stop.set()
    with pytest.raises(Cancelled):
        next(answer)


def test_closing_an_answer_tells_the_process(engine_of: Callable[..., Engine]) -> None:
    child = FakeChild(lambda message: [reply(message, Event.TEXT, text="Rent")])
    answer = engine_of(child).generate(MESSAGES, "", model="Small", max_tokens=50)
    next(answer)
    answer.close()
    assert child.wait_for(Op.CANCEL)["id"] == child.requests(Op.GENERATE)[0]["id"]


def test_what_comes_late_for_a_cancelled_request_is_ignored(engine_of: Callable[..., Engine]) -> None:
    child = FakeChild(nothing)
    engine = engine_of(child)
    with pytest.raises(Cancelled):
        engine.embed_query("abandoned", cancelled=lambda: True)
    late = child.requests(Op.EMBED_QUERY)[0]
    for frame in sensible(late):
        child.say(frame)
    child.answer = sensible
    assert engine.embed_query("four")[0] == 4


def test_death_fails_the_request_and_the_next_starts_another(
    engine_of: Callable[..., Engine], beside: ThreadPoolExecutor, expect_log: Callable[[str], None]
) -> None:
    expect_log("The model process ended: status -9 while working")
    child = FakeChild(nothing)
    engine = engine_of(child, FakeChild())
    waiting = beside.submit(engine.embed_query, "rent")
    child.wait_for(Op.EMBED_QUERY)
    child.say_phase(Phase.WORKING)
    child.die(-9)
    with pytest.raises(EngineError, match=r"ended unexpectedly \(it was killed.*next request\.$"):
        waiting.result(WAIT_S)
    assert engine.embed_query("four")[0] == 4


def test_death_in_the_middle_of_an_answer(engine_of: Callable[..., Engine], expect_log: Callable[[str], None]) -> None:
    expect_log("The model process ended: status -11")
    child = FakeChild(lambda message: [reply(message, Event.TEXT, text="Rent")])
    engine = engine_of(child, FakeChild())
    answer = engine.generate(MESSAGES, "", model="Small", max_tokens=50)
    next(answer)
    child.die(-11)
    with pytest.raises(EngineError, match="status -11"):
        next(answer)
    assert written(engine)[0] == ["Rent is due", " monthly."]


def test_death_while_nobody_waits_is_noticed_by_nobody(
    engine_of: Callable[..., Engine], expect_log: Callable[[str], None]
) -> None:
    expect_log("The model process ended: status -9")
    child = FakeChild()
    engine = engine_of(child, FakeChild())
    engine.embed_query("rent")
    child.die(-9)
    assert child.stopped.wait(WAIT_S)
    assert engine.embed_query("four")[0] == 4


def test_a_crash_while_loading_names_the_file(
    engine_of: Callable[..., Engine], beside: ThreadPoolExecutor, expect_log: Callable[[str], None]
) -> None:
    expect_log("The model process ended: status -11 while loading")
    child = FakeChild(nothing)
    waiting = beside.submit(engine_of(child).warm_up, "Small")
    assert child.wait_for(Op.LOAD)["model"] == "Small"
    child.say_phase(Phase.LOADING, "/models/Small/small.gguf")
    child.die(-11)
    with pytest.raises(ModelError, match=r"crashed while it loaded /models/Small/small\.gguf"):
        waiting.result(WAIT_S)


def test_a_kill_while_loading_does_not_blame_the_file(
    engine_of: Callable[..., Engine], beside: ThreadPoolExecutor, expect_log: Callable[[str], None]
) -> None:
    expect_log("The model process ended: status -9 while loading")
    child = FakeChild(nothing)
    waiting = beside.submit(engine_of(child).warm_up)
    child.wait_for(Op.LOAD)
    child.say_phase(Phase.LOADING, "/models/Small/small.gguf")
    child.die(-9)
    with pytest.raises(EngineError, match="lack of memory"):
        waiting.result(WAIT_S)


def test_a_process_that_cannot_start_says_why(
    engine_of: Callable[..., Engine], expect_log: Callable[[str], None]
) -> None:
    expect_log("The model process ended: status 1 while starting")
    child = FakeChild(nothing)
    child.receive()  # it never came as far as saying that it is idle
    child.die(1, last_words="Traceback …\nModuleNotFoundError: No module named 'psutil'\n")
    with pytest.raises(EngineError, match=r"could not start \(ModuleNotFoundError: No module named 'psutil'\)\."):
        engine_of(child).embed_query("rent")


def test_a_program_that_is_not_there(settings: Settings) -> None:
    def spawn() -> FakeChild:
        raise FileNotFoundError(2, "No such file or directory")

    with pytest.raises(EngineError, match="could not be started: No such file or directory"):
        Engine(settings, spawn=spawn).embed_query("rent")


def test_silence_ends_the_process(
    engine_of: Callable[..., Engine], beside: ThreadPoolExecutor, expect_log: Callable[[str], None]
) -> None:
    expect_log("The model process was ended: silent for 180 s while working")
    child = FakeChild(nothing)
    engine = engine_of(child, FakeChild())
    waiting = beside.submit(engine.embed_query, "rent")
    child.wait_for(Op.EMBED_QUERY)
    child.say_phase(Phase.WORKING)
    child.be_silent(polls(SILENCE_LIMIT_S[Phase.WORKING]))
    with pytest.raises(EngineError, match="did not answer"):
        waiting.result(WAIT_S)
    assert child.stopped.is_set()
    assert engine.embed_query("four")[0] == 4


def test_every_sign_of_life_buys_time(engine_of: Callable[..., Engine], beside: ThreadPoolExecutor) -> None:
    child = FakeChild(nothing)
    waiting = beside.submit(written, engine_of(child))
    request = child.wait_for(Op.GENERATE)
    child.say_phase(Phase.WORKING)
    for _ in range(3):
        child.be_silent(polls(SILENCE_LIMIT_S[Phase.WORKING]) - 1)
        child.say_phase(Phase.WORKING)
        child.be_silent(polls(SILENCE_LIMIT_S[Phase.WORKING]) - 1)
        child.say(reply(request, Event.PROGRESS, text=""))
    for frame in sensible(request):
        child.say(frame)
    assert waiting.result(WAIT_S)[0] == ["Rent is due", " monthly."]


def test_loading_may_take_longer(engine_of: Callable[..., Engine], beside: ThreadPoolExecutor) -> None:
    child = FakeChild(nothing)
    waiting = beside.submit(engine_of(child).embed_query, "four")
    request = child.wait_for(Op.EMBED_QUERY)
    child.say_phase(Phase.LOADING, "/models/bge")
    child.be_silent(polls(SILENCE_LIMIT_S[Phase.LOADING]) - 1)
    for frame in sensible(request):
        child.say(frame)
    assert waiting.result(WAIT_S)[0] == 4


def test_unused_models_are_freed_and_loaded_again(engine_of: Callable[..., Engine]) -> None:
    child = FakeChild()
    engine = engine_of(child, FakeChild())
    engine.embed_query("rent")
    child.be_silent(polls(IDLE_S))
    assert child.stopped.wait(WAIT_S)
    assert engine.embed_query("four")[0] == 4


def test_use_keeps_models_from_being_freed(engine_of: Callable[..., Engine], beside: ThreadPoolExecutor) -> None:
    child = FakeChild()
    engine = engine_of(child)
    for _ in range(3):
        child.be_silent(polls(IDLE_S) - 1)
        assert engine.embed_query("four")[0] == 4
    child.answer = nothing
    waiting = beside.submit(engine.embed_query, "four")
    request = child.wait_for(Op.EMBED_QUERY, 4)
    child.be_silent(polls(IDLE_S) * 2)  # being waited for is not being idle
    for frame in sensible(request):
        child.say(frame)
    assert waiting.result(WAIT_S)[0] == 4
    assert not child.stopped.is_set()


def test_stopping_frees_the_models_until_they_are_needed_again(
    engine_of: Callable[..., Engine], beside: ThreadPoolExecutor
) -> None:
    child = FakeChild(nothing)
    engine = engine_of(child, FakeChild())
    waiting = beside.submit(engine.embed_query, "rent")
    child.wait_for(Op.EMBED_QUERY)
    engine.stop()
    assert child.stopped.is_set()
    with pytest.raises(Cancelled):
        waiting.result(WAIT_S)
    assert not engine.status().running
    assert engine.embed_query("four")[0] == 4


def test_a_closed_engine_starts_nothing(settings: Settings) -> None:
    children = FakeChildren(FakeChild(), FakeChild())
    engine = Engine(settings, spawn=children)
    engine.embed_query("rent")
    engine.close()
    with pytest.raises(Cancelled):
        engine.embed_query("rent")
    assert len(children.started) == 1
    engine.close()


def test_closing_leaves_no_thread(settings: Settings) -> None:
    before = set(threading.enumerate())
    engine = Engine(settings, spawn=FakeChildren(FakeChild(), FakeChild()))
    engine.embed_query("rent")
    engine.stop()
    engine.embed_query("rent")
    engine.close()
    assert set(threading.enumerate()) <= before


@pytest.mark.parametrize(("code", "kind"), [("model", ModelError), ("engine", EngineError), ("no such code", BugError)])
def test_what_the_process_reports_is_raised(engine_of: Callable[..., Engine], code: str, kind: type[Exception]) -> None:
    child = FakeChild(lambda message: [reply(message, Event.ERROR, code=code, sentence="It went wrong.")])
    with pytest.raises(kind, match=r"^It went wrong\.$"):
        engine_of(child).embed_query("rent")


def test_a_frame_without_sense_is_a_bug_and_not_a_hang(engine_of: Callable[..., Engine]) -> None:
    child = FakeChild(lambda message: [Frame({"event": "done"})])
    engine = engine_of(child, FakeChild())
    with pytest.raises(BugError, match="makes no sense"):
        engine.embed_query("rent")
    assert engine.embed_query("four")[0] == 4


def test_refused_connections_of_all_processes_add_up(engine_of: Callable[..., Engine]) -> None:
    def refusing(message: dict[str, Any]) -> Iterator[Frame]:
        yield Frame({"event": Event.REFUSED, "total": 2})
        yield from sensible(message)

    engine = engine_of(FakeChild(refusing), FakeChild(refusing))
    assert engine.refused_connections() == 0
    engine.embed_query("rent")
    engine.stop()
    engine.embed_query("rent")
    assert engine.refused_connections() == 4
