"""The commands that work on a library: index, status, search, ask, show, trace, remove, forget, and the window."""

from __future__ import annotations

import argparse
import json
import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import date
from pathlib import Path
from typing import Any, NoReturn

from pincite.cli.output import (
    Output,
    answer_lines,
    counts_sentence,
    not_searched_lines,
    passage_lines,
    wrapped,
)
from pincite.contract import answer_json, found_something, ledger_json, search_json
from pincite.errors import UsageError
from pincite.extract.formats import FORMAT_OF_SUFFIX, Format
from pincite.library import Library, absolute, document_named
from pincite.model import NEEDS_ATTENTION, Answered, Box, Filters, Ledger, Passage, SourcesFound, UpdateReport
from pincite.settings import Settings

DONE, FAILED, ATTENTION = 0, 1, 3
MAX_BOXES = 5_000


@contextmanager
def opened(settings: Settings) -> Iterator[Library]:
    """The library, closed again afterwards."""
    library = Library.open(settings)
    try:
        yield library
    finally:
        library.close()


def index_paths(settings: Settings, options: argparse.Namespace, output: Output) -> int:
    """`pincite index`."""
    with opened(settings) as library:
        for path in options.paths:
            library.add(path)
        report = library.update(fast=options.fast, progress=output.index_progress)
        ledger = library.ledger()
        _print_update(report, ledger, output)
        if options.watch:
            _keep_watching(library, options, output)
        return ATTENTION if report.notes or _attention(ledger) else DONE


def _print_update(report: UpdateReport, ledger: Ledger, output: Output) -> None:
    if output.as_json:
        update = {name: getattr(report, name) for name in ("read", "moved", "deleted", "unchanged", "failed")}
        output.json({"update": update | {"embedded": report.embedded, "notes": report.notes}} | ledger_json(ledger))
        return
    output.text(
        f"{report.read:,} read, {report.unchanged:,} unchanged, {report.moved:,} moved, {report.deleted:,} deleted, "
        f"{report.failed:,} not readable."
    )
    for note in report.notes:
        output.text(wrapped(note))
    _print_attention(ledger, output)


def _keep_watching(library: Library, options: argparse.Namespace, output: Output) -> None:
    changed = threading.Event()
    library.start_watching(changed.set)
    output.note("Watching; Ctrl+C ends it.")
    with suppress(KeyboardInterrupt):
        _read_what_changes(library, changed, options, output)


def _read_what_changes(
    library: Library, changed: threading.Event, options: argparse.Namespace, output: Output
) -> NoReturn:
    while True:
        # With a time limit, because a wait without one cannot be interrupted on every system.
        if changed.wait(1.0):
            changed.clear()
            report = library.update(fast=options.fast, progress=output.index_progress)
            if report.read or report.moved or report.deleted or report.failed:
                output.note(
                    f"{report.read:,} read, {report.moved:,} moved, {report.deleted:,} deleted, "
                    f"{report.failed:,} not readable."
                )


def show_status(settings: Settings, options: argparse.Namespace, output: Output) -> int:
    """`pincite status`."""
    with opened(settings) as library:
        ledger = library.ledger()
    if output.as_json:
        output.json(ledger_json(ledger))
    else:
        for folder in ledger.folders:
            output.text(f"{folder.path}{'' if folder.online else '  (cannot be reached)'}")
        output.text(counts_sentence(ledger))
        if ledger.chunks_without_vectors:
            output.text(f"{ledger.chunks_without_vectors:,} of {ledger.chunks:,} passages have no vectors yet.")
        _print_attention(ledger, output)
    return ATTENTION if _attention(ledger) else DONE


def _attention(ledger: Ledger) -> bool:
    return any(entry.state in NEEDS_ATTENTION for entry in ledger.entries)


def _print_attention(ledger: Ledger, output: Output) -> None:
    for entry in ledger.entries:
        if entry.reason:
            output.text(wrapped(f"{entry.path} – {entry.state.value}. {entry.reason}", "    ", "  – "))


def filters_from(options: argparse.Namespace) -> Filters:
    """The filters of `search` and `ask`. Raises UsageError for a date or format that is none."""
    return Filters(
        folder=absolute(Path(options.folder)) if options.folder else "",
        document=document_named(options.document),
        type=_format(options.type) if options.type else "",
        after=_iso_date("after", options.after),
        before=_iso_date("before", options.before),
    )


def _iso_date(option: str, value: str) -> str:
    """The date as stored ones are written: 2024-03-31, whatever other ISO form was typed."""
    try:
        return date.fromisoformat(value).isoformat() if value else ""
    except ValueError as error:
        raise UsageError(f"--{option} takes a date like 2024-03-31, not {value!r}.") from error


