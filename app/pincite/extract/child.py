"""The reading process: `python -m pincite.extract.child MEMORY_BYTES`.

It alone meets the bytes of documents. It answers one request at a time:

    {"do": "read", "path", "max_pages"}                   → {"head", "pages"}, then each page, then {"end", …}
    {"do": "render", "path", "page", "zoom", "boxes", …}  → {"picture": [width, height]} with the PNG as block

and either may be answered by {"error": code, "sentence"} instead, after which the next request can follow.
"""

from __future__ import annotations

import gc
import sys
import traceback
from pathlib import Path
from typing import Any

from pincite.errors import BugError, LimitError, PinciteError, UnreadableError
from pincite.extract.files import Shelf, opened
from pincite.extract.limits import MAX_PROBLEM_CHARS, MAX_PROBLEMS, MAX_WORDS
from pincite.extract.mupdf import silence
from pincite.extract.pictures import picture_of
from pincite.extract.wire import packed_metadata, packed_page
from pincite.model import Box
from pincite.privacy import seal_process
from pincite.process import Channel, limit_own_memory, parent_channel

# Address space is not memory: code, thread stacks and mapped files take much of it without using any.
ADDRESS_SPACE_ABOVE_MEMORY_BYTES = 1 << 30


def main() -> None:
    """Answer requests until the parent closes the stream."""
    seal_process()
    channel = parent_channel()
    limit_own_memory(int(sys.argv[1]) + ADDRESS_SPACE_ABOVE_MEMORY_BYTES)
    silence()
    shelf = Shelf()
    while (frame := channel.receive()) is not None:
        try:
            _answer(channel, frame.message, shelf)
        except PinciteError as error:
            _send_error(channel, error)
        except MemoryError:
            gc.collect()
            _send_error(channel, LimitError("Reading the file needs more memory than a reader may use."))
        except Exception as error:  # noqa: BLE001  (the lane's end: our bug, and no reason to lose the process)
            traceback.print_exc()
            name = type(error).__name__  # without its text, which may be the document's
            _send_error(channel, BugError(f"A mistake in Pincite stopped the reading of this file ({name})."))


def _answer(channel: Channel, request: dict[str, Any], shelf: Shelf) -> None:
    path = Path(request["path"])
    if request["do"] == "read":
        _read(channel, path, request["max_pages"])
    else:
        _render(channel, shelf, path, request)


def _read(channel: Channel, path: Path, max_pages: int) -> None:
    file = opened(path)
    try:
        channel.send({"head": packed_metadata(file.metadata()), "pages": min(file.page_count, max_pages)})
        problems, partly_read = [], False
        words = 0
        for page in file.pages():
            words += sum(len(line.words) for line in page.lines)
            if page.number > max_pages or words > MAX_WORDS:
                partly_read = True
                problems.append(_cut_short(page.number - 1, page.number > max_pages))
                break
            channel.send(*packed_page(page))
        problems = file.problems + problems
        channel.send(
            {
                "end": [problem[:MAX_PROBLEM_CHARS] for problem in problems[:MAX_PROBLEMS]],
                "partly_read": partly_read or file.partly_read,
            }
        )
    finally:
        file.close()


def _cut_short(pages: int, by_pages: bool) -> str:
    most = f"{pages} pages" if by_pages else f"{MAX_WORDS / 1e6:g} million words"
    return f"Only the first {pages} pages were read: {most} is the most that is read of one file."


def _render(channel: Channel, shelf: Shelf, path: Path, request: dict[str, Any]) -> None:
    file = shelf.file(path)
    number = request["page"]
    if number < 1:
        raise UnreadableError("Pages are numbered from 1.")
    picture = picture_of(
        file.page_to_draw(number),
        request["zoom"],
        [Box(*box) for box in request["boxes"]],
        tuple(request["colour"]),
        Box(*request["clip"]) if request["clip"] else None,
    )
    channel.send({"picture": [picture.width_px, picture.height_px]}, picture.png)


def _send_error(channel: Channel, error: PinciteError) -> None:
    channel.send({"error": error.code, "sentence": str(error)[:MAX_PROBLEM_CHARS]})


if __name__ == "__main__":
    main()
