"""Stop 9 of the walk: `Library`, the one object a shell holds.

Every method blocks, may be called from any thread, and raises PinciteError with a sentence to show.
"""

from __future__ import annotations

import os
import stat
import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path

from pincite.ask import Tools, ask, load_prompt, search
from pincite.chunk import ChunkLimits
from pincite.contract import answer_json
from pincite.engine import Engine, TokenCounter, token_counter
from pincite.engine.models import best_answer_model, read_catalog
from pincite.errors import Cancelled, EngineError, GiveUpError, NotFoundError, StoreBusyError, UsageError
from pincite.extract import Reader
from pincite.index import Index
from pincite.model import (
    Answered,
    AskEvent,
    Box,
    DocumentInfo,
    EngineStatus,
    Filters,
    IndexProgress,
    Ledger,
    Page,
    PageSize,
    Picture,
    SearchResult,
    UpdateReport,
)
from pincite.privacy import refused_connections
from pincite.settings import Settings, catalog_file, resources_dir
from pincite.update import Update, UpdateTools
from pincite.watch import Watcher, is_text

MAX_ZOOM = 8.0  # pixels per point: 576 dpi
MAX_RESULTS = 10_000


def _never() -> bool:
    return False


def _ignore(progress: IndexProgress) -> None:
    """Progress that nobody asked for."""


def absolute(path: Path) -> str:
    """The path as folders and files are stored. Raises NotFoundError."""
    try:
        return os.path.abspath(path.expanduser())
    except RuntimeError as error:
        raise NotFoundError(f"There is no person here whose folder is {path.parts[0]}.") from error


def _valid(text: str) -> str:
    """The text as UTF-8 has it: a terminal hands on bytes that are none as lone surrogates, which nothing can store."""
    return text.encode("utf-8", "replace").decode("utf-8")


def document_named(name: str) -> str:
    """What a person called a document, as the library knows it: a path in full, an id or title as it is."""
    try:
        is_path = os.sep in name or (name != "" and Path(name).exists())
    except OSError:  # too long for a path
        is_path = False
    return absolute(Path(name)) if is_path else name


@dataclass(frozen=True, slots=True)
class Erased:
    """What was erased of a document, and how many of its chunks either store still holds afterwards."""

    info: DocumentInfo
    chunks: int
    chunks_left: int
    when: str


