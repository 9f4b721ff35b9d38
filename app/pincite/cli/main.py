"""Arguments, exit status and errors of the command line.

Exit status: 0 done, 1 it could not be done (said in one sentence), 2 wrong usage, 3 done but some files need
attention. Results go to standard output; progress and errors to standard error.
"""

from __future__ import annotations

import importlib
import logging
import os
import sys
import traceback
from collections.abc import Sequence

from pincite.cli.arguments import parser
from pincite.cli.output import Output
from pincite.errors import BugError, Cancelled, PinciteError, UsageError, place_of
from pincite.privacy import seal_process
from pincite.settings import load_settings

DONE, FAILED, WRONG_USAGE, NEEDS_ATTENTION = 0, 1, 2, 3


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    seal_process()
    _speak_unicode()
    given = sys.argv[1:] if arguments is None else arguments
    try:
        options = parser().parse_args(given)
    except UsageError as error:
        return _failed(Output(as_json="--json" in given, quiet=False), error, WRONG_USAGE)
    logging.basicConfig(
        level=logging.INFO if options.verbose else logging.ERROR, format="%(message)s", stream=sys.stderr
    )
    output = Output(as_json=options.json, quiet=options.quiet)
    try:
        settings = load_settings(options.library)
        module, function = options.run.split(".")
        run = getattr(importlib.import_module(f"pincite.cli.{module}"), function)
        status: int = run(settings, options, output)
        sys.stdout.flush()  # here, where it is noticed when whoever read our output has gone
        return status
    except UsageError as error:
        return _failed(output, error, WRONG_USAGE)
    except PinciteError as error:
        return _failed(output, error, FAILED)
    except KeyboardInterrupt:
        return _failed(output, Cancelled("Stopped; what was finished is kept."), FAILED)
    except BrokenPipeError:
        _fall_silent()
        return FAILED
    except Exception as error:  # noqa: BLE001  (the lane's end: our mistake, said like everything else that goes wrong)
        if options.verbose:
            traceback.print_exc()
        sentence = (
            f"A mistake in Pincite stopped this command ({place_of(error)}); with --verbose it says more. "
            "Please report it."
        )
        return _failed(output, BugError(sentence), FAILED)


def _fall_silent() -> None:
    """Send the rest to nowhere: whoever read our output has gone, and Python would complain of that when it ends."""
    with open(os.devnull, "wb") as nowhere:
        for stream in (sys.stdout, sys.stderr):
            os.dup2(nowhere.fileno(), stream.fileno())


def _failed(output: Output, error: PinciteError, status: int) -> int:
    if output.as_json:
        output.json({"error": {"code": error.code, "message": str(error)}})
    output.error(str(error))
    return status


def _speak_unicode() -> None:
    """Print what a terminal cannot show as a replacement instead of failing on it."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
