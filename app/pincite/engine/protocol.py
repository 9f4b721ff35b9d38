"""What the engine and its child process say to each other, so that both sides agree on names and numbers.

A request is `{"id", "op", "rank", …}`, an answer `{"id", "event", …}`; vectors travel as little-endian float32 in the
frame's block. A request is answered by any number of `TEXT` frames and then exactly one `DONE` or `ERROR`, unless it
was cancelled. `PHASE` and `REFUSED` frames belong to no request.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import IntEnum, StrEnum
from pathlib import Path
from typing import Any, Self

from pincite.settings import Settings

VECTOR_TYPE = "<f4"


class Op(StrEnum):
    """What the child can be asked to do."""

    LOAD = "load"
    EMBED_PASSAGES = "embed_passages"
    EMBED_QUERY = "embed_query"
    RERANK = "rerank"
    COUNT = "count"
    GENERATE = "generate"
    CANCEL = "cancel"


class Event(StrEnum):
    """What the child says."""

    PHASE = "phase"  # what it does from now on, see Phase
    PROGRESS = "progress"  # more of a prompt was read
    TEXT = "text"  # more of an answer
    DONE = "done"
    ERROR = "error"
    REFUSED = "refused"  # how many outbound connections were refused so far


class Phase(StrEnum):
    """What the child is busy with; decides how long its silence is tolerated."""

    STARTING = "starting"
    IDLE = "idle"
    LOADING = "loading"
    WORKING = "working"


# Silence after which the child counts as hung. Each is many times what the slowest laptop needs for the longest step
# that sends nothing: libraries and weights from a cold disk; one batch of texts, one slice of a prompt, one token.
SILENCE_LIMIT_S = {Phase.STARTING: 120.0, Phase.IDLE: 60.0, Phase.LOADING: 600.0, Phase.WORKING: 180.0}


class Rank(IntEnum):
    """Who goes first: a waiting question, then an answer being written, then indexing."""

    QUESTION = 0
    ANSWER = 1
    INDEXING = 2


@dataclass(frozen=True, slots=True)
class EngineConfig:
    """What the child needs to know before anything is asked of it."""

    models_dir: str
    embedding_model: str
    reranker_model: str
    threads: int
    gpu_layers: int

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """The part of the settings that concerns models."""
        return cls(
            models_dir=str(Path(settings.models_dir).absolute()),
            embedding_model=settings.embedding_model,
            reranker_model=settings.reranker_model,
            threads=settings.threads,
            gpu_layers=settings.gpu_layers,
        )

    def message(self) -> dict[str, Any]:
        """As the first frame carries it."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class GenerationStats:
    """What writing an answer took. `reused_tokens` of the prompt were still known from the one before.

    `stopped` is "end" when the model finished, "length" at the token limit, "repeat" when it went round in circles.
    """

    prompt_tokens: int
    reused_tokens: int
    answer_tokens: int
    prompt_ms: float
    answer_ms: float
    stopped: str

    @property
    def tokens_per_s(self) -> float | None:
        """The writing speed, where enough was written to tell."""
        return self.answer_tokens * 1000 / self.answer_ms if self.answer_tokens > 1 and self.answer_ms > 0 else None
