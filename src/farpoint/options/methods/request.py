"""What options are discovered with: the parameters of `discover`, the same for every method."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.errors import InvalidInput, check_integer
from farpoint.worlds import World

# What the options of a method climb, or the answers to their edges, are vectors over all states.
_MOST_BYTES = 4 * 2**30


@dataclass(frozen=True)
class DiscoveryRequest:
    """The parameters of one discovery; see `discover` for their meaning.

    ``scoring`` holds keyword arguments of `score`. ``t_given`` is False where t is to be chosen for ``n_options``.
    """

    t: float
    scoring: Mapping[str, Any]
    t_given: bool
    n_options: int | None
    seed: int
    min_prominence: float
    include_first: bool
    option_probability: float | None
    n_jobs: int

    def check_number(self, world: World) -> None:
        """Fail if there are more options than states that an option may lead to."""
        most = world.n_states if world.restart is None else goal_states(world).size
        if check_integer("n_options", self.n_options, 1) > most:
            raise InvalidInput(f"n_options must be at most the number of states ({most}); got {self.n_options}.")


def goal_states(world: World) -> NDArray[np.int64]:
    """Return the states that an option may lead to: all except those in which an episode always ends."""
    return np.flatnonzero(~world.terminal)


def check_memory(world: World, n_options: int, n_vectors: int) -> None:
    """Fail before any work if so many vectors of one number per state would not fit."""
    if 8 * n_vectors * world.n_states > _MOST_BYTES:
        raise InvalidInput(
            f"n_options must leave {n_vectors} vectors of {world.n_states} states within {_MOST_BYTES >> 30} GiB; got "
            f"{n_options}. Ask for fewer with n_options."
        )
