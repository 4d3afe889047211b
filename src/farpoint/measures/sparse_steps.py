"""Mean steps to each target on worlds that are too large for dense tables, exactly.

With A = I − diag(share) P the moves of an agent that takes primitive choices until it takes an option, C where an
option ends that is taken in each state, c the mean steps of one decision, and for a target g the column u_k, the chance
of taking option k and passing g with it, the expected steps h to g solve

    A h = c + C h − Σ_k u_k y_k + λ e_g,    h(g) = 0,    y_k = T_k(g) + B_k(g, ·) h,

where T_k(g) and B_k(g, ·) are how long option k lasts and where it ends when followed from g: what lies beyond g is
taken off again. λ stands for the row of g, which does not hold.

C has few columns that are not zero where options end in few states E, so that h is known from h on E. An option that
ends in many states (it climbs a function with many local maxima) ends near where it starts: its part of C is sparse and
belongs to A. One more column takes the primitive moves of one state out of A, so that A is regular without any option.
Of A⁻¹ only rows are needed, one for each state of E and each target and one for the mean over starts, and of an option
only x E_k for those rows x: A is factored once, each row costs one solve, and each option is followed once by each row.

In the end there is a small dense system for each target.

A functional φ of h (its value in a state, its mean) is known from the row φ A⁻¹:

    φ h = cost − Σ_k passing_k y_k + λ to_target + ends · h_E.

On E itself that is (I − W) h_E = r with W the chances of going from one end of an option to the next, a stochastic
matrix: I − W is singular, h_E is known up to a constant α, and π r = 0 for the stationary π of W. I − W is factored
once for all targets; what is left for each are α, λ and one y for each option.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack, lu_factor, lu_solve
from scipy.sparse import csc_array, csr_array, diags_array, eye_array

from farpoint.errors import InvalidInput
from farpoint.options import OptionSet
from farpoint.options.following import Following, factored
from farpoint.options.routes import primitive_moves
from farpoint.parallel import parallel_map
from farpoint.worlds import World

# An option with more ends than this belongs to A.
MANY_ENDS = 64
# At most so many columns of n_states numbers at a time and worker, and at most so many bytes of them.
_COLUMNS = 64
_COLUMN_BYTES = 128 * 2**20
_OPTIONS_PER_TASK = 8
# options × ends × targets doubles are held twice.
_MOST_BYTES = 4 * 2**30
# So many steps show where a drift begins to gather the agent, so many factors where it ends up.
_DRIFT_STEPS = 200
_MEETINGS = 4
# A state that is visited more often than this between two visits to the meeting place is a better one.
_OFTEN = 10.0
# A double cannot tell further than this how hard a target is to reach: the same limit as that of the dense systems.
_BEYOND = 1e13
# A row of chances that does not sum to 1 to this, or a solution that does not fit its equations to it, is rounding.
_WRONG = 1e-3


def mean_steps(
    world: World,
    options: OptionSet | None,
    targets: NDArray[np.int64],
    option_probability: float,
    n_jobs: int,
) -> NDArray[np.float64]:
    """Return the expected steps to each target, averaged over all starts; inf beyond what a double can tell.

    Examples
    --------
    >>> import numpy as np, farpoint as fp
    >>> world = fp.four_rooms()
    >>> options = fp.discover(world, t=4)
    >>> exact = fp.steps_between_states(world, options, targets=[3, 50], option_probability=0.5)
    >>> np.allclose(mean_steps(world, options, np.array([3, 50]), 0.5, 1), exact.per_target, rtol=1e-10)
    True
    """
    n_options = 0 if options is None else len(options)
    if options is not None and options.climbs is None:
        _check_size(n_options, np.unique(options.goals).size, targets.size)  # known before any work
    followed = _follow_all(world, options, targets, n_jobs)
    ends = np.unique(np.concatenate([option.ends for option in followed.options] or [np.empty(0, dtype=np.int64)]))
    _check_size(n_options, ends.size, targets.size)
    try:
        chain = _chain(world, options, followed, ends, targets, option_probability)
    except RuntimeError:  # A is singular to rounding: no state is met in less than 1e15 steps
        return np.full(targets.size, np.inf)
    rows = [
        *_chunks(world, ends.size + 2, of_targets=False),
        *_chunks(world, chain.own_rows.shape[0], of_targets=True),
    ]
    parts = list(parallel_map(_solve_rows, chain, rows, n_jobs=n_jobs, label="steps"))
    whole = _joined([part for part, task in zip(parts, rows, strict=True) if not task.of_targets])
    own = _joined([part for part, task in zip(parts, rows, strict=True) if task.of_targets])
    return mean_steps_to(_crossings(chain, followed, ends, whole, own))


class _Follow(NamedTuple):
    options: OptionSet
    targets: NDArray[np.int64]


class _FromTargets(NamedTuple):
    """One option followed from each target."""

    ends: NDArray[np.int64]  # where it ends; none for an option that belongs to A
    near: bool  # whether it belongs to A
    end_chances: Any  # (n_targets, ends), or, for an option that belongs to A, sparse (n_targets, n_states)
    steps: NDArray[np.float64]
    visits_to_itself: NDArray[np.float64]  # E_k[g, g]


class _Followed(NamedTuple):
    options: list[_FromTargets]
    available: NDArray[np.int64]
    near_ends: csr_array | None  # the end matrices of those that belong to A, summed where they can start


def _follow_all(world: World, options: OptionSet | None, targets: NDArray[np.int64], n_jobs: int) -> _Followed:
    available, near_ends, followed = np.zeros(world.n_states, dtype=np.int64), None, []
    if options is not None and len(options):
        tasks = [
            range(first, min(first + _OPTIONS_PER_TASK, len(options)))
            for first in range(0, len(options), _OPTIONS_PER_TASK)
        ]
        for some in parallel_map(_follow_some, _Follow(options, targets), tasks, n_jobs=n_jobs, label="routes"):
            followed += some.options
            available += some.available
            if some.near_ends is not None:
                near_ends = some.near_ends if near_ends is None else csr_array(near_ends + some.near_ends)
    return _Followed(followed, available, near_ends)


def _follow_some(shared: _Follow, numbers: range) -> _Followed:
    world, targets = shared.options.world, shared.targets
    available, near_ends, followed = np.zeros(world.n_states, dtype=np.int64), None, []
    for number in numbers:
        following = Following(shared.options[number])
        available += following.option.initiation
        ends, going = following.ends, ~following.stops
        near = ends.size > MANY_ENDS
        if near:
            matrix = following.end_matrix()
            here = csr_array(diags_array(following.starts) @ matrix)
            near_ends = here if near_ends is None else csr_array(near_ends + here)
        steps, itself = np.empty(targets.size), np.empty(targets.size)
        chances = np.zeros((targets.size, 0 if near else ends.size))
        width = _width(world)
        for first in range(0, targets.size, width):
            some = slice(first, min(first + width, targets.size))
            columns = np.arange(some.stop - first)
            mass = np.zeros((world.n_states, columns.size))
            mass[targets[some], columns] = 1.0
            visits = following.visits(mass)
            steps[some] = going @ visits
            itself[some] = visits[targets[some], columns]
            if not near:
                chances[some] = visits[ends].T
        none = np.empty(0, dtype=np.int64)
        followed.append(
            _FromTargets(none if near else ends, near, csr_array(matrix[targets]) if near else chances, steps, itself)
        )
    return _Followed(followed, available, near_ends)


def _check_size(n_options: int, n_ends: int, n_targets: int) -> None:
    if 16 * (n_options + 1) * (n_ends + 1) * n_targets > _MOST_BYTES or 16 * n_ends**2 > _MOST_BYTES:
        raise InvalidInput(
            f"options × their ends × targets must fit in {_MOST_BYTES >> 30} GiB; got {n_options} options × {n_ends} "
            f"ends × {n_targets} targets. Ask for fewer options or targets."
        )


@dataclass(frozen=True, eq=False)
class _Chain:
    """What the rows of A⁻¹ are solved and followed with."""

    world: World
    options: OptionSet | None
    system: csc_array  # A
    share: NDArray[np.float64]  # chance of a primitive choice
    weight: NDArray[np.float64]  # chance of each option that can start
    meeting: int  # the state whose primitive moves are taken out of A
    ends: list[NDArray[np.int64]]  # of each option, as columns of `rows`
    end_states: NDArray[np.int64]
    near: NDArray[np.bool_]
    targets: NDArray[np.int64]
    rows: csr_array  # h on E, one step after the meeting place, on average over starts
    own_rows: csr_array  # of each target: h there, and after each option of A followed from there
    own_targets: NDArray[np.int64]
    known_factors: Any = None

    @cached_property
    def factors(self) -> Any:
        """Factors of A; they cannot be sent to another process, which makes its own."""
        return factored(self.system) if self.known_factors is None else self.known_factors

    def __reduce__(self) -> tuple[Any, ...]:
        names = [item.name for item in fields(self) if item.name != "known_factors"]
        return _Chain, tuple(getattr(self, name) for name in names)


def _chain(
    world: World,
    options: OptionSet | None,
    followed: _Followed,
    ends: NDArray[np.int64],
    targets: NDArray[np.int64],
    chance: float,
) -> _Chain:
    n_states = world.n_states
    some = followed.available > 0
    share = np.where(some, 1.0 - chance, 1.0)
    weight = np.where(some, chance / np.maximum(followed.available, 1), 0.0)
    moves = primitive_moves(world)
    near_moves = None if followed.near_ends is None else diags_array(weight) @ followed.near_ends
    meeting, system, factors = _regular(moves, share, near_moves)
    unit = _unit_rows(n_states, ends)
    mean = csr_array(np.full((1, n_states), 1.0 / n_states))
    near = np.array([option.near for option in followed.options], dtype=bool)
    # Target by target: first its own row, then one for each option of A.
    n_near = int(near.sum())
    stacked = _stack(
        [_unit_rows(n_states, targets), *(option.end_chances for option in followed.options if option.near)]
    )
    order = (np.arange(targets.size)[:, None] + targets.size * np.arange(n_near + 1)[None, :]).ravel()
    return _Chain(
        world, options, system, share, weight, meeting,
        [np.searchsorted(ends, option.ends) for option in followed.options], ends, near, targets,
        _stack([unit, csr_array(moves[[meeting]]), mean]), csr_array(stacked[order]),
        np.repeat(targets, n_near + 1), factors,
    )  # fmt: skip


def _stack(parts: list[csr_array]) -> csr_array:
    from scipy.sparse import vstack

    return csr_array(vstack(parts, format="csr"))


def _unit_rows(n_states: int, states: NDArray[np.int64]) -> csr_array:
    return csr_array((np.ones(states.size), (np.arange(states.size), states)), shape=(states.size, n_states))


def _regular(moves: csr_array, share: NDArray[np.float64], near_moves: Any) -> tuple[int, csc_array, Any]:
    """Return the meeting place, A without its primitive moves, and the factors of A.

    The meeting place should be a state that a random walk often comes to: the time until it is met is the condition
    of A.
    """
    meeting = _gathering(moves)
    for attempt in range(_MEETINGS):
        kept = share.copy()
        kept[meeting] = 0.0
        system = eye_array(moves.shape[0]) - diags_array(kept) @ moves
        system = csc_array(system if near_moves is None else system - near_moves)
        factors = factored(system)
        between = factors.solve(moves[[meeting]].toarray()[0], "T")
        if attempt == _MEETINGS - 1 or not between.max() > _OFTEN:
            break
        meeting = int(between.argmax())
    return meeting, system, factors


def _gathering(moves: csr_array) -> int:
    """Return where most of a random walk from everywhere is after a while."""
    at = np.full(moves.shape[0], 1.0 / moves.shape[0])
    flow = csr_array(moves.T)
    for _ in range(_DRIFT_STEPS):
        at = 0.5 * (at + flow @ at)
    return int(at.argmax())


class _Chunk(NamedTuple):
    of_targets: bool
    rows: slice


def _width(world: World) -> int:
    return int(np.clip(_COLUMN_BYTES // (8 * world.n_states), 1, _COLUMNS))


def _chunks(world: World, count: int, *, of_targets: bool) -> list[_Chunk]:
    width = _width(world)
    return [_Chunk(of_targets, slice(first, min(first + width, count))) for first in range(0, count, width)]


def _solve_rows(chain: _Chain, chunk: _Chunk) -> Rows:
    """Return some rows of A⁻¹ by what they make of E, of the cost, of the targets and of each option past the targets.

    Rows of targets are asked about their own target only, the others about all of them.
    """
    functionals = (chain.own_rows if chunk.of_targets else chain.rows)[chunk.rows]
    n_rows, n_options = functionals.shape[0], len(chain.ends)
    solved = np.ascontiguousarray(chain.factors.solve(functionals.toarray().T, "T"))
    own = chain.own_targets[chunk.rows] if chunk.of_targets else None

    def at_targets(values: NDArray[np.float64]) -> NDArray[np.float64]:
        return values[chain.targets].T if own is None else values[own, np.arange(n_rows)][:, None]

    to_target = at_targets(solved)
    ends = np.zeros((n_rows, chain.end_states.size + 1))
    ends[:, -1] = chain.share[chain.meeting] * solved[chain.meeting]
    cost = chain.share @ solved
    passing = np.zeros((n_options, *to_target.shape))
    for number in range(n_options):
        assert chain.options is not None
        following = Following(chain.options[number])
        visits = following.visits((chain.weight * following.starts)[:, None] * solved)
        columns = chain.ends[number]
        ends[:, columns] += visits[chain.end_states[columns]].T
        cost += ~following.stops @ visits
        passing[number] = at_targets(visits)
    return Rows(ends, cost, to_target, passing)


def _joined(parts: list[Rows]) -> Rows:
    return Rows(
        np.concatenate([part.ends for part in parts]),
        np.concatenate([part.cost for part in parts]),
        np.concatenate([part.to_target for part in parts]),
        np.concatenate([part.passing for part in parts], axis=1),
    )


def _crossings(chain: _Chain, followed: _Followed, ends: NDArray[np.int64], whole: Rows, own: Rows) -> Crossings:
    n_targets, n_options = chain.targets.size, len(followed.options)
    itself = np.array([option.visits_to_itself for option in followed.options]).reshape(n_options, n_targets)
    steps = np.array([option.steps for option in followed.options]).reshape(n_options, n_targets)
    # Of those that end in E, where they end when followed from each target; the last column is the meeting place.
    far = np.flatnonzero(~chain.near)
    from_targets = np.zeros((far.size, n_targets, ends.size + 1))
    for place, number in enumerate(far):
        from_targets[place][:, chain.ends[number]] = followed.options[number].end_chances
    whole.passing[:] /= itself[:, None, :]
    own.passing[:] /= np.repeat(itself, own.passing.shape[1] // n_targets, axis=1)[:, :, None]
    return Crossings(whole, own, from_targets, steps, chain.near)


class Rows(NamedTuple):
    """Rows of A⁻¹, times what they are asked about."""

    ends: NDArray[np.float64]  # (rows, ends): chance of each end
    cost: NDArray[np.float64]  # (rows,): steps until then
    to_target: NDArray[np.float64]  # (rows, targets): visits to the target
    passing: NDArray[np.float64]  # (options, rows, targets): chance of passing the target with each option


class Crossings(NamedTuple):
    """What the steps to each target follow from."""

    whole: Rows  # rows of E, and last the mean over starts; all targets
    own: Rows  # for each target: itself, then where each option that belongs to A ends from there; that target only
    from_targets: NDArray[np.float64]  # (other options, targets, ends): where they end from there
    steps: NDArray[np.float64]  # (options, targets): how long each option lasts from there
    near: NDArray[np.bool_]  # which options belong to A


def mean_steps_to(crossings: Crossings) -> NDArray[np.float64]:
    """Return the mean steps to each target; inf where rounding is as large as the solution."""
    chances, wrong = _stochastic(crossings.whole.ends)
    n_targets = crossings.steps.shape[1]
    if wrong.any():
        return np.full(n_targets, np.inf)
    system = _EndSystem(chances[:-1])
    return np.array([_steps_to(crossings, chances, system, number) for number in range(n_targets)])


def _stochastic(chances: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return chances that sum to 1, and in which rows they did not by far."""
    sums = chances.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        wrong = ~(np.abs(sums[:, 0] - 1.0) <= _WRONG)
        return np.asarray(chances / sums), np.asarray(wrong)