def _format(value: str) -> str:
    """The name of a format, which may also be given as the ending of its files."""
    wanted = value.casefold().lstrip(".")
    format = FORMAT_OF_SUFFIX.get(f".{wanted}", wanted)
    if format not in list(Format):
        raise UsageError(f"There is no format {value!r}; there are {', '.join(Format)}.")
    return str(format)


def search_passages(settings: Settings, options: argparse.Namespace, output: Output) -> int:
    """`pincite search`."""
    filters = filters_from(options)
    with opened(settings) as library:
        result = library.search(
            options.query, k=options.k, filters=filters, mode=options.mode, rerank=not options.no_rerank
        )
    if output.as_json:
        output.json(search_json(result))
    else:
        _print_passages(result.results, output)
        for stage in result.stages:
            if stage.note:
                output.note(stage.note)
        for line in not_searched_lines(result.not_searched):
            output.text(line)
    return DONE


def _print_passages(passages: tuple[Passage, ...], output: Output) -> None:
    for line in passage_lines(passages) or ["Nothing was found."]:
        output.text(line)


def ask_question(settings: Settings, options: argparse.Namespace, output: Output) -> int:
    """`pincite ask`."""
    filters = filters_from(options)
    with opened(settings) as library:
        for event in library.ask(options.question, filters=filters, mode=options.mode, model=options.model):
            if isinstance(event, SourcesFound) and not output.as_json:
                output.note(_found_sentence(len(event.passages)))
            if isinstance(event, Answered):
                answer = event.answer
    if output.as_json:
        output.json(answer_json(answer))
    else:
        for line in answer_lines(answer):
            output.text(line)
    return DONE if found_something(answer) else FAILED


def _found_sentence(passages: int) -> str:
    return f"{passages} passage{'' if passages == 1 else 's'} found; answering …"


def show_page(settings: Settings, options: argparse.Namespace, output: Output) -> int:
    """`pincite show`."""
    boxes = _boxes(options.boxes)
    with opened(settings) as library:
        picture = library.render(options.document, options.page, zoom=options.zoom, boxes=boxes)
    _write(options.png, picture.png)
    if output.as_json:
        output.json({"png": str(options.png), "width_px": picture.width_px, "height_px": picture.height_px})
    else:
        output.text(str(options.png))
    return DONE


def _boxes(text: str) -> list[Box]:
    try:
        boxes = [Box(*(_points(edge) for edge in (x0, y0, x1, y1))) for x0, y0, x1, y1 in json.loads(text)]
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise UsageError("--boxes takes a JSON list of [x0, y0, x1, y1] in points.") from error
    if len(boxes) > MAX_BOXES:
        raise UsageError(f"At most {MAX_BOXES:,} boxes can be drawn on a page.")
    return boxes


def _points(edge: object) -> float:
    if isinstance(edge, bool) or not isinstance(edge, int | float) or not math.isfinite(edge):
        raise ValueError(edge)
    return float(edge)


def _write(path: Path, content: bytes) -> None:
    try:
        path.write_bytes(content)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror or error}.") from error


def show_trace(settings: Settings, options: argparse.Namespace, output: Output) -> int:
    """`pincite trace`."""
    with opened(settings) as library:
        output.json(library.trace(options.id))
    return DONE


def remove_folder(settings: Settings, options: argparse.Namespace, output: Output) -> int:
    """`pincite remove`."""
    with opened(settings) as library:
        report = library.remove(options.path)
    if output.as_json:
        output.json({"removed": str(options.path), "files": report.deleted})
    else:
        files = "1 file" if report.deleted == 1 else f"{report.deleted:,} files"
        output.text(f"{options.path} is no longer watched; what was read from its {files} is erased.")
    return DONE


def forget_document(settings: Settings, options: argparse.Namespace, output: Output) -> int:
    """`pincite forget`."""
    with opened(settings) as library:
        if options.receipt:
            library.document(options.document)
            _write(options.receipt, b"")  # first of all: what is erased cannot be written down a second time
        erased = library.forget(options.document)
    receipt: dict[str, Any] = {
        "document": erased.info.id,
        "title": erased.info.title,
        "path": erased.info.path,
        "forgotten": erased.when,
        "erased": {"pages": erased.info.pages, "chunks": erased.chunks},
        "left": {"chunks": erased.chunks_left},
    }
    if options.receipt:
        _write(options.receipt, json.dumps(receipt, ensure_ascii=False, indent=2).encode())
    if output.as_json:
        output.json(receipt)
    else:
        output.text(f"Everything derived from {erased.info.title} is erased; its file was not touched.")
    return DONE
