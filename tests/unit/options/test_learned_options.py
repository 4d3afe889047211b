"""Options with one goal-conditioned network: the protocol, slices, and files that are refused when damaged."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import farpoint as fp
from farpoint.errors import InvalidFile, InvalidInput
from farpoint.options.learned_options import GoalNetwork, GoalOf


def make_options(n_goals: int = 4, goal_of: GoalOf | None = None, n_features: int = 2) -> fp.LearnedOptions:
    """Return options with random weights: observations of two numbers, three actions, one hidden layer."""
    rng = np.random.default_rng(0)

    def normal(*shape: int) -> NDArray[np.float32]:
        return rng.normal(size=shape).astype(np.float32)

    n_inputs = 2 + n_features
    weights = (normal(8, n_inputs + 2 * 5), normal(3, 8))
    network = GoalNetwork(normal(n_inputs), normal(n_inputs), normal(5, n_inputs), weights, (normal(8), normal(3)))
    goals = rng.uniform(0.0, 3.0, (n_goals, n_features)).astype(np.float32)
    return fp.LearnedOptions(
        goals,
        np.linspace(0.6, 0.9, n_goals),
        radius=1.0,
        network=network,
        goal_of=goal_of,
        dropped_goals=np.array([[9.0] * n_features], dtype=np.float32),
        dropped_success=np.array([0.1]),
        record={"n_steps": 600, "hidden": [8]},
    )


def places(n_places: int = 300) -> NDArray[np.float64]:
    return np.random.default_rng(1).uniform(0.0, 3.0, (n_places, 2))


def test_answers_for_all_options_are_those_of_each_option() -> None:
    options = make_options()
    ended = []
    for place in places():
        assert options.can_start(place).tolist() == [option.can_start(place) for option in options]
        assert options.ended(place).tolist() == [option.ended(place) for option in options]
        actions = [options.act(number, place) for number in range(len(options))]
        assert actions == [option.act(place) for option in options]
        # None exactly where the option ends.
        assert [action is None for action in actions] == options.ended(place).tolist()
        ended.append(options.ended(place))
    assert 0.1 < np.mean(ended) < 0.9


def test_an_option_ends_within_its_radius() -> None:
    option = make_options()[1]
    angle = np.linspace(0.0, 2 * np.pi, 20)
    around = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    assert all(option.ended(option.goal + 0.99 * step) for step in around)
    assert not any(option.ended(option.goal + 1.01 * step) for step in around)


def test_a_slice_is_a_set_of_the_same_kind() -> None:
    options = make_options()
    some = options[1:3]
    assert isinstance(some, fp.LearnedOptions)
    assert np.array_equal(some.goals, options.goals[1:3])
    assert np.array_equal(some.success, options.success[1:3])
    assert (some.record, some.dropped_goals.tolist()) == (options.record, options.dropped_goals.tolist())
    for place in places(20):
        assert some.can_start(place).tolist() == options.can_start(place)[1:3].tolist()
        assert [option.act(place) for option in some] == [options[number].act(place) for number in (1, 2)]
    assert np.array_equal(options[::-1].goals, options.goals[::-1])
    assert (len(options[4:]), options[4:].can_start([0.0, 0.0]).tolist()) == (0, [])
    assert options[-1].goal.tolist() == options.goals[3].tolist()
    with pytest.raises(IndexError):
        options[4]


def test_texts() -> None:
    options = make_options()
    assert repr(options) == "LearnedOptions(4 goals, success 0.60 … 0.90)"
    assert repr(options[:1]) == "LearnedOptions(1 goals, success 0.60)"
    assert repr(options[:0]) == "LearnedOptions(0 goals)"
    assert repr(options[0]).startswith("LearnedOption(goal=[")


def test_loaded_options_are_those_saved(tmp_path: Path) -> None:
    options = make_options()
    options.save(tmp_path / "options.npz")
    loaded = fp.LearnedOptions.load(tmp_path / "options.npz")
    for name in ("goals", "success", "dropped_goals", "dropped_success"):
        assert np.array_equal(getattr(loaded, name), getattr(options, name))
    assert (loaded.record, loaded.radius) == (options.record, options.radius)
    for place in places(50):
        assert [option.act(place) for option in loaded] == [option.act(place) for option in options]


def first_number(observation: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.asarray(observation)[:1]


def test_goals_of_some_features_need_the_same_function_again(tmp_path: Path) -> None:
    options = make_options(goal_of=first_number, n_features=1)
    assert options.ended([options.goals[0, 0] + 0.5, 77.0])[0]
    path = tmp_path / "options.npz"
    options.save(path)
    with pytest.raises(InvalidInput, match="goal_of must be given, because the options were learned with one"):
        fp.LearnedOptions.load(path)
    loaded = fp.LearnedOptions.load(path, goal_of=first_number)
    for place in places(20):
        assert loaded.ended(place).tolist() == options.ended(place).tolist()
    make_options().save(path)
    with pytest.raises(InvalidInput, match="goal_of must be left out"):
        fp.LearnedOptions.load(path, goal_of=first_number)


def test_damaged_files_and_other_kinds_of_files_are_refused(tmp_path: Path) -> None:
    options, path = make_options(), tmp_path / "options.npz"
    options.save(path)
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    for place in rng.integers(len(whole), size=40):
        damaged = bytearray(whole)
        damaged[place] ^= 0xFF
        path.write_bytes(damaged)
        try:
            loaded = fp.LearnedOptions.load(path)
        except InvalidFile:
            continue
        # A byte of the archive that carries nothing, such as a date.
        assert all(map(np.array_equal, loaded.network.weights, options.network.weights))
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InvalidFile, match="it is damaged"):
        fp.LearnedOptions.load(path)
    np.savez(path, goals=np.zeros(3))
    with pytest.raises(InvalidFile, match="another kind"):
        fp.LearnedOptions.load(path)
    np.save(tmp_path / "array.npy", np.zeros(3))
    with pytest.raises(InvalidFile, match=r"got a \.npy file"):
        fp.LearnedOptions.load(tmp_path / "array.npy")
    # Pickled content is never opened.
    np.savez(path, header=np.array([{"a": 1}], dtype=object))
    with pytest.raises(InvalidFile, match="it is damaged"):
        fp.LearnedOptions.load(path)


def test_numpy_is_enough(tmp_path: Path) -> None:
    make_options().save(tmp_path / "options.npz")
    code = f"""
