"""Who goes first in the model process."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from pincite.engine.inbox import Inbox, Request
from pincite.engine.protocol import Rank

WAIT_S = 20.0


def put(inbox: Inbox, *ranks: Rank) -> None:
    """Put one request for each rank, numbered from 1."""
    for number, rank in enumerate(ranks, 1):
        inbox.put({"id": number, "rank": rank})


def all_of(inbox: Inbox) -> list[int]:
    """Close the inbox and empty it."""
    inbox.close()
    ids = []
    while (request := inbox.next()) is not None:
        ids.append(request.id)
    return ids


def test_questions_then_answers_then_indexing_and_the_oldest_of_each_first() -> None:
    inbox = Inbox()
    put(inbox, Rank.INDEXING, Rank.ANSWER, Rank.QUESTION, Rank.INDEXING, Rank.ANSWER, Rank.QUESTION)
    assert all_of(inbox) == [3, 6, 2, 5, 1, 4]


def test_only_what_is_more_urgent_interrupts() -> None:
    inbox = Inbox()
    put(inbox, Rank.INDEXING, Rank.ANSWER)
    assert inbox.next_before(Rank.ANSWER, unless=lambda request: False) is None
    inbox.put({"id": 3, "rank": Rank.QUESTION})
    assert inbox.next_before(Rank.ANSWER, unless=lambda request: request.id == 3) is None
    taken = inbox.next_before(Rank.ANSWER, unless=lambda request: False)
    assert taken is not None and taken.id == 3
    assert all_of(inbox) == [2, 1]


def test_a_cancelled_request_is_not_given_out() -> None:
    inbox = Inbox()
    put(inbox, Rank.QUESTION, Rank.QUESTION)
    inbox.cancel(1)
    assert all_of(inbox) == [2]


def test_who_works_on_a_request_learns_that_it_was_cancelled() -> None:
    inbox = Inbox()
    put(inbox, Rank.QUESTION, Rank.QUESTION)
    first, second = inbox.next(), inbox.next()
    assert first is not None and second is not None
    inbox.cancel(1)
    assert (first.cancelled.is_set(), second.cancelled.is_set()) == (True, False)
    inbox.done(second)
    inbox.cancel(2)
    assert not second.cancelled.is_set(), "what is done cannot be cancelled"


def test_it_waits_for_a_request() -> None:
    inbox = Inbox()
    with ThreadPoolExecutor() as executor:
        waiting = executor.submit(inbox.next)
        put(inbox, Rank.INDEXING)
        request = waiting.result(WAIT_S)
    assert isinstance(request, Request)
    assert inbox.empty()


def test_an_unknown_rank_is_refused() -> None:
    with pytest.raises(ValueError, match="7"):
        Inbox().put({"id": 1, "rank": 7})
