"""The smallest piece of work of an experiment: what is computed, apart from what is shown."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Part:
    """A kind of computation and its parameters; the result is a dictionary of arrays.

    The suite says which function computes each kind. Experiments that need the same part share its result.

    Examples
    --------
    >>> Part.of("score", world_name="ring", t=4).name
    'score-ring-4-...'
    """

    kind: str
    params: tuple[tuple[str, Any], ...]

    @classmethod
    def of(cls, kind: str, **params: Any) -> Part:
        """Return the part of this kind; parameters that are None are left out."""
        return cls(kind, tuple(sorted((name, value) for name, value in params.items() if value is not None)))

    @property
    def name(self) -> str:
        """A name for files and progress: readable, and different for different parameters."""
        digest = hashlib.blake2b(json.dumps([self.kind, self.params]).encode(), digest_size=4).hexdigest()
        words = [value for _, value in sorted(self.params, reverse=True) if isinstance(value, str)]
        times = [f"{value:g}" for name, value in self.params if name == "t"]
        return "-".join([self.kind, *words, *times, digest]).replace("/", "_")
