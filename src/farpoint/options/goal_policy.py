"""Any goal from a log, without training: routes over the cells that it visits, followed by its own pieces."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, diags_array
from scipy.sparse.csgraph import connected_components, dijkstra
from scipy.spatial import cKDTree

from farpoint.errors import (
    InvalidFile,
    InvalidInput,
    check_function,
    check_integer,
    check_memory,
    check_positive,
    check_word,
)
from farpoint.files import read_arrays, write_arrays
from farpoint.options.protocol import NumberedOption, Options
from farpoint.worlds import World
from farpoint.worlds.arrays import read_only, real_numbers
from farpoint.worlds.graphs import connected_states, places_of_points, world_from_weights
from farpoint.worlds.logs import Log, read_log
from farpoint.worlds.samples import normalized, read_rows
from farpoint.worlds.state_index import check_scale

KIND = "farpoint-goal-policy"
UNKNOWN = ("nearest", "refuse")
CONTROLS = ("segments", "steps")
# Width of a cell in median steps, and radius of a goal in cells.
_STEPS_PER_CELL = 2.5
_CELLS_PER_RADIUS = 2.0
# A log goes somewhere if in a quarter of its pieces of ten steps the ends are at least half as far apart as the way is
# long. A quarter of random pieces get 0.37 of it in a plane (√(ln 4 / 10)), 0.4 on a line. A quarter and not a half,
# because an agent that has arrived somewhere often stays there.
_STRAIGHT_STEPS, _STRAIGHT_QUANTILE, _STRAIGHT = 10, 0.75, 0.5
# Control by single steps heads for the cell this many moves ahead on the route.
# Within this many radii of the goal, a policy of segments that cannot come nearer takes single steps.
_CLOSE = 2.0
_AHEAD = 2
# Ridge of the least squares, per step: separates the effects of several actions where there are few steps.
_RIDGE = 2.5e-3
# Projected gradient steps to the best action within the bounds; twice as many change its last digits.
_DESCENTS = 50
# A jump is this many times as long as all but a tenth of the steps.
_LONG_STEPS, _LONG_QUANTILE = 10.0, 0.9
# A move that was seen once may be an accident: it counts as this many moves.
_SEEN_ONCE = 10.0
# Cells are neighbors if their middles are at most this many widths apart: diagonally, in a plane.
_NEXT_TO = 1.5
# Cost in steps of a state from which no route leads to the goal, where a jump may end there.
_LOST = 1e6
# Precision of costs to go with jumps, in steps.
_STEPS_ATOL = 1e-3
_MOST_SWEEPS = 20_000
# Memory for the costs to go of recent goals; at least two are kept.
_CACHE_BYTES = 256 * 2**20
# Multiplier of the hash of cells: the first 64 bits of the golden ratio, which are odd.
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
# Cells up to here from the origin have numbers that a double holds exactly.
_MOST_CELLS_AWAY = 2**50
# Squares of larger numbers may overflow.
_LARGEST = 1e150
# Numbers computed with at once when actions are chosen for many observations; bounds the memory.
NUMBERS_AT_ONCE = 8_000_000


class Segments(NamedTuple):
    """The steps of the log, from which segments are cut."""

    # Where each step began, in the numbers that are compared.
    points: NDArray[np.float64]
    actions: NDArray[Any]
    # Where each step ended, and its cell; a jump ends where it began, since its outcome is random.
    ends: NDArray[np.float64]
    cells: NDArray[np.int32]
    # Steps that the next row does not follow.
    breaks: NDArray[np.bool_]


class Cells(NamedTuple):
    """The states: cells that the log visits, and its moves between them."""

    centers: NDArray[np.float64]
    # A logged observation in each cell.
    observations: NDArray[np.float64]
    # Moves (rows: from, to), sorted by the cell they leave; how often each was seen, and its cost in steps.
    moves: NDArray[np.int32]
    counts: NDArray[np.float64]
    lengths: NDArray[np.float64]
    # Jumps (rows: from, to), and the probability that a visit of the first cell ends with this jump.
    jumps: NDArray[np.int32]
    chances: NDArray[np.float64]


@dataclass(frozen=True)
class Choices:
    """Settings of a `GoalPolicy`; lengths are in the numbers that are compared."""

    cell: float
    radius: float
    segment: int
    n_candidates: int
    unknown: str
    control: str

    def __post_init__(self) -> None:
        for name in ("cell", "radius"):
            object.__setattr__(self, name, check_positive(name, getattr(self, name)))
        for name in ("segment", "n_candidates"):
            object.__setattr__(self, name, check_integer(name, getattr(self, name), 1))
        check_word("unknown", self.unknown, UNKNOWN)
        check_word("control", self.control, CONTROLS)


class GoalPolicy:
    r"""A policy for any goal, from a log alone and without training: ``policy(observation, goal)`` is an action.

    Made by `GoalPolicy.from_log`, or read by `GoalPolicy.load`. It has no memory and is deterministic.

    Attributes
    ----------
    cell, radius, segment, n_candidates, control, unknown
        As in `from_log`, with the values that were chosen.
    n_cells : int
        Number of states.

    Examples
    --------
    >>> import numpy as np, farpoint as fp
    >>> env = fp.ContinuousMaze("S....\n####.\n.....", start="random", max_steps=200)
    >>> log = fp.envs.record_samples(env, 20_000, seed=0)
    >>> policy = fp.GoalPolicy.from_log(log, cell=0.5, radius=0.5)
    >>> policy
    GoalPolicy(20,000 steps, ... cells of 0.5, goals within 0.5, single steps)
    >>> goal = np.array([0.5, 2.5])                                       # below the wall
    >>> observation, _ = env.reset(seed=0, options={"start": [0.5, 0.5]})
    >>> policy.distance(observation, goal) > 15                           # steps, around the wall
    True
    >>> for step in range(200):
    ...     if np.linalg.norm(observation - goal) <= policy.radius:
    ...         break
    ...     observation = env.step(policy(observation, goal))[0]
    >>> bool(np.linalg.norm(observation - goal) <= policy.radius)
    True
    """

    def __init__(
        self,
        segments: Segments,
        cells: Cells,
        choices: Choices,
        scale: NDArray[np.float64] | None = None,
        metric: Callable[[Any], ArrayLike] | None = None,
    ) -> None:
        parts = (segments, Segments), (cells, Cells), (choices, Choices)
        if not all(isinstance(part, kind) for part, kind in parts):
            raise InvalidInput(f"policy must be made with GoalPolicy.from_log; got {segments!r:.60}.")
        self._segments, self._cells, self._choices = segments, cells, choices
        self._scale, self._metric = scale, metric
        self.cell, self.radius = choices.cell, choices.radius
        self.segment, self.n_candidates = choices.segment, choices.n_candidates
        self.control, self.unknown = choices.control, choices.unknown
        n_steps = len(segments.points)
        self._length = min(self.segment, n_steps)
        self._last = last_of_segments(segments.breaks, self._length)
        self._nearest = [*range(1, min(self.n_candidates, n_steps) + 1)]
        self._costs: dict[bytes, NDArray[np.float64]] = {}
        self._room = int(np.clip(_CACHE_BYTES // (8 * self.n_cells), 2, 4096))

    @classmethod
    def from_log(
        cls,
        log: Any,
        *,
        scale: ArrayLike | None = None,
        metric: Callable[[Any], ArrayLike] | None = None,
        cell: float | None = None,
        radius: float | None = None,
        segment: int = 10,
        n_candidates: int = 40,
        control: str | None = None,
        reversible: bool = False,
        unknown: str = "nearest",
    ) -> GoalPolicy:
        """Return the policy of a log.

        States are the cells of a grid that the log visits. The cost to go from each is the fewest steps to the goal
        over logged moves; a move that was seen once counts as ten. *The goal is every cell within a radius.*

        Control by *segments*: each decision compares the logged segments of ten steps that begin nearest to here,
        shifted so that they begin here, and takes the first action of the one with the least mean cost to go. Segments
        never cross from one episode into another. Control by *steps*, for logs of random steps, whose segments lead
        hardly anywhere: the logged steps nearest to here give the mean displacement of each action (continuous actions:
        a linear model of it), and the action is taken that ends nearest to the cell two moves ahead on the route.

        A step ten times as long as all but a tenth of the others is a *jump*, such as a teleporter's. Jumps happen at
        random with the frequencies seen, so that costs to go are expected numbers of steps; not arriving at all costs
        a million.

        Parameters
        ----------
        log : Log, or anything that `farpoint.worlds.read_log` takes
            With actions, whole numbers or rows of floats, and with the ends of its episodes.
        scale : float or array of float, optional
            Divides the numbers of an observation before they are compared; inf ignores a number. Default 1.
        metric : function of observations, optional
            Returns the numbers to compare, one row for each observation: `farpoint.envs.PictureMetric.rows`, or ``phi``
            of `farpoint.learn_eigenfunctions`.
        cell : float, optional
            Width of a cell, in the numbers that are compared. Default: 2.5 median steps; for control by steps, the
            length that one step in ten exceeds.
        radius : float, optional
            Distance from the goal's observation within which the goal is reached. Default: two cells.
        segment : int
            Steps of a segment.
        n_candidates : int
            Segments, or steps, compared in each decision.
        control : {"segments", "steps"}, optional
            Default: "segments" if a quarter of the log's pieces of ten steps get at least half as far as a straight
            line would.
        reversible : bool
            Whether moves can be taken back, so that seeing one counts for its reverse too.
        unknown : {"nearest", "refuse"}
            Where an observation or a goal is farther than a cell from the whole log, or no route leads to the goal: use
            the nearest known state, or raise an error.

        Raises
        ------
        InvalidInput
            A log without actions, with NaN, or whose observations never change.

        Examples
        --------
        >>> import numpy as np, farpoint as fp
        >>> rows = np.repeat(np.arange(8.0), 2)[:, None]
        >>> log = fp.Log(rows[:-1], np.full(15, 1), rows[1:])
        >>> fp.GoalPolicy.from_log(log, cell=1.0)
        GoalPolicy(15 steps, 8 cells of 1, goals within 2, segments of 10 steps)
        """
        check_function("metric", metric)
        if not isinstance(reversible, bool | np.bool_):
            raise InvalidInput(f"reversible must be True or False; got {reversible!r}.")
        # Checked before any work; defaults are computed once the log is read.
        choices = Choices(
            1.0 if cell is None else cell,
            1.0 if radius is None else radius,
            segment,
            n_candidates,
            unknown,
            CONTROLS[0] if control is None else control,
        )
        if scale is not None and metric is not None:
            raise InvalidInput("scale must be left out with a metric; got both. Let the metric scale what it returns.")
        steps = read_log(log)
        if steps.actions is None:
            raise InvalidInput("log must have actions; got a log without. Record them, or use World.from_samples.")
        before, after = _rows(steps, metric)
        scales = None if scale is None else check_scale(scale, int(np.prod(before.shape[1:])))
        points, ends = (_compared("log", rows, scales, metric) for rows in (before, after))
        lengths = np.linalg.norm(ends - points, axis=1)
        if not lengths.any():
            raise InvalidInput(f"log must have steps that change what is compared; got {len(lengths)} that do not.")
        usual = float(np.median(lengths[lengths > 0]))
        long = float(np.quantile(lengths[lengths > 0], _LONG_QUANTILE))
        jumps = lengths > _LONG_STEPS * long
        # A metric may round one observation differently among others, so that observations themselves are compared.
        breaks = _breaks(steps, *((points, ends) if metric is None else (before, after))) | jumps
        if control is None:
            straight = straightness(points, ends, breaks, _STRAIGHT_STEPS) >= _STRAIGHT
            choices = replace(choices, control=CONTROLS[0] if straight else CONTROLS[1])
        usual_width = _STEPS_PER_CELL * usual if choices.control == CONTROLS[0] else long
        width = usual_width if cell is None else choices.cell
        within = _CELLS_PER_RADIUS * width if radius is None else choices.radius
        numbers, centers, examples = _grid(np.concatenate([points, ends]), width)
        n_steps, n_cells = len(points), len(centers)
        from_cells, to_cells = numbers[:n_steps], numbers[n_steps:]
        segments = Segments(
            points,
            steps.actions,
            np.where(jumps[:, None], points, ends),
            np.where(jumps, from_cells, to_cells).astype(np.int32),
            breaks,
        )
        moved = (from_cells != to_cells) & ~jumps
        moves, counts = _counted(from_cells[moved], to_cells[moved], n_cells)
        if reversible:
            both = np.concatenate([moves, moves[::-1]], axis=1)
            moves, counts = _counted(both[0], both[1], n_cells, np.tile(counts, 2))
        leaps, n_leaps = _counted(from_cells[jumps], to_cells[jumps], n_cells)
        visits: NDArray[Any] = np.bincount(moves[0], counts, n_cells) + np.bincount(leaps[0], n_leaps, n_cells)
        jumping, chances = _pooled(leaps, n_leaps, visits, centers, width) if leaps.size else (leaps, n_leaps)
        cells = Cells(
            centers,
            np.where(
                (examples < n_steps).reshape(-1, *[1] * (before.ndim - 1)),
                before[np.minimum(examples, n_steps - 1)],
                after[np.maximum(examples - n_steps, 0)],
            ),
            moves,
            counts,
            np.where(counts > 1, 1.0, _SEEN_ONCE) * max(width / usual, 1.0),
            jumping,
            chances,
        )
        return cls(segments, cells, replace(choices, cell=width, radius=within), scales, metric)

    @property
    def n_cells(self) -> int:
        """Number of states."""
        return len(self._cells.centers)

    def __call__(self, observation: ArrayLike, goal: ArrayLike) -> Any:
        """Return the action to take here toward a goal: a whole number, or a row of floats.

        With rows of observations, of goals, or of both: one action for each row.
        """
        here, goals, alone = self._asked(observation, goal)
        actions = self._segments.actions
        chosen = np.empty((max(len(here), len(goals)), *actions.shape[1:]), dtype=actions.dtype)
        choose = self._by_steps if self.control == "steps" else self._by_segments
        at_once = max(NUMBERS_AT_ONCE // (len(self._nearest) * self._length * here.shape[1]), 1)
        for first in range(0, len(chosen), at_once):
            block = slice(first, first + at_once)
            chosen[block] = choose(here if len(here) == 1 else here[block], goals if len(goals) == 1 else goals[block])
        if not alone:
            return chosen
        return chosen[0] if chosen.ndim > 1 else int(chosen[0])

    def _asked(self, observation: ArrayLike, goal: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64], bool]:
        """Return observations and goals as rows of compared numbers, and whether both were single."""
        (here, alone), (goals, one_goal) = self._points("observation", observation), self._points("goal", goal)
        if len(here) != len(goals) and 1 not in (len(here), len(goals)):
            raise InvalidInput(f"goal must be one, or one per observation ({len(here)}); got {len(goals)}.")
        return here, goals, alone and one_goal

    def _by_segments(self, here: NDArray[np.float64], goals: NDArray[np.float64]) -> NDArray[Any]:
        """Return the first action of the best nearby segment for each observation and goal."""
        table, goal_of = self._costs_to(goals)
        self._check_known("observation", here)
        candidates = self._steps.query(here, self._nearest)[1]
        rows = np.minimum(candidates[:, :, None] + np.arange(self._length), self._last[candidates][:, :, None])
        # As if the segment began here, and not only near here.
        places = self._segments.ends[rows] + (here[:, None] - self._segments.points[candidates])[:, :, None]
        cells = self._places.query(places, distance_upper_bound=self.cell / 2, p=np.inf)[1]
        cells = np.where(cells < self.n_cells, cells, self._segments.cells[rows])
        costs = table[goal_of[:, None, None], cells]
        means = costs.mean(axis=2)
        lost = np.isinf(means).all(axis=1)
        self._check_reached(lost)
        # At the goal all costs are 0, and where there is no route infinite: then what is nearer to it is better.
        for one in np.flatnonzero((costs[:, :, -1] == 0).any(axis=1) | lost):
            goal, some = goals[one if len(goals) > 1 else 0], places[one if len(places) > 1 else 0]
            means[one] = np.linalg.norm(some - goal, axis=2).mean(axis=1)
        best = means.argmin(axis=1)
        chosen = np.broadcast_to(candidates, means.shape)[np.arange(len(best)), best]
        actions = np.array(self._segments.actions[chosen])
        # Close to a goal that the log seldom reached, no segment from here may come nearer. Single steps do.
        close = np.linalg.norm(here - goals, axis=1) <= _CLOSE * self.radius
        costs_here = table[goal_of, self._cells_of(here)]
        stuck = close & (costs_here > 0) & (costs_here <= costs.min(axis=(1, 2)))
        if stuck.any():
            here, goals = (np.broadcast_to(rows, (len(stuck), rows.shape[1]))[stuck] for rows in (here, goals))
            actions[stuck] = self._by_steps(here, goals)
        return actions

    def _by_steps(self, here: NDArray[np.float64], goals: NDArray[np.float64]) -> NDArray[Any]:
        """Return the action that leads nearest to the next cells of the route, for each observation and goal."""
        table, goal_of = self._costs_to(goals)
        cells, near = self._cells_of(here), self._steps.query(here, self._nearest)[1]
        self._check_reached(np.isinf(table[goal_of, cells]))
        points, actions, ends = self._segments[:3]
        best = best_of_few if actions.ndim == 1 else partial(best_within_bounds, bounds=self._bounds)
        chosen = []
        for row in range(max(len(here), len(goals))):
            one, to = row if len(here) > 1 else 0, row if len(goals) > 1 else 0
            steps = near[one]
            way = self._ahead(int(cells[one]), table[goal_of[to]], goals[to]) - here[one]
            chosen.append(best(actions[steps], ends[steps] - points[steps], way))
        return np.array(chosen)

    def _ahead(self, cell: int, costs: NDArray[np.float64], goal: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the point to head for from a cell: the goal, or the mean of what was seen in a cell on the route."""
        for _ in range(_AHEAD):
            onward = self._onward(cell, costs) if 0 < costs[cell] < np.inf else -1
            if onward < 0:
                return goal
            cell = onward
        return goal if costs[cell] == 0 else np.asarray(self._middles[cell])

    def _onward(self, cell: int, costs: NDArray[np.float64]) -> int:
        """Return the cell that the best move leads to; -1 if only a jump leads on."""
        leaving = slice(self._first_moves[cell], self._first_moves[cell + 1])
        onward = self._cells.moves[1, leaving]
        return int(onward[(self._cells.lengths[leaving] + costs[onward]).argmin()]) if onward.size else -1

    def distance(self, observation: ArrayLike, goal: ArrayLike) -> Any:
        """Return the approximate number of median steps to a goal: 0 at the goal, inf where no route leads there.

        Takes rows as a call does.
        """
        here, goals, alone = self._asked(observation, goal)
        table, goal_of = self._costs_to(goals)
        within = np.linalg.norm(here - goals, axis=1) <= self.radius
        # The last cells of a way are those around the goal, of which only a part is near enough.
        found = np.where(within, 0.0, np.maximum(table[goal_of, self._cells_of(here)], 1.0))
        return float(found[0]) if alone else found

    def route(self, observation: ArrayLike, goal: ArrayLike) -> NDArray[Any]:
        """Return observations along the route to a goal, one per cell; none where no route leads there."""
        here, goals, alone = self._asked(observation, goal)
        if not alone:
            raise InvalidInput(
                f"observation and goal must be one each, not rows; got shapes {np.shape(observation)} and "
                f"{np.shape(goal)}."
            )
        costs = self._costs_to(goals)[0][0]
        cell = int(self._cells_of(here)[0])
        way = [cell] if np.isfinite(costs[cell]) else []
        while way and costs[cell] > 0 and len(way) <= self.n_cells:
            cell = self._onward(cell, costs)
            if cell < 0:
                break
            way.append(cell)
        return self._cells.observations[way]

    def nearest(self, observation: ArrayLike) -> tuple[NDArray[Any], float]:
        """Return an observation of the nearest known state, and the distance to the nearest logged step.

        Examples
        --------
        >>> import numpy as np, farpoint as fp
        >>> rows = np.arange(8.0)[:, None]
        >>> policy = fp.GoalPolicy.from_log(fp.Log(rows[:-1], np.ones(7, int), rows[1:]), cell=1.0)
        >>> policy.nearest([9.0])
        (array([7.]), 3.0)
        """
        here, alone = self._points("observation", observation)
        if not alone:
            raise InvalidInput(f"observation must be one, not rows; got shape {np.shape(observation)}.")
        cell = int(self._places.query(here)[1][0])
        return self._cells.observations[cell].copy(), float(self._steps.query(here)[0][0])

    def options(self, n_options: int | None = None, method: str = "diffusion", **settings: Any) -> GoalOptions:
        r"""Return options to the far points of the log's graph, or to other goals that `discover` finds there.

        Parameters
        ----------
        n_options, method, **settings
            As in `discover`; also ``t``, ``seed`` and others.

        Examples
        --------
        >>> import farpoint as fp
        >>> env = fp.ContinuousMaze("S....\n####.\n.....", start="random", max_steps=200)
        >>> policy = fp.GoalPolicy.from_log(fp.envs.record_samples(env, 20_000, seed=0))
        >>> policy.options(2)
        GoalOptions(2 goals, GoalPolicy(...))
        """
        from farpoint.options.discovery import discover

        found = discover(self.world, method, n_options=n_options, **settings)
        return GoalOptions(self, self._cells.observations[self._cells_of_world[found.goals]])

    @cached_property
    def world(self) -> World:
        """The graph of the cells, largest component, with an edge where the log moved in either direction."""
        weights = self._both_ways
        kept = self._cells_of_world
        weights = csr_array(weights[kept][:, kept])
        centers = self._cells.centers[kept]
        edges = weights.tocoo()
        observations = self._cells.observations[kept]
        return world_from_weights(
            weights,
            positions=places_of_points(centers) if centers.shape[1] == 2 else None,
            observations=observations.reshape(len(kept), -1).astype(np.float64),
            lengths=np.maximum(np.linalg.norm(centers[edges.row] - centers[edges.col], axis=1), self.cell),
            name=f"cells of a log of {len(self._segments.points):,} steps",
        )

    @cached_property
    def _both_ways(self) -> csr_array:
        moves = self._cells.moves
        counts = csr_array((self._cells.counts, (moves[0], moves[1])), shape=(self.n_cells, self.n_cells))
        return normalized(csr_array(counts + counts.T), 1.0)

    @cached_property
    def _cells_of_world(self) -> NDArray[np.int64]:
        if not self._both_ways.nnz:
            raise InvalidInput("log must move between at least two cells; got none. Take a smaller cell.")
        kept = connected_states(self._both_ways, True)
        return np.arange(self.n_cells) if kept is None else kept

    @cached_property
    def _steps(self) -> Any:
        return cKDTree(self._segments.points, leafsize=32, balanced_tree=False, compact_nodes=False)

    @cached_property
    def _places(self) -> Any:
        return cKDTree(self._cells.centers)

    @cached_property
    def _middles(self) -> NDArray[np.float64]:
        """Mean of the ends of steps in each cell; its center where none ended."""
        cells, ends = self._segments.cells, self._segments.ends
        counts = np.bincount(cells, minlength=self.n_cells)
        sums = np.stack([np.bincount(cells, column, self.n_cells) for column in ends.T], axis=1)
        return np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], self._cells.centers)

    @cached_property
    def _bounds(self) -> NDArray[np.float64]:
        actions = self._segments.actions
        return np.stack([actions.min(axis=0), actions.max(axis=0)]).astype(np.float64)

    @cached_property
    def _first_moves(self) -> NDArray[np.int64]:
        """Where the moves of each cell begin in ``moves``."""
        return np.searchsorted(self._cells.moves[0], np.arange(self.n_cells + 1))

    @cached_property
    def _backwards(self) -> csr_array:
        """Lengths of moves, transposed; without those of cells with jumps, which `_with_jumps` adds."""
        (before, after), lengths = self._cells.moves, self._cells.lengths
        certain = ~np.isin(before, self._cells.jumps[0])
        return csr_array((lengths[certain], (after[certain], before[certain])), shape=(self.n_cells, self.n_cells))

    def _points(self, what: str, value: ArrayLike) -> tuple[NDArray[np.float64], bool]:
        """Return observations as rows of compared numbers, and whether it was a single one."""
        array = value if type(value) is np.ndarray else real_numbers(what, value)
        shape = self._cells.observations.shape[1:]
        alone = array.shape == shape
        if array.dtype.kind not in "buif" or (not alone and (array.shape[1:] != shape or not len(array))):
            raise InvalidInput(
                f"{what} must be numbers of shape {shape}, or rows of them; got {array.dtype}, shape {array.shape}."
            )
        return _compared(what, array[None] if alone else array, self._scale, self._metric), alone

    def read_goals(self, goals: ArrayLike) -> NDArray[Any]:
        """Return the checked observations of goals as rows; there may be none.

        >>> import numpy as np, farpoint as fp
        >>> rows = np.arange(8.0)[:, None]
        >>> policy = fp.GoalPolicy.from_log(fp.Log(rows[:-1], np.ones(7, int), rows[1:]), cell=1.0)
        >>> policy.read_goals([3.0]).shape
        (1, 1)
        """
        array = goals if type(goals) is np.ndarray else real_numbers("goals", goals)
        if array.shape == (0, *self._cells.observations.shape[1:]):
            return array
        alone = self._points("goals", array)[1]
        return array[None] if alone else array

    def _cells_of(self, here: NDArray[np.float64]) -> NDArray[np.int64]:
        self._check_known("observation", here)
        return np.asarray(self._places.query(here)[1])

    def _check_known(self, what: str, points: NDArray[np.float64]) -> None:
        """Fail on points far from the log, if they are to be refused."""
        farthest = float(self._steps.query(points)[0].max()) if self.unknown == "refuse" else 0.0
        if farthest > self.cell:
            raise InvalidInput(
                f"{what} must be at most a cell ({self.cell:.3g}) from what is in the log; got one {farthest:.3g} from "
                "it. unknown='nearest' goes on from the nearest."
            )

    def _check_reached(self, lost: NDArray[np.bool_]) -> None:
        """Fail where no route leads to a goal, if that is to be refused."""
        if self.unknown == "refuse" and lost.any():
            raise InvalidInput("goal must be within reach of the log's moves; got one to which no route leads.")

    def _costs_to(self, goals: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return the costs to go from every cell, one row per distinct goal, and the row of each goal."""
        if len(goals) == 1:
            return self._costs_to_one(goals)[None], np.zeros(1, dtype=np.int64)
        different, row_of = np.unique(goals, axis=0, return_inverse=True)
        check_memory("goal", f"{len(different)} different ones", 8 * len(different) * self.n_cells)
        return np.stack([self._costs_to_one(one[None]) for one in different]), row_of.ravel()

    def _costs_to_one(self, goal: NDArray[np.float64]) -> NDArray[np.float64]:
        key = goal.tobytes()
        known = self._costs.get(key)
        if known is not None:
            return known
        self._check_known("goal", goal)
        inside = self._places.query_ball_point(goal[0], self.radius) or [int(self._places.query(goal)[1][0])]
        costs: NDArray[np.float64] = dijkstra(self._backwards, indices=np.sort(inside), min_only=True)
        if self._cells.jumps.size:
            costs = self._with_jumps(costs)
        while len(self._costs) >= self._room:
            del self._costs[next(iter(self._costs))]
        self._costs[key] = read_only(costs)
        return costs

    def _with_jumps(self, costs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the expected costs to go with jumps, by value iteration.

        It begins with the costs of routes without jumps, which are never too low: from below, costs would rise by one
        move per sweep.
        """
        goal, n_cells = costs == 0, self.n_cells
        (before, after), lengths = self._cells.moves, self._cells.lengths
        jumps, chances = self._cells.jumps, self._cells.chances
        chance = np.bincount(jumps[0], chances, n_cells)
        leaving = np.unique(before)
        first = self._first_moves[leaving]
        onward = np.minimum(costs, _LOST)
        for _ in range(_MOST_SWEEPS):
            best = np.full(n_cells, _LOST)
            best[leaving] = np.minimum.reduceat(lengths + onward[after], first)
            # A visit ends with a jump with probability `chance`, else with the best move.
            landing = np.bincount(jumps[0], chances * (1.0 + onward[jumps[1]]), n_cells)
            better = np.minimum((1.0 - chance) * best + landing, _LOST)
            better[goal] = 0.0
            change = np.abs(better - onward).max()
            onward = better
            if change <= _STEPS_ATOL:
                break
        return np.where(onward >= _LOST, np.inf, onward)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the policy to one ``.npz`` file of numbers, without its metric; see `load`."""
        facts = {"metric": self._metric is not None, **vars(self._choices)}
        arrays = {**self._segments._asdict(), **{f"cell {name}": each for name, each in self._cells._asdict().items()}}
        write_arrays(path, KIND, facts, arrays | ({} if self._scale is None else {"scale": self._scale}))

    @classmethod
    def load(cls, path: str | PathLike[str], *, metric: Callable[[Any], ArrayLike] | None = None) -> GoalPolicy:
        """Return the policy that `save` wrote; nothing in the file is executed.

        Parameters
        ----------
        path : path
        metric : function of observations, optional
            The one that the policy was made with, if any.

        Raises
        ------
        InvalidFile
            If the file is missing, damaged, of another kind or of another version.

        Examples
        --------
        >>> import farpoint as fp
        >>> fp.GoalPolicy.load("missing.npz")
        Traceback (most recent call last):
        farpoint.errors.InvalidFile: missing.npz must be a file of farpoint-goal-policy; got no file of that name ...
        """
        check_function("metric", metric)
        facts, arrays = read_arrays(path, KIND)
        try:
            choices = Choices(**{item.name: facts[item.name] for item in fields(Choices)})
            segments = Segments(*(arrays[name] for name in Segments._fields))
            cells = Cells(*(arrays[f"cell {name}"] for name in Cells._fields))
            needs_metric = bool(facts["metric"])
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidFile(f"{path} must hold a complete goal policy; it is damaged ({error}).") from error
        if needs_metric != (metric is not None):
            wanted = "the one that the policy was made with" if needs_metric else "left out: this policy has none"
            raise InvalidInput(f"metric must be {wanted}; got {metric!r}.")
        return cls(segments, cells, choices, arrays.get("scale"), metric)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the data without the caches."""
        return type(self), (self._segments, self._cells, self._choices, self._scale, self._metric)

    def __repr__(self) -> str:
        return (
            f"GoalPolicy({len(self._segments.points):,} steps, {self.n_cells:,} cells of {self.cell:.3g}, goals within "
            f"{self.radius:.3g}, {'single' if self.control == 'steps' else f'segments of {self.segment}'} steps)"
        )


class GoalOptions(Options[NumberedOption]):
    """Options that lead to some goals by a `GoalPolicy`; made by `GoalPolicy.options`, or for goals of your own.

    Parameters
    ----------
    policy : GoalPolicy
    goals : array
        The observations of the goals, one row each.

    Examples
    --------
    >>> import numpy as np, farpoint as fp
    >>> rows = np.arange(8.0)[:, None]
    >>> policy = fp.GoalPolicy.from_log(fp.Log(rows[:-1], np.ones(7, int), rows[1:]), cell=1.0, radius=0.5)
    >>> options = fp.options.GoalOptions(policy, [[7.5]])
    >>> options.can_start([2.0]), options.act(0, [2.0]), options.reached(0, [7.2])
    (array([ True]), 1, True)
    """

    def __init__(self, policy: GoalPolicy, goals: ArrayLike) -> None:
        if not isinstance(policy, GoalPolicy):
            raise InvalidInput(f"policy must be a GoalPolicy; got {policy!r}. Make it with GoalPolicy.from_log.")
        self.policy = policy
        self.goals = policy.read_goals(goals)

    def __len__(self) -> int:
        return len(self.goals)

    def option(self, number: int) -> NumberedOption:
        """Return one option."""
        return NumberedOption(self, self.check_number(number))

    def subset(self, numbers: range) -> GoalOptions:
        """Return some of the options."""
        return GoalOptions(self.policy, self.goals[self.check_numbers(numbers)])

    def can_start(self, observation: ArrayLike) -> NDArray[np.bool_]:
        """Return which options can start here: not at their goals, and where a route leads there."""
        distances = self._distances(observation)
        return (distances > 0) & np.isfinite(distances)

    def ended(self, observation: ArrayLike) -> NDArray[np.bool_]:
        """Return which options end here: at their goals, or where no route leads there."""
        return ~self.can_start(observation)

    def reached(self, number: int, observation: ArrayLike) -> bool:
        """Return whether an option has reached its goal here."""
        return bool(self._distances(observation)[self.check_number(number)] == 0)

    def act(self, number: int, observation: ArrayLike, rng: np.random.Generator | None = None) -> Any | None:
        """Return the action to take, or None where the option ends."""
        goal = self.goals[self.check_number(number)]
        distance = self.policy.distance(observation, goal)
        return self.policy(observation, goal) if 0 < distance < np.inf else None

    def _distances(self, observation: ArrayLike) -> NDArray[np.float64]:
        if not len(self):
            return np.empty(0)
        return np.atleast_1d(self.policy.distance(observation, self.goals))

    def __repr__(self) -> str:
        return f"GoalOptions({len(self)} goals, {self.policy!r})"


def _rows(log: Log, metric: Callable[[Any], ArrayLike] | None) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return observations before and after each step in their own shape; as floats unless a metric reads them."""
    if metric is not None:
        return _arrays("observations", log.observations), _arrays("next_observations", log.next_observations)
    before, after = read_rows(log.observations, log.next_observations)
    shape = np.shape(log.observations[0])
    assert after is not None
    return before.reshape(-1, *shape), after.reshape(-1, *shape)


def _arrays(what: str, observations: Any) -> NDArray[Any]:
    """Return observations as an array of numbers of their own type."""
    try:
        found = np.asarray(observations)
    except ValueError:
        found = np.empty(0, dtype=object)
    if found.dtype.kind not in "buif":
        raise InvalidInput(f"{what} must be numbers, all of one shape; got {type(observations[0]).__name__}.")
    return found


def _compared(
    what: str,
    observations: NDArray[Any],
    scale: NDArray[np.float64] | None,
    metric: Callable[[Any], ArrayLike] | None,
) -> NDArray[np.float64]:
    """Return the numbers that are compared, one row per observation."""
    if metric is not None:
        points = real_numbers("what metric returns", metric(observations))
        if points.ndim != 2 or len(points) != len(observations) or not points.shape[1]:
            raise InvalidInput(
                f"metric must return a row of numbers for each of {len(observations)} observations; got {points.shape}."
            )
    else:
        points = observations.reshape(len(observations), -1).astype(np.float64, copy=False)
        if scale is not None:
            counted = np.isfinite(scale)
            points = points[:, counted] / scale[counted]
    sound = np.abs(points) < _LARGEST
    if not sound.all():
        raise InvalidInput(
            f"{what} must be finite numbers below {_LARGEST:g}; got {(~sound).any(axis=1).sum()} rows that are not."
        )
    return points


def _grid(points: NDArray[np.float64], width: float) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return the cell number of each point, the centers of the cells, and one point of each.

    >>> _grid(np.array([[0.1], [2.5], [0.9]]), 1.0)
    (array([0, 1, 0]), array([[0.5], [2.5]]), array([0, 1]))
    """
    if np.abs(points).max(initial=0.0) / width > _MOST_CELLS_AWAY:
        raise InvalidInput(f"cell must be wide enough for what the log visits; got {width:g}. Leave it out.")
    corners = np.floor(points / width).astype(np.int64)
    # One hash per cell: unlike sorting rows, this is as fast for 29 numbers as for two.
    keys = np.zeros(len(points), dtype=np.uint64)
    with np.errstate(over="ignore"):
        for column in corners.T:
            keys = (keys ^ (keys >> np.uint64(29))) * _GOLDEN + column.astype(np.uint64)
    _, examples, numbers = np.unique(keys, return_index=True, return_inverse=True)
    # Number the cells in the order of the log, which does not depend on the hashes.
    order = np.argsort(examples)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    examples = examples[order]
    return rank[numbers], (corners[examples] + 0.5) * width, examples


def _counted(
    before: NDArray[Any], after: NDArray[Any], n_cells: int, counts: NDArray[np.float64] | None = None
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Return the sorted pairs of cells that steps connect, and the number of steps of each pair.

    >>> _counted(np.array([2, 0, 2]), np.array([1, 1, 1]), 3)
    (array([[0, 2],
           [1, 1]], dtype=int32), array([1., 2.]))
    """
    pairs, number = np.unique(before.astype(np.int64) * n_cells + after, return_inverse=True)
    return np.stack(np.divmod(pairs, n_cells)).astype(np.int32), np.bincount(number, counts, len(pairs)).astype(float)


def _pooled(
    leaps: NDArray[np.int32],
    counts: NDArray[np.float64],
    visits: NDArray[np.float64],
    centers: NDArray[np.float64],
    width: float,
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Return the pairs of cells that jumps connect, and the probability that a visit of the first ends so.

    Where jumps end is counted over neighboring cells together: one cell alone often has so few that all of them ended
    well by luck.
    """
    places, place_of = np.unique(leaps[0], return_inverse=True)
    near = cKDTree(centers[places]).query_pairs(_NEXT_TO * width, output_type="ndarray")
    together = csr_array((np.ones(len(near)), (near[:, 0], near[:, 1])), shape=(len(places), len(places)))
    n_groups, group = connected_components(together, directed=False)
    landing = csr_array((counts, (group[place_of], leaps[1])), shape=(n_groups, len(centers)))
    shares = np.bincount(place_of, counts) / visits[places]
    of_group = np.bincount(group[place_of], counts)
    chances = (diags_array(shares / of_group[group]) @ landing[group]).tocoo()
    return np.stack([places[chances.row], chances.col]).astype(np.int32), chances.data


def _breaks(log: Log, before: NDArray[Any], after: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which steps the next row does not follow."""
    breaks = log.ended.copy()
    breaks[:-1] |= log.begins[1:]
    if not breaks[:-1].any():
        # No ends are marked: an episode ends where the next row does not begin at the end of this one.
        breaks[:-1] = (after[:-1] != before[1:]).reshape(len(before) - 1, -1).any(axis=1)
    breaks[-1] = True
    return breaks


def last_of_segments(breaks: NDArray[np.bool_], segment: int) -> NDArray[np.int64]:
    """Return the last step of the segment that begins at each step.

    >>> last_of_segments(np.array([False, False, False, True, True]), 3)
    array([2, 3, 3, 3, 4])
    """
    rows = np.arange(len(breaks))
    stops = np.flatnonzero(breaks)
    return np.minimum(rows + segment - 1, stops[np.searchsorted(stops, rows)])


def straightness(
    points: NDArray[np.float64], ends: NDArray[np.float64], breaks: NDArray[np.bool_], n_steps: int
) -> float:
    """Return how far the best quarter of all pieces of `n_steps` steps get, as a share of their length; 1 without any.

    >>> points, ends = np.array([[0.0], [1.0], [2.0], [1.0]]), np.array([[1.0], [2.0], [1.0], [0.0]])
    >>> straightness(points, ends, np.array([False, False, False, True]), 3)
    0.333...
    """
    lengths = np.linalg.norm(ends - points, axis=1)
    before = np.concatenate([[0.0], np.cumsum(lengths)])
    last = last_of_segments(breaks, n_steps)
    first = np.flatnonzero(last - np.arange(len(points)) == n_steps - 1)
    last = last[first]
    taken = before[last + 1] - before[first]
    moving = taken > 0
    if not moving.any():
        return 1.0
    got = np.linalg.norm(ends[last] - points[first], axis=1)
    return float(np.quantile(got[moving] / taken[moving], _STRAIGHT_QUANTILE))


def best_of_few(actions: NDArray[Any], moves: NDArray[np.float64], way: NDArray[np.float64]) -> Any:
    """Return the action whose mean move ends nearest to the end of the way.

    >>> moves = np.array([[1.0], [-1.0], [0.0]])
    >>> int(best_of_few(np.array([3, 5, 3]), moves, np.array([0.4])))
    3
    """
    different, number = np.unique(actions, return_inverse=True)
    sums = np.stack([np.bincount(number, column) for column in moves.T], axis=1)
    return different[(((sums / np.bincount(number)[:, None]) - way) ** 2).sum(axis=1).argmin()]


def best_within_bounds(
    actions: NDArray[Any], moves: NDArray[np.float64], way: NDArray[np.float64], bounds: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the action within the bounds that ends nearest to the end of the way, by a linear model of some steps.

    >>> pushes = np.array([[-1.0], [0.0], [1.0]])
    >>> best_within_bounds(pushes, 0.5 * pushes, np.array([0.2]), np.array([[-1.0], [1.0]])).round(1)
    array([0.4])
    """
    low, high = bounds
    half = np.where(high > low, 0.5 * (high - low), 1.0)
    # In numbers from -1 to 1, whatever the units of the actions are.
    scaled = (actions - 0.5 * (low + high)) / half
    mean, mean_move = scaled.mean(axis=0), moves.mean(axis=0)
    spread = scaled - mean
    # Least squares: move - mean_move = (action - mean) @ slope.
    kept = spread.T @ spread + _RIDGE * len(spread) * np.eye(len(mean))
    slope = np.linalg.solve(kept, spread.T @ (moves - mean_move))
    steepest = float(np.linalg.norm(slope, 2)) ** 2
    best = mean
    if steepest > 0:
        for _ in range(_DESCENTS):
            # Gradient of ½ ‖(best - mean) @ slope + mean_move - way‖², and back into the bounds.
            ahead = (best - mean) @ slope + mean_move - way
            best = np.clip(best - slope @ ahead / steepest, -1.0, 1.0)
    # Rounding may lead a last digit beyond a bound, which some environments refuse.
    return np.asarray(np.clip(0.5 * (low + high) + best * half, low, high))
