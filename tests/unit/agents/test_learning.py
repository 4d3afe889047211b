from __future__ import annotations

import numpy as np
import pytest

import farpoint as fp
from farpoint.errors import InvalidInput, UnknownName
from research.plain import learn_plainly


@pytest.mark.parametrize("algorithm", ["paper", "smdp", "intra-option"])
def test_the_same_seed_gives_the_same_result_whatever_the_workers(algorithm: str) -> None:
    world = fp.four_rooms()
    options = fp.discover(world)
    one, two, other = (
        fp.learn(world, options, n_runs=3, n_episodes=30, algorithm=algorithm, seed=seed, n_jobs=jobs)
        for seed, jobs in ((5, 1), (5, 2), (6, 2))
    )
    np.testing.assert_array_equal(one.curves, two.curves)
    np.testing.assert_array_equal(one.visits, two.visits)
    assert not np.array_equal(one.curves, other.curves)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["diffusion", "eigen", "none"])
def test_the_compiled_loop_equals_a_plain_one_in_distribution(method: str) -> None:
    world = fp.four_rooms()
    assert world.targets is not None
    options, target = fp.discover(world, method), int(world.targets[12])
    ours = fp.learn(world, options, targets=[target], n_runs=200, n_episodes=60, seed=1).curves.mean(axis=(1, 2))
    plain = np.array(
        [learn_plainly(world, options, target, n_episodes=60, max_steps=100, seed=s)[0].mean() for s in range(40)]
    )
    error = np.hypot(ours.std(ddof=1) / np.sqrt(ours.size), plain.std(ddof=1) / np.sqrt(plain.size))
    assert abs(ours.mean() - plain.mean()) < 4 * error


@pytest.mark.parametrize("algorithm", ["paper", "smdp", "intra-option"])
def test_a_corridor_is_learned_to_the_shortest_path(algorithm: str) -> None:
    corridor = fp.World.from_map("S......G")
    result = fp.learn(corridor, None, n_runs=5, n_episodes=300, algorithm=algorithm)
    assert (result.curves[:, 0, -1] == 7).all()


def test_smdp_learns_the_value_of_an_option_by_its_length() -> None:
    # One option leads straight to the target in 4 steps: as one decision it is worth γ³ at the start, and after one
    # episode in which it was taken the greedy policy takes it.
    corridor = fp.World.from_map("S...G")
    options = fp.OptionSet(corridor, np.array([4]))
    result = fp.learn(corridor, options, n_runs=50, n_episodes=12, algorithm="smdp", max_steps=8)
    assert (result.curves[:, 0, -1] == 4).mean() > 0.95


def test_smdp_learns_from_options_that_the_end_of_an_episode_cuts() -> None:
    from farpoint.agents.learning_kernels import NEVER, Learner, learn_until
    from farpoint.agents.task import Rates, Task
    from farpoint.options.option_set import option_table
    from farpoint.simulation.tables import Episodes, streams, world_table

    world = fp.World.from_map("S........G")
    table, options = world_table(world), option_table(world, fp.OptionSet(world, np.array([9])))
    learner = Learner.new(table, options)
    # The option is the best decision at the start; after three of its nine steps a choice is worth ½.
    learner.q_options[0, 0], learner.q[world.choice_ptr[3]] = 0.9, 0.5
    task = Task.towards(world, 9, Episodes(np.array([0]), np.array([np.inf]), 3))
    learn_until(table, options, task, Rates(0.1, 0.9, 0.0, 0.5), False, learner, streams(0, 1), NEVER, 1)
    assert learner.q_options[0, 0] == pytest.approx(0.9 + 0.1 * (0.9**3 * 0.5 - 0.9))


def test_intra_option_learning_is_at_least_as_fast_as_smdp() -> None:
    world = fp.maze()
    options = fp.discover(world)
    means = {
        algorithm: fp.learn(world, options, n_runs=8, n_episodes=150, option_probability=0.5, algorithm=algorithm).mean
        for algorithm in ("smdp", "intra-option")
    }
    assert means["intra-option"] < means["smdp"] + 1


def test_shapes_and_summaries() -> None:
    world = fp.maze()
    result = fp.learn(world, fp.discover(world), n_runs=4, n_episodes=20, max_steps=50)
    assert result.curves.shape == (4, 6, 20)
    assert result.curve.shape == result.spread.shape == (20,)
    assert result.curves.max() <= 51
    assert result.visits.shape == (148,)
    np.testing.assert_allclose(result.mean, result.run_means.mean())
    # At most 50 steps per episode, learning included.
    assert result.visits.sum() <= 20 * 50
    single = fp.learn(world, None, targets=[5], n_runs=2, n_episodes=5)
    assert (single.spread == 0).all()


def test_counting_moves_gives_options_more_steps() -> None:
    world = fp.ring()
    options = fp.discover(world, "eigen")
    published, moves = (
        fp.learn(world, options, n_runs=6, n_episodes=100, counting=counting).visits.sum()
        for counting in ("published", "moves")
    )
    assert published < moves <= 100 * 100


def test_bad_input() -> None:
    world = fp.four_rooms()
    with pytest.raises(UnknownName, match="algorithm must be one of paper, smdp, intra-option"):
        fp.learn(world, algorithm="sarsa")
    with pytest.raises(UnknownName, match="counting must be one of published, moves"):
        fp.learn(world, counting="none")
    with pytest.raises(InvalidInput, match="start and targets must be given, for open_room has none"):
        fp.learn(fp.open_room())
    with pytest.raises(InvalidInput, match="targets must not contain the start; got 94"):
        fp.learn(world, targets=[94])
    with pytest.raises(InvalidInput, match="n_runs must be at least 1"):
        fp.learn(world, n_runs=0)
    with pytest.raises(InvalidInput, match=r"n_episodes × max_steps must be at most 1,000,000,000; got 2 × 10+"):
        fp.learn(world, n_episodes=2, max_steps=10**12)
    with pytest.raises(InvalidInput, match="alpha must be a number from 0 to 1"):
        fp.learn(world, alpha=2)
    with pytest.raises(InvalidInput, match="options must belong to this world"):
        fp.learn(world, fp.discover(fp.ring()))
    with pytest.raises(InvalidInput, match="option_probability must be below 1"):
        fp.learn(world, fp.discover(world), option_probability=1.0)


@pytest.mark.parametrize("algorithm", ["paper", "smdp", "intra-option"])
def test_the_share_of_options_matters(algorithm: str) -> None:
    # A corridor whose one option leads back to the start: the more often it is taken, the longer learning takes.
    corridor = fp.World.from_map("S.......G")
    back = fp.OptionSet(corridor, np.array([0]))
    rare, often = (
        fp.learn(corridor, back, n_runs=20, n_episodes=40, algorithm=algorithm, option_probability=p).mean
        for p in (0.05, 0.95)
    )
    assert rare < often


def test_targets_of_the_result_are_those_given() -> None:
    result = fp.learn(fp.maze(), targets=[7, 5], n_runs=1, n_episodes=3)
    assert result.targets.tolist() == [7, 5]
    assert fp.learn(fp.maze(), n_runs=1, n_episodes=3).targets.tolist() == fp.maze().targets.tolist()  # type: ignore[union-attr]
