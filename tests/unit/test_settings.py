"""Settings: what a file and the environment may say, and how a mistake in them is told."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from pincite.errors import SettingsError
from pincite.settings import Settings, catalog_file, default_data_dir, load_settings, resources_dir


def write(own_data_dir: Path, text: str) -> Path:
    path = own_data_dir / "settings.toml"
    path.write_text(text, encoding="utf-8")
    return path


def refusal(own_data_dir: Path, text: str) -> str:
    """What is said of a settings file."""
    write(own_data_dir, text)
    with pytest.raises(SettingsError) as caught:
        load_settings()
    return str(caught.value)


# Where things are


def test_without_a_file_all_is_as_it_ships(own_data_dir: Path) -> None:
    assert load_settings() == Settings(data_dir=own_data_dir, library_dir=own_data_dir / "library")


def test_the_library_named_in_the_call_comes_before_the_one_in_the_environment(
    own_data_dir: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PINCITE_LIBRARY", str(tmp_path / "matter"))
    assert load_settings().library_dir == tmp_path / "matter"
    assert load_settings(tmp_path / "other").library_dir == tmp_path / "other"


def test_folders_are_told_in_full_so_that_other_processes_find_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("PINCITE_DATA", "PINCITE_LIBRARY", "PINCITE_MODELS"):
        monkeypatch.setenv(name, name.lower())
    settings = load_settings()
    assert settings.data_dir == default_data_dir() == tmp_path / "pincite_data"
    assert settings.library_dir == tmp_path / "pincite_library"
    assert settings.models_dir == tmp_path / "pincite_models"
    assert load_settings(Path("~/matter")).library_dir == Path.home() / "matter"


def test_models_live_in_the_data_folder_unless_the_environment_says_otherwise(
    own_data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PINCITE_MODELS")
    assert load_settings().models_dir == own_data_dir / "models"


def test_without_an_environment_the_data_folder_is_the_persons_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PINCITE_DATA")
    assert default_data_dir().is_absolute() and "pincite" in default_data_dir().name.lower()


def test_resources_and_the_catalogue_of_models_are_found() -> None:
    assert (resources_dir() / "grammars" / "answer.gbnf").is_file()
    assert catalog_file().is_file()


# What a file may say


def test_a_file_is_believed_key_by_key(own_data_dir: Path) -> None:
    write(
        own_data_dir,
        'threads = 3\nengine_idle_s = 0\nignore = ["*.bak", "~*"]\nanswer_model = "tiny"\ngpu_layers = -1\n',
    )
    settings = load_settings()
    assert (settings.threads, settings.engine_idle_s, settings.ignore) == (3, 0.0, ("*.bak", "~*"))
    assert (settings.answer_model, settings.gpu_layers, settings.chunk_tokens) == ("tiny", -1, 200)
    assert isinstance(settings.engine_idle_s, float)


def test_what_ships_could_have_been_written_in_a_file(own_data_dir: Path) -> None:
    shipped = {item.name: item.default for item in fields(Settings) if item.name not in ("data_dir", "library_dir")}
    lines = [f"{name} = {list(value) if isinstance(value, tuple) else repr(value)}" for name, value in shipped.items()]
    write(own_data_dir, "\n".join(lines))
    assert load_settings() == Settings(data_dir=own_data_dir, library_dir=own_data_dir / "library")


def test_a_key_that_does_not_exist_is_refused_by_name(own_data_dir: Path) -> None:
    said = refusal(own_data_dir, "chunk_token = 100\n")
    assert "chunk_token." in said and "chunk_tokens" in said and "settings.toml" in said
    assert "data_dir" not in said


@pytest.mark.parametrize("key", ["data_dir", "library_dir", "models_dir"])
def test_folders_are_not_chosen_in_the_file_that_lives_in_one(own_data_dir: Path, key: str) -> None:
    assert key in refusal(own_data_dir, f'{key} = "/elsewhere"\n')


@pytest.mark.parametrize(
    "line",
    [
        'threads = "4"',
        "threads = 4.0",
        "threads = true",
        "engine_idle_s = false",
        'engine_idle_s = "10"',
        "answer_model = 3",
        'ignore = "*.bak"',
        "ignore = [1, 2]",
        "chunk_tokens = 2020-01-01",
        "[threads]\ncount = 2",
    ],
)
def test_a_value_of_another_kind_is_refused(own_data_dir: Path, line: str) -> None:
    said = refusal(own_data_dir, line + "\n")
    assert line.strip("[").split()[0].rstrip("]") in said and said.endswith(".")


@pytest.mark.parametrize(
    "line", ["chunk_tokens = 0", "threads = -1", "gpu_layers = -2", "settle_s = -0.5", "reader_seconds_per_page = nan"]
)
def test_a_number_that_makes_no_sense_is_refused(own_data_dir: Path, line: str) -> None:
    key, _, value = line.split()
    said = refusal(own_data_dir, line + "\n")
    assert key in said and "at least" in said and value in said


@pytest.mark.parametrize("text", ["threads = ", "threads 3", "\x00"])
def test_a_file_that_is_not_toml_is_named(own_data_dir: Path, text: str) -> None:
    assert str(own_data_dir / "settings.toml") in refusal(own_data_dir, text)


def test_a_file_that_is_not_text_is_named(own_data_dir: Path) -> None:
    (own_data_dir / "settings.toml").write_bytes(b"\xff\xfe\x00t")
    with pytest.raises(SettingsError, match="cannot be read"):
        load_settings()
