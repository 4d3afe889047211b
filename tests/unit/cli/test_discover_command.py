"""``farpoint discover``: what it prints, what it writes, and what it leaves behind when it is stopped."""

from __future__ import annotations

import io
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import farpoint as fp
from farpoint import errors
from farpoint.cli import discover as command
from farpoint.cli.common import map_marks, read_input, read_world, source_of_word
from farpoint.cli.discover import draw_options
from farpoint.errors import InvalidInput, OutputError, UnknownName
from farpoint.studio.worlds import make_stage
from farpoint.worlds.catalogue import MAZE
from tests.helpers.commands import FARPOINT, farpoint
from tests.helpers.envs import make

FILES = {"options.npz", "policy.png", "route.png", "score.png", "score_over_t.png", "stationary.png"}


def test_help_names_the_command() -> None:
    run = farpoint("--help")
    assert run.returncode == 0
    assert "discover" in run.stdout
    assert "--largest-component" in farpoint("discover", "--help").stdout


def test_version() -> None:
    assert farpoint("--version").stdout.strip() == f"farpoint {fp.__version__}"


def test_table_map_pictures_and_options(tmp_path: Path) -> None:
    run = farpoint("discover", "four_rooms", "--t", "4", "--out", str(tmp_path / "deep" / "out"))
    assert (run.returncode, run.stderr) == (0, "")
    header, row = run.stdout.splitlines()[:2]
    assert header.split() == ["world", "states", "method", "t", "solver", "options", "time"]
    assert row.split()[:6] == ["four_rooms", "104", "diffusion", "4", "local", "20"]
    # The start is a goal too, and the line below says what a star is.
    assert run.stdout.count("*") == 20
    assert "s" in run.stdout.splitlines()[-5]
    assert "* goal of an option · S start · a small letter: a goal too" in run.stdout
    assert {file.name for file in (tmp_path / "deep" / "out").iterdir()} == FILES
    options = fp.OptionSet.load(tmp_path / "deep" / "out" / "options.npz", fp.four_rooms())
    assert len(options) == 20


def test_map_file_and_standard_input_give_the_same(tmp_path: Path) -> None:
    text = MAZE
    (tmp_path / "mine.txt").write_text(text)
    from_file = farpoint("discover", "mine.txt", "--t", "13", cwd=tmp_path)
    from_input = farpoint("discover", "-", "--t", "13", text=text)
    assert from_file.returncode == from_input.returncode == 0
    assert from_file.stdout.splitlines()[2:] == from_input.stdout.splitlines()[2:]
    assert "14" in from_file.stdout.splitlines()[1]


def test_wind_and_formats(tmp_path: Path) -> None:
    run = farpoint("discover", "four_rooms", "--wind", "0.3333333333", "--out", str(tmp_path), "--formats", "svg,pdf")
    assert run.returncode == 0, run.stderr
    assert "spectral, polar" in run.stdout
    assert {file.suffix for file in tmp_path.iterdir()} == {".npz", ".svg", ".pdf"}


def test_random_and_n_options() -> None:
    assert " random " in farpoint("discover", "maze", "--method", "random", "--n-options", "3").stdout
    marks = "".join(farpoint("discover", "maze", "--n-options", "10").stdout.splitlines()[3:-2])
    assert sum(marks.count(mark) for mark in "*sg") == 10


def test_the_map_shows_the_start_and_the_targets() -> None:
    run = farpoint("discover", "-", "--t", "1", text="......\n..S.#.\n....G.\n......")
    assert (run.returncode, run.stderr) == (0, "")
    drawn = run.stdout.splitlines()
    rows = [line for line in drawn if line.startswith("█")]
    assert rows[2] == "█··S·█·█"
    assert rows[3][5] == "G"
    assert drawn[-1] == "* goal of an option · S start · G target"


