"""The window: three panes side by side, a menu, a status bar, and the wires between them."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import (
    QAction,
    QCloseEvent,
    QDragEnterEvent,
    QDropEvent,
    QKeySequence,
    QPaintEvent,
    QPalette,
    QShortcut,
    QShowEvent,
)
from PySide6.QtWidgets import QApplication, QMainWindow, QSplitter, QVBoxLayout, QWidget

from pincite.gui.bridge import Bridge, Failure, Job, Lane
from pincite.gui.conversation import ConversationPane
from pincite.gui.evidence import Evidence
from pincite.gui.library_pane import LibraryPane
from pincite.gui.messages import MessageStrip, ReportDialog, ShortcutsDialog
from pincite.gui.status import StatusBar, engine_sentence
from pincite.gui.style import style_sheet, tones_of
from pincite.gui.updates import Updates
from pincite.gui.viewer.pane import ViewerPane
from pincite.model import EngineStatus

LOOK_EVERY_MS = 2000  # at the engine's state, and at the ledger while it changes
UNSEEN_MS = 3000  # a window that is started minimised is never painted, and opens the library after this
SOURCE_KEYS = range(1, 10)


class MainWindow(QMainWindow):
    """Shows itself first, then opens the library."""

    appeared = Signal()  # painted for the first time

    def __init__(self, bridge: Bridge, samples_dir: Path, add: tuple[Path, ...] = ()) -> None:
        super().__init__()
        self._bridge = bridge
        self._samples_dir = samples_dir
        self._add = add
        self._painted = False
        self._looking: Job | None = None
        self._tones = tones_of(QApplication.palette())
        self.updates = Updates(bridge, self)
        self.message = MessageStrip(self)
        self.library_pane = LibraryPane(bridge, self)
        self.conversation = ConversationPane(bridge, self._tones, self)
        self.viewer = ViewerPane(bridge, self)
        self.status = StatusBar(self)
        self._timer = QTimer(self)
        self._timer.setInterval(LOOK_EVERY_MS)
        self._timer.timeout.connect(self._look)
        self.setWindowTitle(self.tr("Pincite"))
        self.setAcceptDrops(True)
        self._lay_out()
        self._build_menus()
        self._connect()
        self._restyle()
        # Not the window's own change event: its style sheet changes the window's palette too.
        instance = QApplication.instance()
        assert isinstance(instance, QApplication)
        instance.paletteChanged.connect(self._follow_palette)
        self.status.show_blank(self.tr("Opening the library…"))
        self.conversation.box.setFocus()

    # --- opening ---

    def start(self) -> None:
        """Open the library, then read what changed, watch, and warm the model up, all in the background."""
        opening = self._bridge.open(self.tr("opening the library"))
        opening.result.connect(self._opened)
        opening.failed.connect(self._not_opened)

    def _opened(self, _nothing: object) -> None:
        watching = self._bridge.watch(self.tr("watching your folders"))
        watching.failed.connect(self.message.show_failure)
        self._bridge.library_changed.connect(self.updates.request)
        warming = self._bridge.submit(
            Lane.ENGINE, lambda library, _task: library.warm_up(), self.tr("starting the model")
        )
        warming.failed.connect(self.message.show_failure)
        warming.ended.connect(self._look)
        self.status.show_engine(self.tr("starting the model…"))
        self.library_pane.refresh()
        self.updates.add(self._add)
        self.updates.request()
        self._timer.start()

    def _not_opened(self, failure: Failure) -> None:
        self.status.show_blank(self.tr("The library is not open"))
        self.message.show_failure(failure)

    # --- looking now and then ---

    def _look(self) -> None:
        if self._looking is not None:
            return
        self._looking = self._bridge.submit(
            Lane.SHORT,
            lambda library, _task: (library.engine_status(), library.refused_connections()),
            self.tr("looking at the model"),
        )
        self._looking.result.connect(self._show_state)
        self._looking.ended.connect(self._looked)
        if self.updates.updating:
            self.library_pane.refresh()

    def _looked(self) -> None:
        self._looking = None

    def _show_state(self, state: tuple[EngineStatus, int]) -> None:
        self.status.show_engine(engine_sentence(state[0]))
        self.status.show_refused(state[1])

    # --- small wires ---

    def _show_evidence(self, evidence: Evidence) -> None:
        self.viewer.show_evidence(evidence)

    def _show_report(self, failure: Failure) -> None:
        ReportDialog(failure, self).open()

    def _show_shortcuts(self) -> None:
        ShortcutsDialog(self.shortcut_rows(), self).open()

    def _pause_or_resume(self) -> None:
        self.updates.set_paused(not self.updates.paused)

    def _settled(self) -> None:
        if self.updates.paused:
            self.status.show_paused()
        else:
            self.status.show_settled()

    def _open_samples(self) -> None:
        self.updates.add([self._samples_dir])

    def shortcut_rows(self) -> list[tuple[str, str]]:
        """Every shortcut with what it does."""
        rows = [
            (self.tr("Enter"), self.tr("Ask the question")),
            (self.tr("Shift+Enter"), self.tr("New line in the question")),
            (self.tr("Up, Down"), self.tr("Earlier questions")),
        ]
        for action in self.findChildren(QAction):
            if not action.shortcut().isEmpty():
                keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
                rows.append((keys, action.text().replace("&", "").rstrip("…")))
        rows.append((self.tr("Ctrl+1 … Ctrl+9"), self.tr("Open a source of the last answer")))
        rows.append((self.tr("Ctrl+wheel"), self.tr("Zoom the page")))
        return rows

    # --- building ---

    def _lay_out(self) -> None:
        self.splitter = QSplitter(Qt.Orientation.Horizontal, self)
        self.splitter.setHandleWidth(1)
        for pane in (self.library_pane, self.conversation, self.viewer):
            pane.setMinimumWidth(180)
            self.splitter.addWidget(pane)
            self.splitter.setCollapsible(self.splitter.count() - 1, pane is not self.conversation)
            self.splitter.setStretchFactor(self.splitter.count() - 1, 0 if pane is self.library_pane else 1)
        self.splitter.setSizes([230, 560, 560])
        inside = QWidget(self)
        column = QVBoxLayout(inside)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.message)
        column.addWidget(self.splitter, 1)
        column.addWidget(self.status)
        self.setCentralWidget(inside)
        self.resize(1360, 860)

    def _build_menus(self) -> None:
        quit_action = QAction(self.tr("&Quit"), self)
        quit_action.setShortcut(QKeySequence.StandardKey.Quit)
        quit_action.triggered.connect(self.close)
        focus_action = QAction(self.tr("&New question"), self)
        focus_action.setShortcut("Ctrl+L")
        focus_action.triggered.connect(self.conversation.box.setFocus)
        help_action = QAction(self.tr("&Keyboard shortcuts"), self)
        help_action.setShortcut("F1")
        help_action.triggered.connect(self._show_shortcuts)
        library, pane = self.menuBar().addMenu(self.tr("&Library")), self.library_pane
        library.addActions([pane.add_folder, pane.add_files, pane.remove])
        library.addSeparator()
        library.addActions([self.status.pause_action, quit_action])
        asking = self.menuBar().addMenu(self.tr("&Question"))
        asking.addActions([focus_action, self.conversation.ask_action, self.conversation.stop_action])
        self.menuBar().addMenu(self.tr("&Page")).addActions(self.viewer.actions_of_viewer.all())
        self.menuBar().addMenu(self.tr("&Help")).addAction(help_action)

    def _connect(self) -> None:
        pane, conversation, updates = self.library_pane, self.conversation, self.updates
        pane.add_asked.connect(updates.add)
        pane.remove_asked.connect(updates.remove)
        pane.opened.connect(self._show_evidence)
        pane.ledger_failed.connect(self.message.show_failure)
        pane.filled.connect(conversation.show_welcome)
        conversation.evidence_chosen.connect(self._show_evidence)
        conversation.report_asked.connect(self._show_report)
        conversation.folder_asked.connect(pane.add_folder.trigger)
        conversation.samples_asked.connect(self._open_samples)
        conversation.answering.connect(self._look_after_answer)
        updates.started.connect(self.status.show_starting)
        updates.progressed.connect(self.status.show_progress)
        updates.settled.connect(self._settled)
        updates.changed.connect(pane.refresh)
        updates.noted.connect(self.message.show_note)
        updates.failed.connect(self.message.show_failure)
        self.status.pause_action.triggered.connect(self._pause_or_resume)
        updates.paused_changed.connect(self.status.set_paused)
        self.message.report_asked.connect(self._show_report)
        for number in SOURCE_KEYS:
            shortcut = QShortcut(QKeySequence(f"Ctrl+{number}"), self)
            shortcut.activated.connect(lambda number=number: conversation.open_source(number))

    def _look_after_answer(self, answering: bool) -> None:
        if not answering and self._timer.isActive():
            self._look()

    def _follow_palette(self, palette: QPalette) -> None:
        tones = tones_of(palette)
        if tones != self._tones:
            self._tones = tones
            self._restyle()

    def _restyle(self) -> None:
        self.setStyleSheet(style_sheet(self._tones, QApplication.font()))
        for part in (self.message, self.library_pane, self.conversation, self.viewer, self.status):
            part.restyle(self._tones)

    # --- Qt ---

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        QTimer.singleShot(UNSEEN_MS, self, self._appear)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self._painted:
            QTimer.singleShot(0, self, self._appear)  # after this frame is on the screen

    def _appear(self) -> None:
        if not self._painted:
            self._painted = True
            self.appeared.emit()
            self.start()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if any(url.isLocalFile() for url in event.mimeData().urls()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        paths = [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]
        event.acceptProposedAction()
        self.updates.add(paths)

    def closeEvent(self, event: QCloseEvent) -> None:
        self._timer.stop()
        self.hide()  # at once; ending what runs may take a moment
        self._bridge.close()
        super().closeEvent(event)
