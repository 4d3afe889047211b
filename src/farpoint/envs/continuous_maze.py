"""A maze with continuous positions, as a Gymnasium environment.

``gymnasium.make("farpoint/ContinuousMaze-v0")`` makes one after ``gymnasium.register_envs(farpoint)``.
"""

from __future__ import annotations

from functools import cached_property
from numbers import Real
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from numpy.typing import ArrayLike, NDArray

from farpoint.compiling import compiled
from farpoint.errors import InvalidInput, check_integer, check_word
from farpoint.worlds.arrays import real_numbers
from farpoint.worlds.catalogue import CATALOGUE, FOUR_ROOMS, as_world
from farpoint.worlds.environments import check_action
from farpoint.worlds.maps import parse_map
from farpoint.worlds.world import World

N_DIRECTIONS = 8
# How near a point comes to a wall: more than single precision loses in maps of a thousand cells, so that an
# observation never lies inside a wall.
MARGIN = 1e-4
_PIXELS = 16
_WALL, _FLOOR, _POINT, _TARGET = (60, 60, 60), (245, 245, 245), (200, 40, 40), (60, 160, 80)


def _number(what: str, value: Any, *, zero: bool) -> float:
    number = float("nan") if isinstance(value, bool) or not isinstance(value, Real) else float(value)
    if not np.isfinite(number) or number < 0.0 or (number == 0.0 and not zero):
        raise InvalidInput(f"{what} must be a finite number {'of at least' if zero else 'above'} 0; got {value!r}.")
    return number


