from __future__ import annotations

import numpy as np
import pytest

import farpoint as fp
from farpoint.errors import InvalidInput, UnknownName


def test_asking_for_twenty_options_just_gives_them() -> None:
    for name in ("ring", "maze", "four_rooms", "random_maze"):
        options = fp.discover(fp.world(name), n_options=16)
        assert len(options) == 16
        assert len(set(options.goals.tolist())) == 16


def test_n_options_takes_the_largest_t_that_has_enough() -> None:
    world = fp.four_rooms()
    t = int(fp.discover(world, n_options=10).record["t"])

    def count(t: int) -> int:
        return len(fp.find_goals(world, fp.score(world, t)))

    assert count(t) >= 10 > count(t + 1)


def test_n_options_takes_the_most_prominent() -> None:
    world = fp.maze()
    few, all_of_them = fp.discover(world, t=4, n_options=6), fp.discover(world, t=4)
    kept, every = few.record["prominences"], all_of_them.record["prominences"]
    np.testing.assert_allclose(np.sort(kept)[::-1], np.sort(every)[::-1][:6])
    assert set(few.goals) <= set(all_of_them.goals)


def test_n_options_on_a_world_too_large_for_a_dense_spectrum() -> None:
    options = fp.discover(fp.random_maze(80, 80), n_options=40)
    assert len(options) == 40
    assert options.record["solver"] == "local"
    assert options.record["t"] > 4


def test_more_options_than_there_are() -> None:
    with pytest.raises(InvalidInput, match=r"at most the number of states \(104\); got 105"):
        fp.discover(fp.four_rooms(), n_options=105)
    with pytest.raises(InvalidInput, match="got 20, and there are 4 for any t from 1 to 4"):
        fp.discover(fp.open_room(), n_options=20)
    with pytest.raises(InvalidInput, match="got 19, and there are 14 at t = 13"):
        fp.discover(fp.maze(), t=13, n_options=19)
    with pytest.raises(InvalidInput, match="n_options must be at least 1"):
        fp.discover(fp.maze(), n_options=0)


def test_unknown_method_names_those_that_exist() -> None:
    with pytest.raises(UnknownName, match=r"one of diffusion, random; got 'difusion'\. Did you mean diffusion"):
        fp.discover(fp.maze(), "difusion")


def test_random_options_are_as_many_as_diffusion_options_and_follow_the_seed() -> None:
    world = fp.ring()
    assert len(fp.discover(world, "random")) == 32
    first, again, other = (fp.discover(world, "random", n_options=9, seed=seed).goals for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)
    assert len(set(first.tolist())) == 9


def test_a_set_is_a_read_only_sequence() -> None:
    options = fp.discover(fp.maze(), t=13)
    assert [option.goal for option in options] == options.goals.tolist()
    assert options[-1].goal == options.goals[-1]
    assert isinstance(options[2:5], fp.OptionSet)
    assert options[2:5].goals.tolist() == options.goals[2:5].tolist()
    assert options[2:5].record["heights"].tolist() == options.record["heights"][2:5].tolist()
    with pytest.raises(IndexError):
        options[14]
    with pytest.raises(ValueError, match="read-only"):
        options.goals[0] = 1


def test_min_prominence_leaves_out_the_flat_ones() -> None:
    world = fp.maze()
    every = fp.discover(world).record["prominences"]
    limit = float(np.median(every))
    assert len(fp.discover(world, min_prominence=limit)) == (every >= limit).sum()
