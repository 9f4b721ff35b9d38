"""Stop 5 of the walk: one front (`Index`), two stores.

`catalog` and `keyword` are SQLite, the truth; `vectors` is Chroma, which holds only ids, vectors and filter fields
and can be rebuilt from the catalogue at any time.
"""

from pincite.index.documents import Reading
from pincite.index.front import Index

__all__ = ["Index", "Reading"]
