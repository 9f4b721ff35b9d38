"""Picks the likeliest next token that a grammar allows.

llama.cpp's own sampler tests every token of the vocabulary against the grammar at every step, which halves the speed
of writing. Here the likeliest token is tested alone, which settles most steps; then the likeliest few; then all.
"""

from __future__ import annotations

import ctypes
from typing import Any

import llama_cpp
import numpy as np
import numpy.typing as npt

from pincite.errors import BugError

FEW = 64
Logits = npt.NDArray[np.float32]


class Picker:
    """Greedy choice within a grammar (GBNF, from its rule `root`), or without one for "". To be closed after use."""

    def __init__(self, vocabulary: Any, grammar: str) -> None:
        self._vocabulary = vocabulary
        self._sampler = None
        if grammar:
            self._sampler = llama_cpp.llama_sampler_init_grammar(vocabulary, grammar.encode("utf-8"), b"root")
            if not self._sampler:
                raise BugError("The grammar for the answer has a mistake, so nothing was written.")

    def close(self) -> None:
        """Give back what llama.cpp holds for the grammar."""
        if self._sampler:
            llama_cpp.llama_sampler_free(self._sampler)
            self._sampler = None

    def pick(self, logits: Logits) -> int:
        """The token to write next. Tell it by `accept` before the next `pick`."""
        likeliest = np.array([logits.argmax()])
        if not self._sampler:
            return int(likeliest[0])
        for candidates in (likeliest, _top(logits, FEW), np.arange(len(logits))):
            allowed = self._allowed(candidates, logits[candidates])
            if allowed is not None:
                return allowed
        raise BugError("The grammar for the answer leads to a point where nothing may follow.")

    def accept(self, token: int) -> None:
        """Move the grammar past `token`, which is not one that ends the text."""
        if self._sampler:
            llama_cpp.llama_sampler_accept(self._sampler, token)

    def _allowed(self, candidates: npt.NDArray[Any], logits: Logits) -> int | None:
        """The likeliest candidate that the grammar allows."""
        data = (llama_cpp.llama_token_data * len(candidates))()
        rows = np.ctypeslib.as_array(data)
        rows["id"], rows["logit"] = candidates, logits
        array = llama_cpp.llama_token_data_array(data=data, size=len(candidates), selected=-1, sorted=False)
        llama_cpp.llama_sampler_apply(self._sampler, ctypes.byref(array))
        best = int(rows["logit"].argmax())
        return int(rows["id"][best]) if np.isfinite(rows["logit"][best]) else None


def _top(logits: Logits, count: int) -> npt.NDArray[Any]:
    return np.argpartition(logits, -min(count, len(logits)))[-count:]