import sys
for name in ("torch", "stable_baselines3"):
    sys.modules[name] = None
import farpoint as fp
print(len(fp.LearnedOptions.load({str(tmp_path / "options.npz")!r})))
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "4"


def test_a_network_of_one_hidden_layer_by_hand() -> None:
    def numbers(*values: object) -> NDArray[np.float32]:
        return np.array(values, dtype=np.float32)

    center, scale = numbers(1, 1), numbers(2, 1)
    biases = (numbers(1, 0.5), numbers(0.25))
    plain = GoalNetwork(
        center, scale, np.zeros((0, 2), dtype=np.float32), (numbers([1, 1], [-1, 0]), numbers([1, 2])), biases
    )
    # x = (2, 3) − 1, twice the first: (2, 2). Hidden: (2 + 2 + 1, −2 + ½) → (5, 0). Value: 5 + 0 + ¼.
    assert plain(numbers(2), numbers(3)).tolist() == [5.25]
    waves = GoalNetwork(
        center, scale, numbers([np.pi / 4, 0]), (numbers([1, 1, 3, 7], [0, 0, 0, 0]), numbers([1, 2])), biases
    )
    # B x = π/2, so x is followed by 1 and 0: hidden (2 + 2 + 3 + 1, ½), value 8 + 1 + ¼.
    assert waves(numbers(2), numbers(3))[0] == pytest.approx(9.25, rel=1e-6)
