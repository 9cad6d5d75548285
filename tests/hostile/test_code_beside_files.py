"""Modules that lie beside the PDFs, or beside the caller's program, are not run as ours."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.pdfs import make_pdf

ROOT = Path(__file__).parents[2]
TRAPS = (
    *("pickle", "json", "numpy", "pypdf", "pypdfium2", "struct", "subprocess", "typing", "re"),
    *("atexit", "contextlib", "sitecustomize", "llama_index", "typer", "pydantic", "rich"),
)


@pytest.fixture
def trapped(tmp_path):
    folder, mark = tmp_path / "papers", tmp_path / "was-run"
    folder.mkdir()
    for name in TRAPS:
        (folder / f"{name}.py").write_text(f"open({str(mark)!r}, 'a').write('{name} ')")
    (folder / "pipelines").mkdir()
    (folder / "pipelines" / "__init__.py").write_text(f"open({str(mark)!r}, 'a').write('p')")
    make_pdf(folder / "report.pdf", ["Net sales grew to $4.2 million."])
    return folder, mark


def rag(folder, *arguments):
    script = Path(sys.executable).with_name("rag")
    if not script.exists():
        pytest.skip("the script rag is not installed")
    return subprocess.run(
        [script, *arguments],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "RAG_CACHE_DIR": str(folder.parent / "cache")},
    )


def test_the_script_runs_nothing_of_the_folder_of_the_pdfs(trapped):
    folder, mark = trapped
    done = rag(folder, "ingest", "report.pdf", "--pipeline", "bm25")
    assert done.returncode == 0, done.stderr
    assert not mark.exists()


def python(script, folder, *options):
    return subprocess.run(
        [sys.executable, *options, str(script)],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


@pytest.mark.parametrize("module", ["pipelines.py", "pipelines/__init__.py"])
@pytest.mark.parametrize("first", ["import rag_app", "import pipelines, rag_app"])
def test_a_strangers_pipelines_is_named_with_what_to_do(tmp_path, module, first):
    stranger = tmp_path / module
    stranger.parent.mkdir(exist_ok=True)
    stranger.touch()
    script = tmp_path / "program.py"
    script.write_text(first)
    done = python(script, tmp_path)
    said = done.stderr.splitlines()[-1]
    assert said.startswith("ImportError: rag_app needs its own package 'pipelines'")
    assert str(tmp_path / "pipelines") in said
    assert "rename" in said
    script.write_text("import rag_app; rag_app.load_settings; print('imported')")
    assert python(script, tmp_path, "-P").stdout == "imported\n"


def test_a_folder_that_is_no_package_stands_in_nobodys_way(tmp_path):
    (tmp_path / "pipelines").mkdir()
    script = tmp_path / "program.py"
    script.write_text("import rag_app; rag_app.load_settings; print('imported')")
    assert python(script, tmp_path).stdout == "imported\n"


def test_as_a_module_it_imports_nothing_of_its_own_from_the_current_folder(tmp_path):
    mark = tmp_path / "was-run"
    for name in ("json", "typer", "pydantic", "numpy", "tomllib"):
        (tmp_path / f"{name}.py").write_text(f"open({str(mark)!r}, 'a').write('{name} ')")
    done = subprocess.run(
        [sys.executable, "-m", "rag_app", "--version"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    assert not mark.exists()
