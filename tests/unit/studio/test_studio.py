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
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import farpoint as fp
from farpoint.errors import FarpointError, InvalidInput
from farpoint.studio import agents, comparing, export, scoring, workers, worlds
from farpoint.studio.guard import Guard
from farpoint.studio.protocol import MOST_CELLS, pack_frame, unpack_frame
from farpoint.studio.session import Session
from farpoint.studio.workers import Work
from farpoint.studio.worlds import Canvas

WEB = Path(worlds.__file__).parent / "web"


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
    stage = worlds.make_stage({"kind": "named", "name": name})
    assert stage.world.fingerprint == fp.worlds.named_world(name).fingerprint
    assert stage.code() == f"world = fp.{name}()"
    assert stage.canvas is not None
    assert stage.canvas.text().count("G") == len(fp.worlds.named_world(name).targets)  # type: ignore[arg-type]


def test_map_that_was_painted() -> None:
    stage = worlds.make_stage({"kind": "named", "name": "four_rooms"})
    assert stage.canvas is not None
    painted = stage.canvas.with_edits(np.array([3 * 13 + 6, 6 * 13 + 2], dtype=np.int32), np.zeros(2, dtype=np.uint8))
    after = worlds.map_stage(painted, 0.0, "mine")
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
            worlds.make_stage(source)


_PDF = b"%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n2 0 obj\n<< /Kids [3 0 R] /Count 1 >>\nendobj\n"


def test_uploads(tmp_path: Path) -> None:
    from PIL import Image

    buffer = io.BytesIO()
    Image.fromarray(np.array([[0, 255, 255], [0, 255, 0]], dtype=np.uint8)).save(buffer, "PNG")
    stage = worlds.read_upload("a.png", buffer.getvalue())
    assert stage.canvas is not None
    assert stage.canvas.text() == "#..\n#.#"
    (tmp_path / "a.png").write_bytes(buffer.getvalue())
    assert stage.world.fingerprint == fp.World.from_array(tmp_path / "a.png").fingerprint
    header = struct.pack(">II", 20_000, 20_000) + buffer.getvalue()[24:29]
    second = struct.pack(">I", 13) + b"IHDR" + header + struct.pack(">I", zlib.crc32(b"IHDR" + header))
    assert worlds.read_upload("a.csv", b"a,b,2\nb,c,3").world.weights is not None
    assert worlds.read_upload("a.txt", b"S..\r\n..G\r\n").world.n_states == 6
    for name, content, words in (
        ("a.png", b"\x89PNG\r\n\x1a\n" + b"\0" * 16 + b"\x7f\xff\xff\xff" * 2, "pixels"),
        ("a.png", buffer.getvalue()[:40], "whole PNG"),
        ("a.png", buffer.getvalue()[:33] + second + buffer.getvalue()[33:], "two headers"),
        ("a.bin", b"\xff\xfe\xfd", "none of these"),
        ("a.graphml", b"<!DOCTYPE x><graphml/>", "entities"),
        ("a.graphml", b"<node" * 30_000, "at most"),
        ("a.edges", b"a b\n" * 300_000, "at most"),
        ("a.edges", b"", "2 to"),
        ("a.edges", b"a b\nb c 2\n", "lines of 2 and 3 words"),
        ("a.edges", b"a b c d\n", "lines of 4 words"),
        ("paper.pdf", _PDF, "none of these"),
        ("paper", _PDF, "equal length"),
        ("notes.md", b"# A title\n\nSome words, and more of them.\n", "none of these"),
        ("a.txt", b"." * (9 * 2**20), "8 MiB"),
    ):
        with pytest.raises(FarpointError, match=words):
            worlds.read_upload(name, content)


