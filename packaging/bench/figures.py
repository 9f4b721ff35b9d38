"""A measured figure beside its baseline, and how both are printed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True)
class Series:
    """Repeated measurements of one thing."""

    what: str
    values: tuple[float, ...]

    @property
    def middle(self) -> float:
        return median(self.values)


@dataclass(frozen=True)
class Figure:
    """Ours, and what a user would pick instead, measured by turns in the same run. `unit` is that of both."""

    ours: Series
    unit: str
    baseline: Series | None = None

    @property
    def ratio(self) -> float | None:
        """How many times the baseline's median ours is."""
        return self.ours.middle / self.baseline.middle if self.baseline is not None else None

    def lines(self) -> list[str]:
        """For people."""
        lines = [f"  {_shown(self.ours, self.unit)}"]
        if self.baseline is not None:
            lines += [f"  {_shown(self.baseline, self.unit)}", f"  {'ratio':<44} {self.ratio:>9.2f}"]
        return lines

    def json(self) -> dict[str, object]:
        """For programs."""
        baseline = self.baseline
        return {
            "what": self.ours.what,
            "unit": self.unit,
            "median": self.ours.middle,
            "values": list(self.ours.values),
            "baseline": None if baseline is None else {"what": baseline.what, "median": baseline.middle},
            "ratio": self.ratio,
        }


def figure(
    what: str,
    unit: str,
    values: Sequence[float],
    baseline_what: str = "",
    baseline: Sequence[float] = (),
) -> Figure:
    """A figure of measured values."""
    other = Series(baseline_what, tuple(baseline)) if baseline else None
    return Figure(Series(what, tuple(values)), unit, other)


def _shown(series: Series, unit: str) -> str:
    low, high = min(series.values), max(series.values)
    return f"{series.what:<44} {_number(series.middle):>9} {unit:<10} ({_number(low)} to {_number(high)})"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:,.1f}"
