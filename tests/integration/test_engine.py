"""The engine with its real child process, the real encoders and the small language model."""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import psutil
import pytest

from pincite.engine import Engine, GenerationStats
from pincite.errors import BugError, Cancelled, EngineError, ModelError, UsageError
from pincite.settings import Settings

SMALL = "SmolLM2-135M-Instruct"
EMBEDDER = "bge-small-en-v1.5"
WAIT_S = 120.0
# One or two sentences, each ending in a citation of one of two passages.
GRAMMAR = 'root ::= sentence sentence?\nsentence ::= [A-Z] [^\\[\\]\\n.]+ ". [" [12] "]\\n"\n'
ANSWER = re.compile(r"([A-Z][^\[\]\n.]+\. \[[12]\]\n){1,2}")
SYSTEM = {
    "role": "system",
    "content": "Answer the question from the numbered passages alone. Put the number of the passage after each "
    "sentence, in brackets. Be short. Do not add what the passages do not say.",
}
PASSAGES = [
    "The tenant pays nine hundred pounds of rent on the first working day of each month.",
    "Either party may end this lease by giving the other three months' notice in writing.",
    "The landlord insures the building against fire and flood.",
    "Employees accrue one day of leave for every month of service.",
]


def question(text: str) -> list[dict[str, str]]:
    """The messages that ask `text` of the first two passages."""
    return [SYSTEM, {"role": "user", "content": f"[1] {PASSAGES[0]}\n[2] {PASSAGES[1]}\n\nQuestion: {text}"}]


def written(
    engine: Engine, messages: list[dict[str, str]], grammar: str = GRAMMAR, max_tokens: int = 120
) -> tuple[str, GenerationStats]:
    """A whole answer of the small model and what it took."""
    answer = engine.generate(messages, grammar, model=SMALL, max_tokens=max_tokens)
    text = ""
    while True:
        try:
            text += next(answer)
        except StopIteration as end:
            return text, end.value


def model_processes() -> list[psutil.Process]:
    """The model processes that this one has started."""
    children = psutil.Process().children()
    return [child for child in children if "pincite.engine.server" in child.cmdline()]


def only_process() -> psutil.Process:
    (process,) = model_processes()
    return process


@pytest.fixture(scope="module")
def engine(installed_models: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """An engine that several tests share, because loading takes seconds."""
    folder = tmp_path_factory.mktemp("engine")
    engine = Engine(Settings(data_dir=folder, library_dir=folder / "library"))
    yield engine
    engine.close()
    assert not model_processes()


@pytest.fixture
def engine_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Path], Engine]]:
    """Makes an engine whose models lie in a folder of the test's own."""
    engines: list[Engine] = []

    def make(models_dir: Path) -> Engine:
        monkeypatch.setenv("PINCITE_MODELS", str(models_dir))
        engines.append(Engine(Settings(data_dir=tmp_path, library_dir=tmp_path / "library")))
        return engines[-1]

    yield make
    for engine in engines:
        engine.close()


def test_the_shell_process_loads_no_model_library() -> None:
    program = "import json, sys, pincite.engine; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, timeout=WAIT_S)
    heavy = {"torch", "transformers", "llama_cpp", "sentence_transformers", "onnxruntime"}
    assert not heavy & set(json.loads(done.stdout))


def test_a_question_is_nearest_to_the_passage_that_answers_it(engine: Engine) -> None:
    passages = engine.embed_passages(PASSAGES)
    assert passages.shape == (4, 384)
    assert passages.dtype == np.float32
    assert np.allclose(np.linalg.norm(passages, axis=1), 1.0, atol=1e-3)
    for text, nearest in [("How much do I owe the landlord?", 0), ("How can the contract be terminated?", 1)]:
        assert int((passages @ engine.embed_query(text)).argmax()) == nearest


def test_a_text_has_nearly_the_same_vector_in_any_company(engine: Engine) -> None:
    texts = [f"{PASSAGES[number % 4]} {'Further terms apply. ' * (number % 9)}" for number in range(20)]
    together = engine.embed_passages(texts)
    alone = np.concatenate([engine.embed_passages([text]) for text in texts])
    # Not exactly the same: an int8 model scales each batch by its largest value.
    assert (together * alone).sum(axis=1).min() > 0.98
    assert ((alone @ together.T).argmax(axis=1) % 4 == np.arange(20) % 4).all()


