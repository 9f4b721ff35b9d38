"""The library as a shell uses it, over the real readers, stores and models."""

from __future__ import annotations

import json
import os
import shutil
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pincite import update
from pincite.errors import Cancelled, GiveUpError, NotFoundError, PinciteError, StoreBusyError, UsageError
from pincite.extract import Reader
from pincite.index import Index
from pincite.library import Library
from pincite.model import (
    Answer,
    Answered,
    AnswerVerdict,
    ClaimChecked,
    Filters,
    IndexProgress,
    Passage,
    SourcesFound,
    TextAdded,
    Verdict,
    reading_text,
)
from tests.integration.conftest import SAMPLES, WAIT_S, library_at, settings_at, wait_until

SMALL = "SmolLM2-135M-Instruct"
SECRET = "rumpelstilzchen"
LEASE = (
    "# Lease\n\n## Rent\n\nThe tenant pays nine hundred pounds each month.\n\n## Notice\n\nThree months by letter.\n"
)


def words_found(library: Library, query: str, **options: object) -> list[Passage]:
    """A search by words alone, which needs no model."""
    result = library.search(query, mode="lexical", rerank=False, **options)  # type: ignore[arg-type]
    return list(result.results)


def answered(library: Library, question: str, **options: str) -> Answer:
    *_, last = library.ask(question, **options)  # type: ignore[arg-type]
    assert isinstance(last, Answered)
    return last.answer


# Reading the samples


def test_the_samples_are_read_and_what_is_not_is_named(samples: Library) -> None:
    ledger = samples.ledger()
    states = {Path(entry.path).name: entry.state.value for entry in ledger.entries}
    assert set(states) == {path.name for path in SAMPLES.iterdir()}
    assert [name for name, state in states.items() if state != "read"] == ["letter-managing-agents-scan.pdf"]
    [scan] = [entry for entry in ledger.entries if entry.state.value == "unsupported"]
    assert "It is a scan" in scan.reason
    assert ledger.chunks > 100 and ledger.chunks_without_vectors == 0


def test_an_unchanged_folder_is_neither_read_nor_embedded_again(
    samples: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Reader, "read", lambda *_, **__: pytest.fail("a file was read"))
    monkeypatch.setattr(update, "ingest_file", lambda *_: pytest.fail("a file was looked into"))
    report = samples.update()
    assert report.unchanged == len(list(SAMPLES.iterdir())) and report.embedded == 0
    assert (report.read, report.moved, report.deleted, report.failed) == (0, 0, 0, 0)


# Searching


@pytest.mark.parametrize(
    ("query", "file", "says"),
    [
        ("How many days of holiday does a new employee get in the first year?", "staff-handbook.pdf", "23 days"),
        ('"end of a calendar month"', "staff-handbook.pdf", "end of a calendar month"),
        ("rent of Unit 7", "lease", "rent"),
        ("what were the sales in the second quarter", "quarterly-report-2025-q2.pdf", ""),
    ],
)
def test_questions_and_phrases_are_found(samples: Library, query: str, file: str, says: str) -> None:
    passages = samples.search(query, k=5).results
    assert any(file in passage.path and says.casefold() in passage.text.casefold() for passage in passages)


@pytest.mark.parametrize("identifier", ["ERR_CONN_4021", "TB-0447", "D-2025-14", "FH-2"])
def test_an_identifier_is_found_by_its_name(samples: Library, identifier: str) -> None:
    first = words_found(samples, f"What does {identifier} mean, and where is it from?")[0]
    assert identifier in first.text


def test_every_passage_is_made_of_words_with_places(samples: Library) -> None:
    sizes = {p.document: samples.page_sizes(p.document) for p in samples.search("rent and notice", k=20).results}
    for passage in samples.search("rent and notice", k=20).results:
        assert reading_text(passage.words) == passage.text and passage.regions
        for region in passage.regions:
            size = sizes[passage.document][region.page - 1]
            assert region.boxes
            for box in region.boxes:
                assert -1 <= box.x0 < box.x1 <= size.width + 1 and -1 <= box.y0 < box.y1 <= size.height + 1


