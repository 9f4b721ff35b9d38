"""The bars of the viewer: which region, which page, how large. They show and ask; the pane does it."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QSizePolicy, QWidget

from pincite.model import PageSize

PAGE_BOX_CHARACTERS = 6


class PageBox(QWidget):
    """The page's printed label, to read and to type, with its sheet: "p. [xii] (sheet 14 of 30)"."""

    page_asked = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._sizes: tuple[PageSize, ...] = ()
        self._number = 0
        self.label_box = QLineEdit(self)
        self.label_box.setAccessibleName(self.tr("Page number"))
        self.label_box.setToolTip(self.tr("Type a printed page label or a sheet number and press Enter"))
        self.label_box.setFixedWidth(self.label_box.fontMetrics().horizontalAdvance("0") * PAGE_BOX_CHARACTERS + 14)
        self.label_box.setAcceptDrops(False)
        self.label_box.returnPressed.connect(self._ask)
        self.label_box.editingFinished.connect(self._show_label)
        self.sheet = QLabel(self)
        before = QLabel(self.tr("p."), self)
        before.setBuddy(self.label_box)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(5)
        for part in (before, self.label_box, self.sheet):
            row.addWidget(part)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def show_page(self, sizes: tuple[PageSize, ...], number: int) -> None:
        """Show that page `number` of the pages `sizes` is in view; 0 for none."""
        self._sizes, self._number = sizes, number
        self.setEnabled(number > 0)
        self._show_label()
        if not number:
            self.sheet.setText("")
        elif self._label() == str(number):
            self.sheet.setText(self.tr("of {count}").format(count=len(sizes)))
        else:
            self.sheet.setText(self.tr("(sheet {number} of {count})").format(number=number, count=len(sizes)))

    def _label(self) -> str:
        return self._sizes[self._number - 1].label or str(self._number) if self._number else ""

    def _show_label(self) -> None:
        self.label_box.setText(self._label())

    def _ask(self) -> None:
        number = page_named(self.label_box.text(), self._sizes)
        self._show_label()
        self.label_box.selectAll()
        if number:
            self.page_asked.emit(number)


def page_named(typed: str, sizes: tuple[PageSize, ...]) -> int:
    """The page whose label is `typed`, else the sheet of that number, else 0."""
    typed = typed.strip().casefold()
    for size in sizes:
        if typed and typed == size.label.casefold():
            return size.number
    return int(typed) if typed.isdecimal() and 1 <= int(typed) <= len(sizes) else 0


class ViewerActions:
    """What can be done in the viewer, as actions with shortcuts for bars and menus."""

    def __init__(self, owner: QWidget) -> None:
        def made(text: str, *shortcuts: str) -> QAction:
            action = QAction(text, owner)
            action.setShortcuts([QKeySequence(keys) for keys in shortcuts])
            action.setToolTip(f"{text.replace('&', '')} ({action.shortcut().toString()})")
            return action

        self.previous_region = made(owner.tr("&Previous region"), "Shift+F3")
        self.next_region = made(owner.tr("&Next region"), "F3")
        self.previous_page = made(owner.tr("Page &back"), "Ctrl+PgUp")
        self.next_page = made(owner.tr("Page &forward"), "Ctrl+PgDown")
        self.go_to_page = made(owner.tr("&Go to page"), "Ctrl+G")
        self.zoom_out = made(owner.tr("Zoom &out"), "Ctrl+-")
        self.zoom_in = made(owner.tr("Zoom &in"), "Ctrl++", "Ctrl+=")
        self.fit_width = made(owner.tr("Fit &width"), "Ctrl+0")

    def all(self) -> list[QAction]:
        """In the order of the menu."""
        return [
            self.next_region,
            self.previous_region,
            self.next_page,
            self.previous_page,
            self.go_to_page,
            self.zoom_in,
            self.zoom_out,
            self.fit_width,
        ]

    def icons(self) -> dict[QAction, str]:
        """The name of each action's icon."""
        return {
            self.previous_region: "previous",
            self.next_region: "next",
            self.previous_page: "page-up",
            self.next_page: "page-down",
            self.zoom_out: "zoom-out",
            self.zoom_in: "zoom-in",
            self.fit_width: "fit-width",
        }
