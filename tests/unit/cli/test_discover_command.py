"""The command as a person runs it: in a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from farpoint.cli.output import results_folder

import farpoint as fp
from farpoint.errors import OutputError
from farpoint.worlds.catalogue import MAZE

FILES = {"options.npz", "policy.png", "route.png", "score.png", "score_over_t.png", "stationary.png"}


def farpoint(*words: str, text: str | None = None, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from farpoint.cli import main; main()", *words]
    env = os.environ | {"COLUMNS": "120", "NO_COLOR": "1"}
    return subprocess.run(command, input=text, capture_output=True, text=True, cwd=cwd, env=env, check=False)


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
    assert run.stdout.count("*") == 20
    assert {file.name for file in (tmp_path / "deep" / "out").iterdir()} == FILES
    options = fp.load_options(tmp_path / "deep" / "out" / "options.npz", fp.four_rooms())
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
    assert farpoint("discover", "maze", "--n-options", "10").stdout.count("*") == 10


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


def test_a_failure_in_the_middle_leaves_nothing(tmp_path: Path) -> None:
    target = tmp_path / "a" / "b"

    def fail_halfway() -> None:
        with results_folder(target) as folder:
            (folder / "half.png").write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail_halfway()
    assert list(tmp_path.iterdir()) == []


def test_results_replace_older_ones_and_keep_other_files(tmp_path: Path) -> None:
    (tmp_path / "score.png").write_text("old")
    (tmp_path / "notes.txt").write_text("mine")
    with results_folder(tmp_path) as folder:
        (folder / "score.png").write_text("new")
    assert {file.name: file.read_text() for file in tmp_path.iterdir()} == {"score.png": "new", "notes.txt": "mine"}


def test_a_file_in_place_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file")
    with pytest.raises(OutputError, match="output folder"), results_folder(tmp_path / "out"):
        pass


def test_a_folder_in_place_of_a_picture_is_refused_before_anything_is_moved(tmp_path: Path) -> None:
    (tmp_path / "score.png").mkdir()
    run = farpoint("discover", "ring", "--out", str(tmp_path))
    assert run.returncode == 2
    assert "must be a file or free" in run.stderr
    assert [file.name for file in tmp_path.iterdir()] == ["score.png"]


def test_a_reader_that_leaves_early_does_not_stop_the_work(tmp_path: Path) -> None:
    command = f"{sys.executable} -c 'from farpoint.cli import main; main()' discover ring --out {tmp_path} | head -1"
    run = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert run.stderr == ""
    assert {file.name for file in tmp_path.iterdir()} == FILES


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_being_stopped_leaves_nothing_behind(tmp_path: Path, number: signal.Signals, code: int) -> None:
    script = (
        "import farpoint.cli.discover as d, time, sys\n"
        "from farpoint.cli import main\n"
        "d._draw = lambda *_: (print('ready', file=sys.stderr, flush=True), time.sleep(60))\n"
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
    command = [sys.executable, "-c", "from farpoint.cli import main; main()", "discover", "ring"]
    env = os.environ | {"COLUMNS": "40", "NO_COLOR": "1"}
    lines = subprocess.run(command, capture_output=True, text=True, env=env, check=True).stdout.splitlines()
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


def test_blocks_of_a_large_world_are_kept_until_it_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from farpoint.cli import discover as command
    from farpoint.diffusion.scores import lattice, local

    monkeypatch.setattr(command, "_KEPT_STATES", 100)
    monkeypatch.setattr(lattice, "_CELLS_A_BLOCK", 200)
    real = lattice.lattice_block
    computed: list[tuple[int, int]] = []

    def stops(shared: lattice.Lattice, block: tuple[int, int]) -> object:
        if len(computed) == 3:
            raise KeyboardInterrupt
        computed.append(block)
        return real(shared, block)

    asked = command.DiscoverOptions(
        world="open_room:30x30", t=4, n_options=None, method="diffusion", solver="auto", form="auto",
        min_prominence=0.0, wind=0.0, seed=0, largest_component=False, tolerance=None, out=tmp_path, formats="png",
    )  # fmt: skip
    # On one core, so that it is known how far the work got.
    monkeypatch.setattr(
        local, "each_as_done", lambda function, shared, tasks, n_jobs: enumerate(function(shared, t) for t in tasks)
    )
    monkeypatch.setattr(local, "lattice_block", stops)
    with pytest.raises(KeyboardInterrupt):
        command.run(asked)
    (kept,) = tmp_path.iterdir()
    assert kept.name.startswith(".blocks-t4")
    assert len(list(kept.glob("block-*"))) == 3

    def goes_on(shared: lattice.Lattice, block: tuple[int, int]) -> object:
        computed.append(block)
        return real(shared, block)

    monkeypatch.setattr(local, "lattice_block", goes_on)
    command.run(asked)
    assert len(computed) >= len(set(computed)) == 5
    assert computed[:5] == sorted(set(computed))
    assert not kept.exists()
    assert fp.load_options(tmp_path / "options.npz", fp.open_room(30, 30)).goals.tolist() == [0, 29, 870, 899]
