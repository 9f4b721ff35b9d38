"""Keeps the library up to date: adding, removing and reading, one after another on the index lane."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from pincite.gui.bridge import Bridge, Failure, Job, Lane, Task
from pincite.model import UpdateReport

if TYPE_CHECKING:
    from pincite.library import Library


class Updates(QObject):
    """Asks for one update at a time; whatever happens meanwhile leads to one more after it.

    Adding and removing interrupt a running update, which loses nothing: finished files stay finished, and the next
    update goes on with the rest.
    """

    progressed = Signal(object)  # IndexProgress
    started = Signal()
    settled = Signal()  # nothing is being read or waits to be
    paused_changed = Signal(bool)
    changed = Signal()  # the ledger is no longer what it was
    noted = Signal(str)  # a sentence the person should see
    failed = Signal(object)  # Failure

    def __init__(self, bridge: Bridge, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._changes: deque[tuple[Callable[[Library], object], str]] = deque()
        self._job: Job | None = None
        self._updating = False
        self._wanted = False
        self._paused = False

    @property
    def paused(self) -> bool:
        return self._paused

    @property
    def updating(self) -> bool:
        """Whether files are being read now."""
        return self._updating

    def add(self, paths: Iterable[Path]) -> None:
        """Add folders or files and read them."""
        for path in paths:
            self._change(lambda library, path=path: library.add(path), self.tr("adding a folder"))  # type: ignore[misc]

    def remove(self, path: Path) -> None:
        """Stop watching a folder or file and erase what was derived from it."""
        self._change(lambda library: library.remove(path), self.tr("removing a folder"))

    def request(self) -> None:
        """Read what has changed, now or as soon as the running update is done."""
        self._wanted = True
        self._next()

    def set_paused(self, paused: bool) -> None:
        """Stop reading until it is resumed. Questions can be asked all the same."""
        self._paused = paused
        self.paused_changed.emit(paused)
        if paused and self._updating and self._job is not None:
            self._wanted = True
            self._job.cancel()
        self._next()

    def _change(self, call: Callable[[Library], object], what: str) -> None:
        self._changes.append((call, what))
        if self._updating and self._job is not None:
            self._job.cancel()
        self._next()

    def _next(self) -> None:
        if self._job is not None:
            return
        if self._changes:
            call, what = self._changes.popleft()
            self._wanted = True
            self._start(self._bridge.submit(Lane.INDEX, lambda library, _task: call(library), what))
        elif self._wanted and not self._paused:
            self._wanted = False
            self._updating = True
            self._start(self._bridge.submit(Lane.INDEX, _update, self.tr("reading your files")))
            self.started.emit()
        else:
            self.settled.emit()

    def _start(self, job: Job) -> None:
        self._job = job
        job.reported.connect(self.progressed)
        job.result.connect(self._report)
        job.failed.connect(self._fail)
        job.ended.connect(self._end)

    def _report(self, report: object) -> None:
        if isinstance(report, UpdateReport) and report.notes:
            self.noted.emit(" ".join(report.notes))

    def _fail(self, failure: Failure) -> None:
        self.failed.emit(failure)

    def _end(self) -> None:
        self._job = None
        self._updating = False
        self.changed.emit()
        self._next()


def _update(library: Library, task: Task) -> UpdateReport:
    report: UpdateReport = library.update(progress=task.report_latest, cancelled=task.cancelled)
    return report
