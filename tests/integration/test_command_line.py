"""`python -m pincite` as a script meets it: JSON, exit status, sentences for bad input, and what it loads."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import pincite
from pincite.cli import main
from tests.integration.conftest import SAMPLES, WAIT_S, environment_at, wait_until

SMALL = "SmolLM2-135M-Instruct"
LEASE = (
    "# Lease\n\n## Rent\n\nThe tenant pays nine hundred pounds each month.\n\n## Notice\n\nThree months by letter.\n"
)
READABLE = ("lease-unit-7.pdf", "operations-meeting-notes.md", "gateway-log-2025-06.txt")
PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    status: int
    out: str
    err: str

    def json(self) -> Any:
        """The one JSON document on standard output."""
        return json.loads(self.out)

    def sentence(self) -> str:
        """The one sentence on standard error; nothing else may have been said."""
        assert self.out == "" and "Traceback" not in self.err, self.err
        [line] = self.err.splitlines()
        assert line.startswith("pincite: ") and line.endswith("."), line
        assert "A mistake in Pincite" not in line
        return line.removeprefix("pincite: ")


@dataclass(frozen=True)
class CommandLine:
    """Runs commands with a data folder and a library of their own."""

    place: Path

    def environment(self) -> dict[str, str]:
        return environment_at(self.place)

    def run(self, *arguments: str, status: int = 0) -> Done:
        done = subprocess.run(
            [sys.executable, "-m", "pincite", *arguments],
            cwd=self.place,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=WAIT_S,
        )
        assert done.returncode == status, done.stderr
        return Done(done.returncode, done.stdout, done.stderr)

    def refuse(self, *arguments: str, status: int = 1) -> str:
        """The sentence with which a command ends, with and without --json."""
        sentence = self.run(*arguments, status=status).sentence()
        told = self.run(*arguments, "--json", status=status)
        assert told.json()["error"]["message"] == sentence and told.err == f"pincite: {sentence}\n"
        return sentence


def command_line_at(place: Path) -> CommandLine:
    (place / "data").mkdir()
    (place / "data" / "settings.toml").write_text("settle_s = 0.0\nevidence_tokens = 250\nanswer_tokens = 50\n")
    return CommandLine(place)


@pytest.fixture(scope="module")
def indexed(installed_models: Path, tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    """A library of a few sample documents, broken ones among them."""
    command_line = command_line_at(tmp_path_factory.mktemp("command line"))
    documents = command_line.place / "documents"
    documents.mkdir()
    for name in READABLE:
        shutil.copy(SAMPLES / name, documents / name)
    (documents / "empty.pdf").touch()
    (documents / "letter.pdf").write_text("This is no PDF.")
    told = command_line.run("index", "documents", "--json", status=3).json()
    counts = {"read": 3, "moved": 0, "deleted": 0, "unchanged": 0, "failed": 2}
    assert told["update"] == counts | {"embedded": told["chunks"], "notes": []}
    return command_line


@pytest.fixture
def fresh(tmp_path: Path) -> CommandLine:
    """No library yet."""
    return command_line_at(tmp_path)


# The JSON of each command


def test_status(indexed: CommandLine) -> None:
    told = indexed.run("status", "--json", status=3)
    assert told.err == ""
    ledger = told.json()
    assert {"folders", "counts", "documents"} <= set(ledger)
    assert ledger["folders"] == [{"path": str(indexed.place / "documents"), "online": True}]
    assert ledger["counts"] == {"read": 3, "failed": 2} and ledger["chunks_without_vectors"] == 0
    for entry in ledger["documents"]:
        assert {"document", "path", "state", "reason", "pages", "ocr_pages", "review_pages", "modified"} <= set(entry)
        assert (entry["state"] == "read") == (entry["reason"] == "") == (entry["document"] is not None)
    [empty] = [entry for entry in ledger["documents"] if entry["path"].endswith("empty.pdf")]
    assert empty["reason"] == "The file is empty."
    said = " ".join(indexed.run("status", status=3).out.split())
    assert "2 failed, 3 read." in said and "empty.pdf – failed. The file is empty." in said


RESULT_FIELDS = {
    "rank", "chunk", "document", "title", "path", "kind", "heading_path", "text", "regions", "scores", "duplicates",
    "modified", "version",
}  # fmt: skip


def check_results(results: list[dict[str, Any]]) -> None:
    """The fields that scripts stand on."""
    assert [result["rank"] for result in results] == list(range(1, len(results) + 1))
    for result in results:
        assert set(result) >= RESULT_FIELDS
        assert set(result["scores"]) >= {"lexical_rank", "dense_rank", "fused", "rerank"}
        assert set(result["version"]) >= {"family", "current"}
        check_regions(result["regions"])


def check_regions(regions: list[dict[str, Any]]) -> None:
    assert regions
    for region in regions:
        assert region["page"] >= 1 and isinstance(region["label"], str) and region["boxes"]
        for x0, y0, x1, y1 in region["boxes"]:
            assert x0 < x1 and y0 < y1


def test_search(indexed: CommandLine) -> None:
    arguments = ("search", "Which notice ends the lease?", "-k", "3", "--mode", "lexical", "--no-rerank", "--json")
    found = indexed.run(*arguments).json()
    assert {"query", "rewritten", "filters", "total_ms", "stages", "results", "not_searched"} <= set(found)
    assert found["query"] == "Which notice ends the lease?" and found["filters"] == {} and len(found["results"]) == 3
    check_results(found["results"])
    assert all({"name", "ms", "in", "out"} <= set(stage) for stage in found["stages"])
    assert {Path(file["path"]).name: file["state"] for file in found["not_searched"]} == {
        "empty.pdf": "failed", "letter.pdf": "failed",
    }  # fmt: skip


def test_search_by_words_with_filters(indexed: CommandLine) -> None:
    words = ("search", "ERR_CONN_4021", "--mode", "lexical", "--no-rerank", "--json")
    found = indexed.run(*words).json()
    check_results(found["results"])
    assert "ERR_CONN_4021" in found["results"][0]["text"]
    assert found["results"][0]["scores"]["lexical_rank"] == 1 and found["results"][0]["scores"]["dense_rank"] is None
    for filters, names in (
        (("--type", "log"), {"gateway-log-2025-06.txt"}),
        (("--document", "documents/gateway-log-2025-06.txt", "--after", "2000-01-01"), {"gateway-log-2025-06.txt"}),
        (("--folder", "documents"), None),
        (("--type", "pdf"), set()),
        (("--before", "2000-01-01"), set()),
    ):
        got = {Path(result["path"]).name for result in indexed.run(*words, *filters).json()["results"]}
        assert got == names if names is not None else got
    nowhere = indexed.run(*words, "--folder", "elsewhere", status=1).json()
    assert "has been read from" in nowhere["error"]["message"]


def check_answer(answer: dict[str, Any]) -> None:
    assert set(answer) >= {
        "question", "rewritten", "verdict", "answer", "mode", "claims", "conflicts", "nearest", "not_searched",
        "passages", "model", "trace", "timings_ms", "tokens",
    }  # fmt: skip
    assert set(answer["timings_ms"]) >= {"sources", "total"} and set(answer["tokens"]) >= {"prompt", "answer"}
    check_results(answer["passages"])
    for claim in answer["claims"]:
        assert set(claim) >= {"text", "verdict", "score", "citations"}
        assert claim["verdict"] in ("supported", "partly", "unsupported", "quote")
        assert isinstance(claim["score"], int | float)
        for citation in claim["citations"]:
            assert set(citation) >= {"document", "title", "path", "quote", "regions", "pincite"}
            check_regions(citation["regions"])


def test_ask_a_model(indexed: CommandLine) -> None:
    question = ("ask", "How much is the yearly rent?", "--document", "documents/lease-unit-7.pdf")
    answer = indexed.run(*question, "--model", SMALL, "--json").json()
    check_answer(answer)
    assert answer["verdict"] != "not_found" and answer["claims"] and answer["tokens"]["prompt"] > 0
    assert all(passage["scores"]["rerank"] is not None for passage in answer["passages"])
    assert {Path(passage["path"]).name for passage in answer["passages"]} == {"lease-unit-7.pdf"}
    record = indexed.run("trace", answer["trace"]).json()
    assert record["question"] == answer["question"] and record["claims"] == answer["claims"]


def test_show(indexed: CommandLine, tmp_path: Path) -> None:
    png = tmp_path / "page.png"
    arguments = ("show", "documents/lease-unit-7.pdf", "--page", "2", "--png", str(png))
    told = indexed.run(*arguments, "--boxes", "[[72, 72, 300, 90]]", "--zoom", "1", "--json").json()
    assert png.read_bytes().startswith(PNG_SIGNATURE)
    assert told["png"] == str(png) and told["width_px"] > 500 and told["height_px"] > 800
    highlighted = png.read_bytes()
    indexed.run(*arguments, "--zoom", "1")
    assert png.read_bytes() != highlighted


def test_forget_and_remove(fresh: CommandLine) -> None:
    documents = fresh.place / "documents"
    documents.mkdir()
    (documents / "lease.md").write_text(LEASE)
    (documents / "other.md").write_text("# Other\n\nSomething else.\n")
    assert fresh.run("index", "documents", "--fast", "--json").json()["update"]["read"] == 2
    receipt = fresh.run("forget", "documents/lease.md", "--receipt", "receipt.json", "--json").json()
    assert receipt == json.loads((fresh.place / "receipt.json").read_text())
    assert receipt["title"] == "Lease" and receipt["erased"]["chunks"] > 0 and receipt["left"] == {"chunks": 0}
    states = {entry["state"] for entry in fresh.run("status", "--json").json()["documents"]}
    assert states == {"read", "forgotten"}
    found = fresh.run("search", "pounds", "--mode", "lexical", "--no-rerank", "--json").json()
    assert found["results"] == [] and [file["state"] for file in found["not_searched"]] == ["forgotten"]
    assert "no longer watched" in fresh.run("remove", "documents").out
    assert fresh.run("status", "--json").json()["documents"] == [] and (documents / "lease.md").is_file()


def test_models_and_doctor(indexed: CommandLine) -> None:
    models = {model["name"]: model for model in indexed.run("models", "list", "--json").json()["models"]}
    for name in (SMALL, "bge-small-en-v1.5", "ms-marco-MiniLM-L-12-v2"):
        assert models[name]["state"] == "installed" and models[name]["licence"]
    done = subprocess.run(
        [sys.executable, "-m", "pincite", "doctor", "--json"], env=indexed.environment(), capture_output=True, text=True
    )
    told = json.loads(done.stdout)
    assert (done.returncode == 0) == told["works"] == all(finding["works"] for finding in told["findings"])
    for finding in told["findings"]:
        assert finding["says"] and (finding["works"] or finding["mend"] or finding["name"] == "library"), finding


# What is loaded


WHAT_WAS_LOADED = """
import sys
from pincite.cli import main
status = main(sys.argv[2:])
print(*[name for name in sys.argv[1].split(",") if name in sys.modules], file=sys.stderr)
sys.exit(status)
"""
HEAVY = "PySide6,torch,transformers,sentence_transformers,llama_cpp,onnxruntime,pymupdf"


@pytest.mark.parametrize(
    ("arguments", "loads"),
    [
        (("status",), ""),
        (("search", "rent", "--mode", "lexical", "--no-rerank"), ""),
        (("models", "list"), ""),
        (("show", "documents/lease-unit-7.pdf", "--page", "1", "--png", "page.png"), ""),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_a_command_loads_only_what_it_needs(
    indexed: CommandLine, tmp_path: Path, arguments: tuple[str, ...], loads: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WHAT_WAS_LOADED, f"{HEAVY},chromadb", *arguments],
        cwd=indexed.place,
        env=indexed.environment(),
        capture_output=True,
        text=True,
    )
    assert done.returncode in (0, 3) and done.stderr.split() == loads.split(), done.stderr


# Bad input


Refuse = Callable[..., str]


@pytest.fixture
def refuse(indexed: CommandLine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Refuse:
    """Runs a command that is refused, here, because starting Python for each takes long; gives its sentence.

    It is said the same with and without --json.
    """
    main_module = importlib.import_module("pincite.cli.main")  # by this way: the package has a function of its name
    monkeypatch.setattr(main_module, "seal_process", lambda: None)
    monkeypatch.setattr(main_module.logging, "basicConfig", lambda **_: None)
    for name, value in indexed.environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(indexed.place)

    def refuse(*arguments: str, status: int) -> str:
        assert main(arguments) == status
        sentence = Done(status, *capsys.readouterr()).sentence()
        assert main([*arguments, "--json"]) == status
        told = Done(status, *capsys.readouterr())
        assert told.json()["error"]["message"] == sentence and told.err == f"pincite: {sentence}\n"
        return sentence

    return refuse


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        (("index", "nowhere"), 1, "cannot be opened: No such file or directory."),
        (("index", "x" * 5_000), 1, "cannot be opened"),
        (("index", "data"), 1, "Pincite's own data"),
        (("ask", "word " * 2_000), 2, "The question is 10,000 characters long"),
        (("ask", "?!… ---"), 2, "There is no word in this question"),
        (("ask", ""), 2, "There is no word in this question"),
        (("ask", "Who?", "--mode", "deep"), 2, "does not exist yet"),
        (("ask", "Who?", "--model", "GPT-9"), 1, "GPT-9"),
        (("search", "rent", "-k", "0"), 2, "At least one result"),
        (("search", "rent", "-k", "9" * 30), 2, "At most 10,000 results"),
        (("search", "rent", "--mode", "psychic"), 2, "no search mode"),
        (("search", "rent", "--after", "yesterday"), 2, "takes a date like"),
        (("search", "rent", "--type", "docx"), 2, "There is no format 'docx'"),
        (("show", "documents/lease-unit-7.pdf", "--page", "0", "--png", "x.png"), 1, "has no page 0"),
        (("show", "documents/lease-unit-7.pdf", "--page", "9" * 30, "--png", "x.png"), 1, "has no page 999"),
        (("show", "documents/empty.pdf", "--page", "1", "--png", "x.png"), 1, "The file is empty."),
        (("show", "nobody", "--page", "1", "--png", "x.png"), 1, "There is no document nobody"),
        (("show", "x" * 10_000, "--page", "1", "--png", "x.png"), 1, "There is no document"),
        (("show", "documents/lease-unit-7.pdf", "--page", "1", "--png", "no/x.png"), 2, "cannot be written"),
        (("show", "documents/lease-unit-7.pdf", "--page", "1", "--png", "x.png", "--boxes", "[1]"), 2, "JSON list"),
        (
            ("show", "documents/lease-unit-7.pdf", "--page", "1", "--png", "x.png", "--zoom", "nan"),
            2,
            "pixels per point",
        ),
        (("forget", "nobody"), 1, "There is no document nobody"),
        (("remove", "nowhere"), 1, "is not among the watched folders"),
        (("trace", "nothing"), 1, "There is no record of a question nothing"),
        (("models", "add", "nowhere.gguf"), 1, "nowhere.gguf"),
        (("models", "add", "documents/empty.pdf"), 1, "empty.pdf"),
        (("models", "use", "GPT-9"), 1, "GPT-9"),
        (("status", "--library", "documents/letter.pdf"), 1, "is a file, and a library is a folder."),
    ],
    ids=lambda value: " ".join(value)[:40] if isinstance(value, tuple) else "",
)
def test_bad_input_gets_one_sentence(refuse: Refuse, arguments: tuple[str, ...], status: int, says: str) -> None:
    assert says in refuse(*arguments, status=status)


def test_a_model_file_that_is_none_is_refused_and_named(fresh: CommandLine) -> None:
    (fresh.place / "empty.gguf").touch()
    (fresh.place / "letter.gguf").write_text("This is no model. " * 100)
    assert "empty.gguf" in fresh.refuse("models", "add", "empty.gguf")
    assert "letter.gguf" in fresh.run("models", "add", "letter.gguf", status=1).sentence()


@pytest.mark.parametrize("query", ["", "AND OR NEAR(", "word " * 2_000], ids=lambda query: query[:12])
def test_any_text_can_be_searched_for(indexed: CommandLine, query: str) -> None:
    found = indexed.run("search", query, "--mode", "lexical", "--no-rerank", "--json")
    assert isinstance(found.json()["results"], list) and found.err == ""


def test_a_broken_library_is_said(fresh: CommandLine) -> None:
    (fresh.place / "library").mkdir()
    (fresh.place / "library" / "library.sqlite").write_bytes(b"This is no library. " * 500)
    assert "not a database" in fresh.refuse("status", "--library", "library")
    assert "not a database" in fresh.run("index", "--library", "library", status=1).sentence()


def test_a_settings_file_that_is_none_is_said(fresh: CommandLine) -> None:
    (fresh.place / "data" / "settings.toml").write_text("threads = many")
    assert "settings.toml cannot be read" in fresh.refuse("status")


def test_a_data_folder_that_is_a_file_is_said(fresh: CommandLine) -> None:
    shutil.rmtree(fresh.place / "data")
    (fresh.place / "data").write_text("a file")
    assert "data" in fresh.refuse("status")
    done = subprocess.run(
        [sys.executable, "-m", "pincite", "doctor"], env=fresh.environment(), capture_output=True, text=True
    )
    assert done.returncode == 1 and "cannot be used" in done.stdout and done.stderr == ""


# Folders and libraries that may not be touched


AS_A_STRANGER = """
import contextlib, io, os, sys
from pincite.cli import main
with contextlib.redirect_stdout(io.StringIO()):  # what is imported on the way must be, while it still may be
    main(["index", "--fast", "--library", sys.argv.pop(1)])
