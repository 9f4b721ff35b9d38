"""What searching and asking work with."""

from __future__ import annotations

import time
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pincite.answer import AnswerPrompt
from pincite.engine import Engine
from pincite.errors import BugError
from pincite.index import Index

MAX_QUESTION_CHARS = 4_000


@dataclass(frozen=True, slots=True)
class Tools:
    """What asking works with. `count_tokens` is the embedder's; `model` is "" when there is none fit to write."""

    index: Index
    engine: Engine
    count_tokens: Callable[[str], int]
    prompt: AnswerPrompt
    model: str
    evidence_tokens: int
    answer_tokens: int


def load_prompt(resources: Path) -> AnswerPrompt:
    """The prompt for answers and its grammar, from the resources that ship. Raises BugError when they do not."""
    try:
        values = tomllib.loads((resources / "prompts" / "answer.toml").read_text(encoding="utf-8"))
        grammar = (resources / "grammars" / values["grammar"]).read_text(encoding="utf-8")
        return AnswerPrompt(
            version=values["version"],
            system=values["system"].strip(),
            evidence_head=values["evidence_head"],
            question_head=values["question_head"],
            refusal=values["refusal"],
            grammar=grammar,
        )
    except (OSError, tomllib.TOMLDecodeError, KeyError) as error:
        raise BugError(f"The prompt that ships with Pincite cannot be used: {error!r}.") from error


class Clock:
    """Times the stages of one search or question."""

    def __init__(self) -> None:
        self._start = self._last = time.perf_counter()

    def lap_ms(self) -> float:
        """Milliseconds since the lap before."""
        now = time.perf_counter()
        lap, self._last = now - self._last, now
        return round(lap * 1000, 1)

    def total_ms(self) -> float:
        """Milliseconds since the start."""
        return round((time.perf_counter() - self._start) * 1000, 1)
