"""The library: a tree of folders and files with their states, what needs the person, adding and removing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QLocale, QModelIndex, Qt, Signal
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QMessageBox,
    QToolButton,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from pincite.gui.bridge import Bridge, Job, Lane
from pincite.gui.buttons import tool_button
from pincite.gui.evidence import Evidence
from pincite.gui.labels import TextLabel
from pincite.gui.ledger_model import LedgerModel
from pincite.gui.ledger_tree import LedgerTree, Node, summary_parts, tree_of
from pincite.gui.style import Tones, icon, icon_size

if TYPE_CHECKING:
    from pincite.library import Library


class LibraryPane(QWidget):
    """Shows the ledger. What it asks for is done elsewhere."""

    add_asked = Signal(list)  # of Path
    remove_asked = Signal(object)  # a Path
    opened = Signal(object)  # Evidence
    ledger_failed = Signal(object)  # a Failure
    filled = Signal(bool)  # whether the library has any folders

    def __init__(self, bridge: Bridge, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._job: Job | None = None
        self._again = False
        self._expanded_once = False
        self.model = LedgerModel(self)
        self.add_folder = self._action(self.tr("&Add folder…"), "Ctrl+O", self._choose_folder)
        self.add_files = self._action(self.tr("Add &files…"), "Ctrl+Shift+O", self._choose_files)
        self.remove = self._action(self.tr("&Remove…"), "", self._confirm_removal)
        self.remove.setShortcut(QKeySequence(QKeySequence.StandardKey.Delete))
        self.remove.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        self.addAction(self.remove)
        self.setObjectName("library")
        self._build()
        self._select()

    # --- what is shown ---

    def refresh(self) -> None:
        """Look at the ledger again; looks that would overlap become one."""
        if self._job is not None:
            self._again = True
            return
        only_needing = self.needing_box.isChecked()
        self._job = self._bridge.submit(
            Lane.SHORT, lambda library, _task: _tree(library, only_needing), self.tr("looking at the library")
        )
        self._job.result.connect(self._show)
        self._job.failed.connect(self.ledger_failed)
        self._job.ended.connect(self._next)

    def _next(self) -> None:
        self._job = None
        if self._again:
            self._again = False
            self.refresh()

    def _show(self, tree: LedgerTree) -> None:
        open_paths, chosen, scrolled = self._open_paths(), self._chosen(), self.tree.verticalScrollBar().value()
        if self.model.show(tree):
            for path in open_paths:
                self.tree.expand(self.model.index_of(path))
            if not self._expanded_once or self.needing_box.isChecked():
                self.tree.expandToDepth(2 if self.needing_box.isChecked() else 0)
                self._expanded_once = len(tree.nodes) > 1
            if chosen is not None:
                self.tree.setCurrentIndex(self.model.index_of(chosen.path))
            self.tree.verticalScrollBar().setValue(scrolled)
        locale = QLocale()
        parts = [f"{locale.toString(count)} {state.value}" for state, count in summary_parts(tree.counts)]
        self.summary.setText(" · ".join(parts) or self.tr("No files yet"))
        self.needing_box.setText(self.tr("&Needs you ({n})").format(n=tree.needing))
        self._select()
        self.filled.emit(bool(tree.counts) or len(tree.nodes) > 1)

    def _open_paths(self) -> list[str]:
        nodes = self.model.tree.nodes
        folders = [position for position, node in enumerate(nodes) if position and node.entry is None]
        return [nodes[at].path for at in folders if self.tree.isExpanded(self.model.index_at(at))]

    def _chosen(self) -> Node | None:
        return self.model.node(self.tree.currentIndex())

    def _select(self) -> None:
        node = self._chosen()
        self.remove.setEnabled(node is not None and node.watched)
        self.detail.setVisible(node is not None)
        if node is not None:
            self.detail.setText(f"{node.name}\n{self.model.describe(node)}")

    # --- what can be done ---

    def _open(self, index: QModelIndex) -> None:
        node = self.model.node(index)
        if node is not None and node.entry is not None and node.entry.document:
            self.opened.emit(Evidence(node.entry.document, node.name, node.path))

    def _choose_folder(self) -> None:
        chosen = QFileDialog.getExistingDirectory(self, self.tr("Choose a folder to read"))
        if chosen:
            self.add_asked.emit([Path(chosen)])

    def _choose_files(self) -> None:
        chosen, _kind = QFileDialog.getOpenFileNames(self, self.tr("Choose files to read"))
        if chosen:
            self.add_asked.emit([Path(name) for name in chosen])

    def _confirm_removal(self) -> None:
        node = self._chosen()
        if node is None or not node.watched:
            return
        path = Path(node.path)
        question = QMessageBox(self)
        question.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        question.setTextFormat(Qt.TextFormat.PlainText)
        question.setWindowTitle(self.tr("Remove from library"))
        question.setText(self.tr("Stop reading “{name}” and erase what was read from it?").format(name=node.name))
        question.setInformativeText(self.tr("The files themselves are not touched."))
        remove = question.addButton(self.tr("&Remove"), QMessageBox.ButtonRole.DestructiveRole)
        question.addButton(QMessageBox.StandardButton.Cancel)
        remove.clicked.connect(lambda: self.remove_asked.emit(path))
        question.open()

    # --- building ---

    def restyle(self, tones: Tones) -> None:
        """Take on colours."""
        self.model.restyle(tones)
        for action, name in ((self.add_folder, "add-folder"), (self.add_files, "add-file"), (self.remove, "remove")):
            action.setIcon(icon(name, tones.text))

    def _action(self, text: str, shortcut: str, slot: object) -> QAction:
        action = QAction(text, self)
        action.setShortcut(shortcut)
        action.triggered.connect(slot)
        plain = text.replace("&", "")
        action.setToolTip(f"{plain} ({shortcut})" if shortcut else plain)
        return action

    def _build(self) -> None:
        heading = TextLabel(self.tr("Library"), "title")
        self.tree = QTreeView(self)
        self.tree.setModel(self.model)
        self.tree.setHeaderHidden(True)
        self.tree.setUniformRowHeights(True)
        self.tree.setIconSize(icon_size())
        self.tree.setIndentation(16)
        self.tree.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.tree.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.tree.setAccessibleName(self.tr("Folders and files"))
        self.tree.activated.connect(self._open)
        self.tree.selectionModel().currentChanged.connect(self._select)
        self.model.modelReset.connect(self._select)
        self.needing_box = QToolButton(self)
        self.needing_box.setCheckable(True)
        self.needing_box.setProperty("look", "filter")
        self.needing_box.setText(self.tr("&Needs you ({n})").format(n=0))
        self.needing_box.setAccessibleName(self.tr("Show only what needs you"))
        self.needing_box.setToolTip(self.tr("Show only files that failed, need a password or should be reviewed"))
        self.needing_box.toggled.connect(self.refresh)
        self.detail = TextLabel(look="detail", parent=self)
        self.summary = TextLabel(self.tr("No files yet"), "quiet", self)
        head = QHBoxLayout()
        head.setContentsMargins(14, 10, 8, 4)
        head.setSpacing(0)
        head.addWidget(heading, 1)
        for action in (self.add_folder, self.add_files, self.remove):
            head.addWidget(tool_button(action, self))
        foot_area = QFrame(self)
        foot_area.setObjectName("library_foot")
        foot = QVBoxLayout(foot_area)
        foot.setContentsMargins(14, 8, 14, 10)
        foot.setSpacing(6)
        foot.addWidget(self.detail)
        foot.addWidget(self.needing_box, 0, Qt.AlignmentFlag.AlignLeft)
        foot.addWidget(self.summary)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(self.tree, 1)
        column.addWidget(foot_area)


def _tree(library: Library, only_needing: bool) -> LedgerTree:
    return tree_of(library.ledger(), only_needing)
