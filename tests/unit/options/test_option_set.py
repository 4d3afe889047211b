"""A set of options: answers for all at once, slices, files, flat arrays, and its record."""

from __future__ import annotations

import json
import pickle
import zipfile
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from joblib import Parallel, delayed
from numpy.typing import NDArray

import farpoint as fp
from farpoint.errors import InvalidFile, InvalidInput, OutputError
from farpoint.options import OptionList
from farpoint.options.option_set import check_same_world, option_table
from farpoint.options.routes import steps_to
from tests.helpers.counter import UpTo
from tests.helpers.envs import make


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "rooms.npz"
    fp.discover(fp.four_rooms()).save(path)
    return path


def test_round_trip(saved: Path) -> None:
    before, after = fp.discover(fp.four_rooms()), fp.OptionSet.load(saved, fp.four_rooms())
    np.testing.assert_array_equal(after.goals, before.goals)
    assert repr(after) == repr(before)
    assert after.record.keys() == before.record.keys()
    np.testing.assert_array_equal(after.record["maxima"].heights, before.record["maxima"].heights)
    np.testing.assert_array_equal(after[3].route(0), before[3].route(0))


def test_file_holds_no_pickle(saved: Path) -> None:
    with np.load(saved, allow_pickle=False) as file:
        assert all(file[name].dtype != object for name in file.files)


def test_another_world_is_refused(saved: Path) -> None:
    with pytest.raises(InvalidFile, match=r"this world \(maze, 148 states\); got options of four_rooms \(104 states\)"):
        fp.OptionSet.load(saved, fp.maze())
    with pytest.raises(InvalidFile, match="must hold options of this world"):
        fp.OptionSet.load(saved, fp.four_rooms(wind=0.1))


@pytest.mark.parametrize("keep", [0, 10, 300, 0.5, 0.95])
def test_a_cut_file_is_refused(saved: Path, keep: float) -> None:
    content = saved.read_bytes()
    saved.write_bytes(content[: int(keep * len(content)) if isinstance(keep, float) else keep])
    with pytest.raises(InvalidFile, match="damaged or of another kind"):
        fp.OptionSet.load(saved, fp.four_rooms())


def test_flipped_bytes_are_never_loaded_as_something_else(saved: Path) -> None:
    content = saved.read_bytes()
    world, before = fp.four_rooms(), fp.discover(fp.four_rooms())
    refused = 0
    for place in range(0, len(content), 3):
        saved.write_bytes(content[:place] + bytes([content[place] ^ 0xFF]) + content[place + 1 :])
        try:
            loaded = fp.OptionSet.load(saved, world)
        except InvalidFile:
            refused += 1
        else:  # a byte that says nothing, such as a time stamp of the archive
            np.testing.assert_array_equal(loaded.goals, before.goals)
            assert loaded.record.keys() == before.record.keys()
            np.testing.assert_array_equal(loaded.record["maxima"].heights, before.record["maxima"].heights)
    assert refused > len(content) // 6


@pytest.mark.parametrize("method", ["eigen", "cover", "none"])
def test_other_kinds_of_options(tmp_path: Path, method: str) -> None:
    world = fp.maze()
    options = fp.discover(world, method, t=13)
    options.save(tmp_path / "options.npz")
    loaded = fp.OptionSet.load(tmp_path / "options.npz", world)
    for name in ("goals", "initiation", "climbs"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(options, name))


def test_foreign_files_are_refused(tmp_path: Path) -> None:
    world = fp.ring()
    text, other, missing = tmp_path / "text.npz", tmp_path / "other.npz", tmp_path / "missing.npz"
    text.write_text("not an archive")
    np.savez(other, goals=np.arange(3))
    with pytest.raises(InvalidFile, match="damaged or of another kind"):
        fp.OptionSet.load(text, world)
    with pytest.raises(InvalidFile, match=r"another kind of \.npz"):
        fp.OptionSet.load(other, world)
    with pytest.raises(InvalidFile, match="got no file of that name"):
        fp.OptionSet.load(missing, world)


