"""The limits that are not settings: sizes beyond which a document is an attack or a mistake, not a text."""

from __future__ import annotations

MAX_WORDS_PER_PAGE = 100_000
MAX_WORDS = 3_000_000  # of a whole document: about a gigabyte once they are values of the model
MAX_WORD_CHARS = 200  # longer runs without a space are cut into several words that read as one
MAX_LABEL_CHARS = 100
MAX_NAME_CHARS = 2_000  # titles, authors, outline entries
MAX_OUTLINE_ENTRIES = 20_000
MIN_PAGE_PT = 0.1
MAX_PAGE_PT = 200_000.0  # the PDF standard stops at 14,400 units, but a unit may be scaled
MAX_PICTURE_PIXELS = 64_000_000
MAX_PROBLEMS = 100
MAX_PROBLEM_CHARS = 500
