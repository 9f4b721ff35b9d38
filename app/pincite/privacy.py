"""Keeps a process from talking to any other machine, and says so when something in it tries.

Two measures. `quiet_environment` tells libraries in advance to stay offline and to report nothing. The guard refuses
whatever tries all the same: a Python audit hook sees every use of Python's sockets, by any library, and cannot be
taken out again. Native code that opens sockets of its own is not seen by it, and neither are the programs that a
process starts.
"""

from __future__ import annotations

import functools
import ipaddress
import logging
import os
import socket
import sys
import threading
from collections.abc import Callable
from typing import Any

logger = logging.getLogger(__name__)

LOCAL_NAMES = frozenset({"", "localhost", "localhost.localdomain", "ip6-localhost", "ip6-loopback"})
# Families that cannot leave the machine. Some do not exist on every system.
LOCAL_FAMILIES = frozenset(getattr(socket, name) for name in ("AF_UNIX", "AF_NETLINK") if hasattr(socket, name))
INTERNET_FAMILIES = frozenset({socket.AF_INET, socket.AF_INET6})
# The modules between the code that wants a connection and the guard: the caller is the first frame outside them.
PLUMBING = frozenset({"socket", "ssl", "asyncio", "http", "urllib", "urllib3", "logging", "selectors"})


# Given a host name, these ask a name server before they raise their audit event, which would tell it the name. The
# address is their last argument.
RESOLVING = {
    "connect": "socket.connect",
    "connect_ex": "socket.connect",
    "bind": "socket.bind",
    "sendto": "socket.sendto",
}


class ConnectionNotAllowed(PermissionError):
    """Something in this process tried to reach another machine. An OSError: libraries take it for a lack of network."""


def quiet_environment() -> dict[str, str]:
    """Variables that make libraries stay offline and send nothing. To be set before the libraries are imported."""
    return {
        "HF_HUB_OFFLINE": "1",
        "HF_DATASETS_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        "HF_HUB_DISABLE_IMPLICIT_TOKEN": "1",
        "DISABLE_TELEMETRY": "1",
        "DO_NOT_TRACK": "1",
        "ANONYMIZED_TELEMETRY": "False",
        "OTEL_SDK_DISABLED": "true",
        "ORT_DISABLE_TELEMETRY": "1",
        "TOKENIZERS_PARALLELISM": "false",
        "TRANSFORMERS_VERBOSITY": "error",
        "TRANSFORMERS_NO_ADVISORY_WARNINGS": "1",
        "GGML_NO_BACKTRACE": "1",  # a crash in llama.cpp would start a debugger, if there is one, to describe itself
    }


def _stays_here(arguments: tuple[Any, ...]) -> bool:
    """Whether a socket and the address it is to use stay on this machine."""
    used, address = arguments[0], arguments[1]
    family = getattr(used, "family", None)
    if family in INTERNET_FAMILIES:
        # No address: the socket is connected already, which was checked when that was done.
        return address is None or _is_local_address((address,))
    return family in LOCAL_FAMILIES


def _admits_this_machine_only(arguments: tuple[Any, ...]) -> bool:
    """Whether a socket is to be reached from this machine alone: no address means from every network it is on."""
    address = arguments[1]
    return _stays_here(arguments) and not (isinstance(address, tuple) and address[:1] == ("",))


def _is_local_address(arguments: tuple[Any, ...]) -> bool:
    address = arguments[0]
    return isinstance(address, tuple) and bool(address) and _is_local_host(address[0])


def _is_local_name(arguments: tuple[Any, ...]) -> bool:
    return arguments[0] is None or _is_local_host(arguments[0])


def _is_local_host(host: object) -> bool:
    if isinstance(host, bytes | bytearray):
        host = bytes(host).decode("ascii", "replace")
    if not isinstance(host, str):
        return False
    name = host.rstrip(".").lower()
    if name in LOCAL_NAMES:
        return True
    try:
        address = ipaddress.ip_address(name.partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


def _caller() -> str:
    """The module that wanted the connection."""
    frame = sys._getframe(1)
    while frame is not None:
        name = str(frame.f_globals.get("__name__", ""))
        if name.partition(".")[0] not in PLUMBING and name != __name__:
            return name
        if frame.f_back is None:
            break
        frame = frame.f_back
    return "an unknown module"


class _Guard:
    """The audit hook and its count. One per process, because audit hooks are."""

    def __init__(self) -> None:
        self.refused = 0
        self._lock = threading.RLock()  # counting may be interrupted by what is refused too
        self._installed = False
        self._checks: dict[str, Callable[[tuple[Any, ...]], bool]] = {
            "socket.connect": _stays_here,
            "socket.bind": _admits_this_machine_only,
            "socket.sendto": _stays_here,
            "socket.sendmsg": _stays_here,
            "socket.getaddrinfo": _is_local_name,
            "socket.gethostbyname": _is_local_name,
            "socket.gethostbyaddr": _is_local_name,
            "socket.getnameinfo": _is_local_address,
        }

    def install(self) -> None:
        with self._lock:
            if self._installed:
                return
            self._installed = True
        sys.addaudithook(self.hook)
        for method, event in RESOLVING.items():
            self._check_first(method, event)

    def _check_first(self, method: str, event: str) -> None:
        original = getattr(socket.socket, method)

        @functools.wraps(original)
        def checked(used: socket.socket, *arguments: Any) -> Any:
            if arguments:
                self.hook(event, (used, arguments[-1]))
            return original(used, *arguments)

        setattr(socket.socket, method, checked)

    def hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        check = self._checks.get(event)
        if check is None or check(arguments):
            return
        with self._lock:
            self.refused += 1
        # The address is left out: a name made up of document text is one way to carry it out.
        logger.warning("A connection to another machine was refused: %s, wanted by %s", event, _caller())
        raise ConnectionNotAllowed("Connections to other machines are not allowed.")


_guard = _Guard()


def refuse_connections() -> None:
    """From now on, refuse in this process every connection and look-up that leaves this machine. Cannot be undone."""
    _guard.install()


def refused_connections() -> int:
    """How many connections were refused in this process so far."""
    return _guard.refused


def seal_process() -> None:
    """Both measures. To be called first in every process, before any library is imported that might use the network."""
    os.environ.update(quiet_environment())
    refuse_connections()
