"""Whether a claim is supported, by which words, and how the place is named."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pincite.model import BlockKind, Passage, Verdict, reading_text
from pincite.verify import attributed, checked, citation_for, quoted
from tests.unit.paper import box_of, passage

LEASE = passage(
    "The Tenant pays the Rent in four equal instalments in advance.",
    "A deposit of £10,500 is held in a separate account.",
    "The Landlord may not enter without 48 hours' notice.",
    heading_path=("Rent and deposit",),
)


def verdict(claim: str, *evidence: str, headings: tuple[str, ...] = ()) -> Verdict:
    return checked(claim, [passage(*evidence, heading_path=headings)]).verdict


def quotes(claim: str, *cited: Passage) -> list[str]:
    return [citation.quote for citation in checked(claim, cited).citations]


# Verdicts


@pytest.mark.parametrize(
    "claim",
    [
        "A deposit of £10,500 is held in a separate account.",
        "The deposit held in the separate account is £10,500.",
        "The deposit is 10500 pounds and held in a separate account.",
        "The tenant pays rent in four equal instalments, in advance.",
        "The tenant pays rent in 4 equal instalments in advance.",
        "The landlord may not enter without 48 hours' notice.",
    ],
)
def test_what_the_passage_says_is_supported(claim: str) -> None:
    found = checked(claim, [LEASE])
    assert found.verdict is Verdict.SUPPORTED
    assert found.score >= 0.7 and found.text == claim


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        (
            "The deposit of £10,000 is held in a separate account.",
            "A deposit of £10,500 is held in a separate account.",
        ),
        ("The fee is 100 pounds.", "The fee is two hundred pounds."),
        ("The fee is 20 pounds.", "The fee is twenty-five pounds."),
        ("Clause 7.1 allows benches.", "Clause 7.10 allows benches."),
        ("It is due on 3 June 2024.", "It is due on 3 June 2025."),
        ("There are three parking spaces.", "There are parking spaces."),
    ],
)
def test_a_number_that_is_not_there_makes_a_claim_unsupported(claim: str, evidence: str) -> None:
    assert verdict(claim, evidence) is Verdict.UNSUPPORTED


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("The fee is 25 pounds.", "The fee is twenty-five pounds."),
        ("The fee is twenty-five pounds.", "The fee is 25 pounds."),
        ("The loan is 2,300,000 pounds.", "The loan is two million three hundred thousand pounds."),
        ("The fee is £1,250.00.", "The fee is £1250."),
        ("There are 105 members.", "There are one hundred and five members."),
        ("The age of retirement is 70.", "The age of retirement is seventy."),
        ("The notice is 2 weeks.", "The notice is two weeks."),
        ("It lasts 100 days.", "It lasts a hundred days."),
    ],
)
def test_a_number_is_the_same_in_words_and_in_figures(claim: str, evidence: str) -> None:
    assert verdict(claim, evidence) is Verdict.SUPPORTED


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("The landlord may enter with notice.", "The landlord may not enter with notice."),
        ("The landlord didn't insure the building.", "The landlord insured the building."),
        ("The fee isn’t paid yearly.", "The fee is paid yearly."),
        ("Benches need consent.", "Benches need no consent."),
        ("The tenant mustn't alter walls.", "The tenant must alter walls."),
    ],
)
def test_a_claim_that_affirms_what_is_denied_is_never_supported(claim: str, evidence: str) -> None:
    assert verdict(claim, evidence) is not Verdict.SUPPORTED
    assert verdict(evidence, claim) is not Verdict.SUPPORTED


def test_a_claim_that_says_more_than_its_source_is_partly_supported() -> None:
    claim = "The deposit is held in an account and earns high interest each spring."
    assert verdict(claim, "The deposit is held in an account at the bank with interest.") is Verdict.PARTLY


def test_a_number_elsewhere_in_the_passage_is_support_in_part() -> None:
    evidence = ("The rent of the whole wharf is reviewed every year.", "So is the fee.", "Unit 7 was let in 2022.")
    assert verdict("The rent of the whole wharf is reviewed every year since 2022.", *evidence) is Verdict.PARTLY


def test_a_heading_lends_its_words_but_its_numbers_only_in_part() -> None:
    row = "Electricity | 26,600 | kWh"
    assert verdict("Electricity came to 26,600 kWh at Ropewalk.", row, headings=("Ropewalk",)) is Verdict.SUPPORTED
    assert verdict("Electricity came to 26,600 kWh in 2025.", row, headings=("Figures of 2025",)) is Verdict.PARTLY


def test_what_has_nothing_to_do_with_its_source_is_unsupported() -> None:
    assert verdict("Lifejackets are inspected monthly.", "The rent is paid quarterly.") is Verdict.UNSUPPORTED


@pytest.mark.parametrize("claim", ["", "It is.", "— !"])
def test_a_claim_without_content_is_unsupported(claim: str) -> None:
    found = checked(claim, [LEASE])
    assert (found.verdict, found.score, found.citations) == (Verdict.UNSUPPORTED, 0.0, ())


def test_a_claim_that_cites_nothing_is_unsupported() -> None:
    found = checked("The tenant pays the rent.", [])
    assert (found.verdict, found.citations) == (Verdict.UNSUPPORTED, ())


def test_plurals_and_endings_do_not_matter() -> None:
    assert verdict(
        "The company carries policies for its businesses.", "A company carried a policy for the business."
    ) is (Verdict.SUPPORTED)


# The words that support it


def test_the_supporting_sentence_alone_is_cited_with_its_boxes() -> None:
    (citation,) = checked("The deposit is £10,500.", [LEASE]).citations
    assert citation.quote == "A deposit of £10,500 is held in a separate account."
    words = LEASE.words[11:21]
    assert reading_text(words) == citation.quote
    assert [region.boxes for region in citation.regions] == [(box_of(words),)]


def test_two_sentences_in_a_row_are_cited_when_both_are_needed() -> None:
    both = passage(
        "The review takes place in spring.", "It is held by the surveyor of the estate.", "Other things follow."
    )
    claim = "The review in spring is held by the surveyor of the estate."
    assert quotes(claim, both) == ["The review takes place in spring.\nIt is held by the surveyor of the estate."]
    assert checked(claim, [both]).verdict is Verdict.SUPPORTED


def test_each_cited_passage_that_supports_is_cited_and_others_are_not() -> None:
    rent = passage("The rent of unit seven is £28,000 a year.", document="a")
    yard = passage("Boats are launched from the slipway.", document="b")
    deposit = passage("The rent deposit of unit seven is held by agents.", document="c")
    claim = checked(
        "The rent of unit seven is £28,000 a year and its deposit is held by agents.", [rent, yard, deposit]
    )
    assert [citation.document for citation in claim.citations] == ["a", "c"]
    assert claim.verdict is Verdict.SUPPORTED


def test_an_unsupported_claim_shows_no_source_as_if_it_had_one() -> None:
    claim = checked("The rent is payable in Danish crowns by ship.", [LEASE])
    assert claim.verdict is Verdict.UNSUPPORTED
    assert claim.citations == ()


def test_a_row_of_a_table_is_cited_by_itself() -> None:
    fees = passage("Name | Fee", "Anna | 20", "Ben | 30", kind=BlockKind.TABLE)
    assert quotes("The fee of Ben is 30.", fees) == ["Ben | 30"]


def test_a_quote_is_its_own_evidence() -> None:
    claim = quoted(LEASE, 11, 21, 3.21987)
    assert (claim.verdict, claim.text, claim.score) == (
        Verdict.QUOTE,
        "A deposit of £10,500 is held in a separate account.",
        3.22,
    )
    assert claim.citations == (citation_for(LEASE, 11, 21),)


@given(st.lists(st.sampled_from("rent The roof £20 not 7.2 paid. Tenant five".split()), min_size=1, max_size=12))
@settings(deadline=None)
def test_a_sentence_taken_from_the_passage_is_supported_by_it_unless_it_says_nothing(words: list[str]) -> None:
    text = " ".join(words)
    found = checked(text, [passage(text)])
    assert found.verdict in ((Verdict.SUPPORTED, Verdict.PARTLY) if found.score else (Verdict.UNSUPPORTED,))
    assert 0 <= found.score <= 1


@given(st.text(max_size=60), st.text(alphabet="ab 12.,-'’", min_size=1, max_size=60).filter(str.strip))
@settings(deadline=None)
def test_any_claim_has_a_verdict(claim: str, evidence: str) -> None:
    found = checked(claim, [passage(evidence)])
    assert found.verdict is not Verdict.QUOTE and 0 <= found.score <= 1


# How the place is named


@pytest.mark.parametrize(
    ("page", "label", "over", "pincite"),
    [
        (12, "", False, "Lease, p. 12, § Leave › Vacation"),
        (14, "xii", False, "Lease, p. xii (sheet 14), § Leave › Vacation"),
        (12, "12", False, "Lease, p. 12, § Leave › Vacation"),
        (12, "", True, "Lease, pp. 12–13, § Leave › Vacation"),
    ],
)
def test_pincites(page: int, label: str, over: bool, pincite: str) -> None:
    found = passage(
        "Leave is given",
        "on request.",
        page=page,
        label=label,
        next_page_from=1 if over else None,
        heading_path=("Leave", "Vacation"),
    )
    assert citation_for(found, 0, 5).pincite == pincite


def test_a_pincite_names_only_what_there_is() -> None:
    assert citation_for(passage("Leave is given."), 0, 3).pincite == "Lease, p. 1"
    assert citation_for(passage("Leave is given.", title="", heading_path=("Leave",)), 0, 3).pincite == "p. 1, § Leave"


def test_a_sentence_rests_on_the_passage_that_supports_it_not_on_the_one_it_names() -> None:
    right = passage("After probation the notice period is one month.", document="right")
    wrong = passage("Probation lasts six months.", document="wrong")
    claim, moved = attributed("After probation the notice period is one month.", [right, wrong], [2])
    assert moved
    assert claim.verdict is Verdict.SUPPORTED
    assert [citation.document for citation in claim.citations] == ["right"]


def test_a_supported_sentence_keeps_its_own_citation() -> None:
    one = passage("The fee is 20 pounds.", document="one")
    other = passage("The fee is 20 pounds.", document="other")
    claim, moved = attributed("The fee is 20 pounds.", [one, other], [2])
    assert not moved
    assert [citation.document for citation in claim.citations] == ["other"]


def test_a_sentence_that_nothing_supports_says_so() -> None:
    claim, moved = attributed("The moon is made of 7 cheeses.", [passage("The fee is 20 pounds.")], [1])
    assert not moved
    assert claim.verdict is Verdict.UNSUPPORTED
