"""The one door between worker threads and widgets.

Widgets hand a call to a *lane*, a thread that works through its calls one after another, and get a `Job` back whose
signals arrive on the interface thread. No widget starts a thread, and no call on a lane touches a widget: what
crosses the door are plain values. The bridge also opens and closes the library, because both can take a while and
must be in order with the calls: calls handed over early wait for the library, calls that are running when the
window closes are told to stop.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Qt, Signal

from pincite.errors import BugError, Cancelled, PinciteError, error_for

if TYPE_CHECKING:
    from pincite.library import Library

log = logging.getLogger("pincite.gui.bridge")

STOP_BY_ITSELF_S = 2.0  # how long cancelled calls get before the library is closed under them
STOP_AT_ALL_S = 20.0  # the library's own limits on stopping its children are shorter than this


class Lane(StrEnum):
    """The threads. Calls on one lane never overlap; calls on two may."""

    OPENING = "opening"  # the library; for the bridge alone, because calls on the others wait for it
    INDEX = "index"  # everything that changes the library
    ANSWER = "answer"  # one question at a time
    PAGE = "page"  # page pictures
    SHORT = "short"  # quick looks: ledger, state of the engine
    ENGINE = "engine"  # warming up, so that it holds up nothing else


class _News(Enum):
    EVENT = "event"
    LATEST = "latest"
    RESULT = "result"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a job failed. `report` says where, for mistakes of ours; it may quote documents and stays on screen."""

    error: PinciteError
    report: str = ""

    @property
    def sentence(self) -> str:
        return str(self.error)


class Task:
    """What a call on a lane sees of its job: whether to stop, and where to report. For any thread."""

    def __init__(self, tell: Callable[[_News, object], None]) -> None:
        self._tell = tell
        self._lock = threading.Lock()
        self._cancelled = threading.Event()
        self._started = False
        self._ended = False
        self._latest: list[object] = []

    def cancelled(self) -> bool:
        """Whether the person no longer wants the result."""
        return self._cancelled.is_set()

    def report(self, event: object) -> None:
        """Pass an event on; every one arrives, in order."""
        self._tell(_News.EVENT, event)

    def report_latest(self, progress: object) -> None:
        """Pass progress on; where the window is slower than the work, only the newest arrives."""
        with self._lock:
            waiting = bool(self._latest)
            self._latest = [progress]
        if not waiting:
            self._tell(_News.LATEST, None)

    def take_latest(self) -> list[object]:
        """The progress reported and not yet taken: one or none."""
        with self._lock:
            latest, self._latest = self._latest, []
        return latest

    def start(self) -> bool:
        """Claim the task for running; False when it was cancelled before its turn came."""
        with self._lock:
            self._started = not self._ended
            return self._started

    def end(self, news: _News, payload: object = None) -> None:
        """Say how it ended. Only the first ending counts."""
        with self._lock:
            if self._ended:
                return
            self._ended = True
        self._tell(news, payload)

    def cancel(self) -> None:
        """Ask it to stop; one that was not yet started ends at once."""
        self._cancelled.set()
        with self._lock:
            waiting = not self._started
        if waiting:
            self.end(_News.CANCELLED)


class Job(QObject):
    """A call handed to a lane, as the interface thread sees it.

    One of `result`, `failed` and `cancelled` comes, then `ended`, and the job is gone. After `cancel()` neither
    events nor a result arrive any more, whatever the call still did.
    """

    reported = Signal(object)  # an event or progress
    result = Signal(object)
    failed = Signal(object)  # a Failure
    cancelled = Signal()
    ended = Signal()

    def __init__(self, task: Task, parent: QObject) -> None:
        super().__init__(parent)
        self._task = task

    def cancel(self) -> None:
        """Ask the call to stop. Harmless when it has already ended."""
        self._task.cancel()

    def deliver(self, news: _News, payload: object) -> bool:
        """Emit what `news` stands for. Returns whether the job has ended."""
        if news in (_News.EVENT, _News.LATEST):
            for event in self._task.take_latest() if news is _News.LATEST else [payload]:
                if not self._task.cancelled():
                    self.reported.emit(event)
            return False
        if news is _News.CANCELLED or self._task.cancelled():
            self.cancelled.emit()
        elif news is _News.RESULT:
            self.result.emit(payload)
        else:
            self.failed.emit(payload)
        self.ended.emit()
        return True


Call = Callable[["Library", Task], Any]


class _Thread:
    """A lane's thread and the calls that wait for it."""

    def __init__(self, lane: Lane) -> None:
        self._queue: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self.thread = threading.Thread(target=self._run, name=f"pincite lane {lane.value}", daemon=True)
        self.thread.start()

    def put(self, work: Callable[[], None]) -> None:
        self._queue.put(work)

    def finish(self) -> None:
        self._queue.put(None)

    def _run(self) -> None:
        while (work := self._queue.get()) is not None:
            work()


