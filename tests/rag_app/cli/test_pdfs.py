"""Cached indexes: found by content, merged for several files, files called as they are now."""

from __future__ import annotations

import resource
from pathlib import Path

from rag_app.index import Index
from tests.rag_app.cli.cached_pdfs import (
    ANSWER,
    CRANE_QUESTION,
    VALVE_QUESTION,
    cache,
    cited,
    databases,
    merged,
    merged_path,
    opened,
)
from tests.rag_app.cli.conftest import CRANE, VALVE
from tests.support.openai_server import Failure, Reply
from tests.support.pdfs import make_pdf


def test_merging_embeds_nothing_again(rag, two, model):
    for file in two:
        rag("ask", CRANE_QUESTION, file)
    embedded = model.embedded
    assert rag("ask", CRANE_QUESTION, *two).err == ""
    assert model.embedded - embedded <= ANSWER


def test_of_two_files_only_the_changed_one_is_read_again(rag, two, model):
    rag("ask", CRANE_QUESTION, *two)
    make_pdf(two[1], [CRANE.replace("class B", "class C")])
    embedded = model.embedded
    done = rag("ask", CRANE_QUESTION, *two, "--json")
    assert done.err == "reading pdfs/crane.pdf\n"
    assert "class C" in done.json["answer"]
    assert model.embedded - embedded <= ANSWER + 2  # its children of 128 and 256 tokens


def test_moved_and_swapped_files_are_called_by_their_new_names_alone(rag, two, model, monkeypatch):
    rag("ask", CRANE_QUESTION, *two)
    swap = two[0].rename(two[0].with_name("swap.pdf"))
    two[1].rename(two[0])
    swap.rename(two[1])
    embedded, paths = model.embedded, opened(monkeypatch)
    done = rag("ask", CRANE_QUESTION, *two, "--json")
    assert cited(done)[0] == "valve.pdf"
    assert model.embedded - embedded <= ANSWER
    assert len(set(paths)) == 1
    moved = [file.rename(file.with_name(f"new-{file.name}")) for file in two]
    assert cited(rag("ask", CRANE_QUESTION, *moved, "--json"))[0] == "new-valve.pdf"
    old = rag("ask", CRANE_QUESTION, *moved, "--file", "valve.pdf")
    assert old.code == 1
    assert "no file of the index is called 'valve.pdf'" in old.err
    for database in databases():
        with Index.open(database.parent, embed_model=model) as index:
            assert index.info(verify=True).findings == ()


def test_a_renamed_file_has_the_title_it_would_have_had(rag, two, place, model):
    """A title begins with the file's name; documents that a question names are preferred."""

    def titles() -> set[str]:
        found = set()
        for database in databases():
            with Index.open(database.parent, embed_model=model) as index:
                found |= {source.title.split(",")[0] for source in index.info().sources}
        return found

    moved = [file.with_name(f"machine_{file.name}") for file in two]
    for files in (two[:1], two):
        rag("ask", VALVE_QUESTION, *files)
    assert titles() == {"valve", "crane"}
    for file, name in zip(two, moved, strict=True):
        file.rename(name)
    for files in (moved, moved[:1], moved[1:]):
        rag("ask", VALVE_QUESTION, *files)
    assert titles() == {"machine valve", "machine crane"}


def test_a_part_that_was_last_asked_under_another_name_is_merged_under_the_new_one(rag, two):
    rag("ask", CRANE_QUESTION, two[1])
    moved = two[1].rename(two[1].with_name("moved.pdf"))
    assert cited(rag("ask", CRANE_QUESTION, two[0], moved, "--json"))[0] == "moved.pdf"


def test_parts_that_have_one_name_from_different_times_are_both_there(rag, pdfs, place):
    """One path held one content, then another; both are asked, each under a name of its own."""
    path = place / "report.pdf"
    for text in (VALVE, CRANE):
        make_pdf(path, [text])
        rag("ask", VALVE_QUESTION, path)
    make_pdf(place / "old.pdf", [VALVE])
    both = rag("ask", VALVE_QUESTION, path, place / "old.pdf", "--json")
    assert cited(both)[0] == "old.pdf"
    assert cited(rag("ask", CRANE_QUESTION, path, place / "old.pdf", "--json"))[0] == "report.pdf"