@pytest.mark.parametrize(
    ("change", "message"),
    [({"version": 99}, "got version 99. Update"), ({"format": "soup"}, "another kind"), ({"facts": {}}, "damaged")],
)
def test_changed_headers_are_refused(saved: Path, change: dict[str, object], message: str) -> None:
    with np.load(saved) as file:
        arrays = dict(file)
    arrays["header"] = np.array(json.dumps(json.loads(str(arrays["header"])) | change))
    np.savez(saved, **arrays)
    with pytest.raises(InvalidFile, match=message):
        fp.OptionSet.load(saved, fp.four_rooms())


def test_goals_outside_the_world_are_refused(saved: Path) -> None:
    with np.load(saved) as file:
        arrays = dict(file)
    np.savez(saved, **(arrays | {"goals": np.array([1, 104])}))
    with pytest.raises(InvalidFile, match="damaged"):
        fp.OptionSet.load(saved, fp.four_rooms())


def test_a_folder_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="must be a file that can be written"):
        fp.discover(fp.ring()).save(tmp_path / "no" / "where.npz")


def test_a_failed_save_leaves_the_old_file_and_nothing_else(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = saved.read_bytes()

    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", fail)
    with pytest.raises(OutputError, match="No space left"):
        fp.discover(fp.four_rooms(), t=13).save(saved)
    assert saved.read_bytes() == before
    assert [file.name for file in saved.parent.iterdir()] == [saved.name]


def test_saved_file_is_an_ordinary_archive(saved: Path) -> None:
    assert zipfile.ZipFile(saved).testzip() is None
    assert saved.stat().st_mode & 0o600 == 0o600


def test_a_set_is_a_read_only_sequence() -> None:
    options = fp.discover(fp.maze(), t=13)
    assert [option.goal for option in options] == options.goals.tolist()
    assert options[-1].goal == options.goals[-1]
    assert isinstance(options[2:5], fp.OptionSet)
    assert options[2:5].goals.tolist() == options.goals[2:5].tolist()
    assert options[2:5].record["maxima"].heights.tolist() == options.record["maxima"].heights[2:5].tolist()
    with pytest.raises(IndexError):
        options[14]
    with pytest.raises(ValueError, match="read-only"):
        options.goals[0] = 1


def test_pickled_options_go_the_same_way() -> None:
    options = fp.discover(fp.maze())
    copy = pickle.loads(pickle.dumps(options))
    assert repr(copy) == repr(options)
    np.testing.assert_array_equal(copy[2].route(0), options[2].route(0))


@pytest.mark.slow
def test_options_come_from_other_processes() -> None:
    found = Parallel(n_jobs=2)(delayed(fp.discover)(world) for world in (fp.ring(), fp.maze()))
    assert [len(options) for options in found] == [32, 19]


def test_a_route_cannot_be_spoiled() -> None:
    option = fp.discover(fp.maze())[0]
    with pytest.raises(ValueError, match="read-only"):
        option.potential[:] = 0


def test_routes_are_kept_in_a_bounded_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    # At most 256 are kept: of 300 that are used in turn, each has been forgotten when its turn comes again.
    options = fp.OptionSet(fp.open_room(18, 18), np.arange(300))
    made: list[int] = []

    def counted(world: fp.World, goal: int) -> NDArray[np.float64]:
        made.append(goal)
        return steps_to(world, goal)

    monkeypatch.setattr("farpoint.options.routes.steps_to", counted)
    for _ in range(2):
        for option in options:
            assert option.potential[option.goal or 0] == 0
    assert made == 2 * options.goals.tolist()
    for number in range(299, 43, -1):
        assert options[number].potential.min() == 0
    assert len(made) == 600


SETS = {
    "diffusion": fp.discover(fp.maze()),
    "windy": fp.discover(fp.four_rooms(wind=0.3)),
    "eigen": fp.discover(fp.maze(), "eigen", n_options=9),
    "cover": fp.discover(fp.maze(), "cover", n_options=9),
    "one way": fp.OptionSet(fp.World.from_graph(nx.DiGraph([(0, 1), (1, 2), (2, 1), (2, 3)])), np.array([0, 1, 2, 3])),
    "environment": fp.discover(fp.World.from_env(make("FrozenLake8x8-v1")), "random", n_options=20),
    "none": fp.discover(fp.maze(), "none"),
}
every_set = pytest.mark.parametrize("name", SETS)


@every_set
def test_answers_for_all_options_are_those_of_each_option(name: str) -> None:
    options = SETS[name]
    world = options.world
    assert world.actions is not None
    labels = range(world.n_states) if world.labels is None else world.labels
    for state, label in enumerate(labels):
        assert options.can_start(label).tolist() == [option.can_start(label) for option in options]
        assert options.ended(label).tolist() == [option.ended(label) for option in options]
        assert [options.act(k, label) for k in range(len(options))] == [option.act(label) for option in options]
        actions = world.actions[list(world.choices(state))]
        policies = [option.policy(state) > 0 for option in options]
        for action in range(4):
            expected = [bool(policy[actions == action].any()) for policy in policies]
            assert options.takes(label, action).tolist() == expected
        for number, option in enumerate(options):
            reached = option.ended(label) if options.climbs is not None else state == options.goals[number]
            assert options.reached(number, label) == reached


@every_set
def test_a_state_that_the_world_does_not_have(name: str) -> None:
    options = SETS[name]
    assert options.can_start("elsewhere").tolist() == [False] * len(options)
    assert options.ended("elsewhere").tolist() == [True] * len(options)
    assert options.takes("elsewhere", 0).tolist() == [False] * len(options)
    for number in range(len(options)):
        assert options.act(number, "elsewhere") is None
        assert not options.reached(number, "elsewhere")


def test_ties_are_drawn_among_all_that_are_equally_good() -> None:
    options = fp.OptionSet(fp.open_room(3, 3), np.array([0]))
    rng = np.random.default_rng(0)
    drawn = [options.act(0, 8, rng) for _ in range(400)]
    # Up or left, each half of the time: 4 standard errors are 40.
    assert set(drawn) == {0, 1}
    assert abs(drawn.count(0) - 200) < 40
    assert options.act(0, 8) == 0


def test_a_loop_of_ones_own_with_act() -> None:
    env = make("FrozenLake-v1", is_slippery=False)
    options = fp.discover(fp.World.from_env(env), n_options=1)
    observation, _ = env.reset(seed=0)
    rng = np.random.default_rng(0)
    while (action := options.act(0, int(observation), rng)) is not None:
        observation, _, terminated, _, _ = env.step(action)
        assert not terminated
    assert options.world.find_state(int(observation)) == options.goals[0]
    assert options.reached(0, int(observation))


def test_what_a_set_is_made_of_is_checked() -> None:
    world = fp.grid((5,))
    with pytest.raises(InvalidInput, match=r"goals must lie in 0 … 4; got 5"):
        fp.OptionSet(world, np.array([5]))
    with pytest.raises(InvalidInput, match=r"method must be a name; got ndarray"):
        fp.OptionSet(fp.grid((5,)), [0], np.full(5, np.nan))  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match=r"initiation must have one state per option \(2\); got 1"):
        fp.OptionSet(world, np.array([0, 4]), initiation=np.array([2]))
    with pytest.raises(InvalidInput, match=r"climbs must be of shape \(1, 5\); got \(2, 5\)"):
        fp.OptionSet(world, np.array([0]), climbs=np.zeros((2, 5)))
    assert repr(fp.OptionSet(world, np.array([0]))) == "OptionSet(1 custom option on grid)"


