"""A Gymnasium wrapper in which options appear and improve while any agent trains."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import ArrayLike

from farpoint.envs.wrapper import OptionsWrapper, resets_itself
from farpoint.errors import InvalidInput, check_integer
from farpoint.exploration.explorer import Explorer, own_mask, spaces_of
from farpoint.exploration.loops import explorer_for, observed_by
from farpoint.exploration.memory import NONE
from farpoint.exploration.slots import SlotOptions
from farpoint.worlds.environments import StateKey, simulator_state
from farpoint.worlds.state_index import state_key

# Slots, where nobody says how many.
N_OPTIONS = 16


class DiscoveringWrapper(OptionsWrapper):
    """An unknown environment with ``n_options`` more actions: options that are found on the way.

    An `Explorer` remembers every step and rebuilds the options now and then: shortest routes to far and little known
    states, as in `explore`. Slots are empty at first. A slot keeps its goal while that is among the best, so what an
    agent has learned about it stays useful; ``info["changed_options"]`` names the slots whose goal changed just now.
    Otherwise it is an `OptionsWrapper`: the same rewards, durations and masks, and every option that can start is
    offered at every decision.

    How often to explore, and how often by an option, is up to the agent. One that chooses uniformly among all actions
    takes options far too often, and never looks around where they bring it. So ``action_space.sample()``, by which most
    agents explore, and `sample_action` take options with ``option_probability`` only.

    Parameters
    ----------
    env : gymnasium.Env
        With discrete actions; continuous ones can be wrapped in ``gymnasium.wrappers.DiscretizeAction``. If it resets
        itself (``gymnasium.wrappers.Autoreset``), the step that does so lasts 0 steps and is not remembered as a move.
    n_options : int, optional
        Number of slots. Default: 16, or that of ``explorer``.
    gamma : float
    method : {"diffusion", "novelty", "eigen", "cover", "neo", "betweenness", "random", "none"}
        Where options lead, as in `explore`.
    option_probability : float, optional
        How often a random decision (``action_space.sample()``, `sample_action`) is an option. Default: 0.05.
    t, remake_every : int
        As in `explore`.
    max_steps : int
        The longest that one option may last.
    unavailable : {"random", "refuse"}
        What happens when an option is chosen that cannot start: one random primitive action, or an error.
    state : function of (env, observation), optional
        What identifies a state, as in `explore`; default: the observation.
    scale : float or array of float, optional
        For continuous observations: how far a state reaches in each number. Default: measured, see `Explorer`. When it
        changes, all slots are empty again.
    explorer : Explorer, optional
        One that exists already: of another environment of the same kind, or loaded from a file. Then ``method``,
        ``option_probability``, ``t`` and ``remake_every`` are those of the explorer. Copies in one process that share
        an explorer remember together, and their slots change together; see ``docs/vector.md``.
    learn : bool
        Whether the explorer remembers what happens here and rebuilds its options; False for evaluation.
    seed : int
        Of the choice of goals.

    Examples
    --------
    >>> import gymnasium as gym, farpoint as fp
    >>> env = fp.DiscoveringWrapper(gym.make("CliffWalking-v1"), n_options=4)
    >>> env.action_space
    Discrete(8)
    >>> agent = fp.train_tabular(env, 3000, algorithm="intra-option")
    >>> (env.options.goals >= 0).all()
    np.True_
    >>> evaluation = fp.DiscoveringWrapper(gym.make("CliffWalking-v1"), explorer=env.explorer, learn=False)
    """

    options: SlotOptions

    def __init__(
        self,
        env: gym.Env[Any, Any],
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
        # Before the wrapper below records its own arguments: the first record counts.
        gym.utils.RecordConstructorArgs.__init__(
            self, n_options=n_options, gamma=gamma, method=method, option_probability=option_probability, t=t,
            remake_every=remake_every, max_steps=max_steps, unavailable=unavailable, state=state, scale=scale,
            explorer=explorer, learn=learn, seed=seed, _disable_deepcopy=True,
        )  # fmt: skip
        seed = check_integer("seed", seed, 0)
        if explorer is None:
            explorer = explorer_for(
                env, state, scale, n_options=N_OPTIONS if n_options is None else n_options, method=method,
                option_probability=option_probability, t=t, remake_every=remake_every, seed=seed,
            )  # fmt: skip
        elif state is None and explorer.keyed_by == "simulator":
            state = simulator_state
        check_explorer(env, explorer, n_options, state)
        self.explorer = explorer
        self._recorder = _Recorder(env, explorer, state, learn=bool(learn))
        slots = SlotOptions(explorer, state).now()
        super().__init__(self._recorder, slots, gamma, max_steps=max_steps, unavailable=unavailable)
        self.state = state
        self._run.copy = self._recorder.copy
        # Whether this is the first call of a row of calls of all copies that share the explorer, and they learn.
        self._begins_row = False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode; the seed also decides how ties inside options are broken."""
        self._note_call(is_reset=True)
        return super().reset(seed=seed, options=options)

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take a primitive action, or follow an option to its end."""
        self._note_call(is_reset=False)
        return super().step(action)

    def _note_call(self, *, is_reset: bool) -> None:
        recorder = self._recorder
        self._begins_row = recorder.learn and self.explorer.rows.begins_with(recorder.copy, is_reset=is_reset)

    def _offer(self, told: dict[str, Any]) -> None:
        """Rebuild the options if it is time; add to ``info`` what it says of the next decision."""
        explorer, recorder = self.explorer, self._recorder
        if self._begins_row and explorer.due:
            explorer.remake()
        slots = self.options.now()
        told["changed_options"] = slots.changed_since(self.options)
        if slots.generation != self.options.generation:
            # States have other numbers now.
            self._run.seen = slots.observe(self.env, recorder.latest)
        self.options = self._run.options = slots
        self._run.rows = slots.rows
        self._read = self._read_once
        super()._offer(told)

    def _read_once(self, env: Any, observation: Any) -> Any:
        """Return what the options read; the key of the latest observation is known already."""
        recorder = self._recorder
        known = observation is recorder.latest and self.explorer.index.scale is None
        return recorder.key if known else self.options.observe(env, observation)


class _Recorder(gym.Wrapper[Any, int, Any, int]):
    """Tells an explorer what happens in an environment."""

    def __init__(self, env: gym.Env[Any, Any], explorer: Explorer, state: StateKey | None, *, learn: bool) -> None:
        super().__init__(env)
        self.explorer, self.learn = explorer, learn
        self.latest: Any = None
        self._key: Any = None
        self.is_over = False
        self.resets_itself = resets_itself(env)
        self._state_of = state
        self._here, self._generation = NONE, explorer.generation
        # An explorer that several wrappers share tells their episodes apart by this number.
        (self.copy,) = explorer.new_copies(1)

    @property
    def spec(self) -> Any:  # type: ignore[override]
        """That of the environment: whoever makes the stack again makes a recorder too."""
        return self.env.spec

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode."""
        self.latest, info = self.env.reset(seed=seed, options=options)
        self._key = None
        self._begin(info)
        return self.latest, info

    def step(self, action: int) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Take one action."""
        if self.is_over and not self.resets_itself:
            raise gym.error.ResetNeeded("the episode is over; call reset() before the next step().")
        explorer, began = self.explorer, self.is_over
        if self.learn and not began and explorer.generation != self._generation:
            # States have other numbers now. Before the step: some environments write the next observation over this.
            self._here, self._generation = int(explorer.find([self._observed(self.latest)])[0]), explorer.generation
        self.latest, reward, terminated, truncated, info = self.env.step(action)
        self._key = None
        if began:
            self._begin(info)
            return self.latest, reward, terminated, truncated, info
        self.is_over = bool(terminated or truncated)
        if self.learn:
            mask = own_mask(info, explorer.n_actions)
            self._here = explorer.add_one(self._here, action, self._told(), bool(terminated), mask, self.copy)
        return self.latest, reward, terminated, truncated, info

    def _begin(self, info: dict[str, Any]) -> None:
        self.is_over = False
        if self.learn:
            self._here = self.explorer.begin_one(self._told(), own_mask(info, self.explorer.n_actions), self.copy)
            self._generation = self.explorer.generation

    @property
    def key(self) -> Any:
        """The key of the latest observation, computed once."""
        if self._key is None:
            self._key = state_key(self._observed(self.latest), fractions=True)
        return self._key

    def _told(self) -> Any:
        """Return what the explorer is told of the latest observation."""
        return self.key if self.explorer.index.scale is None else self._observed(self.latest)

    def _observed(self, observation: Any) -> Any:
        return observation if self._state_of is None else observed_by(self._state_of, self.env, observation)


def check_explorer(env: Any, explorer: Explorer, n_options: int | None, state: StateKey | None) -> None:
    """Fail unless an explorer fits an environment, or the copies of a vector of them."""
    space, n_actions = spaces_of(env)
    if n_actions != explorer.n_actions:
        raise InvalidInput(f"explorer must be of an environment with {n_actions} actions; got {explorer.n_actions}.")
    if n_options not in (None, explorer.goals.size):
        raise InvalidInput(f"n_options must be that of the explorer, {explorer.goals.size}; got {n_options}.")
    if explorer.keyed_by == "state" and state is None:
        raise InvalidInput("state must be the function that the explorer was made with; got None.")
    width = None if explorer.index.scale is None else explorer.index.scale.size
    if width is not None and width != np.prod(space.shape or ()):
        raise InvalidInput(f"explorer must be of observations of this environment; got one of {width} numbers.")
