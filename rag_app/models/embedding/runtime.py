"""OpenVINO, configured for a fixed precision, no output, and shared cores."""

from __future__ import annotations

import os
import queue
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from rag_app.models.embedding.recipe import UnsupportedModelError

if TYPE_CHECKING:
    import openvino

Ids = npt.NDArray[np.int32]
Vectors = npt.NDArray[np.float32]
Precision = Literal["float32", "bfloat16"]
_HINTS = {"float32": "f32", "bfloat16": "bf16"}


def import_openvino() -> Any:
    """Import OpenVINO without its telemetry.

    A plain import posts an event to a statistics service and writes a client id into
    the home folder, unless the user opted out before. Without the telemetry package
    OpenVINO uses its own stub.

    Raises:
        UnsupportedModelError: it is not installed.
    """
    telemetry = "openvino_telemetry"
    hide = telemetry not in sys.modules
    if hide:
        sys.modules[telemetry] = None  # type: ignore[assignment]  # how Python says "not there"
    try:
        import openvino
    except ImportError as error:
        raise UnsupportedModelError(f"OpenVINO does not import: {error}") from error
    finally:
        if hide:
            del sys.modules[telemetry]
    return openvino


@cache
def core() -> Any:
    """Return the one ``openvino.Core`` of the process: making it takes a tenth of a second."""
    return import_openvino().Core()


def choose_precision(wanted: Literal["auto", "float32", "bfloat16"]) -> Precision:
    """Return the number format of the computation: as wanted, else the CPU's native one."""
    if wanted != "auto":
        return wanted
    capabilities = core().get_property("CPU", "OPTIMIZATION_CAPABILITIES")
    return "bfloat16" if "BF16" in capabilities else "float32"


def core_count() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@dataclass(frozen=True, slots=True)
class Batch:
    """Some texts as ids: ``rows`` are their positions among all, arrays are B × L."""

    rows: npt.NDArray[np.intp]
    ids: Ids
    mask: Ids


class Runner:
    """A compiled model; ``run`` may be called from several threads at once.

    One stream per core, one core per stream: for batches that is a tenth faster than
    all cores on one batch, and several questions at once do not wait for each other.
    """

    def __init__(self, model: openvino.Model, *, precision: Precision, threads: int | None) -> None:
        streams = threads or core_count()
        options = {
            "INFERENCE_PRECISION_HINT": _HINTS[precision],
            "NUM_STREAMS": streams,
            "INFERENCE_NUM_THREADS": streams,
            # With pinning, two processes would use the same core.
            "ENABLE_CPU_PINNING": False,
        }
        try:
            compiled = core().compile_model(model, "CPU", options)
        except RuntimeError as error:
            raise UnsupportedModelError(f"OpenVINO does not compile it: {error}") from error
        # A question must not wait for the requests of a long run of batches.
        self._single = _requests(compiled, streams)
        # One more than streams: the next batch is queued while a result is copied.
        self._bulk = _requests(compiled, streams + 1)

    def run(self, batches: Sequence[Batch]) -> Iterator[tuple[npt.NDArray[np.intp], Vectors]]:
        """Yield the rows and vectors of each batch, in order."""
        with _borrow(self._single if len(batches) == 1 else self._bulk, len(batches)) as requests:
            free = deque(requests)
            busy: deque[tuple[Any, Batch]] = deque()
            try:
                for batch in batches:
                    if not free:
                        yield _finish(busy, free)
                    request = free.popleft()
                    request.start_async([batch.ids, batch.mask])
                    busy.append((request, batch))
                while busy:
                    yield _finish(busy, free)
            finally:
                # An interrupted caller must not return requests that still compute.
                for request, _ in busy:
                    request.wait()


def _requests(compiled: Any, count: int) -> queue.SimpleQueue[Any]:
    requests: queue.SimpleQueue[Any] = queue.SimpleQueue()
    for _ in range(count):
        requests.put(compiled.create_infer_request())
    return requests


@contextmanager
def _borrow(idle: queue.SimpleQueue[Any], most: int) -> Iterator[list[Any]]:
    """Take the idle requests, at least one and at most ``most``, and give them back."""
    requests = [idle.get()]
    try:
        while len(requests) < most and not idle.empty():
            try:
                requests.append(idle.get_nowait())
            except queue.Empty:
                break
        yield requests
    finally:
        for request in requests:
            idle.put(request)


def _finish(
    busy: deque[tuple[Any, Batch]], free: deque[Any]
) -> tuple[npt.NDArray[np.intp], Vectors]:
    request, batch = busy[0]
    request.wait()
    vectors = np.array(request.get_output_tensor(0).data, dtype=np.float32)
    busy.popleft()
    free.append(request)
    return batch.rows, vectors
