"""The only owner of child processes: start, talk in frames, limit, terminate, kill.

A child runs one module of this package and speaks over its standard input and output in *frames*: a small JSON
message and an optional block of bytes. JSON, not pickle, because what a reader sends was shaped by a hostile
document. Limits on time and memory are enforced from here, outside the child, which cannot be trusted to keep them.
"""

from __future__ import annotations

import json
import logging
import os
import queue
import struct
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import IO, Any

import psutil

logger = logging.getLogger(__name__)

HEADER = struct.Struct(">II")  # bytes of JSON, bytes of the block that follows
MAX_MESSAGE_BYTES = 64 << 20
MAX_BLOCK_BYTES = 512 << 20
MEMORY_POLL_S = 0.1  # a bomb that fills memory faster than this meets the child's own rlimit first
TERMINATE_GRACE_S = 2.0
KILL_GRACE_S = 5.0

Message = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Frame:
    """A message and the bytes that came with it. Nothing in it is trusted until the receiver has checked it."""

    message: Message
    block: bytes = b""


class ChildDied(Exception):
    """The child is gone. `cause` is "memory" when it was killed for its size, "stopped" when we ended it, else ""."""

    def __init__(self, status: int | None, cause: str, last_words: str) -> None:
        super().__init__(f"child ended with status {status}{' for ' + cause if cause else ''}")
        self.status = status
        self.cause = cause
        self.last_words = last_words


class Channel:
    """Frames over a pair of byte streams. Writing is safe from several threads; reading is for one."""

    def __init__(self, source: IO[bytes], sink: IO[bytes]) -> None:
        self._source = source
        self._sink = sink
        self._write_lock = threading.Lock()

    def send(self, message: Message, block: bytes = b"") -> None:
        """Write one frame. Raises OSError when the other end is gone."""
        encoded = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
        with self._write_lock:
            self._sink.write(HEADER.pack(len(encoded), len(block)) + encoded)
            if block:
                self._sink.write(block)
            self._sink.flush()

    def receive(self) -> Frame | None:
        """The next frame, or None at the end of the stream. Raises ValueError when it is not a frame."""
        header = self._exactly(HEADER.size)
        if header is None:
            return None
        message_bytes, block_bytes = HEADER.unpack(header)
        if message_bytes > MAX_MESSAGE_BYTES or block_bytes > MAX_BLOCK_BYTES:
            raise ValueError("a frame is larger than frames may be")
        encoded = self._exactly(message_bytes)
        block = self._exactly(block_bytes)
        if encoded is None or block is None:
            return None
        message = json.loads(encoded.decode("utf-8", "surrogatepass"))
        if not isinstance(message, dict):
            raise ValueError("a frame's message is not an object")
        return Frame(message, block)

    def _exactly(self, wanted: int) -> bytes | None:
        parts = bytearray()
        while len(parts) < wanted:
            part = self._source.read(wanted - len(parts))
            if not part:
                return None
            parts += part
        return bytes(parts)


def parent_channel() -> Channel:
    """Inside a child: the channel to the parent. Call once, before anything is printed.

    Standard output is pointed at standard error, so that a library that prints cannot break the frames.
    """
    sink = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return Channel(sys.stdin.buffer, sink)


