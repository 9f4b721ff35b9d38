"""Pincite: ask your own documents, and check every sentence of the answer on the page it came from."""

__version__ = "0.1.0"
