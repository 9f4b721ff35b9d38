"""The vector store: what is put is found, what is deleted is gone, damage is said, two models never meet."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from pincite.errors import GiveUpError, StoreBusyError
from pincite.index.vectors import READ_BATCH, Floats, Vectors

DIMENSIONS = 16


def direction(number: int) -> Floats:
    """A unit vector of its own for each number."""
    vector: Floats = np.random.default_rng(number).standard_normal(DIMENSIONS).astype(np.float32)
    return vector / np.float32(np.linalg.norm(vector))


def put(vectors: Vectors, *numbers: int, document: str = "d") -> None:
    vectors.put([f"c{n}" for n in numbers], [document] * len(numbers), np.stack([direction(n) for n in numbers]))


@pytest.fixture
def vectors(tmp_path: Path) -> Iterator[Vectors]:
    vectors = Vectors(tmp_path / "vectors", "model")
    yield vectors
    vectors.close()


def test_nothing_is_opened_or_made_before_first_use(tmp_path: Path) -> None:
    vectors = Vectors(tmp_path / "vectors", "model")
    vectors.close()
    assert not (tmp_path / "vectors").exists()


def test_an_empty_store_finds_nothing(vectors: Vectors) -> None:
    assert vectors.nearest(direction(0), 5) == [] and vectors.nearest_of(direction(0), ["c1"], 5) == []
    assert vectors.ids() == set() and vectors.get(["c1"]) == {}


def test_the_nearest_come_first_with_their_cosine(vectors: Vectors) -> None:
    put(vectors, *range(20))
    [(first, similarity), *rest] = vectors.nearest(direction(7), 5)
    assert first == "c7" and similarity == pytest.approx(1.0, abs=1e-5) and len(rest) == 4
    expected = {f"c{n}": float(direction(n) @ direction(7)) for n in range(20)}
    for chunk, score in rest:
        assert score == pytest.approx(expected[chunk], abs=1e-4)
    assert [score for _, score in rest] == sorted((score for _, score in rest), reverse=True)


def test_comparing_them_all_agrees_with_the_index(vectors: Vectors) -> None:
    put(vectors, *range(20))
    everything = vectors.nearest(direction(3), 20)
    compared = vectors.nearest_of(direction(3), [f"c{n}" for n in range(20)], 20)
    assert [chunk for chunk, _ in compared] == [chunk for chunk, _ in everything]
    assert [score for _, score in compared] == pytest.approx([score for _, score in everything], abs=1e-4)
    assert [chunk for chunk, _ in vectors.nearest_of(direction(3), ["c3", "c5", "not there"], 20)] == ["c3", "c5"]


def test_length_plays_no_part(vectors: Vectors) -> None:
    vectors.put(["long", "near"], ["d", "d"], np.stack([direction(1) * 100, direction(2)]))
    assert vectors.nearest(direction(2) * 5, 1)[0][0] == "near"
    assert vectors.nearest_of(direction(2) * 5, ["long", "near"], 1)[0][0] == "near"


def test_a_filter_by_document_is_kept(vectors: Vectors) -> None:
    put(vectors, *range(10), document="a")
    put(vectors, *range(10, 20), document="b")
    found = vectors.nearest(direction(3), 10, ["b"])
    assert {chunk for chunk, _ in found} == {f"c{n}" for n in range(10, 20)}
    assert vectors.nearest(direction(3), 10, []) == []


def test_writing_the_same_again_changes_nothing(vectors: Vectors) -> None:
    put(vectors, 1, 2, 3)
    put(vectors, 1, 2, 3)
    assert vectors.ids() == {"c1", "c2", "c3"}


def test_more_than_one_batch_is_put_got_and_deleted(vectors: Vectors) -> None:
    numbers = range(READ_BATCH + 5)
    put(vectors, *numbers)
    assert len(vectors.ids()) == READ_BATCH + 5
    assert len(vectors.get([f"c{n}" for n in numbers])) == READ_BATCH + 5
    vectors.delete(f"c{n}" for n in range(READ_BATCH + 3))
    assert vectors.ids() == {f"c{READ_BATCH + 3}", f"c{READ_BATCH + 4}"}


def test_what_is_got_is_what_was_put(vectors: Vectors) -> None:
    put(vectors, 1, 2)
    got = vectors.get(["c2", "unknown", "c1"])
    assert set(got) == {"c1", "c2"}
    np.testing.assert_allclose(got["c2"], direction(2), atol=1e-6)


def test_what_is_deleted_is_found_by_no_way(vectors: Vectors) -> None:
    put(vectors, *range(10), document="a")
    vectors.delete(["c3", "never there"])
    vectors.delete([])
    assert "c3" not in vectors.ids() and "c3" not in vectors.ids_of("a") and vectors.get(["c3"]) == {}
    assert "c3" not in [chunk for chunk, _ in vectors.nearest(direction(3), 10)]
    assert "c3" not in [chunk for chunk, _ in vectors.nearest_of(direction(3), ["c3", "c4"], 10)]


def test_vectors_are_there_when_the_store_is_opened_again(vectors: Vectors, tmp_path: Path) -> None:
    put(vectors, *range(10))
    vectors.close()
    again = Vectors(tmp_path / "vectors", "model")
    assert again.nearest(direction(4), 1)[0][0] == "c4"
    again.close()


def test_the_memory_of_this_process_is_not_written_down_with_an_empty_index(vectors: Vectors, tmp_path: Path) -> None:
    put(vectors, *range(10))
    files = [path for path in (tmp_path / "vectors").rglob("*") if path.name in ("data_level0.bin", "length.bin")]
    assert len(files) == 2
    for path in files:
        assert path.stat().st_size > 0 and not any(path.read_bytes()), path.name
    vectors.close()
    again = Vectors(tmp_path / "vectors", "model")
    put(again, *range(10, READ_BATCH + 200))
    assert any(any(path.read_bytes()) for path in files), "by now it holds vectors"
    for number in (4, 500, READ_BATCH + 100):
        assert again.nearest(direction(number), 1)[0][0] == f"c{number}"
    again.close()


def test_vectors_of_two_models_never_meet(vectors: Vectors, tmp_path: Path) -> None:
    put(vectors, 1, 2)
    other = Vectors(tmp_path / "vectors", "another model")
    assert other.ids() == set()
    other.put(["c1"], ["d"], np.ones((1, 3), dtype=np.float32))  # of another size, too
    assert vectors.ids() == {"c1", "c2"} and other.ids() == {"c1"}
    other.close()


def test_deleting_reaches_the_vectors_of_models_used_before(vectors: Vectors, tmp_path: Path) -> None:
    put(vectors, 1, 2)
    other = Vectors(tmp_path / "vectors", "another model")
    other.delete(["c1"])
    assert vectors.ids() == {"c2"}
    other.close()


def test_vectors_of_another_size_are_refused_in_a_sentence(vectors: Vectors) -> None:
    put(vectors, 1)
    with pytest.raises(GiveUpError, match="cannot be used"):
        vectors.put(["c9"], ["d"], np.ones((1, 3), dtype=np.float32))
    assert vectors.ids() == {"c1"}


def test_a_closed_store_stays_closed(vectors: Vectors) -> None:
    put(vectors, 1)
    vectors.close()
    with pytest.raises(StoreBusyError, match="closed"):
        vectors.ids()
    vectors.close()


PUT_IN_ANOTHER_PROCESS = """
import sys
from pathlib import Path
import numpy as np
from pincite.index.vectors import Vectors
vectors = Vectors(Path(sys.argv[1]), "model")
if sys.argv[2] == "put":
    vectors.put(["theirs"], ["d"], np.ones((1, 16), dtype=np.float32))
