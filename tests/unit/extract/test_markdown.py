"""Markdown: structure is kept, mark-up is dropped, no text is lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pincite.extract.blocks import Block, RuleBlock, TableBlock, TextBlock
from pincite.extract.fonts import Style
from pincite.extract.markdown import parsed_markdown
from pincite.model import BlockKind


def blocks_of(text: str) -> list[Block]:
    return parsed_markdown(text).blocks


def text_of(block: Block) -> str:
    """A block's text with its marker, lines told apart."""
    if isinstance(block, TextBlock):
        return " ".join(filter(None, [block.marker, "\n".join("".join(r.text for r in line) for line in block.lines)]))
    if isinstance(block, TableBlock):
        return "\n".join(" | ".join("".join(r.text for r in cell).strip() for cell in row) for row in block.rows)
    return ""


def shapes(text: str) -> list[tuple[BlockKind | None, str]]:
    return [(block.kind, text_of(block)) for block in blocks_of(text) if isinstance(block, TextBlock)]


def test_headings_have_their_level() -> None:
    headings = [block for block in blocks_of("# One\n\nTwo\n---\n\n###### Six") if isinstance(block, TextBlock)]
    assert [(block.kind, block.level, text_of(block)) for block in headings] == [
        (BlockKind.HEADING, 1, "One"),
        (BlockKind.HEADING, 2, "Two"),
        (BlockKind.HEADING, 6, "Six"),
    ]
    assert headings[0].size_pt > headings[1].size_pt > headings[2].size_pt


def test_the_title_is_the_first_heading_of_level_one() -> None:
    assert parsed_markdown("## Not\n\n# The *title*\n\n# Later").title == "The title"
    assert parsed_markdown("no heading").title == ""
    assert parsed_markdown('---\ntitle: "From the front"\n---\n\ntext').title == "From the front"


def test_lines_of_a_paragraph_flow_except_at_hard_breaks() -> None:
    assert shapes("one\ntwo  \nthree\\\nfour") == [(BlockKind.PARAGRAPH, "one two\nthree\nfour")]


def test_list_items_keep_their_bullets_and_numbers() -> None:
    text = "- one\n- two\n  1. first\n  2) other list\n\n  more of two\n- [ ] open\n-\n"
    assert shapes(text) == [
        (BlockKind.LIST_ITEM, "• one"),
        (BlockKind.LIST_ITEM, "• two"),
        (BlockKind.LIST_ITEM, "1. first"),
        (BlockKind.LIST_ITEM, "2) other list"),
        (BlockKind.PARAGRAPH, "more of two"),
        (BlockKind.LIST_ITEM, "• [ ] open"),
        (BlockKind.LIST_ITEM, "•"),
    ]


def test_nested_items_are_indented_further() -> None:
    items = [block for block in blocks_of("- one\n  - two\n    - three\n\ntext") if isinstance(block, TextBlock)]
    indents = [block.indent_pt for block in items]
    assert indents[0] < indents[1] < indents[2]
    assert indents[3] == 0


def test_an_item_that_begins_with_code_has_its_bullet_all_the_same() -> None:
    assert shapes("- ```\n  code\n  ```") == [(BlockKind.LIST_ITEM, "•"), (BlockKind.CODE, "code")]


def test_code_is_kept_exactly() -> None:
    code, indented = (
        b for b in blocks_of("```python\nif x:\n    y\n\n```\n\n    more  code") if isinstance(b, TextBlock)
    )
    assert code.exact and code.kind is BlockKind.CODE
    assert text_of(code) == "if x:\n    y"
    assert text_of(indented) == "more  code"


def test_html_comments_and_front_matter_are_kept_as_code() -> None:
    assert shapes("---\nowner: me\n---\n<!-- a note -->\n\ntext <br> more") == [
        (BlockKind.CODE, "owner: me"),
        (BlockKind.CODE, "<!-- a note -->"),
        (BlockKind.PARAGRAPH, "text <br> more"),
    ]


def test_addresses_of_links_follow_their_text_where_they_differ() -> None:
    text = (
        '[the site](https://example.org/a%20b "Tip"), <https://example.org>, <me@example.org>, [top](#top), '
        "[same](same), ![a cat](cat.png), ![dot](data:image/png;base64,AAAA)"
    )
    assert shapes(text) == [
        (
            BlockKind.PARAGRAPH,
            "the site (https://example.org/a b Tip), https://example.org, me@example.org, top, same, a cat (cat.png), "
            "dot (embedded data)",
        )
    ]


def test_definitions_that_nothing_refers_to_are_kept() -> None:
    found = shapes("[used] text\n\n[used]: /one\n[spare]: /two 'Title'")
    assert found[0] == (BlockKind.PARAGRAPH, "used (/one) text")
    assert found[1][1].lower() == "[spare]: /two title"


def test_styles_follow_the_mark_up() -> None:
    (block,) = blocks_of("plain **bold *both*** `code` ~~gone~~")
    assert isinstance(block, TextBlock)
    styles = {run.text: run.style for run in block.lines[0] if run.text.strip()}
    assert styles["bold "] == Style.BOLD
    assert styles["both"] == Style.BOLD | Style.ITALIC
    assert styles["code"] == Style.MONO
    assert styles["gone"] == Style.PLAIN


def test_a_table_has_rows_and_a_head() -> None:
    (table,) = blocks_of("| Item | Amount |\n|---|---:|\n| Rent | **1,200** |\n| Deposit | |")
    assert isinstance(table, TableBlock)
    assert text_of(table) == "Item | Amount\nRent | 1,200\nDeposit | "
    assert table.header_rows == 1


def test_quotes_and_rules() -> None:
    quote, rule, after = blocks_of("> quoted\n> text\n\n---\n\nafter")
    assert isinstance(quote, TextBlock) and quote.quoted and quote.indent_pt > 0
    assert isinstance(rule, RuleBlock)
    assert isinstance(after, TextBlock) and not after.quoted


def test_every_block_has_a_group_of_its_own() -> None:
    blocks = blocks_of("# One\n\ntext\n\n- a\n- b\n\n```\nx\n```\n\n|a|b|\n|-|-|\n|1|2|")
    groups = [block.group for block in blocks if not isinstance(block, RuleBlock)]
    assert len(set(groups)) == len(groups) == 6


@pytest.mark.parametrize("opening", ["> ", "- ", "1. ", "> - "])
def test_deep_nesting_is_followed_and_where_it_is_not_that_is_said(opening: str) -> None:
    deep = parsed_markdown(opening * 20 + "found")
    assert not deep.too_deep
    assert text_of(deep.blocks[-1]).endswith("found")
    too_deep = parsed_markdown(opening * 500 + "lost")
    assert too_deep.too_deep
    assert "lost" not in "".join(map(text_of, too_deep.blocks))


@given(st.text(st.sampled_from("ab1 #*_`-|>[]()!<~\\\n\t."), max_size=120))
def test_every_letter_of_any_text_is_kept(text: str) -> None:
    kept = "".join(text_of(block) for block in blocks_of(text))
    assert all(kept.count(letter) >= text.count(letter) for letter in "ab")
