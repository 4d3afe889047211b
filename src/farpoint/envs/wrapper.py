"""A Gymnasium wrapper in which options are actions."""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from farpoint.errors import InvalidInput, check_fraction, check_integer
from farpoint.options import OptionSet
from farpoint.simulation.tables import option_table
from farpoint.worlds import World
from farpoint.worlds.environments import has_table
from farpoint.worlds.keys import StateKey, state_key


def _ends(world: World) -> set[Hashable]:
    return {label for label in world.labels or () if isinstance(label, tuple)}


class OptionsWrapper(gym.Wrapper[Any, int, Any, int], gym.utils.RecordConstructorArgs):
    """An environment with the same observations and more actions: n … n + K − 1 are the options.

    A step with an option follows it to its end: the reward is the discounted sum of the rewards on the way, r₁ + γ r₂
    + γ² r₃ + …, and ``info`` says how long it took. An option stops when it ends, when the episode does, or after
    ``max_length`` steps.

    In ``info``: ``duration`` (primitive steps inside this step), ``reward_sum`` (their rewards, not discounted),
    ``discount`` (γ to that power, for the target of an agent that knows), ``episode_steps`` (primitive steps of this
    episode so far; ``env.total_steps`` counts all), ``option`` (its number, or -1), and ``action_mask`` (which
    actions can be taken now: 1 or 0). An option that cannot start here is refused with an error.

    Parameters
    ----------
    env : gymnasium.Env
        With discrete actions; any stack of wrappers.
    options : OptionSet
        Of a world made from this environment.
    gamma : float
    max_length : int
        The longest that one option may last.
    state : function of (env, observation), optional
        As in `World.from_env`.

    Examples
    --------
    >>> import gymnasium as gym, farpoint as fp
    >>> env = gym.make("FrozenLake-v1", is_slippery=False)
    >>> options = fp.discover(fp.World.from_env(env), n_options=2)
    >>> wrapped = fp.OptionsWrapper(env, options)
    >>> wrapped.action_space
    Discrete(6)
    >>> observation, info = wrapped.reset(seed=0)
    >>> observation, reward, terminated, truncated, info = wrapped.step(4)
    >>> observation == options.world.labels[options.goals[0]], info["duration"] > 1
    (True, True)
    """

    def __init__(
        self,
        env: gym.Env[Any, Any],
        options: OptionSet,
        gamma: float = 0.99,
        *,
        max_length: int = 1000,
        state: StateKey | None = None,
    ) -> None:
        # The arguments are remembered, so that the whole stack can be made again from its spec.
        gym.utils.RecordConstructorArgs.__init__(
            self, _disable_deepcopy=True, options=options, gamma=gamma, max_length=max_length, state=state
        )
        gym.Wrapper.__init__(self, env)
        if not isinstance(env.action_space, gym.spaces.Discrete) or env.action_space.start != 0:
            raise InvalidInput(f"environment must have discrete actions from 0; got {env.action_space}.")
        self.n_actions = int(env.action_space.n)
        world = options.world
        if world.labels is None or world.actions is None or world.actions.max(initial=-1) >= self.n_actions:
            raise InvalidInput(
                f"options must be of a world made from this environment; got {options!r}. Make it with World.from_env."
            )
        if has_table(env) and not set(world.labels) <= {*range(len(env.unwrapped.P)), *_ends(world)}:  # type: ignore[attr-defined]
            raise InvalidInput(
                f"options must be of a world made from this environment; got {options!r}, which has other states."
            )
        self.options = options
        self.gamma = check_fraction("gamma", gamma)
        self.max_length = check_integer("max_length", max_length, 1)
        self.total_steps = 0
        self.episode_steps = 0
        self._reward_sum = 0.0
        self.action_space = gym.spaces.Discrete(self.n_actions + len(options))  # type: ignore[assignment]
        self._key_of = state or state_key
        # Best choices of every option in every state, and where each can start.
        self._table = option_table(world, options)
        self._choices = np.random.default_rng()
        # Called after every primitive step with (state, action, reward, next state, terminated): for agents that learn
        # inside options.
        self.on_step: Callable[..., None] | None = None
        self._observation: Any = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode; the seed also settles how ties inside options are broken."""
        observation, info = self.env.reset(seed=seed, options=options)
        if seed is not None:
            self._choices = np.random.default_rng(seed)
        self._observation = observation
        self.episode_steps = 0
        return observation, {**info, "action_mask": self.action_masks().astype(np.int8)}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take a primitive action, or follow an option to its end."""
        action = operator.index(action)
        if self._observation is None:
            raise InvalidInput("environment must be reset before its first step.")
        if not 0 <= action < self.n_actions + len(self.options):
            raise InvalidInput(f"action must lie in 0 … {self.n_actions + len(self.options) - 1}; got {action}.")
        if action < self.n_actions:
            before = self._known_state() if self.on_step is not None else None
            observation, reward, terminated, truncated, info = self.env.step(action)
            total, duration, option = float(reward), 1, None
            self._reward_sum = total
            self._observation = observation
            self._tell(before, action, total, bool(terminated))
        else:
            option = action - self.n_actions
            observation, total, terminated, truncated, info, duration = self._follow(option)
        self._observation = observation
        self.total_steps += duration
        self.episode_steps += duration
        info = {
            **info,
            "duration": duration,
            "reward_sum": self._reward_sum,
            "discount": self.gamma**duration,
            "episode_steps": self.episode_steps,
            "option": -1 if option is None else option,
            "action_mask": self.action_masks().astype(np.int8),
        }
        return observation, total, bool(terminated), bool(truncated), info

    def key(self, observation: Any) -> Hashable:
        """Return what identifies the state that the environment is in now."""
        return self._key_of(self.env, observation)

    def actions_of(self, option: int, state: int) -> set[int]:
        """Return the environment's actions that an option takes in a state; none where it ends."""
        assert self.options.world.actions is not None
        return {int(action) for action in self.options.world.actions[self._best(option, state)]}

    def mask_of(self, state: int) -> NDArray[np.bool_]:
        """Return which actions can be taken in a state."""
        return np.concatenate([np.ones(self.n_actions, dtype=bool), self._available(state)])

    def action_masks(self) -> NDArray[np.bool_]:
        """Return which actions can be taken now."""
        state = self._known_state()
        if state is not None:
            return self.mask_of(state)
        return np.arange(self.n_actions + len(self.options)) < self.n_actions

    def _known_state(self) -> int | None:
        return self.options.world._number_of.get(self._key_of(self.env, self._observation))

    def _state(self) -> int:
        number = self._known_state()
        if number is None:
            raise InvalidInput(
                f"environment must be in a state that {self.options.world.name} knows; got another. The options are "
                "of another layout or seed: discover them with the seeds that are used here."
            )
        return number

    def _follow(self, number: int) -> tuple[Any, float, bool, bool, dict[str, Any], int]:
        state = self._state()
        if not self._available(state)[number]:
            raise InvalidInput(
                f"option {number} must be one that can start here; got state {state}, where it cannot. See "
                "info['action_mask']."
            )
        world = self.options.world
        actions = world.actions
        assert actions is not None
        total, factor, duration = 0.0, 1.0, 0
        self._reward_sum = 0.0
        while True:
            best = self._best(number, state)
            choice = best[self._choices.integers(best.size)] if best.size > 1 else best[0]
            self._observation, reward, terminated, truncated, info = self.env.step(int(actions[choice]))
            self._tell(state, int(actions[choice]), float(reward), bool(terminated))
            total += factor * float(reward)
            self._reward_sum += float(reward)
            factor *= self.gamma
            duration += 1
            if terminated or truncated or duration >= self.max_length:
                break
            state = self._expected(int(choice), self._state())
            if self._best(number, state).size == 0:
                break
        return self._observation, total, bool(terminated), bool(truncated), info, duration

    def _expected(self, choice: int, state: int) -> int:
        """Return the state if the choice can lead there; otherwise the options are of another environment."""
        matrix = self.options.world.transitions
        if state not in matrix.indices[matrix.indptr[choice] : matrix.indptr[choice + 1]]:
            raise InvalidInput(
                f"options must be of this environment; got options of {self.options.world.name}, in which that action "
                "does not lead here. Discover them in this one."
            )
        return state

    def _tell(self, before: int | None, action: int, reward: float, terminated: bool) -> None:
        if self.on_step is not None and before is not None:
            self.on_step(before, action, reward, self._known_state(), terminated)

    def _available(self, state: int) -> NDArray[np.bool_]:
        """Return which options can start in a state and do something there."""
        table, group = self._table, self._table.group[state]
        starts = np.zeros(len(self.options), dtype=bool)
        starts[table.startable[table.start_ptr[group] : table.start_ptr[group + 1]]] = True
        choices = np.array(self.options.world.choices(state), dtype=np.int64)
        return np.asarray(starts & ((table.best[:, choices >> 3] >> (choices & 7)) & 1).any(axis=1))

    def _best(self, option: int, state: int) -> NDArray[np.int64]:
        """Return the choices that an option takes in a state, uniformly; none where it ends."""
        choices = np.array(self.options.world.choices(state), dtype=np.int64)
        return np.asarray(choices[(self._table.best[option, choices >> 3] >> (choices & 7)) & 1 > 0])
