"""Text is laid out on pages: every word once, in order, on the page, and the same each time."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pincite.extract.blocks import Block, Run, TableBlock, TextBlock
from pincite.extract.fonts import Faces, Style
from pincite.extract.layout import BOTTOM_PT, LEFT_PT, RIGHT_PT, TOP_PT, LaidPage, Layout, Start
from pincite.extract.limits import MAX_WORD_CHARS
from pincite.model import BlockKind, ReadPage, Word

FACES = Faces()
WORDS = [
    "rent",
    "is",
    "due,",
    "1,200",
    "x" * 30,
    "y" * 300,
    "漢字の文章です。次の文",
    "שלום",
    "ﬁn",
    "e\u0301",
    "😀",
    "\U00020000",
]

texts = st.lists(st.sampled_from(WORDS), max_size=15).map(" ".join)
runs = st.lists(st.builds(Run, texts, st.sampled_from([Style(n) for n in range(8)])), max_size=3).map(tuple)
text_blocks = st.builds(
    TextBlock,
    kind=st.sampled_from([None, BlockKind.PARAGRAPH, BlockKind.HEADING, BlockKind.LIST_ITEM, BlockKind.CODE]),
    lines=st.lists(runs, min_size=1, max_size=4).map(tuple),
    group=st.integers(0, 9),
    size_pt=st.floats(6, 24),
    indent_pt=st.floats(0, 200),
    marker=st.sampled_from(["", "•", "12."]),
    space_before_pt=st.floats(0, 30),
    exact=st.booleans(),
    new_page=st.booleans(),
    quoted=st.booleans(),
)
table_blocks = st.builds(
    TableBlock,
    rows=st.lists(st.lists(runs, min_size=1, max_size=15).map(tuple), max_size=4).map(tuple),
    header_rows=st.integers(0, 1),
    group=st.integers(0, 9),
    size_pt=st.floats(6, 12),
    indent_pt=st.floats(0, 100),
    space_before_pt=st.floats(0, 30),
)
documents = st.lists(text_blocks | table_blocks, max_size=5)


def laid(blocks: list[Block]) -> list[LaidPage]:
    return list(Layout(blocks, FACES).pages())


def words_on(pages: list[LaidPage]) -> list[Word]:
    return [word for page in pages for line in page.page.lines for word in line.words]


def source_words(block: Block) -> list[str]:
    lines = block.lines if isinstance(block, TextBlock) else [cell for row in block.rows for cell in row]
    marker = [block.marker] if isinstance(block, TextBlock) and block.marker else []
    return marker + " ".join("".join(run.text for run in line) for line in lines).split()


def paragraph(text: str, **shape: object) -> TextBlock:
    return TextBlock(BlockKind.PARAGRAPH, ((Run(text),),), 1, 10.0, **shape)  # type: ignore[arg-type]


@settings(max_examples=30, deadline=None)
@given(st.lists(text_blocks, max_size=8))
def test_every_word_is_there_once_and_in_order(blocks: list[Block]) -> None:
    read = "".join(word.text + word.after for word in words_on(laid(blocks)))
    assert read.split() == [word for block in blocks for word in source_words(block)]


@settings(max_examples=30, deadline=None)
@given(table_blocks)
def test_every_word_of_a_table_is_there_once(table: TableBlock) -> None:
    read = "".join(word.text for word in words_on(laid([table])))
    assert sorted(read) == sorted("".join(source_words(table)))


@settings(max_examples=25, deadline=None)
@given(documents)
def test_every_word_is_on_its_page_and_no_page_is_empty_but_a_lone_one(blocks: list[Block]) -> None:
    pages = [page.page for page in laid(blocks)]
    assert [page.number for page in pages] == list(range(1, len(pages) + 1))
    assert len(pages) == 1 or pages[-1].lines
    for page in pages:
        for line in page.lines:
            assert line.words
            for word in line.words:
                assert 0 <= word.box.x0 <= word.box.x1 <= page.width
                assert TOP_PT <= word.box.y0 < word.box.y1 <= page.height
                assert 0 < len(word.text) <= MAX_WORD_CHARS


@settings(max_examples=25, deadline=None)
@given(documents, st.data())
def test_a_page_laid_again_from_its_start_is_the_same(blocks: list[Block], data: st.DataObject) -> None:
    layout = Layout(blocks, FACES)
    pages = {page.page.number: page for page in layout.pages()}
    number = data.draw(st.sampled_from(sorted(pages)))
    again = Layout(blocks, FACES, layout.starts[number])
    assert next(page for page in again.pages() if page.page.number == number) == pages[number]


@settings(max_examples=25, deadline=None)
@given(documents)
def test_what_is_drawn_are_the_words(blocks: list[Block]) -> None:
    for page in laid(blocks):
        drawn = "".join(glyphs.text for glyphs in page.glyphs)
        assert sorted(drawn) == sorted("".join(word.text for line in page.page.lines for word in line.words))


def only(pages: list[LaidPage]) -> ReadPage:
    (page,) = pages
    return page.page


def test_rows_of_a_paragraph_are_lines_that_fit_between_the_margins() -> None:
    page = only(laid([paragraph("word " * 100)]))
    assert len(page.lines) > 3
    assert all(line.box.x0 >= LEFT_PT - 0.01 and line.box.x1 <= RIGHT_PT + 0.01 for line in page.lines)
    assert all(above.box.y1 <= below.box.y0 for above, below in pairwise(page.lines))
    assert {line.group for line in page.lines} == {1}
    assert all(line.words[-1].after == "\n" for line in page.lines)


def test_words_of_several_styles_are_one_word() -> None:
    block = TextBlock(None, ((Run("bold", Style.BOLD), Run("ed, "), Run("x")),), 1, 10.0)
    assert [word.text for word in only(laid([block])).lines[0].words] == ["bolded,", "x"]


def test_an_exact_line_is_one_line_however_often_it_wraps() -> None:
    code = TextBlock(BlockKind.CODE, ((Run("    call( a,  b )" + " and more" * 30, Style.MONO),),), 1, 8.5, exact=True)
    (line,) = only(laid([code])).lines
    rows = {word.box.y0 for word in line.words}
    assert len(rows) > 2
    assert line.mono
    column = FACES[Style.MONO][" "] * 8.5
    assert line.words[0].box.x0 == pytest.approx(LEFT_PT + 4 * column)
    assert line.words[2].box.x0 - line.words[1].box.x1 == pytest.approx(2 * column)


def test_a_line_that_goes_over_the_page_goes_on_there() -> None:
    long = TextBlock(BlockKind.CODE, ((Run("word " * 3000, Style.MONO),),), 1, 10.0, exact=True)
    pages = laid([paragraph("first"), long])
    assert len(pages) > 2
    assert len(words_on(pages)) == 3001
    assert all(len(page.page.lines) == 1 for page in pages[1:])


def test_a_heading_is_not_left_alone_at_the_foot_of_a_page() -> None:
    fill = [paragraph("line") for _ in range(int((BOTTOM_PT - TOP_PT) / 14) - 2)]
    heading = TextBlock(BlockKind.HEADING, ((Run("Next"),),), 2, 16.0, level=1)
    first, second = laid([*fill, heading, paragraph("text")])
    assert [line.text for line in second.page.lines] == ["Next", "text"]
    assert second.page.lines[0].level == 1
    assert all(line.text == "line" for line in first.page.lines)


def test_a_marker_stands_left_of_its_item() -> None:
    item = TextBlock(BlockKind.LIST_ITEM, ((Run("item " * 40),),), 1, 10.0, marker="•", indent_pt=20)
    first, second, *_ = only(laid([item])).lines
    assert first.words[0].text == "•"
    assert LEFT_PT <= first.words[0].box.x0 < first.words[1].box.x0 == second.words[0].box.x0 == LEFT_PT + 20


def test_right_to_left_text_runs_from_the_right() -> None:
    (line,) = only(laid([paragraph("שלום עולם")])).lines
    assert [word.text for word in line.words] == ["שלום", "עולם"]
    assert line.words[0].box.x1 == pytest.approx(RIGHT_PT)
    assert line.words[1].box.x1 < line.words[0].box.x0


def test_a_sentence_of_chinese_is_a_word_of_its_own() -> None:
    (line,) = only(laid([paragraph("租金每月支付。押金一次付清。")])).lines
    assert [word.text for word in line.words] == ["租金每月支付。", "押金一次付清。"]
    assert line.text == "租金每月支付。押金一次付清。"


def cell(text: str) -> tuple[Run, ...]:
    return (Run(text),)


def test_the_rows_of_a_table_are_lines() -> None:
    rows = [[cell("Item"), cell("Amount"), cell("Note")], [cell("Rent"), cell(""), cell("due " * 100)]]
    table = TableBlock(tuple(map(tuple, rows)), 1, 7, 9.0)
    head, body = only(laid([table])).lines
    assert head.text == "Item | Amount | Note"
    assert body.text == "Rent |  | " + ("due " * 100).strip()
    assert [(line.kind, line.group, line.row, line.header_row) for line in (head, body)] == [
        (BlockKind.TABLE, 7, 0, True),
        (BlockKind.TABLE, 7, 1, False),
    ]
    note = [word.box for word in body.words if word.text == "due"]
    assert min(box.x0 for box in note) == pytest.approx(head.words[2].box.x0)
    assert len({box.y0 for box in note}) > 1


def test_a_table_goes_over_pages_row_by_row() -> None:
    table = TableBlock(tuple((cell(f"row {n}"), cell("text")) for n in range(100)), 0, 1, 9.0)
    pages = laid([table])
    assert len(pages) > 1
    rows = [line.row for page in pages for line in page.page.lines]
    assert rows == list(range(100))


def test_a_row_higher_than_a_page_goes_over_it() -> None:
    table = TableBlock(((cell("key"), cell("word " * 6000)),), 0, 1, 9.0)
    pages = laid([table])
    assert len(pages) > 1
    assert {line.row for page in pages for line in page.page.lines} == {0}
    assert len(words_on(pages)) == 6001


def test_a_document_without_text_is_one_empty_page() -> None:
    assert only(laid([])).lines == ()
    assert Layout([], FACES).starts == {1: Start()}
