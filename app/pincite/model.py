"""The nouns every stage takes and returns. All are frozen values.

Coordinates are defined here and nowhere else: a `Box` is in PDF points (1/72 inch) with the origin at the top left
of the page *as the reader sees it*, rotation and crop box applied; x grows to the right, y grows downwards. Pages
count from 1. The printed page label ("xii") is a separate field. `extract` converts into these coordinates, the
viewer converts out of them, nobody else converts.

Text is made of words. The words of a page are stored in reading order, and every text Pincite shows, searches or
sends to a model is a run of words (`Span`), so that each of its characters leads back to a place on a page.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle on a page, in points from the top left of the page as displayed."""

    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def width(self) -> float:
        return self.x1 - self.x0

    @property
    def height(self) -> float:
        return self.y1 - self.y0

    def union(self, other: Box) -> Box:
        """The smallest box that holds both."""
        return Box(min(self.x0, other.x0), min(self.y0, other.y0), max(self.x1, other.x1), max(self.y1, other.y1))

    def overlap_height(self, other: Box) -> float:
        """How many points of height both boxes share (0 when they share none)."""
        return max(0.0, min(self.y1, other.y1) - max(self.y0, other.y0))

    def covers(self, other: Box, tolerance_pt: float = 1.0) -> bool:
        """Whether `other` lies inside this box, give or take `tolerance_pt`."""
        return (
            self.x0 - tolerance_pt <= other.x0
            and self.y0 - tolerance_pt <= other.y0
            and self.x1 + tolerance_pt >= other.x1
            and self.y1 + tolerance_pt >= other.y1
        )


def union_of(boxes: Iterable[Box]) -> Box:
    """The smallest box that holds all of `boxes`, of which there must be at least one."""
    listed = list(boxes)
    return Box(
        min(box.x0 for box in listed),
        min(box.y0 for box in listed),
        max(box.x1 for box in listed),
        max(box.y1 for box in listed),
    )


@dataclass(frozen=True, slots=True)
class Word:
    """A word as printed, with its place.

    `after` is what separates it from the next word when the text is read (" ", a line break, " | " between the
    cells of a table row, or nothing). `joined` marks the first half of a word that was hyphenated at a line end:
    reading drops the hyphen and goes straight on, while both halves keep their own boxes.
    """

    text: str
    box: Box
    after: str = " "
    joined: bool = False


def reading_text(words: Sequence[Word]) -> str:
    """The words as one text, without white space at its ends."""
    return "".join(read_word(word) for word in words).rstrip()


def read_word(word: Word) -> str:
    """A word and what follows it, as reading_text shows them."""
    return word.text[:-1] if word.joined else word.text + word.after


class BlockKind(StrEnum):
    """What a block of words is on its page."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST_ITEM = "list_item"
    TABLE = "table"
    CAPTION = "caption"
    CODE = "code"
    FOOTNOTE = "footnote"
    FURNITURE = "furniture"  # running headers and footers, page numbers: kept, but in no chunk


@dataclass(frozen=True, slots=True)
class Line:
    """A printed line as a reader found it, before structure is known.

    `group` numbers the reader's own grouping of lines on the page (lines of one paragraph, rows of one table).
    `kind`, `level` and `row` are set only where the file itself states them, or where a ruled table was found:
    `row` counts the rows of a table from 0, and `header_row` marks those that head its columns.
    """

    words: tuple[Word, ...]
    size_pt: float
    bold: bool = False
    mono: bool = False
    group: int = 0
    kind: BlockKind | None = None
    level: int = 0
    row: int | None = None
    header_row: bool = False

    @property
    def box(self) -> Box:
        return union_of(word.box for word in self.words)

    @property
    def text(self) -> str:
        return reading_text(self.words)


@dataclass(frozen=True, slots=True)
class ReadPage:
    """One page as a reader returns it: lines in the file's own order, structure still to be found."""

    number: int
    label: str
    width: float
    height: float
    lines: tuple[Line, ...]
    picture_share: float = 0.0  # share of the page covered by its pictures, 0 to 1: a scan has much of it


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """One line of a document's own table of contents: `level` from 1, `page` from 1."""

    level: int
    title: str
    page: int


@dataclass(frozen=True, slots=True)
class Metadata:
    """What a file says of itself. Dates are ISO 8601 or empty."""

    format: str
    title: str = ""
    author: str = ""
    created: str = ""
    modified: str = ""
    outline: tuple[OutlineEntry, ...] = ()


