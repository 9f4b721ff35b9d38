"""Files are opened by their format, and those kept open are the ones on disk now."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pincite.errors import UnreadableError, UnsupportedError
from pincite.extract.files import KEPT_OPEN, OpenFile, Shelf, opened
from pincite.extract.formats import format_of, supported
from tests.unit.extract.pages import pdf_with_text, texts_of


def words_in(file: OpenFile) -> list[str]:
    return [text for page in file.pages() for text in texts_of(page)]


@pytest.mark.parametrize("name", ["a.pdf", "A.PDF", "b.md", "c.Markdown", "d.txt", "e.text", "f.log", "x.tar.txt"])
def test_names_that_are_read(name: str) -> None:
    assert supported(Path(name))


@pytest.mark.parametrize("name", ["a.docx", "b", "c.pdf.zip", ".pdf", "d.", "e.png"])
def test_names_that_are_not_read(name: str) -> None:
    assert not supported(Path(name))
    assert format_of(Path(name)) is None


def test_what_is_not_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match=r"\.docx"):
        opened(tmp_path / "letter.DOCX")
    with pytest.raises(UnsupportedError, match="no ending"):
        opened(tmp_path / "letter")


def test_a_file_that_changed_is_opened_anew(tmp_path: Path) -> None:
    path, shelf = tmp_path / "notes.txt", Shelf()
    path.write_text("old words")
    first = shelf.file(path)
    assert shelf.file(path) is first
    path.write_text("new words, and more of them")
    assert words_in(shelf.file(path)) == ["new words, and more of them"]


def test_a_file_rewritten_at_the_same_size_is_opened_anew(tmp_path: Path) -> None:
    path, shelf = tmp_path / "notes.txt", Shelf()
    path.write_text("one")
    shelf.file(path)
    path.write_text("two")
    status = path.stat()
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns + 1_000_000_000))
    assert words_in(shelf.file(path)) == ["two"]


def test_the_one_used_longest_ago_is_closed_first(tmp_path: Path) -> None:
    shelf = Shelf()
    paths = [pdf_with_text(tmp_path / f"{n}.pdf", f"number {n}") for n in range(KEPT_OPEN + 1)]
    files = [shelf.file(path) for path in paths[:KEPT_OPEN]]
    shelf.file(paths[0])
    shelf.file(paths[KEPT_OPEN])
    assert shelf.file(paths[0]) is files[0]
    assert shelf.file(paths[1]) is not files[1]
    assert words_in(shelf.file(paths[1])) == ["number 1"]


def test_a_file_that_is_gone_is_said_to_be(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match="cannot be opened"):
        Shelf().file(tmp_path / "gone.txt")
