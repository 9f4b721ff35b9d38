"""Libraries over the sample documents, with the real stores, readers and models."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

import pincite
from pincite.engine import Engine
from pincite.index import Index
from pincite.library import Library
from pincite.settings import Settings, resources_dir

SAMPLES = resources_dir() / "samples" / "documents"
WAIT_S = 120.0
POLL_S = 0.05


def settings_at(place: Path) -> Settings:
    """Settings for a library of its own, whose files count as settled at once, and whose answers are short."""
    return Settings(
        data_dir=place / "data",
        library_dir=place / "library",
        settle_s=0.0,
        evidence_tokens=250,
        answer_tokens=50,
    )


@pytest.fixture(scope="session")
def indexed_samples(installed_models: Path, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """The settings of a library in which the sample documents were read and embedded."""
    settings = settings_at(tmp_path_factory.mktemp("samples"))
    library = Library.open(settings)
    library.add(SAMPLES)
    library.update()
    library.close()
    return settings


@pytest.fixture(scope="module")
def samples(indexed_samples: Settings) -> Iterator[Library]:
    """The library of the sample documents; tests only look. Its child processes end with the module."""
    library = Library.open(indexed_samples)
    yield library
    library.close()


def environment_at(place: Path) -> dict[str, str]:
    """Ours, with a data folder in `place`, and the source found from any folder."""
    source = str(Path(pincite.__file__).parents[1])
    return os.environ | {"PINCITE_DATA": str(place / "data"), "PYTHONPATH": source, "PYTHONIOENCODING": "utf-8"}


class SharedEngine:
    """An engine that several libraries use, so that its models are loaded once; none of them closes it."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def close(self) -> None:
        """Left to the library that it belongs to."""


def library_at(place: Path, samples: Library) -> Library:
    """A library of its own that uses the engine of the samples."""
    settings = settings_at(place)
    engine = SharedEngine(samples._engine)
    return Library(settings, Index(settings.library_dir, settings.embedding_model), engine)  # type: ignore[arg-type]


@pytest.fixture
def library(tmp_path: Path, samples: Library) -> Iterator[Library]:
    """An empty library over the folder `documents`, with the engine of the samples."""
    (tmp_path / "documents").mkdir()
    library = library_at(tmp_path, samples)
    library.add(tmp_path / "documents")
    yield library
    library.close()


def wait_until(condition: Callable[[], bool], what: str) -> None:
    """Return as soon as the condition holds; fail when it does not for long."""
    deadline_s = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < deadline_s, f"waited in vain for {what}"
        time.sleep(POLL_S)


def children(module: str) -> list[psutil.Process]:
    """The running child processes that run a module of ours."""
    found = []
    for process in psutil.Process().children(recursive=True):
        try:
            if module in process.cmdline() and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.Error:
            continue  # it ended between two looks
    return found