@dataclass(frozen=True, slots=True)
class Span:
    """Words `first` up to, not including, `end` of page `page`."""

    page: int
    first: int
    end: int


@dataclass(frozen=True, slots=True)
class Block:
    """A heading, paragraph, list item, table …: runs of words in reading order.

    `level` is 1 to 6 for headings, else 0. `number` is the printed number that begins it ("7.2", "(a)"), or "".
    A table lists its rows (each row's runs in order); the first `header_rows` of them head its columns.
    """

    kind: BlockKind
    spans: tuple[Span, ...]
    level: int = 0
    number: str = ""
    rows: tuple[tuple[Span, ...], ...] = ()
    header_rows: int = 0


@dataclass(frozen=True, slots=True)
class Page:
    """A page with its words in reading order."""

    number: int
    label: str
    width: float
    height: float
    words: tuple[Word, ...]

    @property
    def shown_label(self) -> str:
        """The printed label where there is one, else the page's number."""
        return self.label or str(self.number)


@dataclass(frozen=True, slots=True)
class Document:
    """A file in normal form."""

    metadata: Metadata
    pages: tuple[Page, ...]
    blocks: tuple[Block, ...]

    def words_in(self, spans: Iterable[Span]) -> list[Word]:
        """The words of `spans`, in that order."""
        return [word for span in spans for word in self.pages[span.page - 1].words[span.first : span.end]]


@dataclass(frozen=True, slots=True)
class Chunk:
    """A unit of search ("child"), never cut inside a sentence unless one sentence is longer than the limit.

    `context` (title and heading path) is indexed and embedded before `text`, and is not part of it. `parent` is
    the ordinal of the section that is read in its stead.
    """

    id: str
    ordinal: int
    parent: int
    kind: BlockKind
    heading_path: tuple[str, ...]
    context: str
    text: str
    spans: tuple[Span, ...]
    tokens: int
    text_hash: str


@dataclass(frozen=True, slots=True)
class Section:
    """A unit of reading ("parent"): the section or clause around a chunk."""

    ordinal: int
    heading_path: tuple[str, ...]
    text: str
    spans: tuple[Span, ...]
    tokens: int


@dataclass(frozen=True, slots=True)
class Region:
    """Boxes on one page, one for each line they cover."""

    page: int
    label: str
    boxes: tuple[Box, ...]


@dataclass(frozen=True, slots=True)
class Scores:
    """Where a passage stood in each leg of a search (ranks from 1; None: not found by that leg)."""

    lexical_rank: int | None = None
    dense_rank: int | None = None
    fused: float = 0.0
    rerank: float | None = None


