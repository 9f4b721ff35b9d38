"""Chunks that are searched, inside sections that are read: what they hold, where they are cut, what names them."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pincite.chunk import MAX_CONTEXT_CHARS, Chunking, ChunkLimits, chunked
from pincite.model import Block, BlockKind, Chunk, Document, Span, reading_text
from pincite.sentences import sentence_bounds
from tests.unit.paper import Part, document, heading, paragraph, rows

TEXT_KINDS = (BlockKind.PARAGRAPH, BlockKind.LIST_ITEM, BlockKind.CAPTION, BlockKind.CODE, BlockKind.FOOTNOTE)


def tokens(text: str) -> int:
    """As many as there are words."""
    return len(text.split())


def cut(*parts: Part, chunk: int = 20, section: int = 60, title: str = "Lease", identity: str = "d1.g1") -> Chunking:
    return chunked(document(*parts), title, identity, tokens, ChunkLimits(chunk, section))


def chunk_texts(*parts: Part, chunk: int = 20) -> list[str]:
    return [found.text for found in cut(*parts, chunk=chunk).chunks]


def sentence(word: str, words: int) -> str:
    """A sentence of so many words."""
    return " ".join([word.capitalize(), *[word] * (words - 2), f"{word}."])


# Where chunks begin and end


def test_sentences_are_packed_until_the_next_would_not_fit() -> None:
    one, two, three = sentence("rent", 8), sentence("roof", 8), sentence("yard", 8)
    assert chunk_texts(paragraph(f"{one} {two} {three}")) == [f"{one} {two}", three]


def test_paragraphs_under_one_heading_share_chunks_and_headings_divide_them() -> None:
    found = cut(
        heading("Rent"), paragraph("It is due."), paragraph("It is paid."), heading("Roof"), paragraph("It is.")
    )
    assert [(chunk.heading_path, chunk.text) for chunk in found.chunks] == [
        (("Rent",), "It is due.\nIt is paid."),
        (("Roof",), "It is."),
    ]


def test_a_numbered_clause_is_a_chunk_of_its_own_with_its_parts() -> None:
    item = Part(BlockKind.LIST_ITEM, ("(a) shelves;",), number="(a)")
    assert chunk_texts(
        paragraph("7.1 No walls.", "7.1"), paragraph("7.2 With consent:", "7.2"), item, paragraph("8 Other.", "8")
    ) == ["7.1 No walls.", "7.2 With consent:\n(a) shelves;\n8 Other."]


def test_code_tables_and_footnotes_do_not_share_chunks_with_prose() -> None:
    code = Part(BlockKind.CODE, ("attempts = 8", "wait = 5"))
    note = Part(BlockKind.FOOTNOTE, ("1 By the directors.",))
    table = rows("Name | Fee", "Anna | 20")
    assert chunk_texts(paragraph("It says:"), code, paragraph("And so on."), note, table, paragraph("Thus.")) == [
        "It says:",
        "attempts = 8\nwait = 5",
        "And so on.",
        "1 By the directors.",
        "Name | Fee\nAnna | 20",
        "Thus.",
    ]


def test_a_sentence_longer_than_the_limit_is_cut_into_even_parts() -> None:
    found = cut(paragraph(sentence("rent", 45)))
    assert [chunk.tokens for chunk in found.chunks] == [15, 15, 15]


def test_a_word_longer_than_the_limit_stays_whole() -> None:
    found = chunked(document(paragraph("See " + "x" * 90)), "Key", "d", len, ChunkLimits(40, 100))
    assert [chunk.text for chunk in found.chunks] == ["See", "x" * 90]


def test_furniture_is_in_no_chunk_and_does_not_divide_what_it_stands_between() -> None:
    footer = Part(BlockKind.FURNITURE, ("Page 3",))
    assert chunk_texts(paragraph("The rent is due."), footer, paragraph("It is paid.")) == [
        "The rent is due.\nIt is paid."
    ]


# Tables


def test_each_part_of_a_table_repeats_its_caption_and_header_as_the_very_same_words() -> None:
    table = rows("Name | Fee", *(f"Person{at} | {at}0" for at in range(6)))
    found = cut(Part(BlockKind.CAPTION, ("Table 1. Fees",)), table, chunk=15)
    assert [chunk.text for chunk in found.chunks] == [
        "Table 1. Fees\nName | Fee\nPerson0 | 00\nPerson1 | 10\nPerson2 | 20",
        "Table 1. Fees\nName | Fee\nPerson3 | 30\nPerson4 | 40\nPerson5 | 50",
    ]
    assert [chunk.spans for chunk in found.chunks] == [(Span(1, 0, 11),), (Span(1, 0, 5), Span(1, 11, 17))]
    assert all(chunk.kind is BlockKind.TABLE for chunk in found.chunks)
    assert found.sections[0].spans == (Span(1, 0, 17),)  # read as a whole, the table has its header once


def test_the_sentence_before_a_caption_stays_where_it_is() -> None:
    caption = Part(BlockKind.CAPTION, ("Table 1. Fees",))
    assert chunk_texts(paragraph("The fees follow."), caption, rows("Name | Fee", "Anna | 20")) == [
        "The fees follow.",
        "Table 1. Fees\nName | Fee\nAnna | 20",
    ]


def test_a_caption_repeated_over_a_running_footer_is_still_the_tables() -> None:
    footer = Part(BlockKind.FURNITURE, ("Page 3",))
    assert chunk_texts(Part(BlockKind.CAPTION, ("Table 1. Fees",)), footer, rows("Name | Fee", "Anna | 20")) == [
        "Table 1. Fees\nName | Fee\nAnna | 20"
    ]


def test_a_caption_belongs_to_the_first_table_after_it_only() -> None:
    caption = Part(BlockKind.CAPTION, ("Table 1. Fees",))
    two = chunk_texts(caption, rows("Name | Fee", "Anna | 20"), rows("Name | Town", "Ben | Wick"))
    assert two[1] == "Name | Town\nBen | Wick"


def test_rows_are_not_divided_between_chunks() -> None:
    table = rows("Name | Fee", *(f"Person{at} of {'a very long ' * at}place | {at}0" for at in range(5)))
    found = chunk_texts(table, chunk=20)
    assert len(found) > 2
    assert all(line.count(" | ") == 1 for text in found for line in text.split("\n"))


def test_a_header_that_leaves_no_room_for_rows_is_not_repeated() -> None:
    wide = " | ".join(["column"] * 8)
    found = chunk_texts(rows(wide, "Anna | 20", "Ben | 30"), chunk=15)
    assert found == [wide, "Anna | 20\nBen | 30"]


def test_a_table_of_nothing_but_a_header_is_kept() -> None:
    assert chunk_texts(rows("Name | Fee", "Town | Age", header_rows=2)) == ["Name | Fee\nTown | Age"]


def test_a_header_row_that_is_longer_than_a_chunk_is_cut_and_loses_nothing() -> None:
    found = cut(rows(" | ".join(["column"] * 30), "Anna | 20"), chunk=15)
    assert covered(found) == Counter((1, at) for at in range(32))


# Headings and context


def test_heading_paths_follow_the_levels() -> None:
    found = cut(
        heading("Money", 1),
        heading("Rent", 3),
        paragraph("It is due."),
        heading("Deposit", 2),
        paragraph("It is held."),
        heading("Roof", 1),
        paragraph("It is dry."),
    )
    assert [chunk.heading_path for chunk in found.chunks] == [
        ("Money",),
        ("Money", "Rent"),
        ("Money", "Deposit"),
        ("Roof",),
    ]
    assert found.chunks[1].context == "Lease › Money › Rent"


def test_a_heading_with_nothing_under_it_can_be_found() -> None:
    (alone,) = cut(heading("Break clause")).chunks
    assert (alone.kind, alone.text, alone.context) == (BlockKind.HEADING, "Break clause", "Lease › Break clause")


def test_an_endless_heading_is_cut_and_its_context_kept_short() -> None:
    found = cut(heading(" ".join(["rent"] * 90)), paragraph("It is due."), heading("word " * 45), chunk=20)
    assert all(len(chunk.context) <= 2 * MAX_CONTEXT_CHARS for chunk in found.chunks)
    assert all(chunk.tokens <= 20 for chunk in found.chunks)


def test_when_the_context_is_too_long_the_nearest_headings_are_kept() -> None:
    path = [heading("A" * 100, 1), heading("B" * 100, 2), heading("C" * 100, 3)]
    context = cut(*path, paragraph("It is due.")).chunks[-1].context
    assert context == f"Lease › {'B' * 100} › {'C' * 100}"


# Sections


def test_a_section_holds_its_heading_and_its_chunks_up_to_its_limit() -> None:
    parts = [paragraph(sentence(f"w{at}", 15)) for at in range(6)]
    found = cut(heading("Rent"), *parts)
    assert [chunk.parent for chunk in found.chunks] == [0, 0, 0, 0, 1, 1]
    assert found.sections[0].text.startswith("Rent\nW0 w0") and found.sections[1].text.startswith("W4 w4")
    assert [section.heading_path for section in found.sections] == [("Rent",), ("Rent",)]
    assert found.sections[0].tokens == tokens(found.sections[0].text)


# Names


def test_ids_are_the_same_for_the_same_input_and_differ_for_another_reading() -> None:
    parts = [heading("Rent"), paragraph("It is due."), paragraph("It is due.")]
    first, again, other = cut(*parts, chunk=4), cut(*parts, chunk=4), cut(*parts, chunk=4, identity="d1.g2")
    assert first == again
    assert not {chunk.id for chunk in first.chunks} & {chunk.id for chunk in other.chunks}
    assert [chunk.text_hash for chunk in first.chunks] == [chunk.text_hash for chunk in other.chunks]
    assert len({chunk.id for chunk in first.chunks}) == 2  # though both say the same


def test_the_hash_covers_all_that_is_embedded() -> None:
    plain = cut(paragraph("It is due.")).chunks[0].text_hash
    assert cut(paragraph("It is paid.")).chunks[0].text_hash != plain
    assert cut(paragraph("It is due."), title="Deed").chunks[0].text_hash != plain


@pytest.mark.parametrize("parts", [[], [Part(BlockKind.FURNITURE, ("Page 1",))]])
def test_nothing_to_search_makes_no_chunks(parts: list[Part]) -> None:
    assert cut(*parts) == Chunking((), ())


# What holds for any document


WORDS = st.sampled_from("rent Tenant pays the roof. Is it? 7.2 12. long-term £120 e.g. (a) Ltd. yes! of".split())


@st.composite
def parts(draw: st.DrawFn) -> Part:
    kind = draw(st.sampled_from([*TEXT_KINDS, BlockKind.HEADING, BlockKind.TABLE, BlockKind.FURNITURE]))
    many = draw(st.integers(1, 4 if kind in (BlockKind.TABLE, BlockKind.CODE) else 1))
    texts = [" ".join(draw(st.lists(WORDS, min_size=1, max_size=14))) for _ in range(many)]
    return Part(
        kind,
        tuple(texts),
        level=draw(st.integers(1, 3)) if kind is BlockKind.HEADING else 0,
        number=draw(st.sampled_from(["", "7.2", "(a)"])),
        header_rows=draw(st.integers(0, many)) if kind is BlockKind.TABLE else 0,
        new_page=draw(st.booleans()),
    )


DOCUMENTS = st.lists(parts(), max_size=8).map(lambda made: document(*made))
LIMITS = st.builds(ChunkLimits, st.integers(3, 25), st.integers(10, 60))


def covered(chunking: Chunking) -> Counter[tuple[int, int]]:
    return Counter(place for chunk in chunking.chunks for place in places(chunk.spans))


def places(spans: tuple[Span, ...]) -> list[tuple[int, int]]:
    return [(span.page, at) for span in spans for at in range(span.first, span.end)]


def repeatable(read: Document) -> set[tuple[int, int]]:
    """The words that several chunks may hold: header rows of tables, and captions."""
    headers = [span for block in read.blocks for row in block.rows[: block.header_rows] for span in row]
    captions = [span for block in read.blocks if block.kind is BlockKind.CAPTION for span in block.spans]
    return set(places((*headers, *captions)))


def blocks_of(read: Document, *, headings: bool) -> list[Block]:
    kinds = {BlockKind.HEADING} if headings else {*TEXT_KINDS, BlockKind.TABLE}
    return [block for block in read.blocks if block.kind in kinds]


@given(DOCUMENTS, LIMITS)
@settings(deadline=None)
def test_every_word_of_the_text_is_in_exactly_one_chunk_but_for_what_tables_repeat(
    read: Document, limits: ChunkLimits
) -> None:
    found = covered(chunked(read, "T", "d", tokens, limits))
    repeated = repeatable(read)
    for block in blocks_of(read, headings=False):
        for place in places(block.spans):
            assert found[place] >= 1 if place in repeated else found[place] == 1
    furniture = [place for block in read.blocks if block.kind is BlockKind.FURNITURE for place in places(block.spans)]
    assert not any(found[place] for place in furniture)


@given(DOCUMENTS, LIMITS)
@settings(deadline=None)
def test_headings_are_in_exactly_one_section_and_in_a_chunk_only_when_alone(
    read: Document, limits: ChunkLimits
) -> None:
    chunking = chunked(read, "T", "d", tokens, limits)
    in_sections = Counter(place for section in chunking.sections for place in places(section.spans))
    headings = [place for block in blocks_of(read, headings=True) for place in places(block.spans)]
    assert all(in_sections[place] == 1 for place in headings)
    for chunk in chunking.chunks:
        assert (chunk.kind is BlockKind.HEADING) is (not set(places(chunk.spans)).isdisjoint(headings))
        if chunk.kind is BlockKind.HEADING:
            assert set(places(chunk.spans)) <= set(headings)


@given(DOCUMENTS, LIMITS)
@settings(deadline=None)
def test_texts_lead_back_to_their_words(read: Document, limits: ChunkLimits) -> None:
    chunking = chunked(read, "T", "d", tokens, limits)
    for found in (*chunking.chunks, *chunking.sections):
        assert reading_text(read.words_in(found.spans)) == found.text
        assert tokens(found.text) == found.tokens


@given(DOCUMENTS, LIMITS)
@settings(deadline=None)
def test_sections_cover_their_chunks_and_both_are_numbered_in_order(read: Document, limits: ChunkLimits) -> None:
    chunking = chunked(read, "T", "d", tokens, limits)
    assert [section.ordinal for section in chunking.sections] == list(range(len(chunking.sections)))
    assert [chunk.ordinal for chunk in chunking.chunks] == list(range(len(chunking.chunks)))
    assert [chunk.parent for chunk in chunking.chunks] == sorted(chunk.parent for chunk in chunking.chunks)
    for chunk in chunking.chunks:
        section = chunking.sections[chunk.parent]
        assert set(places(chunk.spans)) <= set(places(section.spans))
        assert section.heading_path == chunk.heading_path


@given(DOCUMENTS, LIMITS)
@settings(deadline=None)
def test_no_chunk_begins_or_ends_inside_a_sentence_that_fits(read: Document, limits: ChunkLimits) -> None:
    chunks = [set(places(chunk.spans)) for chunk in chunked(read, "T", "d", tokens, limits).chunks]
    for block in blocks_of(read, headings=False):
        whole = places(block.spans)
        runs = [places(row) for row in block.rows] or [
            whole[first:end] for first, end in sentence_bounds(read.words_in(block.spans))
        ]
        for run in runs:
            if len(run) <= limits.chunk_tokens:
                assert all(set(run) <= chunk or not set(run) & chunk for chunk in chunks)


@given(DOCUMENTS, LIMITS)
@settings(deadline=None)
def test_chunks_keep_to_their_limit_and_what_a_table_repeats_to_half_of_it(read: Document, limits: ChunkLimits) -> None:
    for chunk in chunked(read, "T", "d", tokens, limits).chunks:
        assert chunk.tokens <= 1.5 * limits.chunk_tokens if is_table(chunk) else chunk.tokens <= limits.chunk_tokens


def is_table(chunk: Chunk) -> bool:
    return chunk.kind is BlockKind.TABLE
