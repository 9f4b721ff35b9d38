"""One sentence of an answer with the mark of its verdict and its citations."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QWidget

from pincite.gui.evidence import Evidence, Numbering, of_citation, of_passage, place_of
from pincite.gui.marked_text import escaped, numbers_html, paragraph, streamed_html, tooltip, without_markers
from pincite.gui.style import Tones
from pincite.model import Claim, Verdict

MARKS = {Verdict.SUPPORTED: "●", Verdict.PARTLY: "◐", Verdict.UNSUPPORTED: "○", Verdict.QUOTE: "❝"}
MARK_WIDTH_PX = 24
PREVIEW_CHARACTERS = 400


def verdict_word(verdict: Verdict) -> str:
    """A verdict in words."""

    def tr(text: str) -> str:
        return QCoreApplication.translate("verdict_word", text)

    return {
        Verdict.SUPPORTED: tr("supported"),
        Verdict.PARTLY: tr("partly supported"),
        Verdict.UNSUPPORTED: tr("not in the documents"),
        Verdict.QUOTE: tr("quoted"),
    }[verdict]


class LinkedText(QLabel):
    """Rich text whose links open evidence, by mouse and by keyboard."""

    evidence_chosen = Signal(object)  # Evidence

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._targets: dict[str, tuple[Evidence, str]] = {}
        self.setTextFormat(Qt.TextFormat.RichText)
        self.setWordWrap(True)
        self.setOpenExternalLinks(False)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.LinksAccessibleByMouse
            | Qt.TextInteractionFlag.LinksAccessibleByKeyboard
        )
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        self.setProperty("look", "answer")
        self.linkActivated.connect(self.follow)
        self.linkHovered.connect(self._preview)

    def set_targets(self, targets: dict[str, tuple[Evidence, str]]) -> None:
        """What each link's address opens, and what its preview says."""
        self._targets = targets

    def addresses(self) -> list[str]:
        """The addresses that can be followed."""
        return list(self._targets)

    def follow(self, address: str) -> None:
        """Open what a link stands for."""
        if address in self._targets:
            self.evidence_chosen.emit(self._targets[address][0])

    def _preview(self, address: str) -> None:
        self.setToolTip(tooltip(self._targets[address][1]) if address in self._targets else "")


class ClaimRow(QWidget):
    """A checked sentence: mark, text, superscript numbers; the verdict in words where it is not a plain yes."""

    def __init__(self, claim: Claim, numbering: Numbering, tones: Tones, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.claim = claim
        self._numbers = [(numbering.number(citation), citation) for citation in claim.citations]
        self.mark = QLabel(paragraph(MARKS[claim.verdict]), self)
        self.mark.setTextFormat(Qt.TextFormat.RichText)
        self.mark.setFixedWidth(MARK_WIDTH_PX)
        self.mark.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self.mark.setProperty("look", "mark")
        self.text = LinkedText(self)
        word = verdict_word(claim.verdict)
        self.mark.setToolTip(tooltip(word.capitalize()))
        self.mark.setAccessibleName(word)
        self.text.setAccessibleName(f"{word}: {claim.text}")
        self.text.set_targets(
            {
                f"cite:{at}": (of_citation(citation), f"{citation.pincite}\n“{_shortened(citation.quote)}”")
                for at, (_number, citation) in enumerate(self._numbers)
            }
        )
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.mark, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self.text, 1)
        self.restyle(tones)

    def restyle(self, tones: Tones) -> None:
        """Take on colours."""
        self.mark.setStyleSheet(f"color: {tones.verdict(self.claim.verdict).name()};")
        links = [(number, f"cite:{at}") for at, (number, _citation) in enumerate(self._numbers)]
        body = escaped(without_markers(self.claim.text)) + numbers_html(links, tones.accent.name())
        if self.claim.verdict is Verdict.UNSUPPORTED:
            body = f'<span style="color:{tones.quiet.name()};">{body}</span>'
        if self.claim.verdict in (Verdict.PARTLY, Verdict.UNSUPPORTED):
            colour = tones.verdict(self.claim.verdict).name()
            body += f' <span style="color:{colour}; font-size:small;">({verdict_word(self.claim.verdict)})</span>'
        self.text.setText(paragraph(body))


class StreamRow(QWidget):
    """Text as it is being written: grey, since nothing in it was checked yet."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.written = ""
        self._numbering = Numbering()
        self.text = LinkedText(self)
        self.text.setProperty("look", "unchecked")
        row = QHBoxLayout(self)
        row.setContentsMargins(MARK_WIDTH_PX, 0, 0, 0)
        row.addWidget(self.text)

    def set_sources(self, numbering: Numbering) -> None:
        """The sources that markers in the text refer to."""
        self._numbering = numbering
        self.text.set_targets(
            {
                f"source:{number}": (of_passage(passage), f"{place_of(passage)}\n{_shortened(passage.text)}")
                for number, passage in enumerate(numbering.passages, 1)
            }
        )

    def set_written(self, written: str, tones: Tones) -> None:
        """Show `written`; nothing hides the row."""
        self.written = written
        body = streamed_html(written, len(self._numbering.passages), tones.accent.name())
        self.text.setText(paragraph(body))
        self.text.setAccessibleName(self.tr("Not checked yet: {text}").format(text=without_markers(written)))
        self.setVisible(bool(written.strip()))


def _shortened(text: str) -> str:
    return text if len(text) <= PREVIEW_CHARACTERS else text[: PREVIEW_CHARACTERS - 1].rstrip() + "…"