@dataclass(frozen=True, slots=True)
class DuplicatePlace:
    """Another place where the same text stands."""

    document: str
    page: int


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk as search returns it: text with its words, places and scores."""

    chunk: str
    document: str
    title: str
    path: str
    kind: BlockKind
    heading_path: tuple[str, ...]
    text: str
    spans: tuple[Span, ...]
    words: tuple[Word, ...]  # the words of `spans` in order: reading_text(words) == text
    regions: tuple[Region, ...]
    scores: Scores
    modified: str
    duplicates: tuple[DuplicatePlace, ...] = ()


class Verdict(StrEnum):
    """Whether what a claim cites supports it. Always computed, never assumed."""

    SUPPORTED = "supported"
    PARTLY = "partly"
    UNSUPPORTED = "unsupported"
    QUOTE = "quote"


class AnswerVerdict(StrEnum):
    """What became of a question."""

    ANSWERED = "answered"
    PARTLY = "partly"
    NOT_FOUND = "not_found"
    LISTED = "listed"


@dataclass(frozen=True, slots=True)
class Citation:
    """The words that support a claim, and where they stand."""

    document: str
    title: str
    path: str
    quote: str
    regions: tuple[Region, ...]
    pincite: str


@dataclass(frozen=True, slots=True)
class Claim:
    """One sentence of an answer with what it rests on. `score` is 0 to 1."""

    text: str
    verdict: Verdict
    score: float
    citations: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class NotSearched:
    """A file that an answer could not look at, and why."""

    path: str
    state: str
    reason: str


@dataclass(frozen=True, slots=True)
class Stage:
    """What one stage of a search took in, let out and cost. `note` says what went wrong or was left out."""

    name: str
    ms: float
    received: int
    returned: int
    note: str = ""


@dataclass(frozen=True, slots=True)
class Filters:
    """What a search is limited to; empty means no limit. Dates are ISO, compared with the file's modification date."""

    folder: str = ""
    document: str = ""
    type: str = ""
    after: str = ""
    before: str = ""

    def __bool__(self) -> bool:
        return any((self.folder, self.document, self.type, self.after, self.before))


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The passages for a query, best first, and how they were found."""

    query: str
    filters: Filters
    results: tuple[Passage, ...]
    stages: tuple[Stage, ...]
    not_searched: tuple[NotSearched, ...]
    total_ms: float
    rewritten: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """The outcome of a question."""

    question: str
    verdict: AnswerVerdict
    text: str
    mode: str
    claims: tuple[Claim, ...]
    nearest: tuple[Passage, ...]
    passages: tuple[Passage, ...]
    not_searched: tuple[NotSearched, ...]
    model: str
    trace: str
    timings_ms: dict[str, float] = field(default_factory=dict)
    tokens: dict[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    rewritten: str | None = None


class FileState(StrEnum):
    """Where a file stands in the ledger."""

    WAITING = "waiting"
    READ = "read"
    PARTLY = "partly read"
    FAILED = "failed"
    PASSWORD = "needs a password"
    REVIEW = "needs review"
    OFFLINE = "offline"
    UNSUPPORTED = "unsupported"
    FORGOTTEN = "forgotten"


NEEDS_ATTENTION = frozenset({FileState.PARTLY, FileState.FAILED, FileState.PASSWORD, FileState.REVIEW})


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """One file and exactly what was read of it. `document` is "" until it was read."""

    path: str
    folder: str
    state: FileState
    reason: str
    document: str = ""
    pages: int = 0
    ocr_pages: int = 0
    review_pages: int = 0
    modified: str = ""


@dataclass(frozen=True, slots=True)
class Folder:
    """A watched folder (or a single added file). It is offline while it cannot be reached."""

    path: str
    online: bool


@dataclass(frozen=True, slots=True)
class Ledger:
    """Every watched folder and file with its state."""

    folders: tuple[Folder, ...]
    entries: tuple[LedgerEntry, ...]
    chunks: int = 0
    chunks_without_vectors: int = 0

    @property
    def counts(self) -> dict[str, int]:
        """How many files are in each state that occurs."""
        counts: dict[str, int] = {}
        for entry in self.entries:
            counts[entry.state.value] = counts.get(entry.state.value, 0) + 1
        return counts


@dataclass(frozen=True, slots=True)
class DocumentInfo:
    """What the catalogue knows of a document without its words."""

    id: str
    title: str
    path: str
    format: str
    pages: int
    modified: str
    generation: str


@dataclass(frozen=True, slots=True)
class Picture:
    """A rendered page as PNG, `width_px` by `height_px` pixels."""

    png: bytes
    width_px: int
    height_px: int


@dataclass(frozen=True, slots=True)
class SourcesFound:
    """Asking, event 1: the passages the answer may cite, in the order they are numbered (from 1)."""

    passages: tuple[Passage, ...]
    not_searched: tuple[NotSearched, ...]


@dataclass(frozen=True, slots=True)
class TextAdded:
    """Asking, many times: more of the answer's text, as it is written. Citations appear in it as [1]."""

    text: str


@dataclass(frozen=True, slots=True)
class ClaimChecked:
    """Asking, once for each sentence as it is complete: its verdict and citations. `index` counts from 0."""

    index: int
    claim: Claim


@dataclass(frozen=True, slots=True)
class Answered:
    """Asking, last: the outcome. Its claims replace whatever was streamed."""

    answer: Answer


AskEvent = SourcesFound | TextAdded | ClaimChecked | Answered


@dataclass(frozen=True, slots=True)
class IndexProgress:
    """How far reading has come. `left_s` is None until it can be estimated."""

    phase: str  # "looking", "reading" or "embedding"
    done: int  # files while looking and reading, chunks while embedding
    total: int
    pages: int = 0
    pages_per_s: float = 0.0
    left_s: float | None = None
    path: str = ""


@dataclass(frozen=True, slots=True)
class UpdateReport:
    """What one update of the library did, in files (`embedded` in chunks)."""

    read: int = 0
    moved: int = 0
    deleted: int = 0
    unchanged: int = 0
    failed: int = 0
    embedded: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PageSize:
    """A page's number, printed label and size in points."""

    number: int
    label: str
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class EngineStatus:
    """What the model process is doing. `tokens_per_s` is the last measured writing speed."""

    running: bool
    model: str  # the language model in use, "" when none is installed
    tokens_per_s: float | None = None