def test_odd_texts_are_embedded_too(engine: Engine) -> None:
    odd = ["", " ", "half a character: \udcff", "\0", "word " * 20_000]
    assert np.isfinite(engine.embed_passages(odd)).all()
    assert len(engine.rerank("\udcff", odd)) == len(odd)
    assert all(count >= 0 for count in engine.count_answer_tokens(SMALL, odd))


def test_the_reranker_puts_the_answer_first(engine: Engine) -> None:
    scores = engine.rerank("How long is the notice period?", PASSAGES)
    assert scores.index(max(scores)) == 1
    assert scores[1] > scores[3] + 5


def test_an_answer_follows_its_grammar_and_is_the_same_again(engine: Engine) -> None:
    text, took = written(engine, question("When is the rent due?"))
    assert ANSWER.fullmatch(text), text
    assert took.stopped == "end"
    assert took.prompt_tokens > 80
    assert took.answer_tokens > 5
    again, took_again = written(engine, question("When is the rent due?"))
    assert again == text
    assert took_again.reused_tokens == took.prompt_tokens - 1


def test_the_system_prompt_is_not_read_again(engine: Engine) -> None:
    written(engine, question("When is the rent due?"))
    (system_tokens,) = engine.count_answer_tokens(SMALL, [SYSTEM["content"]])
    _, took = written(engine, [SYSTEM, {"role": "user", "content": "Something else altogether?"}])
    assert system_tokens <= took.reused_tokens < took.prompt_tokens


def test_a_prompt_can_be_read_ahead(engine: Engine) -> None:
    written(engine, [{"role": "user", "content": "Something else altogether."}], max_tokens=1)
    text, ahead = written(engine, [SYSTEM], max_tokens=0)
    assert (text, ahead.answer_tokens) == ("", 0)
    _, took = written(engine, question("When is the rent due?"), max_tokens=1)
    (system_tokens,) = engine.count_answer_tokens(SMALL, [SYSTEM["content"]])
    assert took.reused_tokens >= system_tokens


def test_without_a_grammar_and_with_a_limit(engine: Engine) -> None:
    text, took = written(engine, question("When is the rent due?"), grammar="", max_tokens=4)
    assert text
    assert (took.answer_tokens, took.stopped) == (4, "length")


def test_text_outside_ascii_comes_whole(engine: Engine) -> None:
    text, _ = written(engine, question("When?"), grammar='root ::= "§ 7 – 900 € – 租金 – 🙂"')
    assert text == "§ 7 – 900 € – 租金 – 🙂"


def test_going_in_circles_is_stopped(engine: Engine) -> None:
    _, took = written(engine, question("When?"), grammar='root ::= ("Rent is due. ")+ "Never"', max_tokens=400)
    assert took.stopped == "repeat"
    assert took.answer_tokens < 200


def test_marks_of_the_chat_format_in_a_document_are_plain_text(engine: Engine) -> None:
    assert engine.count_answer_tokens(SMALL, ["rent", "", "<|im_end|>"])[:2] == [1, 0]
    assert engine.count_answer_tokens(SMALL, ["<|im_end|>"])[0] > 2


def test_claims_can_be_checked_while_the_answer_streams(engine: Engine) -> None:
    answer = engine.generate(question("When is the rent due?"), GRAMMAR, model=SMALL, max_tokens=60)
    first = next(answer)
    assert len(engine.rerank("When is the rent due?", PASSAGES)) == 4
    assert engine.count_answer_tokens(SMALL, ["rent"]) == [1]
    assert ANSWER.fullmatch(first + "".join(answer))


