"""Counts tokens as an encoder would, in the shell process, without loading the encoder."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tokenizers import Tokenizer

from pincite.errors import ModelError

# Word-piece vocabularies keep common words whole and cut the rest into pieces. With these numbers the estimate is
# within a tenth of the count of bge-small-en-v1.5 on contracts, reports, minutes, logs and licences.
ESTIMATE_NAME = "estimate-1"
ESTIMATE_PARTS = re.compile(r"[^\W\d_]+|\d+|[^\w\s]|_")
WHOLE_WORD_LETTERS = 8
PIECE_LETTERS = 5
ENDLESS_WORD = re.compile(r"\w{101,}")
ENDLESS_WORD_TOKEN_LETTERS = 2


@dataclass(frozen=True, slots=True)
class TokenCounter:
    """Counts the tokens of a text, however long, without the marks that a model adds around it.

    `name` tells counters apart that may give different numbers: chunks cut with one are not those of another.
    """

    name: str
    _count: Callable[[str], int]

    def __call__(self, text: str) -> int:
        return self._count(text)


def token_counter(models_dir: Path, name: str) -> TokenCounter:
    """The counter of an installed model; an estimate while it is not installed. Raises ModelError when it is damaged.

    The estimate counts a word of up to eight letters as one token, a longer one as one for every five letters, a
    number as one for every three digits, and each sign as one.
    """
    path = models_dir / name / "tokenizer.json"
    if not os.path.isfile(path):  # which a folder that cannot be entered also answers, not with an error
        return TokenCounter(ESTIMATE_NAME, estimated_tokens)
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises bare Exception for whatever is wrong with the file
        raise ModelError(
            f"The file {path} is damaged: run `pincite models install` to replace the model {name}."
        ) from error
    tokenizer.no_truncation()
    tokenizer.no_padding()

    def count(text: str) -> int:
        # Half a character, as broken files hold them, would be refused.
        valid = text.encode("utf-8", "replace").decode("utf-8")
        return len(tokenizer.encode(valid, add_special_tokens=False).ids) + _uncounted_tokens(valid)

    return TokenCounter(name, count)


def _uncounted_tokens(text: str) -> int:
    """What a word-piece vocabulary leaves uncounted: it makes one unknown token of a word of over a hundred letters.

    A language model reads such a word (hexadecimal, base64) in pieces of one or two letters.
    """
    return sum(len(word) // ENDLESS_WORD_TOKEN_LETTERS for word in ENDLESS_WORD.findall(text))


def estimated_tokens(text: str) -> int:
    """About how many tokens a word-piece vocabulary makes of `text`."""
    return sum(_estimated_pieces(part) for part in ESTIMATE_PARTS.findall(text))


def _estimated_pieces(part: str) -> int:
    if part[0].isdigit():
        return -(-len(part) // 3)
    if not part.isascii() and not part[0].isalpha():
        return 1
    return 1 if len(part) <= WHOLE_WORD_LETTERS else -(-len(part) // PIECE_LETTERS)
