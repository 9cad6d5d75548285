"""Weights as arrays over the file itself: nothing is read before it is used, nothing copied.

Format: https://huggingface.co/docs/safetensors (8 bytes length, a JSON header, the data).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rag_app.models.recipe import UnsupportedModelError

Array = npt.NDArray[np.float32]
_MAX_HEADER = 100_000_000  # the format's own limit


def map_safetensors(path: Path) -> dict[str, Array]:
    """Return the tensors of a ``.safetensors`` file as float32 arrays by name.

    Tensors of type F32 are views of the file's pages, F16 and BF16 are widened;
    others (position ids) are left out. The views are private: writing to one
    does not change the file.

    Raises:
        UnsupportedModelError: the file is damaged.
    """
    try:
        # "c": the runtime asks for writable memory, though it never writes.
        data = np.memmap(path, dtype=np.uint8, mode="c")
        length = int(data[:8].view("<u8")[0])
        if length > _MAX_HEADER:
            raise ValueError("its header is too long")
        header: dict[str, Any] = json.loads(bytes(data[8 : 8 + length]))
        body = data[8 + length :]
        tensors = {
            name: _tensor(body, entry) for name, entry in header.items() if name != "__metadata__"
        }
    except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
        raise UnsupportedModelError(f"{path.name} does not read: {error}") from error
    return {name: tensor for name, tensor in tensors.items() if tensor is not None}


def _tensor(body: npt.NDArray[np.uint8], entry: dict[str, Any]) -> Array | None:
    start, end = entry["data_offsets"]
    raw = body[start:end]
    if entry["dtype"] == "F32":
        values = raw.view("<f4")
    elif entry["dtype"] == "F16":
        values = raw.view("<f2").astype(np.float32)
    elif entry["dtype"] == "BF16":
        # bfloat16 is the upper half of a float32.
        values = (raw.view("<u2").astype(np.uint32) << 16).view(np.float32)
    else:
        return None
    shaped: Array = values.reshape(entry["shape"])
    return shaped