def test_a_question_goes_before_indexing(engine: Engine) -> None:
    enough = [False]
    many = [f"{number}. {PASSAGES[number % 4] * 12}" for number in range(2000)]
    with ThreadPoolExecutor() as executor:
        indexing = executor.submit(engine.embed_passages, many, cancelled=lambda: enough[0])
        engine.embed_query("When is the rent due?")
        assert not indexing.done()
        enough[0] = True
        with pytest.raises(Cancelled):
            indexing.result(WAIT_S)


def test_cancelling_while_the_prompt_is_read(engine: Engine) -> None:
    engine.count_answer_tokens(SMALL, ["rent"])  # which loads the model, so that reading begins at once
    process = only_process()
    asked = itertools.count()
    long = [SYSTEM, {"role": "user", "content": " ".join(str(number) for number in range(850))}]
    with pytest.raises(Cancelled):
        list(engine.generate(long, "", model=SMALL, max_tokens=50, cancelled=lambda: next(asked) > 3))
    text, _ = written(engine, question("When is the rent due?"))
    assert ANSWER.fullmatch(text)
    assert only_process() == process


def test_cancelling_while_the_answer_is_written(engine: Engine) -> None:
    pieces: list[str] = []
    answer = engine.generate(
        question("When?"),
        'root ::= "The rent is due on the first working day of each month."',
        model=SMALL,
        max_tokens=50,
        cancelled=lambda: len(pieces) > 2,
    )
    with pytest.raises(Cancelled):
        pieces.extend(answer)
    assert len(pieces) == 3
    assert ANSWER.fullmatch(written(engine, question("When is the rent due?"))[0])


def test_a_wrong_grammar_is_our_mistake(engine: Engine) -> None:
    with pytest.raises(BugError, match="grammar"):
        written(engine, question("When?"), grammar="root ::= undefined")


def test_a_prompt_that_is_too_long_gets_a_sentence(engine: Engine) -> None:
    with pytest.raises(UsageError, match=r"too long for the language model: .* \d+ tokens, and \d+ fit\.$"):
        written(engine, [SYSTEM, {"role": "user", "content": "rent " * 5000}])


@pytest.mark.skipif(sys.platform == "win32", reason="there are no signals on Windows")
def test_an_interrupt_from_the_terminal_is_left_to_the_parent(engine: Engine) -> None:
    engine.embed_query("rent")
    process = only_process()
    process.send_signal(signal.SIGINT)
    engine.embed_query("rent")
    assert only_process() == process


@pytest.mark.skipif(sys.platform == "win32", reason="there are no signals on Windows")
def test_a_kill_in_the_middle_of_an_answer(engine: Engine, expect_log: Callable[[str], None]) -> None:
    expect_log("The model process ended: status -9 while working")
    answer = engine.generate(question("When is the rent due?"), "", model=SMALL, max_tokens=200)
    next(answer)
    killed = only_process()
    os.kill(killed.pid, signal.SIGKILL)
    with pytest.raises(EngineError, match="ended unexpectedly"):
        list(answer)
    assert ANSWER.fullmatch(written(engine, question("When is the rent due?"))[0])
    assert only_process() != killed


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at what a process has mapped")
def test_only_the_libraries_that_are_needed_are_loaded(
    engine_on: Callable[[Path], Engine], installed_models: Path
) -> None:
    before = model_processes()
    engine = engine_on(installed_models)
    written(engine, question("When?"), max_tokens=2)
    (started,) = [process for process in model_processes() if process not in before]

    def libraries() -> set[str]:
        names = {Path(mapped.path).name.partition(".")[0] for mapped in started.memory_maps()}
        return names & {"libllama", "libtorch_cpu"}

    assert libraries() == {"libllama"}
    engine.embed_query("rent")
    assert libraries() == {"libllama", "libtorch_cpu"}


def test_unused_models_are_freed(installed_models: Path, tmp_path: Path) -> None:
    before = model_processes()
    engine = Engine(Settings(data_dir=tmp_path, library_dir=tmp_path / "library", engine_idle_s=0.0))
    assert engine.count_answer_tokens(SMALL, ["rent"]) == [1]
    started = [process for process in model_processes() if process not in before]
    gone, _ = psutil.wait_procs(started, timeout=WAIT_S)
    assert gone == started
    assert not engine.status().running
    assert engine.count_answer_tokens(SMALL, ["rent"]) == [1]
    engine.close()


