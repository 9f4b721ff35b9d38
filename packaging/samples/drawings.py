"""Pieces that are drawn: a bar chart, a letterhead, a signature, rules."""

from __future__ import annotations

from reportlab.platypus import Flowable
from style import GREY, INK, RULE, SANS, SANS_BOLD, TEAL


class Bars(Flowable):
    """Upright bars with a value above and a label below each."""

    def __init__(self, values: list[tuple[str, float]], width_pt: float, height_pt: float = 120) -> None:
        super().__init__()
        self.values, self.width, self.height = values, width_pt, height_pt

    def draw(self) -> None:
        step_pt = self.width / len(self.values)
        highest = max(value for _, value in self.values)
        room_pt = self.height - 34
        self.canv.setStrokeColor(RULE)
        self.canv.line(0, 16, self.width, 16)
        for place, (label, value) in enumerate(self.values):
            height_pt = room_pt * value / highest
            middle_pt = (place + 0.5) * step_pt
            self.canv.setFillColor(TEAL)
            self.canv.rect(middle_pt - 19, 16, 38, height_pt, stroke=0, fill=1)
            self.canv.setFillColor(INK)
            self.canv.setFont(SANS, 8.4)
            self.canv.drawCentredString(middle_pt, 20 + height_pt, f"{value:.0f}")
            self.canv.setFillColor(GREY)
            self.canv.drawCentredString(middle_pt, 4, label)


class Rule(Flowable):
    """A thin line across the text."""

    def __init__(self, width_pt: float) -> None:
        super().__init__()
        self.width, self.height = width_pt, 14

    def draw(self) -> None:
        self.canv.setStrokeColor(RULE)
        self.canv.line(0, 7, self.width, 7)


class Letterhead(Flowable):
    """A firm's name in spaced capitals over its trade and address."""

    def __init__(self, name: str, trade: str, address: str, width_pt: float) -> None:
        super().__init__()
        self.lines = (name, trade, address)
        self.width, self.height = width_pt, 78

    def draw(self) -> None:
        name, trade, address = self.lines
        self.canv.setFillColor(INK)
        self.canv.setStrokeColor(INK)
        self.canv.setFont(SANS_BOLD, 19)
        self.canv.drawString(0, 54, name, charSpace=2.2)
        self.canv.setFont(SANS, 9)
        self.canv.drawString(0, 38, trade)
        self.canv.drawRightString(self.width, 38, address)
        self.canv.line(0, 30, self.width, 30)


class Signature(Flowable):
    """A flourish as of a fountain pen."""

    CURVES = (
        (4, 14, 10, 44, 34, 40, 22, 18),
        (22, 18, 14, 2, 34, 6, 38, 22),
        (38, 22, 44, 34, 46, 8, 54, 16),
        (54, 16, 60, 26, 62, 8, 70, 18),
        (70, 18, 84, 52, 88, 24, 78, 8),
        (78, 8, 96, 22, 112, 26, 146, 16),
    )

    def __init__(self) -> None:
        super().__init__()
        self.width, self.height = 150, 48

    def draw(self) -> None:
        self.canv.setStrokeColor(INK)
        self.canv.setLineWidth(1.5)
        for curve in self.CURVES:
            self.canv.bezier(*curve)
