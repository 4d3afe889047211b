"""Whether options harm: whether an agent that acts at random is slower with them than without."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from farpoint.blas import one_blas_thread
from farpoint.errors import check_fraction
from farpoint.measures.sparse_steps import mean_steps
from farpoint.measures.steps import steps_between_states
from farpoint.measures.visits import first_visits
from farpoint.options import OptionSet
from farpoint.worlds import World

# Enough to tell a world in which options harm from one in which they help.
_N_TARGETS = 20
# Up to this many states dense systems are as fast, and wait for no compiler.
_FEW_STATES = 300
# Beyond these, on two cores, it takes longer than some seconds: states times options; states of a map; and states of
# another world, whose sparse factors may fill up.
_MOST_TO_FOLLOW, _MOST_CELLS, _MOST_STATES = 2_000_000, 100_000, 3_000
_N_STEPS, _N_RUNS = 100_000, 100
# So many standard errors apart, simulated means are different.
_APART = 3.0


class Effect(NamedTuple):
    """Mean steps with options and without, what they are steps to, and the standard error of their difference."""

    helped: float
    alone: float
    measure: str
    error: float = 0.0

    @property
    def harms(self) -> bool:
        """Whether the options make things worse than none, beyond chance."""
        return self.helped > self.alone + _APART * self.error


@one_blas_thread()
def effect_of(
    world: World, options: OptionSet, *, option_probability: float | None = None, seed: int = 0
) -> Effect | None:
    """Return the mean steps of a random agent with options and without; None where that takes long or is undefined.

    In a world with episodes and targets: until a target is first reached, by simulation, a run that does not get there
    within 100 000 steps counted as that many. In a world in which every state can be reached from every other: between
    states, exactly, to 20 sampled targets; None where states times options are more than 2 000 000, and beyond 100 000
    states of a map or 3 000 of another world.

    Examples
    --------
    >>> import farpoint as fp
    >>> from farpoint.measures.harm import effect_of
    >>> world = fp.maze()
    >>> options = fp.discover(world, n_options=6)
    >>> effect_of(world, options, option_probability=0.5).harms, effect_of(world, options).harms
    (True, False)
    """
    chance = options.option_probability
    if option_probability is not None:
        chance = check_fraction("option_probability", option_probability)
    if world.restart is not None:
        if world.targets is None or world.targets.size == 0:
            return None
        firsts = [
            first_visits(world, chosen, option_probability=chance, n_steps=_N_STEPS, n_runs=_N_RUNS, seed=seed)
            for chosen in (options, None)
        ]
        steps = np.array([np.minimum(first[:, world.targets].min(axis=1), _N_STEPS) for first in firsts])
        error = float(np.sqrt((steps.var(axis=1, ddof=1) / _N_RUNS).sum()))
        helped, alone = steps.mean(axis=1).tolist()
        return Effect(helped, alone, "steps until a target is first reached", error)
    n_states, most = world.n_states, _MOST_STATES if world.floor is None else _MOST_CELLS
    if n_states > most or n_states * len(options) > _MOST_TO_FOLLOW:
        return None
    if connected_components(world.adjacency, connection="strong")[0] > 1:
        return None
    targets = np.sort(np.random.default_rng(seed).choice(n_states, size=min(_N_TARGETS, n_states), replace=False))
    helped, alone = (_mean_steps(world, chosen, targets, chance) for chosen in (options, None))
    return Effect(helped, alone, "steps between states")


def _mean_steps(world: World, options: OptionSet | None, targets: NDArray[np.int64], chance: float) -> float:
    if world.n_states <= _FEW_STATES:
        return float(steps_between_states(world, options, targets=targets, option_probability=chance).mean)
    return float(mean_steps(world, options, targets, chance, -1).mean())