@pytest.mark.parametrize(("name", "line"), [("a.txt", b"\n"), ("a", b"\r\n"), ("a.csv", b"\n")])
def test_a_file_of_newlines_is_refused_at_once(name: str, line: bytes) -> None:
    """Two MiB took minutes: twice something looked at every rest of the text again."""
    content = (line * 2**21)[: 2**21]
    begun = time.process_time()
    with pytest.raises(FarpointError, match=r"must (be|have)"):
        worlds.read_upload(name, content)
    assert time.process_time() - begun < 30


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("plain.edges", "a b\nb c\nc d\nx y\n"),
        ("weights.csv", "# far\na, b, 2\nb, c, 3.5\nc, d, 1\n"),
        ("titles.csv", "\nfrom,to,weight\na,b,2\nb,c,3\nc,a,9\n"),
        ("two titles.csv", "Source,Target\na,b\nb,c\nc,d\n"),
        ("written.edgelist", "0 1 {}\n1 2 {}\n2 0 {}\n"),
        ("dictionaries.edgelist", "0 1 {'weight': 2.0}\n1 2 {'weight': 3.0}\n2 0 {'weight': 1.0}\n"),
        ("quote's.graphml", None),
    ],
)
def test_python_of_an_uploaded_graph_makes_the_same_world(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: str | None
) -> None:
    import networkx as nx

    if content is None:
        graph = nx.path_graph(9)
        graph.add_edge("x", "y")
        nx.write_graphml(graph, tmp_path / name)
        content = (tmp_path / name).read_text()
    (tmp_path / name).write_text(content)
    monkeypatch.chdir(tmp_path)
    stage = worlds.read_upload(name, content.encode())
    found: dict[str, Any] = {}
    lines = export.python_lines(stage, 4, {}, 0.0, [("diffusion", None), ("cover", None), ("diffusion", None)])
    exec(lines, found)
    assert found["world"].labels == stage.world.labels
    assert (found["world"].adjacency != stage.world.adjacency).nnz == 0
    assert (found["world"].weights is None) == (stage.world.weights is None)
    np.testing.assert_array_equal(found["scores"], fp.score(stage.world, 4))
    assert {name: options.method for name, options in found["options"].items()} == {
        "diffusion": "diffusion",
        "cover": "cover",
    }


def _maze_log() -> fp.worlds.Log:
    env = fp.ContinuousMaze("S....\n####.\n.....", start="random", max_steps=200)
    return fp.envs.record_samples(env, 8_000, seed=0)


def _columns(log: fp.worlds.Log) -> dict[str, Any]:
    names = ("observations", "actions", "next_observations", "terminated", "truncated")
    return {name: np.asarray(getattr(log, name)) for name in names}


def _csv(columns: dict[str, Any]) -> bytes:
    flat = {}
    for name, column in columns.items():
        if column.ndim == 1:
            flat[name] = column
        else:
            flat |= {f"{name}_{number}": one for number, one in enumerate(column.T)}
    rows = [",".join(repr(float(value)) for value in row) for row in zip(*flat.values(), strict=True)]
    return "\n".join([",".join(flat), *rows]).encode()


@pytest.mark.parametrize("suffix", ["npz", "csv"])
def test_log_is_opened_with_its_far_points_and_routes(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = _maze_log()
    buffer = io.BytesIO()
    np.savez(buffer, **_columns(log))
    content = buffer.getvalue() if suffix == "npz" else _csv(_columns(log))
    stage = worlds.read_upload(f"maze.{suffix}", content)
    policy = fp.GoalPolicy.from_log(log)
    assert stage.world.n_states == policy.world.n_states
    np.testing.assert_array_equal(stage.world.positions, policy.world.positions)
    assert stage.policy is not None
    found = fp.discover(policy.world, t=4)
    assert fp.discover(stage.world, t=4).goals.tolist() == found.goals.tolist()
    # From a corner to the opposite one.
    observations = stage.world.observations
    assert observations is not None
    begins = int(np.linalg.norm(observations - [0.5, 0.5], axis=1).argmin())
    ends = int(np.linalg.norm(observations - [4.5, 2.5], axis=1).argmin())
    way = agents.goal_route(stage, begins, ends)
    np.testing.assert_array_equal(observations[way], policy.route(observations[begins], observations[ends]))
    assert way[0] == begins
    assert way.size >= 4
    (tmp_path / f"maze.{suffix}").write_bytes(content)
    monkeypatch.chdir(tmp_path)
    made: dict[str, Any] = {}
    exec(export.python_lines(stage, 4, {}, 0.0, []), made)
    np.testing.assert_array_equal(made["scores"], fp.score(stage.world, 4))


def test_python_of_the_continuous_maze_makes_the_same_world() -> None:
    stage = worlds.make_stage({"kind": "continuous"})
    made: dict[str, Any] = {}
    exec(export.python_lines(stage, 4, {}, 0.0, []), made)
    assert stage.policy is not None
    np.testing.assert_array_equal(made["world"].observations, stage.world.observations)


def test_log_of_numbered_states() -> None:
    log = fp.envs.record_log(gym.make("FrozenLake-v1"), 3_000, seed=0)
    columns = _columns(log)
    for content, suffix in ((_csv(columns), "csv"), (None, "npz")):
        if content is None:
            buffer = io.BytesIO()
            np.savez_compressed(buffer, allow_pickle=False, **columns)
            content = buffer.getvalue()
        stage = worlds.read_upload(f"lake.{suffix}", content)
        assert stage.world.n_states == fp.World.from_log(log).n_states
        assert stage.policy is None


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"images": np.zeros(5)}, "observations"),
        ({"observations": np.array([object()])}, "cannot be read"),
        ({"observations": np.zeros(40 * 2**20)}, "MiB unpacked"),
    ],
)
def test_bad_logs_are_refused(columns: dict[str, Any], words: str) -> None:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **columns)
    with pytest.raises(FarpointError, match=words):
        worlds.read_upload("a.npz", buffer.getvalue())
    with pytest.raises(FarpointError, match="cannot be read"):
        worlds.read_upload("a.npz", buffer.getvalue()[:-30])


