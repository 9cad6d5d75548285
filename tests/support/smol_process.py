"""The process of ``smol_server.py``: GGUF file → model folder, once; then ``transformers serve``.

    python -P smol_process.py FILE.gguf NAME

The model is made in the working folder and served under its name there. The
process ends when its stdin is closed, so it never outlives who started it.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import threading
from pathlib import Path


def main(gguf: Path, name: str) -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()
    if not Path(name).exists():
        _convert(gguf, Path(name))
    from transformers.cli.serve import Serve

    Serve(force_model=name, device="cpu", dtype="float32", host="127.0.0.1", port=0)


def _end_with_parent() -> None:
    sys.stdin.buffer.read()
    os._exit(0)


def _convert(gguf: Path, folder: Path) -> None:
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    model = AutoModelForCausalLM.from_pretrained(
        gguf.parent,
        gguf_file=gguf.name,
        quantization_config=GgufConfig(dequantize=True),
        dtype="bfloat16",
    )
    tokenizer = AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name)
    # Renamed when whole: a killed run leaves no half a model.
    half = Path(tempfile.mkdtemp(prefix=f"{folder.name}.", dir=folder.parent))
    try:
        model.save_pretrained(half)
        tokenizer.save_pretrained(half)
        half.rename(folder)
    except OSError:
        shutil.rmtree(half, ignore_errors=True)
        if not folder.exists():  # else another run was faster
            raise


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
