"""A user's metadata → values that JSON and UTF-8 can hold, otherwise unchanged."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from pipelines.errors import ConfigError
from pipelines.file_names import storable

_MAX_LEVELS = 100  # of nesting; metadata that refers to itself has more


def storable_metadata(metadata: Mapping[Any, Any]) -> dict[str, Any]:
    """Return the metadata with text that UTF-8 can hold, in keys and values at every depth.

    Keys become text, as do values that JSON does not know and numbers that are not
    finite.

    Raises:
        ConfigError: it is nested too deeply, or refers to itself.
    """
    found = _storable(metadata, 0)
    return {str(key): value for key, value in found.items()}


def _storable(value: Any, level: int) -> Any:
    if level > _MAX_LEVELS:
        raise ConfigError(
            f"its metadata is nested more than {_MAX_LEVELS} levels deep, or refers to itself",
            hint="give plain values: texts, numbers, lists of them",
        )
    if isinstance(value, Mapping):
        return {storable(str(key)): _storable(one, level + 1) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_storable(one, level + 1) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, (bool, int, float)):
        return value
    return storable(str(value))
