"""PyMuPDF as the reading process uses it: without its layout model, silent, with one name for what it raises.

Importing `pymupdf` also imports `pymupdf.layout` and with it an ONNX runtime: half of the start-up time and 60 MB in
every reading process, for a model that is not used here. PyMuPDF takes a missing layout package in its stride, so it
is shown a missing one.
"""

from __future__ import annotations

import sys
from typing import Any

sys.modules["pymupdf.layout"] = None  # type: ignore[assignment]  # this is how Python is told "not to be imported"

import pymupdf as pymupdf  # noqa: E402  (the line above must come first; it is passed on from here)

# MuPDF's own errors are the first; its bindings turn some of them into built-in ones.
MUPDF_ERRORS: tuple[type[Exception], ...] = (
    pymupdf.mupdf.FzErrorBase,
    RuntimeError,
    ValueError,
    TypeError,
    AssertionError,
)
MUPDF_OR_MEMORY_ERRORS: tuple[type[Exception], ...] = (*MUPDF_ERRORS, MemoryError)


def silence() -> None:
    """Keep MuPDF from printing its errors and warnings; they are raised or asked for."""
    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)


def ran_out_of_memory(error: BaseException) -> bool:
    """Whether `error` says that memory was refused."""
    return isinstance(error, MemoryError) or "malloc" in str(error) or "out of memory" in str(error)


def text_of(page_content: Any, flags: int) -> Any:
    """The text page of a display list, in the coordinates of the page as displayed."""
    return pymupdf.TextPage(page_content.get_textpage(flags))
