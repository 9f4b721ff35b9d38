"""Files that are no usable language model are refused before anything loads them."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from pincite.engine.gguf import check_gguf
from pincite.errors import ModelError

F32 = 0
Q4_K = 12


def text(value: str) -> bytes:
    encoded = value.encode()
    return struct.pack("<Q", len(encoded)) + encoded


def gguf(
    *, keys: dict[str, str | int] | None = None, tensors: int = 2, kind: int = F32, elements: int = 8, data: int = 64
) -> bytes:
    """A GGUF file with a vocabulary, some keys, and tensors of 32 bytes each."""
    keys = {"general.architecture": "llama"} if keys is None else keys
    header = b"GGUF" + struct.pack("<IQQ", 3, tensors, len(keys) + 2)
    for key, value in keys.items():
        header += text(key)
        header += struct.pack("<I", 8) + text(value) if isinstance(value, str) else struct.pack("<II", 4, value)
    header += text("vocabulary") + struct.pack("<IIQ", 9, 8, 3) + text("a") + text("bc") + text("")
    header += text("scores") + struct.pack("<IIQ3f", 9, 6, 3, 0.0, 1.0, 2.0)
    for number in range(tensors):
        header += text(f"tensor {number}") + struct.pack("<IQIQ", 1, elements, kind, number * 32)
    return header + b"\0" * (-len(header) % 32) + b"\1" * data


def file(tmp_path: Path, content: bytes) -> Path:
    path = tmp_path / "model.gguf"
    path.write_bytes(content)
    return path


def test_a_whole_model_passes(tmp_path: Path) -> None:
    path = file(tmp_path, gguf())
    header = check_gguf(path)
    assert (header.architecture, header.tensors, header.needed_bytes) == ("llama", 2, path.stat().st_size)


def test_sizes_of_quantised_tensors_are_counted_in_blocks(tmp_path: Path) -> None:
    header = check_gguf(file(tmp_path, gguf(tensors=1, kind=Q4_K, elements=512, data=288)))
    assert header.needed_bytes == (tmp_path / "model.gguf").stat().st_size


def test_every_way_of_cutting_a_file_short_is_noticed(tmp_path: Path) -> None:
    whole = gguf()
    for length in range(len(whole)):
        with pytest.raises(ModelError, match=r"model\.gguf"):
            check_gguf(file(tmp_path, whole[:length]))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is empty"),
        (b"PK\3\4 a zip archive", "does not begin with GGUF"),
        (gguf(data=40), "cut short: it has .* bytes of"),
        (b"GGUF" + struct.pack("<IQQ", 1, 1, 1), "version 1"),
        (b"GGUF" + struct.pack("<IQQ", 3, 1 << 60, 1), "header makes no sense"),
        (b"GGUF" + struct.pack("<IQQ", 3, 1, 1) + struct.pack("<Q", 1 << 62), "text of impossible length"),
        (gguf(keys={"general.architecture": "llama", "split.count": 3}), "one of 3 pieces"),
        (gguf(keys={"general.architecture": "llama", "general.type": "adapter"}), "is of kind adapter"),
        (gguf(keys={"general.architecture": "clip"}), "is of kind clip"),
        (gguf(keys={"general.alignment": 0}), "alignment"),
        (gguf(tensors=0), "not a model that writes text"),
    ],
)
def test_what_is_no_model_is_refused_with_the_reason(tmp_path: Path, content: bytes, reason: str) -> None:
    with pytest.raises(ModelError, match=reason):
        check_gguf(file(tmp_path, content))


def test_a_file_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"absent\.gguf cannot be read: No such file"):
        check_gguf(tmp_path / "absent.gguf")
