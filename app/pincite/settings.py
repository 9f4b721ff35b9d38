"""Settings, read once and passed on as a value; and where data, models and resources live.

The settings file is `settings.toml` in the data folder. A key it does not know is refused by name rather than
ignored, so that a misspelt setting cannot be mistaken for one that works.
"""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import platformdirs

from pincite.errors import SettingsError

PACKAGE_DIR = Path(__file__).resolve().parent
LEAST = {"gpu_layers": -1, "threads": 0, "engine_idle_s": 0, "settle_s": 0}  # of other numbers: 1


@dataclass(frozen=True, slots=True)
class Settings:
    """What can be chosen. Times in seconds, sizes in the unit each name gives."""

    data_dir: Path
    library_dir: Path

    answer_model: str = ""  # a name from `pincite models list`; "" takes the best one installed
    embedding_model: str = "bge-small-en-v1.5"
    reranker_model: str = "ms-marco-MiniLM-L-12-v2"
    threads: int = 0  # 0: as many as there are cores
    gpu_layers: int = -1  # -1: as many as fit
    engine_idle_s: float = 600.0  # the models are freed after this long without work

    reader_seconds_per_page: float = 30.0
    reader_seconds_to_open: float = 60.0
    reader_memory_mb: int = 2048
    reader_max_pages: int = 20_000
    max_file_mb: int = 1024

    chunk_tokens: int = 200
    section_tokens: int = 600
    evidence_tokens: int = 700
    answer_tokens: int = 220
    settle_s: float = 2.0  # a file that was written to more recently than this is not read yet
    ignore: tuple[str, ...] = ()  # globs of file names that are not read

    @property
    def models_dir(self) -> Path:
        """Where installed models live: shared by all libraries."""
        chosen = os.environ.get("PINCITE_MODELS")
        return _place(chosen) if chosen else self.data_dir / "models"


def default_data_dir() -> Path:
    """The person's data folder for this application; PINCITE_DATA overrides it."""
    chosen = os.environ.get("PINCITE_DATA")
    return _place(chosen) if chosen else Path(platformdirs.user_data_path("pincite", appauthor=False))


def load_settings(library: Path | None = None) -> Settings:
    """Settings from file and environment. Raises SettingsError with the key and what was wrong with it."""
    data_dir = default_data_dir()
    from_environment = os.environ.get("PINCITE_LIBRARY")
    chosen = library or from_environment or data_dir / "library"
    path = data_dir / "settings.toml"
    values = _checked(_read_toml(path), path) if path.is_file() else {}
    return Settings(data_dir=data_dir, library_dir=_place(chosen), **values)


def _place(chosen: Path | str) -> Path:
    """A chosen folder, wherever the child processes that are told of it may be."""
    return Path(chosen).expanduser().absolute()


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(f"The settings file {path} cannot be read: {error}.") from error


def _checked(values: dict[str, Any], path: Path) -> dict[str, Any]:
    known = {item.name: item for item in fields(Settings) if item.name not in ("data_dir", "library_dir")}
    checked: dict[str, Any] = {}
    for key, value in values.items():
        if key not in known:
            raise SettingsError(f"{path} has a setting that does not exist: {key}. Known: {', '.join(known)}.")
        default = known[key].default
        if isinstance(default, tuple) and isinstance(value, list) and all(isinstance(x, str) for x in value):
            checked[key] = tuple(value)
        elif isinstance(default, float) and isinstance(value, (int, float)) and not isinstance(value, bool):
            checked[key] = float(value)
        elif type(value) is type(default):
            checked[key] = value
        else:
            raise SettingsError(f"The setting {key} in {path} must be like {default!r}, not {value!r}.")
        if isinstance(value, (int, float)) and not value >= LEAST.get(key, 1):
            raise SettingsError(f"The setting {key} in {path} must be at least {LEAST.get(key, 1)}, not {value}.")
    return checked


def resources_dir() -> Path:
    """The read-only data that ships: beside the package when installed, at the top of a source checkout."""
    installed = PACKAGE_DIR / "_resources"
    return installed if installed.is_dir() else PACKAGE_DIR.parents[1] / "resources"


def catalog_file() -> Path:
    """The catalogue of models that Pincite knows how to install."""
    installed = PACKAGE_DIR / "_models" / "catalog.toml"
    return installed if installed.is_file() else PACKAGE_DIR.parents[1] / "models" / "catalog.toml"
