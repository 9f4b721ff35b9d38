"""The fake library has the real one's methods, with the same parameters."""

from __future__ import annotations

import inspect

import pytest

from pincite.library import Library
from pincite.model import Box
from tests.fakes import FakeLibrary, painted

USED = (
    "open close add remove forget update start_watching ledger search ask document page_sizes page render warm_up "
    "engine_status refused_connections"
).split()


@pytest.mark.parametrize("name", USED)
def test_a_method_of_the_fake_is_called_like_the_real_one(name: str) -> None:
    def shape(kind: type) -> list[tuple[str, object, bool]]:
        parameters = inspect.signature(getattr(kind, name)).parameters.values()
        return [(one.name, one.kind, one.default is one.empty) for one in parameters]

    assert shape(FakeLibrary) == shape(Library)


def test_a_painted_picture_is_a_png_of_the_right_size() -> None:
    picture = painted((50.0, 20.0), 2.0, [(Box(0, 0, 10, 10), (1, 2, 3))])
    assert picture.png.startswith(b"\x89PNG")
    assert (picture.width_px, picture.height_px) == (100, 40)
