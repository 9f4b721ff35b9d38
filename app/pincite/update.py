"""One update of a library: sweep the folders, settle moves and deletions, read what waits, make the vectors."""

from __future__ import annotations

import logging
import os
import queue
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path

from pincite.chunk import ChunkLimits
from pincite.engine import Engine, TokenCounter
from pincite.errors import Cancelled, PinciteError, place_of
from pincite.extract import Reader
from pincite.index import Index
from pincite.index.files import FileRecord
from pincite.ingest import IngestTools, Outcome, content_hash, ingest_file
from pincite.model import FileState, Folder, IndexProgress, UpdateReport
from pincite.settings import Settings
from pincite.watch import Changes, Seen, changes, sweep

MAX_SWEEPS = 5  # a file that is still being written after this many looks is left to the next update
POLL_S = 0.1
REPORT_INTERVAL_S = 0.2

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class UpdateTools:
    """What an update works with."""

    index: Index
    settings: Settings
    count_tokens: TokenCounter
    limits: ChunkLimits


@dataclass(frozen=True, slots=True)
class _Look:
    """How a root differs from what is known of it, and what was known of its files that are gone.

    `unchanged` leaves out the files that an interrupted update left in the queue.
    """

    root: str
    change: Changes
    gone: dict[str, FileRecord]
    unchanged: int

    def arrivals(self) -> tuple[Seen, ...]:
        return (*self.change.new, *self.change.changed)


class _NotShown(Exception):
    """The shell could not show progress: its fault, and not that of the file that was being read."""


@dataclass(slots=True)
class _Pace:
    """Counts what is done, and tells how long the rest will take."""

    total_files: int
    total_bytes: int
    started_s: float = field(default_factory=time.monotonic)
    files: int = 0
    bytes: int = 0
    pages: int = 0

    def progress(self, path: str) -> IndexProgress:
        elapsed_s = max(time.monotonic() - self.started_s, 1e-6)
        left_s = None
        if self.bytes and elapsed_s > 1:
            left_s = elapsed_s * max(self.total_bytes - self.bytes, 0) / self.bytes
        return IndexProgress("reading", self.files, self.total_files, self.pages, self.pages / elapsed_s, left_s, path)


