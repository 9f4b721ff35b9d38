"""The ledger's tree as a Qt model: rows are looked up when they are drawn, no item objects are made."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QIcon

from pincite.gui.ledger_tree import LedgerTree, Node, tree_of
from pincite.gui.marked_text import tooltip
from pincite.gui.style import Tones, icon
from pincite.model import FileState, Ledger, LedgerEntry

Index = QModelIndex | QPersistentModelIndex
STATE_ICONS = {
    FileState.WAITING: "state-waiting",
    FileState.READ: "state-read",
    FileState.PARTLY: "state-partly",
    FileState.FAILED: "state-failed",
    FileState.PASSWORD: "state-password",
    FileState.REVIEW: "state-review",
    FileState.OFFLINE: "state-offline",
    FileState.UNSUPPORTED: "state-unsupported",
}


class LedgerModel(QAbstractItemModel):
    """One column: names with the icon of their state."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._tree = tree_of(Ledger((), ()))
        self._icons: dict[str, QIcon] = {}

    @property
    def tree(self) -> LedgerTree:
        return self._tree

    def show(self, tree: LedgerTree) -> bool:
        """Take on a newer tree. Returns whether the view had to start over (files came or went)."""
        if tree.same_shape(self._tree):
            self._tree = tree
            for position, node in enumerate(tree.nodes):
                if node.children:
                    parent = self.index_at(position)
                    self.dataChanged.emit(self.index(0, 0, parent), self.index(len(node.children) - 1, 0, parent))
            return False
        self.beginResetModel()
        self._tree = tree
        self.endResetModel()
        return True

    def restyle(self, tones: Tones) -> None:
        """Take on colours."""
        self._icons = {name: icon(name, tones.state(state)) for state, name in STATE_ICONS.items()}
        self._icons |= {name: icon(name, tones.quiet) for name in ("folder", "folder-offline")}
        self._icons["folder-needing"] = icon("folder", tones.warn)
        self.layoutChanged.emit()

    def node(self, index: Index) -> Node | None:
        """The node an index stands for."""
        return self._tree.nodes[index.internalId()] if index.isValid() else None

    def index_at(self, position: int) -> QModelIndex:
        """The index of the node at a position of the tree."""
        return self.createIndex(self._tree.nodes[position].row, 0, position) if position > 0 else QModelIndex()

    def index_of(self, path: str) -> QModelIndex:
        """The index of a path; an invalid one when it is not there."""
        return self.index_at(self._tree.positions.get(path, 0))

    def describe(self, node: Node) -> str:
        """What there is to say of a file or folder, in words."""
        if node.entry is not None:
            return self._describe_file(node.entry)
        if not node.online:
            return self.tr("This folder cannot be reached. What was read of it stays searchable.")
        files = self.tr("1 file") if node.files == 1 else self.tr("{n} files").format(n=node.files)
        needing = self.tr(", {n} need you").format(n=node.needing) if node.needing else ""
        return files + needing

    def _describe_file(self, entry: LedgerEntry) -> str:
        parts = [entry.state.value.capitalize()]
        if entry.pages:
            parts.append(self.tr("1 page") if entry.pages == 1 else self.tr("{n} pages").format(n=entry.pages))
        if entry.ocr_pages:
            parts.append(self.tr("{n} read from pictures").format(n=entry.ocr_pages))
        if entry.review_pages:
            parts.append(self.tr("{n} to review").format(n=entry.review_pages))
        return ", ".join(parts) + (f". {entry.reason}" if entry.reason else ".")

    # --- Qt ---

    def index(self, row: int, column: int, parent: Index = QModelIndex()) -> QModelIndex:  # noqa: B008
        children = self._tree.nodes[parent.internalId() if parent.isValid() else 0].children
        if column == 0 and 0 <= row < len(children):
            return self.createIndex(row, 0, children[row])
        return QModelIndex()

    def parent(self, index: Index = QModelIndex()) -> Any:  # noqa: B008
        node = self.node(index)
        return self.index_at(node.parent) if node is not None else QModelIndex()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return len(self._tree.nodes[parent.internalId() if parent.isValid() else 0].children)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 1

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        node = self.node(index)
        if node is None:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return node.name
        if role == Qt.ItemDataRole.DecorationRole:
            return self._icons.get(_icon_name(node))
        if role == Qt.ItemDataRole.ToolTipRole:
            return tooltip(f"{node.path}\n{self.describe(node)}")
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{node.name}. {self.describe(node)}"
        return None


def _icon_name(node: Node) -> str:
    if node.entry is not None:
        return STATE_ICONS[node.entry.state]
    if not node.online:
        return "folder-offline"
    return "folder-needing" if node.needing else "folder"
