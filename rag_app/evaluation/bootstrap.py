"""Bootstrap confidence intervals of a mean over questions.

B. Efron, R. Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13
(percentile interval). Paired: the differences per question are resampled.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pipelines.errors import ConfigError

RESAMPLES = 2000
# Numbers drawn at a time: 32 MB.
_MAX_DRAWS = 4_000_000


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean and its confidence interval."""

    mean: float
    low: float
    high: float

    def to_dict(self) -> dict[str, float]:
        """Return mean, low and high by name."""
        return {"mean": self.mean, "low": self.low, "high": self.high}

    def __format__(self, spec: str) -> str:
        return f"{self.mean:{spec}} [{self.low:{spec}}, {self.high:{spec}}]"


def interval(
    values: Sequence[float], *, seed: int = 0, resamples: int = RESAMPLES, level: float = 0.95
) -> Interval:
    """Return the mean of the values with its bootstrap percentile interval.

    The same values and seed give the same interval.

    Raises:
        ConfigError: no values, fewer than one resample, or a level outside (0, 1).
    """
    if not len(values):
        raise ConfigError("there is no question to take a mean of")
    if resamples < 1 or not 0 < level < 1:
        raise ConfigError(f"resamples = {resamples}, level = {level}", hint="above 0; 0 to 1")
    data = np.asarray(values, dtype=np.float64)
    means = _resampled_means(data, np.random.default_rng(seed), resamples)
    tail = (1 - level) / 2
    low, high = np.quantile(means, [tail, 1 - tail])
    return Interval(math.fsum(data) / len(data), float(low), float(high))


def _resampled_means(
    data: np.ndarray[tuple[int], np.dtype[np.float64]], rng: np.random.Generator, resamples: int
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    rows = max(1, _MAX_DRAWS // len(data))
    parts = [
        data[rng.integers(len(data), size=(min(rows, resamples - done), len(data)))].mean(axis=1)
        for done in range(0, resamples, rows)
    ]
    return np.concatenate(parts)
