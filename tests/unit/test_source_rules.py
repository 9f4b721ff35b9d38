"""What the project asks of its own source and no linter checks."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "app" / "pincite"
TESTS = Path(__file__).resolve().parents[1]
FILES = sorted(SOURCE.rglob("*.py"))
MAX_FILE_LINES = 600
MAX_FUNCTION_LINES = 60
COMMENT_REACH = 3  # lines above an import in which its reason may stand
NAMES_THAT_SAY_NOTHING = {"utils", "util", "helpers", "helper", "common", "base", "manager", "misc"}


def relative(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


@pytest.fixture(scope="module", params=FILES, ids=relative)
def source(request: pytest.FixtureRequest) -> tuple[list[str], ast.Module]:
    text = request.param.read_text(encoding="utf-8")
    return text.splitlines(), ast.parse(text)


def functions(tree: ast.Module) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def test_files_can_be_read_in_one_sitting(source: tuple[list[str], ast.Module]) -> None:
    assert len(source[0]) <= MAX_FILE_LINES


def test_functions_can_be_seen_at_once(source: tuple[list[str], ast.Module]) -> None:
    lengths = {node.name: (node.end_lineno or node.lineno) - node.lineno + 1 for node in functions(source[1])}
    assert not {name: length for name, length in lengths.items() if length > MAX_FUNCTION_LINES}


def test_an_import_inside_a_function_says_why(source: tuple[list[str], ast.Module]) -> None:
    lines, tree = source
    silent = [
        f"line {first.lineno}: {ast.unparse(first)}"
        for function in functions(tree)
        for group in import_groups(function)
        for first in group[:1]
        if not any("#" in line for line in lines[first.lineno - 1 - COMMENT_REACH : group[-1].end_lineno])
    ]
    assert not silent


def import_groups(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[list[ast.stmt]]:
    """The imports in a function, those that follow each other together: one comment may speak for them."""
    found = sorted(
        (node for node in ast.walk(function) if isinstance(node, ast.Import | ast.ImportFrom)),
        key=lambda node: node.lineno,
    )
    groups: list[list[ast.stmt]] = []
    for node in found:
        if groups and node.lineno == (groups[-1][-1].end_lineno or 0) + 1:
            groups[-1].append(node)
        else:
            groups.append([node])
    return groups


def test_no_module_has_a_name_that_says_nothing() -> None:
    assert not [relative(path) for path in FILES if NAMES_THAT_SAY_NOTHING & set(relative(path)[:-3].split("/"))]


def test_there_is_source_to_look_at() -> None:
    assert len(FILES) > 10


def test_every_test_file_is_in_the_list_of_what_it_is_for() -> None:
    listed = (TESTS / "README.md").read_text(encoding="utf-8")
    missing = [
        path.relative_to(TESTS).as_posix()
        for path in TESTS.rglob("test_*.py")
        if f"`{path.relative_to(TESTS).as_posix()}`" not in listed
    ]
    assert not missing, f"say in tests/README.md what these are for: {missing}"
