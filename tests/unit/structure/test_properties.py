"""What holds for any pages whatever: no word is lost, doubled or changed, and the same pages give the same document."""

from __future__ import annotations

from collections import Counter
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from pincite.model import BlockKind, Line, OutlineEntry, ReadPage, Word
from tests.unit.paper import line, page, read, text_of

WORDS = (
    "rent Tenant the pays is in 7.2 (a) 1. • 12 iv contin- part- ues and Schedule Table 3: ..... £120 long-term 2024. "
    "ends. … Ünder 東京都。 Page - of"
).split()
COLUMNS = (72.0, 80.0, 102.0, 310.0, 500.0)
HEIGHTS = (20.0, 40.0, *(100.0 + 12.0 * at for at in range(20)), 780.0, 800.0)
STATED = (BlockKind.PARAGRAPH, BlockKind.CODE, BlockKind.HEADING)


@st.composite
def pages_of_lines(draw: st.DrawFn) -> list[ReadPage]:
    """Lines of anything anywhere; the numbers are drawn by one generator, since drawing each by itself is slow."""
    chance = draw(st.randoms(use_true_random=False))
    return [page(any_line(chance) for _ in range(chance.randint(0, 14))) for _ in range(draw(st.integers(0, 5)))]


def any_line(chance: Random) -> Line:
    texts = [chance.choice(WORDS) for _ in range(chance.randint(1, 8))]
    x, y, size = chance.choice(COLUMNS), chance.choice(HEIGHTS), chance.choice((8.0, 10.0, 10.0, 10.0, 14.0))
    if chance.randrange(6) == 0:
        row = chance.randrange(4)
        return line(" | ".join(texts), x, y, size, group=9, kind=BlockKind.TABLE, row=row, header_row=row == 0)
    kind = chance.choice((None, None, None, *STATED))
    level = chance.randint(1, 6) if kind is BlockKind.HEADING else 0
    bold, mono = chance.random() < 0.2, chance.random() < 0.1
    return line(" ".join(texts), x, y, size, bold=bold, mono=mono, group=chance.randrange(4), kind=kind, level=level)


PAGES = pages_of_lines()


def printed(words: list[Word]) -> Counter[tuple[str, object]]:
    return Counter((word.text, word.box) for word in words)


@given(PAGES)
@settings(deadline=None)
def test_every_word_of_every_page_is_in_exactly_one_block(pages: list[ReadPage]) -> None:
    document = read(*pages)
    spans = [span for block in document.blocks for span in block.spans]
    taken = Counter((span.page, at) for span in spans for at in range(span.first, span.end))
    assert taken == Counter((found.number, at) for found in document.pages for at in range(len(found.words)))


@given(PAGES)
@settings(deadline=None)
def test_no_word_is_lost_doubled_or_moved_to_another_page(pages: list[ReadPage]) -> None:
    document = read(*pages)
    assert [printed(list(found.words)) for found in document.pages] == [
        printed([word for one in given_page.lines for word in one.words]) for given_page in pages
    ]


@given(PAGES)
@settings(deadline=None)
def test_the_rows_of_a_table_are_its_words_in_order(pages: list[ReadPage]) -> None:
    document = read(*pages)
    for block in document.blocks:
        if block.kind is BlockKind.TABLE:
            in_rows = [word for row in block.rows for word in document.words_in(row)]
            assert in_rows == document.words_in(block.spans)
            assert 0 <= block.header_rows <= len(block.rows)


@given(PAGES)
@settings(deadline=None)
def test_blocks_are_read_apart_from_each_other(pages: list[ReadPage]) -> None:
    """Each ends in a line break, none is empty, and headings alone have a level."""
    document = read(*pages)
    for block in document.blocks:
        assert document.words_in(block.spans)[-1].after == "\n"
        assert text_of(document, block)
        assert (block.level > 0) is (block.kind is BlockKind.HEADING)


@given(PAGES)
@settings(deadline=None)
def test_the_same_pages_give_the_same_document(pages: list[ReadPage]) -> None:
    outline = [OutlineEntry(1, "Rent", 1)]
    assert read(*pages, outline=outline) == read(*pages, outline=outline)
