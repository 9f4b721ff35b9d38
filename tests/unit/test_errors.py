"""The tree of errors: what a child process sends is the same error here, and the drawing of the tree is true."""

from __future__ import annotations

import inspect
import re

import pytest

from pincite import errors
from pincite.errors import BugError, GiveUpError, PinciteError, RetryError, error_for

CLASSES = [item for _, item in inspect.getmembers(errors, inspect.isclass) if issubclass(item, PinciteError)]


def test_codes_tell_the_classes_apart() -> None:
    assert len({kind.code for kind in CLASSES}) == len(CLASSES) > 10


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_an_error_comes_back_from_its_code_with_its_sentence(kind: type[PinciteError]) -> None:
    error = error_for(kind.code, "The file is gone.")
    assert type(error) is kind and str(error) == "The file is gone."


@pytest.mark.parametrize("code", ["", "unknown", "PinciteError"])
def test_an_unknown_code_is_our_bug(code: str) -> None:
    assert type(error_for(code, "What?")) is BugError


def test_every_error_says_whether_trying_again_may_help() -> None:
    roots = (RetryError, GiveUpError, BugError)
    assert all(sum(issubclass(kind, root) for root in roots) == 1 for kind in CLASSES if kind is not PinciteError)


def test_the_tree_in_the_docstring_is_the_tree_in_the_code() -> None:
    drawn = re.findall(r"^((?:[│├└─ ]{4})*)(\w+)", (errors.__doc__ or "").split("\n\n")[1], re.MULTILINE)
    parents: list[str] = []
    tree: dict[str, str] = {}
    for indent, name in drawn:
        depth = len(indent) // 4
        parents[depth:] = [name]
        tree[name] = parents[depth - 1] if depth else "Exception"
    assert tree == {kind.__name__: kind.__bases__[0].__name__ for kind in CLASSES}
