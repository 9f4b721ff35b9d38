"""Sweeping folders, telling what is new, changed and gone, and noticing that something changed."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from watchdog.events import FileClosedNoWriteEvent, FileModifiedEvent, FileOpenedEvent

from pincite import watch
from pincite.watch import Changes, Found, Seen, Watcher, changes, sweep

WAIT_S = 30.0
NOW_S = 1_000_000.0
OLD_NS = int((NOW_S - 3600) * 1e9)

needs_links = pytest.mark.skipif(sys.platform == "win32", reason="links need special rights here")


def paths(found: Found) -> list[str]:
    return [seen.path for seen in found.files]


def write(path: Path, text: str = "text") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


# The sweep


def test_every_file_under_the_root_is_seen_with_its_size_and_time(tmp_path: Path) -> None:
    first, second = write(tmp_path / "a.txt", "1"), write(tmp_path / "deep" / "er" / "b.txt", "22")
    found = sweep(tmp_path)
    assert found.online and not found.unreadable
    assert set(found.files) == {
        Seen(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in (first, second)
    }


@pytest.mark.parametrize(
    "name",
    ["~$letter.docx", ".hidden.md", "copy.tmp", "film.part", "page.crdownload", ".~lock.report.odt#", "note.txt~",
     "a.swp", "Thumbs.db", "desktop.ini", ".git/config", "node_modules/x/readme.md", "draft.mine"],
)  # fmt: skip
def test_names_that_are_not_documents_are_passed_over(tmp_path: Path, name: str) -> None:
    write(tmp_path / name)
    kept = write(tmp_path / "kept.md")
    assert paths(sweep(tmp_path, ignore=("*.mine",))) == [str(kept)]


def test_paths_to_skip_are_not_entered(tmp_path: Path) -> None:
    write(tmp_path / "own" / "library.sqlite")
    write(tmp_path / "single.txt")
    kept = write(tmp_path / "kept.txt")
    assert paths(sweep(tmp_path, skip=(str(tmp_path / "own"), str(tmp_path / "single.txt")))) == [str(kept)]


def test_a_root_that_is_a_file_is_seen_by_itself(tmp_path: Path) -> None:
    path = write(tmp_path / "one.txt", "123")
    write(tmp_path / "other.txt")
    assert sweep(path) == Found(True, (Seen(str(path), 3, path.stat().st_mtime_ns),))


def test_a_root_that_is_not_there_is_offline(tmp_path: Path) -> None:
    assert sweep(tmp_path / "unplugged") == Found(False, ())


def test_a_file_is_gone_when_its_folder_is_there_and_out_of_reach_when_that_is_not(tmp_path: Path) -> None:
    assert sweep(tmp_path / "one.txt", was_file=True) == Found(True, ())
    assert sweep(tmp_path / "unplugged" / "one.txt", was_file=True) == Found(False, ())


def test_a_root_that_may_not_be_looked_at_is_offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Path) -> os.stat_result:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "stat", refuse)
    assert sweep(tmp_path) == Found(False, ())


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are a thing of Unix")
def test_pipes_and_devices_are_not_files(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    assert sweep(tmp_path) == Found(True, ())
    assert sweep(tmp_path / "pipe.txt") == Found(True, ())


@needs_links
def test_links_that_lead_back_are_followed_once(tmp_path: Path) -> None:
    kept = write(tmp_path / "folder" / "a.txt")
    (tmp_path / "folder" / "loop").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "again").symlink_to(tmp_path / "folder", target_is_directory=True)
    (tmp_path / "itself").symlink_to(tmp_path / "itself")
    assert paths(sweep(tmp_path)) == [str(kept)]


@needs_links
def test_a_folder_is_known_by_its_own_path_rather_than_a_link_to_it(tmp_path: Path) -> None:
    for name in ("before", "zebra"):
        (tmp_path / name).symlink_to(tmp_path / "middle", target_is_directory=True)
    kept = write(tmp_path / "middle" / "a.txt")
    assert paths(sweep(tmp_path)) == [str(kept)]


@needs_links
def test_links_to_files_and_to_folders_elsewhere_are_followed(tmp_path: Path) -> None:
    elsewhere = write(tmp_path / "elsewhere" / "a.txt")
    root = tmp_path / "root"
    root.mkdir()
    (root / "b.txt").symlink_to(elsewhere)
    (root / "linked").symlink_to(elsewhere.parent, target_is_directory=True)
    (root / "dangling.txt").symlink_to(tmp_path / "nowhere.txt")
    assert sorted(paths(sweep(root))) == [str(root / "b.txt"), str(root / "linked" / "a.txt")]


def test_a_folder_that_cannot_be_entered_is_named_and_the_rest_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "closed" / "a.txt")
    kept = write(tmp_path / "open" / "b.txt")
    refuse_to_enter(monkeypatch, tmp_path / "closed")
    found = sweep(tmp_path)
    assert paths(found) == [str(kept)]
    assert found.unreadable == ((str(tmp_path / "closed"), "Permission denied"),)


def refuse_to_enter(monkeypatch: pytest.MonkeyPatch, closed: Path) -> None:
    class Guarded(CountingOs):
        def scandir(self, folder: str) -> list[CountingEntry]:
            if folder == str(closed):
                raise PermissionError(13, "Permission denied", folder)
            return super().scandir(folder)

    monkeypatch.setattr(watch, "os", Guarded())


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere file names are always text")
def test_a_name_that_is_not_text_is_named_and_not_read(tmp_path: Path) -> None:
    with open(os.fsencode(tmp_path) + b"/caf\xe9.txt", "wb") as file:
        file.write(b"text")
    kept = write(tmp_path / "café.txt")
    found = sweep(tmp_path)
    assert paths(found) == [str(kept)]
    assert [reason for _, reason in found.unreadable] == ["its name is not valid text; give it another"]


def test_a_file_costs_one_look_at_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = [str(write(tmp_path / "folder" / f"{number}.txt")) for number in range(20)]
    counting = CountingOs()
    monkeypatch.setattr(watch, "os", counting)
    sweep(tmp_path)
    assert sorted(counting.looks) == sorted([*files, str(tmp_path), str(tmp_path / "folder")])


class CountingOs:
    """The system, noting at what `stat` is done."""

    def __init__(self) -> None:
        self.looks: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)

    def stat(self, path: str) -> os.stat_result:
        self.looks.append(path)
        return os.stat(path)

    def scandir(self, folder: str) -> list[CountingEntry]:
        with os.scandir(folder) as entries:
            return [CountingEntry(entry, self.looks) for entry in entries]


class CountingEntry:
    """An entry of a folder, noting when its file is looked at. What it knows without is free."""

    def __init__(self, entry: os.DirEntry[str], looks: list[str]) -> None:
        self._entry, self._looks = entry, looks

    def __getattr__(self, name: str) -> Any:
        return getattr(self._entry, name)

    def stat(self) -> os.stat_result:
        self._looks.append(self._entry.path)
        return self._entry.stat()


# What changed


def seen(path: str, size: int = 1, mtime_ns: int = OLD_NS) -> Seen:
    return Seen(path, size, mtime_ns)


def compared(found: Found, known: dict[str, tuple[int, int]], settle_s: float = 2.0) -> Changes:
    return changes(found, known, NOW_S, settle_s)


def test_new_changed_gone_and_unchanged_are_told_apart() -> None:
    found = Found(True, (seen("/r/same"), seen("/r/larger", size=2), seen("/r/touched"), seen("/r/new")))
    known = {"/r/same": (1, OLD_NS), "/r/larger": (1, OLD_NS), "/r/touched": (1, OLD_NS - 1), "/r/gone": (1, OLD_NS)}
    assert compared(found, known) == Changes(
        new=(seen("/r/new"),),
        changed=(seen("/r/larger", size=2), seen("/r/touched")),
        gone=("/r/gone",),
        unsettled=(),
        unchanged=1,
    )


def test_a_file_that_was_just_written_is_left_for_the_next_sweep() -> None:
    fresh = seen("/r/a", mtime_ns=int((NOW_S - 1.5) * 1e9))
    assert compared(Found(True, (fresh,)), {}).unsettled == ("/r/a",)
    assert compared(Found(True, (fresh,)), {"/r/a": (1, OLD_NS)}).changed == ()
    assert compared(Found(True, (fresh,)), {}, settle_s=1.0).new == (fresh,)


def test_an_unsettled_file_is_not_gone() -> None:
    fresh = seen("/r/a", size=9, mtime_ns=int(NOW_S * 1e9))
    assert compared(Found(True, (fresh,)), {"/r/a": (1, OLD_NS)}) == Changes((), (), (), ("/r/a",), 0)


def test_a_file_from_the_future_is_read_at_once() -> None:
    late = seen("/r/a", mtime_ns=int((NOW_S + 3600) * 1e9))
    assert compared(Found(True, (late,)), {}).new == (late,)


def test_nothing_is_gone_from_a_root_that_is_offline() -> None:
    assert compared(Found(False, ()), {"/r/a": (1, OLD_NS)}) == Changes((), (), (), (), 0)


def test_nothing_is_gone_from_a_folder_that_could_not_be_entered() -> None:
    inside, beside = os.path.join("/r", "closed", "a"), os.path.join("/r", "closed-not", "b")
    found = Found(True, (), ((os.path.join("/r", "closed"), "Permission denied"),))
    assert compared(found, {inside: (1, 1), beside: (1, 1)}).gone == (beside,)


def test_a_file_that_could_not_be_looked_at_is_not_gone() -> None:
    assert compared(Found(True, (), (("/r/a", "Input/output error"),)), {"/r/a": (1, 1)}).gone == ()


states = st.dictionaries(
    st.sampled_from([f"/r/{letter}" for letter in "abcdef"]), st.tuples(st.integers(0, 3), st.just(OLD_NS))
)


@settings(deadline=None)
@given(there=states, known=states)
def test_every_path_is_accounted_for_exactly_once(
    there: dict[str, tuple[int, int]], known: dict[str, tuple[int, int]]
) -> None:
    change = compared(Found(True, tuple(Seen(path, *stamp) for path, stamp in there.items())), known)
    named = [s.path for s in (*change.new, *change.changed)] + list(change.gone) + list(change.unsettled)
    assert len(named) == len(set(named))
    assert len(named) + change.unchanged == len(set(there) | set(known))
    assert {s.path for s in change.new} == set(there) - set(known)
    assert set(change.gone) == set(known) - set(there)


# The watcher


@pytest.fixture
def watching() -> Iterator[Callable[..., threading.Event]]:
    """Watches roots; the event is set when the watcher calls."""
    watchers: list[Watcher] = []

    def start(*roots: Path) -> threading.Event:
        called = threading.Event()
        watchers.append(Watcher(called.set))
        watchers[-1].start()
        watchers[-1].watch(str(root) for root in roots)
        return called

    yield start
    for watcher in watchers:
        watcher.stop()


@pytest.fixture(autouse=True)
def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bursts count as over almost at once."""
    monkeypatch.setattr(watch, "QUIET_S", 0.01)