if os.geteuid() == 0:
    os.setegid(65534)
    os.seteuid(65534)
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture
def public() -> Iterator[Path]:
    """A folder that every user may enter; that of pytest is for its owner alone."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        yield Path(folder)


def run_as_a_stranger(place: Path, *arguments: str) -> Done:
    """Run a command without the right to everything that an administrator has."""
    done = subprocess.run(
        [sys.executable, "-c", AS_A_STRANGER, str(place / "another library"), *arguments],
        env=environment_at(place) | {"PINCITE_MODELS": str(place / "models")},  # ours are in a folder of our own
        capture_output=True,
        encoding="utf-8",
    )
    return Done(done.returncode, done.stdout, done.stderr)


@pytest.mark.skipif(not hasattr(os, "seteuid"), reason="rights work in another way here")
def test_a_folder_that_may_not_be_entered_is_named_and_loses_nothing(public: Path) -> None:
    closed = public / "closed"
    closed.mkdir()
    (closed / "lease.md").write_text(LEASE)
    closed.chmod(0)
    try:
        done = run_as_a_stranger(public, "index", str(closed), "--fast")
        assert done.status == 3 and "Traceback" not in done.err, done.err
        assert f"{closed} could not be looked into: Permission denied." in " ".join(done.out.split())
    finally:
        closed.chmod(0o755)


@pytest.mark.skipif(not hasattr(os, "seteuid"), reason="rights work in another way here")
def test_a_library_that_may_not_be_written_to_is_said(public: Path) -> None:
    locked = public / "locked"
    locked.mkdir()
    locked.chmod(0o555)
    done = run_as_a_stranger(public, "status", "--library", str(locked))
    assert done.status == 1 and "unable to open database file" in done.sentence()
    done = run_as_a_stranger(public, "status", "--library", str(locked / "inside"))
    assert done.status == 1 and "Permission denied" in done.sentence()


# Watching


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl+C is sent in another way there")
def test_watching_reads_what_changes_until_ctrl_c(fresh: CommandLine) -> None:
    documents = fresh.place / "documents"
    documents.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "pincite", "index", "documents", "--watch", "--fast"],
        cwd=fresh.place,
        env=fresh.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stderr is not None
        assert process.stderr.readline() == "Watching; Ctrl+C ends it.\n"
        (documents / "lease.md").write_text(LEASE)
        wait_until(lambda: "read" in fresh.run("status", "--json").json()["counts"], "the file to be read")
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=WAIT_S)
    assert process.returncode == 0, err
    assert "Traceback" not in err


def test_the_version_is_told(fresh: CommandLine) -> None:
    assert fresh.run("--version").out == f"pincite {pincite.__version__}\n"
