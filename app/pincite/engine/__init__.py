"""The only owner of models: embed, rerank, count tokens, generate. They live in one child process.

`Engine` is what the rest of the application holds; importing it loads no model library. `server` is the child.
"""

from pincite.engine.client import Engine
from pincite.engine.protocol import GenerationStats
from pincite.engine.tokens import TokenCounter, token_counter

__all__ = ["Engine", "GenerationStats", "TokenCounter", "token_counter"]
