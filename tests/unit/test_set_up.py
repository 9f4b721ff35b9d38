"""What setting up a checkout decides before it does anything: what is missing, what is stale, what to tell whom."""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "packaging" / "set_up.py"


@pytest.fixture
def set_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("set_up", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "ENVIRONMENT", tmp_path / ".venv")
    monkeypatch.setattr(module, "STAMP", tmp_path / ".venv" / "set-up.json")
    return module


@pytest.fixture
def environment(set_up: ModuleType) -> Path:
    """What stands for a finished virtual environment."""
    python: Path = set_up.environment_python()
    python.parent.mkdir(parents=True)
    python.touch()
    set_up.write_stamp(set_up.packages_key())
    return python.parent.parent


def test_old_versions_of_python_can_read_the_script() -> None:
    ast.parse(SCRIPT.read_text(encoding="utf-8"), feature_version=(3, 8))


def test_a_python_that_does_not_fit_is_refused_in_a_sentence(
    set_up: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(set_up, "PYTHONS", ((9, 9),))
    with pytest.raises(set_up.SetUpError, match=f"needs Python .* this is {sys.version_info[0]}.*PYTHON="):
        set_up.go_on_with_a_fitting_python()


def test_a_finished_environment_has_nothing_left_to_do(set_up: ModuleType, environment: Path) -> None:
    assert set_up.environment_fits()
    assert not set_up.packages_are_old()


@pytest.mark.parametrize("key", ["checkout", "python", "base"])
def test_another_python_or_a_moved_checkout_needs_a_new_environment(
    set_up: ModuleType, environment: Path, key: str
) -> None:
    stamp = json.loads(set_up.STAMP.read_text())
    set_up.STAMP.write_text(json.dumps({**stamp, key: "another"}))
    assert not set_up.environment_fits()


@pytest.mark.parametrize("content", [None, "", "{", "{}"])
def test_an_environment_without_its_stamp_is_not_trusted(
    set_up: ModuleType, environment: Path, content: str | None
) -> None:
    if content is None:
        set_up.STAMP.unlink()
    else:
        set_up.STAMP.write_text(content)
    assert not set_up.environment_fits()


def test_an_environment_whose_packages_were_interrupted_is_made_anew(
    set_up: ModuleType, environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: str, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(set_up, "pip", interrupted)
    with pytest.raises(KeyboardInterrupt):
        set_up.install_packages()
    assert not set_up.environment_fits()


def test_packages_are_installed_again_when_what_is_wanted_changed(
    set_up: ModuleType, environment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "constraints.txt"
    other.write_text("pip==1.0\n")
    monkeypatch.setattr(set_up, "CONSTRAINTS", other)
    assert set_up.environment_fits()
    assert set_up.packages_are_old()


def test_every_package_the_project_asks_for_is_pinned(set_up: ModuleType) -> None:
    pins = {line.partition("==")[0] for line in set_up.CONSTRAINTS.read_text().splitlines() if "==" in line}
    pyproject = (SCRIPT.parents[1] / "pyproject.toml").read_text(encoding="utf-8")
    project = tomllib.loads(pyproject)["project"]
    wanted = project["dependencies"] + project["optional-dependencies"]["dev"]
    names = {name.split(">")[0].split("=")[0].split("[")[0].lower() for name in wanted}
    assert names <= pins


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems bring these libraries with them")
def test_missing_libraries_and_programs_are_told_as_packages(
    set_up: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = [name for name in set_up.LIBRARIES if name != "libxcb-cursor.so.0"]
    loader = tmp_path / "ldconfig"
    lines = "\n".join(f"\t{name} (libc6,x86-64) => /lib/{name}" for name in there)
    loader.write_text(f"#!/bin/sh\ncat <<'END'\n3 libs found\n{lines}\nEND\n")
    loader.chmod(0o755)
    real_which = shutil.which
    fakes = {"ldconfig": str(loader), "Xvfb": None, "c++": "/usr/bin/c++"}
    monkeypatch.setattr(shutil, "which", lambda name, **k: fakes[name] if name in fakes else real_which(name, **k))
    monkeypatch.setattr(set_up, "FONTS_DIR", tmp_path)
    assert set_up.missing_system_packages() == ["libxcb-cursor0", "xvfb", "fonts-dejavu-core"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no apt and no effective user id")
@pytest.mark.parametrize(
    ("apt", "sentence"),
    [("/usr/bin/apt-get", "run `sudo apt-get install xvfb` and then"), (None, r"what these packages .*\(xvfb\)")],
)
def test_without_the_right_to_install_it_is_one_sentence_what_to_do(
    set_up: ModuleType, monkeypatch: pytest.MonkeyPatch, apt: str | None, sentence: str
) -> None:
    monkeypatch.setattr(set_up, "missing_system_packages", lambda: ["xvfb"])
    monkeypatch.setattr(shutil, "which", lambda name, **_: {"apt-get": apt}.get(name))
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: pytest.fail("nothing may be run"))
    with pytest.raises(set_up.SetUpError, match=sentence):
        set_up.install_system_packages()
