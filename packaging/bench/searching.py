"""How long a search and an answer of quotes take, beside embedding the question and asking Chroma for neighbours."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import chromadb
from chromadb.config import Settings as ChromaSettings
from figures import Figure, figure
from reading import bare_encoder, pending_texts

from pincite.evaluate import load_gold
from pincite.library import Library
from pincite.settings import Settings, resources_dir

QUESTIONS = 24
RESULTS = 10


def measure(rounds: int, settings: Settings, scratch: Path) -> list[Figure]:
    """Milliseconds for a question, the samples being the library; the median is over questions and rounds."""
    library = Library.open(settings)
    library.add(resources_dir() / "samples" / "documents")
    library.update(fast=True)
    plain = plain_search(pending_texts(settings), settings, scratch)
    library.update()
    ways: dict[str, Callable[[str], object]] = {
        "plain": plain,
        "lexical": lambda question: library.search(question, k=RESULTS, mode="lexical", rerank=False),
        "fused": lambda question: library.search(question, k=RESULTS, rerank=False),
        "whole": lambda question: library.search(question, k=RESULTS),
        "answer": lambda question: list(library.ask(question, mode="quotes")),
    }
    questions = [item.question for item in load_gold(resources_dir() / "samples")][:QUESTIONS]
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for way in ways.values():
        way(questions[0])
    for question in questions * rounds:
        for name, way in ways.items():
            began_s = time.perf_counter()
            way(question)
            taken[name].append((time.perf_counter() - began_s) * 1000)
    library.close()
    beside = "question embedded, neighbours from Chroma"
    return [
        figure("search by words", "ms", taken["lexical"]),
        figure("search by words and meaning", "ms", taken["fused"], beside, taken["plain"]),
        figure("the same, ranked again (as it is used)", "ms", taken["whole"], beside, taken["plain"]),
        figure("answer made of quotes, search included", "ms", taken["answer"], beside, taken["plain"]),
    ]


def plain_search(texts: list[str], settings: Settings, scratch: Path) -> Callable[[str], object]:
    """What one writes first: embed the question, take the nearest from Chroma."""
    encode = bare_encoder(settings)
    client = chromadb.PersistentClient(str(scratch / "plain"), settings=ChromaSettings(anonymized_telemetry=False))
    collection = client.create_collection("plain", embedding_function=None)
    collection.add(ids=[str(number) for number in range(len(texts))], embeddings=encode(texts), documents=texts)
    return lambda question: collection.query(query_embeddings=encode([question]), n_results=RESULTS)
