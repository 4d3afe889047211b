"""What every kind of options must satisfy; a new kind is one more line of `tests.helpers.options`."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import farpoint as fp
from farpoint.errors import InvalidInput
from farpoint.options import Option, Options
from tests.helpers.options import OPTIONS, OptionsCase

GAMMA = 0.9


# DoorKey has another layout under each seed, so that options of one layout meet states they do not know.
@pytest.mark.filterwarnings("ignore:The first state, :UserWarning")
@pytest.mark.filterwarnings("ignore:.*different from the unwrapped version:UserWarning")
@pytest.mark.parametrize("name", OPTIONS)
def test_contract(name: str) -> None:
    case = OPTIONS[name]()
    check_that_a_set_answers_as_its_options_do(case)
    check_that_an_option_acts_exactly_where_it_has_not_ended(case)
    check_that_takes_names_the_options_that_may_take_an_action(case)
    check_that_a_set_is_a_sequence(case)
    check_that_a_slice_is_a_set_of_the_same_kind(case)
    check_that_pickled_options_answer_the_same(case)
    check_that_a_pickled_option_answers_the_same(case)
    # Only options on the states of a world can tell that a state is unknown.
    if isinstance(case.options, fp.OptionSet):
        check_that_in_an_unknown_state_no_option_does_anything(case.options, case.observations[0])
    check_that_following_an_option_leads_to_its_end(case)
    check_that_gymnasium_accepts_the_wrapped_environment(case)
    check_that_steps_of_the_wrapper_add_up(case)
    check_that_the_same_seed_gives_the_same_steps(case)
    check_that_an_option_that_cannot_start_is_refused_or_replaced(case)


def answers(options: Options[Any], observation: Any) -> tuple[list[bool], list[bool], list[Any]]:
    """What a set says of an observation: which options can start, which end, and what each does."""
    actions = [options.act(number, observation) for number in range(len(options))]
    return options.can_start(observation).tolist(), options.ended(observation).tolist(), actions


def single_answers(options: Options[Any], observation: Any) -> tuple[list[bool], list[bool], list[Any]]:
    """What its options say one by one."""
    return (
        [option.can_start(observation) for option in options],
        [option.ended(observation) for option in options],
        [option.act(observation) for option in options],
    )


def possible_actions(option: Any, observation: Any) -> set[Any]:
    """All actions that an option may take, by its policy where it has one."""
    if isinstance(option, Option):
        state = option.world.find_state(observation)
        assert state is not None
        assert option.world.actions is not None
        choices = zip(option.world.choices(state), option.policy(state), strict=True)
        return {int(option.world.actions[choice]) for choice, chance in choices if chance > 0}
    return {option.act(observation)} - {None}


def check_that_a_set_answers_as_its_options_do(case: OptionsCase) -> None:
    options = case.options
    for observation in case.observations:
        assert answers(options, observation) == single_answers(options, observation)
        assert options.can_start(observation).dtype == options.ended(observation).dtype == bool


def check_that_an_option_acts_exactly_where_it_has_not_ended(case: OptionsCase) -> None:
    for observation in case.observations:
        can_start, ended, actions = answers(case.options, observation)
        assert [action is None for action in actions] == ended
        assert not any(start and end for start, end in zip(can_start, ended, strict=True))


def check_that_takes_names_the_options_that_may_take_an_action(case: OptionsCase) -> None:
    options, rng = case.options, np.random.default_rng(1)
    n_actions = int(case.env().action_space.n)  # type: ignore[attr-defined]
    for observation in case.observations[::3]:
        possible = [possible_actions(option, observation) for option in options]
        for action in range(n_actions):
            assert options.takes(observation, action).tolist() == [action in actions for actions in possible]
        for number, actions in enumerate(possible):
            drawn = options.act(number, observation, rng)
            assert drawn in actions if actions else drawn is None


def check_that_a_set_is_a_sequence(case: OptionsCase) -> None:
    options = case.options
    assert len([*options]) == len(options)
    for index in (len(options), -len(options) - 1):
        with pytest.raises(IndexError):
            options[index]
    for observation in case.observations[::8] if len(options) else ():
        _, _, actions = answers(options, observation)
        assert options[-1].act(observation) == actions[-1]
        assert options[-len(options)].act(observation) == actions[0]


def check_that_a_slice_is_a_set_of_the_same_kind(case: OptionsCase) -> None:
    for part in (slice(1, 3), slice(None, None, -1), slice(-2, None), slice(2, 2)):
        options, some = case.options, case.options[part]
        numbers = range(len(options))[part]
        assert type(some) is type(options)
        assert len(some) == len(numbers)
        for observation in case.observations[::4]:
            whole = answers(options, observation)
            assert answers(some, observation) == tuple([kind[number] for number in numbers] for kind in whole)
            assert answers(some, observation) == single_answers(some, observation)


def check_that_pickled_options_answer_the_same(case: OptionsCase) -> None:
    copy = pickle.loads(pickle.dumps(case.options))
    assert type(copy) is type(case.options)
    assert len(copy) == len(case.options)
    for observation in case.observations[::3]:
        assert answers(copy, observation) == answers(case.options, observation)


def check_that_a_pickled_option_answers_the_same(case: OptionsCase) -> None:
    for option in case.options[:2]:
        copy = pickle.loads(pickle.dumps(option))
        for observation in case.observations[::3]:
            assert copy.can_start(observation) == option.can_start(observation)
            assert copy.act(observation) == option.act(observation)


def check_that_in_an_unknown_state_no_option_does_anything(options: fp.OptionSet, known: Any) -> None:
    for unknown in ("no such state", -1, 10**6):
        nothing: list[None] = [None] * len(options)
        assert answers(options, unknown) == ([False] * len(options), [True] * len(options), nothing)
        assert single_answers(options, unknown) == answers(options, unknown)
        assert not options.takes(unknown, 0).any()
        assert not any(options.reached(number, unknown) for number in range(len(options)))


def check_that_following_an_option_leads_to_its_end(case: OptionsCase) -> None:
    options, env, rng = case.options, case.env(), np.random.default_rng(0)
    started = 0
    for seed in range(6):
        for number in range(len(options)):
            observation, _ = env.reset(seed=seed)
            here, over = case.read(env, observation), False
            if not options.can_start(here)[number]:
                continue
            started += 1
            while (action := options.act(number, here, rng)) is not None and not over:
                observation, _, terminated, truncated, _ = env.step(action)
                here, over = case.read(env, observation), terminated or truncated
            assert over or options.ended(here)[number]
            if not over and case.complete:
                assert options.reached(number, here)
    # Of cover options each starts in one state only, so that some sets never start where episodes begin.
    assert started or not len(options) or (isinstance(options, fp.OptionSet) and options.initiation is not None)


def check_that_gymnasium_accepts_the_wrapped_environment(case: OptionsCase) -> None:
    check_env(case.wrapped(unavailable="random", max_steps=50), skip_render_check=True)


def check_that_steps_of_the_wrapper_add_up(case: OptionsCase) -> None:
    env = case.wrapped(gamma=GAMMA, max_steps=40)
    rng, steps = np.random.default_rng(2), list[Any]()
    env.on_step = steps.append
    observation, info = env.reset(seed=4)
    taken, episode = 0, 0
    for _ in range(40):
        assert info["action_mask"].tolist() == env.action_masks().tolist()
        seen = env.read(observation)
        assert env.mask_at(seen).tolist() == [True] * env.n_actions + case.options.can_start(seen).tolist()
        # Options half of the time, where there are any.
        able = np.flatnonzero(info["action_mask"])
        inside = able[able >= env.n_actions] if rng.random() < 0.5 and able.max() >= env.n_actions else able
        action = int(rng.choice(inside))
        steps.clear()
        observation, reward, terminated, truncated, info = env.step(action)
        rewards = [step.reward for step in steps]
        taken, episode = taken + len(steps), episode + len(steps)
        assert info["option"] == max(action - env.n_actions, -1)
        assert info["duration"] == len(steps) == (1 if action < env.n_actions else len(steps))
        assert reward == pytest.approx(sum(GAMMA**k * value for k, value in enumerate(rewards)))
        assert info["reward_sum"] == pytest.approx(sum(rewards))
        assert info["discount"] == pytest.approx(GAMMA ** len(steps))
        assert (info["episode_steps"], env.total_steps) == (episode, taken)
        if action >= env.n_actions and not (terminated or truncated or len(steps) == 40):
            assert case.options.ended(env.read(observation))[action - env.n_actions]
        if terminated or truncated:
            observation, info = env.reset()
            episode = 0


def check_that_the_same_seed_gives_the_same_steps(case: OptionsCase) -> None:
    traces = []
    for _ in range(2):
        env, rng = case.wrapped(max_steps=40), np.random.default_rng(0)
        _, info = env.reset(seed=9)
        trace = []
        for _ in range(12):
            _, reward, terminated, truncated, info = env.step(int(rng.choice(np.flatnonzero(info["action_mask"]))))
            trace.append((reward, info["duration"], info["action_mask"].tolist()))
            if terminated or truncated:
                _, info = env.reset()
        traces.append(trace)
    assert traces[0] == traces[1]


def check_that_an_option_that_cannot_start_is_refused_or_replaced(case: OptionsCase) -> None:
    refusing, lenient = case.wrapped(max_steps=40, unavailable="refuse"), case.wrapped(max_steps=40)
    rng, replaced = np.random.default_rng(3), 0
    for seed in range(20):
        _, info = lenient.reset(seed=seed)
        blocked = lenient.n_actions + np.flatnonzero(~lenient.action_masks()[lenient.n_actions :])
        if blocked.size:
            _, theirs = refusing.reset(seed=seed)
            assert theirs["action_mask"].tolist() == info["action_mask"].tolist()
            with pytest.raises(InvalidInput, match="must be one that can start here"):
                refusing.step(int(blocked[0]))
        # No masks: whatever is chosen is an action.
        for _ in range(10):
            available = lenient.action_masks()
            action = int(rng.choice(available.size if available.all() else np.flatnonzero(~available)))
            _, _, terminated, truncated, info = lenient.step(action)
            if not available[action]:
                assert (info["option"], info["duration"]) == (-1, 1)
                replaced += 1
            if terminated or truncated:
                break
    assert replaced or not len(case.options)
