"""The ledger as a tree of folders and files. Pure, so that it can be built on a lane for 100,000 files."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field

from pincite.model import NEEDS_ATTENTION, FileState, Ledger, LedgerEntry

SEPARATORS = os.sep + (os.altsep or "")


@dataclass(slots=True)
class Node:
    """A folder or a file. `parent` and `children` are positions in the tree, `row` the place among siblings."""

    name: str
    path: str
    parent: int
    entry: LedgerEntry | None = None
    watched: bool = False  # added by the person, so it can be removed
    online: bool = True
    row: int = 0
    files: int = 0
    needing: int = 0
    children: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class LedgerTree:
    """All nodes; the first is the invisible root."""

    nodes: tuple[Node, ...]
    positions: dict[str, int]  # of each path among the nodes
    counts: dict[str, int]
    needing: int

    def same_shape(self, other: LedgerTree) -> bool:
        """Whether both have the same nodes in the same places."""
        return len(self.nodes) == len(other.nodes) and all(
            mine.path == its.path and mine.parent == its.parent
            for mine, its in zip(self.nodes, other.nodes, strict=True)
        )


def tree_of(ledger: Ledger, only_needing: bool = False) -> LedgerTree:
    """The ledger's folders with their files, or only files that need the person's attention."""
    nodes = [Node("", "", -1)]
    roots: dict[str, int] = {}
    for folder in ledger.folders:
        roots[folder.path] = _add(nodes, Node(_base(folder.path), folder.path, 0, watched=True, online=folder.online))
    places: dict[str, int] = dict(roots)
    for entry in ledger.entries:
        if only_needing and entry.state not in NEEDS_ATTENTION:
            continue
        if entry.path in roots:  # a file that was added by itself
            nodes[roots[entry.path]].entry = entry
            _count(nodes, roots[entry.path], entry)
            continue
        parent = _folder_of(entry, nodes, places)
        _count(nodes, _add(nodes, Node(_base(entry.path), entry.path, parent, entry)), entry)
    if only_needing:
        nodes[0].children = [child for child in nodes[0].children if nodes[child].files]
    _sort(nodes)
    counts = ledger.counts
    positions = {node.path: position for position, node in enumerate(nodes) if position}
    return LedgerTree(tuple(nodes), positions, counts, sum(counts.get(state.value, 0) for state in NEEDS_ATTENTION))


def _folder_of(entry: LedgerEntry, nodes: list[Node], places: dict[str, int]) -> int:
    """The node of the folder a file lies in, made with those above it where they are new."""
    missing: list[str] = []
    folder = _parent(entry.path)
    while folder not in places and len(folder) > len(entry.folder):
        missing.append(folder)
        folder = _parent(folder)
    if folder not in places:  # its root is not listed: show it by its own
        places[folder] = _add(nodes, Node(_base(folder), folder, 0))
    at = places[folder]
    for path in reversed(missing):
        at = _add(nodes, Node(_base(path), path, at))
        places[path] = at
    return at


def _add(nodes: list[Node], node: Node) -> int:
    nodes.append(node)
    nodes[node.parent].children.append(len(nodes) - 1)
    return len(nodes) - 1


def _count(nodes: list[Node], at: int, entry: LedgerEntry) -> None:
    needs = entry.state in NEEDS_ATTENTION
    while at > 0:
        nodes[at].files += 1
        nodes[at].needing += needs
        at = nodes[at].parent


def _sort(nodes: list[Node]) -> None:
    """Folders before files, then by name without regard to case."""
    for node in nodes:
        node.children.sort(key=lambda child: (nodes[child].entry is not None, nodes[child].name.casefold()))
        for row, child in enumerate(node.children):
            nodes[child].row = row


def _base(path: str) -> str:
    trimmed = path.rstrip(SEPARATORS)
    return trimmed[_cut(trimmed) + 1 :] or path


def _parent(path: str) -> str:
    return path[: max(_cut(path), 0)]


def _cut(path: str) -> int:
    return max(path.rfind(separator) for separator in SEPARATORS)


def summary_parts(counts: dict[str, int]) -> Iterable[tuple[FileState, int]]:
    """The states that occur, in the order a person wants to know them."""
    order = (
        FileState.READ, FileState.WAITING, FileState.PARTLY, FileState.FAILED, FileState.PASSWORD,
        FileState.REVIEW, FileState.UNSUPPORTED, FileState.OFFLINE,
    )  # fmt: skip
    return [(state, counts[state.value]) for state in order if counts.get(state.value)]
