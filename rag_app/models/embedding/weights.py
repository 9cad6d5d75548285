"""Weights as arrays over the mapped file: read on use, not copied.

Format: https://huggingface.co/docs/safetensors (8 bytes length, a JSON header, the data).
"""

from __future__ import annotations

import json
import mmap
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rag_app.models.embedding.recipe import UnsupportedModelError

Array = npt.NDArray[np.float32]
_MAX_HEADER_BYTES = 100_000_000  # the format's own limit


class Weights(dict[str, Array]):
    """The tensors of a file by name, as float32 arrays; see :func:`map_safetensors`."""

    def __init__(self, tensors: Mapping[str, Array], file: mmap.mmap) -> None:
        super().__init__(tensors)
        self._file = file

    def put_back(self) -> None:
        """Release the memory of pages that were read; used again, they are read again.

        A runtime has copied most of them into its own format.
        """
        if sys.platform == "linux":  # elsewhere the call means something else, or is missing
            self._file.madvise(mmap.MADV_DONTNEED)


def map_safetensors(path: Path) -> Weights:
    """Return the tensors of a ``.safetensors`` file as float32 arrays by name.

    Tensors of type F32 are views of the file's pages, F16 and BF16 are widened;
    others (position ids) are left out. The views are private: writing to one
    does not change the file.

    Raises:
        UnsupportedModelError: the file is damaged.
    """
    try:
        # A copy on writing: the runtime asks for writable memory, though it never writes.
        with path.open("rb") as opened:
            file = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_COPY)
        data = np.frombuffer(file, dtype=np.uint8)
        length = int(data[:8].view("<u8")[0])
        if length > _MAX_HEADER_BYTES:
            raise ValueError("its header is too long")
        header: dict[str, Any] = json.loads(bytes(data[8 : 8 + length]))
        body = data[8 + length :]
        tensors = {
            name: _tensor(body, entry) for name, entry in header.items() if name != "__metadata__"
        }
    except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
        raise UnsupportedModelError(f"{path.name} cannot be read: {error}") from error
    return Weights({n: tensor for n, tensor in tensors.items() if tensor is not None}, file)


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
