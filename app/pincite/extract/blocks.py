"""What the text formats are parsed into before they are laid out on pages: blocks of styled text."""

from __future__ import annotations

from dataclasses import dataclass

from pincite.extract.fonts import Style
from pincite.model import BlockKind


@dataclass(frozen=True, slots=True)
class Run:
    """Text in one style. White space in it separates words; runs that meet without any make one word."""

    text: str
    style: Style = Style.PLAIN


RunLine = tuple[Run, ...]


@dataclass(frozen=True, slots=True)
class TextBlock:
    """A heading, paragraph, list item or piece of code.

    `lines` are those the file insists on; each is wrapped to the page. `group` is the `Line.group` of all its lines,
    unique in the document. An `exact` block keeps its spaces and makes one `Line` of each of its lines, however often
    it wraps. `marker` is a list item's bullet or number.
    """

    kind: BlockKind | None
    lines: tuple[RunLine, ...]
    group: int
    size_pt: float
    level: int = 0
    indent_pt: float = 0.0
    marker: str = ""
    space_before_pt: float = 0.0
    exact: bool = False
    new_page: bool = False
    quoted: bool = False  # a bar is drawn beside it


@dataclass(frozen=True, slots=True)
class TableBlock:
    """A table: rows of cells, of which the first `header_rows` head the columns."""

    rows: tuple[tuple[RunLine, ...], ...]
    header_rows: int
    group: int
    size_pt: float
    indent_pt: float = 0.0
    space_before_pt: float = 0.0


@dataclass(frozen=True, slots=True)
class RuleBlock:
    """A line across the page."""

    space_before_pt: float = 0.0


Block = TextBlock | TableBlock | RuleBlock
