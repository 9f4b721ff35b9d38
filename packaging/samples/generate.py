"""Writes the sample documents: `python packaging/samples/generate.py [FOLDER]`.

Without a folder they go where the program looks for them, resources/samples/documents. The same sources give the
same files again; the tests compare. Needs reportlab, one of the development tools.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from documents import TEXTS, text_of, write_amendment, write_handbook, write_lease, write_letter, write_report
from gateway_log import gateway_log
from scan import scan

DOCUMENTS = Path(__file__).resolve().parents[2] / "resources" / "samples" / "documents"


def generate(folder: Path) -> None:
    """Writes every sample document into `folder`, which is made if need be."""
    folder.mkdir(parents=True, exist_ok=True)
    write_handbook(folder / "staff-handbook.pdf")
    write_lease(folder / "lease-unit-7.pdf")
    write_amendment(folder / "lease-amendment-2024.pdf")
    write_report(folder / "quarterly-report-2025-q2.pdf")
    with tempfile.TemporaryDirectory() as scratch:
        letter = Path(scratch) / "letter.pdf"
        write_letter(letter)
        scan(letter, folder / "letter-managing-agents-scan.pdf", "Scan of 10 July 2025", "2025-07-10")
    write_text(folder / "operations-meeting-notes.md", text_of("operations-meeting-notes.md"))
    write_text(folder / "gateway-log-2025-06.txt", gateway_log(TEXTS / "gateway_events.txt"))


def write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    generate(Path(sys.argv[1]) if len(sys.argv) > 1 else DOCUMENTS)
