"""Text files are drawn as they were laid out: the ink of every word is in its box."""

from __future__ import annotations

from pathlib import Path

import pytest

from pincite.errors import UnreadableError
from pincite.extract.formats import Format
from pincite.extract.pictures import picture_of
from pincite.extract.textfile import TextFile
from tests.unit.extract.pages import Painting, words_of

ZOOM = 2.0
MARKDOWN = """# Meeting notes

Some *emphasised* and **bold** text with `code`, Ångström, Ελληνικά, кириллица, 漢字かな, עברית, हिन्दी, ไทย and ✓.

- first item
  1. nested

> quoted

```
def code(x):
    return  x
```

| Item | Amount |
|------|-------:|
| Rent | 1,200  |
"""


def drawn(path: Path, number: int = 1) -> Painting:
    file = TextFile(path, Format.MARKDOWN if path.suffix == ".md" else Format.TEXT)
    return Painting(picture_of(file.page_to_draw(number), ZOOM), ZOOM)


@pytest.mark.parametrize("name", ["notes.md", "notes.txt"])
def test_the_ink_is_in_the_boxes_of_the_words(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(MARKDOWN, encoding="utf-8")
    file = TextFile(path, Format.MARKDOWN if path.suffix == ".md" else Format.TEXT)
    (page,) = file.pages()
    words = words_of(page)
    painting = Painting(picture_of(file.page_to_draw(1), ZOOM), ZOOM)
    assert [word.text for word in words if not painting.ink(word.box)] == []
    assert painting.ink_outside(word.box for word in words) == 0


def test_a_character_that_no_font_has_is_drawn_as_a_replacement_and_kept_in_the_text(tmp_path: Path) -> None:
    path = tmp_path / "rare.txt"
    path.write_text("a \U00020000 b", encoding="utf-8")
    (page,) = TextFile(path, Format.TEXT).pages()
    rare = words_of(page)[1]
    assert rare.text == "\U00020000"
    assert drawn(path).ink(rare.box)


def test_a_page_can_be_drawn_without_having_been_read(tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_text("\n\n".join(f"paragraph number {n} of this text" for n in range(200)), encoding="utf-8")
    read = list(TextFile(path, Format.TEXT).pages())
    assert len(read) > 3
    fresh = TextFile(path, Format.TEXT)
    for number in (3, 2, 1, len(read), len(read) - 1):
        painting = Painting(picture_of(fresh.page_to_draw(number), ZOOM), ZOOM)
        assert painting.ink_outside(word.box for word in words_of(read[number - 1])) == 0
        assert all(painting.ink(word.box) for word in words_of(read[number - 1]))
    with pytest.raises(UnreadableError, match="no page"):
        fresh.page_to_draw(len(read) + 1)


def test_the_title_of_markdown_is_metadata(tmp_path: Path) -> None:
    path = tmp_path / "notes.md"
    path.write_text(MARKDOWN, encoding="utf-8")
    metadata = TextFile(path, Format.MARKDOWN).metadata()
    assert (metadata.format, metadata.title) == ("markdown", "Meeting notes")


def test_a_guessed_encoding_is_a_problem_that_costs_no_text(tmp_path: Path) -> None:
    path = tmp_path / "old.txt"
    path.write_bytes("Die Miete ist jeweils am Ersten fällig.".encode("cp1252"))
    file = TextFile(path, Format.TEXT)
    assert not file.partly_read
    assert "Windows-1252" in file.problems[0]


def test_text_nested_too_deeply_is_said_to_be_missing(tmp_path: Path) -> None:
    path = tmp_path / "deep.md"
    path.write_text("read\n\n" + "> " * 500 + "lost", encoding="utf-8")
    file = TextFile(path, Format.MARKDOWN)
    assert file.partly_read
    assert "nested too deeply" in file.problems[0]
