"""Exploring a world that can be simulated: the compiled loop."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.agents.episodic import optimal_value
from farpoint.errors import InvalidInput
from farpoint.exploration.explorer import Explorer
from farpoint.exploration.memory import NONE
from farpoint.exploration.steps import Steps, check_actions
from farpoint.simulation.tables import check_starts, episodes_of, world_table
from farpoint.worlds import World
from farpoint.worlds.pairs import positions_of_pairs

_NO_LIMIT = 2**62
# Best decisions that have not arrived after so many times the number of states are not waited for.
_TIMES_THE_STATES = 10


class WorldRun:
    """An explorer in a simulated world. It knows nothing of the world but what it has seen of it."""

    def __init__(
        self,
        world: World,
        explorer: Explorer,
        n_steps: int,
        max_episode_steps: int | None,
        targets: NDArray[np.int64] | None = None,
    ) -> None:
        from farpoint.exploration.run_kernels import Agent, Task

        self.world, self.explorer = world, explorer
        self.steps = Steps.room_for(n_steps)
        self._table = world_table(world, episodic=True)
        is_target = np.isin(np.arange(world.n_states), [] if targets is None else targets)
        limit = _own_limit(world) if max_episode_steps is None else max_episode_steps
        self._task = Task(*_starts(world), is_target, limit)
        unseen = np.full(world.n_states, NONE, dtype=np.int32)
        self._agent = Agent(np.array([NONE, NONE, 0, 0]), unseen, unseen.copy())

    @property
    def about(self) -> dict[str, Any]:
        """What identifies the run in a checkpoint."""
        return {"world": self.world.fingerprint, "max_episode_steps": self._task.max_episode_steps}

    @property
    def name(self) -> str:
        """Of the world."""
        return self.world.name

    @staticmethod
    def most_actions(world: World) -> int:
        """Return the largest number of choices that a state has."""
        return check_actions(int(np.diff(world.choice_ptr).max()))

    def remake(self) -> None:
        """Make the options anew; the one that is followed ends."""
        from farpoint.exploration.run_kernels import OPTION

        self.explorer.remake()
        self._agent.now[OPTION] = NONE

    def advance(self, last_step: int) -> None:
        """Step until so many steps were taken in all."""
        from farpoint.exploration.run_kernels import explore_world

        explorer = self.explorer
        while not explore_world(
            self._table, explorer.memory, self._agent, self.steps, explorer.routes, explorer.values, explorer.rates,
            self._task, explorer.settings.option_probability, explorer.uniform_actions, last_step, explorer.stream,
        ):  # fmt: skip
            explorer.make_room()

    @property
    def best_return(self) -> float:
        """The largest mean discounted reward that an episode can have."""
        starts = np.zeros(self.world.n_states)
        starts[self._task.starts] = np.diff(np.minimum(self._task.starts_cdf, 1.0), prepend=0.0)
        return optimal_value(self.world, self._task.is_target, starts, self.explorer.rates.gamma)

    def greedy_return(self, n_episodes: int, stream: NDArray[np.uint64]) -> float:
        """Return the mean discounted reward of the best decisions, in episodes that the agent does not see."""
        from farpoint.exploration.run_kernels import greedy_return

        explorer = self.explorer
        return greedy_return(
            self._table, explorer.memory, self._agent, explorer.routes, explorer.values, self._task,
            explorer.rates.gamma, n_episodes, _TIMES_THE_STATES * self.world.n_states, stream,
        )  # fmt: skip

    @property
    def labels(self) -> list[Any]:
        """What the world calls each state that was seen."""
        of_world = self._agent.of_world[: self.explorer.n_states].tolist()
        return of_world if self.world.labels is None else [self.world.labels[state] for state in of_world]

    @property
    def positions(self) -> NDArray[Any] | None:
        """Where the world has each state that was seen."""
        if self.world.positions is None:
            return positions_of_pairs(self.labels)
        return np.asarray(self.world.positions[self._agent.of_world[: self.explorer.n_states]])

    @property
    def action_numbers(self) -> NDArray[np.int32]:
        """The world's own number of the action of every step."""
        assert self.world.actions is not None
        steps = self.steps.until(self.explorer.n_steps)
        choices = self.world.choice_ptr[self._agent.of_world[steps.before]] + steps.actions
        return np.asarray(self.world.actions[choices])

    def state(self) -> dict[str, NDArray[Any]]:
        """Return what a checkpoint must hold besides the steps."""
        return {"now": self._agent.now, "of_world": self._agent.of_world[: self.explorer.n_states]}

    def resume(self, state: Mapping[str, NDArray[Any]], taken: Steps) -> None:
        """Restore the agent and what it had seen."""
        from farpoint.exploration.run_kernels import remember_steps

        of_world, n_steps = state["of_world"], len(taken.before)
        self._agent.now[:] = state["now"]
        self._agent.of_world[: of_world.size] = of_world
        self._agent.place[of_world] = np.arange(of_world.size)
        n_actions = np.diff(self.world.choice_ptr)[of_world].astype(np.int32)
        for column, values in zip(self.steps.columns, taken.columns, strict=True):
            column[:n_steps] = values
        while remember_steps(self.explorer.memory, self.steps, n_steps, n_actions) < n_steps:
            self.explorer.make_room()


def _own_limit(world: World) -> int:
    """Return after how many steps an episode of the world ends."""
    has_episodes = world.restart is not None and world.starts is not None
    return episodes_of(world, _NO_LIMIT).max_steps if has_episodes else _NO_LIMIT


def _starts(world: World) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the states in which an episode may begin, and the running sums of their chances."""
    if world.starts is not None:
        states = np.flatnonzero(world.starts)
        check_starts(world, states)
        cdf = np.cumsum(world.starts[states])
        # The last takes what rounding has left.
        cdf[-1] = np.inf
        return states, cdf
    if world.start is None:
        raise InvalidInput(
            "world must have a start state to be explored; got none. Set it: dataclasses.replace(world, start=0)."
        )
    check_starts(world, np.array([world.start]))
    return np.array([world.start]), np.array([np.inf])
