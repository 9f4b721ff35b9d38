"""Which number a citation is shown under, and how a passage's place is worded."""

from __future__ import annotations

from pincite.gui.evidence import Numbering, place_of
from pincite.model import Box, Region
from tests.gui.material import HANDBOOK, LEAVE, LEAVE_CITATION, RENT, citation, passage


def test_a_citation_has_the_number_of_the_source_it_lies_in() -> None:
    assert Numbering((RENT, LEAVE)).number(LEAVE_CITATION) == 2
    part = citation(LEAVE, "23 days", (Region(3, "1", (Box(120, 201, 180, 211),)),))
    assert Numbering((RENT, LEAVE)).number(part) == 2


def test_a_citation_that_no_source_holds_is_numbered_after_them_and_keeps_its_number() -> None:
    numbering = Numbering((RENT,))
    elsewhere = citation(LEAVE, "elsewhere", (Region(1, "i", (Box(0, 0, 5, 5),)),))
    nowhere = citation(RENT, "nowhere", ())
    assert [numbering.number(one) for one in (elsewhere, nowhere, elsewhere)] == [2, 3, 2]


def test_the_same_place_in_another_document_is_another_source() -> None:
    other = passage(HANDBOOK, "x", RENT.regions)
    assert Numbering((other, RENT)).number(citation(RENT, RENT.text, RENT.regions)) == 2


def test_places_are_worded_with_printed_labels() -> None:
    assert place_of(RENT) == "Lease, p. 2"
    assert place_of(LEAVE) == "Staff Handbook, pp. 1\u20132"
    assert place_of(passage(HANDBOOK, "x", ())) == "Staff Handbook"
    assert place_of(passage(HANDBOOK, "x", (Region(7, "", ()),))) == "Staff Handbook, p. 7"
