"""Whatever happens to a PDF, it is read or is an error of ours with its reason."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from pipelines.errors import ReadError
from tests.hostile import mutations
from tests.hostile.mutations import mutated, run
from tests.support.drawn_pages import LEFT, RIGHT, across, page, picture, unpainted
from tests.support.forms import field, pdf_with
from tests.support.page_states import pdf_of_every_state
from tests.support.pdfs import make_pdf
from tests.support.vertical_pdfs import vertical_pdf

SEEDS = range(50)
DATA = Path(__file__).parents[2] / "data"


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, bytes]:
    """Small valid PDFs, one of each kind that is read in its own way."""
    folder = tmp_path_factory.mktemp("sources")
    texts = ["Net sales grew.", "所定労働時間"]
    labelled = make_pdf(folder / "labelled.pdf", texts, title="Report", labels=["i", "1"])
    return {
        "labelled": labelled.read_bytes(),
        "sample": (DATA / "larkfield-reservoir-review.pdf").read_bytes(),
        "states": pdf_of_every_state(),
        "form": pdf_with([field(b"Tx", b"name", b"/V(Ada)"), b"/Subtype/Text/Contents(Check.)"]),
        "vertical": vertical_pdf(["あいうえおかきくけこ", "さしすせそたちつてと"]),
        "columns": page(lambda canvas: across(canvas, (LEFT, RIGHT), step=220)),
        "hidden": page(_hidden),
    }


def _hidden(canvas) -> None:
    picture(canvas, 72, 500, 100, 100)
    unpainted(canvas, 80, 550, "Recognised text.")
    unpainted(canvas, 72, 700, "The fee is 40 dollars.")


def test_every_mutation_is_read_or_refused_with_a_reason(
    tmp_path: Path, sources: Mapping[str, bytes]
) -> None:
    tally = run(tmp_path, sources, SEEDS)
    assert tally.violations == []
    assert sum(tally.outcomes.values()) == len(SEEDS)
    assert tally.outcomes["read"] >= 20
    assert len(tally.outcomes) >= 3


def test_every_way_changes_a_file_and_a_seed_gives_the_same_file_again(
    sources: Mapping[str, bytes],
) -> None:
    import random

    names = set()
    for seed in range(60):
        way, data = mutated(sources["sample"], random.Random(seed))
        names.add(way)
        assert (way, data) == mutated(sources["sample"], random.Random(seed))
    assert names == set(mutations._WAYS)


@pytest.mark.parametrize(
    ("error", "violation"),
    [
        (ValueError("odd"), "!ValueError: odd"),
        (ReadError("no name", hint="leave it out"), "!no reason: no name (leave it out)"),
        (ReadError("0.pdf: it is damaged"), "!no reason: 0.pdf: it is damaged"),
    ],
)
def test_what_is_no_error_of_ours_with_a_reason_is_a_violation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, violation: str
) -> None:
    def failing(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(mutations, "read_file", failing)
    tally = run(tmp_path, {"one": pdf_of_every_state()}, [0])
    assert [one.rpartition("!")[2] for one in tally.violations] == [violation[1:]]
