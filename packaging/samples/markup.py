"""Reads the small markup of the texts and turns it into the pieces that reportlab sets on pages.

Blocks stand between blank lines. A block is a heading (`# `, `## `, `### `), a list (`- `, `1. `), a clause (`1.1 `,
`(a) `), a callout (`> `), a table (`@table` and rows of `| cell | cell |`), another directive (`@name rest`), or a
paragraph. Inside a line `**bold**`, `*italic*` and `^raised^` are known.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from xml.sax.saxutils import escape

from reportlab.lib.colors import Color
from reportlab.lib.styles import ParagraphStyle
from reportlab.platypus import CondPageBreak, Flowable, Paragraph, Table, TableStyle
from style import (
    BODY,
    CALLOUT,
    CAPTION,
    CELL,
    CLAUSE,
    LIST,
    PALE,
    RULE,
    SANS_BOLD,
    SUBCLAUSE,
    TEAL,
    WHITE,
)

ROWS_KEPT_TOGETHER = 12
SOFT_HYPHEN = "\u00ad"
NUMBERED = re.compile(r"(\d+(?:\.\d+)*|\([a-zA-Z]\))\s+(.*)", re.DOTALL)
OPTION = re.compile(r'(\w+)(?:=("[^"]*"|\S+))?')


class Heading(Paragraph):
    """A heading that remembers its words and level, for the outline and the contents."""

    def __init__(self, text: str, style: ParagraphStyle, level: int, plain: str) -> None:
        super().__init__(text, style)
        self.level, self.plain = level, plain


@dataclass
class Setter:
    """Turns blocks into pieces; `directives` answer to what only one kind of document needs."""

    headings: Mapping[int, ParagraphStyle]
    directives: Mapping[str, Callable[[str], list[Flowable]]] = field(default_factory=dict)
    syllables: Mapping[str, str] = field(default_factory=dict)
    width_pt: float = 451
    body: ParagraphStyle = BODY
    clauses: bool = False
    around_heading: Callable[[Heading], list[Flowable]] = lambda heading: [heading]
    table_count: int = 0

    def pieces(self, text: str) -> list[Flowable]:
        """The whole text as pieces, in order."""
        made: list[Flowable] = []
        for block in re.split(r"\n\s*\n", text.strip()):
            made += self.block(block.strip("\n"))
        return made

    def block(self, block: str) -> list[Flowable]:
        """One block of the markup as pieces."""
        if block.startswith("@table"):
            return self.table(block)
        if block.startswith("@"):
            return [piece for line in block.splitlines() for piece in self.directive(line)]
        if block.startswith("#"):
            return self.heading(block)
        if block.startswith("> "):
            return [Paragraph(self.inline(block[2:]), CALLOUT)]
        if re.match(r"- |\d+\. ", block):
            return [self.list_item(line) for line in block.splitlines()]
        if self.clauses and (numbered := NUMBERED.fullmatch(block)):
            style = SUBCLAUSE if numbered[1].islower() else CLAUSE
            return [Paragraph(self.inline(numbered[2]), style, bulletText=numbered[1])]
        return [Paragraph(self.inline(block), self.body)]

    def directive(self, line: str) -> list[Flowable]:
        """What `@name rest` stands for."""
        name, _, rest = line.removeprefix("@").partition(" ")
        return self.directives[name](rest)

    def heading(self, block: str) -> list[Flowable]:
        """A heading, with whatever the document puts around headings of its level."""
        hashes, _, title = block.partition(" ")
        made = Heading(self.inline(title), self.headings[len(hashes)], len(hashes), title)
        return self.around_heading(made)

    def list_item(self, line: str) -> Paragraph:
        """A bulleted or numbered item."""
        bullet, _, text = line.partition(" ")
        return Paragraph(self.inline(text), LIST, bulletText="•" if bullet == "-" else bullet)

    def inline(self, text: str) -> str:
        """`text` as reportlab's paragraph markup, with soft hyphens where a word may break."""
        text = escape(re.sub(r"\s*\n\s*", " ", text)).replace("'", "’")
        text = re.sub(r"[A-Za-z’']+", lambda word: self.softened(word[0]), text)
        text = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", text)
        text = re.sub(r"\*(.+?)\*", r"<i>\1</i>", text)
        return re.sub(r"\^(.+?)\^", r"<super size=7>\1</super>", text)

    def softened(self, word: str) -> str:
        """`word` with soft hyphens between its syllables, where the list knows them."""
        pattern = self.syllables.get(word.lower())
        if pattern is None:
            return word
        parts, at = [], 0
        for syllable in pattern.split("-"):
            parts.append(word[at : at + len(syllable)])
            at += len(syllable)
        return SOFT_HYPHEN.join(parts)

    def table(self, block: str) -> list[Flowable]:
        """A ruled table whose first row is repeated on every page, under its caption."""
        head, *lines = block.splitlines()
        options = {key: value.strip('"') for key, value in OPTION.findall(head.removeprefix("@table"))}
        widths = [float(share) * self.width_pt / 100 for share in options["widths"].split(",")]
        align = options.get("align", "l" * len(widths))
        rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines]
        cells = [
            [self.cell(text, side, row == 0) for text, side in zip(texts, align, strict=True)]
            for row, texts in enumerate(rows)
        ]
        made: list[Flowable] = [CondPageBreak(100 if len(rows) > ROWS_KEPT_TOGETHER else 24 + 21 * len(rows))]
        if "caption" in options:
            self.table_count += 1
            made.append(Paragraph(self.inline(f"Table {self.table_count}. {options['caption']}"), CAPTION))
        table = Table(cells, widths, repeatRows=1, style=ruled("total" in options), spaceAfter=12)
        return [*made, table]

    def cell(self, text: str, side: str, heads_column: bool) -> Paragraph:
        """One cell; `side` is l or r."""
        style = ParagraphStyle(
            "cell",
            parent=CELL,
            alignment=2 if side == "r" else 0,
            fontName=SANS_BOLD if heads_column else CELL.fontName,
            textColor=WHITE if heads_column else CELL.textColor,
        )
        return Paragraph(self.inline(text).replace(SOFT_HYPHEN, ""), style)


def ruled(has_total: bool) -> TableStyle:
    """Thin rules around every cell, a dark first row and, with `has_total`, a shaded last one."""
    commands: list[tuple[str, tuple[int, int], tuple[int, int], *tuple[float | str | Color, ...]]] = [
        ("GRID", (0, 0), (-1, -1), 0.6, RULE),
        ("BACKGROUND", (0, 0), (-1, 0), TEAL),
        ("VALIGN", (0, 0), (-1, -1), "MIDDLE"),
        ("TOPPADDING", (0, 0), (-1, -1), 3.2),
        ("BOTTOMPADDING", (0, 0), (-1, -1), 4.2),
    ]
    if has_total:
        commands.append(("BACKGROUND", (0, -1), (-1, -1), PALE))
    return TableStyle(commands)


def syllables_from(path: Path) -> dict[str, str]:
    """The list of words that may break: each word, mapped to itself with hyphens between syllables."""
    return {word.replace("-", ""): word for word in path.read_text(encoding="utf-8").split()}
