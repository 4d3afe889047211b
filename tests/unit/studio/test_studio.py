"""The parts of the Studio that need no server."""

from __future__ import annotations

import asyncio
import gc
import io
import struct
import time
import weakref
import zlib
from pathlib import Path

import numpy as np
import pytest

import farpoint as fp
from farpoint.diffusion.scores.returns import ReturnScores
from farpoint.errors import FarpointError, InvalidInput
from farpoint.studio import comparing, jobs, playing, recipe, scoring, sources, uploads
from farpoint.studio.frames import pack_frame, unpack_frame
from farpoint.studio.guard import Guard
from farpoint.studio.session import Session, Work
from farpoint.studio.stage import MOST_CELLS, Canvas

WEB = Path(sources.__file__).parent / "web"


def test_frames_come_back_as_they_were() -> None:
    arrays = {"a": np.arange(5, dtype=np.int32), "b": np.array([1.5, np.nan]), "c": np.arange(3, dtype=np.uint8)}
    header, found = unpack_frame(pack_frame({"id": 3, "bad": float("inf")}, **arrays))
    assert header == {"id": 3, "bad": None}
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype
        np.testing.assert_array_equal(found[name], array)
        assert found[name].ctypes.data % 4 == 0


@pytest.mark.parametrize(
    "frame", [b"", b"\xff\xff\xff\xff", b"\x02\0\0\0{}", b"\x04\0\0\0[1] ", b"\x09\0\0\0{broken:}"]
)
def test_what_is_no_frame_is_refused(frame: bytes) -> None:
    with pytest.raises(InvalidInput, match="message must be"):
        unpack_frame(frame)


@pytest.mark.parametrize("name", ["four_rooms", "maze", "ring"])
def test_preset_is_the_world_of_the_catalogue(name: str) -> None:
    stage = sources.make_stage({"kind": "named", "name": name})
    assert stage.world.fingerprint == fp.worlds.named_world(name).fingerprint
    assert stage.code() == f"world = fp.{name}()"
    assert stage.canvas is not None
    assert stage.canvas.text().count("G") == len(fp.worlds.named_world(name).targets)  # type: ignore[arg-type]


def test_map_that_was_painted() -> None:
    stage = sources.make_stage({"kind": "named", "name": "four_rooms"})
    assert stage.canvas is not None
    painted = stage.canvas.with_edits(np.array([3 * 13 + 6, 6 * 13 + 2], dtype=np.int32), np.zeros(2, dtype=np.uint8))
    after = sources.map_stage(painted, 0.0, "mine")
    assert after.note == "25 cells are cut off from the rest"
    assert after.world.n_states == 104 - 2 - 25
    found: dict[str, fp.World] = {"fp": fp}  # type: ignore[dict-item]
    exec(after.code(), found)
    assert found["world"].fingerprint == after.world.fingerprint


def test_sizes_are_bounded_before_anything_is_made() -> None:
    for source in (
        {"kind": "open_room", "rows": 10**4, "cols": 10**4},
        {"kind": "text", "text": "." * (3 * MOST_CELLS)},
    ):
        with pytest.raises(InvalidInput, match="at most 4,000,000 cells"):
            sources.make_stage(source)