class ContinuousMaze(gym.Env[NDArray[np.float32], Any]):
    """A maze in which a point moves in any direction; without a target there is no reward.

    The state is a point (x, y) in cells: x to the right, y downwards; the cell in row r and column c of the map
    covers c ≤ x < c + 1, r ≤ y < r + 1, and what lies outside the map is wall. A step moves the point by ``step``
    plus Gaussian noise. At a wall it stops in that direction and slides on in the other; it never enters a wall and
    never slips between two that touch at a corner, however long the step.

    Observations are (x, y) as float32, in cells; with ``scaled``, both divided by half the longer side of the map and
    shifted to lie in −1 … 1. Actions are 8 directions (0 is right, 2 down, 4 left, 6 up, the diagonals between
    them, all equally long), or with ``actions="box"`` a vector of two numbers, of length at most 1, in steps.

    Parameters
    ----------
    world : str or World, optional
        A text map as in `World.from_map`, or a world with a map. 'S' is where episodes begin, each 'G' a target.
        Default: four rooms, without start or targets.
    step : float
        Length of a step, in cells.
    noise : float
        Standard deviation of the noise of each coordinate, in cells.
    actions : {"directions", "box"}
    start : array of float, shape (2,), or "random", optional
        Where episodes begin. Default: the middle of 'S', or a random place on the floor if there is none.
    target : array of float, shape (2,) or (n, 2), optional
        Entering the circle of ``target_radius`` around a target ends the episode with a reward of 1. Default: the
        middles of the cells 'G', if there are any.
    target_radius : float
    max_steps : int
        Steps after which an episode is truncated.
    scaled : bool
    render_mode : {"rgb_array"}, optional

    Attributes
    ----------
    displacements : array of float, shape (8, 2)
        What each direction adds to an observation, noise and walls apart; for controllers.

    Examples
    --------
    >>> import farpoint as fp
    >>> env = fp.ContinuousMaze("S..", step=0.5, noise=0.0)
    >>> env.reset(seed=0)[0]
    array([0.5, 0.5], dtype=float32)
    >>> env.step(0)[0]
    array([1. , 0.5], dtype=float32)
    >>> observations, next_observations = fp.ContinuousMaze(fp.maze()).random_walk(100_000, seed=0)
    >>> observations.shape
    (100000, 2)
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 30}  # noqa: RUF012 - Gymnasium declares it so

    def __init__(
        self,
        world: str | World | None = None,
        *,
        step: float = 0.4,
        noise: float = 0.05,
        actions: str = "directions",
        start: ArrayLike | str | None = None,
        target: ArrayLike | None = None,
        target_radius: float = 0.5,
        max_steps: int = 1000,
        scaled: bool = False,
        render_mode: str | None = None,
    ) -> None:
        self.floor, map_start, map_targets = _layout(world)
        self.step_length = _number("step", step, zero=False)
        self.noise = _number("noise", noise, zero=True)
        self.target_radius = _number("target_radius", target_radius, zero=False)
        self.max_steps = check_integer("max_steps", max_steps, 1)
        self.scaled = bool(scaled)
        if render_mode is not None:
            check_word("render_mode", render_mode, self.metadata["render_modes"])
        self.render_mode = render_mode
        self._cells = np.argwhere(self.floor)
        self._start = None if isinstance(start, str) else map_start
        if isinstance(start, str):
            check_word("start", start, ["random"])
        elif start is not None:
            self._start = self._places("start", start)[0]
        self.targets = map_targets if target is None else self._places("target", target)

        n_rows, n_columns = self.floor.shape
        half = max(n_rows, n_columns) / 2.0
        self._scale = 1.0 / half if self.scaled else 1.0
        self._middle = np.array([n_columns, n_rows]) / 2.0 if self.scaled else np.zeros(2)
        angles = np.arange(N_DIRECTIONS) * (2.0 * np.pi / N_DIRECTIONS)
        # Rounded, so that "right" is exactly right.
        self._moves = np.round(np.stack([np.cos(angles), np.sin(angles)], axis=1), 15) * self.step_length
        self.displacements = self._moves * self._scale
        # A step works on single numbers, and those are faster out of lists.
        self._plain_moves = self._moves.tolist()
        self._plain_targets = self.targets.tolist()
        corners = self.observe(np.array([[0.0, 0.0], [n_columns, n_rows]]))
        self.observation_space = spaces.Box(corners[0], corners[1], dtype=np.float32)
        self.actions = check_word("actions", actions, ["directions", "box"])
        self.action_space = (
            spaces.Discrete(N_DIRECTIONS)
            if self.actions == "directions"
            else spaces.Box(-1.0, 1.0, (2,), dtype=np.float32)
        )
        self._x = self._y = float("nan")
        self._n_steps = 0

    def observe(self, places: ArrayLike) -> NDArray[np.float32]:
        """Return the observations at places (x, y) given in cells.

        >>> import farpoint as fp
        >>> fp.ContinuousMaze("....", scaled=True).observe([4.0, 0.5])
        array([1., 0.], dtype=float32)
        """
        return ((_points("places", places) - self._middle) * self._scale).astype(np.float32)

    def locate(self, observations: ArrayLike) -> NDArray[np.float64]:
        """Return the places (x, y) in cells at which observations are made.

        >>> import farpoint as fp
        >>> fp.ContinuousMaze("....", scaled=True).locate([1.0, 0.0])
        array([4. , 0.5])
        """
        return _points("observations", observations) / self._scale + self._middle

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begin an episode; ``options={"start": (x, y)}`` (in cells) says where."""
        super().reset(seed=None if seed is None else check_integer("seed", seed, 0))
        place = options.get("start") if isinstance(options, dict) else None
        if place is not None:
            self._x, self._y = self._places("start", place)[0]
        else:
            self._x, self._y = self._starts(1, self.np_random)[0]
        self._n_steps = 0
        return self._observation(), {}

    def step(self, action: Any) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Move the point."""
        if self._x != self._x:
            raise InvalidInput("environment must be reset before its first step.")
        if self.actions == "directions":
            dx, dy = self._plain_moves[check_action(action, N_DIRECTIONS)]
        else:
            vector = real_numbers("action", action)
            if vector.shape != (2,) or not np.isfinite(vector).all():
                raise InvalidInput(f"action must be two finite numbers; got {action!r}.")
            dx, dy = vector * (self.step_length / max(1.0, float(np.hypot(*vector))))
        if self.noise:
            normal = self.np_random.standard_normal
            dx, dy = dx + self.noise * normal(), dy + self.noise * normal()
        self._x, self._y = move(self.floor, self._x, self._y, dx, dy)
        self._n_steps += 1
        arrived = self._arrived()
        return self._observation(), float(arrived), arrived, self._n_steps >= self.max_steps, {}

    def random_walk(
        self, n_steps: int, *, seed: int = 0, episode_length: int | None = None
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the observations before and after each step of a uniformly random walk, millions per second.

        Targets are ignored; the walk begins anew after each ``episode_length`` steps (default: ``max_steps``).

        >>> import farpoint as fp
        >>> before, after = fp.ContinuousMaze("S...", noise=0.0).random_walk(1000, seed=0)
        >>> bool((before[1:] == after[:-1]).all())
        True
        """
        n_steps = check_integer("n_steps", n_steps, 1)
        length = self.max_steps if episode_length is None else check_integer("episode_length", episode_length, 1)
        rng = np.random.default_rng(check_integer("seed", seed, 0))
        before, after = np.empty((n_steps, 2), dtype=np.float32), np.empty((n_steps, 2), dtype=np.float32)
        # In blocks of whole episodes, so that the moves of a long walk need little memory.
        block = length * max(1, 200_000 // length)
        for first in range(0, n_steps, block):
            size = min(block, n_steps - first)
            if self.actions == "directions":
                moves = self._moves[rng.integers(N_DIRECTIONS, size=size)]
            else:
                moves = rng.uniform(-1.0, 1.0, (size, 2))
                moves *= self.step_length / np.maximum(1.0, np.hypot(moves[:, 0], moves[:, 1]))[:, None]
            if self.noise:
                moves = moves + self.noise * rng.standard_normal((size, 2))
            part = slice(first, first + size)
            walk(self.floor, self._starts(-(-size // length), rng), length, moves, before[part], after[part])
        return (self.observe(before), self.observe(after)) if self.scaled else (before, after)

    def render(self) -> NDArray[np.uint8] | None:
        """Return the maze as an image, the point in red and targets in green."""
        if self.render_mode is None:
            return None
        image = self._background.copy()
        if self._x == self._x:
            # Only the pixels around the point can be red.
            left, top = (max(0, int((place - 0.25) * _PIXELS)) for place in (self._x, self._y))
            near = image[top : top + _PIXELS, left : left + _PIXELS]
            y, x = (np.indices(near.shape[:2]) + 0.5 + np.array([top, left])[:, None, None]) / _PIXELS
            near[np.hypot(x - self._x, y - self._y) < 0.25] = _POINT
        return image

    @cached_property
    def _background(self) -> NDArray[np.uint8]:
        image = np.where(self.floor[:, :, None], np.array(_FLOOR, np.uint8), np.array(_WALL, np.uint8))
        image = image.repeat(_PIXELS, axis=0).repeat(_PIXELS, axis=1)
        y, x = (np.indices(image.shape[:2]) + 0.5) / _PIXELS
        for target_x, target_y in self.targets:
            ring = np.abs(np.hypot(x - target_x, y - target_y) - self.target_radius) < 1.0 / _PIXELS
            image[ring] = _TARGET
        return image

    @property
    def place(self) -> tuple[float, float]:
        """Where the point is, (x, y) in cells."""
        return float(self._x), float(self._y)

    def _observation(self) -> NDArray[np.float32]:
        if self.scaled:
            return self.observe((self._x, self._y))
        return np.array((self._x, self._y), dtype=np.float32)

    def _arrived(self) -> bool:
        x, y, limit = self._x, self._y, self.target_radius**2
        return any((x - target_x) ** 2 + (y - target_y) ** 2 <= limit for target_x, target_y in self._plain_targets)

    def _starts(self, number: int, rng: np.random.Generator) -> NDArray[np.float64]:
        if self._start is not None:
            return np.tile(self._start, (number, 1))
        cells = self._cells[rng.integers(len(self._cells), size=number)]
        return cells[:, ::-1] + rng.uniform(MARGIN, 1.0 - MARGIN, (number, 2))

    def _places(self, what: str, places: ArrayLike) -> NDArray[np.float64]:
        array = np.atleast_2d(real_numbers(what, places))
        if array.ndim != 2 or array.shape[1] != 2 or not np.isfinite(array).all():
            raise InvalidInput(f"{what} must be a place (x, y) in cells; got {places!r}.")
        for x, y in array:
            row, column = int(np.floor(y)), int(np.floor(x))
            inside = 0 <= row < self.floor.shape[0] and 0 <= column < self.floor.shape[1]
            if not inside or not self.floor[row, column]:
                raise InvalidInput(f"{what} must lie on the floor; got ({x:g}, {y:g}), row {row}, column {column}.")
        return array


def _points(what: str, values: ArrayLike) -> NDArray[np.float64]:
    points = real_numbers(what, values)
    if points.ndim < 1 or points.shape[-1] != 2 or not np.isfinite(points).all():
        raise InvalidInput(f"{what} must be finite pairs (x, y); got {values!r}.")
    return points


def _layout(
    world: str | World | None,
) -> tuple[NDArray[np.bool_], NDArray[np.float64] | None, NDArray[np.float64]]:
    """Return the floor, the middle of the start and the middles of the targets."""
    none = np.empty((0, 2))
    if world is None:
        return parse_map(FOUR_ROOMS).floor, None, none
    if isinstance(world, str) and world not in CATALOGUE:
        parsed = parse_map(world)
        start = None if parsed.start is None else np.array(parsed.start[::-1]) + 0.5
        targets = parsed.targets[:, ::-1].astype(np.float64) + 0.5
        return parsed.floor, start, targets
    world = as_world(world)
    if not world.on_grid:
        raise InvalidInput(f"world must be a text map or a world with a map; got {world!r}.")
    assert world.positions is not None
    cells = world.positions - world.positions.min(axis=0) + 1
    floor = np.zeros(cells.max(axis=0) + 2, dtype=bool)
    floor[cells[:, 0], cells[:, 1]] = True
    middles = cells[:, ::-1] + 0.5
    start = None if world.start is None else middles[world.start]
    return floor, start, none if world.targets is None else middles[world.targets]


@compiled()
def move(floor: NDArray[np.bool_], x: float, y: float, dx: float, dy: float) -> tuple[float, float]:
    """Return where a point ends that sets out from (x, y) by (dx, dy), slides along walls and never enters one.

    The straight line is followed from one cell border to the next. Each border is crossed in one axis alone, so a
    point cannot slip between two walls that touch at a corner, however long the step.
    """
    n_rows, n_columns = floor.shape
    column, row = int(np.floor(x)), int(np.floor(y))
    while dx != 0.0 or dy != 0.0:
        # Shares of what is left of the step at which the next border of each axis is met.
        meet_x = meet_y = 2.0
        if dx > 0.0:
            meet_x = (column + 1 - x) / dx
        elif dx < 0.0:
            meet_x = (column - x) / dx
        if dy > 0.0:
            meet_y = (row + 1 - y) / dy
        elif dy < 0.0:
            meet_y = (row - y) / dy
        # A wall is met a little before its border.
        if meet_x > 1.0 and meet_y > 1.0:
            x += dx
            y += dy
            break
        if meet_x <= meet_y:
            share = max(meet_x, 0.0)
            y += share * dy
            ahead = column + (1 if dx > 0.0 else -1)
            border = float(column + 1 if dx > 0.0 else column)
            if 0 <= ahead < n_columns and floor[row, ahead]:
                x = border
                column = ahead
                dx *= 1.0 - share
            else:
                x = border - MARGIN if dx > 0.0 else border + MARGIN
                dx = 0.0
            dy *= 1.0 - share
        else:
            share = max(meet_y, 0.0)
            x += share * dx
            ahead = row + (1 if dy > 0.0 else -1)
            border = float(row + 1 if dy > 0.0 else row)
            if 0 <= ahead < n_rows and floor[ahead, column]:
                y = border
                row = ahead
                dy *= 1.0 - share
            else:
                y = border - MARGIN if dy > 0.0 else border + MARGIN
                dy = 0.0
            dx *= 1.0 - share
    # Inside the cell that was reached, and off its walls: on a border the last digit alone would decide the cell.
    return _inside(floor, row, column, x, 1), _inside(floor, row, column, y, 0)


@compiled()
def _inside(floor: NDArray[np.bool_], row: int, column: int, value: float, axis: int) -> float:
    low = column if axis == 1 else row
    size = floor.shape[axis]
    before = low > 0 and (floor[row, column - 1] if axis == 1 else floor[row - 1, column])
    after = low + 1 < size and (floor[row, column + 1] if axis == 1 else floor[row + 1, column])
    least = low + (1e-9 if before else MARGIN)
    most = low + 1 - (1e-9 if after else MARGIN)
    return min(max(value, least), most)


@compiled()
def walk(
    floor: NDArray[np.bool_],
    starts: NDArray[np.float64],
    episode_length: int,
    moves: NDArray[np.float64],
    visited: NDArray[Any],
    followed: NDArray[Any],
) -> None:
    """Fill where a point is before and after each move; it begins at the next start after each episode's length."""
    x = y = 0.0
    for step in range(len(moves)):
        if step % episode_length == 0:
            x, y = starts[step // episode_length, 0], starts[step // episode_length, 1]
        visited[step, 0], visited[step, 1] = x, y
        x, y = move(floor, x, y, moves[step, 0], moves[step, 1])
        followed[step, 0], followed[step, 1] = x, y