def test_states_of_one_cell_differ_in_named_parts() -> None:
    pytest.importorskip("minigrid")
    stage = worlds.make_stage({"kind": "env", "id": "MiniGrid-DoorKey-5x5-v0"})
    header, arrays = stage.frame()
    parts = {part["name"]: part["values"] for part in header["slices"]}
    assert set(parts["facing"]) == {"right", "down", "left", "up"}
    assert set(parts["carrying"]) == {"nothing", "yellow key"}
    assert any("locked yellow door" in value for value in parts["objects"])
    assert any("open yellow door" in value for value in parts["objects"])
    # Together with the cell they say which state it is.
    columns = [arrays["state_cell"], *(arrays[f"slice{number}"] for number in range(len(parts)))]
    rows = np.stack(columns, axis=1)
    assert stage.world.labels is not None
    facing = [header["slices"][0]["values"][value] for value in arrays["slice0"]]
    assert facing == [("right", "down", "left", "up")[label[3]] for label in stage.world.labels]  # type: ignore[index]
    assert len(np.unique(rows, axis=0)) > 4 * len(np.unique(arrays["state_cell"]))


def test_states_of_one_cell_are_counted_where_nothing_is_known_of_them() -> None:
    stage = worlds.make_stage({"kind": "env", "id": "Taxi-v4"})
    (name, values, of_states), *more = worlds.slices_of(stage.world)
    assert (name, more) == ("state of the cell", [])
    assert values == [str(number + 1) for number in range(len(values))]
    pairs = np.stack([stage.frame()[1]["state_cell"], of_states], axis=1)
    assert len(np.unique(pairs, axis=0)) == stage.world.n_states


def test_states_of_a_taxi_differ_in_passenger_and_destination() -> None:
    stage = worlds.make_stage({"kind": "env", "id": "Taxi-v4"})
    header, arrays = stage.frame()
    names = [part["name"] for part in header["slices"]]
    assert names == ["passenger", "destination"]
    taxi: Any = gym.make("Taxi-v4").unwrapped
    places = ["red", "green", "yellow", "blue", "in the taxi"]
    assert stage.world.labels is not None
    for state, label in enumerate(stage.world.labels):
        _, _, passenger, destination = taxi.decode(label)
        shown = [part["values"][arrays[f"slice{number}"][state]] for number, part in enumerate(header["slices"])]
        assert shown == [places[passenger], places[destination]]
    # An episode begins there: the passenger waits elsewhere than where it wants to go.
    assert stage.world.starts is not None
    assert stage.world.starts[header["first"]] > 0


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
    agent = agents.RandomAgent(world, options, 0.5, seed=3)
    states = np.concatenate([agent.walk(700)[0], agent.walk(300)[0]])
    counts = fp.visitation(world, options, n_steps=1000, n_runs=1, option_probability=0.5, seed=3)
    np.testing.assert_array_equal(np.bincount(states, minlength=104), counts)


def test_learning_is_that_of_learn() -> None:
    world = fp.maze()
    options = fp.discover(world, t=4)
    learned = agents.learn_paths(world, options, 0.5, target=100, n_episodes=60, max_steps=150, seed=1)
    expected = fp.learn(world, options, targets=[100], n_runs=1, n_episodes=60, max_steps=150, seed=1,
                        option_probability=0.5, algorithm="intra-option")  # fmt: skip
    np.testing.assert_array_equal(learned.curve, expected.curve)
    np.testing.assert_array_equal(learned.visits, expected.visits)
    assert [path.size - 1 for path in learned.paths if path[-1] == 100] == [
        int(learned.curve[episode])
        for episode, path in zip(learned.episodes, learned.paths, strict=True)
        if path[-1] == 100
    ]


def test_exploring_is_that_of_explore() -> None:
    world = fp.maze()
    explored = agents.explore_steps(world, "diffusion", n_steps=1500, seed=4)
    expected = fp.explore(world, 1500, max_episode_steps=100, seed=4)
    labels = np.array(expected.labels)
    np.testing.assert_array_equal(explored.before, labels[expected.steps.before])
    np.testing.assert_array_equal(explored.after, labels[expected.steps.after])
    assert explored.goals[-1] == labels[expected.goals].tolist()