def test_options_belong_to_one_world() -> None:
    options = fp.discover(fp.maze())
    check_same_world(fp.maze(), options)
    check_same_world(fp.ring(), None)
    with pytest.raises(InvalidInput, match="options must belong to this world"):
        check_same_world(fp.maze(wind=0.1), options)
    with pytest.raises(InvalidInput, match="options must belong to this world"):
        fp.steps_between_states(fp.ring(), options)


def test_answers_of_a_set_are_those_of_its_options() -> None:
    options = OptionList([UpTo(3), UpTo(5)])
    for place in range(8):
        observation = [float(place)]
        assert options.can_start(observation).tolist() == [place < 3, place < 5]
        assert options.ended(observation).tolist() == [place >= 3, place >= 5]
        assert [options.act(number, observation) for number in range(2)] == [
            1 if place < goal else None for goal in (3, 5)
        ]
        assert options.takes(observation, 1).tolist() == [place < 3, place < 5]
        assert options.takes(observation, 0).tolist() == [False, False]
        assert [options.reached(number, observation) for number in range(2)] == [place >= 3, place >= 5]
    assert options.can_start([0.0]).dtype == bool


def test_without_a_world_everything_is_expected_and_observations_are_read_as_they_are() -> None:
    options = OptionList([UpTo(3)])
    observation: Any = np.array([1.0])
    assert options.observe(None, observation) is observation