def test_a_start_that_is_a_goal_has_a_small_letter_and_many_targets_are_not_marked() -> None:
    world = fp.World.from_map("S..G")
    assert map_marks(fp.OptionSet(world, np.array([0, 3]))) == {0: "s", 3: "g"}
    assert map_marks(fp.OptionSet(world, np.array([1]))) == {0: "S", 1: "*", 3: "G"}
    rooms = fp.four_rooms()
    assert set(map_marks(fp.discover(rooms, t=4)).values()) == {"*", "s"}
    # Four directions in a cell: the cell has one mark.
    grid = fp.World.from_env(make("MiniGrid-Empty-5x5-v0"))
    assert grid.positions is not None
    assert grid.start is not None
    marks = map_marks(fp.OptionSet(grid, np.arange(grid.n_states)))
    here = np.flatnonzero((grid.positions == grid.positions[grid.start]).all(axis=1))
    assert {marks[int(state)] for state in here} == {"s"}


@pytest.mark.parametrize(
    ("words", "text", "message"),
    [
        (["for_rooms"], None, "got 'for_rooms'. Did you mean four_rooms"),
        (["-"], "###\n#.#\n##\n", "2 characters in line 3"),
        (["-"], "", "empty text"),
        (["-"], "#?#", "got '?'"),
        (["-"], ".#.", "2 components (sizes 1, 1). Pass --largest-component"),
        (["ring", "--t", "0"], None, "t must be a finite number above 0"),
        (["ring", "--t", "2.5", "--solver", "local"], None, "t must be a whole number"),
        (["ring", "--n-options", "500"], None, "at most the number of states (192)"),
        (["ring", "--method", "magic"], None, "method must be one of diffusion"),
        (["ring", "--formats", "gif"], None, "picture format must be one of"),
        (["ring", "--wind", "7"], None, "wind must be a number from 0 to 1"),
        (["ring", "--t", "nan"], None, "t must be a finite number"),
        (["ring", "--t", "1e300"], None, "t must be at most 1e+09"),
        (["ring", "--t", "abc"], None, "--t"),
        (["ring", "--min-prominence", "100"], None, "min_prominence must leave at least one goal"),
        (["ring", "--method", "random", "--seed", "-1"], None, "seed must be at least 0"),
        (["a" * 300], None, "world must be a map file"),
        (["-"], "###\n###", "walls only"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(
    tmp_path: Path, words: list[str], text: str | None, message: str
) -> None:
    run = farpoint("discover", *words, "--out", str(tmp_path / "out"), text=text)
    assert run.returncode == 2
    assert len(run.stderr.strip().splitlines()) == 1
    assert run.stderr.startswith("farpoint: ")
    assert message in run.stderr
    assert list(tmp_path.iterdir()) == []


def test_output_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    run = farpoint("discover", "ring", "--out", str(tmp_path / "file" / "out"))
    assert run.returncode == 2
    assert "must be one that can be written" in run.stderr
    assert (tmp_path / "file").read_text() == "in the way"


def test_unreadable_map(tmp_path: Path) -> None:
    (tmp_path / "map").write_bytes(b"\xff\xfe\x00#")
    assert "must be a text map" in farpoint("discover", str(tmp_path / "map")).stderr
    assert "must be a text map" in farpoint("discover", str(tmp_path)).stderr


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="a device of Unix")
def test_a_device_without_an_end_is_no_map() -> None:
    run = farpoint("discover", "/dev/zero")
    assert (run.returncode, run.stderr) == (2, "farpoint: /dev/zero must be a text map; got one with a zero byte.\n")


def test_a_pipe_without_an_end_is_read_up_to_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    class Endless(io.StringIO):
        def read(self, size: int | None = -1, /) -> str:
            return "." * (size or 1)

    monkeypatch.setattr(errors, "available_memory", lambda: 10**8)
    monkeypatch.setattr(sys, "stdin", Endless())
    with pytest.raises(InvalidInput, match=r"standard input must fit into the memory of this machine \(0.1 GB\)"):
        read_input()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere names of files are texts")
def test_the_name_of_a_file_may_have_bytes_that_are_no_letters(tmp_path: Path) -> None:
    name = os.fsdecode(b"map\xff.txt")
    (tmp_path / name).write_text(MAZE)
    run = farpoint("discover", name, "--out", "results", "--formats", "png,svg,pdf", cwd=tmp_path)
    assert (run.returncode, run.stderr) == (0, "")
    assert ": stationary distribution" in (tmp_path / "results" / "stationary.svg").read_text()


def test_a_folder_in_place_of_a_picture_is_refused_before_anything_is_moved(tmp_path: Path) -> None:
    (tmp_path / "score.png").mkdir()
    run = farpoint("discover", "ring", "--out", str(tmp_path))
    assert run.returncode == 2
    assert "must be a file or not exist" in run.stderr
    assert [file.name for file in tmp_path.iterdir()] == ["score.png"]


def test_a_reader_that_leaves_early_does_not_stop_the_work(tmp_path: Path) -> None:
    words = shlex.join([*FARPOINT, "discover", "ring", "--out", str(tmp_path)])
    run = subprocess.run(["bash", "-c", f"{words} | head -1"], capture_output=True, text=True, check=True)
    assert run.stderr == ""
    assert {file.name for file in tmp_path.iterdir()} == FILES


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_being_stopped_leaves_nothing_behind(tmp_path: Path, number: signal.Signals, code: int) -> None:
    script = (
        # A process that was started in the background may inherit that SIGINT is ignored.
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "import farpoint.cli.discover as d, time, sys\n"
        "from farpoint.cli import main\n"
        "d.draw_options = lambda *_: (print('ready', file=sys.stderr, flush=True), time.sleep(60))\n"
        f"sys.argv = ['farpoint', 'discover', 'ring', '--out', {str(tmp_path / 'out')!r}]\n"
        "main()"
    )
    process = subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
    with process:
        assert process.stderr is not None
        assert process.stderr.readline() == b"ready\n"
        process.send_signal(number)
        assert process.wait(30) == code
        rest = process.stderr.read()
    assert list(tmp_path.iterdir()) == []
    assert b"Traceback" not in rest


def test_narrow_terminals_get_a_list() -> None:
    lines = farpoint("discover", "ring", columns=40).stdout.splitlines()
    assert lines[:2] == ["world: ring", "states: 192"]


def test_a_world_without_a_way_back_still_gets_what_it_has(tmp_path: Path) -> None:
    run = farpoint("discover", "-", "--wind", "1", "--out", str(tmp_path), text=".\n.\n.")
    assert run.returncode == 0, run.stderr
    assert "options.npz" in {file.name for file in tmp_path.iterdir()}


def test_worlds_in_a_size_and_a_tolerance() -> None:
    run = farpoint("discover", "random_maze:60x80", "--t", "40", "--tolerance", "0.001")
    assert run.returncode == 0, run.stderr
    world = fp.random_maze(60, 80)
    row = run.stdout.splitlines()[1].split()
    goals = fp.find_goals(world, fp.score(world, 40, tolerance=1e-3))
    assert row[1:6] == [f"{world.n_states:,}", "diffusion", "40", "local", str(len(goals))]
    assert farpoint("discover", "open_room:4x6").stdout.splitlines()[1].split()[1] == "24"
    wrong = farpoint("discover", "random_maze:60")
    assert wrong.returncode == 2
    assert "world must give its size as ROWSxCOLS; got 'random_maze:60'" in wrong.stderr


def test_blocks_of_a_large_score_are_kept_until_the_results_are_in_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "KEPT_STATES", 100)

    def interrupted(*_: object) -> dict[str, str]:
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "draw_options", interrupted)
    with pytest.raises(KeyboardInterrupt):
        command.run("open_room:30x30", out=tmp_path)
    (blocks,) = tmp_path.iterdir()
    assert blocks.name.startswith(".blocks-t4-")
    assert list(blocks.glob("*.npz"))
    monkeypatch.setattr(command, "draw_options", draw_options)
    # The results cannot be moved into place, so that there is still something to continue from.
    (tmp_path / "score.png").mkdir()
    with pytest.raises(OutputError, match=r"score\.png must be a file or not exist"):
        command.run("open_room:30x30", out=tmp_path)
    assert blocks.exists()
    (tmp_path / "score.png").rmdir()
    command.run("open_room:30x30", out=tmp_path)
    assert not blocks.exists()
    assert fp.OptionSet.load(tmp_path / "options.npz", fp.open_room(30, 30)).goals.tolist() == [0, 29, 870, 899]


