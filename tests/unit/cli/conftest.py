"""The command line inside the test's own process."""

from __future__ import annotations

import importlib

import pytest

main_module = importlib.import_module("pincite.cli.main")  # by this way, because the package has a function of its name


@pytest.fixture(autouse=True)
def left_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """A command seals its process and sets up logging for it; this one goes on to other tests."""
    monkeypatch.setattr(main_module, "seal_process", lambda: None)
    monkeypatch.setattr(main_module.logging, "basicConfig", lambda **_: None)
