"""`pincite demo`: the whole walk on the sample documents, in a library that is thrown away afterwards."""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import replace
from pathlib import Path

from pincite.cli.commands import opened
from pincite.cli.output import Output, answer_lines
from pincite.contract import answer_json, found_something
from pincite.errors import BugError, UsageError
from pincite.model import Answer, Answered, Region, TextAdded
from pincite.settings import Settings, resources_dir

ZOOM = 2.0
DONE, FAILED = 0, 1


def run_demo(settings: Settings, options: argparse.Namespace, output: Output) -> int:
    """Index the samples, ask, print the answer, draw the first page it cites."""
    png = options.png or settings.data_dir / "demo" / "cited-page.png"
    # The engine and the stores must have let go of the folder before it is removed, hence the order of the blocks.
    scratch = tempfile.TemporaryDirectory(prefix="pincite-demo-", ignore_cleanup_errors=True)
    with scratch as folder, opened(replace(settings, library_dir=Path(folder))) as library:
        library.add(resources_dir() / "samples" / "documents")
        report = library.update(progress=output.index_progress)
        output.note(f"{report.read} sample documents read. {options.question}")
        answer: Answer | None = None
        for event in library.ask(options.question, model=options.model):
            if isinstance(event, TextAdded):
                output.progress(event.text)
            if isinstance(event, Answered):
                answer = event.answer
        if answer is None:
            raise BugError("The question ended without an answer.")
        region = _first_region(answer)
        if region is not None:
            document, place = region
            picture = library.render(document, place.page, zoom=ZOOM, boxes=place.boxes)
            _write(png, picture.png)
    _print(answer, png if region else None, output)
    return DONE if found_something(answer) else FAILED


def _first_region(answer: Answer) -> tuple[str, Region] | None:
    for claim in answer.claims:
        for citation in claim.citations:
            for region in citation.regions:
                return citation.document, region
    return None


def _write(path: Path, content: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror or error}.") from error


def _print(answer: Answer, png: Path | None, output: Output) -> None:
    if output.as_json:
        output.json(answer_json(answer) | {"png": str(png) if png else None})
        return
    for line in answer_lines(answer):
        output.text(line)
    if png:
        output.text(f"\nThe first cited page, with the supporting words highlighted: {png}")
