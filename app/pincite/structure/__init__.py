"""Stop 3 of the walk: lines of words → blocks in reading order. Pure.

Running headers and footers are set apart (`furniture`), lines are brought into reading order (`order`), each line
is given a role (`roles`), and lines are joined into blocks (`assemble`), with words divided at their ends made whole
(`line_ends`). A file that states its structure is believed; only what it does not state is inferred.
"""

from pincite.structure.assemble import structured

__all__ = ["structured"]