def add(folder: Path) -> None:
    write(folder / "new.txt")


def change(folder: Path) -> None:
    write(folder / "old.txt", "changed")


def delete(folder: Path) -> None:
    (folder / "old.txt").unlink()


def rename(folder: Path) -> None:
    (folder / "old.txt").rename(folder / "renamed.txt")


@pytest.mark.parametrize("act", [add, change, delete, rename])
def test_a_change_under_a_root_is_noticed(
    tmp_path: Path, watching: Callable[..., threading.Event], act: Callable[[Path], None]
) -> None:
    inside = tmp_path / "root" / "inside"
    write(inside / "old.txt")
    called = watching(tmp_path / "root")
    act(inside)
    assert called.wait(WAIT_S)


def test_a_root_that_is_a_file_is_watched(tmp_path: Path, watching: Callable[..., threading.Event]) -> None:
    path = write(tmp_path / "one.txt")
    called = watching(path)
    write(path, "changed")
    assert called.wait(WAIT_S)


def test_a_root_that_cannot_be_watched_is_left_to_the_periodic_sweep(tmp_path: Path) -> None:
    called = threading.Event()
    watcher = Watcher(called.set)
    watcher.start()
    try:
        unplugged = str(tmp_path / "unplugged" / "folder")
        watcher.watch([unplugged, str(tmp_path)])
        assert [problem.split(" is only looked at")[0] for problem in watcher.problems] == [unplugged]
        write(tmp_path / "a.txt")
        assert called.wait(WAIT_S), "the other root is watched"
    finally:
        watcher.stop()


