"""The models that the model process holds, each loaded when it is first needed."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from pincite.engine.models import encoder_weights
from pincite.engine.protocol import EngineConfig
from pincite.errors import ModelError

if TYPE_CHECKING:  # importing them takes seconds, which a request for another kind of model need not wait for
    from pincite.engine.encoders import Embedder, Reranker
    from pincite.engine.llm import LanguageModel

CONFIGURATION = ("config.json", "tokenizer.json")


class LoadedModels:
    """At most one embedder, one reranker and one language model."""

    def __init__(self, config: EngineConfig, say_loading: Callable[[str], None]) -> None:
        self._config = config
        self._folder = Path(config.models_dir)
        self._say_loading = say_loading
        self._threads = config.threads or usable_cores()
        self._embedder: Embedder | None = None
        self._reranker: Reranker | None = None
        self._language_model: tuple[str, LanguageModel] | None = None

    @property
    def language_model_name(self) -> str:
        """The language model that is loaded, or ""."""
        return self._language_model[0] if self._language_model is not None else ""

    def embedder(self) -> Embedder:
        """The embedding model of the settings."""
        if self._embedder is None:
            folder = self._encoder_folder(self._config.embedding_model)
            weights = checked_weights(folder)
            with self._loading(folder):
                from pincite.engine.encoders import Embedder, quiet_runtimes  # takes seconds: only when it is needed

                quiet_runtimes()
                self._embedder = Embedder(folder, weights, self._threads)
        return self._embedder

    def reranker(self) -> Reranker:
        """The reranking model of the settings."""
        if self._reranker is None:
            folder = self._encoder_folder(self._config.reranker_model)
            weights = checked_weights(folder)
            with self._loading(folder):
                from pincite.engine.encoders import Reranker, quiet_runtimes  # takes seconds: only when it is needed

                quiet_runtimes()
                self._reranker = Reranker(folder, weights, self._threads)
        return self._reranker

    def language_model(self, name: str) -> LanguageModel:
        """The language model `name`, in place of the one before."""
        if self._language_model is not None and self._language_model[0] == name:
            return self._language_model[1]
        file = self._gguf_file(name)
        if self._language_model is not None:
            self._language_model[1].close()  # before the next one is loaded: both may not fit
            self._language_model = None
        with self._loading(file):
            from pincite.engine.llm import LanguageModel  # loads llama.cpp: only when it is needed

            model = LanguageModel(file, self._threads, self._config.gpu_layers)
        self._language_model = (name, model)
        return model

    @contextmanager
    def _loading(self, subject: Path) -> Iterator[None]:
        # Not undone when loading fails: whoever reports the error wants to know what was being loaded.
        self._say_loading(str(subject))
        yield
        self._say_loading("")

    def _encoder_folder(self, name: str) -> Path:
        folder = self._folder / name
        if not name or not folder.is_dir():
            raise _missing(name)
        return folder

    def _gguf_file(self, name: str) -> Path:
        files = sorted((self._folder / name).glob("*.gguf")) if name else []
        if not files:
            raise _missing(name)
        return files[0]


def usable_cores() -> int:
    """How many cores this process may use; threads that share a core only get in each other's way here."""
    cores = psutil.cpu_count(logical=False) or os.cpu_count() or 1
    affinity = getattr(os, "sched_getaffinity", None)  # only some systems can keep a process to some of the cores
    return min(cores, len(affinity(0))) if affinity else cores


def checked_weights(folder: Path) -> Path:
    """The weights of an encoder. Raises ModelError for what can be seen to be wrong without loading it."""
    weights = encoder_weights(folder)
    if weights is None:
        raise ModelError(f"The folder {folder} holds no weights of a model: `pincite models install` mends it.")
    if weights.stat().st_size == 0:
        raise ModelError(f"The file {weights} is empty, so it is no model.")
    for name in CONFIGURATION:
        try:
            json.loads((folder / name).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ModelError(
                f"The file {folder / name} is missing or damaged: `pincite models install` mends it."
            ) from error
    return weights


def _missing(name: str) -> ModelError:
    what = f"The model {name} is not installed" if name else "No language model is installed"
    return ModelError(f"{what}: run `pincite models install`.")
