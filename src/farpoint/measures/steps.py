"""How many steps it takes to get from any state to any other, exactly.

The agent of the paper's Table 1: at each decision it takes, with probability p (the paper has ½), a uniformly random
option of those that can start here, which it follows to its end, and otherwise a random primitive choice; every
primitive step counts, and reaching the target ends it, also in the middle of an option. Where no option can start it
takes a primitive choice. Primitive choices are drawn by their weights, as the random walk of the score is: uniformly in
worlds without weights.

The expectation is a linear system: `dense_steps` writes it out, `sparse_steps` solves it on large worlds.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components

from farpoint.blas import one_blas_thread
from farpoint.errors import InvalidInput, NotConnected, check_fraction, check_integer, check_jobs
from farpoint.measures.dense_steps import expected_steps
from farpoint.measures.sparse_steps import mean_steps
from farpoint.measures.steps_result import StepsBetweenStates
from farpoint.options import OptionSet
from farpoint.options.option_set import check_same_world
from farpoint.options.probability import PAPER_OPTION_PROBABILITY
from farpoint.worlds import World, WorldLike, as_world

# Larger worlds go the sparse way, to sampled targets.
_MOST_STATES = 6_000
_SAMPLED_TARGETS = 100


@one_blas_thread()
def steps_between_states(
    world: WorldLike,
    options: OptionSet | None = None,
    *,
    targets: ArrayLike | None = None,
    n_targets: int | None = None,
    option_probability: float = PAPER_OPTION_PROBABILITY,
    seed: int = 0,
    n_jobs: int = -1,
) -> StepsBetweenStates:
    """Return the exact expected number of steps from every state to every target, for an agent that acts at random.

    Worlds of more than 6 000 states are solved with sparse factors: exactly too, but the table of starts is not kept.

    Parameters
    ----------
    world : World
        A world in which every state can be reached from every other.
    options : OptionSet or None
        None, or an empty set: primitive choices only.
    targets : array of int, optional
        Default: every state, or, of more than 6 000, 100 sampled ones.
    n_targets : int, optional
        How many states to draw as targets, uniformly without replacement, instead of naming them; all of them if there
        are no more.
    option_probability : float
        Probability that a decision is an option, where one can start; the paper's agent has ½.
    seed : int
        For that draw.
    n_jobs : int
        Workers; -1 is one for each core.

    Returns
    -------
    StepsBetweenStates
        Its ``mean_estimate`` and ``median_estimate`` have the sampling error of the targets.
        Rounding grows with the steps: a relative 1e-15 times the longest way to a target, 1e-5 where it takes 1e10.
        With inf for a target that options make so hard to reach that a double cannot tell how hard (beyond about 1e13
        steps).

    Raises
    ------
    NotConnected
        If some state cannot be reached from some other: the expectation would be infinite.

    Examples
    --------
    >>> import farpoint as fp
    >>> world = fp.four_rooms()
    >>> with_options = fp.steps_between_states(world, fp.discover(world, t=4))
    >>> alone = fp.steps_between_states(world, None)
    >>> round(with_options.median), round(alone.median)
    (149, 487)
    >>> fp.steps_between_states(fp.random_maze(100, 100), n_targets=20, seed=1)
    StepsBetweenStates(...over 20 sampled of 7404 targets)
    """
    world = as_world(world)
    check_crossable(world)
    check_same_world(world, options)
    n_jobs = check_jobs(n_jobs)
    chance = check_fraction("option_probability", option_probability)
    chosen, sampled = _chosen_targets(world, targets, n_targets, seed)
    if world.n_states > _MOST_STATES:
        means = mean_steps(world, options, chosen, chance, n_jobs)
        return StepsBetweenStates(None, chosen, means, world.n_states, sampled)
    times = expected_steps(world, options, chosen, chance, n_jobs)
    return StepsBetweenStates(times, chosen, None, world.n_states, sampled)


def _chosen_targets(
    world: World, targets: ArrayLike | None, n_targets: int | None, seed: int
) -> tuple[NDArray[np.int64], bool]:
    """Return the targets, named or drawn or all, and whether they were drawn."""
    seed = check_integer("seed", seed, 0)
    if targets is not None:
        if n_targets is not None:
            raise InvalidInput("targets must be named or drawn; got both targets and n_targets. Drop one of them.")
        return check_targets(world, targets), False
    if n_targets is None and world.n_states > _MOST_STATES:
        n_targets = _SAMPLED_TARGETS
    if n_targets is None or check_integer("n_targets", n_targets, 1) >= world.n_states:
        return check_targets(world, None), False
    drawn = np.random.default_rng(seed).choice(world.n_states, size=int(n_targets), replace=False)
    return np.sort(drawn).astype(np.int64), True


def check_targets(world: World, targets: ArrayLike | None) -> NDArray[np.int64]:
    """Return the targets asked for, at least one; all states by default."""
    chosen = np.arange(world.n_states) if targets is None else world.check_states("targets", targets)
    if chosen.size == 0:
        raise InvalidInput("targets must have at least one state; got none.")
    return chosen


def check_crossable(world: World) -> None:
    """Fail unless every state can be reached from every other."""
    n_parts, part = connected_components(world.adjacency, directed=True, connection="strong")
    if n_parts > 1:
        raise NotConnected(f"every state must be reachable from every other; got {_gap(world, part)}. {_remedy(world)}")


def _gap(world: World, part: NDArray[np.int32]) -> str:
    """Say how many states cannot be reached from one of the largest part, or else how many do not lead to it."""
    first = int(np.flatnonzero(part == np.bincount(part).argmax())[0])
    reached, words = _reached(world.adjacency, first), "that cannot be reached from"
    if reached.size == world.n_states:
        reached, words = _reached(world.incoming, first), "without a way to"
    others = np.setdiff1d(np.arange(world.n_states), reached)
    states = "state" if others.size == 1 else "states"
    return f"{others.size:,} {states} of {world.n_states:,} {words} state {first}, such as {others[0]}"


def _reached(moves: csr_array, state: int) -> NDArray[np.int32]:
    return np.asarray(breadth_first_order(moves, state, return_predecessors=False))


def _remedy(world: World) -> str:
    if world.restart is not None:
        return "In a world with episodes use measures.first_visits or learn_episodes, which begin anew where one ends."
    if len(world.component_sizes) > 1:
        return "Build the world with largest_component=True to keep its largest part."
    return "Some moves cannot be undone: use measures.first_visits, or World.from_log with largest_component=True."
