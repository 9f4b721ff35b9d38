"""The headless shell: everything the core can do, from a terminal or a script. Loads neither Qt nor torch."""

from pincite.cli.main import main

__all__ = ["main"]
