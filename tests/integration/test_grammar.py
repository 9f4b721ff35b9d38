"""The grammar of answers, in llama.cpp itself and with a real vocabulary: what it lets a model write and what not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import llama_cpp
import numpy as np
import pytest

from pincite.answer import AnswerPrompt, DraftStream, grammar_for
from pincite.ask.tools import load_prompt
from pincite.engine.grammar import Picker
from pincite.errors import BugError
from pincite.settings import resources_dir

VOCABULARY_OF = Path("SmolLM2-135M-Instruct") / "SmolLM2-135M-Instruct.Q4_1.gguf"
UNLIKELY = -100.0

Accepts = Callable[[str], bool]


class Vocabulary:
    """A model's tokens, without the model."""

    def __init__(self, file: Path) -> None:
        parameters = llama_cpp.llama_model_default_params()
        parameters.vocab_only = True
        self._model = llama_cpp.llama_model_load_from_file(str(file).encode(), parameters)
        self.tokens: Any = llama_cpp.llama_model_get_vocab(self._model)
        self.size = llama_cpp.llama_vocab_n_tokens(self.tokens)
        self.end = llama_cpp.llama_vocab_eos(self.tokens)

    def close(self) -> None:
        llama_cpp.llama_model_free(self._model)

    def of(self, text: str) -> list[int]:
        """The tokens of `text`, as the model would write it."""
        data = text.encode()
        tokens = (llama_cpp.llama_token * (len(data) + 1))()
        count = llama_cpp.llama_tokenize(self.tokens, data, len(data), tokens, len(tokens), False, False)
        return list(tokens[:count])

    def accepts(self, grammar: str, text: str) -> bool:
        """Whether a model that wants nothing but `text`, and then to end, is let do so."""
        picker = Picker(self.tokens, grammar)
        try:
            for token in self.of(text):
                if self._picked(picker, token) != token:
                    return False
                picker.accept(token)
            return self._picked(picker, self.end) == self.end
        finally:
            picker.close()

    def _picked(self, picker: Picker, wanted: int) -> int:
        scores = np.full(self.size, UNLIKELY, dtype=np.float32)
        scores[wanted] = 0.0
        return picker.pick(scores)


@pytest.fixture(scope="module")
def vocabulary(installed_models: Path) -> Iterator[Vocabulary]:
    found = Vocabulary(installed_models / VOCABULARY_OF)
    yield found
    found.close()


@pytest.fixture(scope="module")
def prompt() -> AnswerPrompt:
    return load_prompt(resources_dir())


@pytest.fixture(scope="module")
def accepts(vocabulary: Vocabulary, prompt: AnswerPrompt) -> Accepts:
    """Whether an answer over 12 passages may be this text."""
    grammar = grammar_for(12, prompt)
    return lambda text: vocabulary.accepts(grammar, text)


def test_the_refusal_is_an_answer_by_itself(accepts: Accepts, prompt: AnswerPrompt) -> None:
    assert accepts(prompt.refusal)
    assert not accepts(f"{prompt.refusal} The rent is due [1].")
    assert not accepts(prompt.refusal[:-1])


@pytest.mark.parametrize(
    "text",
    [
        "The rent is £1,250.50 a year [1].",
        "The rent is due. [1]",
        "The rent is due [1]",
        "Is it due? [2]",
        "The rent is due [1][12].",
        "The rent is 12 [3]. It is paid quarterly [4]. “Estate” means the wharf [5]. 7 days are given [6].",
        "Die Miete beträgt 3,5 % [2].",
        "家賃は月末に払う[1]",
    ],
)
def test_sentences_that_end_in_citations_are_accepted(accepts: Accepts, text: str) -> None:
    assert accepts(text)


@pytest.mark.parametrize(
    "text",
    [
        "The rent is due.",  # no citation
        "The rent is due [13].",  # not supplied
        "The rent is due [0].",
        "The rent is due [1], [99].",
        "The rent is due []",
        "The rent is due. It is paid [1].",  # the first sentence cites nothing
        "The rent is due [1]. It is paid.",  # the last does not
        "The rent is due [1] and paid [2].",  # a second half after a citation
        "the rent is due [1].",
        " The rent is due [1].",
        "[1]",
        "The [sic] rent is due [1].",
        "The rent is due\n[1].",
        "One [1]. Two [1]. Three [1]. Four [1]. Five [1].",  # more than four
        "",
    ],
)
def test_anything_else_is_refused(accepts: Accepts, text: str) -> None:
    assert not accepts(text)


@pytest.mark.parametrize("passages", [1, 2, 9, 10, 30])
def test_exactly_the_passages_there_are_can_be_cited(
    vocabulary: Vocabulary, prompt: AnswerPrompt, passages: int
) -> None:
    grammar = grammar_for(passages, prompt)
    cited = [number for number in range(40) if vocabulary.accepts(grammar, f"It is due [{number}].")]
    assert cited == list(range(1, passages + 1))


def test_what_is_accepted_is_understood(accepts: Accepts, prompt: AnswerPrompt) -> None:
    text = "The rent is 12.5 per cent [1]. It is paid quarterly. [2][11] “Estate” means the wharf [5]"
    assert accepts(text)
    stream = DraftStream(prompt.refusal)
    drafts = [*stream.add(text), *stream.end()]
    assert [(draft.text, draft.cited) for draft in drafts] == [
        ("The rent is 12.5 per cent.", (1,)),
        ("It is paid quarterly.", (2, 11)),
        ("“Estate” means the wharf.", (5,)),
    ]


def test_a_grammar_with_a_mistake_is_our_bug(vocabulary: Vocabulary) -> None:
    with pytest.raises(BugError, match="has a mistake"):
        vocabulary.accepts('root ::= "a" undefined', "a")
