"""A library over text files, for tests of the stores and of what fills them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engines import Shelf


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shelf]:
    """An empty folder and its library, with a reader and an engine that need no child process."""
    shelf = Shelf(tmp_path)
    monkeypatch.setattr("pincite.update.Reader", lambda settings: shelf.reader)
    yield shelf
    shelf.close()
