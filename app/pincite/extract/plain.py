"""Plain text → blocks.

Prose is given without a kind, so that numbered clauses, lists and headings are found in it as they are in a PDF; the
lines of a paragraph share a group. Lines that must stay lines (logs, columns, addresses, verse) are CODE: each keeps
its spaces and is one `Line`, and those between two blank lines share a group.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pincite.extract.blocks import Run, TextBlock
from pincite.extract.fonts import Style
from pincite.model import BlockKind

PROSE_PT = 10.5
EXACT_PT = 8.5
TAB_COLUMNS = 8
BLANK_LINE_PT = 8.0
INDENT_PER_SPACE_PT = 4.0
MAX_INDENT_PT = 200.0
SAMPLE_LINES = 2000
LOG_SHARE = 0.3
FULL_SHARE = 0.6  # of the usual width: prose that was wrapped by hand has such lines, all but the last
COLUMNS_SHARE = 0.4

LOG_START = re.compile(
    r"[\[(<]?\d{4}[-/.]\d\d[-/.]\d\d"  # 2026-03-01
    r"|[\[(<]?\d\d?[-/.]\w{2,3}[-/.]\d{2,4}[ T:]\d"  # 01/Mar/2026:12
    r"|[\[(<]?\d\d:\d\d:\d\d"
    r"|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) +\d\d? \d\d:\d\d"
    r"|\[?(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|FATAL|CRITICAL)\b"
)
LISTED = re.compile(r"\s*(?:[-*+•‣▪–—]|\(?\w{1,3}[.)]|\d+(?:\.\d+)+)\s+\S")
COLUMNS = re.compile(r"\S(?: {3,}|\t+)\S")


def plain_blocks(text: str) -> list[TextBlock]:
    """The blocks of a plain text."""
    lines = text.split("\n")
    sample = [line for line in lines[:SAMPLE_LINES] if line.strip()]
    log = _is_log(sample)
    usual_width = _usual_width(sample)
    blocks: list[TextBlock] = []
    for group, (paragraph, new_page) in enumerate(_paragraphs(lines), 1):
        space = BLANK_LINE_PT if blocks else 0.0
        if log or _keeps_its_lines(paragraph, usual_width):
            blocks += _exact(paragraph, group, space, new_page)
        else:
            blocks += _prose(paragraph, group, space, new_page)
    return blocks


def _paragraphs(lines: Sequence[str]) -> Iterator[tuple[list[str], bool]]:
    """Runs of lines between blank ones, and whether a page break stands before each."""
    paragraph: list[str] = []
    new_page = False
    for line in lines:
        for index, part in enumerate(line.split("\f")):
            if index or not part.strip():
                if paragraph:
                    yield paragraph, new_page
                    new_page = False
                paragraph = []
            new_page = new_page or index > 0
            if part.strip():
                paragraph.append(part.rstrip())
    if paragraph:
        yield paragraph, new_page


def _is_log(sample: Sequence[str]) -> bool:
    return len(sample) > 1 and sum(1 for line in sample if LOG_START.match(line)) >= LOG_SHARE * len(sample)


def _usual_width(sample: Sequence[str]) -> int:
    """The width most lines are wrapped to, in characters: nine in ten are no longer."""
    widths = sorted(len(line) for line in sample)
    return widths[int(0.9 * (len(widths) - 1))] if widths else 0


def _keeps_its_lines(paragraph: Sequence[str], usual_width: int) -> bool:
    if len(paragraph) < 2:
        return bool(COLUMNS.search(paragraph[0].strip()))
    if sum(1 for line in paragraph if COLUMNS.search(line.strip())) >= COLUMNS_SHARE * len(paragraph):
        return True
    if sum(1 for line in paragraph if LISTED.match(line)) * 2 >= len(paragraph):
        return False
    full = sum(1 for line in paragraph[:-1] if len(line) >= FULL_SHARE * usual_width)
    return 2 * full < len(paragraph) - 1


def _exact(paragraph: Sequence[str], group: int, space: float, new_page: bool) -> Iterator[TextBlock]:
    for index, line in enumerate(paragraph):
        yield TextBlock(
            kind=BlockKind.CODE,
            lines=((Run(line.expandtabs(TAB_COLUMNS), Style.MONO),),),
            group=group,
            size_pt=EXACT_PT,
            space_before_pt=0.0 if index else space,
            exact=True,
            new_page=new_page and index == 0,
        )


def _prose(paragraph: Sequence[str], group: int, space: float, new_page: bool) -> Iterator[TextBlock]:
    for index, line in enumerate(paragraph):
        line = line.expandtabs(TAB_COLUMNS)
        indent = len(line) - len(line.lstrip())
        yield TextBlock(
            kind=None,
            lines=((Run(line.strip()),),),
            group=group,
            size_pt=PROSE_PT,
            indent_pt=min(MAX_INDENT_PT, indent * INDENT_PER_SPACE_PT),
            space_before_pt=0.0 if index else space,
            new_page=new_page and index == 0,
        )
