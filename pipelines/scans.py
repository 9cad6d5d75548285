"""Pictures of scans: how far their lines lean, and noise smoothed away."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pipelines.pictures import Picture

_Numbers = npt.NDArray[Any]

MAX_DEGREES = 15.0
MIN_DEGREES = 0.3  # Tesseract itself reads lines that lean less
_COARSE, _FINE = 1.0, 0.1  # degrees
_MIN_GAIN = 1.05  # of the profile, over that of the picture as it is
_MIN_DARK, _MAX_DARK = 50, 400_000  # pixels that are looked at


class Skew(NamedTuple):
    """How the lines of a picture lie.

    Attributes:
        degrees: by which they are turned clockwise.
        sideways: whether they run from top to bottom.
    """

    degrees: float
    sideways: bool


def skew_of(picture: Picture) -> Skew:
    """Return how the lines of a picture lie: lines of text make rows that differ most."""
    grey = _grey(picture)
    dark = np.flatnonzero(grey < grey.mean() - grey.std())
    if dark.size < _MIN_DARK:
        return Skew(0.0, sideways=False)
    dark = dark[:: max(1, dark.size // _MAX_DARK)]
    y, x = np.divmod(dark, picture.width)
    along, across = _best(x, y), _best(y, -x)
    sideways = across[0] > along[0]
    degrees = (across if sideways else along)[1]
    return Skew(degrees if abs(degrees) >= MIN_DEGREES else 0.0, sideways)


def _best(x: _Numbers, y: _Numbers) -> tuple[float, float]:
    """Return the sharpest profile, and the angle that it is at."""
    coarse = np.arange(-MAX_DEGREES, MAX_DEGREES + _COARSE / 2, _COARSE)
    near = max((_sharpness(x, y, angle), angle) for angle in coarse)[1]
    fine = near + np.arange(-_COARSE, _COARSE + _FINE / 2, _FINE)
    sharpest, angle = max((_sharpness(x, y, angle), -abs(angle), angle) for angle in fine)[::2]
    level = _sharpness(x, y, 0.0)
    return (sharpest, float(angle)) if sharpest > _MIN_GAIN * level else (level, 0.0)


def _sharpness(x: _Numbers, y: _Numbers, degrees: float) -> float:
    """Return how much rows differ, once lines that lean by an angle are level."""
    turn = np.radians(degrees)
    rows = (y * np.cos(turn) - x * np.sin(turn)).astype(np.int64)
    counts = np.bincount(rows - rows.min()).astype(np.float64)
    return float(np.square(np.diff(counts)).sum())


def paper_of(picture: Picture) -> int:
    """Return the level of grey of the paper: that of most pixels."""
    return int(np.median(_grey(picture)))


def smoothed(picture: Picture) -> Picture:
    """Return a picture whose pixels are averaged with their neighbours, by weights 1, 2, 1.

    Measured on scans with noise of 30 levels of grey: Japanese characters right .74 to .83
    without, .99 with; on clean ones no loss.
    """
    grey = np.pad(_grey(picture).astype(np.uint16), 1, mode="edge")
    rows = grey[:-2] + 2 * grey[1:-1] + grey[2:]
    both = (rows[:, :-2] + 2 * rows[:, 1:-1] + rows[:, 2:] + 8) >> 4
    return replace(picture, data=both.astype(np.uint8).tobytes(), stride=picture.width)


def _grey(picture: Picture) -> npt.NDArray[np.uint8]:
    rows = np.frombuffer(picture.data, np.uint8).reshape(picture.height, picture.stride)
    return rows[:, : picture.width]
