"""Options on representatives, learned from a log."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import farpoint as fp
from farpoint.errors import InvalidInput
from farpoint.exploration import SampledOptions
from farpoint.worlds import SampleLog


def one_way(n_steps: int = 400) -> SampleLog:
    """Return steps around a ring of twelve places that is only walked forwards, by action 1; action 0 stays."""
    taken = np.random.default_rng(0).integers(2, size=n_steps)
    places = np.concatenate([[0], np.cumsum(taken)]) % 12
    circle = np.stack([np.cos(places * np.pi / 6), np.sin(places * np.pi / 6)], axis=1).round(9)
    return SampleLog(circle[:-1], taken, circle[1:])


def test_moves_are_taken_in_the_direction_in_which_they_were_seen() -> None:
    log = one_way()
    options = SampledOptions.learn(log, scale=0.1, n_options=1)
    assert options.options.world.n_states == 12
    before = np.flatnonzero(np.linalg.norm(log.observations - options.goals[0], axis=1) > 0.1)
    # From everywhere else forwards, the long way around if need be: nothing leads back.
    assert {options.act(0, log.observations[row]) for row in before.tolist()} == {1}


def test_the_default_scale_is_half_a_step() -> None:
    log = one_way()
    options = SampledOptions.learn(log, n_options=1)
    length = np.sqrt(((log.next_observations - log.observations) ** 2).sum(axis=1).mean())
    assert options.scale == pytest.approx([length / 2, length / 2])


def test_features_are_what_is_compared() -> None:
    plain = SampledOptions.learn(one_way(), scale=0.1, n_options=1)
    options = SampledOptions.learn(one_way(), scale=0.1, n_options=1, features=lambda seen: seen["place"])
    part = options[:1]
    assert isinstance(part, SampledOptions)
    for place in one_way().observations[:12]:
        assert part.act(0, {"place": place}) == plain.act(0, place)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"log": 3}, "log must be observations, actions and next observations"),
        ({"log": ([[0.0], [1.0]], [[0.5], [0.1]], [[1.0], [0.0]])}, "log must have actions that are whole numbers"),
        ({"log": ([[0.0], [0.0]], [0, 1], [[0.0], [0.0]])}, "log must hold steps that lead somewhere"),
        ({"scale": -1.0}, "scale must be one number above 0"),
        ({"features": 5}, "features must be"),
    ],
)
def test_refusals(change: dict[str, Any], match: str) -> None:
    settings = {"log": one_way(), **change}
    with pytest.raises(InvalidInput, match=match):
        SampledOptions.learn(settings.pop("log"), **settings)


def test_an_environment_with_a_wall() -> None:
    env = fp.ContinuousMaze("...\n.#.\n.#.", start="random", max_steps=100)
    log = fp.envs.record_samples(env, 6_000, seed=0)
    options = SampledOptions.learn(log, scale=0.4, n_options=2)
    assert fp.envs.option_success(env, options, n_trials=10).min() >= 0.8
