"""Types of the arrays of a store."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
Vector = npt.NDArray[np.float32]