def test_a_slice_is_a_list_of_options() -> None:
    options = OptionList([UpTo(goal) for goal in range(5)])
    assert [option.goal for option in options[1:4]] == [1, 2, 3]  # type: ignore[attr-defined]
    assert isinstance(options[::-1], OptionList)
    assert options[-1].goal == 4  # type: ignore[attr-defined]
    assert len(options[7:]) == 0
    assert OptionList([]).can_start([0.0]).tolist() == []
    with pytest.raises(IndexError):
        options[5]


TABLE_SETS = {
    "diffusion": fp.discover(fp.maze()),
    "windy eigenoptions": fp.discover(fp.four_rooms(wind=0.3), "eigen", n_options=5),
    "cover": fp.discover(fp.ring(), "cover", n_options=6),
    "one way": fp.OptionSet(fp.World.from_graph(nx.DiGraph([(0, 1), (1, 2), (2, 1)])), np.array([0, 1, 2])),
}


@pytest.mark.parametrize("name", TABLE_SETS)
def test_a_table_holds_initiation_sets_and_policies(name: str) -> None:
    options = TABLE_SETS[name]
    table = option_table(options.world, options)
    taken = table.taken(np.arange(options.world.n_choices))
    for number, option in enumerate(options):
        np.testing.assert_array_equal(taken[number], option.choice_probabilities() > 0)
    for state in range(options.world.n_states):
        assert table.initiation(state).tolist() == [bool(option.initiation[state]) for option in options]
    np.testing.assert_array_equal(table.goals, options.goals)


def test_states_where_the_same_options_start_are_one_group() -> None:
    assert np.unique(TABLE_SETS["diffusion"].table.group).size == 1
    # Six options that start in six states, or fewer where two share one: a group each, and one for all other states.
    cover = TABLE_SETS["cover"]
    assert cover.initiation is not None
    assert np.unique(cover.table.group).size == 1 + np.unique(cover.initiation).size


def test_no_options_and_too_many() -> None:
    empty = option_table(fp.maze(), None)
    assert empty.taken(np.arange(4)).shape == (0, 4)
    assert empty.initiation(0).size == 0
    world = fp.open_room(500, 500)
    with pytest.raises(InvalidInput, match=r"options × choices must fit in 4 GiB of bits to be simulated; got 40000 ×"):
        option_table(world, fp.OptionSet(world, np.arange(40_000)))


def test_prominences_are_computed_when_they_are_read() -> None:
    world = fp.maze()
    options = fp.discover(world, t=4)
    goals = fp.find_goals(world, fp.score(world, 4))
    np.testing.assert_array_equal(options.record["maxima"].prominences, goals.prominences)
    np.testing.assert_array_equal(options[3:7].record["maxima"].prominences, goals.prominences[3:7])


def test_a_slice_has_its_part_of_what_the_record_says_of_each_option(tmp_path: Path) -> None:
    world = fp.maze()
    options = fp.OptionSet(
        world, np.array([3, 40, 90]), record={"cuts": np.array([0.1, 0.2, 0.3]), "times": np.arange(7.0)}
    )
    some = options[::-2]
    assert some.record["cuts"].tolist() == [0.3, 0.1]
    # Of another length than the set: not one number per option.
    assert some.record["times"].tolist() == list(range(7))
    found = fp.discover(world, t=4)[::-1]
    np.testing.assert_array_equal(found.record["maxima"].states, found.goals)
    found.save(tmp_path / "options.npz")
    loaded = fp.OptionSet.load(tmp_path / "options.npz", world)
    np.testing.assert_array_equal(loaded.record["maxima"].heights, found.record["maxima"].heights)
    np.testing.assert_array_equal(loaded.columns()["prominences"], found.columns()["prominences"])


def test_one_option_draws_as_its_set_does() -> None:
    options = fp.discover(fp.open_room(6, 7), n_options=3)
    for number, option in enumerate(options):
        for state in range(42):
            ours, theirs = np.random.default_rng(state), np.random.default_rng(state)
            assert option.act(state, ours) == options.act(number, state, theirs)
