"""Markdown → blocks, by markdown-it-py (CommonMark with tables).

Mark-up is dropped and what it wraps is kept. A link's address follows its text in parentheses where the two differ;
raw HTML, comments included, and front matter are kept as code; definitions of links that nothing refers to are kept
as paragraphs at the end.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.token import Token

from pincite.extract.blocks import Block, RuleBlock, Run, RunLine, TableBlock, TextBlock
from pincite.extract.fonts import Style
from pincite.model import BlockKind

BODY_PT = 10.5
CODE_PT = 8.5
TABLE_PT = 9.0
HEADING_PT = {1: 20.0, 2: 16.0, 3: 13.5, 4: 12.0, 5: 11.0, 6: 10.5}
INDENT_PT = 20.0
MAX_INDENT_PT = 200.0
MAX_NESTING = 100  # the parser calls itself for each level, and Python allows about a thousand calls
TAB_COLUMNS = 4
FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?\n)(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
FRONT_MATTER_TITLE = re.compile(r"^title:[ \t]*(['\"]?)(.+?)\1[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ParsedMarkdown:
    """The blocks of a Markdown file, and its title ("" if it has none).

    `too_deep`: lists or quotes were nested deeper than is followed, and what stood below is missing.
    """

    blocks: list[Block]
    title: str
    too_deep: bool


def parsed_markdown(text: str) -> ParsedMarkdown:
    """The blocks of a Markdown text. Its title is its first heading of level 1, else what its front matter says."""
    parser = _Parser()
    title = ""
    front = FRONT_MATTER.match(text)
    if front is not None and ":" in front[1]:
        stated = FRONT_MATTER_TITLE.search(front[1])
        title = stated[2] if stated else ""
        parser.add_code(front[1])
        text = text[front.end() :]
    markdown = MarkdownIt("commonmark", {"maxNesting": MAX_NESTING}).enable(["table", "strikethrough"])
    environment: dict[str, object] = {}
    tokens = markdown.parse(text, environment)
    parser.add_all(tokens, environment)
    # What these hold is one level deeper than they are, and the parser leaves out what is too deep without a word.
    too_deep = any(t.level >= MAX_NESTING - 1 and t.type in ("blockquote_open", "list_item_open") for t in tokens)
    return ParsedMarkdown(parser.blocks, parser.title or title, too_deep)


@dataclass(slots=True)
class _Item:
    """A list item being parsed: its bullet or number, until that is set."""

    marker: str


@dataclass(slots=True)
class _Parser:
    blocks: list[Block] = field(default_factory=list)
    title: str = ""
    _group: int = 0
    _items: list[_Item] = field(default_factory=list)
    _quotes: int = 0
    _links: set[str] = field(default_factory=set)

    def add_all(self, tokens: Sequence[Token], environment: dict[str, object]) -> None:
        """The blocks of a whole file."""
        at = 0
        while at < len(tokens):
            if tokens[at].type == "table_open":
                end = next(i for i in range(at, len(tokens)) if tokens[i].type == "table_close")
                self._add_table(tokens[at : end + 1])
                at = end
            else:
                self._add(tokens[at], tokens[at + 1] if at + 1 < len(tokens) else None)
            at += 1
        self._add_unused_definitions(environment)

    def add_code(self, text: str) -> None:
        """Lines that are kept as they are."""
        lines = text.rstrip("\n").split("\n")
        self._settle_marker()
        self._append(
            BlockKind.CODE,
            [(Run(line.expandtabs(TAB_COLUMNS), Style.MONO),) for line in lines],
            CODE_PT,
            exact=True,
            space_before_pt=6.0,
        )

    def _add(self, token: Token, following: Token | None) -> None:
        match token.type:
            case "heading_open" if following is not None:
                self._add_heading(int(token.tag[1]), following)
            case "paragraph_open" if following is not None:
                self._add_paragraph(following)
            case "list_item_open":
                self._settle_marker()
                self._items.append(_Item(token.info + token.markup if token.info else "•"))
            case "list_item_close":
                self._settle_marker()
                self._items.pop()
            case "blockquote_open":
                self._settle_marker()
                self._quotes += 1
            case "blockquote_close":
                self._quotes -= 1
            case "fence" | "code_block" | "html_block":
                said = token.info.strip()  # the language, which is mark-up, and now and then a title, which is text
                self.add_code(f"{said}\n{token.content}" if " " in said else token.content)
            case "hr":
                self._settle_marker()
                self.blocks.append(RuleBlock(space_before_pt=8.0))

    def _add_heading(self, level: int, inline: Token) -> None:
        self._settle_marker()
        lines = self._inline(inline, Style.BOLD)
        title = " ".join("".join(run.text for line in lines for run in line).split())
        if level == 1 and not self.title:
            self.title = title
        self._append(BlockKind.HEADING, lines, HEADING_PT[level], level=level, space_before_pt=14.0)

    def _add_paragraph(self, inline: Token) -> None:
        lines = self._inline(inline)
        marker = self._take_marker()
        kind = BlockKind.LIST_ITEM if marker else BlockKind.PARAGRAPH
        self._append(kind, lines, BODY_PT, marker=marker, space_before_pt=3.0 if self._items else 7.0)

    def _settle_marker(self) -> None:
        """Give an item that begins with something other than text a line for its bullet."""
        marker = self._take_marker()
        if marker:
            self._append(BlockKind.LIST_ITEM, [()], BODY_PT, marker=marker, space_before_pt=3.0)

    def _take_marker(self) -> str:
        if not self._items:
            return ""
        marker, self._items[-1].marker = self._items[-1].marker, ""
        return marker

    def _append(
        self,
        kind: BlockKind,
        lines: Sequence[RunLine],
        size_pt: float,
        *,
        level: int = 0,
        marker: str = "",
        exact: bool = False,
        space_before_pt: float = 0.0,
    ) -> None:
        self._group += 1
        self.blocks.append(
            TextBlock(
                kind,
                tuple(lines),
                self._group,
                size_pt,
                level=level,
                indent_pt=self._indent_pt(),
                marker=marker,
                space_before_pt=space_before_pt,
                exact=exact,
                quoted=self._quotes > 0,
            )
        )

    def _indent_pt(self) -> float:
        return min(MAX_INDENT_PT, INDENT_PT * (len(self._items) + self._quotes))

    def _add_table(self, tokens: Sequence[Token]) -> None:
        self._settle_marker()
        rows: list[list[RunLine]] = []
        header_rows = 0
        in_head = False
        for token in tokens:
            if token.type in ("thead_open", "thead_close"):
                in_head = token.type == "thead_open"
            elif token.type == "tr_open":
                rows.append([])
                header_rows += in_head
            elif token.type == "inline":
                lines = self._inline(token, Style.BOLD if in_head else Style.PLAIN)
                rows[-1].append(tuple(run for line in lines for run in (*line, Run(" "))))
        self._group += 1
        table = TableBlock(tuple(map(tuple, rows)), header_rows, self._group, TABLE_PT, self._indent_pt(), 8.0)
        self.blocks.append(table)

    def _inline(self, inline: Token, base: Style = Style.PLAIN) -> list[RunLine]:
        """The lines of a paragraph: one, unless it has hard line breaks."""
        lines: list[list[Run]] = [[]]
        style = base
        links: list[tuple[str, int]] = []
        for token in inline.children or ():
            match token.type:
                case "softbreak":
                    lines[-1].append(Run(" ", style))
                case "hardbreak":
                    lines.append([])
                case "strong_open":
                    style |= Style.BOLD
                case "strong_close":
                    style = (style & ~Style.BOLD) | base
                case "em_open":
                    style |= Style.ITALIC
                case "em_close":
                    style &= ~Style.ITALIC
                case "code_inline":
                    lines[-1].append(Run(token.content, style | Style.MONO))
                case "link_open":
                    links.append((_address(token, "href"), sum(map(len, lines))))
                case "link_close":
                    address, start = links.pop()
                    self._links.add(address)
                    text = "".join([run.text for line in lines for run in line][start:])
                    lines[-1] += _address_runs(address, text, style)
                case "image":
                    address = _address(token, "src")
                    self._links.add(address)
                    lines[-1].append(Run(token.content, style))
                    lines[-1] += _address_runs(address, token.content, style)
                case _:
                    lines[-1].append(Run(token.content, style))
        return [tuple(line) for line in lines]

    def _add_unused_definitions(self, environment: dict[str, object]) -> None:
        references = environment.get("references")
        if not isinstance(references, dict):
            return
        for label, reference in references.items():
            address = _with_title(str(reference["href"]), str(reference.get("title") or ""))
            if address not in self._links:
                self._append(BlockKind.PARAGRAPH, [(Run(f"[{label}]: {address}"),)], BODY_PT, space_before_pt=7.0)


def _address(token: Token, attribute: str) -> str:
    return _with_title(str(token.attrGet(attribute) or ""), str(token.attrGet("title") or ""))


def _with_title(address: str, title: str) -> str:
    return f"{address} {title}".strip()


def _address_runs(address: str, text: str, style: Style) -> list[Run]:
    """What is read of a link's address: nothing where the text is the address, or it leads within the file."""
    plain = unquote(address).removeprefix("mailto:")
    if not address or plain == text.strip() or address.startswith("#"):
        return []
    if address.startswith("data:"):
        return [Run(" (embedded data)", style)]
    return [Run(f" ({plain})", style)]
