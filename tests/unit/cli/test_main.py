"""Arguments, exit status, and errors as one sentence."""

from __future__ import annotations

import argparse
import importlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pincite import __version__
from pincite.cli import arguments, commands, main
from pincite.errors import Cancelled, GiveUpError, PinciteError, UsageError


def failing(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    """Let `status` fail like this."""

    def fail(*_: object) -> int:
        raise error

    monkeypatch.setattr(commands, "show_status", fail)


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (GiveUpError("The drive is full."), 1),
        (Cancelled("Stopped, as asked."), 1),
        (UsageError("A date is none."), 2),
        (PinciteError("Something."), 1),
    ],
)
def test_what_goes_wrong_is_said_in_its_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: PinciteError, status: int
) -> None:
    failing(monkeypatch, error)
    assert main(["status"]) == status
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", f"pincite: {error}\n")
    assert main(["status", "--json"]) == status
    said = capsys.readouterr()
    assert json.loads(said.out) == {"error": {"code": error.code, "message": str(error)}}
    assert said.err == f"pincite: {error}\n"


def test_ctrl_c_is_no_traceback(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    failing(monkeypatch, KeyboardInterrupt())
    assert main(["status"]) == 1
    assert capsys.readouterr().err == "pincite: Stopped; what was finished is kept.\n"


def test_a_mistake_of_ours_is_said_without_what_it_was_about(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    failing(monkeypatch, KeyError("a secret"))
    assert main(["status"]) == 1
    said = capsys.readouterr().err
    assert said.startswith("pincite: A mistake in Pincite stopped this command (KeyError in test_main.py, line ")
    assert said.count("\n") == 1 and "secret" not in said
    assert main(["status", "--verbose"]) == 1
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ["shout"], ["search"], ["search", "a", "-k", "many"], ["show", "a"], ["show", "a", "--page", "one"],
        ["models", "melt"], ["--nothing"], ["status", "extra"],
    ],
)  # fmt: skip
def test_wrong_usage_ends_with_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.startswith("pincite: ") and said.err.count("\n") == 1


def test_wrong_usage_is_one_json_document_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--json", "shout"]) == 2
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "usage"


@pytest.mark.parametrize("arguments", [["--help"], ["index", "--help"], ["models", "--help"], ["ask", "--help"]])
def test_help_is_on_standard_output(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 0 and "usage: pincite" in capsys.readouterr().out


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out == f"pincite {__version__}\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["--json", "--library", "LIBRARY", "status"],
        ["status", "--json", "--library", "LIBRARY"],
        ["--library", "LIBRARY", "status", "--json"],
    ],
)
def test_common_options_stand_before_or_after_the_command(
    tmp_path: Path, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    library = tmp_path / "matter"
    assert main([argument.replace("LIBRARY", str(library)) for argument in arguments]) == 0
    assert json.loads(capsys.readouterr().out)["documents"] == []
    assert (library / "library.sqlite").is_file()


@pytest.mark.parametrize(
    "arguments", [["models", "--json"], ["models", "list", "--json"], ["--json", "models", "list"]]
)
def test_they_stand_after_an_action_too(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 0
    assert json.loads(capsys.readouterr().out)["models"]


def test_the_library_may_be_named_by_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PINCITE_LIBRARY", str(tmp_path / "from the environment"))
    assert main(["status"]) == 0
    assert (tmp_path / "from the environment" / "library.sqlite").is_file()
    assert main(["status", "--library", str(tmp_path / "asked for")]) == 0
    assert (tmp_path / "asked for" / "library.sqlite").is_file()
    assert "No files yet" in capsys.readouterr().out


def test_a_misspelt_setting_is_named(own_data_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (own_data_dir / "settings.toml").write_text("anser_model = 'x'")
    assert main(["status"]) == 1
    assert "a setting that does not exist: anser_model" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="pipes break in another way there")
@pytest.mark.parametrize("command", [["status"], ["status", "--json"], ["models", "list"]])
def test_whoever_stops_reading_gets_no_complaint(command: list[str]) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "pincite", *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    with process:
        assert process.stderr.read() == b""
    assert process.returncode == 1


def test_every_command_names_code_that_exists() -> None:
    """The argument parser names functions instead of importing them, which no type checker looks into."""
    named = {run for parser in _parsers(arguments.parser()) if (run := parser.get_default("run"))}
    assert len(named) > 12
    for run in named:
        module, function = run.split(".")
        assert callable(getattr(importlib.import_module(f"pincite.cli.{module}"), function))


def _parsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for child in action.choices.values():
                yield from _parsers(child)
