"""Answers as rich text: escaped, with citation numbers as links. Pure functions; nothing from a document is markup."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

LINE_HEIGHT = 132  # per cent of the font's own
MARKER = re.compile(r"\s*\[(\d{1,3})\]")
LAST_MARKERS = re.compile(r"(?:\s*\[\d{1,3}\])+\s*[.!?]?")


def escaped(text: str) -> str:
    """`text` as rich text that shows exactly it."""
    return html.escape(text).replace("\n", "<br>")


def tooltip(text: str) -> str:
    """`text` for a tool tip. Escaped and marked as rich text, so that Qt neither guesses nor loads anything."""
    return f"<qt>{escaped(text)}</qt>"


def paragraph(body: str) -> str:
    """Rich text `body` set for reading."""
    return f'<p style="margin:0; line-height:{LINE_HEIGHT}%;">{body}</p>'


def numbers_html(links: Iterable[tuple[int, str]], colour: str) -> str:
    """Superscript citation numbers, each a link to its own address."""
    sign = '<a href="{}" style="color:{}; text-decoration:none;">&nbsp;{}&nbsp;</a>'
    signs = [sign.format(html.escape(address), colour, number) for number, address in links]
    return (
        f'<span style="vertical-align:super; font-size:large; font-weight:600;">{"".join(signs)}</span>'
        if signs
        else ""
    )


def streamed_html(text: str, known: int, colour: str) -> str:
    """Text as it is being written, its markers [1] to [`known`] turned into links to `source:1` and so on."""
    parts: list[str] = []
    end = 0
    for marker in MARKER.finditer(text):
        number = int(marker.group(1))
        if 1 <= number <= known:
            parts.append(escaped(text[end : marker.start()]))
            parts.append(numbers_html([(number, f"source:{number}")], colour))
            end = marker.end()
    return "".join(parts) + escaped(text[end:])


def without_markers(text: str) -> str:
    """`text` without its citation markers."""
    return MARKER.sub("", text).strip()


def rest_after(streamed: str, sentence: str) -> str:
    """What remains of `streamed` after `sentence`, which was checked and is shown by itself.

    A sentence that was mended after it was written is not found as it stands; then everything to the end of the
    first citations goes, which is where a written sentence ends.
    """
    found = _loose_pattern(sentence).search(streamed)
    if found is None:
        found = LAST_MARKERS.search(streamed)
    if found is None:
        return ""
    following = LAST_MARKERS.match(streamed, found.end())
    return streamed[following.end() if following else found.end() :].lstrip()


def _loose_pattern(sentence: str) -> re.Pattern[str]:
    """`sentence` without its markers and final stop, whatever white space and markers stand between its words."""
    words = without_markers(sentence).rstrip(".!?").split()
    between = r"(?:\s*\[\d{1,3}\])*\s*"
    return re.compile(between.join(re.escape(word) for word in words) + between + r"[.!?]*", re.DOTALL)
