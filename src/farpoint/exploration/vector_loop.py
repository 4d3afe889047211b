"""The loop that lets an explorer act in many copies of an environment at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.envs.copies import Copies, CopiesCall
from farpoint.errors import InvalidInput, WrongCheckpoint
from farpoint.exploration.explorer import Explorer, own_masks
from farpoint.exploration.loops import (
    GOES_ON,
    TERMINATED,
    TRUNCATED,
    EnvironmentLoop,
    Steps,
    check_simulator,
    observed_by,
    one_of,
)
from farpoint.exploration.memory import NONE
from farpoint.worlds import Log
from farpoint.worlds.environments import StateKey


class VectorLoop(EnvironmentLoop):
    """An explorer in all copies of a vector environment; each call is one step of every copy.

    Steps are remembered in the order of the copies. Options are rebuilt between two calls. The last call may take more
    steps than were asked for; these are not remembered.
    """

    def __init__(self, envs: Any, explorer: Explorer, n_steps: int, seed: int, state: StateKey | None) -> None:
        self._copies = Copies(envs)
        check_simulator(self._copies, state)
        super().__init__(envs, explorer, n_steps, seed, state, None)
        self._n_steps = n_steps
        # The copy that took each step; the state, the option and the last observation of each copy.
        self._copy_of = np.zeros(n_steps, dtype=np.int32)
        self._states = np.full(self._copies.count, NONE)
        self._options = np.full(self._copies.count, NONE)
        self._seen: list[Any] = []
        self._begun = False

    @property
    def about(self) -> dict[str, Any]:
        """What identifies the loop in a checkpoint."""
        copies = self._copies
        return {**super().about, "name": self.name, "n_envs": copies.count, "same_step": copies.same_step}

    @property
    def name(self) -> str:  # type: ignore[override]
        """Name of the environment."""
        spec = self.env.spec or one_of(self.env).spec
        return str(getattr(spec, "id", None) or type(self._base).__name__)

    @property
    def _base(self) -> Any:
        return one_of(self.env).unwrapped

    def _env_of(self, copy: int) -> Any:
        return self._copies.envs[copy]

    def remake(self) -> list[int]:
        """Rebuild the options and interrupt those whose goal changed.

        The others go on. With eight copies all eight options on their way would be interrupted in each rebuild: 90 % of
        a maze of 1,000 states is then seen after 1.43 × the steps of one copy.
        """
        changed = super().remake()
        self._options[np.isin(self._options, changed)] = NONE
        return changed

    def _renumber(self) -> None:
        super()._renumber()
        if self._begun:
            self._states = self.explorer.find([self._look(copy, seen) for copy, seen in enumerate(self._seen)])

    def advance(self, last_step: int) -> None:
        """Step until at least ``last_step`` steps were taken in all, and never more than the exploration has."""
        explorer = self.explorer
        while explorer.n_steps < last_step:
            if not self._begun:
                self._begin_all(self._reset_all())
            moving = np.flatnonzero(~self._copies.over)
            actions = np.zeros(self._copies.count, dtype=np.int64)
            actions[moving], self._options[moving] = explorer.act(
                self._states[moving], self._options[moving], copies=moving.tolist()
            )
            call = self._copies.step(actions.tolist())
            self._remember(call, actions)
            self._begin_all(call)

    def _reset_all(self) -> CopiesCall:
        self._begun = True
        call = self._copies.reset(self._seed)
        self._seen = call.observations
        return call

    def _remember(self, call: CopiesCall, actions: NDArray[np.int64]) -> None:
        explorer, step = self.explorer, self.explorer.n_steps
        moved = call.moved[: self._n_steps - step]
        rows = slice(step, step + len(moved))
        before = self._states[moved]
        self._keep(call, moved, rows)
        after = explorer.add(
            before, actions[moved], [self._look(copy, call.arrivals[copy]) for copy in moved], call.terminated[moved],
            masks=own_masks([call.arrival_masks[copy] for copy in moved], explorer.n_actions), copies=moved,
        )  # fmt: skip
        self._states[moved] = after
        for copy, state in zip(moved, after.tolist(), strict=True):
            self._locate(explorer.places[state], copy)
        ended = self._ended(call, moved)
        for column, values in zip(self.steps, (before, actions[moved], after, ended, call.rewards[moved]), strict=True):
            column[rows] = values

    def _keep(self, call: CopiesCall, moved: list[int], rows: slice) -> None:
        """Record what the environment said of some steps."""
        if not np.isfinite(call.rewards).all():
            raise InvalidInput(f"reward must be finite; got {call.rewards} after {rows.start} steps of {self.name}.")
        self._copy_of[rows] = moved
        if self._width and moved:
            self._before[rows] = [np.ravel(self._seen[copy]) for copy in moved]
            self._after[rows] = [np.ravel(call.arrivals[copy]) for copy in moved]
        self._seen = call.observations

    def _ended(self, call: CopiesCall, moved: list[int]) -> NDArray[np.int8]:
        """Return how some steps ended their episodes."""
        truncated = np.where(call.truncated, TRUNCATED, GOES_ON)
        return np.where(call.terminated, TERMINATED, truncated)[moved].astype(np.int8)

    def _begin_all(self, call: CopiesCall) -> None:
        """Begin the episodes that began in a call."""
        if not call.begun:
            return
        explorer, begun = self.explorer, call.begun
        states = explorer.begin(
            [self._look(copy, call.observations[copy]) for copy in begun],
            masks=own_masks([call.masks[copy] for copy in begun], explorer.n_actions),
            copies=begun,
        )
        self._states[begun], self._options[begun] = states, NONE
        for copy, state in zip(begun, states.tolist(), strict=True):
            self._locate(explorer.places[state], copy)

    def _look(self, copy: int, observation: Any) -> Any:
        return observed_by(self._read, self._copies.envs[copy], observation)

    # --- The result ---------------------------------------------------------------------------------------------------

    @property
    def _in_episodes(self) -> NDArray[np.int64]:
        """The steps of one copy after those of another."""
        return np.argsort(self._copy_of[: self.explorer.n_steps], kind="stable")

    @property
    def taken(self) -> Steps:
        """The steps of one copy after those of another; the end of exploring cuts the last one of each."""
        order, steps = self._in_episodes, self.steps.until(self.explorer.n_steps)
        in_order = Steps(*(column[order] for column in steps))
        last = np.append(np.flatnonzero(np.diff(self._copy_of[order])), len(order) - 1)
        in_order.ended[last] = np.where(in_order.ended[last] == GOES_ON, TRUNCATED, in_order.ended[last])
        return in_order

    @property
    def samples(self) -> Log | None:  # type: ignore[override]
        """Every step, as observed, where observations are continuous."""
        if not self._width:
            return None
        order = self._in_episodes
        return Log(self._before[order], self.action_numbers.astype(np.int64), self._after[order])

    # --- Checkpoints --------------------------------------------------------------------------------------------------

    def state(self) -> dict[str, NDArray[Any]]:
        """Return what a checkpoint must hold besides the steps and the explorer."""
        return {"states": self._states, "options": self._options}

    def resume(self, state: Mapping[str, NDArray[Any]], taken: Steps) -> None:
        """Take the same steps again, with the same seed, to bring all copies back to where they were."""
        n_steps, step = len(taken.actions), 0
        call = self._reset_all()
        self._visit(call.begun, call.observations)
        while step < n_steps:
            moved = np.flatnonzero(~self._copies.over)
            rows = slice(step, step + moved.size)
            actions = np.zeros(self._copies.count, dtype=np.int64)
            actions[moved] = taken.actions[rows]
            call = self._copies.step(actions.tolist())
            self._keep(call, call.moved, rows)
            found = self._visit(call.moved, call.arrivals)
            expected = np.array(self.explorer.places)[taken.after[rows]]
            same = np.float32(call.rewards[call.moved]) == taken.rewards[rows]
            same &= (self._ended(call, call.moved) == taken.ended[rows]) & ((found == NONE) | (found == expected))
            if not same.all():
                raise WrongCheckpoint(
                    "environments must answer as when the checkpoint was made; got something else in step "
                    f"{step + int(np.argmin(same))}. Give them the same seed and state."
                )
            self._visit(call.begun, call.observations)
            step += moved.size
        for column, values in zip(self.steps, taken, strict=True):
            column[:n_steps] = values
        self._states, self._options = state["states"].copy(), state["options"].copy()

    def _visit(self, copies: list[int], observations: list[Any]) -> NDArray[np.int64]:
        """Return the places of some observations, -1 for continuous ones."""
        return np.array([self._place_of(self._look(copy, observations[copy]), copy) for copy in copies], dtype=np.int64)
