"""Passages, claims and answers to show, with places that are easy to recognise."""

from __future__ import annotations

from pincite.model import (
    Answer,
    AnswerVerdict,
    BlockKind,
    Box,
    Citation,
    Claim,
    NotSearched,
    Passage,
    Region,
    Scores,
    Verdict,
)
from tests.fakes import FakeDocument

FIRST_BOX = Box(100, 200, 300, 212)
SECOND_BOX = Box(100, 214, 220, 226)
LATER_BOX = Box(80, 700, 400, 716)
BLUE = (200, 200, 255)
GREEN = (0, 200, 0)

HANDBOOK = FakeDocument(
    "handbook",
    "Staff Handbook",
    "/documents/handbook.pdf",
    labels=("i", "ii", "1", "2"),
    rectangles={3: [(FIRST_BOX, BLUE), (SECOND_BOX, BLUE)], 4: [(LATER_BOX, GREEN)]},
)
LEASE = FakeDocument("lease", "Lease", "/documents/lease.pdf", labels=("1", "2"))

LEAVE_REGIONS = (Region(3, "1", (FIRST_BOX, SECOND_BOX)), Region(4, "2", (LATER_BOX,)))
UNREAD = NotSearched("/documents/scan.pdf", "partly read", "It is a scan without text.")


def passage(document: FakeDocument, text: str, regions: tuple[Region, ...]) -> Passage:
    return Passage(
        chunk=f"{document.id}:{text[:8]}",
        document=document.id,
        title=document.title,
        path=document.path,
        kind=BlockKind.PARAGRAPH,
        heading_path=("Leave", "Annual leave"),
        text=text,
        spans=(),
        words=(),
        regions=regions,
        scores=Scores(),
        modified="2025-01-01",
    )


RENT = passage(LEASE, "The rent is due on the first day of each quarter.", (Region(2, "2", (Box(50, 50, 90, 60),)),))
LEAVE = passage(HANDBOOK, "You have 23 days of leave. It builds up month by month.", LEAVE_REGIONS)


def citation(source: Passage, quote: str, regions: tuple[Region, ...]) -> Citation:
    return Citation(source.document, source.title, source.path, quote, regions, f"{source.title}, p. 1")


LEAVE_CITATION = citation(LEAVE, "You have 23 days of leave.", LEAVE_REGIONS)
SUPPORTED = Claim("You have 23 days of leave.", Verdict.SUPPORTED, 0.9, (LEAVE_CITATION,))
PARTLY = Claim("It builds up each week.", Verdict.PARTLY, 0.5, (LEAVE_CITATION,))
UNSUPPORTED = Claim("It is paid out.", Verdict.UNSUPPORTED, 0.1, ())
QUOTED = Claim(RENT.text, Verdict.QUOTE, 1.0, (citation(RENT, RENT.text, RENT.regions),))


def answer(question: str, *claims: Claim, notes: tuple[str, ...] = ()) -> Answer:
    return Answer(
        question=question,
        verdict=AnswerVerdict.ANSWERED,
        text=" ".join(claim.text for claim in claims),
        mode="normal",
        claims=claims,
        nearest=(),
        passages=(RENT, LEAVE),
        not_searched=(UNREAD,),
        model="a-model",
        trace="t1",
        timings_ms={"total": 1500.0},
        notes=notes,
    )


def refusal(question: str) -> Answer:
    return Answer(
        question=question,
        verdict=AnswerVerdict.NOT_FOUND,
        text="The documents do not say.",
        mode="normal",
        claims=(),
        nearest=(LEAVE, RENT),
        passages=(RENT, LEAVE),
        not_searched=(UNREAD,),
        model="a-model",
        trace="t2",
    )
