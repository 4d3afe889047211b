"""Every call of the operating system that a save makes fails in turn: what is there afterwards is whole, old or new."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from functools import cache, partial
from itertools import count
from pathlib import Path

import numpy as np
import pytest

import farpoint as fp
from farpoint.errors import InvalidFile, OutputError
from farpoint.files import results_folder, write_facts, write_rows, write_text
from farpoint.paper.framework import Part, Store
from farpoint.report.sheets import new_figure, save_figure
from tests.helpers.faults import content_of, files_of_at_most, nth_call
from tests.helpers.options import learned_actor, learned_controller, learned_options, picture_metric

pytestmark = pytest.mark.slow

Save = Callable[[Path], object]


@cache
def options() -> fp.OptionSet:
    return fp.discover(fp.ring(), n_options=3)


@cache
def eigenfunctions() -> fp.deep.Eigenfunctions:
    pytest.importorskip("torch")
    return fp.learn_eigenfunctions(fp.grid((5,)), n_functions=2, n_steps=5, hidden=(4,), n_spare=1)


@cache
def agent() -> fp.SMDPDQN:
    gym, _ = pytest.importorskip("gymnasium"), pytest.importorskip("stable_baselines3")
    return fp.SMDPDQN("MlpPolicy", gym.make("FrozenLake-v1"), policy_kwargs={"net_arch": [4]}, seed=0, device="cpu")


def figure(folder: Path) -> None:
    drawn = new_figure(1, 1)
    drawn.subplots().plot([0, 1])
    save_figure(drawn, folder / "figure.svg")


def animation(folder: Path) -> None:
    fp.report.animate(fp.grid((3,)), [0, 1, 2], figsize=(1, 1)).save(folder / "a.gif")


def results(folder: Path) -> None:
    with results_folder(folder / "new" / "out") as out:
        write_text(out / "page.html", 20_000 * "page")
        options().save(out / "options.npz")


def checkpoint(folder: Path) -> None:
    fp.score(fp.open_room(280, 300), 2, "local", checkpoint=folder / "blocks", n_jobs=1)


def partitions(folder: Path) -> None:
    fp.diffusion.write_partitions(fp.ring(), folder / "world", states_per_partition=100)


def partition_scores(folder: Path) -> None:
    fp.diffusion.score_partitions(ring_in_partitions(folder), 2, n_jobs=1)


def ring_in_partitions(folder: Path) -> Path:
    if not (folder / "world.json").exists():
        fp.diffusion.write_partitions(fp.ring(), folder, states_per_partition=100)
    return folder


# Each with a file that was there before, if it replaces one.
SAVES: dict[str, tuple[Save, str | None]] = {
    "text": (lambda folder: write_text(folder / "a.html", 5_000 * "text"), "a.html"),
    "rows": (lambda folder: write_rows(folder / "a.csv", 500 * [{"a": 1, "b": 2}]), "a.csv"),
    "facts": (lambda folder: write_facts(folder / "a.json", "example", {"t": list(range(99))}), "a.json"),
    "figure": (figure, "figure.svg"),
    "options": (lambda folder: options().save(folder / "a.npz"), "a.npz"),
    "world": (lambda folder: fp.ring().save(folder / "a.npz"), "a.npz"),
    "animation": (animation, "a.gif"),
    "policies": (lambda folder: learned_options().save(folder / "a.npz"), "a.npz"),
    "controller": (lambda folder: learned_controller().save(folder / "a.npz"), "a.npz"),
    "continuous controller": (lambda folder: learned_actor().save(folder / "a.npz"), "a.npz"),
    "metric": (lambda folder: picture_metric().save(folder / "a.npz"), "a.npz"),
    "eigenfunctions": (lambda folder: eigenfunctions().save(folder / "a.npz"), "a.npz"),
    "agent": (lambda folder: agent().save(folder / "a.npz"), "a.npz"),
    "part": (lambda folder: Store(folder / "r", "1").save(Part.of("score"), {"a": np.arange(9_000)}, 0.5), None),
    "checkpoint": (checkpoint, None),
    "results": (results, None),
    "partitions": (partitions, None),
    "scores of partitions": (partition_scores, None),
}


@pytest.fixture(params=SAVES)
def save(request: pytest.FixtureRequest) -> Save:
    return SAVES[request.param][0]


@pytest.fixture
def folder(request: pytest.FixtureRequest, save: Save, tmp_path: Path) -> Path:
    """Where it is saved, with what is there before."""
    return fresh(tmp_path / "folder", save)


def fresh(folder: Path, save: Save) -> Path:
    folder.mkdir()
    if save is partition_scores:
        ring_in_partitions(folder)
    (old,) = (name for one, name in SAVES.values() if one is save)
    if old is not None:
        (folder / old).write_bytes(b"the old file")
    return folder


@pytest.fixture
def expected(save: Save, tmp_path: Path) -> dict[str, bytes]:
    reference = fresh(tmp_path / "reference", save)
    save(reference)
    return content_of(reference)


def assert_old_or_new(folder: Path, before: dict[str, bytes], expected: dict[str, bytes], what: str) -> None:
    after = content_of(folder)
    assert before.keys() <= after.keys() <= expected.keys(), what
    for name, content in after.items():
        assert content in (before.get(name), expected[name]), f"{what}: {name} is neither old nor new"


def refusal_of(save: Save, folder: Path) -> str | None:
    """Return what the error says, if there is one; another kind of error is a failure of the test."""
    # Scores of partitions are computed from edges that are read, and reading may fail as well.
    expected = (OutputError, InvalidFile) if save is partition_scores else OutputError
    try:
        save(folder)
    except expected as error:
        return str(error)
    return None


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EIO], ids=["full", "read-only", "broken"])
def test_a_call_that_fails(save: Save, folder: Path, expected: dict[str, bytes], code: int, tmp_path: Path) -> None:
    def fail() -> None:
        raise OSError(code, os.strerror(code))

    n_refused = 0
    for number in count(1):
        target = fresh(tmp_path / f"folder-{number}", save)
        before = content_of(target)
        with nth_call(number, target, fail) as fault:
            refusal = refusal_of(save, target)
        if refusal is None:
            # Nothing failed, or a lock could not be had, which is no reason not to write.
            assert content_of(target) == expected, fault.call
        else:
            n_refused += 1
            assert os.strerror(code) in refusal or "world.json" in refusal
            assert_old_or_new(target, before, expected, fault.call)
            save(target)
        if not fault.happened:
            break
        assert content_of(target) == expected, f"saved again after {fault.call}"
    assert n_refused >= 3


def test_a_folder_that_vanishes(save: Save, expected: dict[str, bytes], tmp_path: Path) -> None:
    for number in count(1):
        target, gone = fresh(tmp_path / f"folder-{number}", save), tmp_path / f"gone-{number}"
        before = content_of(target)
        with nth_call(number, target, partial(os.rename, target, gone)) as fault:
            refusal_of(save, target)
        if not fault.happened:
            break
        after = content_of(gone)
        for name, content in before.items():
            assert after[name] in (content, expected[name]), fault.call
    assert number > 3


@pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 0.7, 0.99])
def test_a_write_that_fails(save: Save, folder: Path, expected: dict[str, bytes], share: float) -> None:
    before = content_of(folder)
    new = [len(content) for name, content in expected.items() if content != before.get(name)]
    with pytest.raises(OutputError, match="File too large"), files_of_at_most(int(share * max(new))):
        save(folder)
    assert_old_or_new(folder, before, expected, f"files of at most {share} of the largest")
    save(folder)
    assert content_of(folder) == expected