def test_uploads(tmp_path: Path) -> None:
    from PIL import Image

    buffer = io.BytesIO()
    Image.fromarray(np.array([[0, 255, 255], [0, 255, 0]], dtype=np.uint8)).save(buffer, "PNG")
    stage = uploads.read_upload("a.png", buffer.getvalue())
    assert stage.canvas is not None
    assert stage.canvas.text() == "#..\n#.#"
    (tmp_path / "a.png").write_bytes(buffer.getvalue())
    assert stage.world.fingerprint == fp.World.from_array(tmp_path / "a.png").fingerprint
    header = struct.pack(">II", 20_000, 20_000) + buffer.getvalue()[24:29]
    second = struct.pack(">I", 13) + b"IHDR" + header + struct.pack(">I", zlib.crc32(b"IHDR" + header))
    assert uploads.read_upload("a.csv", b"a,b,2\nb,c,3").world.weights is not None
    assert uploads.read_upload("a.txt", b"S..\r\n..G\r\n").world.n_states == 6
    for name, content, words in (
        ("a.png", b"\x89PNG\r\n\x1a\n" + b"\0" * 16 + b"\x7f\xff\xff\xff" * 2, "pixels"),
        ("a.png", buffer.getvalue()[:40], "whole PNG"),
        ("a.png", buffer.getvalue()[:33] + second + buffer.getvalue()[33:], "two headers"),
        ("a.bin", b"\xff\xfe\xfd", "none of these"),
        ("a.graphml", b"<!DOCTYPE x><graphml/>", "entities"),
        ("a.graphml", b"<node" * 30_000, "at most"),
        ("a.edges", b"a b\n" * 300_000, "at most"),
        ("a.edges", b"", "2 to"),
        ("a.txt", b"." * (9 * 2**20), "8 MiB"),
    ):
        with pytest.raises(FarpointError, match=words):
            uploads.read_upload(name, content)


def test_scorer_agrees_with_score() -> None:
    for world in (fp.four_rooms(), fp.random_maze(30, 30, seed=2), fp.four_rooms(wind=0.2)):
        scorer = scoring.Scorer(world)
        for t in (1, 4, 13, 60, 1000):
            found = scorer.compute(t)
            assert isinstance(found, scoring.Scored)
            exact = fp.score(world, t)
            np.testing.assert_allclose(found.scores, exact, rtol=1e-7, atol=1e-13)
            assert found.goals.states.tolist() == fp.find_goals(world, exact).states.tolist()
            assert scorer.kept(t) is found


def test_random_agent_is_that_of_the_measures() -> None:
    world = fp.four_rooms()
    options = fp.discover(world, t=4)
    agent = playing.RandomAgent(world, options, 0.5, seed=3)
    states = np.concatenate([agent.walk(700)[0], agent.walk(300)[0]])
    counts = fp.visitation(world, options, n_steps=1000, n_runs=1, seed=3)
    np.testing.assert_array_equal(np.bincount(states, minlength=104), counts)


def test_learning_is_that_of_learn() -> None:
    world = fp.maze()
    options = fp.discover(world, t=4)
    learned = playing.learn_paths(world, options, 0.5, target=100, n_episodes=60, max_steps=150, seed=1)
    expected = fp.learn(world, options, targets=[100], n_runs=1, n_episodes=60, max_steps=150, seed=1,
                        algorithm="intra-option")  # fmt: skip
    np.testing.assert_array_equal(learned.curve, expected.curve)
    np.testing.assert_array_equal(learned.visits, expected.visits)
    assert [path.size - 1 for path in learned.paths if path[-1] == 100] == [
        int(learned.curve[episode])
        for episode, path in zip(learned.episodes, learned.paths, strict=True)
        if path[-1] == 100
    ]


def test_exploring_is_that_of_explore() -> None:
    world = fp.maze()
    explored = playing.explore_steps(world, "diffusion", n_steps=1500, seed=4)
    expected = fp.explore(world, 1500, max_episode_steps=100, seed=4)
    labels = np.array(expected.labels)
    np.testing.assert_array_equal(explored.before, labels[expected.steps.before])
    np.testing.assert_array_equal(explored.after, labels[expected.steps.after])
    assert explored.goals[-1] == labels[expected.goals].tolist()


def test_arrows_of_a_windy_map_show_where_the_agent_wants_to_go() -> None:
    stage = sources.make_stage({"kind": "text", "text": "...\n...\n...", "wind": 0.6})
    options = fp.OptionSet(stage.world, np.array([0]))
    begins, leads = comparing.policy_arrows(stage, options, 0)
    assert stage.world.positions is not None
    moves = stage.world.positions[leads] - stage.world.positions[begins]
    assert (np.abs(moves).sum(axis=1) == 1).all()
    assert (moves <= 0).all()  # up or left, never with the wind


