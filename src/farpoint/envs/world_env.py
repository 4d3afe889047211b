"""A world as a Gymnasium environment: for agents that step, and know nothing else."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from numpy.typing import ArrayLike

from farpoint.errors import InvalidInput, check_integer
from farpoint.worlds.catalogue import as_world
from farpoint.worlds.environments import check_action
from farpoint.worlds.world import World


class WorldEnv(gym.Env[np.int64, np.int64]):
    """A world that is stepped: observations are numbers of states, actions those of the world.

    Reaching a target gives a reward of 1 and ends the episode; a state without choices ends it too. An action that a
    state lacks does nothing, as walking into a wall. An episode begins in the world's own start.

    Parameters
    ----------
    world : World or str
        With a start; a name or a map file stands for its world.
    targets : array of int, optional
        Default: the world's own; none is a world without rewards.
    max_episode_steps : int, optional
        Steps after which an episode is truncated; default: never.

    Examples
    --------
    >>> import farpoint as fp
    >>> env = fp.envs.WorldEnv(fp.World.from_map("S.G"))
    >>> env.reset()
    (np.int64(0), {})
    >>> env.step(2)[0], env.step(2)[:3]
    (np.int64(1), (np.int64(2), 1.0, True))
    """

    def __init__(
        self, world: World | str, *, targets: ArrayLike | None = None, max_episode_steps: int | None = None
    ) -> None:
        self.world = as_world(world)
        if self.world.start is None and self.world.starts is None:
            raise InvalidInput("world must have a start state; got none. Set it: dataclasses.replace(world, start=0).")
        ends = self.world.targets if targets is None else self.world.check_states("targets", targets)
        self.targets = frozenset(() if ends is None else ends.tolist())
        self._limit = np.inf if max_episode_steps is None else check_integer("max_episode_steps", max_episode_steps, 1)
        assert self.world.actions is not None
        self.observation_space = spaces.Discrete(self.world.n_states)
        self.action_space = spaces.Discrete(int(self.world.actions.max()) + 1)
        self._state = -1

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode."""
        super().reset(seed=seed)
        if self.world.starts is not None:
            self._state = int(self.np_random.choice(self.world.n_states, p=self.world.starts))
        else:
            assert self.world.start is not None
            self._state = self.world.start
        self._n_steps = 0
        return np.int64(self._state), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take an action."""
        action = check_action(action, int(self.action_space.n))  # type: ignore[attr-defined]
        if self._state < 0:
            raise InvalidInput("environment must be reset before its first step.")
        self._n_steps += 1
        self._state = self._after(action)
        rewarded = self._state in self.targets
        ended = rewarded or not self._choices()
        return np.int64(self._state), float(rewarded), ended, self._n_steps >= self._limit, {}

    def position_of_state(self, state: int) -> tuple[int, int] | None:
        """Return the row and column of a state, in a world that is a map.

        >>> import farpoint as fp
        >>> fp.envs.WorldEnv("four_rooms").position_of_state(1)
        (1, 2)
        """
        if not self.world.on_grid:
            return None
        assert self.world.positions is not None
        row, column = self.world.positions[check_integer("state", state, 0, self.world.n_states - 1)]
        return int(row), int(column)

    def _choices(self) -> range:
        """Return the choices of the state, which needs no check: this is asked twice per step."""
        pointers = self.world.choice_ptr
        return range(int(pointers[self._state]), int(pointers[self._state + 1]))

    def _after(self, action: int) -> int:
        """Return the state that an action leads to; a random one of several."""
        actions, moves = self.world.actions, self.world.transitions
        assert actions is not None
        for choice in self._choices():
            if actions[choice] == action:
                begin, end = moves.indptr[choice], moves.indptr[choice + 1]
                if end == begin + 1:
                    return int(moves.indices[begin])
                # The last takes what rounding has left.
                drawn = int(np.searchsorted(moves.data[begin:end].cumsum(), self.np_random.random(), side="right"))
                return int(moves.indices[min(begin + drawn, end - 1)])
        return self._state
