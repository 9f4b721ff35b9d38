"""`pincite` alone: the window."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from pincite.cli.output import Output
from pincite.errors import UsageError
from pincite.settings import Settings

if TYPE_CHECKING:
    from pincite.library import Library


def show(settings: Settings, options: argparse.Namespace, output: Output) -> int:
    """Open the window and stay until it is closed."""
    # Imported here because every other command must work without Qt.
    try:
        from pincite.gui.app import run
    except ImportError as error:
        raise UsageError(f"The window cannot be opened here ({error}); `pincite ask` answers without one.") from error
    return run(lambda: _opened(settings), samples=options.samples)


def _opened(settings: Settings) -> Library:
    # Imported here, when the window is already visible: this takes most of a second.
    from pincite.library import Library

    return Library.open(settings)
