"""Options that appear and improve while any agent trains in many environments at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import ArrayLike, NDArray

from farpoint.envs.copies import Copies, CopiesCall
from farpoint.envs.vector import OptionsVectorEnv
from farpoint.errors import check_integer
from farpoint.exploration.explorer import Explorer, own_masks
from farpoint.exploration.loops import check_simulator, explorer_for, observed_by
from farpoint.exploration.memory import NONE
from farpoint.exploration.slots import SlotOptions
from farpoint.exploration.wrapper import N_OPTIONS, check_explorer
from farpoint.options.running import OptionRun
from farpoint.worlds.environments import StateKey, simulator_state


class DiscoveringVectorEnv(OptionsVectorEnv):
    """A vector of unknown environments with ``n_options`` more actions: options that are found on the way.

    One `Explorer` remembers the steps of all copies, so slot k leads to the same goal in each of them. Slots change
    between two calls, for all copies at once (``infos["changed_options"]``); an option on its way still goes where it
    went. Calls, ``deciding`` and all else in ``infos`` are those of `OptionsVectorEnv`; the rest is as in
    `DiscoveringWrapper`.

    Parameters
    ----------
    envs : gymnasium.vector.VectorEnv
        With discrete actions; of any kind, with autoreset NEXT_STEP or SAME_STEP.
    n_options, gamma, method, option_probability, t, remake_every, max_steps, unavailable, scale, explorer, learn, seed
        As in `DiscoveringWrapper`.
    state : function of (env, observation), optional
        What identifies a state; default: the observation. ``env`` is None unless the copies are in this process and
        reset at the next step (``SyncVectorEnv``).

    Examples
    --------
    >>> import gymnasium as gym, farpoint as fp
    >>> envs = fp.DiscoveringVectorEnv(gym.make_vec("CliffWalking-v1", num_envs=4), n_options=3)
    >>> observations, infos = envs.reset(seed=1)
    >>> for _ in range(500):
    ...     actions = envs.action_space.sample(infos["action_mask"])
    ...     observations, rewards, terminated, truncated, infos = envs.step(actions)
    >>> envs.explorer
    Explorer(38 states, ... steps, 3 of 3 slots filled)
    """

    options: SlotOptions

    def __init__(
        self,
        envs: gym.vector.VectorEnv[Any, Any, Any],
        n_options: int | None = None,
        gamma: float = 0.99,
        *,
        method: str = "diffusion",
        option_probability: float | None = None,
        t: int = 4,
        remake_every: int = 100,
        max_steps: int = 1000,
        unavailable: str = "random",
        state: StateKey | None = None,
        scale: ArrayLike | None = None,
        explorer: Explorer | None = None,
        learn: bool = True,
        seed: int = 0,
    ) -> None:
        seed = check_integer("seed", seed, 0)
        if state is None and explorer is not None and explorer.keyed_by == "simulator":
            state = simulator_state
        self._copies = Copies(envs)
        check_simulator(self._copies, state)
        if explorer is None:
            explorer = explorer_for(
                envs, state, scale, n_options=N_OPTIONS if n_options is None else n_options, method=method,
                option_probability=option_probability, t=t, remake_every=remake_every, seed=seed,
            )  # fmt: skip
        check_explorer(envs, explorer, n_options, state)
        self.explorer, self.learn = explorer, bool(learn)
        super().__init__(envs, SlotOptions(explorer, state).now(), gamma, max_steps=max_steps, unavailable=unavailable)
        self.state = state
        self._numbers = np.array(explorer.new_copies(self.num_envs))
        for run, number in zip(self._runs, self._numbers.tolist(), strict=True):
            run.copy = number
        self._here = np.full(self.num_envs, NONE)
        self._generation = explorer.generation
        self._latest: list[Any] = []
        self._changed: list[int] = []

    def step(
        self, actions: ArrayLike
    ) -> tuple[Any, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Take one primitive step in every copy."""
        self._find_again()
        return super().step(actions)

    def _remember(self, call: CopiesCall, taken: list[Any]) -> None:
        """Tell the explorer what a call did, and rebuild the options if it is time."""
        explorer = self.explorer
        self._latest = call.observations
        if self.learn:
            moved, begun = call.moved, call.begun
            if moved:
                self._here[moved] = explorer.add(
                    self._here[moved], [taken[copy] for copy in moved], self._observed(call.arrivals, moved),
                    call.terminated[moved], masks=self._masks(call.arrival_masks, moved), copies=self._numbers[moved],
                )  # fmt: skip
            if begun:
                self._here[begun] = explorer.begin(
                    self._observed(call.observations, begun), masks=self._masks(call.masks, begun),
                    copies=self._numbers[begun],
                )  # fmt: skip
            if explorer.due:
                explorer.remake()
        slots = self.options.now()
        self._changed, self.options = slots.changed_since(self.options), slots

    def _find_again(self) -> None:
        """Look up the present states again if the explorer has renumbered all states."""
        explorer = self.explorer
        if self.learn and explorer.generation != self._generation:
            self._here[:] = explorer.find(self._observed(self._latest, range(self.num_envs)))
            self._generation = explorer.generation

    def _offer(self, copy: int, call: CopiesCall) -> None:
        run = self._runs[copy]
        if run.options is not self.options:
            run.options, run.rows = self.options, self.options.rows
            run.seen = self._read(call.arrivals[copy], copy)

    def _begin(self, copy: int, call: CopiesCall) -> None:
        run = self._runs[copy]
        run.options, run.rows = self.options, self.options.rows
        super()._begin(copy, call)

    def _read(self, observation: Any, copy: int = 0) -> Any:
        return self._runs[copy].options.observe(self._copies.envs[copy], observation)

    def _observed(self, observations: list[Any], copies: Sequence[int]) -> list[Any]:
        """Return what identifies the states of some copies."""
        return [observed_by(self.state, self._copies.envs[copy], observations[copy]) for copy in copies]

    def _masks(self, masks: list[Any], copies: list[int]) -> list[Any] | None:
        return own_masks([masks[copy] for copy in copies], self.explorer.n_actions)

    def _told_at_end(self, run: OptionRun) -> dict[str, Any]:
        return {**super()._told_at_end(run), "changed_options": list(self._changed)}

    def _told(self, over: NDArray[np.bool_] | None = None) -> dict[str, Any]:
        told = super()._told(over)
        changed = np.empty(self.num_envs, dtype=object)
        for copy in range(self.num_envs):
            changed[copy] = list(self._changed)
        return {**told, "changed_options": changed, "_changed_options": np.ones(self.num_envs, dtype=bool)}
