"""Stop 2 of the walk: path → pages of words with boxes, and page pictures.

`Reader` is what the rest of the program sees. It talks to a limited child process (`child`), which alone imports
PyMuPDF and parses documents: `files` opens them, one module per format turns them into pages (`pdf`; `markdown` and
`plain` over `layout`), `pictures` paints, `wire` carries pages across and checks them on arrival.
"""

from pincite.extract.formats import supported
from pincite.extract.reader import ReadDocument, Reader

__all__ = ["ReadDocument", "Reader", "supported"]
