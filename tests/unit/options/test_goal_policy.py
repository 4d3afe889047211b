"""Goal policies: logs of a few steps with answers typed by hand, and a small maze that is walked through."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import farpoint as fp
from farpoint.errors import InvalidInput
from farpoint.options import GoalOptions, goal_policy

RIGHT, LEFT = 1, 0
MAZE = "S....\n####.\n....."


def walks(*paths: list[float], **settings: Any) -> fp.Log:
    """Return a log of paths along a line, one episode each: action 1 goes right, action 0 left."""
    before = np.concatenate([path[:-1] for path in paths])[:, None]
    after = np.concatenate([path[1:] for path in paths])[:, None]
    ends = np.concatenate([np.arange(len(path) - 1) == len(path) - 2 for path in paths])
    return fp.Log(before, (after > before)[:, 0].astype(int), after, truncated=ends, **settings)


def line(n: int = 10, times: int = 2) -> fp.Log:
    """A log that goes from 0.5 to n - 0.5 and back, so often."""
    there = list(np.arange(n) + 0.5)
    return walks(*[[*there, *there[-2::-1]]] * times)


@pytest.fixture(scope="module")
def maze_log() -> fp.Log:
    return fp.envs.record_samples(fp.ContinuousMaze(MAZE, start="random", max_steps=200), 20_000, seed=0)


@pytest.fixture(scope="module")
def push_log() -> fp.Log:
    env = fp.ContinuousMaze(MAZE, start="random", actions="box", max_steps=200)
    return fp.envs.record_samples(env, 20_000, seed=0)


def follow(env: Any, policy: fp.GoalPolicy, start: Any, goal: Any, n_steps: int = 150) -> bool:
    observation, _ = env.reset(seed=0, options={"start": start})
    for _ in range(n_steps):
        if np.linalg.norm(observation - goal) <= policy.radius:
            return True
        observation = env.step(policy(observation, goal))[0]
    return False


def test_a_line_by_hand() -> None:
    policy = fp.GoalPolicy.from_log(line(), cell=1.0, radius=0.4)
    assert policy([2.5], [7.5]) == RIGHT
    assert policy([7.5], [2.5]) == LEFT
    # One step of 1 per cell.
    assert policy.distance([2.5], [7.5]) == 5.0
    assert policy.distance([7.6], [7.5]) == 0.0
    np.testing.assert_array_equal(policy.route([2.5], [5.5]).ravel(), [2.5, 3.5, 4.5, 5.5])
    assert repr(policy) == "GoalPolicy(36 steps, 10 cells of 1, goals within 0.4, segments of 10 steps)"


def test_what_is_chosen_by_default() -> None:
    # All steps have length 1: cells of 2.5 of them, a radius of two cells.
    policy = fp.GoalPolicy.from_log(line())
    assert (policy.cell, policy.radius, policy.segment, policy.n_candidates) == (2.5, 5.0, 10, 40)


def test_the_goal_is_every_cell_within_the_radius() -> None:
    for radius, expected in ((0.4, 5.0), (1.1, 4.0), (2.1, 3.0)):
        policy = fp.GoalPolicy.from_log(line(), cell=1.0, radius=radius)
        assert policy.distance([2.5], [7.5]) == expected


def test_moves_are_directed() -> None:
    # Only ever from left to right.
    policy = fp.GoalPolicy.from_log(walks([0.5, 1.5, 2.5, 3.5], [0.5, 1.5, 2.5, 3.5]), cell=1.0, radius=0.4)
    assert policy.distance([0.5], [3.5]) == 3.0
    assert policy.distance([3.5], [0.5]) == np.inf
    assert len(policy.route([3.5], [0.5])) == 0


def test_nothing_goes_from_one_episode_into_another() -> None:
    # In the rows of the log 1.5 is followed by 2.5, but there an episode ends.
    first, second = [0.5, 1.5], [2.5, 3.5]
    policy = fp.GoalPolicy.from_log(walks(first, second, first, second), cell=1.0, radius=0.4)
    assert policy.distance([0.5], [3.5]) == np.inf
    assert policy.distance([2.5], [3.5]) == 1.0


def cut_short() -> fp.Log:
    """Episodes that turn left at 4.5, each before rows of another one that stays at 8.5; and some that go there."""
    stays = [8.5, 8.6] * 5 + [8.5]
    return walks(*[[4.5, 3.5], stays, [4.5, 5.5, 6.5, 7.5, 8.5]] * 2)


def test_a_segment_ends_where_its_episode_ends() -> None:
    # To the right the ten places are 3, 2, 1, 0, 0 … from the goal; to the left 5, and 0 from the next episode on.
    policy = fp.GoalPolicy.from_log(cut_short(), cell=1.0, radius=0.4, n_candidates=4)
    assert policy([4.5], [8.5]) == RIGHT


def test_where_nobody_says_it_a_row_that_begins_elsewhere_begins_an_episode() -> None:
    marked = cut_short()
    columns = {name: getattr(marked, name) for name in ("observations", "actions", "next_observations")}
    # As files of D4RL say it in which nothing terminates, and time limits are not marked.
    never = columns | {"terminals": np.zeros(len(marked), bool)}
    for log in (columns, never):
        policy = fp.GoalPolicy.from_log(log, cell=1.0, radius=0.4, n_candidates=4, control="segments")
        assert policy([4.5], [8.5]) == RIGHT


def test_a_metric_that_rounds_differently_makes_no_episodes() -> None:
    calls = list[int]()

    def rounding(observations: Any) -> Any:
        calls.append(len(observations))
        return np.asarray(observations) * (1.0 + 1e-15 * len(calls))

    places = np.cumsum(np.random.default_rng(0).choice([-1.0, 1.0], 500))[:, None]
    log = fp.Log(places[:-1], np.zeros(499, int), places[1:])
    # Pieces of ten random steps lead hardly anywhere; if every step ended an episode there would be none.
    assert fp.GoalPolicy.from_log(log, metric=rounding).control == "steps"


def test_a_move_that_was_seen_once_counts_as_ten() -> None:
    # The short cut from 0.5 to 3.5 in one step was taken once; the way round, of three, twice.
    round_way = [0.5, 1.5, 2.5, 3.5]
    policy = fp.GoalPolicy.from_log(walks(round_way, round_way, [0.5, 3.5]), cell=1.0, radius=0.4)
    assert policy.distance([0.5], [3.5]) == 3.0
    alone = fp.GoalPolicy.from_log(walks(round_way), cell=1.0, radius=0.4)
    assert alone.distance([0.5], [3.5]) == 30.0


def test_jumps_are_chance() -> None:
    # A teleporter at 5.5 leads to 100.5, next to the goal at 101.5, or back to 0.5, from where it is five steps to it:
    # each half of the time. Steps from 0.5: V = 5 + 1 + ½ · 1 + ½ V = 13.
    there = [*(np.arange(6) + 0.5), 100.5, 101.5]
    back = [*(np.arange(6) + 0.5), 0.5, 1.5]
    policy = fp.GoalPolicy.from_log(walks(*[there, back] * 5), cell=1.0, radius=0.4)
    assert policy.distance([0.5], [101.5]) == pytest.approx(13.0, abs=0.01)
    assert policy.distance([100.5], [101.5]) == 1.0
    assert policy([2.5], [101.5]) == RIGHT


def test_chance_is_avoided_where_it_may_lead_to_nowhere() -> None:
    # From 5.5 a teleporter leads to the goal, or to 200.5, from where nothing leads on. The way round is long.
    luck = [*(np.arange(6) + 0.5), 100.5, 101.5]
    bad_luck = [*(np.arange(6) + 0.5), 200.5, 200.6]
    way_round = [0.5, *-(np.arange(5) + 0.5), *-(np.arange(0.0, 5.0)[::-1] + 0.5)]
    steps = list(np.arange(0.5, 6.0)[::-1])
    log = walks(*[luck, bad_luck, way_round, steps] * 3)
    policy = fp.GoalPolicy.from_log(log, cell=1.0, radius=0.4)
    assert policy.distance([0.5], [101.5]) > 1e5
    assert policy.distance([0.5], [-4.5]) == 5.0
    assert policy([4.5], [-4.5]) == LEFT


def test_where_jumps_lead_is_counted_over_neighboring_cells() -> None:
    # All jumps from 5.5 lead next to the goal, all from a second cell to where nothing leads on. In a cell next to 5.5
    # they show that those from 5.5 had luck, so that half of its jumps cost a million steps.
    luck, walk = [*(np.arange(6) + 0.5), 100.5, 101.5], list(np.arange(0.5, 20.0))
    for second, dangerous in ((9.5, False), (6.5, True)):
        log = walks(*[luck, [second, 200.5, 200.6]] * 3, walk, walk[::-1])
        policy = fp.GoalPolicy.from_log(log, cell=1.0, radius=0.4)
        assert (policy.distance([0.5], [101.5]) > 1e5) == dangerous


def test_a_jump_is_ten_times_as_long_as_most_steps() -> None:
    walk = list(np.arange(0.5, 40.0))
    for length, jumps in ((9.0, False), (11.0, True)):
        log = walks(walk, walk, *[[0.5, 0.5 + length]] * 2)
        distance = fp.GoalPolicy.from_log(log, cell=1.0, radius=0.4).distance([0.5], [0.5 + length])
        # One move; or half of the visits jump, and the others walk on for 11 steps: ½ · 1 + ½ · 11.
        assert distance == pytest.approx(6.0 if jumps else 1.0, abs=0.01)


def test_within_the_goal_what_is_nearer_is_better() -> None:
    # Every place that a step can reach costs nothing.
    policy = fp.GoalPolicy.from_log(line(), cell=1.0, radius=2.1, segment=1)
    for goal in (2.5, 7.5):
        assert [policy([goal + away], [goal]) for away in (-1.0, 1.0)] == [RIGHT, LEFT]


def driven_log(env: Any, n_episodes: int = 150, n_steps: int = 60) -> fp.Log:
    """A point that is driven, with noise, from the middle of one cell of the bent corridor to that of another."""
    rng = np.random.default_rng(0)
    middles = [(column + 0.5, row + 0.5) for row in range(3) for column in range(5) if row != 1 or column == 4]
    rows = []
    for episode in range(n_episodes):
        here, _ = env.reset(seed=episode)
        goal = np.array(middles[rng.integers(len(middles))])
        for step in range(n_steps):
            bend = np.array([4.5, here[1] if here[0] < 4.0 else goal[1]])
            way = (goal if abs(here[1] - goal[1]) < 0.8 else bend) - here
            push = np.clip(way / (np.linalg.norm(way) + 1e-6) + 0.3 * rng.standard_normal(2), -1.0, 1.0)
            if np.linalg.norm(goal - here) < 0.4:
                goal = np.array(middles[rng.integers(len(middles))])
            there = env.step(push.astype(np.float32))[0]
            rows.append((here, push, there, step == n_steps - 1))
            here = there
    before, pushes, after, ends = (np.array(column) for column in zip(*rows, strict=True))
    return fp.Log(before, pushes, after, truncated=ends)


def test_corners_that_the_log_seldom_reached_are_reached() -> None:
    env = fp.ContinuousMaze(MAZE, actions="box", start="random", max_steps=10**9)
    policy = fp.GoalPolicy.from_log(driven_log(env), cell=0.25, radius=0.25)
    assert policy.control == "segments"
    for corner in ([5.0, 0.0], [5.0, 3.0], [0.0, 2.0]):
        assert follow(env, policy, [2.5, 2.5], corner), corner


@pytest.mark.parametrize("goal", [[0.5, 2.5], [4.5, 2.5], [4.5, 0.5]])
def test_a_maze_is_walked_through(maze_log: fp.Log, push_log: fp.Log, goal: list[float]) -> None:
    for log, actions in ((maze_log, "directions"), (push_log, "box")):
        env = fp.ContinuousMaze(MAZE, actions=actions, max_steps=10_000)
        policy = fp.GoalPolicy.from_log(log, cell=0.4, radius=0.4)
        arrived = [follow(env, policy, start, goal) for start in ([0.5, 0.5], [2.5, 0.5], [0.7, 2.4], [2.5, 2.5])]
        assert all(arrived), (actions, arrived)


def test_actions_are_those_of_the_log(maze_log: fp.Log, push_log: fp.Log) -> None:
    action = fp.GoalPolicy.from_log(maze_log)([0.5, 0.5], [4.5, 0.5])
    assert isinstance(action, int)
    policy = fp.GoalPolicy.from_log(push_log, control="segments")
    push = policy([0.5, 0.5], [4.5, 0.5])
    assert (push == push_log.actions).all(axis=1).any()
    push[:] = 9.0  # is the caller's own
    assert np.abs(policy([0.5, 0.5], [4.5, 0.5])).max() <= 1.0


def test_single_steps_take_any_action_within_the_bounds_of_the_log() -> None:
    # An action moves by half of it, in the middle of the line; the log has whole actions from -2 to 4 alone.
    actions = np.tile(np.arange(-2.0, 5.0), 60)[:, None]
    before = np.repeat(np.linspace(0.0, 9.0, 60), 7)[:, None]
    log = fp.Log(before, actions, before + 0.5 * actions, truncated=np.ones(420, bool))
    policy = fp.GoalPolicy.from_log(log, control="steps", cell=0.5, radius=0.25, n_candidates=14)
    # The goal is one cell away: 4.5 + 0.5 · 0.5 = 4.75, up to the ridge.
    assert policy([4.5], [4.75]) == pytest.approx(0.5, abs=0.05)
    assert policy([1.0], [9.0]) == pytest.approx(4.0)
    assert policy([9.0], [1.0]) == pytest.approx(-2.0)


def test_single_steps_take_the_action_whose_mean_move_ends_nearest() -> None:
    # Action 0 goes left by 1, action 2 right by 1 and action 1 right by 3 or back by 2, each half of the time.
    moves = [(0, -1.0), (2, 1.0), (1, 3.0), (1, -2.0)]
    rows = [(place, action, place + move) for place in np.arange(20.0) for action, move in moves]
    before, actions, after = (np.array(column) for column in zip(*rows, strict=True))
    log = fp.Log(before[:, None], actions.astype(int), after[:, None], truncated=np.ones(len(rows), bool))
    policy = fp.GoalPolicy.from_log(log, control="steps", cell=1.0, radius=0.5, n_candidates=4)
    assert [policy([10.0], [goal]) for goal in (18.0, 2.0)] == [2, 0]
    assert policy(np.array([[10.0], [5.0]]), [7.0]).tolist() == [0, 2]


def test_random_steps_are_followed_singly(push_log: fp.Log, maze_log: fp.Log) -> None:
    for log in (push_log, maze_log):
        assert fp.GoalPolicy.from_log(log).control == "steps"
    assert fp.GoalPolicy.from_log(line()).control == "segments"
    # One step in ten is longer than a cell.
    lengths = np.linalg.norm(push_log.next_observations - push_log.observations, axis=1)
    assert (lengths > fp.GoalPolicy.from_log(push_log).cell).mean() == pytest.approx(0.1, abs=1e-3)


def test_moves_can_be_reversed() -> None:
    one_way = walks([0.5, 1.5, 2.5, 3.5], [0.5, 1.5, 2.5, 3.5])
    policy = fp.GoalPolicy.from_log(one_way, cell=1.0, radius=0.4, reversible=True)
    assert policy.distance([3.5], [0.5]) == policy.distance([0.5], [3.5]) == 3.0
    # Once there and once back: seen twice.
    there_and_back = fp.GoalPolicy.from_log(walks([0.5, 1.5], [1.5, 0.5]), cell=1.0, radius=0.4, reversible=True)
    assert there_and_back.distance([0.5], [1.5]) == 1.0


def test_pushes_of_many_numbers_add_up() -> None:
    # Eight numbers, each of which pushes a little in a direction of its own: a logged step is far from the best one.
    env = fp.ContinuousMaze(MAZE, start="random", actions="box", max_steps=10_000)
    angles = np.pi / 4.0 * np.arange(8)
    pushes = 0.25 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    rng = np.random.default_rng(0)
    before, actions, after = [], rng.uniform(-1.0, 1.0, (6_000, 8)), []
    observation, _ = env.reset(seed=0)
    for action in actions:
        before.append(observation)
        observation = env.step(action @ pushes)[0]
        after.append(observation)
    policy = fp.GoalPolicy.from_log(fp.Log(np.array(before), actions, np.array(after)), radius=0.4, reversible=True)
    assert policy.control == "steps"
    observation, _ = env.reset(seed=1, options={"start": [0.5, 0.5]})
    taken = 0
    while policy.distance(observation, [0.5, 2.5]) > 0 and taken < 100:
        observation, taken = env.step(policy(observation, [0.5, 2.5]) @ pushes)[0], taken + 1
    # The way is about nine cells long, and the best push goes 0.4 of one.
    assert taken < 40


def test_batches_are_rows(push_log: fp.Log) -> None:
    for control in ("segments", "steps"):
        check_batches(fp.GoalPolicy.from_log(push_log, cell=0.4, radius=0.4, control=control), push_log)


def check_batches(policy: fp.GoalPolicy, push_log: fp.Log) -> None:
    places, goals = push_log.observations[:40:4], push_log.observations[5000:5040:4]
    each = np.stack([policy(place, goal) for place, goal in zip(places, goals, strict=True)])
    np.testing.assert_array_equal(policy(places, goals), each)
    np.testing.assert_array_equal(policy(places, goals[0]), np.stack([policy(place, goals[0]) for place in places]))
    np.testing.assert_array_equal(policy(places[0], goals), np.stack([policy(places[0], goal) for goal in goals]))
    steps = [policy.distance(place, goal) for place, goal in zip(places, goals, strict=True)]
    np.testing.assert_array_equal(policy.distance(places, goals), steps)
    with pytest.raises(InvalidInput, match=r"goal must be one, or one per observation \(10\); got 3"):
        policy(places, goals[:3])


def test_rows_are_chosen_a_few_at_once(push_log: fp.Log, monkeypatch: pytest.MonkeyPatch) -> None:
    places, goals = push_log.observations[:90:10], push_log.observations[5000:5090:10]
    for control in ("segments", "steps"):
        policy = fp.GoalPolicy.from_log(push_log, cell=0.4, radius=0.4, control=control)
        questions = ((places, goals), (places, goals[0]), (places[0], goals))
        expected = [policy(*question) for question in questions]
        with monkeypatch.context() as patch:
            # 40 segments of ten steps of two numbers: four rows at once.
            patch.setattr(goal_policy, "NUMBERS_AT_ONCE", 4 * 40 * 10 * 2)
            for question, actions in zip(questions, expected, strict=True):
                np.testing.assert_array_equal(policy(*question), actions)


def test_a_segment_longer_than_the_log_is_all_of_it() -> None:
    long, whole = (fp.GoalPolicy.from_log(line(), cell=1.0, segment=steps) for steps in (10**12, 36))
    places = np.arange(0.5, 10.0)[:, None]
    np.testing.assert_array_equal(long(places, [2.5]), whole(places, [2.5]))


def test_scale_ignores_what_is_not_to_be_compared(push_log: fp.Log) -> None:
    # A position twice as large, among 27 numbers that say nothing.
    rng = np.random.default_rng(0)
    noise = rng.standard_normal((2, len(push_log), 27))
    before, after = (
        np.concatenate([2.0 * places, rest], axis=1)
        for places, rest in zip((push_log.observations, push_log.next_observations), noise, strict=True)
    )
    wide = fp.Log(before, push_log.actions, after, push_log.terminated, push_log.truncated, push_log.begins)
    scale = np.where(np.arange(29) < 2, 2.0, np.inf)
    policy, narrow = (fp.GoalPolicy.from_log(log, scale=one) for log, one in ((wide, scale), (push_log, None)))
    assert policy.n_cells == narrow.n_cells
    for number in (0, 700, 9_000):
        expected = narrow(push_log.observations[number], push_log.observations[-1])
        np.testing.assert_array_equal(policy(before[number], before[-1]), expected)
    # All 29 count without a scale: it still answers.
    assert fp.GoalPolicy.from_log(wide)(before[0], before[-1]).shape == (2,)


def first_two(observations: Any) -> Any:
    return np.reshape(observations, (len(observations), -1))[:, :2]


def test_a_metric_reads_observations_of_any_shape(push_log: fp.Log, tmp_path: Path) -> None:
    before, after = (
        np.stack([places, places], axis=1) for places in (push_log.observations, push_log.next_observations)
    )
    log = fp.Log(before, push_log.actions, after, push_log.terminated, push_log.truncated, push_log.begins)
    policy, plain = fp.GoalPolicy.from_log(log, metric=first_two), fp.GoalPolicy.from_log(push_log)
    np.testing.assert_array_equal(policy(before[3], before[-1]), plain(before[3, 0], before[-1, 0]))
    assert policy.route(before[3], before[-1]).shape[1:] == (2, 2)
    policy.save(tmp_path / "policy.npz")
    again = fp.GoalPolicy.load(tmp_path / "policy.npz", metric=first_two)
    np.testing.assert_array_equal(again(before[3], before[-1]), policy(before[3], before[-1]))
    with pytest.raises(InvalidInput, match="metric must be the one that the policy was made with; got None"):
        fp.GoalPolicy.load(tmp_path / "policy.npz")
    plain.save(tmp_path / "plain.npz")
    with pytest.raises(InvalidInput, match="metric must be left out"):
        fp.GoalPolicy.load(tmp_path / "plain.npz", metric=first_two)


def test_pictures_are_compared_by_their_metric() -> None:
    maze = fp.ContinuousMaze("S.......", start="random", max_steps=100, render_mode="rgb_array")
    env = fp.envs.PictureObservation(maze, shrink=4)
    seen = fp.envs.record_pictures(env, 3_000, seed=0)
    metric = fp.envs.learn_metric(seen, n_functions=6, n_landmarks=64)
    log = fp.Log(seen.pictures[seen.before], seen.actions, seen.pictures[seen.after])
    policy = fp.GoalPolicy.from_log(log, metric=metric.rows, reversible=True)
    goal, _ = env.reset(seed=0, options={"start": [7.5, 0.5]})
    observation, _ = env.reset(seed=1, options={"start": [0.5, 0.5]})
    for _ in range(60):
        observation = env.step(policy(observation, goal))[0]
    # Actions go by 0.4, so that the other end is 18 steps away.
    assert maze.place[0] > 6.0


@pytest.mark.slow
def test_learned_eigenfunctions_are_a_metric(push_log: fp.Log) -> None:
    pytest.importorskip("torch")
    beside = np.random.default_rng(0).standard_normal((2, len(push_log), 4))
    before, after = (
        np.concatenate([places, rest], axis=1)
        for places, rest in zip((push_log.observations, push_log.next_observations), beside, strict=True)
    )
    functions = fp.learn_eigenfunctions(before, after, n_functions=5, n_steps=1_500, hidden=(64, 64))
    log = fp.Log(before, push_log.actions, after, push_log.terminated, push_log.truncated, push_log.begins)
    policy = fp.GoalPolicy.from_log(log, metric=lambda seen: functions.phi(seen)[:, 1:])
    env = fp.ContinuousMaze(MAZE, actions="box", max_steps=10_000)
    observation, _ = env.reset(seed=0, options={"start": [0.5, 0.5]})
    for _ in range(150):
        action = policy(np.concatenate([observation, np.ones(4)]), np.concatenate([[0.5, 2.5], -np.ones(4)]))
        observation = env.step(action)[0]
    assert np.linalg.norm(observation - [0.5, 2.5]) < 1.5


def test_files_and_pickles_decide_alike(maze_log: fp.Log, tmp_path: Path) -> None:
    policy = fp.GoalPolicy.from_log(maze_log, scale=[1.0, 2.0], cell=0.3, radius=0.4, segment=7, unknown="refuse")
    policy.save(tmp_path / "policy.npz")
    places, goal = maze_log.observations[::500], [4.5, 2.5]
    for again in (fp.GoalPolicy.load(tmp_path / "policy.npz"), pickle.loads(pickle.dumps(policy))):
        assert repr(again) == repr(policy)
        np.testing.assert_array_equal(again(places, goal), policy(places, goal))
        with pytest.raises(InvalidInput, match="observation must be at most a cell"):
            again([40.0, 0.5], goal)


def test_the_columns_of_ogbench_are_read(push_log: fp.Log) -> None:
    # In OGBench terminals mark the last row of a trajectory, whose action leads to nothing that is in the file.
    rows, ends = list[Any](), np.flatnonzero(push_log.ended)
    for first, last in zip([0, *(ends[:-1] + 1)], ends, strict=True):
        rows += [(push_log.observations[step], push_log.actions[step], False) for step in range(first, last + 1)]
        rows.append((push_log.next_observations[last], np.zeros(2), True))
    names = ("observations", "actions", "terminals")
    columns = {name: np.array(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}
    policy, same = fp.GoalPolicy.from_log(columns), fp.GoalPolicy.from_log(push_log)
    assert repr(policy) == repr(same)
    places = push_log.observations[::500]
    np.testing.assert_array_equal(policy(places, [0.5, 2.5]), same(places, [0.5, 2.5]))


def test_what_the_log_does_not_know() -> None:
    log = walks([0.5, 1.5, 2.5], [0.5, 1.5, 2.5])
    easy, strict = (fp.GoalPolicy.from_log(log, cell=1.0, radius=0.4, unknown=word) for word in ("nearest", "refuse"))
    assert easy([0.5], [9.5]) == RIGHT
    assert easy.distance([-5.0], [2.5]) == 2.0
    # Nothing leads to the left: it goes on all the same.
    assert easy([2.5], [0.5]) == RIGHT
    for ask, here, goal, what in (
        (strict, [-5.0], [2.5], "observation must be at most a cell"),
        (strict.distance, [-5.0], [2.5], "observation must be at most a cell"),
        (strict, [0.5], [9.5], "goal must be at most a cell"),
        (strict, [2.5], [0.5], "goal must be within reach"),
    ):
        with pytest.raises(InvalidInput, match=what):
            ask(here, goal)
    assert strict([0.5], [2.5]) == RIGHT


def test_one_episode_is_a_log() -> None:
    assert fp.GoalPolicy.from_log(line(times=1), cell=1.0)([0.5], [9.5]) == RIGHT


def test_options_lead_to_far_points(maze_log: fp.Log) -> None:
    policy = fp.GoalPolicy.from_log(maze_log, cell=0.4, radius=0.4)
    options = policy.options(2)
    assert (len(options), options[:1].goals.shape) == (2, (1, 2))
    # The maze is a long way, whose ends are its far points.
    ends = np.array([[0.0, 0.5], [0.0, 2.5]])
    assert np.linalg.norm(options.goals[:, None] - ends[None], axis=2).min(axis=1).max() < 1.0
    env = fp.ContinuousMaze(MAZE, start="random", max_steps=10_000)
    assert fp.envs.option_success(env, options, n_trials=3, max_steps=150).tolist() == [1.0, 1.0]


def test_options_end_at_goals_and_where_no_route_leads() -> None:
    policy = fp.GoalPolicy.from_log(walks([0.5, 1.5, 2.5, 3.5], [0.5, 1.5, 2.5, 3.5]), cell=1.0, radius=0.4)
    options = GoalOptions(policy, [[0.5], [3.5]])
    assert options.can_start([1.5]).tolist() == [False, True]
    assert options.ended([3.5]).tolist() == [True, True]
    assert [options.reached(number, [3.5]) for number in (0, 1)] == [False, True]
    assert (options.act(0, [1.5]), options.act(1, [1.5]), options.act(1, [3.5])) == (None, RIGHT, None)
    assert GoalOptions(policy, np.empty((0, 1))).can_start([0.5]).shape == (0,)


@pytest.mark.parametrize(
    ("log", "settings", "message"),
    [
        ([], {}, "log must have next observations"),
        (fp.Log([[0.0], [1.0]], None, [[1.0], [0.0]]), {}, "log must have actions; got a log without"),
        (fp.Log([[0.0], [np.nan]], [0, 0], [[1.0], [0.0]]), {}, "observations must be finite; got 1 rows"),
        (fp.Log([[0.0], [0.0]], [0, 0], [[0.0], [0.0]]), {}, "log must have steps that change"),
        (line(), {"cell": 0.0}, "cell must be a finite number above 0; got 0.0"),
        (line(), {"cell": 1e-15}, "cell must be wide enough"),
        # Cells of 2.5 there are numbered beyond what a double holds.
        (fp.Log([[1e18], [1e18 + 1e3]], [0, 0], [[1e18 + 1e3], [1e18]]), {"cell": 2.5}, "cell must be wide enough"),
        (line(), {"radius": -1.0}, "radius must be a finite number above 0; got -1.0"),
        (line(), {"segment": 0}, "segment must be at least 1; got 0"),
        (line(), {"n_candidates": 0}, "n_candidates must be at least 1; got 0"),
        (line(), {"control": "guess"}, "control must be one of segments, steps; got 'guess'"),
        (line(), {"reversible": 2}, "reversible must be True or False; got 2"),
        (line(), {"unknown": "guess"}, "unknown must be one of nearest, refuse; got 'guess'"),
        (line(), {"scale": [1.0, 1.0]}, "scale must be one number above 0, or 1 of them"),
        (line(), {"scale": 1.0, "metric": first_two}, "scale must be left out with a metric"),
        (line(), {"metric": 3}, "metric must be a function or None; got 3"),
        (line(), {"metric": np.ravel}, "metric must return a row of numbers"),
        (
            fp.Log([{"x": 0.0}], [0], [{"x": 1.0}]),
            {"metric": first_two},
            "observations must be numbers, all of one shape",
        ),
        (
            fp.Log([[0.0], [0.0, 1.0]], [0, 0], [[1.0], [1.0]]),
            {"metric": first_two},
            "observations must be numbers, all",
        ),
    ],
)
def test_bad_input_is_one_line(log: Any, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        fp.GoalPolicy.from_log(log, **settings)


def test_bad_questions_are_one_line() -> None:
    policy = fp.GoalPolicy.from_log(line(), cell=1.0)
    for observation, goal, message in (
        ([0.5, 0.5], [1.5], r"observation must be numbers of shape \(1,\), or rows of them; got float64, shape \(2,\)"),
        ([0.5], 1.5, r"goal must be numbers of shape \(1,\), or rows of them; got float64, shape \(\)"),
        ([np.nan], [1.5], r"observation must be finite numbers below 1e\+150; got 1 rows"),
        # Its square is not finite.
        ([0.5], [1e160], r"goal must be finite numbers below 1e\+150; got 1 rows"),
        (np.ma.masked_array([0.5], [True]), [1.5], "observation must be real numbers; got MaskedArray"),
        ([0.5], ["far"], "goal must be numbers"),
        ([0.5], np.empty((0, 1)), "goal must be numbers of shape"),
    ):
        with pytest.raises(InvalidInput, match=message):
            policy(observation, goal)
    with pytest.raises(InvalidInput, match=r"observation and goal must be one each, not rows; got shapes \(1, 1\) and"):
        policy.route([[0.5]], [1.5])
    with pytest.raises(InvalidInput, match=r"observation must be one, not rows; got shape \(1, 1\)"):
        policy.nearest([[0.5]])
    with pytest.raises(InvalidInput, match="policy must be a GoalPolicy; got 3"):
        GoalOptions(3, [[0.5]])  # type: ignore[arg-type]
