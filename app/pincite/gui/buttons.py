"""The buttons of the bars."""

from __future__ import annotations

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QToolButton, QWidget

from pincite.gui.style import icon_size


def tool_button(action: QAction, parent: QWidget) -> QToolButton:
    """A flat button for `action`, reached with Tab and named after it."""
    button = QToolButton(parent)
    button.setDefaultAction(action)
    button.setAutoRaise(True)
    button.setIconSize(icon_size())
    button.setAccessibleName(action.text().replace("&", ""))
    return button
