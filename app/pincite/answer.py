"""Stop 7 of the walk: question and passages → prompt and grammar; streamed text → sentences with citations. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pincite.model import Box, Passage, Verdict, Word, reading_text
from pincite.sentences import sentence_bounds

CITATION = re.compile(r"\[(\d{1,3})\]")
# A sentence with its citations is complete when another sentence begins behind it, which no small letter does.
SENTENCE_WITH_CITATIONS = re.compile(r"(.+?(?:\[\d{1,3}\]\s*)+[.!?]?)\s*(?=[^a-z\s\[.!?,;])", re.DOTALL)
CUT_OFF_CITATION = re.compile(r"\s*\[\d*$")
# Quotes below this score (a logit of the cross-encoder) have nothing to do with the question; see
# docs/decisions/0009-quotes.md for how these were chosen.
QUOTE_FLOOR = -7.0
# A second quote must be nearly as good as the first.
QUOTE_MARGIN = 0.5
MAX_QUOTES = 3
# Letters and figures that belong together, joined by more than a space; and numbers of clauses and versions.
IDENTIFIER = re.compile(r"(?<!\w)(?:[A-Za-z]+(?:[_/.-]\w+)*[_/.-]?\d[\w/.-]*\w|\d+(?:\.\d+)+)(?!\w)")
CELL_SEPARATOR = " | "
_NOWHERE = Box(0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class AnswerPrompt:
    """A versioned prompt and its grammar, as read from the resources."""

    version: str
    system: str
    evidence_head: str
    question_head: str
    refusal: str
    grammar: str


@dataclass(frozen=True, slots=True)
class DraftClaim:
    """A sentence as the model wrote it, with the numbers of the passages it cites; none when it cites nothing."""

    text: str
    cited: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class QuoteCandidate:
    """A sentence of a passage that might answer: words `first` to `end` of passage number `passage` (from 0)."""

    passage: int
    first: int
    end: int
    text: str
    scored_text: str  # with its heading or table header, which often hold half of the sense


def messages_for(question: str, passages: Sequence[Passage], prompt: AnswerPrompt) -> list[dict[str, str]]:
    """The chat: instructions apart, then the passages as numbered data, then the question."""
    evidence = "\n\n".join(
        f"[{number}] {_source_line(passage)}\n{_defused(passage.text)}"
        for number, passage in enumerate(passages, start=1)
    )
    user = f"{prompt.evidence_head}\n\n{evidence}\n\n{prompt.question_head} {question}"
    return [{"role": "system", "content": prompt.system}, {"role": "user", "content": user}]


def _source_line(passage: Passage) -> str:
    place = " › ".join((passage.title, *passage.heading_path))
    return f"({_defused(place)})"


def _defused(text: str) -> str:
    """Evidence in which nothing can be taken for a chat template's own marks or for a citation number."""
    return CITATION.sub(r"(\1)", text.replace("<|", "< |").replace("|>", "| >"))


def grammar_for(passages: int, prompt: AnswerPrompt) -> str:
    """The grammar for an answer over this many passages: no other number can be cited."""
    numbers = " | ".join(f'"{number}"' for number in range(1, passages + 1))
    return prompt.grammar.replace("{numbers}", numbers).replace("{refusal}", prompt.refusal)


class DraftStream:
    """Streamed text in, finished sentences out."""

    def __init__(self, refusal: str) -> None:
        self._refusal = refusal
        self._pending = ""
        self.text = ""

    def add(self, piece: str) -> list[DraftClaim]:
        """Take in more text; returns the sentences that it completed.

        A sentence is complete only when the next one has begun, since another citation may follow the first.
        """
        self.text += piece
        self._pending += piece
        drafts: list[DraftClaim] = []
        while match := SENTENCE_WITH_CITATIONS.match(self._pending):
            drafts += _drafts_of(match.group(1))
            self._pending = self._pending[match.end() :]
        return drafts

    def end(self) -> list[DraftClaim]:
        """What is left when the text has ended; a sentence cut off by the length limit cites nothing."""
        rest, self._pending = CUT_OFF_CITATION.sub("", self._pending.strip()), ""
        return _drafts_of(rest) if rest and rest != self._refusal else []

    @property
    def refused(self) -> bool:
        """Whether the text is the refusal."""
        return self.text.strip() == self._refusal