def test_every_method_of_the_package_is_listed() -> None:
    assert [method["name"] for method in comparing.method_list()] == list(fp.options.METHODS)


def test_python_of_a_large_map_reads_a_file() -> None:
    stage = sources.make_stage({"kind": "cells", "rows": 300, "cols": 300}, np.ones(90_000, dtype=np.uint8))
    lines = recipe.python_lines(stage, 50, {"solver": "local", "tolerance": 1e-3}, 0.0, [])
    assert 'open("map.txt")' in lines
    assert "fp.score(world, t=50, solver='local', tolerance=0.001)" in lines


def test_guard_adds_headers_and_keeps_the_token() -> None:
    sent = []

    async def inner(scope: object, receive: object, send: object) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})  # type: ignore[operator]

    async def send(message: dict[str, object]) -> None:
        sent.append(message)

    async def receive() -> None: ...

    scope = {"type": "http", "headers": [(b"host", b"box:1")], "query_string": b"token=" + b"x" * 16}
    asyncio.run(Guard(inner, "x" * 16, loopback=False)(scope, receive, send))
    headers = dict(sent[0]["headers"])  # type: ignore[call-overload]
    assert b"HttpOnly; SameSite=Strict" in headers[b"set-cookie"]
    assert headers[b"x-frame-options"] == b"DENY"


def test_files_of_the_page_are_small_and_ask_no_one_else() -> None:
    files = sorted(WEB.iterdir())
    assert {file.suffix for file in files} == {".js", ".css"}
    for file in files:
        text = file.read_text(encoding="utf-8")
        assert len(text.splitlines()) <= 350
        assert "://" not in text.replace("http://www.w3.org/2000/svg", "").replace("${scheme}://${location.host}", "")


def test_canvas_of_bytes_is_checked() -> None:
    with pytest.raises(InvalidInput, match="codes from 0 to 3"):
        Canvas.of_bytes(1, 2, np.array([1, 9], dtype=np.uint8))


def test_score_from_a_process_is_that_of_a_thread() -> None:
    world = fp.random_maze(30, 30, seed=2)
    reported: list[float] = []
    scorer = scoring.Scorer(world)
    finished = scorer.finish(4, *jobs.score(reported.append, world, 4, {"solver": "local"}))
    assert reported[-1] == 1.0
    assert scorer.kept(4) is finished
    expected = fp.find_goals(world, fp.score(world, 4))
    assert finished.goals.states.tolist() == expected.states.tolist()
    np.testing.assert_array_equal(finished.goals.prominences, expected.prominences)


@pytest.mark.parametrize("wind", [0.0, 0.1])
def test_process_makes_the_same_world_from_what_is_sent(wind: float) -> None:
    stage = sources.make_stage({"kind": "random_maze", "rows": 30, "cols": 31, "seed": 2, "wind": wind})
    sent = jobs.sendable_world(stage)
    # A map is small; wind is not in it.
    assert isinstance(sent, Canvas) == (wind == 0.0)
    reported: list[tuple[int, fp.diffusion.Scores, float, int]] = []
    jobs.curve(reported.append, sent, [3, 7, 900], longest=0.01)
    assert [t for t, *_ in reported] == ([3, 7, 900] if wind == 0.0 else [])
    for t, scores, _, n_goals in reported:
        expected = fp.score(stage.world, t)
        np.testing.assert_allclose(scores, expected, rtol=1e-9)
        assert n_goals == len(fp.find_goals(stage.world, expected))


