"""Episodes of an environment: the loop that steps and resets it, and what is recorded or tried with it."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from farpoint.display import progress_bar
from farpoint.errors import InvalidInput, check_function, check_integer, check_memory
from farpoint.options.protocol import OptionLike, OptionList, Options
from farpoint.options.running import Sampler
from farpoint.worlds import Log
from farpoint.worlds.environments import StateKey, check_env, count_actions
from farpoint.worlds.state_index import state_key

# From the observation and the info, the action to take; None ends the episode.
Policy = Callable[[Any, dict[str, Any]], Any]


class Transition(NamedTuple):
    """One primitive step of an environment.

    Examples
    --------
    >>> import gymnasium as gym, farpoint as fp
    >>> env = gym.make("FrozenLake-v1", is_slippery=False)
    >>> env = fp.OptionsWrapper(env, fp.discover(fp.World.from_env(env), n_options=2), record=True)
    >>> _ = env.reset(seed=0)
    >>> [step[:5] for step in env.step(2)[-1]["steps"]]
    [(0, 2, 0.0, 1, False)]
    """

    observation: Any
    action: Any
    reward: float
    next_observation: Any
    terminated: bool
    truncated: bool
    info: dict[str, Any]


def episodes(
    env: gym.Env[Any, Any],
    policy: Policy,
    *,
    n_steps: int | None = None,
    n_episodes: int | None = None,
    max_steps: int | None = None,
    seed: int | None = None,
    layout: int | None = None,
) -> Iterator[Transition]:
    """Yield every step of an agent in an environment, which is reset whenever an episode ends.

    Parameters
    ----------
    env : gymnasium.Env
    policy : function of (observation, info)
        Returns an action, or None to end the episode.
    n_steps, n_episodes : int, optional
        Where to stop. The last of ``n_steps`` steps truncates its episode.
    max_steps : int, optional
        Truncates longer episodes.
    seed : int, optional
        Of the first reset alone: with the same seed at every one all episodes would be the same.
    layout : int, optional
        Seed of every reset, for environments whose layout depends on it.

    Examples
    --------
    >>> import gymnasium as gym
    >>> right = episodes(gym.make("FrozenLake-v1", is_slippery=False), lambda observation, info: 2, n_steps=4, seed=0)
    >>> [(step.observation, step.next_observation, step.truncated) for step in right]
    [(0, 1, False), (1, 2, False), (2, 3, False), (3, 3, True)]
    """
    taken = done = 0
    while (n_episodes is None or done < n_episodes) and (n_steps is None or taken < n_steps):
        observation, info = env.reset(seed=seed if layout is None and done == 0 else layout)
        length, over = 0, False
        while not over:
            action = policy(observation, info)
            if action is None:
                break
            before = observation
            observation, reward, terminated, truncated, info = env.step(action)
            taken, length = taken + 1, length + 1
            terminated = bool(terminated)
            cut = bool(truncated) or length == max_steps or taken == n_steps
            over = terminated or cut
            yield Transition(
                before,
                action,
                float(reward),
                observation,
                terminated,
                bool(truncated) or (cut and not terminated),
                info,
            )
        done += 1


def record_log(
    env: Any,
    n_steps: int,
    *,
    seed: int = 0,
    state: StateKey | None = None,
    layout: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Log:
    """Return the log of a walk that takes uniformly random actions in an environment, reset whenever an episode ends.

    Parameters
    ----------
    env : gymnasium.Env
        With discrete actions.
    n_steps, seed : int
    state : function of (env, observation), optional
        What identifies a state; default: the observation. `farpoint.envs.simulator_state` reads the simulator, as
        `World.from_env` does.
    layout : int, optional
        Seed of every reset, for environments whose layout depends on it; default: a new one each time.
    progress : function of (int, int), optional
        Called now and then with the steps done and their number.

    Examples
    --------
    >>> import gymnasium as gym, farpoint as fp
    >>> log = fp.record_log(gym.make("FrozenLake-v1", is_slippery=False), 5000, seed=1)
    >>> fp.World.from_log(log).n_states
    16
    """
    n_steps = check_integer("n_steps", n_steps, 1)
    n_actions = count_actions(env)
    check_memory("n_steps", n_steps, 35 * n_steps)
    check_function("state", state)
    check_function("progress", progress)
    layout = None if layout is None else check_integer("layout", layout, 0)
    seed = check_integer("seed", seed, 0)
    actions = np.random.default_rng(seed).integers(n_actions, size=n_steps)
    remaining = iter(actions.tolist())
    before, after = list[Hashable](), list[Hashable]()

    def key_of(observation: Any) -> Hashable:
        return state_key(observation if state is None else state(env, observation), fractions=True)

    def act(observation: Any, info: dict[str, Any]) -> int:
        # Read before the step, for a simulator moves on.
        goes_on = before and not ended[len(before) - 1]
        before.append(after[-1] if goes_on else key_of(observation))
        return int(next(remaining))

    rewards, ended = np.zeros(n_steps), np.zeros(n_steps, dtype=bool)
    terminated, truncated = np.zeros(n_steps, dtype=bool), np.zeros(n_steps, dtype=bool)
    with progress_bar("recording", n_steps, progress) as tell:
        walk = episodes(env, act, n_steps=n_steps, seed=seed, layout=layout)
        for number, step in enumerate(walk):
            after.append(key_of(step.next_observation))
            rewards[number], terminated[number], truncated[number] = step.reward, step.terminated, step.truncated
            ended[number] = step.terminated or step.truncated
            if number % 1000 == 0:
                tell(number)
        tell(n_steps)
    # What both ended is an end.
    return Log(before, actions, after, terminated, truncated & ~terminated, _begins(ended), rewards)


def record_samples(
    env: gym.Env[Any, Any],
    n_steps: int,
    *,
    sample: Callable[[np.random.Generator], Any] | None = None,
    seed: int = 0,
) -> Log:
    """Return the log of a walk that takes random actions in an environment with observations in a Box.

    Actions may be discrete or in a Box. The environment is reset whenever an episode ends.

    Parameters
    ----------
    env : gymnasium.Env
    n_steps : int
    sample : function of a numpy Generator, optional
        Draws an action; default: uniform in the environment's action space.
    seed : int

    Examples
    --------
    >>> import gymnasium as gym, farpoint as fp
    >>> log = fp.envs.record_samples(gym.make("Pendulum-v1"), 100, seed=0)
    >>> log.observations.shape, log.actions.shape
    ((100, 3), (100, 1))
    >>> fp.envs.record_samples(gym.make("MountainCar-v0"), 100).actions.dtype
    dtype('int64')
    """
    n_steps, seed = check_integer("n_steps", n_steps, 1), check_integer("seed", seed, 0)
    check_function("sample", sample)
    check_env(env)
    space, choices = env.observation_space, env.action_space
    if not isinstance(space, gym.spaces.Box):
        raise InvalidInput(f"environment must have observations in a Box; got {space}.")
    if not isinstance(choices, (gym.spaces.Box, gym.spaces.Discrete)):
        raise InvalidInput(f"environment must have actions that are discrete or in a Box; got {choices}.")
    discrete = isinstance(choices, gym.spaces.Discrete)
    width = 1 if discrete else math.prod(choices.shape or ())
    check_memory("n_steps", n_steps, 8 * n_steps * (2 * math.prod(space.shape) + width))
    before, after = (np.empty((n_steps, math.prod(space.shape))) for _ in range(2))
    actions = np.empty(n_steps, dtype=np.int64) if discrete else np.empty((n_steps, width))
    rewards, terminated, truncated = np.zeros(n_steps), np.zeros(n_steps, dtype=bool), np.zeros(n_steps, dtype=bool)
    choices.seed(seed)
    rng = np.random.default_rng(seed)

    def act(observation: Any, info: dict[str, Any]) -> Any:
        return choices.sample() if sample is None else sample(rng)

    for number, step in enumerate(episodes(env, act, n_steps=n_steps, seed=seed)):
        before[number], after[number] = np.ravel(step.observation), np.ravel(step.next_observation)
        actions[number] = step.action if discrete else np.ravel(step.action)
        rewards[number], terminated[number], truncated[number] = step.reward, step.terminated, step.truncated
    begins = _begins(terminated | truncated)
    return Log(before, actions, after, terminated, truncated & ~terminated, begins, rewards)


def _begins(ended: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which steps begin an episode: the first, and those after an end."""
    return np.append(True, ended[:-1])