class Library:
    """A person's folders, what was read of them, and the models that answer from it."""

    def __init__(self, settings: Settings, index: Index, engine: Engine) -> None:
        self._settings = settings
        self._index = index
        self._engine = engine
        self._page_reader = Reader(settings)
        self._prompt = load_prompt(resources_dir())
        self._updating = threading.Lock()
        self._repaired = False
        self._watcher: Watcher | None = None
        self._token_counter: TokenCounter | None = None
        self._closing = threading.Event()

    @classmethod
    def open(cls, settings: Settings) -> Library:
        """Open or create the library that `settings` name. Starts no process and loads no model."""
        return cls(settings, Index(settings.library_dir, settings.embedding_model), Engine(settings))

    def close(self) -> None:
        """Stop watching, the readers and the engine, and let go of the stores. Work under way ends as Cancelled."""
        self._closing.set()
        if self._watcher is not None:
            self._watcher.stop()
        self._engine.close()
        self._page_reader.close()
        with self._updating:
            self._index.close()

    # Folders

    def add(self, path: Path) -> None:
        """Watch a folder, or one file, from now on. `update` reads it. Raises NotFoundError, GiveUpError."""
        root = Path(absolute(path))
        try:
            mode = root.stat().st_mode
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else "its name cannot be used"
            raise NotFoundError(f"The file or folder {root} cannot be opened: {reason}.") from error
        if not stat.S_ISDIR(mode) and not stat.S_ISREG(mode):
            raise GiveUpError(f"{root} is neither a file nor a folder.")
        if not is_text(str(root)):
            raise GiveUpError("A file or folder whose name is not valid text cannot be watched; give it another.")
        for own in (self._settings.data_dir, self._settings.library_dir):
            if root == own or own in root.parents:
                raise GiveUpError(f"{root} holds Pincite's own data and cannot be watched.")
        self._index.add_root(str(root))
        self._rewatch()

    def remove(self, path: Path) -> UpdateReport:
        """Stop watching a folder or file and erase everything that was read from it alone."""
        root = absolute(path)
        if root not in {folder.path for folder in self._index.folders()}:
            raise NotFoundError(f"{root} is not among the watched folders and files.")
        deleted = self._index.drop_root(root)
        self._rewatch()
        return UpdateReport(deleted=deleted)

    def forget(self, document: str) -> Erased:
        """Erase everything derived from a document, named by id or path, and return what that was.

        Its files stay where they are, and out of the library until they change.
        """
        info = self.document(document)
        chunks = self._index.forget(info.id)
        when = datetime.now(UTC).isoformat(timespec="seconds")
        return Erased(info, chunks, self._index.chunks_left(info.id), when)

    def update(
        self,
        *,
        fast: bool = False,
        progress: Callable[[IndexProgress], None] = _ignore,
        cancelled: Callable[[], bool] = _never,
    ) -> UpdateReport:
        """Look at every folder, read what is new or changed, erase what is gone, then make the vectors.

        `fast` stops when everything can be found by its words. Raises Cancelled; what was finished is kept.
        """

        def stopping() -> bool:
            return cancelled() or self._closing.is_set()

        with self._updating, self._index.only_writer():
            if stopping():
                raise Cancelled("Stopped, as asked.")
            self._rewatch()  # before looking: a folder that came back must not change unseen in between
            update = Update(self._update_tools(), progress, stopping)
            report = update.run()
            if self._watcher is not None:  # what is not noticed at once is said, not only swept
                report = replace(report, notes=(*report.notes, *self._watcher.problems))
            return report if fast else self._embedded(update, report)

    def _embedded(self, update: Update, report: UpdateReport) -> UpdateReport:
        try:
            if not self._repaired or not self._index.stores_agree():
                self._index.repair()
                self._repaired = True
            return replace(report, embedded=update.embed(self._engine))
        except (GiveUpError, EngineError) as error:  # no models, no vector store, no model process
            return replace(report, notes=(*report.notes, f"Files can be found by their words only for now. {error}"))

    def start_watching(self, on_change: Callable[[], None]) -> None:
        """Call `on_change`, from a thread of the library's, when something in the folders changed and went quiet."""
        if self._watcher is None:
            self._watcher = Watcher(on_change)
            self._watcher.start()
            self._rewatch()

    def _rewatch(self) -> None:
        if self._watcher is not None:
            self._watcher.watch(folder.path for folder in self._index.folders())

    def ledger(self) -> Ledger:
        """Every folder and file with what was read of it."""
        return self._index.ledger()

    # Asking

    def search(
        self,
        query: str,
        *,
        k: int = 10,
        filters: Filters = Filters(),
        mode: str = "hybrid",
        rerank: bool = True,
        history: Sequence[str] = (),
        cancelled: Callable[[], bool] = _never,
    ) -> SearchResult:
        """The k best passages, without a language model. `history` holds earlier questions, oldest first."""
        if k > MAX_RESULTS:
            raise UsageError(f"At most {MAX_RESULTS:,} results can be asked for at once.")
        self._check_filters(filters)
        tools = self._tools("")
        # In one state: else a document that is replaced between two stages is found in neither version.
        with self._index.one_state():
            return search(
                tools,
                _valid(query),
                k=k,
                filters=filters,
                mode=mode,
                rerank=rerank,
                history=[_valid(earlier) for earlier in history],
                cancelled=cancelled,
            )

    def ask(
        self,
        question: str,
        *,
        filters: Filters = Filters(),
        mode: str = "normal",
        model: str = "",
        history: Sequence[str] = (),
        cancelled: Callable[[], bool] = _never,
    ) -> Iterator[AskEvent]:
        """SourcesFound, then TextAdded and ClaimChecked, then Answered; the record is kept. Raises Cancelled.

        `model` names a language model to write with, whether or not its prose can be trusted.
        """
        question, history = _valid(question), [_valid(earlier) for earlier in history]
        self._check_filters(filters)
        if not self._index.holds_chunks():
            raise NotFoundError(
                "Nothing has been read yet that could be asked: add a folder, and wait until something is read."
            )
        tools = self._tools(self._writer(model) if mode == "normal" else "")
        trace = uuid.uuid4().hex[:12]
        asked = datetime.now(UTC).isoformat(timespec="seconds")
        events = ask(tools, question, filters=filters, mode=mode, history=history, trace=trace, cancelled=cancelled)
        with self._index.one_state():  # until the sources are found, as in `search`
            first = next(events)
        for event in chain([first], events):
            if isinstance(event, Answered):
                answer = event.answer
                body = answer_json(answer) | {"asked": asked, "prompt": self._prompt.version}
                used = {passage.document for passage in (*answer.passages, *answer.nearest)}
                try:
                    self._index.put_trace(trace, asked, body, sorted(used))
                except (GiveUpError, StoreBusyError) as error:  # no reason to keep the answer back
                    note = f"This question could not be recorded. {error}"
                    event = Answered(replace(answer, notes=(*answer.notes, note)))
            yield event

    def _check_filters(self, filters: Filters) -> None:
        """Raise NotFoundError for a document or folder that is not in the library, rather than find nothing in it."""
        if filters.document and not self._index.lets_through(Filters(document=filters.document)):
            raise NotFoundError(f"There is no document {filters.document} in this library.")
        if filters.folder and not self._index.lets_through(Filters(folder=filters.folder)):
            raise NotFoundError(f"Nothing in this library has been read from {filters.folder}.")

    def trace(self, trace: str) -> dict[str, object]:
        """The record of a question."""
        return self._index.trace(trace)

    def _writer(self, chosen: str) -> str:
        """The model to write with; "" when there is none whose own wording can be trusted."""
        catalog = read_catalog(catalog_file())
        named = chosen or self._settings.answer_model
        model = best_answer_model(self._settings.models_dir, catalog, named)
        return model.name if model is not None and (model.prose or chosen) else ""

    def _tools(self, model: str) -> Tools:
        return Tools(
            index=self._index,
            engine=self._engine,
            count_tokens=self._counter(),
            prompt=self._prompt,
            model=model,
            evidence_tokens=self._settings.evidence_tokens,
            answer_tokens=self._settings.answer_tokens,
        )

    def _counter(self) -> TokenCounter:
        """The embedder's counter, kept once it is there: reading its vocabulary takes longer than a keyword search."""
        name = self._settings.embedding_model
        if self._token_counter is None or self._token_counter.name != name:
            self._token_counter = token_counter(self._settings.models_dir, name)
        return self._token_counter

    def _update_tools(self) -> UpdateTools:
        return UpdateTools(
            index=self._index,
            settings=self._settings,
            count_tokens=self._counter(),
            limits=ChunkLimits(self._settings.chunk_tokens, self._settings.section_tokens),
        )

    # Pages

    def document(self, document: str) -> DocumentInfo:
        """A document by its id or by the path of one of its files. Raises NotFoundError."""
        return self._index.document_info(document_named(document))

    def page_sizes(self, document: str) -> tuple[PageSize, ...]:
        """Sizes and printed labels of all pages."""
        return self._index.page_sizes(self.document(document).id)

    def page(self, document: str, number: int) -> Page:
        """A page with its words. Raises NotFoundError."""
        info = self.document(document)
        page = self._index.pages(info.id, [number]).get(number) if 1 <= number <= info.pages else None
        if page is None:
            raise NotFoundError(f"{info.title} has no page {number}; it has {info.pages}.")
        return page

    def render(self, document: str, number: int, *, zoom: float = 1.0, boxes: Sequence[Box] = ()) -> Picture:
        """The picture of a page at `zoom` pixels per point, with `boxes` highlighted."""
        if not 0 < zoom <= MAX_ZOOM:
            raise UsageError(
                f"A page can be drawn at more than 0 and up to {MAX_ZOOM:g} pixels per point, not at {zoom:g}."
            )
        info = self.document(document)
        self.page(info.id, number)
        if not info.path:
            raise NotFoundError(f"No file of {info.title} can be reached now.")
        return self._page_reader.render(Path(info.path), number, zoom, boxes=boxes)

    # Engine

    def warm_up(self) -> None:
        """Load the models and let the language model read its instructions, so that the first question need not wait.

        A model that is missing is no fault here: the question that needs it says so.
        """
        self._engine.warm_up()
        writer = self._writer("")
        if writer:
            chat = [{"role": "system", "content": self._prompt.system}]
            for _ in self._engine.generate(chat, "", model=writer, max_tokens=0, cancelled=self._closing.is_set):
                pass  # nothing is written: only the instructions are read

    def engine_status(self) -> EngineStatus:
        """What the model process is doing."""
        return self._engine.status()

    def refused_connections(self) -> int:
        """How many connections to other machines were refused so far, in this process and the engine."""
        return refused_connections() + self._engine.refused_connections()
