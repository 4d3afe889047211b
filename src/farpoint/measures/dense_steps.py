"""Expected steps between states by dense linear algebra.

While an option is followed the agent moves by a matrix P_k that is zero in the rows where the option ends;
E_k = (I − P_k)⁻¹ counts the visits, so E_k[s, j] at the states j where it ends is where it ends, and with
F_k[s, g] = E_k[s, g] / E_k[g, g], the chance of passing g, a target g on the way changes visits and ends by a term of
rank one.

So the system of a target is I − M, M the moves of a whole decision, without the row and the column of the target, plus
one term of rank one per option. All targets share one factorization: with the target's row given back, less what it
then says too much, λ,

    (I − M) h = c − Σ_k u_k y_k + λ e_g,    h(g) = 0,    y_k = T_k + b_k h,

where u_k is the chance of taking option k and passing g, T_k how long it then lasts and b_k where it ends. I − M takes
all constants to 0; with 1/n added to every entry it is regular, if there is one set of states in which the agent ends
up, and its solutions are those above, up to a constant, where their mean is 0. That determines λ, so that λ and y are
the solution of a small system. A target for which that is not accurate, or nothing at all, gets factors of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack
from scipy.sparse import coo_array, csc_array, csr_array, diags_array, eye_array
from scipy.sparse.linalg import splu

from farpoint.display import progress_bar
from farpoint.errors import InvalidInput
from farpoint.options import OptionSet
from farpoint.options.routes import move_matrix, primitive_moves
from farpoint.parallel import parallel_map
from farpoint.worlds import World

_MOST_BYTES = 4 * 2**30
# n × n arrays that are held at once.
_SQUARES = 4
# Columns that are solved for at a time.
_COLUMNS = 64
# Below this reciprocal condition the rounding of a system is as large as its solution: the state is out of reach.
_SINGULAR = 1e-13
# More options per state than this, and a factorization for each target is cheaper.
_MANY_OPTIONS = 1 / 3
# How far a target's solution may be off, per step of its longest way, to be as good as one from factors of its own.
_ROUNDING = 4e-15
_EPSILON = float(np.finfo(np.float64).eps)


def expected_steps(
    world: World, options: OptionSet | None, targets: NDArray[np.int64], option_probability: float, n_jobs: int
) -> NDArray[np.float64]:
    """Return the expected steps from every state (rows) to each target; inf beyond what a double can tell."""
    _check_size(world, 0 if options is None else len(options), targets.size)
    primitive = primitive_moves(world)
    if options is None or len(options) == 0:
        return _Systems.without_options(primitive.toarray(), targets).solve(n_jobs)
    return _with_options(world, options, primitive, targets, option_probability, n_jobs)


def most_targets(n_states: int, n_options: int) -> int:
    """Return for how many targets the table fits into the memory that it may take.

    >>> most_targets(2_000, 10)
    12401
    """
    # For each target and state, two numbers of every option and the steps.
    return max(0, (_MOST_BYTES // (8 * n_states) - _SQUARES * n_states) // (2 * n_options + 1))


def _check_size(world: World, n_options: int, n_targets: int) -> None:
    fits = most_targets(world.n_states, n_options)
    if n_targets > fits:
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
            np.zeros((targets.size, 0, n_states)),
            np.zeros((0, targets.size, n_states)),
            np.zeros((0, targets.size)),
        )
        return cls(moves, np.ones(n_states), targets, np.zeros(n_states), *none)

    def solve(self, n_jobs: int) -> NDArray[np.float64]:
        """Return the expected steps to each target, one per column."""
        n_options = self.passing.shape[1]
        few = n_options <= _MANY_OPTIONS * self.cost.size and min(self.targets.size, self.cost.size) > 1
        shared = (self, _Shared.of(self) if few else None)
        # Many columns at a time, for which the factors are read once.
        width = max(1, _COLUMNS // (n_options + 1))
        some = [range(first, min(first + width, self.targets.size)) for first in range(0, self.targets.size, width)]
        return np.hstack(list(parallel_map(_solve_columns, shared, some, n_jobs=n_jobs, label="steps")))

    def caught(self, column: int) -> NDArray[np.float64]:
        """Return the u_k of one target, shape (n_states, n_options)."""
        return np.asarray(self.weight[:, None] * self.passing[column].T)

    def of(self, column: int) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Return what changes with one target: the u_k, where options end beyond it, and the right side."""
        caught = self.caught(column)
        return caught, self.ends_from_target[:, column], self.cost - caught @ self.steps_from_target[:, column]