@pytest.mark.parametrize("change", [{"world": "border.txt"}, {"form": "walk", "wind": 0.1}])
def test_blocks_of_another_run_in_the_same_folder_are_left_alone(
    change: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The same floor in two frames, or another quantity on the same moves.
    text = "\n".join(["." * 30] * 30)
    (tmp_path / "map.txt").write_text(text)
    (tmp_path / "border.txt").write_text("#" * 30 + "\n" + text)
    monkeypatch.setattr(command, "KEPT_STATES", 100)
    settings: dict[str, Any] = {
        "world": "map.txt",
        "solver": "local",
        "form": "symmetrized",
        "wind": change.get("wind", 0.0),
    }
    monkeypatch.chdir(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(command, "draw_options", lambda *_: exec("raise KeyboardInterrupt"))
        with pytest.raises(KeyboardInterrupt):
            command.run(**settings, out=tmp_path / "out")
    command.run(**{**settings, **change}, out=tmp_path / "out")
    assert len(list((tmp_path / "out").glob(".blocks*"))) == 1, "those of the first run"
    assert (tmp_path / "out" / "options.npz").exists()


def test_worlds_without_positions_in_the_plane_are_drawn(tmp_path: Path) -> None:
    cube = fp.grid((3, 3, 3))
    assert draw_options(fp.discover(cube), tmp_path, ["png"]) == {}
    assert {file.name for file in tmp_path.iterdir()} == FILES - {"options.npz"}


def test_a_world_in_two_pieces_has_no_pictures_of_a_walk(tmp_path: Path) -> None:
    pieces = fp.World.from_matrix(csr_array(np.kron(np.eye(2), 1.0 - np.eye(2))), np.arange(5))
    skipped = draw_options(fp.OptionSet(pieces, np.array([0]), "random"), tmp_path, ["png"])
    assert set(skipped) == {"score", "stationary", "score_over_t"}
    assert {file.name for file in tmp_path.iterdir()} == {"policy.png", "route.png"}


@pytest.mark.parametrize("t", [1, 4, 13, 100])
def test_goals_of_the_picture_over_t_are_those_of_exact_scores(t: int) -> None:
    # The pictures of larger maps are drawn from scores to 1e-6.
    for world in (fp.random_maze(28, 28, seed=2), fp.open_room(24, 24)):
        rough, exact = fp.score(world, t, tolerance=1e-6), fp.score(world, t)
        np.testing.assert_array_equal(fp.find_goals(world, rough).states, fp.find_goals(world, exact).states)


def test_studio_takes_the_words_of_the_other_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from PIL import Image

    monkeypatch.chdir(tmp_path)
    room = np.zeros((5, 7), dtype=bool)
    room[1:-1, 1:-1] = True
    np.save("room.npy", room)
    Image.fromarray(room.astype(np.uint8) * 255).save("room.png")
    Path("room.txt").write_text("S....\n.....\n....G\n")
    words = ["room.npy", "room.png", "room.txt", "ring", "open_room", "open_room:3x5", "random_maze:20x30"]
    for word in words:
        stage = make_stage(source_of_word(word))
        discovered = read_world(word)
        assert stage.world.n_states == (144 if word == "open_room" else discovered.n_states)
        assert stage.world.name == discovered.name
    monkeypatch.setattr("sys.stdin", io.StringIO("S.."))
    assert source_of_word("-") == {"kind": "text", "text": "S..", "name": "standard input"}
    with pytest.raises(UnknownName, match="Did you mean four_rooms"):
        source_of_word("four_roms")
    with pytest.raises(InvalidInput, match="imports no modules"):
        source_of_word("gym:mine:Maze-v0")
