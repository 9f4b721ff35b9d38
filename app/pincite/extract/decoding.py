"""Bytes of a text file → text, with a sentence for whatever had to be guessed or left out."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from charset_normalizer import from_bytes

from pincite.errors import UnreadableError

MAX_TEXT_BYTES = 32 << 20
SAMPLE_BYTES = 64 << 10
BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark begins alike
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
REPLACEMENT = "\ufffd"
# One flipped bit should not cost the rest of a UTF-8 file its accents.
MAX_BROKEN_SHARE = 0.002
MAX_CONTROL_SHARE = 0.05  # of the characters: more is not text
NUL_SHARE = 0.2  # of the bytes at odd or even places: so many are halves of UTF-16
# Western European text has accents on few of its letters; more says another alphabet, in another encoding.
MAX_ACCENTED_SHARE = 0.25

LINE_ENDS = re.compile("\r\n?|[\x0b\x85\u2028\u2029]")
TERMINAL_CODES = re.compile("\x1b(?:\\[[0-9;?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)|[@-Z\\\\-_])")
CONTROLS = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ufeff\ufff9-\ufffb\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Decoded:
    """Text whose lines end in line feeds, with form feeds at page breaks. `cut_short`: the file goes on."""

    text: str
    problems: tuple[str, ...]
    cut_short: bool = False


def decoded(data: bytes) -> Decoded:
    """The text in `data`. Raises UnreadableError when it is not text."""
    cut_short = len(data) > MAX_TEXT_BYTES
    raw, guessed = _characters(data[:MAX_TEXT_BYTES], final=not cut_short)
    problems = [guessed] if guessed else []
    text = LINE_ENDS.sub("\n", TERMINAL_CODES.sub("", raw))
    text, left_out = CONTROLS.subn("", text)
    lost = left_out + text.count(REPLACEMENT)
    if lost > MAX_CONTROL_SHARE * max(len(raw), 1):
        raise UnreadableError("The file is not text, although its name says so.")
    if left_out:
        problems.append(f"{left_out:,} control characters were left out.")
    if cut_short:
        problems.append(f"Only the first {MAX_TEXT_BYTES >> 20} MB were read: no more is read of a text file.")
    return Decoded(text, tuple(problems), cut_short)


def _characters(data: bytes, final: bool) -> tuple[str, str]:
    """The characters, and a sentence when their encoding had to be guessed."""
    for mark, encoding in BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return _decode(data[len(mark) :], encoding, final), ""
    utf16 = _utf16_without_mark(data)
    if utf16:
        return _decode(data, utf16, final), "The encoding is not stated; it was taken to be UTF-16."
    text = _decode(data, "utf-8", final)
    broken = text.count(REPLACEMENT) - data.count(REPLACEMENT.encode())
    if broken <= 0:
        return text, ""
    if broken <= MAX_BROKEN_SHARE * len(text) and len(data) - len(text) > 3 * broken:
        return text, f"{broken:,} characters are damaged and cannot be told."
    return _legacy(data)


def _decode(data: bytes, encoding: str, final: bool) -> str:
    """As much as is whole: a cut at the size limit may have divided the last character."""
    return codecs.getincrementaldecoder(encoding)("replace").decode(data, final)


def _utf16_without_mark(data: bytes) -> str:
    sample = data[:SAMPLE_BYTES]
    half = max(len(sample) // 2, 1)
    even, odd = sample[0::2].count(0) / half, sample[1::2].count(0) / half
    if odd >= NUL_SHARE and even < odd / 10:
        return "utf-16-le"
    return "utf-16-be" if even >= NUL_SHARE and odd < even / 10 else ""


def _legacy(data: bytes) -> tuple[str, str]:
    text = data.decode("cp1252", "replace")
    letters = sum(1 for char in text[:SAMPLE_BYTES] if char.isalpha())
    accented = sum(1 for char in text[:SAMPLE_BYTES] if char.isalpha() and not char.isascii())
    if accented <= MAX_ACCENTED_SHARE * letters and REPLACEMENT not in text:
        return text, "The encoding is not stated; it was taken to be Windows-1252."
    best = from_bytes(data[:SAMPLE_BYTES]).best()
    if best is None:
        return text, "The encoding is not stated; it was taken to be Windows-1252."
    name = best.encoding.replace("_", "-")
    return data.decode(best.encoding, "replace"), f"The encoding is not stated; it was taken to be {name}."
