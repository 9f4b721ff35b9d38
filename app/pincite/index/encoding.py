"""How words, spans and blocks are laid down in the store, compactly and without pickle."""

from __future__ import annotations

import json
import zlib
from array import array
from collections.abc import Sequence

from pincite.model import Block, BlockKind, Box, Span, Word


def packed_words(words: Sequence[Word]) -> bytes:
    """Texts and separators as JSON, boxes as 32-bit floats, together compressed: about 12 bytes a word."""
    text = json.dumps(
        [[w.text for w in words], [w.after for w in words], [i for i, w in enumerate(words) if w.joined]],
        ensure_ascii=False,
        separators=(",", ":"),
    ).encode("utf-8", "surrogatepass")
    boxes = array("f", [edge for w in words for edge in (w.box.x0, w.box.y0, w.box.x1, w.box.y1)])
    return zlib.compress(len(text).to_bytes(4, "big") + text + boxes.tobytes(), 6)


def unpacked_words(packed: bytes) -> tuple[Word, ...]:
    """The words that packed_words laid down; boxes keep the precision of 32-bit floats."""
    raw = zlib.decompress(packed)
    size = int.from_bytes(raw[:4], "big")
    texts, afters, joined = json.loads(raw[4 : 4 + size].decode("utf-8", "surrogatepass"))
    edges = array("f")
    edges.frombytes(raw[4 + size :])
    halves = set(joined)
    return tuple(
        Word(text, Box(*edges[4 * i : 4 * i + 4]), after, i in halves)
        for i, (text, after) in enumerate(zip(texts, afters, strict=True))
    )


def packed_spans(spans: Sequence[Span]) -> str:
    """Spans as a short JSON list."""
    return json.dumps([[s.page, s.first, s.end] for s in spans], separators=(",", ":"))


def unpacked_spans(packed: str) -> tuple[Span, ...]:
    """The spans that packed_spans laid down."""
    return tuple(Span(*span) for span in json.loads(packed))


def packed_blocks(blocks: Sequence[Block]) -> bytes:
    """Blocks as compressed JSON."""
    rows = [
        [
            block.kind.value,
            [[s.page, s.first, s.end] for s in block.spans],
            block.level,
            block.number,
            [[[s.page, s.first, s.end] for s in row] for row in block.rows],
            block.header_rows,
        ]
        for block in blocks
    ]
    return zlib.compress(json.dumps(rows, separators=(",", ":")).encode("utf-8", "surrogatepass"), 6)


def unpacked_blocks(packed: bytes) -> tuple[Block, ...]:
    """The blocks that packed_blocks laid down."""
    return tuple(
        Block(
            BlockKind(kind),
            tuple(Span(*span) for span in spans),
            level,
            number,
            tuple(tuple(Span(*span) for span in row) for row in rows),
            header_rows,
        )
        for kind, spans, level, number, rows, header_rows in json.loads(zlib.decompress(packed).decode("utf-8"))
    )
