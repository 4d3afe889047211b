"""Labels that say where a state is: a row and a column."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.worlds.array_keys import ArrayKey

# Pairs of numbers that fill less than this share of their map are hardly rows and columns, and their map is too large.
_LEAST_SHARE = 0.01


def positions_of_pairs(labels: Sequence[Hashable]) -> NDArray[np.int64] | None:
    """Return rows and columns if every label is a pair of whole numbers, so that their world can be drawn as a map.

    >>> positions_of_pairs([(0, 0), (0, 1)])
    array([[0, 0],
           [0, 1]])
    >>> positions_of_pairs([(0, 0), (0, 10**9)]) is None, positions_of_pairs([(0, "a")]) is None
    (True, True)
    """
    pairs = [_pair(label) for label in labels]
    if not pairs or any(pair is None for pair in pairs):
        return None
    corners = [(min(side), max(side)) for side in zip(*pairs, strict=True)]
    n_cells = (corners[0][1] - corners[0][0] + 1) * (corners[1][1] - corners[1][0] + 1)
    if len(pairs) < _LEAST_SHARE * n_cells or max(abs(end) for corner in corners for end in corner) > 2**31:
        return None
    return np.array(pairs, dtype=np.int64)


def _pair(label: Any) -> tuple[int, int] | None:
    if isinstance(label, ArrayKey):
        label = tuple(label.array.tolist()) if label.shape == (2,) else None
    if not isinstance(label, tuple) or len(label) != 2:
        return None
    if not all(isinstance(part, (int, np.integer)) and not isinstance(part, bool) for part in label):
        return None
    return int(label[0]), int(label[1])