def test_only_long_scores_are_rough_or_in_a_process() -> None:
    scorer = scoring.Scorer(fp.random_maze(116, 116, seed=1))
    assert "tolerance" not in scorer.plan(13).keywords
    assert scorer.plan(13).light
    assert scorer.plan(50).keywords["tolerance"] == 1e-3
    long = scorer.compute(1000)
    assert isinstance(long, scoring.Plan)
    assert not long.light


def test_curve_of_a_large_map_has_estimates_first() -> None:
    stage = sources.make_stage({"kind": "random_maze", "rows": 70, "cols": 70, "seed": 2})
    scorer = scoring.Scorer(stage.world)
    times = [4, 40, 50, 63, 80, 100]
    reported: list[tuple[int, fp.diffusion.Scores, float, int | None]] = []
    jobs.curve(reported.append, jobs.sendable_world(stage), times, longest=100.0)
    counted = {t: scores for t, scores, _, n_goals in reported if n_goals is not None}
    assert sorted(counted) == times
    estimates = [(t, scores) for t, scores, _, n_goals in reported if n_goals is None]
    assert estimates
    for t, scores in estimates:
        # Only where the score takes long.
        assert scorer.plan(t).seconds > scoring.EXACT_SECONDS
        assert np.abs(scores / counted[t] - 1.0).mean() < 0.01
    order = [(t, n_goals is None) for t, _, _, n_goals in reported]
    assert order.index((100, True)) < order.index((100, False))


def test_estimate_is_drawn_where_the_score_takes_much_longer() -> None:
    scorer = scoring.Scorer(fp.random_maze(116, 116, seed=1))
    assert scorer.preview(13) is None
    shown = scorer.preview(150)
    assert isinstance(shown, scoring.Preview)
    assert shown.source == "estimated"
    # Between estimates that are known nothing is computed again; scores that are known come first.
    for t in (100, 126, 160, 200):
        scorer.estimates.add(t, fp.diffusion.Scores.of(np.full(scorer.world.n_states, 1.0 / t)))
    again = scorer.preview(150)
    assert isinstance(again, scoring.Preview)
    np.testing.assert_allclose(again.values, 1.0 / 150)
    for t in (100, 126, 160, 200):
        scorer.between.add(t, fp.diffusion.Scores.of(np.full(scorer.world.n_states, 2.0 / t)))
    last = scorer.preview(150)
    assert isinstance(last, scoring.Preview)
    assert last.source == "between"
    np.testing.assert_allclose(last.values, 2.0 / 150)


def test_estimate_that_takes_long_is_computed_in_a_process() -> None:
    world = fp.random_maze(300, 300, seed=1)
    scorer = scoring.Scorer(world)
    plan = scorer.preview(1000)
    assert isinstance(plan, ReturnScores)
    few = ReturnScores.of(world.floor, [30])  # type: ignore[arg-type]
    reported: list[float] = []
    shown = scorer.estimated(jobs.estimate(reported.append, few))
    assert reported[-1] == 1.0
    assert shown.goals.tolist() == fp.find_goals(world, shown.values, tolerance=1e-4).states.tolist()


def test_closed_tab_lets_go_of_its_world() -> None:
    async def use_and_close() -> weakref.ref[fp.World]:
        answered = asyncio.Event()

        async def send(frame: bytes) -> None:
            header, _ = unpack_frame(frame)
            assert "error" not in header
            if header["do"] == "score":
                answered.set()

        session = Session(Work(), send)
        source = {"kind": "text", "text": "S....\n.....\n....G"}
        await session.handle(pack_frame({"do": "open", "source": source, "version": 1}))
        await session.handle(pack_frame({"do": "score", "t": 4, "prominences": True}))
        await asyncio.wait_for(answered.wait(), 60)
        assert session.stage is not None
        world = weakref.ref(session.stage.world)
        session.close()
        return world

    world = asyncio.run(use_and_close())
    # A thread that was computing for the tab ends soon after it.
    for _ in range(600):
        gc.collect()
        if world() is None:
            return
        time.sleep(0.1)
    raise AssertionError("the world is still held")