def test_both_legs_and_the_reranker_take_part(samples: Library) -> None:
    result = samples.search("How much notice must I give?", k=5)
    assert {"lexical", "dense", "fused", "reranked"} <= {stage.name for stage in result.stages}
    assert not [stage.note for stage in result.stages if stage.note]
    assert any(p.scores.dense_rank for p in result.results) and any(p.scores.lexical_rank for p in result.results)
    scores = [p.scores.rerank for p in result.results]
    assert all(score is not None for score in scores) and scores == sorted(scores, key=lambda s: -(s or 0))


@pytest.mark.parametrize("mode", ["hybrid", "lexical", "dense"])
def test_filters_act_in_every_mode(samples: Library, mode: str) -> None:
    handbook = str(SAMPLES / "staff-handbook.pdf")
    for only, accepted in (
        (Filters(document=handbook), {"staff-handbook.pdf"}),
        (Filters(type="markdown"), {"operations-meeting-notes.md"}),
        (Filters(folder=str(SAMPLES), type="text"), {"gateway-log-2025-06.txt"}),
    ):
        result = samples.search("the gateway of the month", k=5, filters=only, mode=mode, rerank=False)
        assert result.results and {Path(p.path).name for p in result.results} == accepted
    for nowhere in (Filters(folder="/nowhere"), Filters(document="nothing")):
        with pytest.raises(NotFoundError, match=r"nowhere|nothing"):
            samples.search("the gateway of the month", filters=nowhere, mode=mode, rerank=False)


def test_searching_by_words_starts_no_model(tmp_path: Path) -> None:
    (tmp_path / "lease.md").write_text(LEASE)
    library = Library.open(settings_at(tmp_path))
    library.add(tmp_path / "lease.md")
    library.update(fast=True)
    assert "nine hundred" in words_found(library, "pounds")[0].text
    assert not library.engine_status().running
    assert library.ledger().chunks_without_vectors == library.ledger().chunks > 0
    library.close()