def option_success(
    env: gym.Env[Any, Any],
    options: Sequence[OptionLike],
    *,
    n_trials: int = 50,
    max_steps: int = 100,
    seed: int = 0,
) -> NDArray[np.float64]:
    """Return the share of trials in which each option reaches its goal.

    A trial begins with a reset, the same for every option. It fails after ``max_steps`` steps, when the environment's
    episode ends, or when the option ends, unless the goal is reached there. A trial that begins at the goal does not
    count.

    Parameters
    ----------
    env : gymnasium.Env
        That begins where options are to be tried from, for example ``ContinuousMaze(start="random")``.
    options : Options, or another sequence of options
    n_trials : int
        Trials per option.
    max_steps : int
        Steps per trial.
    seed : int

    Returns
    -------
    array of float, shape (n_options,)
        nan for an option without a trial that counts.

    Examples
    --------
    >>> import farpoint as fp
    >>> env = fp.ContinuousMaze(".....", start="random")
    >>> policy = fp.GoalPolicy.from_log(fp.envs.record_samples(env, 2000, seed=0), radius=0.3)
    >>> options = policy.options(2)
    >>> fp.envs.option_success(env, options, n_trials=20)
    array([1., 1.])
    """
    n_trials, max_steps = check_integer("n_trials", n_trials, 1), check_integer("max_steps", max_steps, 1)
    seed = check_integer("seed", seed, 0)
    check_env(env)
    every = options if isinstance(options, Options) else OptionList(options)
    starts = [int(start) for start in np.random.SeedSequence([seed, 2]).generate_state(n_trials)]
    success = np.full(len(every), np.nan)
    for number in range(len(every)):
        results = [_reaches_goal(env, every, number, start, max_steps) for start in starts]
        counted = [result for result in results if result is not None]
        if counted:
            success[number] = np.mean(counted)
    return success


