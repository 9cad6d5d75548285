"""Add, change, rename, remove, merge and reopen in any order, against a simple model."""

from __future__ import annotations

import itertools
import shutil
import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from rag_app.store.merging import merge
from rag_app.store.sqlite.store import SqliteStore, create_store, open_store
from tests.rag_app.store.make import CONFIG, prepared, vector

NAMES = st.sampled_from([f"/{letter}.pdf" for letter in "abcd"])
TEXTS = st.sampled_from(
    [
        ("Cats sit. Cats run.",),
        ("Dogs run.", "Dogs bark. Cats hide."),
        ("Birds fly.",),
        ("Cats sit.", "", "Fish swim. Birds eat fish."),
    ]
)
QUERIES = ("cats run.", "birds", "fish swim. dogs")


class IndexMachine(RuleBasedStateMachine):
    """The model: which text each name has."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.number = itertools.count()
        self.store: SqliteStore = create_store(self.folder / "index", CONFIG)
        self.held: dict[str, tuple[str, ...]] = {}
        self.generation = 0

    def teardown(self) -> None:
        assert self.store.verify() == []
        self.store.close()
        shutil.rmtree(self.folder)

    @rule(name=NAMES, text=TEXTS)
    def put(self, name: str, text: tuple[str, ...]) -> None:
        with self.store.writer() as writer:
            status = writer.put(prepared(name, text))
        known = name in self.held or text in self.held.values()
        assert status == ("replaced" if self._replaces(name, text) else "added"), known
        self.held[name] = text

    def _replaces(self, name: str, text: tuple[str, ...]) -> bool:
        """A content went: the same one, written anew, or one that lost its last name."""
        old = self.held.get(name)
        others = [one for other, one in self.held.items() if other != name]
        return text in self.held.values() or (old is not None and old not in others)

    @rule(names=st.lists(NAMES, max_size=3))
    def remove(self, names: list[str]) -> None:
        with self.store.writer() as writer:
            count = writer.remove(names)
        before = set(self.held.values())
        for name in names:
            self.held.pop(name, None)
        assert count == len(before - set(self.held.values()))

    @precondition(lambda self: self.held)
    @rule(data=st.data(), new=NAMES)
    def rename(self, data: st.DataObject, new: str) -> None:
        old = data.draw(st.sampled_from(sorted(self.held)))
        with self.store.writer() as writer:
            writer.add_name(prepared(old, self.held[old]).document.id_, new)
            if new != old:
                writer.remove([old])
        self.held[new] = self.held.pop(old)

    @rule()
    def reopen(self) -> None:
        self.store.close()
        self.store = open_store(self.folder / "index")

    @rule(name=NAMES, text=TEXTS)
    def merge_with_another(self, name: str, text: tuple[str, ...]) -> None:
        number = next(self.number)
        other = create_store(self.folder / f"other{number}", CONFIG)
        with other.writer() as writer:
            writer.put(prepared(f"/other{number}{name}", text))
        merge({"one": self.store, "two": other}, self.folder / f"merged{number}")
        other.close()
        self.store.close()
        shutil.rmtree(self.folder / "index")
        (self.folder / f"merged{number}").rename(self.folder / "index")
        self.store = open_store(self.folder / "index")
        self.held[f"/other{number}{name}"] = text

    @invariant()
    def it_holds_what_the_model_holds(self) -> None:
        with self.store.snapshot() as snapshot:
            assert snapshot.names() == sorted(self.held)
            assert {s.content_hash for s in snapshot.sources()} == {
                prepared("/x", text).document.id_ for text in self.held.values()
            }

    @rule()
    def it_answers_as_one_built_anew(self) -> None:
        fresh = create_store(self.folder / f"fresh{next(self.number)}", CONFIG)
        with fresh, fresh.writer() as writer:
            for name, text in self.held.items():
                writer.put(prepared(name, text))
            with fresh.snapshot() as wanted, self.store.snapshot() as found:
                for query in QUERIES:
                    terms, near = query.split(), vector(query)
                    assert found.search_words("parent", terms, 9) == wanted.search_words(
                        "parent", terms, 9
                    )
                    assert found.search_vectors("child-128", near, 3) == wanted.search_vectors(
                        "child-128", near, 3
                    )
        shutil.rmtree(fresh.path)


IndexMachine.TestCase.settings = settings(max_examples=12, stateful_step_count=15)
TestIndex = IndexMachine.TestCase
