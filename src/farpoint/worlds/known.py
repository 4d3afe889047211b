"""What is known of a world from how it was built."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Known:
    """Properties of a world that follow from how it was built and need not be computed; None: not known."""

    symmetric: bool | None = None
    connected: bool | None = None
    floor: NDArray[np.bool_] | None = None
