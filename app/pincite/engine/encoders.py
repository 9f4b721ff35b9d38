"""The encoders: sentence-transformers models run by ONNX Runtime. Importing this takes seconds; child process only."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnxruntime
import torch
from sentence_transformers import CrossEncoder, SentenceTransformer

MAX_BATCH = 64


class Embedder:
    """Texts to unit vectors."""

    def __init__(self, folder: Path, weights: Path, threads: int) -> None:
        self._model = SentenceTransformer(
            str(folder), device="cpu", local_files_only=True, **_backend(weights, threads)
        )

    def passages(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """One row for each text that may be found."""
        return _float32(self._model.encode_document(valid(texts), **_encoding()))

    def queries(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """One row for each question, read with the prefix that the model's folder states for questions."""
        return _float32(self._model.encode_query(valid(texts), **_encoding()))


class Reranker:
    """Question and text to a score."""

    def __init__(self, folder: Path, weights: Path, threads: int) -> None:
        self._model = CrossEncoder(
            str(folder), device="cpu", local_files_only=True, num_labels=1, **_backend(weights, threads)
        )

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """The model's logit for each text."""
        (query,) = valid([query])
        scores = self._model.predict(
            [(query, text) for text in valid(texts)],
            batch_size=MAX_BATCH,
            show_progress_bar=False,
            activation_fn=torch.nn.Identity(),
        )
        return [float(score) for score in scores]


def quiet_runtimes() -> None:
    """Keep ONNX Runtime from reporting anything, and torch, which only pools here, from starting threads of its own."""
    onnxruntime.disable_telemetry_events()
    onnxruntime.set_default_logger_severity(3)
    torch.set_num_threads(1)


def valid(texts: Sequence[str]) -> list[str]:
    """The texts with a question mark for each half of a character, which broken files hold and tokenizers refuse."""
    return [text.encode("utf-8", "replace").decode("utf-8") for text in texts]


def _backend(weights: Path, threads: int) -> dict[str, Any]:
    if weights.suffix != ".onnx":
        return {"backend": "torch"}
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    # Its threads would otherwise spin for a while after each batch and take the cores from llama.cpp.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return {
        "backend": "onnx",
        "model_kwargs": {
            "file_name": weights.name,
            "provider": "CPUExecutionProvider",
            "session_options": options,
            **({"subfolder": weights.parent.name} if weights.parent.name == "onnx" else {}),
        },
    }


def _encoding() -> dict[str, Any]:
    return {"batch_size": MAX_BATCH, "show_progress_bar": False, "normalize_embeddings": True}


def _float32(vectors: Any) -> npt.NDArray[np.float32]:
    return np.ascontiguousarray(vectors, dtype=np.float32)
