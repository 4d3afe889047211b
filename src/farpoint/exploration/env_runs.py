"""Exploring a Gymnasium environment, which can only be stepped and reset."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.errors import InvalidInput, WrongCheckpoint
from farpoint.exploration.explorer import Explorer
from farpoint.exploration.memory import NONE
from farpoint.exploration.steps import GOES_ON, TERMINATED, TRUNCATED, Steps, check_actions
from farpoint.worlds.environments import count_actions
from farpoint.worlds.keys import StateKey, check_key, position_of, state_key
from farpoint.worlds.pairs import positions_of_pairs


class EnvRun:
    """An explorer in an environment."""

    def __init__(
        self, env: Any, explorer: Explorer, n_steps: int, seed: int, state: StateKey | None, layout: int | None
    ) -> None:
        self.env, self.explorer = env, explorer
        self.steps = Steps.room_for(n_steps)
        self.number: dict[Hashable, int] = {}
        self._positions: list[tuple[int, int] | None] = []
        self._key_of, self._layout, self._seed = state or state_key, layout, seed
        self._own_keys = state is not None
        self._state, self._option, self._exploring = NONE, NONE, True

    @property
    def about(self) -> dict[str, Any]:
        """What identifies the run in a checkpoint."""
        return {"env": str(self.env), "layout": self._layout}

    @property
    def name(self) -> str:
        """Of the environment."""
        return str(getattr(self.env.spec, "id", None) or type(self.env.unwrapped).__name__)

    @staticmethod
    def most_actions(env: Any) -> int:
        """Return the number of actions."""
        return check_actions(count_actions(env))

    def remake(self) -> None:
        """Make the options anew; the one that is followed ends."""
        self.explorer.remake()
        self._option = NONE

    def advance(self, last_step: int) -> None:
        """Step until so many steps were taken in all."""
        explorer = self.explorer
        while explorer.n_steps < last_step:
            if self._state == NONE:
                self._begin()
            action, self._option = explorer.decide(self._state, self._option, exploring=self._exploring)
            self._step(action)

    def _begin(self) -> None:
        first = self._seed if self._layout is None and not self.number else self._layout
        observation, _ = self.env.reset(seed=first)
        self._state, self._option = self._numbered(observation, self.explorer.n_steps), NONE
        self.explorer.visit(self._state)
        self.explorer.begin(self._state)
        self._exploring = self.explorer.explores()

    def _step(self, action: int) -> None:
        before, step = self._state, self.explorer.n_steps
        observation, reward, terminated, truncated, _ = self.env.step(action)
        if not np.isfinite(reward):
            raise InvalidInput(f"reward must be finite; got {reward!r} in step {step} of {self.name}.")
        after = self._numbered(observation, step + 1)
        self.explorer.visit(after, terminal=bool(terminated))
        self.explorer.remember(before, action, after, float(reward), terminated=bool(terminated))
        ended = TERMINATED if terminated else TRUNCATED if truncated else GOES_ON
        for column, value in zip(self.steps.columns, (before, action, after, ended, reward), strict=True):
            column[step] = value
        if ended == GOES_ON:
            self._state = after
        else:
            self._state, self._option = NONE, NONE

    def _numbered(self, observation: Any, step: int) -> int:
        key = check_key(self._key_of(self.env, observation))
        number = self.number.get(key)
        if number is None:
            number = self.number[key] = self.explorer.new_state(step)
            # A key that the user made need not be the number of a state.
            self._positions.append(position_of(self.env, None if self._own_keys else key))
        return number

    @property
    def labels(self) -> list[Any]:
        """The key of each state that was seen."""
        return list(self.number)

    @property
    def positions(self) -> NDArray[Any] | None:
        """Row and column of each state, where the environment or the keys say it."""
        if self._positions and all(position is not None for position in self._positions):
            return np.array(self._positions)
        return positions_of_pairs(self.labels)

    @property
    def action_numbers(self) -> NDArray[np.int32]:
        """The environment's own number of the action of every step."""
        return self.steps.until(self.explorer.n_steps).actions.astype(np.int32)

    def state(self) -> dict[str, NDArray[Any]]:
        """Return what a checkpoint must hold besides the steps: nothing, an environment is brought back by replay."""
        return {}

    def resume(self, state: Mapping[str, NDArray[Any]], taken: Steps) -> None:
        """Take the same steps again, with the same seeds, to bring the environment back to where it was."""
        for step, action in enumerate(taken.actions.tolist()):
            if self._state == NONE:
                self._begin()
            self._step(action)
            if any(now[step] != then[step] for now, then in zip(self.steps.columns, taken.columns, strict=True)):
                raise WrongCheckpoint(
                    f"environment must answer as when the checkpoint was made; got something else in step {step}. "
                    "Give it the same seed, layout and state."
                )
