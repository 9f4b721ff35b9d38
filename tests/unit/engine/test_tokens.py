"""Counting an encoder's tokens without the encoder."""

from __future__ import annotations

from pathlib import Path

import pytest
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import Lowercase
from tokenizers.pre_tokenizers import Whitespace

from pincite.engine.tokens import ESTIMATE_NAME, token_counter
from pincite.errors import ModelError

NAME = "tiny-encoder"


@pytest.fixture
def models_dir(tmp_path: Path) -> Path:
    """A models folder with one encoder that knows few words and is told to cut texts at four tokens."""
    words = ["[UNK]", "[CLS]", "[SEP]", "the", "ten", "##ant", "pays", "."]
    tokenizer = Tokenizer(WordPiece({word: number for number, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.normalizer = Lowercase()
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.enable_truncation(4)
    tokenizer.enable_padding(length=4)
    (tmp_path / NAME).mkdir()
    tokenizer.save(str(tmp_path / NAME / "tokenizer.json"))
    return tmp_path


def test_pieces_are_counted_and_nothing_is_cut_or_filled_up(models_dir: Path) -> None:
    count = token_counter(models_dir, NAME)
    assert count.name == NAME
    assert count("The tenant pays.") == 5
    assert count("The tenant pays. " * 100) == 500
    assert count("") == 0
    assert count("the \udcff tenant") == 4, "half a character is one unknown token"


def test_an_endless_word_counts_for_what_it_is_to_a_language_model(models_dir: Path) -> None:
    count = token_counter(models_dir, NAME)
    assert count("the " + "a1" * 20_000) >= 20_000
    assert count("the " + "a" * 100) == 2


def test_without_the_model_there_is_an_estimate_that_says_so(models_dir: Path) -> None:
    count = token_counter(models_dir, "not-installed")
    assert count.name == ESTIMATE_NAME != NAME
    assert count("") == 0
    assert count("The tenant pays.") == 4
    assert count("Indemnification, in 2024: £1,250.00") == 3 + 1 + 1 + 2 + 1 + 1 + 1 + 1 + 1 + 1 + 1
    assert count("租金") == 1


def test_a_damaged_tokenizer_is_named(models_dir: Path) -> None:
    path = models_dir / NAME / "tokenizer.json"
    path.write_text("{", encoding="utf-8")
    with pytest.raises(ModelError, match=r"tokenizer\.json is damaged: run `pincite models install`"):
        token_counter(models_dir, NAME)