class Update:
    """One run over all folders. Raises Cancelled from every step; what was finished is kept."""

    def __init__(
        self, tools: UpdateTools, progress: Callable[[IndexProgress], None], cancelled: Callable[[], bool]
    ) -> None:
        self._tools = tools
        self._progress = progress
        self._cancelled = cancelled
        self._lock = threading.Lock()
        self._counts = dict.fromkeys(("read", "moved", "deleted", "unchanged", "failed"), 0)
        self._notes: list[str] = []

    def run(self) -> UpdateReport:
        """Sweep and read until nothing is left that has settled."""
        for round_number in range(MAX_SWEEPS):
            unsettled = self._sweep_all(first=round_number == 0)
            changing = self._read_waiting()
            if not unsettled and not changing:
                break
            if round_number < MAX_SWEEPS - 1:
                self._let_settle()
        else:
            late = unsettled + changing
            files = "1 file is" if late == 1 else f"{late:,} files are"
            self._notes.append(f"{files} still being written and will be read later.")
        return UpdateReport(**self._counts, notes=tuple(dict.fromkeys(self._notes)))

    def embed(self, engine: Engine) -> int:
        """Make the vectors that are missing; returns how many."""
        started_s = time.monotonic()

        def report(done: int, total: int) -> None:
            self._check()
            elapsed_s = time.monotonic() - started_s
            left_s = elapsed_s / done * (total - done) if done else None
            self._progress(IndexProgress("embedding", done, total, left_s=left_s))

        return self._tools.index.embed_pending(
            lambda texts: engine.embed_passages(texts, cancelled=self._cancelled), report
        )

    def _check(self) -> None:
        if self._cancelled():
            raise Cancelled("Stopped, as asked.")

    def _sweep_all(self, *, first: bool) -> int:
        """Note what is new, changed and gone under every root; returns how many files have not settled.

        All roots are looked at before anything is noted, so that a file moved from one to another is not taken for
        one that is gone.
        """
        folders = self._tools.index.folders()
        looks = [self._looked_at(folder, folders, first=first) for folder in folders]
        self._apply(looks)
        if first:
            self._counts["unchanged"] += sum(look.unchanged for look in looks)
        return sum(len(look.change.unsettled) for look in looks)

    def _looked_at(self, folder: Folder, folders: Sequence[Folder], *, first: bool) -> _Look:
        self._check()
        index, settings = self._tools.index, self._tools.settings
        if first:
            self._progress(IndexProgress("looking", 0, 0, path=folder.path))
        known = index.files_under(folder.path)
        # What is watched by itself is not looked at a second time through a folder around it.
        others = [other.path for other in folders if other.path != folder.path]
        skip = (str(settings.data_dir), str(settings.library_dir), *others)
        found = sweep(Path(folder.path), settings.ignore, skip, was_file=folder.path in known)
        if found.online != folder.online:
            index.set_online(folder.path, found.online)
        self._notes += [f"{_shown(path)} could not be looked into: {reason}." for path, reason in found.unreadable]
        seen_before = {path: (record.size, record.mtime_ns) for path, record in known.items()}
        change = changes(found, seen_before, time.time(), settings.settle_s)
        queued = {path for path, record in known.items() if record.state is FileState.WAITING}
        queued -= {*change.unsettled, *(seen.path for seen in change.changed)}
        waiting = sum(seen.path in queued for seen in found.files)
        return _Look(folder.path, change, {path: known[path] for path in change.gone}, change.unchanged - waiting)

    def _apply(self, looks: Sequence[_Look]) -> None:
        index = self._tools.index
        gone = {path: record for look in looks for path, record in look.gone.items()}
        arrived = {seen.path: self._content_if_moved(seen, gone) for look in looks for seen in look.arrivals()}
        for look in looks:
            index.note_seen([(seen.path, look.root, seen.size, seen.mtime_ns) for seen in look.arrivals()])
        forgotten = {record.content_hash for record in gone.values() if record.state is FileState.FORGOTTEN}
        linked: Counter[str] = Counter()
        for path, content in arrived.items():
            if content in forgotten:
                index.keep_forgotten(path, content)
                linked[content] += 1
            elif content and index.link_known(path, content) is not None:
                linked[content] += 1
        index.drop_files(list(gone))
        moved = (linked & Counter(record.content_hash for record in gone.values())).total()
        self._counts["moved"] += moved
        self._counts["unchanged"] += linked.total() - moved  # copies of what was moved
        self._counts["deleted"] += len(gone) - moved

    def _content_if_moved(self, seen: Seen, gone: Mapping[str, FileRecord]) -> str:
        """The content hash of a file that was moved here from one of the places where files are gone; else ""."""
        contents = {record.content_hash for record in gone.values() if record.size == seen.size}
        try:
            content = content_hash(Path(seen.path)) if contents - {""} else ""
        except OSError:
            return ""  # it will be read, and named if that fails too
        return content if content in contents else ""

    def _read_waiting(self) -> int:
        """Read everything in the queue; returns how many files were changing under our eyes."""
        waiting = self._tools.index.waiting_files()
        if not waiting:
            return 0
        pace = _Pace(len(waiting), sum(record.size for record in waiting))
        workers = max(1, min((os.cpu_count() or 2) - 1, len(waiting)))
        readers: queue.SimpleQueue[Reader] = queue.SimpleQueue()
        made = [Reader(self._tools.settings) for _ in range(workers)]
        for reader in made:
            readers.put(reader)
        try:
            with ThreadPoolExecutor(workers, thread_name_prefix="reading") as pool:
                jobs = [pool.submit(self._read_one, record, readers, pace) for record in waiting]
                return self._collected(jobs)
        finally:
            for reader in made:
                reader.close()

    def _collected(self, jobs: list[Future[Outcome]]) -> int:
        """Wait for the jobs; the first that fails, or a wish to stop, cancels those not begun."""
        pending = set(jobs)
        try:
            while pending:
                done, pending = wait(pending, POLL_S, FIRST_COMPLETED)
                for job in done:
                    job.result()
                self._check()
        except BaseException as error:
            for job in jobs:
                job.cancel()
            if isinstance(error, _NotShown) and error.__cause__ is not None:
                raise error.__cause__ from None
            raise
        return sum(job.result() is Outcome.CHANGING for job in jobs)

    def _read_one(self, record: FileRecord, readers: queue.SimpleQueue[Reader], pace: _Pace) -> Outcome:
        self._check()
        reader = readers.get()
        last_report_s = 0.0
        try:

            def on_page(done: int, total: int) -> None:
                nonlocal last_report_s
                with self._lock:
                    pace.pages += 1
                    if time.monotonic() - last_report_s < REPORT_INTERVAL_S:
                        return
                last_report_s = time.monotonic()
                self._show(pace.progress(record.path))

            ingest = IngestTools(self._tools.index, reader, self._tools.count_tokens, self._tools.limits)
            outcome = ingest_file(ingest, record, on_page, self._cancelled)
        except (PinciteError, _NotShown):
            raise
        except Exception as error:  # noqa: BLE001 - a lane boundary: our mistake on one file must not stop the others
            self._tools.index.note_unreadable(record.path, "", FileState.FAILED, _our_mistake(error))
            outcome = Outcome.UNREADABLE
        finally:
            readers.put(reader)
        with self._lock:
            pace.files += 1
            pace.bytes += record.size
            counted = {Outcome.READ: "read", Outcome.KNOWN: "unchanged", Outcome.UNREADABLE: "failed"}
            if outcome in counted:
                self._counts[counted[outcome]] += 1
        self._show(pace.progress(record.path))
        return outcome

    def _show(self, progress: IndexProgress) -> None:
        try:
            self._progress(progress)
        except Exception as error:  # carried out of the thread as what it is, see _collected
            raise _NotShown from error

    def _let_settle(self) -> None:
        deadline_s = time.monotonic() + self._tools.settings.settle_s
        while time.monotonic() < deadline_s:
            self._check()
            time.sleep(POLL_S)


def _shown(path: str) -> str:
    """A path as it can be shown: a name that is not valid text is spelt out."""
    return path.encode("utf-8", "backslashreplace").decode("utf-8")


def _our_mistake(error: Exception) -> str:
    """A sentence that says where, without the exception's own text, which may quote the document."""
    place = place_of(error)
    logger.error("Reading a file failed: %s", place)
    return f"A mistake in Pincite stopped the reading of this file ({place}); please report it."
