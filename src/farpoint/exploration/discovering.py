"""A Gymnasium wrapper in which options appear and improve while any agent trains."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import ArrayLike, NDArray

from farpoint.envs.wrapper import OptionsWrapper
from farpoint.errors import InvalidInput, check_integer
from farpoint.exploration.explorer import Explorer, ExploreSettings
from farpoint.exploration.place_keys import PlaceKeys
from farpoint.exploration.sampled_runs import is_continuous
from farpoint.exploration.slots import SlotOptions
from farpoint.worlds.environments import count_actions
from farpoint.worlds.keys import StateKey, check_key, state_key


class DiscoveringWrapper(OptionsWrapper):
    """An environment of which nothing is known beforehand, with ``n_options`` more actions: options found on the way.

    Every step is remembered, and now and then the options are made anew of what was seen: shortest routes to far and
    rare states, as in `explore`. Slots are empty at first; a slot keeps its goal while that is among the best, so that
    what an agent has learned about it stays useful. ``info["changed_options"]`` names the slots whose goal changed in
    this step. Otherwise it is an `OptionsWrapper`: the same rewards, durations and masks.

    An agent that chooses uniformly among all actions would take options far too often, and never look around where
    they bring it. So the mask offers options only now and then, such that a uniformly random choice among what is
    offered is an option with ``option_probability``.

    Parameters
    ----------
    env : gymnasium.Env
        With discrete actions; continuous ones can be wrapped in ``gymnasium.wrappers.DiscretizeAction``.
    n_options : int
        Number of slots.
    gamma : float
    method : {"diffusion", "novelty", "eigen", "cover", "neo", "betweenness", "random", "none"}
        Where options lead, as in `explore`.
    option_probability : float
        Of a uniformly random choice among what is offered; where few options can start, at most their share.
    t, remake_every : int
        As in `explore`.
    max_steps : int
        The longest that one option may last.
    unavailable : {"random", "refuse"}
        What happens when an option is chosen that is not offered: one random primitive action, or an error.
    state : function of (env, observation), optional
        What identifies a state, as in `World.from_env`. Default, where observations are a Box of floats: the nearest
        of the representative observations, which are added as new regions are seen.
    scale : float or array of float, optional
        How far a representative reaches in each number of a continuous observation. Default: twice what a step
        changes it by, measured whenever the number of steps has doubled; where that changes it much, states are made
        anew and all slots are empty again.
    seed : int
        Of the choice of goals; that of a reset decides when options are offered.

    Examples
    --------
    >>> import gymnasium as gym, farpoint as fp
    >>> env = fp.DiscoveringWrapper(gym.make("CliffWalking-v1"), n_options=4)
    >>> env.action_space
    Discrete(8)
    >>> agent = fp.train_tabular(env, 3000, algorithm="intra-option")
    >>> (env.options.goals >= 0).all()
    np.True_
    """

    options: SlotOptions

    def __init__(
        self,
        env: gym.Env[Any, Any],
        n_options: int = 16,
        gamma: float = 0.99,
        *,
        method: str = "diffusion",
        option_probability: float = 0.05,
        t: int = 4,
        remake_every: int = 100,
        max_steps: int = 1000,
        unavailable: str = "random",
        state: StateKey | None = None,
        scale: ArrayLike | None = None,
        seed: int = 0,
    ) -> None:
        # Before the wrapper below records its own arguments: the first record counts.
        gym.utils.RecordConstructorArgs.__init__(
            self, n_options=n_options, gamma=gamma, method=method, option_probability=option_probability, t=t,
            remake_every=remake_every, max_steps=max_steps, unavailable=unavailable, state=state, scale=scale,
            seed=seed,
        )  # fmt: skip
        n_options = check_integer("n_options", n_options, 1)
        seed = check_integer("seed", seed, 0)
        settings = ExploreSettings(method, n_options, option_probability, t, remake_every)
        sampled = state is None and is_continuous(env)
        if scale is not None and not sampled:
            raise InvalidInput(f"scale must go with continuous observations and without state; got {scale!r}.")
        self._explorer = Explorer(settings, count_actions(env), seed, expected=sampled)
        self._places = PlaceKeys(env, scale) if sampled else None
        slots = SlotOptions(self._explorer, self._places or state or state_key)
        super().__init__(env, slots, gamma, max_steps=max_steps, unavailable=unavailable, state=state)
        self.option_probability = settings.option_probability
        self._draws = np.random.default_rng(seed)
        self._remake_at = remake_every
        self._offered = False
        self._here, self._terminated = -1, False
        self._first = np.zeros(0)

    @property
    def explorer(self) -> Explorer:
        """What was seen so far."""
        return self._explorer

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode."""
        if seed is not None:
            self._draws = np.random.default_rng(check_integer("seed", seed, 0))
        return super().reset(seed=seed, options=options)

    def action_masks(self) -> NDArray[np.bool_]:
        """Return which actions are offered now."""
        mask = self.mask_at(self._seen)
        if not self._offered:
            mask[self.n_actions :] = False
        return mask

    def sample_action(
        self,
        option_probability: float | None = None,
        *,
        among: NDArray[Any] | None = None,
        rng: np.random.Generator | None = None,
    ) -> int:
        """Return a random decision among what is offered; uniformly, if no probability is given.

        As options are offered, a uniform decision is an option with the wrapper's own ``option_probability``.
        """
        if option_probability is not None:
            return super().sample_action(option_probability, among=among, rng=rng)
        possible = np.flatnonzero(self.action_masks() if among is None else among)
        return int(possible[(self._rng if rng is None else rng).integers(possible.size)])

    def _begin_episode(self, seen: Any) -> None:
        super()._begin_episode(seen)
        if self._places is not None:
            self._places.keep()
            self._first = self._places.latest
        self._here, self._terminated = self._numbered(seen), False
        self._explorer.visit(self._here)
        self._explorer.begin(self._here)

    def _first_action(self, option: int) -> Any | None:
        if self._offered:
            return super()._first_action(option)
        if self.unavailable == "random":
            return None
        raise InvalidInput(f"option {option} must be one that is offered now; see info['action_mask'].")

    def _primitive_step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        before = None if self._places is None else self._places.latest
        observation, reward, terminated, truncated, info = super()._primitive_step(action)
        if self._places is not None and before is not None:
            self._places.keep()
            self._places.count_step(before)
        self._terminated = terminated
        after = self._numbered(self._now)
        self._explorer.visit(after, terminal=terminated)
        self._explorer.remember(self._here, int(action), after)
        self._here = after
        return observation, reward, terminated, truncated, info

    def _numbered(self, key: Any) -> int:
        number = self.options.number.get(check_key(key))
        if number is None:
            number = self.options.number[key] = self._explorer.new_state(self._explorer.n_steps)
        return number

    def _offer(self) -> dict[str, Any]:
        """Make the options anew if it is time, and decide whether they are offered at the next decision."""
        changed: list[int] = []
        if self._explorer.n_steps >= self._remake_at:
            emptied = self._forget() if self._places is not None and self._places.rescale() else []
            changed = sorted({*emptied, *self._explorer.remake()})
            self._remake_at = self._explorer.n_steps + self._explorer.interval
        able = self.options.can_start(self._seen)
        n_able = int(np.count_nonzero(able))
        # p = (how often they are offered) · able / (actions + able)
        uniform = n_able / (self.n_actions + n_able)
        self._offered = n_able > 0 and self._draws.random() * uniform < self._explorer.settings.option_probability
        mask = np.concatenate([self._always, able & self._offered])
        return {"changed_options": changed, "action_mask": mask.astype(np.int8)}

    def _forget(self) -> list[int]:
        """Begin anew with other states; return the slots that were not empty."""
        assert self._places is not None
        emptied = np.flatnonzero(self._explorer.goals >= 0).tolist()
        self._explorer.forget()
        self.options.number.clear()
        now = self._places.latest
        # Where the episode began comes first: other beginnings are joined to it.
        first = self._numbered(self._places.observe(self.env, self._first))
        self._explorer.visit(first)
        self._explorer.begin(first)
        self._seen = self._now = self._places.observe(self.env, now)
        self._here = self._numbered(self._seen)
        self._explorer.visit(self._here, terminal=self._terminated)
        return emptied