# Models that are none


@pytest.mark.parametrize("name", [SMALL, ""])
def test_a_missing_language_model(engine_on: Callable[[Path], Engine], tmp_path: Path, name: str) -> None:
    with pytest.raises(ModelError, match="installed: run `pincite models install`"):
        engine_on(tmp_path).count_answer_tokens(name, ["rent"])


def test_missing_encoders(engine_on: Callable[[Path], Engine], tmp_path: Path) -> None:
    engine = engine_on(tmp_path)
    for use in (engine.warm_up, lambda: engine.embed_query("rent"), lambda: engine.rerank("rent", ["rent"])):
        with pytest.raises(ModelError, match=r"is not installed: run `pincite models install`\.$"):
            use()


def of_another_kind(weights: bytes) -> bytes:
    """A whole file of an architecture that nobody has heard of."""
    at = weights.index(b"llama", weights.index(b"general.architecture"))
    return weights[:at] + b"lxama" + weights[at + 5 :]


def test_a_damaged_language_model_is_named(
    engine_on: Callable[[Path], Engine], installed_models: Path, tmp_path: Path
) -> None:
    (source,) = (installed_models / SMALL).glob("*.gguf")
    whole = source.read_bytes()
    damaged = tmp_path / "models" / SMALL / source.name
    damaged.parent.mkdir(parents=True)
    engine = engine_on(tmp_path / "models")
    for content, sentence in [
        (b"", r"SmolLM2.*\.gguf is empty"),
        (whole[: len(whole) // 2], r"SmolLM2.*\.gguf is cut short"),
        (whole[:1000], r"SmolLM2.*\.gguf is not a usable GGUF model"),
        (b"This is a letter, not a model.", r"SmolLM2.*\.gguf is not a usable GGUF model"),
        (of_another_kind(whole), r"llama\.cpp cannot load .*SmolLM2.*\.gguf"),
    ]:
        damaged.write_bytes(content)
        with pytest.raises(ModelError, match=sentence):
            written(engine, question("When?"))
    damaged.write_bytes(whole)
    assert engine.count_answer_tokens(SMALL, ["rent"]) == [1], "once the file is mended nothing else need be"
    engine.close()
    damaged.unlink()  # a hundred megabytes that need not be kept


@pytest.mark.parametrize(
    ("file", "content", "sentence"),
    [
        ("model.onnx", b"", r"model\.onnx is empty"),
        ("model.onnx", None, "holds no weights"),
        ("config.json", b"{", r"config\.json is missing or damaged"),
        ("tokenizer.json", None, r"tokenizer\.json is missing or damaged"),
    ],
)
def test_an_incomplete_encoder_is_named(
    engine_on: Callable[[Path], Engine],
    installed_models: Path,
    tmp_path: Path,
    file: str,
    content: bytes | None,
    sentence: str,
) -> None:
    folder = tmp_path / "models" / EMBEDDER
    shutil.copytree(installed_models / EMBEDDER, folder)
    (folder / file).unlink()
    if content is not None:
        (folder / file).write_bytes(content)
    with pytest.raises(ModelError, match=sentence) as raised:
        engine_on(tmp_path / "models").embed_query("rent")
    assert EMBEDDER in str(raised.value)


def test_a_damaged_encoder_is_named(
    engine_on: Callable[[Path], Engine], installed_models: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "models" / EMBEDDER
    shutil.copytree(installed_models / EMBEDDER, folder)
    engine = engine_on(tmp_path / "models")
    for file, content in [
        ("model.onnx", b"This is a letter, not a model."),
        ("tokenizer.json", b"{}"),
        ("config.json", b"[]"),
    ]:
        whole = (folder / file).read_bytes()
        (folder / file).write_bytes(content)
        with pytest.raises(ModelError, match=rf"The model in .*{EMBEDDER} cannot be loaded \(\w+\): it is damaged"):
            engine.embed_query("rent")
        (folder / file).write_bytes(whole)
    assert engine.embed_query("rent").shape == (384,), "once the files are mended nothing else need be"
