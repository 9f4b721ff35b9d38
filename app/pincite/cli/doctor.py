"""`pincite doctor`: what works here and what is missing, with the command that mends it."""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from pincite.cli.commands import opened
from pincite.cli.output import Output, counts_sentence, wrapped
from pincite.engine.models import ModelState, ModelUse, best_answer_model, models_on, read_catalog
from pincite.errors import PinciteError
from pincite.settings import Settings, catalog_file

NEEDED = {
    "pymupdf": "reading PDF files",
    "chromadb": "searching by meaning",
    "sentence_transformers": "searching by meaning",
    "onnxruntime": "searching by meaning",
    "llama_cpp": "writing answers",
    "PySide6": "the window",
    "watchdog": "noticing changes at once",
}
MIN_FREE_MB = 500


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at. `mend` is the command or step that helps, "" when all is well."""

    name: str
    works: bool
    says: str
    mend: str = ""


def examine(settings: Settings, options: argparse.Namespace, output: Output) -> int:
    """Look at everything Pincite needs, say what was found, and end with 1 if something is missing."""
    findings = [*_packages(), *_models(settings), *_library(settings), *_machine(settings)]
    if output.as_json:
        output.json({"works": all(f.works for f in findings), "findings": [_json(f) for f in findings]})
    else:
        for finding in findings:
            output.text(wrapped(f"{finding.name}: {finding.says}", "    ", "✓ " if finding.works else "✗ "))
            if finding.mend:
                output.text(f"    → {finding.mend}")
    return 0 if all(finding.works for finding in findings) else 1


def _packages() -> Iterator[Finding]:
    for package, purpose in NEEDED.items():
        found = importlib.util.find_spec(package) is not None
        says = "installed" if found else f"missing, and needed for {purpose}"
        yield Finding(package, found, says, "" if found else "install Pincite again: pip install pincite")


def _models(settings: Settings) -> Iterator[Finding]:
    mend = "pincite models install"
    try:
        catalog = read_catalog(catalog_file())
        by_name = {model.name: model for model in models_on(settings.models_dir, catalog)}
        for name in (settings.embedding_model, settings.reranker_model):
            model = by_name.get(name)
            works = model is not None and model.state is ModelState.INSTALLED
            problem = (model.problem or model.state.value) if model else "unknown"
            yield Finding(f"model {name}", works, "installed" if works else problem, "" if works else mend)
        writer = best_answer_model(settings.models_dir, catalog, settings.answer_model)
    except PinciteError as error:
        yield Finding(f"models for {ModelUse.ANSWERS.value}", False, str(error), mend)
        return
    if writer is None:
        yield Finding("language model", False, "none is installed, so answers are made of quotes", mend)
    else:
        weak = "" if writer.prose else "; it is too small to be trusted with prose, so answers are made of quotes"
        yield Finding("language model", True, f"{writer.name}{weak}")


def _library(settings: Settings) -> Iterator[Finding]:
    try:
        with opened(settings) as library:
            ledger = library.ledger()
    except PinciteError as error:
        yield Finding("library", False, str(error))
        return
    yield Finding("library", True, f"{settings.library_dir}: {counts_sentence(ledger)}")
    offline = [folder.path for folder in ledger.folders if not folder.online]
    if offline:
        yield Finding("folders", False, f"cannot be reached: {', '.join(offline)}", "connect the drive or share")


def _machine(settings: Settings) -> Iterator[Finding]:
    display = sys.platform != "linux" or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
    says = "found" if display else "none here: the command line works, the window needs one"
    yield Finding("display", True, says, "" if display else "start Pincite in a desktop session")
    try:
        settings.data_dir.mkdir(parents=True, exist_ok=True)
        free_mb = shutil.disk_usage(settings.data_dir).free // (1 << 20)
    except OSError as error:
        reason = f"{settings.data_dir} cannot be used: {error.strerror}"
        yield Finding("disk", False, reason, "set PINCITE_DATA to a folder that can be written to")
    else:
        mend = "" if free_mb >= MIN_FREE_MB else f"free some space in {settings.data_dir}"
        yield Finding("disk", not mend, f"{free_mb:,} MB free", mend)
    yield Finding("scanned pages", True, "not read by this version; files that need it are listed by `pincite status`")


def _json(finding: Finding) -> dict[str, object]:
    return {"name": finding.name, "works": finding.works, "says": finding.says, "mend": finding.mend}