class _EndSystem:
    """(I − W + 1 wᵀ)⁻¹ with w uniform, and the stationary distribution of W."""

    def __init__(self, chances: NDArray[np.float64]) -> None:
        size = len(chances)
        self.matrix = -chances
        # The sum of the others instead of 1 − W[e, e]: where an agent all but stays, that difference is rounding.
        np.fill_diagonal(self.matrix, 0.0)
        np.fill_diagonal(self.matrix, -self.matrix.sum(axis=1))
        self._factors = lu_factor(self.matrix + 1.0 / size, check_finite=False)
        self.stationary = np.asarray(lu_solve(self._factors, np.full(size, 1.0 / size), trans=1, check_finite=False))

    def solve(self, right: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(lu_solve(self._factors, right, check_finite=False))


def _steps_to(crossings: Crossings, chances: NDArray[np.float64], system: _EndSystem, number: int) -> float:
    whole, own = crossings.whole, crossings.own
    n_options = crossings.near.size
    far, near = np.flatnonzero(~crossings.near), np.flatnonzero(crossings.near)
    here = slice(number * (near.size + 1), (number + 1) * (near.size + 1))
    own_chances, wrong = _stochastic(own.ends[here])
    if wrong.any():
        return float("inf")
    # Columns: 1, y of each option, λ. A functional φ of h is terms(φ) · (1, y, λ) + ends(φ) · h_E.
    terms = np.column_stack([whole.cost, -whole.passing[:, :, number].T, whole.to_target[:, number]])
    own_terms = np.column_stack([own.cost[here], -own.passing[:, here, 0].T, own.to_target[here, 0]])
    on_ends = system.solve(terms[:-1])  # h_E, but for the constant α

    # Unknown: y of each option, λ, α. One equation for each option, one for the target, and the one on E.
    equations, right = np.zeros((n_options + 2, n_options + 2)), np.zeros(n_options + 2)
    values = np.zeros((n_options + 1, n_options + 2))  # what each option leads to from the target, and the target
    values[far] = crossings.from_targets[:, number] @ on_ends
    values[near] = own_terms[1:] + own_chances[1:] @ on_ends
    values[-1] = own_terms[0] + own_chances[0] @ on_ends
    equations[:-1, :-1] = -values[:, 1:]
    equations[:-1, -1] = -1.0
    equations[np.arange(n_options), np.arange(n_options)] += 1.0
    right[:-1] = values[:, 0]
    right[:n_options] += crossings.steps[:, number]
    balance = system.stationary @ terms[:-1]
    equations[-1, :-1], right[-1] = -balance[1:], balance[0]
    scale = np.abs(equations).max(axis=1)
    if not (np.isfinite(scale).all() and (scale > 0).all()):
        return float("inf")
    _, _, unknown, info = lapack.dgesv(equations / scale[:, None], right / scale)
    if info != 0 or not np.isfinite(unknown).all():
        return float("inf")
    times = np.concatenate([[1.0], unknown[:-1]])
    at_ends = on_ends @ times + unknown[-1]
    if not _fits(system, terms[:-1] @ times, at_ends, terms[:-1], own_terms[0], crossings.steps[:, number]):
        return float("inf")
    mean = float(terms[-1] @ times + chances[-1] @ at_ends)
    return mean if 0.0 <= mean <= _BEYOND else float("inf")


def _fits(
    system: _EndSystem,
    right: NDArray[np.float64],
    at_ends: NDArray[np.float64],
    terms: NDArray[np.float64],
    target: NDArray[np.float64],
    steps: NDArray[np.float64],
) -> bool:
    """Return whether h_E is known to three digits.

    (I − M) h_E = s, M ≥ 0 the chances of coming to the next end without meeting the target, s the steps until one or
    the other: as (I − M)⁻¹ is not negative, no entry of h_E is further off, relatively, than the largest residual is
    from s.
    """
    followed = np.concatenate([[1.0], steps, [0.0]])
    meets = terms[:, -1] / target[-1]
    until = terms @ followed - meets * (target @ followed)
    residual = np.abs(system.matrix @ at_ends - right)
    return bool((residual <= _WRONG * np.maximum(until, 0.5)).all() and (at_ends >= -_WRONG).all())
