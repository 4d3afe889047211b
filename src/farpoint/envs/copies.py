"""Copies of an environment that step together, and whose episodes end at different times."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space, concatenate, create_empty_array, iterate
from numpy.typing import NDArray

from farpoint.errors import InvalidInput, check_integer


class CopiesCall(NamedTuple):
    """What one call of a vector environment did, the same for both ways to reset ended copies.

    Copies in ``moved`` took a step, which led to ``arrivals[copy]``. Copies in ``begun`` begin an episode with
    ``observations[copy]``. ``arrival_masks`` and ``masks`` are the environment's own masks of its actions there, None
    where it has none. Lists have one entry per copy.
    """

    moved: list[int]
    begun: list[int]
    arrivals: list[Any]
    arrival_masks: list[Any]
    observations: list[Any]
    masks: list[Any]
    rewards: NDArray[np.float64]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    batched: Any
    infos: dict[str, Any]


class Copies:
    """The copies of a vector environment: what each call did, the same for NEXT_STEP and SAME_STEP autoreset.

    Parameters
    ----------
    env : gymnasium.vector.VectorEnv

    Examples
    --------
    >>> copies = Copies(gym.make_vec("FrozenLake-v1", num_envs=2, is_slippery=False))
    >>> copies.reset(seed=0).begun
    [0, 1]
    >>> copies.step([0, 2]).arrivals
    [np.int64(0), np.int64(1)]
    """

    def __init__(self, env: Any) -> None:
        if not isinstance(env, gym.vector.VectorEnv):
            raise InvalidInput(
                f"envs must be a Gymnasium vector environment; got {env!r:.80}. Make one with gymnasium.make_vec."
            )
        mode = env.metadata.get("autoreset_mode")
        if mode not in (AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP):
            raise InvalidInput(
                "envs must reset ended copies by itself and say how: metadata['autoreset_mode'] must be NEXT_STEP or "
                f"SAME_STEP of gymnasium.vector.AutoresetMode; got {mode!r}."
            )
        self.env = env
        self.same_step = mode is AutoresetMode.SAME_STEP
        self.count = int(env.num_envs)
        # Copies whose episode is over, which the next call resets.
        self.over = np.zeros(self.count, dtype=bool)
        # Some environments give the space of one copy as their observation space.
        self._space = batch_space(env.single_observation_space, self.count)
        self._discrete = isinstance(env.single_action_space, gym.spaces.Discrete)
        # The environment of each copy if it is in this process and in the state last observed; else None.
        here = getattr(env.unwrapped, "envs", None)
        shows = not self.same_step and isinstance(here, Sequence) and all(isinstance(one, gym.Env) for one in here)
        self.envs: list[Any] = list(here) if here is not None and shows else [None] * self.count

    def reset(
        self, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> CopiesCall:
        """Begin an episode in every copy."""
        if seed is not None and not isinstance(seed, (int, np.integer)):
            if not isinstance(seed, (list, tuple)) or len(seed) != self.count:
                raise InvalidInput(f"seed must be a number, or a list of {self.count}, one per copy; got {seed!r:.60}.")
            seed = [None if one is None else check_integer("each seed", one, 0) for one in seed]
        elif seed is not None:
            seed = check_integer("seed", seed, 0)
        if options is not None and not isinstance(options, dict):
            raise InvalidInput(f"options must be a dict or None; got {type(options).__name__}.")
        if options is not None and "reset_mask" in options:
            raise InvalidInput("options must not hold 'reset_mask': all copies are reset together; got one.")
        batched, infos = self.env.reset(seed=seed, options=options)  # type: ignore[arg-type]
        self.over = np.zeros(self.count, dtype=bool)
        never = np.zeros(self.count, dtype=bool)
        return self._call(batched, np.zeros(self.count), never, never, infos, np.ones(self.count, dtype=bool))

    def step(self, actions: Sequence[Any]) -> CopiesCall:
        """Take one action in every copy; those whose episode is over under NEXT_STEP are reset and ignore theirs."""
        began = self.over
        batched, rewards, terminated, truncated, infos = self.env.step(self._together(actions))
        terminated, truncated = np.asarray(terminated, dtype=bool), np.asarray(truncated, dtype=bool)
        if not self.same_step:
            self.over = terminated | truncated
        return self._call(batched, np.asarray(rewards, dtype=np.float64), terminated, truncated, infos, began)

    def _together(self, actions: Sequence[Any]) -> Any:
        space = self.env.single_action_space
        if self._discrete:
            return np.array(actions, dtype=space.dtype)
        together: Any = create_empty_array(space, self.count)
        return concatenate(space, actions, together)

    def _call(
        self,
        batched: Any,
        rewards: NDArray[np.float64],
        terminated: NDArray[np.bool_],
        truncated: NDArray[np.bool_],
        infos: dict[str, Any],
        began: NDArray[np.bool_],
    ) -> CopiesCall:
        # A copy: agents and environments may write over what an agent is given, and options read it in the next call.
        observations, masks = list(iterate(self._space, deepcopy(batched))), self._masks(infos)
        arrivals, arrival_masks = observations, masks
        moved = np.flatnonzero(~began).tolist()
        ended = terminated | truncated
        if self.same_step and ended.any():
            arrivals, arrival_masks = observations.copy(), masks.copy()
            final = self._masks(infos.get("final_info", {}))
            for copy in np.flatnonzero(ended).tolist():
                arrivals[copy], arrival_masks[copy] = infos["final_obs"][copy], final[copy]
            began = began | ended
        return CopiesCall(
            moved, np.flatnonzero(began).tolist(), arrivals, arrival_masks, observations, masks, rewards, terminated,
            truncated, batched, infos,
        )  # fmt: skip

    def _masks(self, infos: dict[str, Any]) -> list[Any]:
        """Return the environment's own mask of each copy, None where it says nothing."""
        masks = infos.get("action_mask")
        if masks is None:
            return [None] * self.count
        given = infos.get("_action_mask", np.ones(self.count, dtype=bool))
        return [mask if said else None for mask, said in zip(masks, given, strict=True)]
