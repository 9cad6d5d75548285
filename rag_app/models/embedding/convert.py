"""Any transformer → a graph for OpenVINO, converted by torch once per model, then cached.

For architectures that ``bert`` does not build. Importing torch and tracing takes
seconds; later starts read the kept graph alone.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pipelines.optional import TORCH, needed
from rag_app.models.embedding.folder import ModelFolder, write_private
from rag_app.models.embedding.recipe import UnsupportedModelError
from rag_app.models.embedding.runtime import import_openvino

_log = logging.getLogger(__name__)
_NAME = re.compile(r"[0-9a-f]{32}")  # of the folder of a graph


def converted_graph(folder: ModelFolder, cache_dir: Path, *, limit_mb: int) -> Path:
    """Return the graph of a model's transformer, which is converted if it is not cached.

    The graph: (input_ids, attention_mask; int32, B × L) → token vectors, B × L × H.

    Args:
        folder: the model.
        cache_dir: where graphs are kept.
        limit_mb: size in MB of all graphs; the least recently used are removed first.

    Raises:
        UnsupportedModelError: it does not convert, or cannot be written.
        NotInstalledError: torch, which converts it, is not installed.
    """
    home = cache_dir / "models" / "graphs"
    version = import_openvino().__version__
    parts = f"{folder.fingerprint} {folder.settings_digest} {version}"
    target = home / hashlib.sha256(parts.encode()).hexdigest()[:32]
    graph = target / "model.xml"
    if graph.is_file():
        os.utime(target)  # the time of last use, for `_prune`
        return graph
    failed = target.with_suffix(".failed")
    if failed.is_file():
        raise UnsupportedModelError(failed.read_text(encoding="utf-8"))
    _log.warning("converting the embedding model %s, once; this takes some seconds", folder.name)
    try:
        _convert_into(target, graph.name, folder)
    except UnsupportedModelError as error:
        write_private(failed, str(error).encode())
        raise
    except OSError as error:
        if not graph.is_file():  # another process may have been faster
            raise UnsupportedModelError(f"its graph cannot be kept: {error}") from error
    _prune(home, limit_mb * 1_000_000, keep=target)
    return graph


def _convert_into(target: Path, name: str, folder: ModelFolder) -> None:
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as temporary:
        whole = Path(temporary) / "graph"
        whole.mkdir(mode=0o700)
        _convert(folder, whole / name)
        whole.replace(target)  # as a whole: never half a graph


def _convert(folder: ModelFolder, path: Path) -> None:
    ov = import_openvino()
    with needed(f"converting the embedding model {folder.name}, once,", *TORCH):
        import torch

        from rag_app.models.embedding.reference import load_reference, quiet

    transformer = load_reference(folder, device="cpu").transformer

    class TokenVectors(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.transformer = transformer

        def forward(self, input_ids: Any, attention_mask: Any) -> Any:
            output = self.transformer(input_ids=input_ids, attention_mask=attention_mask)
            return output.last_hidden_state

    ids = torch.ones((2, 16), dtype=torch.int32)
    try:
        with _undisturbed_logging(), quiet(), warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")  # of tracing; the agreement is checked afterwards
            model = ov.convert_model(
                TokenVectors().eval(),
                example_input={"input_ids": ids, "attention_mask": torch.ones_like(ids)},
                input=[(name, [-1, -1], ov.Type.i32) for name in ("input_ids", "attention_mask")],
            )
            ov.save_model(model, path, compress_to_fp16=False)
    except Exception as error:  # torch and OpenVINO raise anything here
        reason = str(error).strip().partition("\n")[0]
        raise UnsupportedModelError(f"it does not convert: {reason}") from error


@contextmanager
def _undisturbed_logging() -> Iterator[None]:
    """Restore the root logger: the converter sets its level and handlers."""
    root = logging.getLogger()
    level, handlers = root.level, root.handlers[:]
    try:
        yield
    finally:
        root.setLevel(level)
        root.handlers[:] = handlers


def _prune(home: Path, limit: int, *, keep: Path) -> None:
    # Only graphs, recognised by name: a folder of the user's may lie there as well.
    graphs = [
        path
        for path in home.iterdir()
        if _NAME.fullmatch(path.name) and not path.is_symlink() and (path / "model.xml").is_file()
    ]
    sizes = {path: sum(file.stat().st_size for file in path.iterdir()) for path in graphs}
    total = sum(sizes.values())
    for path in sorted(graphs, key=lambda path: path.stat().st_mtime):
        if total <= limit:
            return
        if path != keep:
            shutil.rmtree(path, ignore_errors=True)
            total -= sizes[path]