def _drafts_of(text: str) -> list[DraftClaim]:
    """The sentences of a run that ends in citations; each of them rests on all of these."""
    cited = tuple(dict.fromkeys(int(number) for number in CITATION.findall(text)))
    bare = re.sub(r"\s+([.!?;,])", r"\1", " ".join(CITATION.sub(" ", text).split())).strip(" ;,")
    words = [Word(token, _NOWHERE) for token in bare.split()]
    return [DraftClaim(_ended(reading_text(words[first:end])), cited) for first, end in sentence_bounds(words)]


def _ended(sentence: str) -> str:
    return sentence if sentence.endswith((".", "!", "?", "…", '"', "”", ":")) else sentence + "."


def quote_candidates(passages: Sequence[Passage]) -> list[QuoteCandidate]:
    """Every sentence (or table row, or line of a log) of the passages that could stand as a quote, each once."""
    candidates: list[QuoteCandidate] = []
    for number, passage in enumerate(passages):
        rows = [(first, end, _cells(passage.words[first:end])) for first, end in sentence_bounds(passage.words)]
        header: list[str] = []
        for (first, end, cells), (_, _, below) in zip(rows, [*rows[1:], (0, 0, [])], strict=True):
            is_header = len(cells) > 1 and not header and len(below) > 1
            header = header or cells if len(cells) > 1 else []
            text = reading_text(passage.words[first:end])
            if not is_header and any(char.isalnum() for char in text):
                lead = " › ".join(passage.heading_path)
                candidates.append(QuoteCandidate(number, first, end, text, f"{lead}\n{_row_read_out(header, cells)}"))
    return candidates


def _cells(words: Sequence[Word]) -> list[str]:
    """The cells of a table's row; a single one for any other text, though it may have a "|" among its words."""
    text = reading_text(words)
    return text.split(CELL_SEPARATOR) if any("|" in word.after for word in words) else [text]


def _row_read_out(header: list[str], cells: list[str]) -> str:
    """ "Limit: £95; Who decides: Manager": a row as one would read it to somebody who does not see the table."""
    if len(header) != len(cells) or header == cells:
        return "; ".join(cells)
    return "; ".join(f"{name}: {cell}" for name, cell in zip(header, cells, strict=True))


def naming_identifiers(question: str, candidates: Sequence[QuoteCandidate]) -> list[QuoteCandidate]:
    """The candidates that hold an identifier of the question (ERR_CONN_4021, D-2025-14, 7.3); all, if none does."""
    wanted = [identifier.casefold() for identifier in IDENTIFIER.findall(question)]
    patterns = [re.compile(rf"(?<![\w.]){re.escape(identifier)}(?!\w)") for identifier in wanted]
    holding = [c for c in candidates if any(pattern.search(c.text.casefold()) for pattern in patterns)]
    return holding or list(candidates)


def word_scores(question: str, candidates: Sequence[QuoteCandidate]) -> list[float]:
    """Scores for best_quotes from shared words alone, on the cross-encoder's scale: for when it is not there."""
    wanted = _word_set(question)
    return [
        2 * QUOTE_FLOOR + 3 * abs(QUOTE_FLOOR) * len(wanted & _word_set(c.scored_text)) / max(len(wanted), 1)
        for c in candidates
    ]


def _word_set(text: str) -> set[str]:
    return {word for word in re.findall(r"\w+", text.casefold()) if len(word) > 3 or word.isdigit()}


def best_quotes(candidates: Sequence[QuoteCandidate], scores: Sequence[float]) -> list[tuple[QuoteCandidate, float]]:
    """The sentences that answer, best first; none when even the best has nothing to do with the question."""
    ranked = sorted(zip(candidates, scores, strict=True), key=lambda pair: -pair[1])
    if not ranked or ranked[0][1] < QUOTE_FLOOR:
        return []
    floor = max(QUOTE_FLOOR, ranked[0][1] - QUOTE_MARGIN)
    chosen: list[tuple[QuoteCandidate, float]] = []
    for candidate, score in ranked:
        if score >= floor and all(candidate.text != other.text for other, _ in chosen):
            chosen.append((candidate, score))
        if len(chosen) == MAX_QUOTES:
            break
    return chosen


def answer_text(claims: Sequence[tuple[str, Verdict]]) -> str:
    """The answer as one text; what nothing supports is left out of it, and shown only as a marked claim."""
    return " ".join(text for text, verdict in claims if verdict is not Verdict.UNSUPPORTED)
