"""PDFs become words with boxes in the coordinates of the page as displayed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pincite.errors import PasswordNeededError, UnreadableError
from pincite.extract.mupdf import pymupdf
from pincite.extract.pdf import PdfFile, iso_date
from pincite.extract.pictures import picture_of
from pincite.model import BlockKind, OutlineEntry, ReadPage
from tests.unit.extract.pages import Painting, pdf_with, pdf_with_text, texts_of, words_of

ZOOM = 1.0


def pages_of(path: Path) -> list[ReadPage]:
    return list(PdfFile(path).pages())


def only_page(path: Path) -> ReadPage:
    (page,) = pages_of(path)
    return page


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
@pytest.mark.parametrize("media_box", ["0 0 595 842", "-50 30 545 872"])
@pytest.mark.parametrize("crop_box", ["", "20 80 500 800"])
def test_words_and_highlights_are_where_the_ink_is(
    tmp_path: Path, rotation: int, media_box: str, crop_box: str
) -> None:
    def draw(page: Any) -> None:
        page.insert_text((150, 300), "Rent is due", fontsize=20)
        page.insert_text((220, 500), "monthly", fontsize=14, rotate=90)
        page.parent.xref_set_key(page.xref, "MediaBox", f"[{media_box}]")
        if crop_box:
            page.parent.xref_set_key(page.xref, "CropBox", f"[{crop_box}]")
        page.set_rotation(rotation)

    file = PdfFile(pdf_with(tmp_path / "turned.pdf", draw, width=595, height=842))
    (page,) = file.pages()
    words = words_of(page)
    assert {word.text for word in words} == {"Rent", "is", "due", "monthly"}
    assert all(0 <= w.box.x0 < w.box.x1 <= page.width and 0 <= w.box.y0 < w.box.y1 <= page.height for w in words)
    plain = Painting(picture_of(file.page_to_draw(1), ZOOM), ZOOM)
    assert all(plain.ink(word.box) > 10 for word in words)
    assert plain.ink_outside(word.box for word in words) == 0
    marked = Painting(picture_of(file.page_to_draw(1), ZOOM, [words[0].box]), ZOOM)
    assert marked.ink(words[0].box) >= plain.ink(words[0].box)  # no letter is painted over
    assert marked.marked(words[0].box) > 0.9
    assert marked.marked(words[2].box) < 0.6


def test_text_outside_the_visible_page_is_left_out(tmp_path: Path) -> None:
    def draw(page: Any) -> None:
        page.insert_text((100, 100), "hidden")
        page.insert_text((300, 300), "seen")
        page.set_cropbox(pymupdf.Rect(200, 200, 500, 500))

    page = only_page(pdf_with(tmp_path / "cropped.pdf", draw))
    assert texts_of(page) == ["seen"]
    assert (page.width, page.height) == (300, 300)


def test_lines_know_their_type(tmp_path: Path) -> None:
    def draw(page: Any) -> None:
        page.insert_text((72, 100), "Heading of the page", fontsize=18, fontname="hebo")
        page.insert_text((72, 140), "Plain words of text", fontsize=11)
        page.insert_text((72, 180), "x = compute(1)", fontsize=9, fontname="cour")

    heading, plain, code = only_page(pdf_with(tmp_path / "type.pdf", draw)).lines
    assert (heading.size_pt, heading.bold, heading.mono) == (18, True, False)
    assert (plain.size_pt, plain.bold, plain.mono) == (11, False, False)
    assert (code.size_pt, code.bold, code.mono) == (9, False, True)
    assert len({heading.group, plain.group, code.group}) == 3
    assert [word.after for word in plain.words] == [" ", " ", " ", "\n"]


def test_lines_of_one_paragraph_share_a_group(tmp_path: Path) -> None:
    def draw(page: Any) -> None:
        page.insert_text((72, 100), ["one paragraph goes", "over two lines"], fontsize=11)
        page.insert_text((72, 300), "and another", fontsize=11)

    first, second, other = only_page(pdf_with(tmp_path / "groups.pdf", draw)).lines
    assert first.group == second.group != other.group


def test_ligatures_are_spelt_out_and_soft_hyphens_fall_away_inside_words(tmp_path: Path) -> None:
    def draw(page: Any) -> None:
        writer = pymupdf.TextWriter(page.rect)
        writer.append((72, 100), "e\ufb03cient o\ufb00er re\u00adad exami\u00ad", font=pymupdf.Font("cjk"), fontsize=12)
        writer.write_text(page)

    (line,) = only_page(pdf_with(tmp_path / "ligatures.pdf", draw)).lines
    texts = [word.text for word in line.words]
    assert texts[:3] == ["efficient", "offer", "read"]
    assert texts[3] in ("exami\u00ad", "exami-")  # the mark of a word that goes on, whichever MuPDF makes of it


def test_words_without_spaces_are_cut_but_read_as_one(tmp_path: Path) -> None:
    long = "x" * 450
    page = only_page(pdf_with(tmp_path / "long.pdf", lambda page: page.insert_text((5, 100), long, fontsize=2)))
    words = words_of(page)
    assert [len(word.text) for word in words] == [200, 200, 50]
    assert page.lines[0].text == long
    assert words[0].box.x1 == pytest.approx(words[1].box.x0)


def test_printed_labels_are_kept_where_they_differ_from_the_number(tmp_path: Path) -> None:
    pdf = pymupdf.open()
    for _ in range(4):
        pdf.new_page().insert_text((72, 72), "text")
    pdf.set_page_labels([{"startpage": 0, "style": "r"}, {"startpage": 2, "style": "D", "firstpagenum": 3}])
    pdf.save(tmp_path / "labels.pdf")
    assert [page.label for page in pages_of(tmp_path / "labels.pdf")] == ["i", "ii", "", ""]
    assert [page.label for page in pages_of(pdf_with_text(tmp_path / "none.pdf", "text", pages=2))] == ["", ""]


def test_what_the_file_says_of_itself(tmp_path: Path) -> None:
    pdf = pymupdf.open()
    for _ in range(3):
        pdf.new_page()
    pdf.set_metadata(
        {
            "title": " A  lease\n of rooms ",
            "author": "A. Person",
            "creationDate": "D:20260301120000+01'00'",
            "modDate": "D:2026",
        }
    )
    pdf.set_toc([[1, "Definitions", 1], [2, "Rent", 3]])
    pdf.save(tmp_path / "stated.pdf")
    metadata = PdfFile(tmp_path / "stated.pdf").metadata()
    assert metadata.title == "A lease of rooms"
    assert metadata.author == "A. Person"
    assert metadata.created == "2026-03-01T12:00:00+01:00"
    assert metadata.modified == "2026-01-01"
    assert metadata.outline == (OutlineEntry(1, "Definitions", 1), OutlineEntry(2, "Rent", 3))


@pytest.mark.parametrize(
    ("pdf_date", "iso"),
    [
        ("D:20260301", "2026-03-01"),
        ("D:20260301120102Z", "2026-03-01T12:01:02Z"),
        ("D:20260301120102-05'30'", "2026-03-01T12:01:02-05:30"),
        ("D:202603011201", "2026-03-01T12:01:00"),
        ("20260301", "2026-03-01"),
        ("D:20269901", ""),
        ("1 March 2026", ""),
        ("", ""),
    ],
)
def test_dates(pdf_date: str, iso: str) -> None:
    assert iso_date(pdf_date) == iso


@given(st.text(max_size=30) | st.from_regex(r"D:\d{0,16}[-+Z]?\d{0,4}'?"))
def test_any_date_is_iso_or_nothing(text: str) -> None:
    assert iso_date(text) == "" or iso_date(text)[:4].isdecimal()


def a_ruled_table(page: Any) -> None:
    """A heading, a table of three rows whose note wraps, and a line below."""
    page.insert_text((72, 80), "Amounts")
    rows = [("Item", "Amount", "Note"), ("Rent", "1,200", "payable in"), ("Deposit", "", "once")]
    for row, y in enumerate((100, 120, 160, 180)):
        page.draw_line((72, y), (372, y))
        for column, text in enumerate(rows[row] if row < 3 else ()):
            page.insert_text((76 + 100 * column, y + 14), text, fontname="hebo" if row == 0 else "helv")
    page.insert_text((276, 120 + 30), "advance")
    for column in range(4):
        page.draw_line((72 + 100 * column, 100), (72 + 100 * column, 180))
    page.insert_text((72, 220), "Below the table")


def test_the_rows_of_a_ruled_table_are_lines(tmp_path: Path) -> None:
    page = only_page(pdf_with(tmp_path / "table.pdf", a_ruled_table))
    table = [line for line in page.lines if line.kind is BlockKind.TABLE]
    assert [line.text for line in table] == [
        "Item | Amount | Note",
        "Rent | 1,200 | payable in advance",
        "Deposit |  | once",
    ]
    assert [line.row for line in table] == [0, 1, 2]
    assert [line.header_row for line in table] == [True, False, False]
    others = [line for line in page.lines if line not in table]
    assert [line.text for line in others] == ["Amounts", "Below the table"]
    assert len({line.group for line in table} - {line.group for line in others}) == 1


@pytest.mark.parametrize("rotation", [90, 180, 270])
def test_no_word_is_lost_from_a_table_on_a_turned_page(tmp_path: Path, rotation: int) -> None:
    def draw(page: Any) -> None:
        a_ruled_table(page)
        page.set_rotation(rotation)

    upright = only_page(pdf_with(tmp_path / "upright.pdf", a_ruled_table))
    turned = only_page(pdf_with(tmp_path / "turned.pdf", draw))
    assert sorted(word.text for word in words_of(turned)) == sorted(word.text for word in words_of(upright))


def test_a_frame_around_text_is_no_table(tmp_path: Path) -> None:
    def draw(page: Any) -> None:
        page.draw_rect((60, 80, 300, 130))
        page.insert_text((72, 100), ["Notice of", "termination"])

    assert [line.kind for line in only_page(pdf_with(tmp_path / "boxed.pdf", draw)).lines] == [None, None]


def a_picture() -> Any:
    pixmap = pymupdf.Pixmap(pymupdf.csRGB, (0, 0, 8, 8), False)
    pixmap.clear_with(200)
    return pixmap


def test_a_scan_is_a_page_without_lines_under_a_picture(tmp_path: Path) -> None:
    def draw(page: Any) -> None:
        page.insert_image(page.rect, pixmap=a_picture(), keep_proportion=False)

    page = only_page(pdf_with(tmp_path / "scan.pdf", draw))
    assert page.lines == ()
    assert page.picture_share > 0.99


def test_pictures_that_overlap_are_counted_once(tmp_path: Path) -> None:
    def draw(page: Any) -> None:
        for _ in range(3):
            page.insert_image((0, 0, 300, 400), pixmap=a_picture(), keep_proportion=False)
        page.insert_image((500, 700, 900, 1200), pixmap=a_picture(), keep_proportion=False)

    page = only_page(pdf_with(tmp_path / "pictures.pdf", draw, width=600, height=800))
    assert page.picture_share == pytest.approx((300 * 400 + 100 * 100) / (600 * 800), abs=0.01)


def test_a_locked_pdf_asks_for_its_password(tmp_path: Path) -> None:
    pdf = pymupdf.open()
    pdf.new_page()
    pdf.save(tmp_path / "locked.pdf", encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="open", owner_pw="own")
    with pytest.raises(PasswordNeededError, match="password"):
        PdfFile(tmp_path / "locked.pdf")


def test_a_pdf_locked_only_against_changes_is_read(tmp_path: Path) -> None:
    pdf = pymupdf.open()
    pdf.new_page().insert_text((72, 72), "readable")
    pdf.save(tmp_path / "owned.pdf", encryption=pymupdf.PDF_ENCRYPT_AES_256, owner_pw="own", permissions=0)
    assert texts_of(only_page(tmp_path / "owned.pdf")) == ["readable"]


@pytest.mark.parametrize(
    "data", [b"just text\n" * 20, b"%PDF-1.7\n", b"\x89PNG\r\n\x1a\n" + bytes(100), b"PK\x03\x04" + bytes(60)]
)
def test_what_is_no_pdf_is_said_to_be_none(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "other.pdf").write_bytes(data)
    with pytest.raises(UnreadableError) as refused:
        PdfFile(tmp_path / "other.pdf")
    assert str(refused.value).endswith(".")


def test_a_truncated_pdf_is_read_as_far_as_it_goes_and_said_to_be_damaged(tmp_path: Path) -> None:
    whole = pdf_with_text(tmp_path / "whole.pdf", "Rent is due", pages=3).read_bytes()
    (tmp_path / "cut.pdf").write_bytes(whole[: whole.rindex(b"xref")])
    file = PdfFile(tmp_path / "cut.pdf")
    assert [texts_of(page) for page in file.pages()] == [["Rent is due"]] * 3
    assert file.problems == ["The PDF is damaged and was repaired; parts of it may be missing."]


def test_a_damaged_page_costs_that_page_only(tmp_path: Path) -> None:
    pdf = pymupdf.open()
    for _ in range(3):
        pdf.new_page().insert_text((72, 72), "fine")
    tree = pdf.xref_get_key(pdf.pdf_catalog(), "Pages")[1].split()[0]
    pdf.xref_set_key(int(tree), "Count", "4")
    pdf.save(tmp_path / "damaged.pdf")
    file = PdfFile(tmp_path / "damaged.pdf")
    pages = list(file.pages())
    assert [page.number for page in pages] == [1, 2, 3, 4]
    assert [texts_of(page) for page in pages] == [["fine"], ["fine"], ["fine"], []]
    assert file.partly_read
    assert file.problems == ["Page 4 could not be read: it is missing."]
    with pytest.raises(UnreadableError, match="damaged"):
        file.page_to_draw(4)


def test_a_page_with_too_many_words_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pincite.extract.pdf.MAX_WORDS_PER_PAGE", 3)
    file = PdfFile(pdf_with_text(tmp_path / "many.pdf", "one two three four"))
    assert [page.lines for page in file.pages()] == [()]
    assert file.problems == ["Page 1 could not be read: it has more than 3 words."]


def test_a_page_that_does_not_exist_cannot_be_drawn(tmp_path: Path) -> None:
    file = PdfFile(pdf_with_text(tmp_path / "one.pdf", "text"))
    with pytest.raises(UnreadableError, match="no page 2"):
        file.page_to_draw(2)
