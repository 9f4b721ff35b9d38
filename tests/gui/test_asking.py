"""A question in the window: sources, text, verdicts, citations, and every way it can end."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from pincite.errors import EngineError
from pincite.gui.messages import ReportDialog
from pincite.gui.turn import TurnView
from pincite.gui.window import MainWindow
from pincite.model import Answered, Claim, ClaimChecked, SourcesFound, TextAdded, Verdict
from tests.fakes import FakeLibrary, Gate
from tests.gui.conftest import OpenWindow
from tests.gui.material import (
    FIRST_BOX,
    HANDBOOK,
    LEASE,
    LEAVE,
    PARTLY,
    QUOTED,
    RENT,
    SECOND_BOX,
    SUPPORTED,
    UNREAD,
    UNSUPPORTED,
    answer,
    citation,
    refusal,
)

QUESTION = "How much leave do I have?"
SOURCES = SourcesFound((RENT, LEAVE), (UNREAD,))


def type_and_ask(qtbot: QtBot, window: MainWindow, question: str = QUESTION) -> TurnView:
    qtbot.keyClicks(window.conversation.box, question)
    qtbot.keyClick(window.conversation.box, Qt.Key.Key_Return)
    return window.conversation.turns[-1]


def idle(window: MainWindow) -> Callable[[], bool]:
    return lambda: not window.conversation.busy()


def library_that(*steps: object) -> FakeLibrary:
    return FakeLibrary([HANDBOOK, LEASE], answers=[list(steps)])  # type: ignore[list-item]


def test_sources_come_first_then_text_then_checked_sentences(open_window: OpenWindow, qtbot: QtBot) -> None:
    gates = [Gate(), Gate(), Gate()]
    library = library_that(
        SOURCES, gates[0],
        TextAdded("You have 23 days of leave [2]. It is"), gates[1],
        ClaimChecked(0, SUPPORTED), gates[2],
        Answered(answer(QUESTION, SUPPORTED, UNSUPPORTED)),
    )  # fmt: skip
    window = open_window(library)
    turn = type_and_ask(qtbot, window)
    assert gates[0].reached.wait(10)
    qtbot.waitUntil(lambda: len(turn.strip.buttons) == 2)
    assert [button.accessibleName() for button in turn.strip.buttons] == [
        "Source 1: Lease, p. 2",
        "Source 2: Staff Handbook, pp. 1\u20132",
    ]
    assert [button.text().split()[0] for button in turn.strip.buttons] == ["1", "2"]
    assert turn.strip.isVisible()
    assert not turn.stream.isVisible()
    assert not turn.claim_rows

    gates[0].open()
    qtbot.waitUntil(turn.stream.isVisible)
    assert turn.stream.written == "You have 23 days of leave [2]. It is"
    assert turn.stream.text.addresses() == ["source:1", "source:2"]

    gates[1].open()
    qtbot.waitUntil(lambda: len(turn.claim_rows) == 1)
    assert turn.claim_rows[0].mark.accessibleName() == "supported"
    assert turn.stream.written == "It is"

    gates[2].open()
    qtbot.waitUntil(idle(window))
    assert [row.claim for row in turn.claim_rows] == [SUPPORTED, UNSUPPORTED]
    assert not turn.stream.isVisible()
    assert "1.5 s" in turn.footer.text()


def test_each_verdict_has_its_shape_and_its_word(open_window: OpenWindow, qtbot: QtBot) -> None:
    window = open_window(library_that(SOURCES, Answered(answer(QUESTION, SUPPORTED, PARTLY, UNSUPPORTED, QUOTED))))
    turn = type_and_ask(qtbot, window)
    qtbot.waitUntil(idle(window))
    marks = ["●", "◐", "○", "❝"]
    words = ["supported", "partly supported", "not in the documents", "quoted"]
    for row, mark, word in zip(turn.claim_rows, marks, words, strict=True):
        assert mark in row.mark.text()
        assert row.mark.accessibleName() == word
        assert word in row.mark.toolTip().lower()
        assert row.text.accessibleName().startswith(word)
    assert "not in the documents" in turn.claim_rows[2].text.text()
    assert turn.claim_rows[2].text.addresses() == []


def test_clicking_a_citation_shows_its_page_with_exactly_its_boxes(open_window: OpenWindow, qtbot: QtBot) -> None:
    window = open_window(library_that(SOURCES, Answered(answer(QUESTION, SUPPORTED))))
    turn = type_and_ask(qtbot, window)
    qtbot.waitUntil(idle(window))
    link = turn.claim_rows[0].text
    assert ">&nbsp;2&nbsp;<" in link.text()  # the number of the source it lies in
    link.setFocus()
    qtbot.keyClick(link, Qt.Key.Key_Tab)  # from the text to its first link
    if not link.hasFocus():
        link.setFocus()
    link.linkActivated.emit("cite:0")
    qtbot.waitUntil(lambda: window.viewer.view.highlighted() != ())
    assert window.viewer.view.highlighted() == (FIRST_BOX, SECOND_BOX)
    assert window.viewer.title.text() == "Staff Handbook"
    assert window.viewer.page_box.label_box.text() == "1"
    assert window.viewer.page_box.sheet.text() == "(sheet 3 of 4)"


def test_a_marker_in_text_that_is_still_being_written_opens_its_source(open_window: OpenWindow, qtbot: QtBot) -> None:
    gate = Gate()
    window = open_window(library_that(SOURCES, TextAdded("You have 23 days [2]"), gate))
    turn = type_and_ask(qtbot, window)
    qtbot.waitUntil(turn.stream.isVisible)
    turn.stream.text.linkActivated.emit("source:2")
    qtbot.waitUntil(lambda: window.viewer.view.highlighted() == (FIRST_BOX, SECOND_BOX))
    gate.open()
    qtbot.waitUntil(idle(window))


def test_a_source_opens_by_button_and_by_its_number(open_window: OpenWindow, qtbot: QtBot) -> None:
    window = open_window(library_that(SOURCES, Answered(answer(QUESTION, SUPPORTED))))
    turn = type_and_ask(qtbot, window)
    qtbot.waitUntil(idle(window))
    qtbot.mouseClick(turn.strip.buttons[0], Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: window.viewer.view.highlighted() == RENT.regions[0].boxes)
    window.activateWindow()
    qtbot.keyClick(window.conversation.box, Qt.Key.Key_2, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: window.viewer.view.highlighted() == (FIRST_BOX, SECOND_BOX))


def test_escape_stops_and_the_next_question_can_be_asked_at_once(open_window: OpenWindow, qtbot: QtBot) -> None:
    gate = Gate()
    library = library_that(SOURCES, TextAdded("You have"), gate, Answered(answer(QUESTION, SUPPORTED)))
    library.answers.append([Answered(answer("And the rent?", QUOTED))])
    window = open_window(library)
    turn = type_and_ask(qtbot, window)
    assert gate.reached.wait(10)
    qtbot.waitUntil(turn.stream.isVisible)
    qtbot.keyClick(window.conversation.box, Qt.Key.Key_Escape)
    assert turn.status.text() == "Stopped."
    assert not turn.stream.isVisible()
    assert turn.again.isVisible()
    assert window.conversation.box.question() == QUESTION

    second = type_and_ask(qtbot, window, "And the rent?")  # typing replaces the selected question
    qtbot.waitUntil(lambda: second.answer is not None)
    assert library.called("ask") == [QUESTION, "And the rent?"]
    assert turn.answer is None
    assert turn.status.text() == "Stopped."


def test_what_was_typed_stays_until_it_is_answered(open_window: OpenWindow, qtbot: QtBot) -> None:
    gate = Gate()
    window = open_window(library_that(SOURCES, gate, Answered(answer(QUESTION, SUPPORTED))))
    type_and_ask(qtbot, window)
    assert gate.reached.wait(10)
    assert window.conversation.box.question() == QUESTION
    gate.open()
    qtbot.waitUntil(idle(window))
    assert window.conversation.box.question() == ""
    qtbot.keyClick(window.conversation.box, Qt.Key.Key_Up)
    assert window.conversation.box.question() == QUESTION


def test_what_was_typed_meanwhile_is_not_touched(open_window: OpenWindow, qtbot: QtBot) -> None:
    gate = Gate()
    window = open_window(library_that(SOURCES, gate, Answered(answer(QUESTION, SUPPORTED))))
    type_and_ask(qtbot, window)
    assert gate.reached.wait(10)
    qtbot.keyClicks(window.conversation.box, "And the next")
    qtbot.keyClick(window.conversation.box, Qt.Key.Key_Return)  # one at a time
    assert len(window.conversation.turns) == 1
    assert "Esc" in window.conversation.hint.text()
    gate.open()
    qtbot.waitUntil(idle(window))
    assert window.conversation.box.question() == "And the next"


def test_an_error_is_a_sentence_and_the_question_can_be_asked_again(open_window: OpenWindow, qtbot: QtBot) -> None:
    library = library_that(SOURCES, EngineError("The model ran out of memory."))
    library.answers.append([Answered(answer(QUESTION, SUPPORTED))])
    window = open_window(library)
    turn = type_and_ask(qtbot, window)
    qtbot.waitUntil(idle(window))
    assert turn.status.text() == "The model ran out of memory."
    assert window.conversation.box.question() == QUESTION
    assert not turn.details.isVisible()
    qtbot.mouseClick(turn.again, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: len(window.conversation.turns) == 2 and idle(window)())
    assert window.conversation.turns[1].answer is not None
    assert turn.status.text() == "The model ran out of memory."  # earlier questions stay


def test_a_mistake_in_the_library_shows_a_message_with_its_report(
    open_window: OpenWindow, qtbot: QtBot, expect_log: Callable[[str], None]
) -> None:
    expect_log("KeyError while answering")
    window = open_window(library_that(SOURCES, KeyError("words")))
    turn = type_and_ask(qtbot, window)
    qtbot.waitUntil(idle(window))
    assert "went wrong inside Pincite" in turn.status.text()
    assert window.conversation.box.question() == QUESTION
    qtbot.mouseClick(turn.details, Qt.MouseButton.LeftButton)
    dialog = window.findChild(ReportDialog)
    assert isinstance(dialog, ReportDialog)
    assert "KeyError" in dialog.report.toPlainText()
    dialog.close()
    type_and_ask(qtbot, window, "Are you still there?")
    qtbot.waitUntil(idle(window))
    assert library_of(window).called("ask") == [QUESTION, "Are you still there?"]


def library_of(window: MainWindow) -> FakeLibrary:
    library = window._bridge._library
    assert isinstance(library, FakeLibrary)
    return library


def test_an_answer_that_ends_too_early_says_so(open_window: OpenWindow, qtbot: QtBot) -> None:
    window = open_window(library_that(SOURCES, TextAdded("You have")))
    turn = type_and_ask(qtbot, window)
    qtbot.waitUntil(idle(window))
    assert "before it was complete" in turn.status.text()
    assert not turn.stream.isVisible()


def test_not_found_shows_the_nearest_passages_and_what_was_not_searched(open_window: OpenWindow, qtbot: QtBot) -> None:
    window = open_window(library_that(SOURCES, Answered(refusal(QUESTION))))
    turn = type_and_ask(qtbot, window)
    qtbot.waitUntil(idle(window))
    assert turn.status.text() == "The documents do not say."
    assert turn.status_mark.isVisible()
    assert [card.button.text() for card in turn.nearest] == ["Staff Handbook, pp. 1\u20132", "Lease, p. 2"]
    assert turn.not_searched.list.isVisible()
    assert "/documents/scan.pdf: partly read. It is a scan without text." in turn.not_searched.list.text()
    qtbot.mouseClick(turn.nearest[1].button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: window.viewer.view.highlighted() == RENT.regions[0].boxes)


def test_notes_of_an_answer_are_shown(open_window: OpenWindow, qtbot: QtBot) -> None:
    noted = answer(QUESTION, SUPPORTED, notes=("The passages were not re-ordered: the model is missing.",))
    window = open_window(library_that(SOURCES, Answered(noted)))
    turn = type_and_ask(qtbot, window)
    qtbot.waitUntil(idle(window))
    assert turn.notes.isVisible()
    assert turn.notes.text() == "The passages were not re-ordered: the model is missing."


def test_nothing_from_a_document_is_taken_for_markup(open_window: OpenWindow, qtbot: QtBot) -> None:
    nasty = '<img src="file:///etc/passwd"> <b>bold</b> & <a href="http://example.org">link</a>'
    claim = Claim(nasty, Verdict.SUPPORTED, 0.9, (citation(LEAVE, nasty, LEAVE.regions),))
    gate = Gate()
    window = open_window(library_that(SOURCES, TextAdded(nasty), gate, Answered(answer(nasty, claim))))
    turn = type_and_ask(qtbot, window, nasty)
    qtbot.waitUntil(turn.stream.isVisible)
    assert "<b>" not in turn.stream.text.text()
    gate.open()
    qtbot.waitUntil(idle(window))
    row = turn.claim_rows[0]
    assert "<img" not in row.text.text()
    assert "<b>" not in row.text.text()
    row.text.linkHovered.emit("cite:0")
    assert "<img" not in row.text.toolTip()
    assert "&lt;img" in row.text.toolTip()
    assert turn.question.text() == nasty
    assert turn.question.textFormat() is Qt.TextFormat.PlainText
    assert not row.text.openExternalLinks()


def test_enter_on_an_empty_box_asks_nothing_and_a_very_long_question_is_passed_on_whole(
    open_window: OpenWindow, qtbot: QtBot
) -> None:
    library = library_that(Answered(answer("?", QUOTED)))
    window = open_window(library)
    qtbot.keyClicks(window.conversation.box, "  ")
    qtbot.keyClick(window.conversation.box, Qt.Key.Key_Return)
    assert window.conversation.turns == []
    long = "leave " * 2000
    window.conversation.box.setPlainText(long)
    qtbot.keyClick(window.conversation.box, Qt.Key.Key_Return)
    qtbot.waitUntil(idle(window))
    assert library.called("ask") == [long.strip()]


def test_shift_enter_starts_a_line(open_window: OpenWindow, qtbot: QtBot) -> None:
    window = open_window(library_that())
    qtbot.keyClicks(window.conversation.box, "one")
    qtbot.keyClick(window.conversation.box, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClicks(window.conversation.box, "two")
    assert window.conversation.box.question() == "one\ntwo"
    assert window.conversation.turns == []


def test_tab_goes_through_the_window_in_reading_order(open_window: OpenWindow, qtbot: QtBot) -> None:
    window = open_window(library_that(SOURCES, Answered(answer(QUESTION, SUPPORTED, PARTLY))))
    turn = type_and_ask(qtbot, window)
    qtbot.waitUntil(idle(window))
    order: list[QWidget] = []
    widget = window.library_pane.tree.nextInFocusChain()
    while widget is not window.library_pane.tree and len(order) < 1000:
        order.append(widget)
        widget = widget.nextInFocusChain()
    places = [
        order.index(part)
        for part in (
            *turn.strip.buttons,
            *(row.text for row in turn.claim_rows),
            window.conversation.box,
            window.viewer.view,
            window.viewer.page_box.label_box,
        )
    ]
    assert places == sorted(places)
    assert QApplication.focusWidget() is None or window.isAncestorOf(QApplication.focusWidget())