@dataclass(frozen=True, eq=False)
class _Shared:
    """The factors of I − M + 1/n, the solution with the costs of decisions alone, and how far a target may be."""

    factors: NDArray[np.float64]
    pivots: NDArray[np.int32]
    base: NDArray[np.float64]
    longest: float

    @classmethod
    def of(cls, systems: _Systems) -> _Shared | None:
        """Return them; None where they are singular to rounding."""
        n_states = systems.cost.size
        regular = np.negative(systems.moves)
        regular[np.diag_indices(n_states)] += 1.0
        regular += 1.0 / n_states
        norm = np.abs(regular).sum(axis=0).max()
        factors, pivots, info = lapack.dgetrf(regular, overwrite_a=1)
        if info != 0 or lapack.dgecon(factors, norm)[0] < _SINGULAR:
            return None
        # The inverse of a target's own system counts decisions: if none took less than one step, a target that is no
        # farther than this would have a better condition than `_SINGULAR`.
        longest = 1.0 / (_SINGULAR * n_states * (1.0 + systems.moves.sum(axis=0).max()))
        return cls(factors, pivots, lapack.dgetrs(factors, pivots, systems.cost)[0], float(longest))

    def times(self, systems: _Systems, columns: range) -> list[NDArray[np.float64] | None]:
        """Return the steps to some targets; None where they are not accurate, or so many that they may be infinite."""
        n_states, n_options = systems.cost.size, systems.passing.shape[1]
        sides = np.zeros((n_states, len(columns), n_options + 1), order="F")
        for place, column in enumerate(columns):
            sides[:, place, :n_options] = systems.caught(column)
            sides[systems.targets[column], place, n_options] = -1.0
        # A copy: scipy counts pivots from 1 while it works and from 0 again afterwards, which other threads would see.
        flat = sides.reshape(n_states, -1, order="F")
        flat = lapack.dgetrs(self.factors, self.pivots.copy(), flat, overwrite_b=1)[0]
        answers = flat.reshape(sides.shape, order="F")
        times = np.empty((n_states, len(columns)), order="F")
        for place, column in enumerate(columns):
            times[:, place] = self._solved_for(systems, column, answers[:, place])
        moved = systems.moves @ times
        return [
            times[:, place] if self._is_exact(systems, column, times[:, place], moved[:, place]) else None
            for place, column in enumerate(columns)
        ]

    def _solved_for(self, systems: _Systems, column: int, answers: NDArray[np.float64]) -> NDArray[np.float64] | float:
        """Return the steps to one target from what the factors give for its terms of rank one; nan if it has none."""
        target, n_states, ends = systems.targets[column], systems.cost.size, systems.ends_from_target[:, column]
        n_options = len(ends)
        # b_k h with h = x − x(g), then one row more: the mean of x is 0.
        rows = np.vstack([ends, np.full(n_states, 1.0 / n_states)])
        rows[:n_options, target] -= ends.sum(axis=1)
        small = rows @ answers
        small[:n_options, :n_options] += np.eye(n_options)
        known = rows @ self.base
        known[:n_options] += systems.steps_from_target[:, column]
        try:
            times = self.base - answers @ np.linalg.solve(small, known)
        except np.linalg.LinAlgError:
            return np.nan
        return np.asarray(times - times[target])

    def _is_exact(self, systems: _Systems, column: int, times: NDArray[np.float64], moved: NDArray[np.float64]) -> bool:
        """Return whether the steps to a target fit its system, and are not so many that they may be infinite."""
        caught, ends, right = systems.of(column)
        left = right - (times - moved + caught @ (ends @ times))
        left[systems.targets[column]] = 0.0
        largest, shortest_decision = times.max(), np.delete(right, systems.targets[column]).min()
        near = largest <= self.longest * shortest_decision
        # The inverse has no negative entry and takes the right side to the solution, so that what is left of the right
        # side, which rounds too, is the relative error if the shortest decision has it.
        exact = np.abs(left).max() + _EPSILON * largest <= _ROUNDING * largest * shortest_decision
        return bool(near and exact and times.min() >= 0.0)


def _solve_columns(shared: tuple[_Systems, _Shared | None], columns: range) -> NDArray[np.float64]:
    """Return the solutions for some targets: by the shared factors, or each without the target's row and column."""
    systems, factors = shared
    found = [None] * len(columns) if factors is None else factors.times(systems, columns)
    solved = zip(columns, found, strict=True)
    return np.column_stack([_solve_alone(systems, column) if times is None else times for column, times in solved])


def _solve_alone(systems: _Systems, column: int) -> NDArray[np.float64]:
    caught, ends, right = systems.of(column)
    system = np.eye(right.size) - systems.moves + caught @ ends
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
    passing = np.empty((targets.size, n_options, n_states))  # F_k[s, g], 0 where option k cannot start
    ends_from_target = np.zeros((n_options, targets.size, n_states))  # where option k ends when followed from g
    steps_from_target = np.empty((n_options, targets.size))
    end = np.zeros((n_states, n_states))  # where a random option ends, summed over options
    steps = np.zeros(n_states)  # how long a random option takes, summed over options
    with progress_bar("following options", n_options) as tell:
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
            to_targets /= to_targets[targets, np.arange(targets.size)]
            passing[:, k] = starts * to_targets.T
            ends_from_target[k][:, endings] = to_ends[targets]
            steps_from_target[k] = lasting[targets]
            end[:, endings] += starts[:, None] * to_ends
            steps += starts * lasting
            tell(k + 1)

    some = available > 0
    weight = np.where(some, chance / np.maximum(available, 1.0), 0.0)  # of each option that can start here
    primitive_share = np.where(some, 1.0 - chance, 1.0)
    moves = end
    moves *= weight[:, None]
    own = coo_array(diags_array(primitive_share) @ primitive)
    moves[own.coords] += own.data
    cost = primitive_share + weight * steps

    return _Systems(moves, cost, targets, weight, passing, ends_from_target, steps_from_target).solve(n_jobs)
