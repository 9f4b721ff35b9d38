"""Stops 6 to 8 of the walk: `search` for passages, `ask` for an answer, each one straight function.

Every stage fails soft and says so: no reranker leaves the fused order, no vectors leave the keyword leg, no language
model leaves quotes.
"""

from pincite.ask.answering import ASK_MODES, ask
from pincite.ask.searching import SEARCH_MODES, search
from pincite.ask.tools import MAX_QUESTION_CHARS, Tools, load_prompt

__all__ = ["ASK_MODES", "MAX_QUESTION_CHARS", "SEARCH_MODES", "Tools", "ask", "load_prompt", "search"]