def _reaches_goal(
    env: gym.Env[Any, Any], options: Options[OptionLike], number: int, seed: int, max_steps: int
) -> bool | None:
    """Return whether one trial succeeds; None if it begins at the goal."""
    rng = np.random.default_rng(seed)
    reached: list[bool] = []

    def act(observation: Any, info: dict[str, Any]) -> Any:
        here = options.observe(env, observation)
        reached.append(options.reached(number, here))
        return None if reached[-1] else options.act(number, here, rng)

    last = None
    for step in episodes(env, act, n_episodes=1, max_steps=max_steps, seed=seed):
        last = step
    if last is None:
        return None if reached[0] else False
    return options.reached(number, options.observe(env, last.next_observation))


def uniform_sampler(space: Any) -> Sampler:
    """Return a function that draws uniformly from a space of actions, discrete or a Box with bounds.

    >>> draw = uniform_sampler(gym.spaces.Box(-1.0, 1.0, (2,)))
    >>> draw(np.random.default_rng(0)).shape
    (2,)
    """
    if isinstance(space, gym.spaces.Discrete):
        return partial(_draw_discrete, int(space.start), int(space.n))
    if not isinstance(space, gym.spaces.Box) or not space.is_bounded():
        raise InvalidInput(
            f"environment must have actions that are discrete or in a Box with bounds; got {space}. Pass sample=, a "
            "function of a numpy Generator that draws an action."
        )
    return partial(_draw_in_box, space.low, space.high)


# Functions of a module, not lambdas: wrappers are pickled.


def _draw_discrete(start: int, n_actions: int, rng: np.random.Generator) -> int:
    return int(start + rng.integers(n_actions))


def _draw_in_box(low: NDArray[Any], high: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
    return rng.uniform(low, high).astype(low.dtype)
