"""Reads the header of a GGUF file, so that a file which is no language model is refused before anything loads it.

Layout: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md. Loading a truncated file can take the whole
model process down with a bus error, so the size that the header promises is compared with the size there is.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from pincite.errors import ModelError

MAGIC = b"GGUF"
VERSIONS = (2, 3)
MAX_ENTRIES = 1 << 20  # of tensors or of keys: real models have a few hundred
MAX_STRING_BYTES = 64 << 20
DEFAULT_ALIGNMENT = 32
STRING, ARRAY = 8, 9
SCALARS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}
# Tensor type: (elements in a block, bytes of a block), from ggml's table of types.
BLOCKS = {
    0: (1, 4), 1: (1, 2), 2: (32, 18), 3: (32, 20), 6: (32, 22), 7: (32, 24), 8: (32, 34), 9: (32, 36),
    10: (256, 84), 11: (256, 110), 12: (256, 144), 13: (256, 176), 14: (256, 210), 15: (256, 292),
    16: (256, 66), 17: (256, 74), 18: (256, 98), 19: (256, 50), 20: (32, 18), 21: (256, 110), 22: (256, 82),
    23: (256, 136), 24: (1, 1), 25: (1, 2), 26: (1, 4), 27: (1, 8), 28: (1, 8), 29: (256, 56), 30: (1, 2),
    34: (256, 54), 35: (256, 66), 39: (32, 17),
}  # fmt: skip
NOT_FOR_TEXT = frozenset({"clip", "bert", "nomic-bert", "jina-bert-v2", "t5encoder", "wavtokenizer-dec"})

Value = int | float | bool | str | None  # None: an array, passed over


@dataclass(frozen=True, slots=True)
class GgufHeader:
    """What a GGUF file says of itself. `needed_bytes` is how long the file must be for its tensors to be whole."""

    architecture: str
    kind: str  # "model" or "" for a model, else "adapter", "mmproj", "vocab" …
    pieces: int  # above 1 when the model is split over several files
    tensors: int
    needed_bytes: int


class _Malformed(Exception):
    """The bytes are not what the format says they must be."""


def check_gguf(path: Path) -> GgufHeader:
    """The header of a language model that is whole. Raises ModelError with the reason when `path` is not one."""
    try:
        size = path.stat().st_size
        if size == 0:
            raise ModelError(f"The file {path} is empty, so it is no model.")
        with path.open("rb") as stream:
            header = _header(stream)
    except OSError as error:
        raise ModelError(f"The file {path} cannot be read: {error.strerror or error}.") from error
    except _Malformed as error:
        raise ModelError(f"The file {path} is not a usable GGUF model: {error}.") from error
    if size < header.needed_bytes:
        raise ModelError(
            f"The file {path} is cut short: it has {size:,} bytes of {header.needed_bytes:,}, so it must be copied or "
            "downloaded again."
        )
    if header.pieces > 1:
        raise ModelError(f"The file {path} is one of {header.pieces} pieces of a model, which must be joined first.")
    if header.kind not in ("", "model") or header.architecture in NOT_FOR_TEXT or not header.tensors:
        kind = header.kind or header.architecture
        raise ModelError(f"The file {path} is of kind {kind}, not a model that writes text.")
    return header


def _header(stream: BinaryIO) -> GgufHeader:
    if stream.read(4) != MAGIC:
        raise _Malformed("it does not begin with GGUF")
    version = _number(stream, "<I")
    if version not in VERSIONS:
        raise _Malformed(f"it has version {version} of the format, and only {VERSIONS} can be read")
    tensors, keys = _count(stream), _count(stream)
    values = dict(_key_value(stream) for _ in range(keys))
    data_bytes = max((_tensor_end(stream) for _ in range(tensors)), default=0)
    alignment = values.get("general.alignment", DEFAULT_ALIGNMENT)
    if not isinstance(alignment, int) or not 0 < alignment <= 1 << 16:
        raise _Malformed("its alignment makes no sense")
    pieces = values.get("split.count", 1)
    return GgufHeader(
        architecture=str(values.get("general.architecture", "")),
        kind=str(values.get("general.type", "")),
        pieces=pieces if isinstance(pieces, int) else 1,
        tensors=tensors,
        needed_bytes=math.ceil(stream.tell() / alignment) * alignment + data_bytes,
    )


def _key_value(stream: BinaryIO) -> tuple[str, Value]:
    key = _string(stream)
    return key, _value(stream, int(_number(stream, "<I")))


def _value(stream: BinaryIO, kind: int) -> Value:
    if kind == STRING:
        return _string(stream)
    if kind == ARRAY:
        _skip_array(stream)
        return None
    if kind not in SCALARS:
        raise _Malformed(f"it has a value of unknown kind {kind}")
    return _number(stream, SCALARS[kind])


def _skip_array(stream: BinaryIO) -> None:
    """Pass over an array, most often the vocabulary; nothing here needs what is in one."""
    kind, length = int(_number(stream, "<I")), int(_number(stream, "<Q"))
    if kind in SCALARS:
        _exactly(stream, length * struct.calcsize(SCALARS[kind]))
        return
    if kind != STRING or length > MAX_STRING_BYTES:
        raise _Malformed("it has an array that makes no sense")
    for _ in range(length):
        _string(stream)


def _tensor_end(stream: BinaryIO) -> int:
    """Where in the data part the tensor described next ends."""
    _string(stream)
    dimensions = int(_number(stream, "<I"))
    if dimensions > 8:
        raise _Malformed("it has a tensor of impossible shape")
    elements = math.prod(int(_number(stream, "<Q")) for _ in range(dimensions))
    kind, offset = int(_number(stream, "<I")), int(_number(stream, "<Q"))
    block_elements, block_bytes = BLOCKS.get(kind, (max(elements, 1), 1))  # a newer type: at least one byte
    return offset + math.ceil(elements / block_elements) * block_bytes


def _count(stream: BinaryIO) -> int:
    count = int(_number(stream, "<Q"))
    if count > MAX_ENTRIES:
        raise _Malformed("its header makes no sense")
    return count


def _string(stream: BinaryIO) -> str:
    return _exactly(stream, int(_number(stream, "<Q"))).decode("utf-8", "replace")


def _number(stream: BinaryIO, form: str) -> int | float | bool:
    number: int | float | bool = struct.unpack(form, _exactly(stream, struct.calcsize(form)))[0]
    return number


def _exactly(stream: BinaryIO, wanted: int) -> bytes:
    if wanted > MAX_STRING_BYTES:
        raise _Malformed("it has a text of impossible length")
    found = stream.read(wanted)
    if len(found) < wanted:
        raise _Malformed("it ends in the middle of its header")
    return found
