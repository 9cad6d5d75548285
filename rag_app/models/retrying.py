"""Which failed requests to a server are sent once more, and after how long.

A time-out is not retried: a slow server would do the same work twice, and be as late
again. Nor is an account that has nothing left.
"""

from __future__ import annotations

import math
from contextlib import suppress

from pipelines.errors import LLMTimeoutError, RagError
from rag_app.models.llm.errors import is_out_of_quota

MAX_RETRIES = 1
MAX_DELAY_SECONDS = 10.0
_DELAY_SECONDS = 0.5


def delay_or_raise(
    error: Exception, mapped: RagError, *, tried: int, retries: int = MAX_RETRIES
) -> float:
    """Return the seconds to wait before the next try, or raise our error.

    Args:
        error: what the client raised; a server may say there how long to wait.
        mapped: our error for it.
        tried: requests that were sent so far.
        retries: how many may follow the first one.
    """
    hopeless = isinstance(mapped, LLMTimeoutError) or is_out_of_quota(error)
    if not mapped.retryable or hopeless or tried > retries:
        # "from None": the client's own error may quote the key.
        raise mapped from None
    return min(_retry_after(error), MAX_DELAY_SECONDS)


def _retry_after(error: Exception) -> float:
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    with suppress(TypeError, ValueError):
        seconds = float(headers.get("retry-after") or "")
        return _DELAY_SECONDS if math.isnan(seconds) else max(seconds, 0.0)
    return _DELAY_SECONDS
