"""The command line starts without what only the window or the models need."""

from __future__ import annotations

import subprocess
import sys

HEAVY = ("PySide6", "torch", "transformers", "sentence_transformers", "llama_cpp", "chromadb", "onnxruntime", "pymupdf")


def test_importing_the_command_line_loads_nothing_heavy() -> None:
    script = f"import sys, pincite.cli; print([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
