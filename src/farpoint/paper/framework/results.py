"""What a run of a suite computed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from farpoint.paper.framework.part import Arrays, Part

ScaleT = TypeVar("ScaleT")


@dataclass
class Results(Generic[ScaleT]):
    """The arrays of each part and the seconds that each took, with the scale that the run was made at.

    Examples
    --------
    >>> import numpy as np
    >>> part = Part.of("score", world_name="ring")
    >>> results = Results("full", {part: {"scores": np.ones(2)}}, {part: 0.5})
    >>> results[part]["scores"], results.seconds_of([part, part])
    (array([1., 1.]), 0.5)
    """

    scale: ScaleT
    arrays: dict[Part, Arrays] = field(default_factory=dict)
    seconds: dict[Part, float] = field(default_factory=dict)

    def __getitem__(self, part: Part) -> Arrays:
        return self.arrays[part]

    def __contains__(self, part: Part) -> bool:
        return part in self.arrays

    def seconds_of(self, parts: Iterable[Part]) -> float:
        """Return the seconds that these parts took, each counted once."""
        return sum(self.seconds[part] for part in dict.fromkeys(parts))