def test_one_content_under_two_names_is_one_index_that_knows_both(rag, two, pdfs):
    copy = pdfs / "copy.pdf"
    copy.write_bytes(two[0].read_bytes())
    for _ in range(2):
        for name in ("copy.pdf", "valve.pdf"):
            done = rag("ask", VALVE_QUESTION, two[0], copy, "--file", name, "--json")
            assert (done.code, done.json["outcome"]) == (0, "answered")
    (entry,) = cache().entries()
    assert entry.files == (str(two[0]), str(copy))
    rag("ask", VALVE_QUESTION, two[0])
    assert rag("ask", VALVE_QUESTION, two[0], "--file", "copy.pdf").code == 1
    with_another = rag("ask", VALVE_QUESTION, two[0], copy, two[1], "--file", "copy.pdf", "--json")
    assert with_another.json["outcome"] == "answered"


def test_a_file_that_is_named_twice_is_one(rag, two):
    rag("ask", VALVE_QUESTION, two[0], "pdfs/valve.pdf")
    (entry,) = cache().entries()
    assert entry.files == (str(two[0]),)


def about_pieces(server) -> list[str]:
    """Return the prompts that asked a model for summaries and questions."""
    prompts = [chat.prompt for chat in server.chats]
    return [prompt for prompt in prompts if prompt.startswith(("You summarise", "You write q"))]


def test_pieces_are_written_once_and_merged(rag, two, serve):
    searched = ("--strategy", "multi_vector")

    def answer(request):
        if request.prompt.startswith("You write q"):
            return Reply("Which permit does one need to hoist?")
        return Reply("Hoisting needs a permit [1].")

    with serve(answer) as server:
        model = (*searched, "--llm", "like:test", "--base-url", server.url)
        assert rag("ask", VALVE_QUESTION, two[0], *model).code == 0
        of_one = len(about_pieces(server))
        assert rag("ask", CRANE_QUESTION, *two, *model).code == 0
        of_both = len(about_pieces(server))
        assert of_both > of_one > 0
        again = rag("ask", CRANE_QUESTION, *reversed(two), *model)
        assert (again.code, again.err) == (0, "")
        assert len(about_pieces(server)) == of_both
    # Nothing but a piece says this word; it leads to the crane's passage.
    found = rag("search", "permit", "--index", merged_path(), *searched)
    assert "piece" in found.out


def test_pieces_that_failed_are_written_by_the_next_question_and_merged(rag, two, serve):
    broken = True

    def answer(request):
        if broken and "crane" in request.prompt and request.prompt.startswith("You"):
            return Failure(400, "no")
        return Reply("The operator must hold a licence of class B [1].")

    with serve(answer) as server:
        model = ("--strategy", "multi_vector", "--llm", "like:test", "--base-url", server.url)
        rag("ask", CRANE_QUESTION, *two, *model)
        broken = False
        before = len(about_pieces(server))
        assert rag("ask", CRANE_QUESTION, *two, *model).code == 0
        written = about_pieces(server)[before:]
        assert written
        assert all("crane" in prompt for prompt in written)
        assert rag("ask", CRANE_QUESTION, *two, *model).err == ""
        assert about_pieces(server)[before:] == written
    with Index.open(merged_path()) as index:
        assert all(source.nodes["piece"] for source in index.info().sources)


def test_without_a_language_model_no_pieces_are_waited_for(rag, two):
    for said in ("reading", ""):
        done = rag("ask", VALVE_QUESTION, *two, "--strategy", "multi_vector")
        assert done.code == 0
        assert done.err.startswith(said)
    assert done.err == ""


def test_more_files_are_merged_than_could_be_open_at_once(rag, place):
    files = [make_pdf(place / f"{n}.pdf", [f"Valve {n} opens at {n} bar."]) for n in range(24)]
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    room = len(list(Path("/proc/self/fd").iterdir())) + len(files) + 24  # a lock for each, and some
    resource.setrlimit(resource.RLIMIT_NOFILE, (room, hard))
    try:
        done = rag("ask", "At how many bar does valve 3 open?", *files, "--strategy", "bm25")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert (done.code, done.err.count("\n")) == (0, len(files))
    assert len(merged().files) == len(files)