@pytest.mark.parametrize(
    ("query", "options", "says"),
    [
        ("rent", {"mode": "psychic"}, "no search mode 'psychic'"),
        ("rent", {"k": 0}, "At least one result"),
        ("rent", {"k": 10**30}, "At most 10,000 results"),
    ],
)
def test_a_search_that_makes_no_sense_is_refused(
    samples: Library, query: str, options: dict[str, object], says: str
) -> None:
    with pytest.raises(UsageError, match=says):
        samples.search(query, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("query", ["", "   ", "?!…", '"', "\x00", "\udce9", "rent \udce9", "word " * 5_000])
def test_any_text_can_be_searched_for(samples: Library, query: str) -> None:
    assert samples.search(query, mode="lexical", rerank=False).results is not None


# Asking


def test_quotes_are_word_for_word_and_lead_to_their_places(samples: Library) -> None:
    events = list(samples.ask("How much notice do I have to give after my probation?", mode="quotes"))
    assert isinstance(events[0], SourcesFound) and events[0].passages
    assert [event.index for event in events if isinstance(event, ClaimChecked)] == list(range(len(events) - 2))
    assert isinstance(events[-1], Answered)
    answer = events[-1].answer
    assert answer.verdict is AnswerVerdict.ANSWERED and answer.claims
    for claim in answer.claims:
        assert claim.verdict is Verdict.QUOTE
        [citation] = claim.citations
        for region in citation.regions:
            page = samples.page(citation.document, region.page)
            covered = [word.text for word in page.words if any(box.covers(word.box) for box in region.boxes)]
            assert set(citation.quote.split()[:3]) <= set(" ".join(covered).split()) | {"|"}
    assert any("month" in claim.text for claim in answer.claims)
    assert {Path(file.path).name for file in answer.not_searched} == {"letter-managing-agents-scan.pdf"}


def test_the_record_of_a_question_is_kept(samples: Library) -> None:
    answer = answered(samples, "When must the rent be paid?", mode="quotes")
    record = samples.trace(answer.trace)
    assert record["question"] == "When must the rent be paid?" and record["answer"] == answer.text
    assert record["asked"] and record["prompt"]
    json.dumps(record)
    with pytest.raises(NotFoundError, match="no record"):
        samples.trace("nothing")


def test_an_answer_that_cannot_be_recorded_is_given_all_the_same(
    samples: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(*_: object) -> None:
        raise StoreBusyError("Another program is writing to this library; try again when it has finished.")

    monkeypatch.setattr(Index, "put_trace", busy)
    answer = answered(samples, "When must the rent be paid?", mode="quotes")
    assert answer.claims and answer.notes[-1].startswith("This question could not be recorded. Another program")


def test_a_broken_vector_store_leaves_keyword_search_and_is_built_again(library: Library, tmp_path: Path) -> None:
    (tmp_path / "documents" / "lease.md").write_text(LEASE)
    chunks = library.update().embedded
    vectors = tmp_path / "library" / "vectors"
    (vectors / "chroma.sqlite3").write_bytes(b"This is no database. " * 500)
    (tmp_path / "documents" / "more.md").write_text("The landlord mends the roof.\n")
    report = library.update()
    assert report.read == 1 and [note for note in report.notes if "words only" in note and "Delete that folder" in note]
    assert words_found(library, "roof") and words_found(library, "pounds")
    shutil.rmtree(vectors)
    assert library.update().embedded == chunks + 1
    assert library.search("what does the tenant pay", mode="dense", rerank=False).results


def test_a_model_writes_and_everything_it_wrote_is_checked(samples: Library) -> None:
    events = list(samples.ask("How much notice must a tenant give?", model=SMALL))
    assert isinstance(events[0], SourcesFound) and isinstance(events[-1], Answered)
    assert any(isinstance(event, TextAdded) for event in events)
    answer = events[-1].answer
    assert answer.tokens["prompt"] > 50 and {"sources", "first_token", "total"} <= set(answer.timings_ms)
    for claim in answer.claims:
        assert claim.citations or claim.verdict is Verdict.UNSUPPORTED
        for citation in claim.citations:
            assert citation.regions and citation.quote and citation.pincite


def test_an_answer_can_be_cancelled_and_the_next_question_asked(samples: Library) -> None:
    stopping = threading.Event()

    def ask() -> Iterator[str]:
        for event in samples.ask("Describe the duties of the tenant.", model=SMALL, cancelled=stopping.is_set):
            if isinstance(event, TextAdded):
                stopping.set()
            yield type(event).__name__

    with pytest.raises(Cancelled):
        list(ask())
    assert answered(samples, "How much notice must a tenant give?", mode="quotes").claims


@pytest.mark.parametrize(
    ("question", "options", "says"),
    [
        ("", {}, "no word in this question"),
        ("?!… ---", {}, "no word in this question"),
        ("\udce9", {}, "no word in this question"),
        ("word " * 2_000, {}, "10,000 characters long"),
        ("Who?", {"mode": "deep"}, "does not exist yet"),
        ("Who?", {"mode": "loud"}, "no way of asking called 'loud'"),
        ("Who?", {"model": "GPT-9"}, "GPT-9"),
    ],
)
def test_a_question_that_cannot_be_asked_is_refused_in_a_sentence(
    samples: Library, question: str, options: dict[str, str], says: str
) -> None:
    with pytest.raises(GiveUpError, match=says) as refusal:
        answered(samples, question, **options)
    assert str(refusal.value).endswith(".")


# Pages


def test_pages_are_drawn_at_their_size_with_highlights(samples: Library) -> None:
    handbook = str(SAMPLES / "staff-handbook.pdf")
    size = samples.page_sizes(handbook)[5]
    plain = samples.render(handbook, 6, zoom=0.5)
    assert (plain.width_px, plain.height_px) == pytest.approx((size.width / 2, size.height / 2), abs=1)
    box = samples.page(handbook, 6).words[10].box
    assert samples.render(handbook, 6, zoom=0.5, boxes=[box]).png != plain.png
    document = samples.document(handbook)
    assert samples.document(document.id) == document
    assert samples.render(document.id, 6, zoom=0.5) == plain


def test_a_document_may_be_named_from_where_one_stands(samples: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(SAMPLES.parent)
    assert samples.document("documents/lease-unit-7.pdf").format == "pdf"
    monkeypatch.chdir(SAMPLES)
    assert samples.document("lease-unit-7.pdf").path == str(SAMPLES / "lease-unit-7.pdf")


@pytest.mark.parametrize(
    ("document", "page", "zoom", "says"),
    [
        ("staff-handbook.pdf", 0, 1.0, "has no page 0"),
        ("staff-handbook.pdf", -1, 1.0, "has no page -1"),
        ("staff-handbook.pdf", 999, 1.0, "has no page 999; it has "),
        ("staff-handbook.pdf", 10**30, 1.0, "has no page 1000"),
        ("staff-handbook.pdf", 1, 0.0, "pixels per point"),
        ("staff-handbook.pdf", 1, float("nan"), "pixels per point"),
        ("staff-handbook.pdf", 1, 1e9, "pixels per point"),
        ("letter-managing-agents-scan.pdf", 1, 1.0, "It is a scan"),
        ("nothing.pdf", 1, 1.0, "There is no document"),
        ("x" * 10_000, 1, 1.0, "There is no document"),
        ("caf\udce9.pdf", 1, 1.0, "not valid text"),
        ("nul\x00.pdf", 1, 1.0, "There is no document"),
        ("~nobody-of-that-name/x.pdf", 1, 1.0, "no person here"),
    ],
)
def test_a_page_that_is_not_there_is_said(
    samples: Library, monkeypatch: pytest.MonkeyPatch, document: str, page: int, zoom: float, says: str
) -> None:
    monkeypatch.chdir(SAMPLES)
    with pytest.raises(GiveUpError, match=says):
        samples.render(document, page, zoom=zoom)


# A life of a folder


def test_a_folder_is_kept_up_with(library: Library, tmp_path: Path) -> None:
    documents = tmp_path / "documents"
    (documents / "lease.md").write_text(LEASE)
    (documents / "secret.txt").write_text(f"The name is {SECRET}, as nobody knows.\n")
    assert library.update().read == 2
    first = library.document(str(documents / "lease.md"))
    assert library.search("monthly payment of the tenant", k=1, rerank=False).results[0].document == first.id

    (documents / "moved").mkdir()
    (documents / "lease.md").rename(documents / "moved" / "our lease.md")
    shutil.copy(documents / "moved" / "our lease.md", documents / "copy.md")
    report = library.update()
    assert (report.moved, report.read, report.embedded) == (1, 0, 0)
    assert {library.document(str(documents / name)).id for name in ("moved/our lease.md", "copy.md")} == {first.id}

    (documents / "copy.md").unlink()
    (documents / "moved" / "our lease.md").write_text(LEASE.replace("nine", "eleven"))
    report = library.update()
    assert (report.read, report.deleted, report.embedded) == (1, 1, 1), "one paragraph changed"
    assert library.document(first.id).generation != first.generation
    assert words_found(library, "nine hundred pounds")[0].text.count("eleven") == 1
    assert words_found(library, '"nine hundred"') == []

    secret = library.document(str(documents / "secret.txt"))
    answered(library, f"Who is {SECRET}?", mode="quotes")
    assert SECRET in everything_stored(tmp_path)
    (documents / "secret.txt").unlink()
    assert library.update().deleted == 1
    assert_gone(library, tmp_path, secret.id)


def everything_stored(place: Path) -> str:
    files = [path for path in (place / "library").rglob("*") if path.is_file()]
    return "".join(path.read_bytes().decode("latin-1") for path in files).casefold()


def assert_gone(library: Library, place: Path, document: str) -> None:
    assert SECRET not in everything_stored(place)
    for mode in ("lexical", "dense", "hybrid"):
        result = library.search(SECRET, mode=mode, rerank=False)
        assert not [passage for passage in result.results if SECRET in passage.text.casefold()]
    with pytest.raises(NotFoundError):
        library.document(document)


def test_forgetting_erases_everything_but_the_file(library: Library, tmp_path: Path) -> None:
    path = tmp_path / "documents" / "secret.txt"
    path.write_text(f"The name is {SECRET}, as nobody knows.\n")
    library.update()
    erased = library.forget(str(path))
    assert (erased.chunks, erased.chunks_left, erased.info.path) == (1, 0, str(path))
    assert_gone(library, tmp_path, erased.info.id)
    assert path.is_file() and library.update().unchanged == 1
    with pytest.raises(NotFoundError, match="erased from the library as asked"):
        library.document(str(path))
    library.add(path)
    assert library.update().read == 1 and words_found(library, SECRET)


def test_removing_a_folder_erases_what_was_read_from_it_alone(library: Library, tmp_path: Path) -> None:
    (tmp_path / "documents" / "secret.txt").write_text(f"The name is {SECRET}, as nobody knows.\n")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "lease.md").write_text(LEASE)
    library.add(tmp_path / "other")
    library.update(fast=True)
    assert library.remove(tmp_path / "documents").deleted == 1
    assert SECRET not in everything_stored(tmp_path) and words_found(library, "pounds")
    with pytest.raises(NotFoundError, match="not among the watched"):
        library.remove(tmp_path / "documents")


def test_a_folder_that_was_added_twice_is_one(library: Library, tmp_path: Path) -> None:
    library.add(tmp_path / "documents" / ".." / "documents")
    assert len(library.ledger().folders) == 1


def test_what_cannot_be_watched_is_refused(library: Library, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir(exist_ok=True)
    for path, says in (
        (tmp_path / "nowhere", "No such file"),
        (tmp_path / "data", "Pincite's own data"),
        (tmp_path / "library", "Pincite's own data"),
        (tmp_path / "library" / "library.sqlite", "Pincite's own data"),
        (tmp_path / ("x" * 5_000), "cannot be opened"),
        (tmp_path / "nul\x00", "its name cannot be used"),
        (Path("~nobody-of-that-name/x"), "no person here"),
        (Path(os.devnull), "neither a file nor a folder"),
    ):
        with pytest.raises(GiveUpError, match=says):
            library.add(path)
    assert len(library.ledger().folders) == 1


def test_broken_files_get_a_reason_and_the_others_are_read(library: Library, tmp_path: Path) -> None:
    documents = tmp_path / "documents"
    (documents / "lease.md").write_text(LEASE)
    (documents / "empty.pdf").touch()
    (documents / "cut.pdf").write_bytes((SAMPLES / "lease-unit-7.pdf").read_bytes()[:3_000])
    (documents / "letter.pdf").write_text("This is no PDF.")
    (documents / "film.mp4").write_bytes(b"\x00" * 100)
    report = library.update(fast=True)
    assert report.read >= 1
    entries = {Path(entry.path).name: entry for entry in library.ledger().entries}
    assert entries["lease.md"].state.value == "read" and entries["empty.pdf"].reason == "The file is empty."
    for name in ("empty.pdf", "letter.pdf", "film.mp4"):
        assert entries[name].state.value != "read" and entries[name].reason.endswith("."), name
    assert entries["cut.pdf"].reason.endswith("."), "it may have been mended, which is said"
    assert words_found(library, "pounds")


# Several at once


def test_a_searching_thread_sees_one_version_whole_at_any_time(library: Library, tmp_path: Path) -> None:
    path = tmp_path / "documents" / "terms.md"
    versions = ["\n\n".join(f"## {n}\n\nThe {word} clause stands here." for n in range(6)) for word in ("old", "new")]
    path.write_text(versions[0])
    library.update(fast=True)
    seen: set[tuple[int, int]] = set()
    stopping = threading.Event()

    def search() -> None:
        while not stopping.is_set():
            texts = [p.text + reading_text(p.words) for p in words_found(library, "clause stands", k=20)]
            seen.add((sum("old" in text for text in texts), sum("new" in text for text in texts)))
            assert all(("old" in text) != ("new" in text) for text in texts)

    with ThreadPoolExecutor(1) as beside:
        searching = beside.submit(search)
        for turn in range(4):
            path.write_text(versions[(turn + 1) % 2] + "\n" * turn)
            library.update(fast=True)
        stopping.set()
        searching.result(WAIT_S)
    whole = [pair for pair in seen if 0 in pair]
    assert len(whole) == len(seen) and len({sum(pair) for pair in seen}) == 1, seen


def test_only_one_update_of_a_library_runs_at_a_time(library: Library, tmp_path: Path) -> None:
    (tmp_path / "documents" / "lease.md").write_text(LEASE)
    second = Library.open(settings_at(tmp_path))
    met: list[PinciteError] = []

    def update_too(progress: IndexProgress) -> None:
        if not met:
            with pytest.raises(StoreBusyError, match="Another Pincite") as refusal:
                second.update(fast=True)
            met.append(refusal.value)
            assert second.ledger().folders, "looking is possible"

    library.update(fast=True, progress=update_too)
    assert met
    assert second.update(fast=True).unchanged == 1
    second.close()


def test_changes_are_noticed_and_read(library: Library, tmp_path: Path) -> None:
    changed = threading.Event()
    library.start_watching(changed.set)
    (tmp_path / "documents" / "lease.md").write_text(LEASE)
    assert changed.wait(WAIT_S)
    wait_until(lambda: library.update(fast=True).unchanged == 1, "the file to be read")
    assert words_found(library, "pounds")


def test_closing_ends_an_update_that_is_under_way(tmp_path: Path) -> None:
    library = Library.open(settings_at(tmp_path))
    library.add(SAMPLES)
    reading = threading.Event()

    def note(progress: IndexProgress) -> None:
        if progress.phase == "reading":
            reading.set()

    with ThreadPoolExecutor(1) as beside:
        updating = beside.submit(library.update, fast=True, progress=note)
        assert reading.wait(WAIT_S)
        library.close()
        with pytest.raises(Cancelled):
            updating.result(WAIT_S)
    again = Library.open(settings_at(tmp_path))
    assert again.update(fast=True).failed <= 1
    assert [e.state.value for e in again.ledger().entries].count("read") == len(list(SAMPLES.iterdir())) - 1
    again.close()


def test_a_closed_library_says_so(tmp_path: Path) -> None:
    library = Library.open(settings_at(tmp_path))
    library.close()
    library.close()
    for call in (library.ledger, lambda: library.search("rent"), lambda: answered(library, "Rent?"), library.update):
        with pytest.raises(PinciteError):
            call()


# Without models


def test_without_models_everything_works_by_words_and_the_vectors_follow_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, installed_models: Path, samples: Library
) -> None:
    (tmp_path / "documents").mkdir()
    (tmp_path / "documents" / "lease.md").write_text(LEASE)
    monkeypatch.setenv("PINCITE_MODELS", str(tmp_path / "no models"))
    library = Library.open(settings_at(tmp_path))
    library.add(tmp_path / "documents")
    report = library.update()
    assert report.read == 1 and report.embedded == 0
    assert [note for note in report.notes if "by their words only for now" in note]
    result = library.search("How much does the tenant pay?")
    assert "nine hundred pounds" in result.results[0].text
    assert {stage.name for stage in result.stages if stage.note} == {"dense", "reranked"}
    answer = answered(library, "How much does the tenant pay?")
    assert "nine hundred pounds" in answer.text and answer.notes and answer.model == ""
    library.close()
    monkeypatch.setenv("PINCITE_MODELS", str(installed_models))
    library = library_at(tmp_path, samples)
    report = library.update()
    assert report.read == 0 and report.embedded == library.ledger().chunks and report.notes == ()
    library.close()


def test_vectors_that_another_model_made_are_never_compared(tmp_path: Path, samples: Library) -> None:
    folder = tmp_path / "library"
    shutil.copytree(samples._settings.library_dir, folder)
    vector = samples._engine.embed_query("rent")
    other = Index(folder, "another model")
    assert other.ledger().chunks_without_vectors == other.ledger().chunks > 0
    assert other.dense(vector, 5, Filters()) == []
    other.close()
    again = Index(folder, samples._settings.embedding_model)
    assert len(again.dense(vector, 5, Filters())) == 5
    again.close()


def test_a_folder_that_cannot_be_watched_is_said(tmp_path: Path) -> None:
    folder = tmp_path / "drive" / "case"
    folder.mkdir(parents=True)
    library = Library.open(settings_at(tmp_path))
    library.add(folder)
    library.start_watching(lambda: None)
    assert library.update(fast=True).notes == ()
    folder.rmdir()
    folder.parent.rmdir()
    assert [f"{folder} is only looked at every few minutes" in note for note in library.update(fast=True).notes] == [
        True
    ]
    library.close()
