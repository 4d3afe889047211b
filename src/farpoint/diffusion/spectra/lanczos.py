"""Scipy's Lanczos iterations, with the same result in each run.

They go on from a random vector where the space of the first one is used up, as in a cube, which has a few eigenvalues
that are repeated many times. From version 1.17 on scipy draws it anew in each run unless it is given a generator.
Before, it had one sequence for the whole process: the same in each process, but not for two calls in one.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from scipy.sparse.linalg import eigsh

_TAKES_GENERATOR = "rng" in inspect.signature(eigsh).parameters


def eigenpairs(matrix: Any, k: int, rng: np.random.Generator, **options: Any) -> Any:
    """Return what ``scipy.sparse.linalg.eigsh`` does; unless ``v0`` is given, it begins with a vector of the generator.

    >>> from scipy.sparse import eye_array
    >>> eigenpairs(2.0 * eye_array(50), 3, np.random.default_rng(0))[0].round(12)
    array([2., 2., 2.])
    """
    if "v0" not in options:
        options["v0"] = rng.standard_normal(matrix.shape[0])
    return eigsh(matrix, k, **options, **({"rng": rng} if _TAKES_GENERATOR else {}))