def test_a_folder_that_comes_back_is_noticed_and_watched_again(tmp_path: Path) -> None:
    drive = tmp_path / "drive"
    called = threading.Event()
    watcher = Watcher(called.set)
    watcher.start()
    try:
        watcher.watch([str(drive)])
        (drive / "inside").mkdir(parents=True)
        assert called.wait(WAIT_S)
        watcher.watch([str(drive)])
        watches = [emitter.watch for emitter in watcher._observer.emitters]
        assert [(watch.path, watch.is_recursive) for watch in watches] == [(str(drive), True)]
    finally:
        watcher.stop()


def test_reading_a_file_is_no_change() -> None:
    changed = threading.Event()
    hints = watch._Hints(changed)
    for harmless in (FileOpenedEvent("/r/a"), FileClosedNoWriteEvent("/r/a")):
        hints.dispatch(harmless)
    assert not changed.is_set()
    hints.dispatch(FileModifiedEvent("/r/a"))
    assert changed.is_set()


def test_a_hint_is_answered_without_any_event() -> None:
    called = threading.Event()
    watcher = Watcher(called.set)
    watcher.start()
    watcher.hint()
    assert called.wait(WAIT_S)
    watcher.stop()


def test_the_periodic_sweep_comes_without_any_event(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "SWEEP_INTERVAL_S", 0.01)
    called = threading.Event()
    watcher = Watcher(called.set)
    watcher.start()
    assert called.wait(WAIT_S)
    watcher.stop()


def test_stopping_twice_or_unstarted_is_harmless() -> None:
    Watcher(lambda: None).stop()
    watcher = Watcher(lambda: None)
    watcher.start()
    watcher.stop()
    watcher.stop()