else:
    vectors.delete(["theirs"])
vectors.close()
"""


def test_what_another_process_does_is_seen(vectors: Vectors, tmp_path: Path) -> None:
    put(vectors, *range(10))
    ones = np.ones(DIMENSIONS, dtype=np.float32)
    assert vectors.nearest(ones, 1)[0][0] != "theirs"
    for action, expected in (("put", True), ("delete", False)):
        subprocess.run([sys.executable, "-c", PUT_IN_ANOTHER_PROCESS, str(tmp_path / "vectors"), action], check=True)
        assert (vectors.nearest(ones, 1)[0][0] == "theirs") is expected
        assert ("theirs" in vectors.ids()) is expected


def spoil_with_junk(folder: Path) -> None:
    (folder / "chroma.sqlite3").write_bytes(b"This is no database. " * 500)


def spoil_by_cutting(folder: Path) -> None:
    file = folder / "chroma.sqlite3"
    file.write_bytes(file.read_bytes()[:50_000])


def spoil_with_a_file(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.write_text("a file")


@pytest.mark.parametrize("spoil", [spoil_with_junk, spoil_by_cutting, spoil_with_a_file])
def test_damage_is_said_each_time_and_mended_by_deleting(vectors: Vectors, tmp_path: Path, spoil: object) -> None:
    put(vectors, 1)
    vectors.close()
    folder = tmp_path / "vectors"
    assert callable(spoil)
    spoil(folder)
    damaged = Vectors(folder, "model")
    for _ in range(2):
        with pytest.raises(GiveUpError, match=r"cannot be used .* Delete that folder"):
            damaged.ids()
    if folder.is_dir():
        shutil.rmtree(folder)
    else:
        folder.unlink()
    assert damaged.ids() == set(), "it is built again without another start"
    put(damaged, 1)
    assert damaged.ids() == {"c1"}
    damaged.close()
