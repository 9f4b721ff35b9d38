"""The log of the data gateway: written events, with a month of routine lines between them."""

from __future__ import annotations

import random
from pathlib import Path

OUTAGE_NIGHT = "2025-06-11"  # its copy is among the written events


def gateway_log(events_file: Path) -> str:
    """The whole log as text, oldest line first."""
    lines = events_file.read_text(encoding="utf-8").splitlines() + routine_lines(random.Random(4021))
    head = "# gateway.brackwater, log of June 2025, local time\n# time level part message\n"
    return head + "\n".join(sorted(lines, key=lambda line: line[:19])) + "\n"


def routine_lines(chance: random.Random) -> list[str]:
    """What the gateway writes on every day of the month, with numbers drawn from `chance`."""
    lines = []
    for day in range(1, 31):
        date = f"2025-06-{day:02d}"
        if date != OUTAGE_NIGHT:
            finish_s = drawn(chance, 600, 2400)
            size_gb = 41 + drawn(chance, 0, 90) / 100
            lines.append(f"{date} 01:30:00 INFO  backup    nightly copy to tern-point started")
            lines.append(
                f"{date} 01:{30 + finish_s // 60 % 30:02d}:{finish_s % 60:02d} "
                f"INFO  backup    nightly copy finished, {size_gb:.1f} GB, verified"
            )
        for station in ("tern-point", "skerry-light", "port-sallow"):
            minute, second = drawn(chance, 0, 59), drawn(chance, 0, 59)
            lines.append(
                f"{date} 12:{minute:02d}:{second:02d} INFO  uplink    {station} "
                f"{drawn(chance, 1380, 1440):,} readings since yesterday noon"
            )
    return lines


def drawn(chance: random.Random, low: int, high: int) -> int:
    """A whole number from `low` to `high`; uses random() alone, whose sequence Python promises to keep."""
    return low + int(chance.random() * (high - low + 1))
