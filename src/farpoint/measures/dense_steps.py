"""Expected steps between states by dense linear algebra.

While an option is followed the agent moves by a matrix P_k that is zero in the rows where the option ends;
E_k = (I − P_k)⁻¹ counts the visits, so E_k[s, j] at the states j where it ends is where it ends, and with
F_k[s, g] = E_k[s, g] / E_k[g, g], the chance of passing g, a target g on the way changes visits and ends by a term of
rank one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack
from scipy.sparse import csc_array, csr_array, diags_array, eye_array
from scipy.sparse.linalg import splu

from farpoint.engines import each
from farpoint.errors import InvalidInput
from farpoint.options import OptionSet
from farpoint.options.moves import move_matrix, primitive_moves
from farpoint.worlds import World

# K × n × targets doubles are held at once, and a few n × n arrays.
_MOST_BYTES = 4 * 2**30
# Below this reciprocal condition the rounding of a system is as large as its solution: the state is out of reach.
_SINGULAR = 1e-13


def expected_steps(
    world: World, options: OptionSet | None, targets: NDArray[np.int64], option_probability: float, n_jobs: int
) -> NDArray[np.float64]:
    """Return the expected steps from every state (rows) to each target; inf beyond what a double can tell."""
    _check_size(world, 0 if options is None else len(options), targets.size)
    primitive = primitive_moves(world)
    if options is None or len(options) == 0:
        return _Systems.without_options(primitive.toarray(), targets).solve(n_jobs)
    return _with_options(world, options, primitive, targets, option_probability, n_jobs)


def _check_size(world: World, n_options: int, n_targets: int) -> None:
    if 8 * n_options * world.n_states * n_targets > _MOST_BYTES:
        fits = _MOST_BYTES // (8 * n_options * world.n_states)
        raise InvalidInput(
            f"the exact table must fit in {_MOST_BYTES >> 30} GiB; got {n_options} options × {world.n_states} states "
            f"× {n_targets} targets. Pass targets= or n_targets=, at most {fits} of them."
        )


@dataclass(frozen=True, eq=False)
class _Systems:
    """The systems of all targets: moves and costs of a decision, less what options do after passing the target."""

    moves: NDArray[np.float64]
    cost: NDArray[np.float64]
    targets: NDArray[np.int64]
    weight: NDArray[np.float64]
    passing: NDArray[np.float64]
    ends_from_target: NDArray[np.float64]
    steps_from_target: NDArray[np.float64]

    @classmethod
    def without_options(cls, moves: NDArray[np.float64], targets: NDArray[np.int64]) -> _Systems:
        """Return the systems of a chain of unit steps."""
        n_states = len(moves)
        none = (
            np.zeros((0, n_states, targets.size)),
            np.zeros((0, targets.size, n_states)),
            np.zeros((0, targets.size)),
        )
        return cls(moves, np.ones(n_states), targets, np.zeros(n_states), *none)

    def solve(self, n_jobs: int) -> NDArray[np.float64]:
        """Return the expected steps to each target, one per column."""
        return np.column_stack(list(each(_solve_column, self, range(self.targets.size), n_jobs=n_jobs, label="steps")))


def _solve_column(systems: _Systems, column: int) -> NDArray[np.float64]:
    """Return the solution for one target of its system without the target's row and column."""
    caught = systems.weight[:, None] * systems.passing[:, :, column].T  # (n_states, n_options)
    system = np.eye(systems.cost.size) - systems.moves + caught @ systems.ends_from_target[:, column]
    right = systems.cost - caught @ systems.steps_from_target[:, column]
    others = np.delete(np.arange(right.size), systems.targets[column])
    times = np.zeros(right.size)
    times[others] = _solved(system[np.ix_(others, others)], right[others])
    return times


def _solved(system: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the solution, or inf where the system is singular to rounding."""
    if right.size == 0:
        return right
    norm = np.abs(system).sum(axis=0).max()
    factors, pivots, info = lapack.dgetrf(system)
    condition = lapack.dgecon(factors, norm)[0] if info == 0 else 0.0
    if condition < _SINGULAR:
        return np.full(right.size, np.inf)
    return np.asarray(lapack.dgetrs(factors, pivots, right)[0])


def _with_options(
    world: World,
    options: OptionSet,
    primitive: csr_array,
    targets: NDArray[np.int64],
    chance: float,
    n_jobs: int,
) -> NDArray[np.float64]:
    n_states, n_options = world.n_states, len(options)
    available = np.zeros(n_states)
    passing = np.empty((n_options, n_states, targets.size))  # F_k[s, g], 0 where option k cannot start
    ends_from_target = np.zeros((n_options, targets.size, n_states))  # where option k ends when followed from g
    steps_from_target = np.empty((n_options, targets.size))
    end = np.zeros((n_states, n_states))  # where a random option ends, summed over options
    steps = np.zeros(n_states)  # how long a random option takes, summed over options
    for k, option in enumerate(options):
        follow = move_matrix(world, option.choice_probabilities())
        stops = np.asarray(follow.sum(axis=1)) < 0.5
        starts = option.initiation.astype(np.float64)
        endings = np.flatnonzero(stops)
        visits = splu(csc_array(eye_array(n_states, format="csc") - follow))
        columns = np.zeros((n_states, targets.size))
        columns[targets, np.arange(targets.size)] = 1.0
        to_targets = visits.solve(columns)
        unit = np.zeros((n_states, endings.size))
        unit[endings, np.arange(endings.size)] = 1.0
        to_ends = visits.solve(unit)
        lasting = visits.solve((~stops).astype(np.float64))

        available += starts
        passing[k] = starts[:, None] * to_targets / to_targets[targets, np.arange(targets.size)]
        ends_from_target[k][:, endings] = to_ends[targets]
        steps_from_target[k] = lasting[targets]
        end[:, endings] += starts[:, None] * to_ends
        steps += starts * lasting

    some = available > 0
    weight = np.where(some, chance / np.maximum(available, 1.0), 0.0)  # of each option that can start here
    primitive_share = np.where(some, 1.0 - chance, 1.0)
    moves = diags_array(primitive_share) @ primitive
    moves = moves.toarray() + weight[:, None] * end
    cost = primitive_share + weight * steps

    return _Systems(moves, cost, targets, weight, passing, ends_from_target, steps_from_target).solve(n_jobs)
