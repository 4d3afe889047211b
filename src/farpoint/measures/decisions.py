"""How many decisions a plan takes from any state to any other, when an option is one decision."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, vstack

from farpoint.errors import check_jobs, check_memory
from farpoint.measures.steps import check_targets
from farpoint.options import Option, OptionSet
from farpoint.options.following import Following
from farpoint.options.option_set import check_same_world
from farpoint.options.routes import steps_to
from farpoint.parallel import parallel_map
from farpoint.worlds import World, WorldLike, as_world

_TARGETS_PER_TASK = 16


def decisions_between_states(
    world: WorldLike, options: OptionSet | None = None, *, targets: ArrayLike | None = None, n_jobs: int = -1
) -> NDArray[np.float64]:
    """Return the least expected number of decisions from every state to every target.

    What Average Options minimize (Ivanov, Bagaria and Konidaris, 2025): an agent that plans, not one that explores. A
    primitive choice is one decision, and an option is one decision too, which leads from wherever it can start to where
    it ends, however far that is. A target that an option passes on its way is not reached by it.

    Parameters
    ----------
    world : World
        Restarts are not decisions: a plan ends with its episode.
    options : OptionSet or None
        None, or an empty set: primitive choices only.
    targets : array of int, optional
        Default: every state.
    n_jobs : int
        Workers; -1 is one for each core.

    Returns
    -------
    array, shape (n_states, n_targets)
        inf where a target is not reached for certain.

    Examples
    --------
    >>> import farpoint as fp
    >>> world = fp.grid((7,))
    >>> fp.measures.decisions_between_states(world, fp.OptionSet(world, [5]), targets=[6])[:, 0]
    array([2., 2., 2., 2., 2., 1., 0.])
    >>> maze = fp.maze()
    >>> average = fp.discover(maze, "average", n_options=19)
    >>> [float(round(fp.measures.decisions_between_states(maze, options).mean(), 1)) for options in (None, average)]
    [12.7, 2.3]
    """
    world = as_world(world)
    check_same_world(world, options)
    chosen, n_jobs = check_targets(world, targets), check_jobs(n_jobs)
    n_options = 0 if options is None else len(options)
    check_memory("targets", chosen.size, 8 * world.n_states * (chosen.size + 4 * n_options))
    graph = _with_options_as_choices(world, options)
    tasks = [chosen[first : first + _TARGETS_PER_TASK] for first in range(0, chosen.size, _TARGETS_PER_TASK)]
    return np.concatenate(list(parallel_map(_decisions, graph, tasks, n_jobs=n_jobs)), axis=1)


def _decisions(graph: World, targets: Sequence[int]) -> NDArray[np.float64]:
    return np.stack([steps_to(graph, int(target)) for target in targets], axis=1)


def _with_options_as_choices(world: World, options: OptionSet | None) -> World:
    """Return the world in which each option is one more choice of the states in which it can start, without lengths."""
    rows, owners = [world.transitions], [world.choice_states]
    for option in options or ():
        begins = np.flatnonzero(option.initiation & ~option.ends)
        rows.append(_outcomes(option)[begins])
        owners.append(begins)
    owner = np.concatenate(owners)
    order = np.argsort(owner, kind="stable")
    choice_ptr = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=world.n_states))])
    return World.from_matrix(csr_array(vstack(rows, format="csr")[order]), choice_ptr)


def _outcomes(option: Option) -> csr_array:
    """Return the chances of where an option ends, from every state (rows)."""
    n_states = option.world.n_states
    if option.goal is not None:
        # An option to a goal starts only where it reaches it for certain.
        at_goal = (np.ones(n_states), (np.arange(n_states), np.full(n_states, option.goal)))
        return csr_array(at_goal, shape=(n_states, n_states))
    return Following(option).end_matrix()