def test_arrows_of_a_windy_map_show_where_the_agent_wants_to_go() -> None:
    stage = worlds.make_stage({"kind": "text", "text": "...\n...\n...", "wind": 0.6})
    options = fp.OptionSet(stage.world, np.array([0]))
    begins, leads = comparing.policy_arrows(stage, options, 0)
    assert stage.world.positions is not None
    moves = stage.world.positions[leads] - stage.world.positions[begins]
    assert (np.abs(moves).sum(axis=1) == 1).all()
    assert (moves <= 0).all()  # up or left, never with the wind


def test_every_method_of_the_package_is_listed() -> None:
    assert [method["name"] for method in comparing.method_list()] == list(fp.options.METHODS)


def test_python_of_a_large_map_reads_a_file() -> None:
    stage = worlds.make_stage({"kind": "cells", "rows": 300, "cols": 300}, np.ones(90_000, dtype=np.uint8))
    lines = export.python_lines(stage, 50, {"solver": "local", "tolerance": 1e-3}, 0.0, [])
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
    assert headers[b"set-cookie"].startswith(b"farpoint_token_1=" + b"x" * 16)
    assert b"HttpOnly; SameSite=Strict" in headers[b"set-cookie"]
    assert headers[b"x-frame-options"] == b"DENY"
    assert b"default-src 'self'" in headers[b"content-security-policy"]
    assert b"unsafe" not in headers[b"content-security-policy"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ([(b"host", b"[")], 400),
        ([(b"host", b"localhost:99999")], 400),
        ([(b"host", b"localhost:1"), (b"origin", b"http://[")], 403),
        ([(b"host", b"localhost:1"), (b"origin", b"null")], 403),
        ([(b"host", b"localhost:1"), (b"cookie", b"\xff;;=,")], 401),
        ([(b"host", b"localhost:1"), (b"cookie", b"farpoint_token_1=" + b"x" * 16)], 200),
        ([(b"host", b"localhost:1"), (b"cookie", b"farpoint_token_2=" + b"x" * 16)], 401),
        ([], 403),
    ],
)
def test_guard_answers_malformed_requests(headers: list[tuple[bytes, bytes]], status: int) -> None:
    sent: list[dict[str, Any]] = []

    async def inner(scope: object, receive: object, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    async def receive() -> None: ...

    scope = {"type": "http", "headers": headers, "query_string": b""}
    asyncio.run(Guard(inner, "x" * 16, loopback=True)(scope, receive, send))
    assert sent[0]["status"] == status


def test_files_of_the_page_ask_no_one_else() -> None:
    files = sorted(WEB.iterdir())
    assert {file.suffix for file in files} == {".js", ".css", ".html", ".svg"}
    for file in files:
        text = file.read_text(encoding="utf-8")
        assert "://" not in text.replace("http://www.w3.org/2000/svg", "").replace("${scheme}://${location.host}", "")


def test_canvas_of_bytes_is_checked() -> None:
    with pytest.raises(InvalidInput, match="codes from 0 to 3"):
        Canvas.of_bytes(1, 2, np.array([1, 9], dtype=np.uint8))


def test_score_from_a_process_is_that_of_a_thread() -> None:
    world = fp.random_maze(30, 30, seed=2)
    reported: list[float] = []
    scorer = scoring.Scorer(world)
    finished = scorer.finish(4, *workers.score(world, 4, {"solver": "local"}, reported.append))
    assert reported[-1] == 1.0
    assert scorer.kept(4) is finished
    expected = fp.find_goals(world, fp.score(world, 4))
    assert finished.goals.states.tolist() == expected.states.tolist()
    np.testing.assert_array_equal(finished.goals.prominences, expected.prominences)


@pytest.mark.parametrize("wind", [0.0, 0.1])
def test_process_makes_the_same_world_from_what_is_sent(wind: float) -> None:
    stage = worlds.make_stage({"kind": "random_maze", "rows": 30, "cols": 31, "seed": 2, "wind": wind})
    sent = workers.sendable_world(stage)
    # A map is small; wind is not in it.
    assert isinstance(sent, Canvas) == (wind == 0.0)
    reported: list[tuple[int, fp.diffusion.Scores, float, int]] = []
    workers.curve(sent, [3, 7, 900], 0.01, reported.append)
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


def test_preview_comes_from_neighboring_t_alone() -> None:
    scorer = scoring.Scorer(fp.random_maze(116, 116, seed=1))
    assert scorer.plan(150).seconds > scoring.EXACT_SECONDS
    assert scorer.preview(150) is None
    for t in (100, 126, 160, 200):
        scorer.between.add(t, fp.diffusion.Scores(np.full(scorer.world.n_states, 2.0 / t), t, "local", "walk"))
    shown = scorer.preview(150)
    assert shown is not None
    np.testing.assert_allclose(shown.values, 2.0 / 150)
    # The score at a small t takes no longer than its preview.
    assert scorer.preview(13) is None


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
        assert session.state is not None
        world = weakref.ref(session.state.stage.world)
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
