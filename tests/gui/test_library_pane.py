"""The library: the tree over the ledger, what needs the person, adding and removing."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QModelIndex, QPoint, Qt
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QMessageBox, QWidget
from pytestqt.qtbot import QtBot

from pincite.gui.ledger_tree import tree_of
from pincite.gui.window import MainWindow
from pincite.model import FileState, Folder, Ledger, LedgerEntry
from tests.fakes import FakeLibrary
from tests.gui.conftest import OpenWindow
from tests.gui.material import HANDBOOK

ROOT = os.path.join(os.sep, "documents")
AWAY = os.path.join(os.sep, "away")
SINGLE = os.path.join(os.sep, "desk", "note.md")


def entry(*parts: str, state: FileState = FileState.READ, reason: str = "", document: str = "") -> LedgerEntry:
    return LedgerEntry(os.path.join(ROOT, *parts), ROOT, state, reason, document=document, pages=3)


LEDGER = Ledger(
    (Folder(ROOT, online=True), Folder(AWAY, online=False), Folder(SINGLE, online=True)),
    (
        entry("handbook.pdf", document="handbook"),
        entry("HR", "2025", "scan.pdf", state=FileState.PARTLY, reason="Two pages are <scans>."),
        entry("HR", "Leave.pdf"),
        entry("locked.pdf", state=FileState.PASSWORD, reason="It is locked with a password."),
        entry("sheet.xlsx", state=FileState.UNSUPPORTED, reason="Nothing here reads it."),
        LedgerEntry(os.path.join(AWAY, "old.pdf"), AWAY, FileState.OFFLINE, "The folder cannot be reached."),
        LedgerEntry(SINGLE, SINGLE, FileState.READ, "", document="note"),
    ),
)


@pytest.fixture
def library() -> FakeLibrary:
    return FakeLibrary([HANDBOOK], ledger=LEDGER)


@pytest.fixture
def window(open_window: OpenWindow, library: FakeLibrary, qtbot: QtBot) -> MainWindow:
    window = open_window(library)
    qtbot.waitUntil(lambda: window.library_pane.model.rowCount() == 3)
    return window


def names(window: MainWindow, parent: QModelIndex = QModelIndex()) -> list[str]:
    model = window.library_pane.model
    return [model.index(row, 0, parent).data() for row in range(model.rowCount(parent))]


def choose(window: MainWindow, *parts: str) -> QModelIndex:
    index = window.library_pane.model.index_of(os.path.join(*parts))
    assert index.isValid()
    window.library_pane.tree.setCurrentIndex(index)
    return index


def test_the_tree_has_folders_before_files_in_any_case_of_letters(window: MainWindow) -> None:
    assert names(window) == ["away", "documents", "note.md"]
    documents = window.library_pane.model.index_of(ROOT)
    assert names(window, documents) == ["HR", "handbook.pdf", "locked.pdf", "sheet.xlsx"]
    assert names(window, window.library_pane.model.index_of(os.path.join(ROOT, "HR"))) == ["2025", "Leave.pdf"]


def test_the_model_keeps_the_rules_of_qt(window: MainWindow, library: FakeLibrary, qtbot: QtBot) -> None:
    model = window.library_pane.model
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Warning)
    model.show(tree_of(Ledger(LEDGER.folders, LEDGER.entries[:3])))
    model.show(tree_of(LEDGER, only_needing=True))
    model.show(tree_of(LEDGER))
    assert tester.model() is model


def test_each_file_says_its_state_and_reason_in_words(window: MainWindow) -> None:
    index = choose(window, ROOT, "HR", "2025", "scan.pdf")
    assert window.library_pane.detail.text() == "scan.pdf\nPartly read, 3 pages. Two pages are <scans>."
    assert "&lt;scans&gt;" in index.data(Qt.ItemDataRole.ToolTipRole)
    assert index.data(Qt.ItemDataRole.AccessibleTextRole).startswith("scan.pdf. Partly read")
    assert not index.data(Qt.ItemDataRole.DecorationRole).isNull()
    choose(window, ROOT)
    assert window.library_pane.detail.text() == "documents\n5 files, 2 need you"
    choose(window, AWAY)
    assert "cannot be reached" in window.library_pane.detail.text()
    assert window.library_pane.summary.text() == (
        "3 read · 1 partly read · 1 needs a password · 1 unsupported · 1 offline"
    )


def test_needs_you_leaves_only_what_needs_the_person(window: MainWindow, qtbot: QtBot) -> None:
    pane = window.library_pane
    assert pane.needing_box.text().endswith("(2)")
    qtbot.mouseClick(pane.needing_box, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: names(window) == ["documents"])
    assert names(window, pane.model.index_of(ROOT)) == ["HR", "locked.pdf"]
    assert names(window, pane.model.index_of(os.path.join(ROOT, "HR"))) == ["2025"]
    assert pane.tree.isExpanded(pane.model.index_of(os.path.join(ROOT, "HR", "2025")))
    qtbot.mouseClick(pane.needing_box, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: len(names(window)) == 3)


def test_a_newer_ledger_keeps_what_was_open_and_chosen(window: MainWindow, library: FakeLibrary, qtbot: QtBot) -> None:
    pane = window.library_pane
    pane.tree.expand(pane.model.index_of(os.path.join(ROOT, "HR")))
    choose(window, ROOT, "HR", "Leave.pdf")
    library.current_ledger = Ledger(LEDGER.folders, (*LEDGER.entries, entry("HR", "Absence.pdf")))
    pane.refresh()
    hr = os.path.join(ROOT, "HR")
    qtbot.waitUntil(lambda: names(window, pane.model.index_of(hr)) == ["2025", "Absence.pdf", "Leave.pdf"])
    assert pane.tree.isExpanded(pane.model.index_of(hr))
    assert pane.tree.currentIndex().data() == "Leave.pdf"


def test_a_changed_state_is_shown_without_starting_over(window: MainWindow, library: FakeLibrary, qtbot: QtBot) -> None:
    index = choose(window, ROOT, "handbook.pdf")
    changed = [entry("handbook.pdf", state=FileState.FAILED, reason="It is damaged."), *LEDGER.entries[1:]]
    library.current_ledger = Ledger(LEDGER.folders, tuple(changed))
    resets: list[bool] = []
    window.library_pane.model.modelReset.connect(lambda: resets.append(True))
    window.library_pane.refresh()
    qtbot.waitUntil(lambda: "It is damaged." in window.library_pane.detail.text())
    assert resets == []
    assert window.library_pane.tree.currentIndex() == index


def test_opening_a_file_shows_its_first_page(window: MainWindow, qtbot: QtBot) -> None:
    choose(window, ROOT, "handbook.pdf")
    window.library_pane.tree.setFocus()
    qtbot.keyClick(window.library_pane.tree, Qt.Key.Key_Return)
    qtbot.waitUntil(window.viewer.view.isVisible)
    assert window.viewer.page_box.label_box.text() == "i"
    assert window.viewer.region_place.text() == "no region"


def test_only_what_was_added_can_be_removed_and_only_after_asking(
    window: MainWindow, library: FakeLibrary, qtbot: QtBot
) -> None:
    pane = window.library_pane
    choose(window, ROOT, "handbook.pdf")
    assert not pane.remove.isEnabled()
    choose(window, SINGLE)
    assert pane.remove.isEnabled()
    choose(window, ROOT)
    pane.tree.setFocus()
    qtbot.keyClick(pane.tree, Qt.Key.Key_Delete)
    question = shown_question(window)
    assert library.called("remove") == []
    qtbot.mouseClick(question.button(QMessageBox.StandardButton.Cancel), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not question.isVisible())
    assert library.called("remove") == []
    pane.remove.trigger()
    question = shown_question(window)
    remove = next(button for button in question.buttons() if button.text() == "&Remove")
    qtbot.mouseClick(remove, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: library.called("remove") == [Path(ROOT)])


def shown_question(window: MainWindow) -> QMessageBox:
    shown = [box for box in window.findChildren(QMessageBox) if box.isVisible()]
    assert len(shown) == 1
    return shown[0]


def test_delete_in_the_question_box_removes_a_letter_and_nothing_else(window: MainWindow, qtbot: QtBot) -> None:
    choose(window, ROOT)
    box = window.conversation.box
    box.setFocus()
    qtbot.keyClicks(box, "ab")
    qtbot.keyClick(box, Qt.Key.Key_Home)
    qtbot.keyClick(box, Qt.Key.Key_Delete)
    assert box.question() == "b"
    assert window.findChildren(QMessageBox) == []


@pytest.mark.parametrize(
    "target",
    [
        lambda window: window.conversation.box.viewport(),
        lambda window: window.viewer.page_box.label_box,
        lambda window: window.library_pane.tree.viewport(),
        lambda window: window.viewer,
        lambda window: window,
    ],
    ids=["question", "page box", "tree", "viewer", "window"],
)
def test_files_and_folders_are_added_wherever_they_are_dropped(
    window: MainWindow,
    library: FakeLibrary,
    qtbot: QtBot,
    tmp_path: Path,
    drop: Callable[[QWidget, list[Path]], None],
    target: Callable[[MainWindow], QWidget],
) -> None:
    paths = [tmp_path, tmp_path / "file with ö and #.pdf"]
    window.conversation.box.setPlainText("typed")
    drop(target(window), paths)
    qtbot.waitUntil(lambda: library.called("add") == paths)
    qtbot.waitUntil(lambda: library.calls[-1][0] != "add" and len(library.called("update")) >= 2)
    assert window.conversation.box.toPlainText() == "typed"


def test_text_can_still_be_dropped_into_the_question(
    window: MainWindow, library: FakeLibrary, qtbot: QtBot, drop_text: Callable[[QWidget, str, QPoint], None]
) -> None:
    drop_text(window.conversation.box.viewport(), "words", QPoint(2, 2))
    assert window.conversation.box.question() == "words"
    assert library.called("add") == []


def test_a_tree_of_one_hundred_folders_deep_and_an_unlisted_root() -> None:
    deep = os.path.join(ROOT, *["x"] * 100, "file.pdf")
    tree = tree_of(Ledger((), (LedgerEntry(deep, ROOT, FileState.FAILED, ""),)))
    assert [node.name for node in tree.nodes if node.entry is not None] == ["file.pdf"]
    assert tree.nodes[tree.nodes[0].children[0]].path == ROOT
    assert all(node.needing == 1 for node in tree.nodes[1:])