def limit_own_memory(memory_bytes: int) -> None:
    """Inside a child: ask the system to refuse more memory than this, where it can (not on Windows or macOS)."""
    if sys.platform == "linux":
        import resource  # exists on this platform only

        resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class Child:
    """A running child process.

    `receive` is for one thread at a time; `send`, `stop` and `alive` may be called from any.
    """

    def __init__(self, module: str, arguments: tuple[str, ...] = (), memory_limit_bytes: int | None = None) -> None:
        # -P: without it the current folder, which may be a folder of documents, would be searched for modules.
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", module, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert self._process.stdin is not None and self._process.stdout is not None
        self._channel = Channel(self._process.stdout, self._process.stdin)
        self._frames: queue.SimpleQueue[Frame | None] = queue.SimpleQueue()
        self._cause = ""
        self._last_words: deque[bytes] = deque(maxlen=40)
        self._ended = threading.Event()
        self._frame_pump = threading.Thread(target=self._pump_frames, name=f"{module} frames", daemon=True)
        self._error_pump = threading.Thread(target=self._pump_errors, name=f"{module} errors", daemon=True)
        self._threads = [self._frame_pump, self._error_pump]
        if memory_limit_bytes is not None:
            watch = threading.Thread(
                target=self._watch_memory, args=(memory_limit_bytes,), name=f"{module} memory", daemon=True
            )
            self._threads.append(watch)
        for thread in self._threads:
            thread.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    def alive(self) -> bool:
        """Whether the child is still running."""
        return self._process.poll() is None

    def send(self, message: Message, block: bytes = b"") -> None:
        """Send a frame. Raises ChildDied."""
        try:
            self._channel.send(message, block)
        except (OSError, ValueError) as error:
            raise self._died() from error

    def receive(self, timeout_s: float | None = None) -> Frame:
        """The child's next frame. Raises TimeoutError, or ChildDied when there will be no more."""
        try:
            frame = self._frames.get(timeout=timeout_s)
        except queue.Empty:
            raise TimeoutError from None
        if frame is None:
            self._frames.put(None)  # the next caller learns it too
            raise self._died()
        return frame

    def stop(self, cause: str = "stopped") -> None:
        """End the child and every program it started: terminate, then kill. Returns when they are gone."""
        if self.alive() and not self._cause:
            self._cause = cause
        self._ended.set()
        offspring = self._offspring()  # looked up first: once the child is gone nothing leads to them
        self._process.terminate()
        try:
            self._process.wait(TERMINATE_GRACE_S)
        except subprocess.TimeoutExpired:
            self._kill()
        for process in offspring:
            try:
                process.kill()
            except psutil.Error:
                pass  # it ended with its parent
        self._release()

    def _kill(self) -> None:
        self._process.kill()
        try:
            self._process.wait(KILL_GRACE_S)
        except subprocess.TimeoutExpired:
            logger.warning("Process %d cannot be ended: it hangs inside the system", self._process.pid)

    def _offspring(self) -> list[psutil.Process]:
        try:
            return psutil.Process(self._process.pid).children(recursive=True)
        except psutil.Error:
            return []  # the child is gone already

    def _release(self) -> None:
        """Join the threads and close the pipes of a child that has ended."""
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join(KILL_GRACE_S)
        readers = (self._process.stdout, self._frame_pump), (self._process.stderr, self._error_pump)
        # A pipe that another program still holds open is still being read, and closing it would wait for that.
        done = [stream for stream, thread in readers if not thread.is_alive()]
        for stream in (self._process.stdin, *done):
            if stream is not None:
                try:
                    stream.close()
                except OSError:
                    pass  # unsent bytes for a child that is gone

    def _died(self) -> ChildDied:
        try:
            self._process.wait(KILL_GRACE_S)
        except subprocess.TimeoutExpired:
            self._kill()
        if self._error_pump is not threading.current_thread():
            self._error_pump.join(TERMINATE_GRACE_S)  # its last words may still be on their way
        last_words = b"".join(list(self._last_words)).decode("utf-8", "replace")[-4000:]
        return ChildDied(self._process.returncode, self._cause, last_words)

    def _pump_frames(self) -> None:
        try:
            while (frame := self._channel.receive()) is not None:
                self._frames.put(frame)
        except (OSError, ValueError, RecursionError):  # the last: JSON nested as deep as only malice makes it
            self._process.kill()  # what no longer speaks in frames is of no further use
        finally:
            self._ended.set()
            self._frames.put(None)

    def _pump_errors(self) -> None:
        assert self._process.stderr is not None
        try:
            for line in self._process.stderr:
                self._last_words.append(line[:1000])
        except (OSError, ValueError):
            pass  # closed while we were reading: the child is being stopped

    def _watch_memory(self, limit_bytes: int) -> None:
        try:
            process = psutil.Process(self._process.pid)
            while not self._ended.wait(MEMORY_POLL_S):
                if process.memory_info().rss > limit_bytes:
                    self._cause = "memory"
                    self._process.kill()
                    return
        except psutil.Error:
            return  # it ended between two looks


def run_tool(arguments: Sequence[str], on_line: Callable[[str], None]) -> int:
    """Run another program to its end and return its status, handing each line it prints to `on_line` at once.

    What it writes to standard error comes in the same stream. It has no standard input. When `on_line` raises, the
    program is ended before the exception goes on: that is how a caller cancels.
    """
    process = subprocess.Popen(
        list(arguments),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    )
    assert process.stdout is not None
    try:
        with process.stdout:
            for line in process.stdout:
                on_line(line.rstrip("\n"))
        return process.wait()
    except BaseException:
        process.terminate()
        try:
            process.wait(TERMINATE_GRACE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(KILL_GRACE_S)
        raise