class Bridge(QObject):
    """Runs calls to the library on lanes and brings what comes of them back to the interface thread."""

    library_changed = Signal()  # folders changed on disk and have settled
    _knocked = Signal()

    def __init__(self, open_library: Callable[[], Library], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._open_library = open_library
        self._jobs: dict[int, Job] = {}
        self._count = 0
        self._lanes: dict[Lane, _Thread] = {}
        self._news: queue.SimpleQueue[tuple[int, _News, object] | None] = queue.SimpleQueue()
        self._lock = threading.Lock()  # guards _library, _failure and _closing
        self._library: Library | None = None
        self._failure: PinciteError | None = None
        self._closing = False
        self._opened = threading.Event()
        self._knocked.connect(self._take_news, Qt.ConnectionType.QueuedConnection)

    # --- for the interface thread ---

    def open(self, what: str) -> Job:
        """Open the library. Its result is None; calls handed over before or meanwhile wait for it."""
        job, task = self._new_job()
        self._lane(Lane.OPENING).put(lambda: self._run(task, self._open, what))
        return job

    def submit(self, lane: Lane, call: Call, what: str) -> Job:
        """Run `call` on a lane. `what` completes "something went wrong while …" in case the mistake is ours."""
        job, task = self._new_job()
        if self._closing:
            task.cancel()
        else:
            self._lane(lane).put(lambda: self._run(task, lambda: call(self._wait_for_library(), task), what))
        return job

    def watch(self, what: str) -> Job:
        """Have the library watch its folders; `library_changed` tells of changes."""
        return self.submit(Lane.INDEX, lambda library, _task: library.start_watching(self._notice_change), what)

    def close(self) -> None:
        """Cancel everything, close the library, end the lanes. Nothing is delivered after it."""
        with self._lock:
            self._closing = True
        self._opened.set()
        for job in list(self._jobs.values()):
            job.cancel()
        for lane in self._lanes.values():
            lane.finish()
        self._join(STOP_BY_ITSELF_S)
        with self._lock:
            library, self._library = self._library, None
        if library is not None:
            self._close_library(library)
        for name in self._join(STOP_AT_ALL_S):
            log.error("%s did not end", name)
        self._drop_jobs()

    def idle(self) -> bool:
        """Whether no job is waiting or running."""
        return not self._jobs

    def _new_job(self) -> tuple[Job, Task]:
        self._count += 1
        number = self._count
        task = Task(lambda news, payload: self._tell((number, news, payload)))
        job = Job(task, self)
        self._jobs[number] = job
        return job, task

    def _lane(self, lane: Lane) -> _Thread:
        if lane not in self._lanes:
            self._lanes[lane] = _Thread(lane)
        return self._lanes[lane]

    def _take_news(self) -> None:
        news = self._news.get()  # one knock, one item: it is there
        if self._closing:
            return
        if news is None:
            self.library_changed.emit()
            return
        number, kind, payload = news
        job = self._jobs.get(number)
        if job is not None and job.deliver(kind, payload):
            del self._jobs[number]
            job.deleteLater()

    def _join(self, seconds: float) -> list[str]:
        """Wait for the lanes to end. Returns the names of those that have not."""
        until = time.monotonic() + seconds
        for lane in self._lanes.values():
            lane.thread.join(max(0.0, until - time.monotonic()))
        return [lane.thread.name for lane in self._lanes.values() if lane.thread.is_alive()]

    def _drop_jobs(self) -> None:
        for job in self._jobs.values():
            job.deleteLater()
        self._jobs.clear()

    # --- for the lanes ---

    def _run(self, task: Task, work: Callable[[], object], what: str) -> None:
        if not task.start():
            return
        try:
            task.end(_News.RESULT, work())
        except Cancelled:
            task.end(_News.CANCELLED)
        except BugError as error:
            task.end(_News.FAILED, Failure(error, traceback.format_exc()))
        except PinciteError as error:
            task.end(_News.FAILED, Failure(error))
        except Exception as error:  # noqa: BLE001 - a lane's boundary: the mistake is ours, the window lives on
            task.end(_News.FAILED, failure_of(error, what))

    def _open(self) -> None:
        try:
            library = self._open_library()
        except BaseException as error:
            known = error if isinstance(error, PinciteError) else BugError("The library could not be opened.")
            with self._lock:
                self._failure = known
            raise
        else:
            with self._lock:
                wanted = not self._closing
                self._library = library if wanted else None
            if not wanted:
                self._close_library(library)
        finally:
            self._opened.set()

    def _wait_for_library(self) -> Library:
        self._opened.wait()
        with self._lock:
            if self._failure is not None:
                raise error_for(self._failure.code, str(self._failure))
            if self._library is None:
                raise Cancelled("The window is being closed.")
            return self._library

    def _close_library(self, library: Library) -> None:
        try:
            library.close()
        except Exception as error:  # noqa: BLE001 - nobody is left to tell, and the rest still has to be closed
            failure_of(error, "closing the library")

    def _notice_change(self) -> None:
        """Called from a thread of the library's."""
        self._tell(None)

    def _tell(self, news: tuple[int, _News, object] | None) -> None:
        with self._lock:
            if self._closing:
                return  # the door is shut; nobody is on its other side
            self._news.put(news)
            self._knocked.emit()


def failure_of(error: Exception, what: str) -> Failure:
    """What to show of a mistake of ours. The log gets its place but not its message, which may quote a document."""
    frames = traceback.extract_tb(error.__traceback__)
    places = " < ".join(f"{frame.filename}:{frame.lineno} {frame.name}" for frame in reversed(frames))
    log.error("%s while %s: %s", type(error).__name__, what, places)
    sentence = f"Something went wrong inside Pincite while {what}. This is a mistake in the program, not yours."
    return Failure(BugError(sentence), "".join(traceback.format_exception(error)))
