"""One update of a library: sweep the folders, settle moves and deletions, read what waits, make the vectors."""

from __future__ import annotations

import logging
import os
import queue
import threading
import time
import traceback
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path

from pincite.chunk import ChunkLimits
from pincite.engine import Engine, TokenCounter
from pincite.errors import Cancelled, PinciteError
from pincite.extract import Reader
from pincite.index import Index
from pincite.index.files import FileRecord
from pincite.ingest import IngestTools, Outcome, content_hash, ingest_file
from pincite.model import FileState, IndexProgress, UpdateReport
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
            self._let_settle()
        else:
            self._notes.append(f"{unsettled + changing} files are still being written and will be read later.")
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
        """Note what is new, changed and gone under every root; returns how many files have not settled."""
        index, settings = self._tools.index, self._tools.settings
        unsettled = 0
        self._counts["unchanged"] = 0
        for folder in index.folders():
            self._check()
            if first:
                self._progress(IndexProgress("looking", 0, 0, path=folder.path))
            found = sweep(Path(folder.path), settings.ignore, (str(settings.data_dir), str(settings.library_dir)))
            if found.online != folder.online:
                index.set_online(folder.path, found.online)
            known = index.files_under(folder.path)
            seen_before = {path: (record.size, record.mtime_ns) for path, record in known.items()}
            change = changes(found, seen_before, time.time(), settings.settle_s)
            self._apply(folder.path, change, known)
            self._notes += [f"{path} could not be looked into: {reason}." for path, reason in found.unreadable]
            unsettled += len(change.unsettled)
        return unsettled

    def _apply(self, root: str, change: Changes, known: dict[str, FileRecord]) -> None:
        index = self._tools.index
        index.note_seen([(seen.path, root, seen.size, seen.mtime_ns) for seen in (*change.new, *change.changed)])
        gone_sizes = {known[path].size for path in change.gone}
        for seen in change.new:
            if seen.size in gone_sizes and self._is_known(seen):
                self._counts["moved"] += 1
        deleted = index.drop_files(change.gone)
        self._counts["deleted"] += deleted
        self._counts["unchanged"] += change.unchanged

    def _is_known(self, seen: Seen) -> bool:
        """Link a file that may have been moved here to the document it holds, before its old place is forgotten."""
        try:
            return self._tools.index.link_known(seen.path, content_hash(Path(seen.path))) is not None
        except OSError:
            return False  # it will be read, and named if that fails too

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
        except BaseException:
            for job in jobs:
                job.cancel()
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
                self._progress(pace.progress(record.path))

            ingest = IngestTools(self._tools.index, reader, self._tools.count_tokens, self._tools.limits)
            outcome = ingest_file(ingest, record, on_page, self._cancelled)
        except PinciteError:
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
        self._progress(pace.progress(record.path))
        return outcome

    def _let_settle(self) -> None:
        deadline_s = time.monotonic() + self._tools.settings.settle_s
        while time.monotonic() < deadline_s:
            self._check()
            time.sleep(POLL_S)


def _our_mistake(error: Exception) -> str:
    """A sentence that says where, without the exception's own text, which may quote the document."""
    where = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{type(error).__name__} in {Path(where.filename).name}, line {where.lineno}"
    logger.error("Reading a file failed: %s", place)
    return f"A mistake in Pincite stopped the reading of this file ({place}); please report it."
