"""How fast documents are read and embedded, beside the bare libraries at the same work."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pymupdf
from figures import Figure, figure
from sentence_transformers import SentenceTransformer

from pincite.index import Index
from pincite.library import Library
from pincite.settings import Settings, resources_dir

READ_COPIES = 6  # of each sample document
EMBEDDED_COPIES = 2
BATCH = 32  # the default of sentence-transformers

Encode = Callable[[Sequence[str]], np.ndarray[Any, np.dtype[np.float32]]]


def measure(rounds: int, settings: Settings, scratch: Path) -> list[Figure]:
    """Pages a second until they can be found by their words, then passages a second until by their meaning."""
    return [pages_figure(rounds, settings, scratch), passages_figure(rounds, settings, scratch)]


def corpus(folder: Path, copies: int) -> list[Path]:
    """The sample documents of which MuPDF gets text, so many times; each copy differs in a comment at its end."""
    folder.mkdir(parents=True)
    paths = []
    for source in sorted((resources_dir() / "samples" / "documents").glob("*.pdf")):
        with pymupdf.open(source) as document:
            if not any(page.get_text().strip() for page in document):
                continue
        for number in range(copies):
            path = folder / f"{source.stem}-{number}.pdf"
            path.write_bytes(source.read_bytes() + f"%% copy {number}\n".encode())
            paths.append(path)
    return paths


def pages_figure(rounds: int, settings: Settings, scratch: Path) -> Figure:
    """Reading into an empty library, beside MuPDF's text of the same pages."""
    paths = corpus(scratch / "read", READ_COPIES)
    ours, bare = [], []
    for number in range(rounds):
        library = Library.open(replace(settings, library_dir=scratch / f"read-{number}", settle_s=0.0))
        library.add(paths[0].parent)
        began_s = time.perf_counter()
        library.update(fast=True)
        took_s = time.perf_counter() - began_s
        ours.append(sum(entry.pages for entry in library.ledger().entries) / took_s)
        library.close()
        bare.append(bare_pages_per_s(paths))
    return figure("read, structured, in the keyword index", "pages/s", ours, "PyMuPDF, text alone", bare)


def bare_pages_per_s(paths: Sequence[Path]) -> float:
    """How fast MuPDF alone gives the text of all pages."""
    began_s, pages = time.perf_counter(), 0
    for path in paths:
        with pymupdf.open(path) as document:
            for page in document:
                page.get_text()
                pages += 1
    return pages / (time.perf_counter() - began_s)


def passages_figure(rounds: int, settings: Settings, scratch: Path) -> Figure:
    """Embedding through the model process into Chroma, beside the same embedder called on the same texts."""
    paths = corpus(scratch / "embed", EMBEDDED_COPIES)
    encode = bare_encoder(settings)
    ours, bare = [], []
    for number in range(rounds):
        own = replace(settings, library_dir=scratch / f"embed-{number}", settle_s=0.0)
        library = Library.open(own)
        library.add(paths[0].parent)
        library.update(fast=True)
        texts = pending_texts(own)
        library.warm_up()
        began_s = time.perf_counter()
        embedded = library.update().embedded
        ours.append(embedded / (time.perf_counter() - began_s))
        library.close()
        began_s = time.perf_counter()
        encode(texts)
        bare.append(len(texts) / (time.perf_counter() - began_s))
    return figure(
        "embedded in the model process, stored", "passages/s", ours, "sentence-transformers, same model, alone", bare
    )


class _TextsTaken(Exception):
    """Ends the making of vectors once the texts are known."""


def pending_texts(settings: Settings) -> list[str]:
    """The texts that the library is about to embed."""
    texts: list[str] = []

    def take(batch: Sequence[str]) -> np.ndarray[Any, np.dtype[np.float32]]:
        texts.extend(batch)
        raise _TextsTaken

    index = Index(settings.library_dir, settings.embedding_model)
    try:
        index.embed_pending(take, lambda _done, _total: None)
    except _TextsTaken:
        pass  # as intended
    finally:
        index.close()
    return texts


def bare_encoder(settings: Settings) -> Encode:
    """The embedder as one would use it without Pincite, warmed up."""
    folder = settings.models_dir / settings.embedding_model
    weights = next(folder.rglob("*.onnx"))
    model = SentenceTransformer(
        str(folder),
        device="cpu",
        local_files_only=True,
        backend="onnx",
        model_kwargs={
            "file_name": weights.name,
            "provider": "CPUExecutionProvider",
            **({"subfolder": weights.parent.name} if weights.parent != folder else {}),
        },
    )

    def encode(texts: Sequence[str]) -> np.ndarray[Any, np.dtype[np.float32]]:
        vectors = model.encode(list(texts), batch_size=BATCH, show_progress_bar=False, normalize_embeddings=True)
        return np.asarray(vectors, dtype=np.float32)

    encode(["warm up"])
    return encode
