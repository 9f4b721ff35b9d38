"""What can go wrong, as one tree. Each error carries a sentence for the person who meets it.

PinciteError
├── RetryError              may work later without anything being changed
│   ├── EngineError             the model process died, ran out of memory or did not answer
│   ├── StoreBusyError          another process is writing to the library
│   └── Cancelled               the person asked to stop
├── GiveUpError             will not work until the person changes something
│   ├── UsageError              the request itself makes no sense
│   ├── SettingsError           a settings file that cannot be used
│   ├── UnreadableError         a file that cannot be read, with the reason in plain words
│   │   ├── PasswordNeededError     … because it is locked
│   │   ├── UnsupportedError        … because nothing here reads its format
│   │   └── LimitError              … because reading it went past a limit (time, memory, pages)
│   ├── ModelError              a model that is missing, damaged or unfit
│   └── NotFoundError           a document, page, folder or trace that is not in the library
└── BugError                our mistake; the report says where
"""

from __future__ import annotations

import traceback
from pathlib import PurePath
from typing import ClassVar


class PinciteError(Exception):
    """Root of the tree. `str(error)` is a whole sentence that can be shown as it is."""

    code: ClassVar[str] = "error"


class RetryError(PinciteError):
    """Trying again later may work."""

    code = "retry"


class EngineError(RetryError):
    """The model process died or did not answer; it is started again on the next request."""

    code = "engine"


class StoreBusyError(RetryError):
    """Another process is writing to this library."""

    code = "busy"


class Cancelled(RetryError):
    """The person asked to stop."""

    code = "cancelled"


class GiveUpError(PinciteError):
    """Trying again changes nothing; the person has to."""

    code = "give_up"


class UsageError(GiveUpError):
    """The request makes no sense as it stands."""

    code = "usage"


class SettingsError(GiveUpError):
    """A settings file that cannot be used."""

    code = "settings"


class UnreadableError(GiveUpError):
    """A file that cannot be read; the sentence says why."""

    code = "unreadable"


class PasswordNeededError(UnreadableError):
    """The file is locked with a password."""

    code = "password"


class UnsupportedError(UnreadableError):
    """Nothing here reads this format."""

    code = "unsupported"


class LimitError(UnreadableError):
    """Reading went past a limit on time, memory or pages."""

    code = "limit"


class ModelError(GiveUpError):
    """A model that is missing, damaged or unfit."""

    code = "model"


class NotFoundError(GiveUpError):
    """Something named that is not in the library."""

    code = "not_found"


class BugError(PinciteError):
    """Our mistake."""

    code = "bug"


def place_of(error: BaseException) -> str:
    """Where a mistake of ours happened: "KeyError in order.py, line 120".

    Without the exception's own message, which may quote a document.
    """
    where = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} in {PurePath(where.filename).name}, line {where.lineno}"


def error_for(code: str, sentence: str) -> PinciteError:
    """The error that `code` names (as sent by a child process); an unknown code is our bug."""
    classes: dict[str, type[PinciteError]] = {}
    pending: list[type[PinciteError]] = [PinciteError]
    while pending:
        kind = pending.pop()
        classes[kind.code] = kind
        pending.extend(kind.__subclasses__())
    return classes.get(code, BugError)(sentence)
