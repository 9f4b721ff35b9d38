"""Stop 1 of the walk: folders → what is new, changed or gone. A sweep that only looks, and a thin watchdog loop.

Events are taken as hints to sweep, never as the truth about a file: editors rename over, copies arrive in pieces and
events get lost, and the sweep sees all of that alike.
"""

from __future__ import annotations

import fnmatch
import logging
import os
import stat
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer

QUIET_S = 1.0  # a burst of events is answered once, this long after its last
SWEEP_INTERVAL_S = 300.0  # for what events missed (network shares, exhausted watches)
IGNORED = (
    ".*", "~$*", "*~", "*.tmp", "*.temp", "*.part", "*.partial", "*.crdownload", "*.download", "*.swp", "*.swx",
    "*.lock", ".~lock.*", "Thumbs.db", "desktop.ini", "__pycache__", "node_modules",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Seen:
    """A file as the sweep saw it."""

    path: str
    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class Found:
    """What a sweep of one root found. `unreadable` are folders that could not be entered, with the reason."""

    online: bool
    files: tuple[Seen, ...]
    unreadable: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Changes:
    """How a root differs from what is known of it."""

    new: tuple[Seen, ...]
    changed: tuple[Seen, ...]
    gone: tuple[str, ...]
    unsettled: tuple[str, ...]
    unchanged: int


def sweep(root: Path, ignore: tuple[str, ...] = (), skip: tuple[str, ...] = (), *, was_file: bool = False) -> Found:
    """Look at every file under `root`, or at `root` itself if it is a file. Links to folders are followed once.

    Names that match `ignore` (globs) and the paths `skip` are passed over. `was_file` says that `root` was a file when
    it was last seen: it is gone, not out of reach, when the folder that held it can be looked into and it is not there.
    """
    try:
        status = root.stat()
    except FileNotFoundError:
        return Found(was_file and os.path.isdir(root.parent), ())
    except OSError:
        return Found(False, ())
    if not stat.S_ISDIR(status.st_mode):
        there = (Seen(str(root), status.st_size, status.st_mtime_ns),) if stat.S_ISREG(status.st_mode) else ()
        return Found(True, there)
    unreadable: list[tuple[str, str]] = []
    files = tuple(_files_under(root, (*IGNORED, *ignore), skip, unreadable))
    return Found(True, files, tuple(unreadable))


def _files_under(
    root: Path, ignore: tuple[str, ...], skip: tuple[str, ...], unreadable: list[tuple[str, str]]
) -> Iterator[Seen]:
    visited: set[tuple[int, int]] = set()
    pending, links = [str(root)], list[str]()
    while pending or links:
        folder = pending.pop() if pending else links.pop()  # links last: a folder is best known by its own path
        try:
            status = os.stat(folder)
            if (status.st_dev, status.st_ino) in visited and status.st_ino:
                continue  # a link back into what was already looked at
            visited.add((status.st_dev, status.st_ino))
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError as error:
            unreadable.append((folder, error.strerror or str(error)))
            continue
        for entry in entries:
            if entry.path in skip or any(fnmatch.fnmatch(entry.name, pattern) for pattern in ignore):
                continue
            if not is_text(entry.name):
                unreadable.append((entry.path, "its name is not valid text; give it another"))
                continue
            try:
                if entry.is_dir():
                    (links if entry.is_symlink() else pending).append(entry.path)
                elif entry.is_file():
                    status = entry.stat()
                    yield Seen(entry.path, status.st_size, status.st_mtime_ns)
            except OSError as error:
                unreadable.append((entry.path, error.strerror or str(error)))


def is_text(name: str) -> bool:
    """Whether a name can be stored: the system may return names that are not UTF-8."""
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def changes(found: Found, known: Mapping[str, tuple[int, int]], now_s: float, settle_s: float) -> Changes:
    """Compare what was found with what is `known` (path → size, mtime in ns). Pure.

    A file that was written to less than `settle_s` ago is left for the next sweep. A file is gone only when its folder
    could be looked into and it was not there.
    """
    new: list[Seen] = []
    changed: list[Seen] = []
    unsettled: list[str] = []
    unchanged = 0
    for seen in found.files:
        if known.get(seen.path) == (seen.size, seen.mtime_ns):
            unchanged += 1
        elif 0 <= now_s - seen.mtime_ns / 1e9 < settle_s:
            unsettled.append(seen.path)
        elif seen.path in known:
            changed.append(seen)
        else:
            new.append(seen)
    present = {seen.path for seen in found.files}
    hidden = tuple(folder.rstrip(os.sep) for folder, _ in found.unreadable)
    gone = [path for path in known if path not in present and not _under(path, hidden)] if found.online else []
    return Changes(tuple(new), tuple(changed), tuple(gone), tuple(unsettled), unchanged)


def _under(path: str, folders: Iterable[str]) -> bool:
    return any(path == folder or path.startswith(folder + os.sep) for folder in folders)


class Watcher:
    """Calls `on_change`, from a thread of its own, when something under the roots changed and has gone quiet."""

    def __init__(self, on_change: Callable[[], None]) -> None:
        self._on_change = on_change
        self._changed = threading.Event()
        self._stopping = threading.Event()
        self._observer = Observer()
        self._roots: dict[str, bool] = {}
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, name="folder watch", daemon=True)
        self.problems: list[str] = []

    def start(self) -> None:
        """Begin to watch."""
        # WORKAROUND: watchdog 7.1 reports a race inside itself as an error when a watch ends while an event comes in.
        logging.getLogger("watchdog.observers.inotify").addFilter(_is_a_fault)
        self._observer.start()
        self._thread.start()

    def watch(self, roots: Iterable[str]) -> None:
        """Watch exactly these roots from now on. A root that cannot be watched is left to the periodic sweep.

        For a folder that is not there its surroundings are watched; call again when it is back.
        """
        wanted = {root: os.path.isdir(root) for root in sorted(roots)}
        with self._lock:
            if wanted != self._roots:
                self._observer.unschedule_all()
                self._roots = wanted
                self.problems = []
                for root, is_folder in wanted.items():
                    self._schedule(root, is_folder)

    def hint(self) -> None:
        """Treat the roots as changed."""
        self._changed.set()

    def stop(self) -> None:
        """End watching; returns when the threads are gone."""
        self._stopping.set()
        self._changed.set()
        if self._observer.is_alive():
            self._observer.stop()
            self._observer.join()
        if self._thread.is_alive():
            self._thread.join()

    def _schedule(self, root: str, is_folder: bool) -> None:
        folder = root if is_folder else os.path.dirname(root)
        try:
            self._observer.schedule(_Hints(self._changed), folder, recursive=is_folder)
        except OSError as error:
            # Out of inotify watches, or the folder is not there now: the periodic sweep still sees it.
            self.problems.append(f"{root} is only looked at every few minutes: {error.strerror or error}.")

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._changed.wait(SWEEP_INTERVAL_S)
            while self._changed.is_set() and not self._stopping.is_set():
                self._changed.clear()
                self._changed.wait(QUIET_S)
            if not self._stopping.is_set():
                self._on_change()


def _is_a_fault(record: logging.LogRecord) -> bool:
    return "called when the thread is inactive" not in record.msg


class _Hints(FileSystemEventHandler):
    """Turns whatever happens into one flag."""

    def __init__(self, changed: threading.Event) -> None:
        self._changed = changed

    def on_any_event(self, event: FileSystemEvent) -> None:
        # Opening and closing without writing is what our own reading causes: answering it would never end.
        if event.event_type not in ("opened", "closed_no_write"):
            self._changed.set()
