"""The arguments of every command. The code behind a command is named, not imported: it is loaded when it is run.

So `pincite` alone shows its window without loading what searching, reading and installing need.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from pincite import __version__
from pincite.errors import UsageError

DEFAULT_QUESTION = "How much notice do I have to give when I leave after my probation?"

Add = Callable[..., argparse.ArgumentParser]


class _Parser(argparse.ArgumentParser):
    """Says what is wrong as one sentence, like every other error, instead of ending the process itself."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message[:1].upper()}{message[1:]}. `{self.prog} --help` says what there is.")


def parser() -> argparse.ArgumentParser:
    """The whole command line; `run` becomes "module.function" of this package. Parsing raises UsageError."""
    common = _Parser(add_help=False)
    _add_common(common, argparse.SUPPRESS)
    whole = _Parser(
        prog="pincite", description="Ask your own documents, and check every sentence on the page it came from."
    )
    _add_common(whole, None)
    whole.add_argument("--version", action="version", version=f"pincite {__version__}")
    whole.add_argument("--samples", action="store_true", help="open the window on the sample documents")
    whole.set_defaults(run="window.show")
    add = whole.add_subparsers(title="commands", metavar="COMMAND").add_parser
    _add_demo(add("demo", parents=[common], help="read the samples, ask a question, draw the cited page"))
    _add_models(add("models", parents=[common], help="install, list, add and choose models"), common)
    _add_library_commands(add, common)
    doctor = add("doctor", parents=[common], help="what works here, and what mends the rest")
    doctor.set_defaults(run="doctor.examine")
    return whole


def _add_common(parser: argparse.ArgumentParser, missing: object) -> None:
    """The options every command takes, before or after its name."""

    def default(value: object) -> object:
        return value if missing is None else missing

    parser.add_argument("--library", type=Path, metavar="DIR", default=default(None), help="the library's folder")
    parser.add_argument("--json", action="store_true", default=default(False), help="one JSON document on stdout")
    parser.add_argument("--quiet", action="store_true", default=default(False), help="no progress")
    parser.add_argument("--verbose", action="store_true", default=default(False), help="say more on stderr")


def _add_demo(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("question", nargs="?", default=DEFAULT_QUESTION)
    parser.add_argument("--model", default="", help="the language model to write with")
    parser.add_argument("--png", type=Path, metavar="FILE", help="where to draw the first cited page")
    parser.set_defaults(run="demo.run_demo")


def _add_models(parser: argparse.ArgumentParser, common: argparse.ArgumentParser) -> None:
    parser.set_defaults(run="models.list_models")
    actions = parser.add_subparsers(title="actions", metavar="ACTION")
    parents = [common]
    install_action = actions.add_parser(
        "install", parents=parents, help="fetch the default models (1.3 GB) and check them"
    )
    install_action.add_argument("--small", action="store_true", help="the small language model instead (200 MB)")
    install_action.set_defaults(run="models.install_models")
    listing = actions.add_parser("list", parents=parents, help="what is installed, and what is used")
    listing.set_defaults(run="models.list_models")
    add = actions.add_parser("add", parents=parents, help="add a GGUF file, or a sentence-transformers folder")
    add.add_argument("file", type=Path)
    add.set_defaults(run="models.add_file")
    use = actions.add_parser("use", parents=parents, help="answer, embed or rank with this model from now on")
    use.add_argument("name")
    use.set_defaults(run="models.use_named")


def _add_library_commands(add: Add, common: argparse.ArgumentParser) -> None:
    _add_index(add, common)
    _add_search_and_ask(add, common)
    status = add("status", parents=[common], help="the ledger: what was read, and what needs attention and why")
    status.set_defaults(run="commands.show_status")
    show = add("show", parents=[common], help="draw a page, with highlights")
    show.add_argument("document", help="its id, or the path of its file")
    show.add_argument("--page", type=int, required=True, help="counts from 1")
    show.add_argument("--boxes", default="[]", metavar="JSON", help="[[x0,y0,x1,y1], …] in points, from the top left")
    show.add_argument("--zoom", type=float, default=2.0, help="pixels per point (default: 2)")
    show.add_argument("--png", type=Path, required=True, metavar="FILE")
    show.set_defaults(run="commands.show_page")
    trace = add("trace", parents=[common], help="the record of a question, as JSON")
    trace.add_argument("id")
    trace.set_defaults(run="commands.show_trace")
    remove = add("remove", parents=[common], help="stop watching a folder or file and erase what was read from it")
    remove.add_argument("path", type=Path)
    remove.set_defaults(run="commands.remove_folder")
    forget = add("forget", parents=[common], help="erase everything derived from a document")
    forget.add_argument("document", help="its id, or the path of its file")
    forget.add_argument("--receipt", type=Path, metavar="FILE", help="write down what was erased")
    forget.set_defaults(run="commands.forget_document")


def _add_index(add: Add, common: argparse.ArgumentParser) -> None:
    index = add("index", parents=[common], help="add folders or files and read them")
    index.add_argument("paths", nargs="*", type=Path, metavar="PATH", help="none: look again at what is watched")
    index.add_argument("--watch", action="store_true", help="stay, and read what changes")
    index.add_argument("--fast", action="store_true", help="stop as soon as keyword search is ready")
    index.set_defaults(run="commands.index_paths")


def _add_search_and_ask(add: Add, common: argparse.ArgumentParser) -> None:
    filters = _Parser(add_help=False)
    filters.add_argument("--folder", default="", help="only files under this folder")
    filters.add_argument("--document", default="", help="only this document (id, path or title)")
    filters.add_argument("--type", default="", help="only this format: pdf, markdown, text")
    filters.add_argument("--after", default="", metavar="DATE", help="only files changed on or after this date")
    filters.add_argument("--before", default="", metavar="DATE", help="only files changed before this date")
    search = add("search", parents=[common, filters], help="passages, without a language model")
    search.add_argument("query")
    search.add_argument("-k", type=int, default=10, metavar="N", help="how many results (default: 10)")
    search.add_argument("--mode", default="hybrid", help="hybrid, lexical or dense")
    search.add_argument("--no-rerank", action="store_true")
    search.set_defaults(run="commands.search_passages")
    ask = add("ask", parents=[common, filters], help="an answer with claims and citations")
    ask.add_argument("question")
    ask.add_argument("--mode", default="normal", help="normal or quotes")
    ask.add_argument("--model", default="", help="the language model to write with")
    ask.set_defaults(run="commands.ask_question")
