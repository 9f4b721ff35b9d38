"""The guard against connections to other machines. An audit hook stays, so each test of it is a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from typing import Any

import pytest

from pincite.privacy import quiet_environment

WAIT_S = 60

# Tries each expression, and prints what became of it. Nothing listens where these connect to, so what is allowed fails
# with another error than the guard's, or not at all. 192.0.2.0/24 and .invalid belong to nobody, by RFC 5737 and 2606.
TRY = """
import http.client, io, json, logging, socket, sys
from pincite.privacy import ConnectionNotAllowed, refuse_connections, refused_connections

said = io.StringIO()
logging.basicConfig(stream=said, format="%(levelname)s %(message)s")
refuse_connections()
refuse_connections()
tcp, udp, tcp6 = socket.socket(), socket.socket(type=socket.SOCK_DGRAM), socket.socket(socket.AF_INET6)
outcomes = {}
for attempt in json.loads(sys.argv[1]):
    before = refused_connections()
    try:
        eval(attempt)
        outcome = "done"
    except ConnectionNotAllowed as error:
        assert isinstance(error, OSError)
        outcome = "refused"
    except OSError as error:
        outcome = "failed"
    assert (refused_connections() - before) == (outcome == "refused"), (attempt, outcome)
    outcomes[attempt] = outcome
print(json.dumps({"outcomes": outcomes, "log": said.getvalue()}))
"""


def run(program: str, *arguments: str) -> str:
    """What a fresh Python prints."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program), *arguments],
        capture_output=True,
        encoding="utf-8",
        timeout=WAIT_S,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def tried(*attempts: str) -> dict[str, Any]:
    """What became of each attempt in a guarded process."""
    result: dict[str, Any] = json.loads(run(TRY, json.dumps(attempts)))
    return result


def test_other_machines_are_out_of_reach() -> None:
    attempts = [
        "tcp.connect(('192.0.2.1', 80))",
        "tcp.connect_ex(('192.0.2.1', 80))",
        "tcp.connect(('example.invalid', 80))",
        "tcp.connect(('0.0.0.0', 80))",
        "tcp6.connect(('2001:db8::1', 80, 0, 0))",
        "tcp6.connect(('::ffff:192.0.2.1', 80, 0, 0))",
        "udp.sendto(b'x', ('192.0.2.1', 53))",
        "udp.sendto(b'x', 0, ('example.invalid', 53))",
        "udp.sendmsg([b'x'], [], 0, ('192.0.2.1', 53))",
        "udp.connect(('192.0.2.1', 53))",
        "socket.getaddrinfo('example.invalid', 80)",
        "socket.getaddrinfo(b'example.invalid', 80)",
        "socket.gethostbyname('example.invalid')",
        "socket.gethostbyaddr('192.0.2.1')",
        "socket.getnameinfo(('192.0.2.1', 80), 0)",
        "socket.create_connection(('example.invalid', 80))",
        "http.client.HTTPSConnection('example.invalid').request('GET', '/')",
    ]
    assert tried(*attempts)["outcomes"] == dict.fromkeys(attempts, "refused")


def test_other_machines_cannot_reach_in() -> None:
    outcomes = tried("tcp.bind(('', 0))", "udp.bind(('0.0.0.0', 0))", "tcp6.bind(('::', 0))")["outcomes"]
    assert set(outcomes.values()) == {"refused"}


def test_a_host_name_is_not_looked_up_before_it_is_refused() -> None:
    # The C code of these resolves names itself, so the guard must come before it: asking for a name tells it.
    program = """
        import json, socket, sys
        from pincite.privacy import ConnectionNotAllowed, refuse_connections
        order = []
        refuse_connections()
        sys.addaudithook(lambda event, arguments: order.append(event) if event.startswith("socket.") else None)
        for attempt in (socket.socket().connect, socket.socket().connect_ex, socket.socket().bind):
            try:
                attempt(("example.invalid", 80))
            except ConnectionNotAllowed:
                order.append("refused")
        print(json.dumps(order))
    """
    order = [event for event in json.loads(run(program)) if event != "socket.__new__"]
    assert order == ["refused"] * 3, "refused before C code was entered at all"


def test_this_machine_may_talk_to_itself() -> None:
    attempts = [
        "tcp.bind(('127.0.0.1', 0))",
        "udp.sendto(b'x', ('127.0.0.1', 9))",
        "socket.socket().connect(('127.0.0.1', 1))",
        "socket.socket(socket.AF_INET6).connect(('::1', 1))",
        "socket.getaddrinfo('localhost', 80)",
        "socket.getaddrinfo('127.0.0.1', 80)",
        "socket.getaddrinfo(None, 80)",
        "socket.gethostbyname('localhost')",
        "socket.socketpair()[0].send(b'x')",
    ]
    outcomes = tried(*attempts)["outcomes"]
    assert not [attempt for attempt, outcome in outcomes.items() if outcome == "refused"]
    assert outcomes[attempts[0]] == "done"


@pytest.mark.skipif(sys.platform == "win32", reason="there are no local sockets in Python on Windows")
def test_local_sockets_are_allowed() -> None:
    attempt = "socket.socket(socket.AF_UNIX).connect('/nowhere/socket')"
    assert tried(attempt)["outcomes"] == {attempt: "failed"}


def test_the_log_names_who_asked_and_not_what_for() -> None:
    log = tried("socket.getaddrinfo('the-rent-is-nine-hundred.example.invalid', 80)")["log"]
    assert log.startswith("WARNING A connection to another machine was refused: socket.getaddrinfo, wanted by __main__")
    assert "nine-hundred" not in log


def test_sealing_a_process_does_both() -> None:
    program = """
        import os, socket
        from pincite.privacy import ConnectionNotAllowed, refused_connections, seal_process
        seal_process()
        try:
            socket.getaddrinfo("example.invalid", 80)
        except ConnectionNotAllowed:
            print(os.environ["HF_HUB_OFFLINE"], os.environ["ANONYMIZED_TELEMETRY"], refused_connections())
    """
    assert run(program).split() == ["1", "False", "1"]


def test_the_quiet_environment_holds_only_texts() -> None:
    assert all(isinstance(value, str) and value for value in quiet_environment().values())
