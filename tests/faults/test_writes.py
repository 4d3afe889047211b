"""Every call of the operating system that a save makes fails in turn: what is there afterwards is whole, old or new."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from functools import cache, partial
from itertools import count
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest

import farpoint as fp
from farpoint.errors import OutputError
from farpoint.files import results_folder, write_rows, write_text
from farpoint.paper.store import Arrays, Results
from farpoint.report.figures import new_figure, save_figure
from tests.helpers.faults import content_of, files_of_at_most, nth_call
from tests.helpers.options import goal_policy, picture_metric

pytestmark = pytest.mark.slow

Save = Callable[[Path], object]


@cache
def options() -> fp.OptionSet:
    return fp.discover(fp.ring(), n_options=3)


@cache
def eigenfunctions() -> fp.deep.Eigenfunctions:
    pytest.importorskip("torch")
    return fp.learn_eigenfunctions(fp.grid((5,)), n_functions=2, n_steps=5, hidden=(4,), n_spare=1)


def figure(folder: Path) -> None:
    drawn = new_figure(1, 1)
    drawn.subplots().plot([0, 1])
    save_figure(drawn, folder / "figure.svg")


def numbers() -> Arrays:
    return {"a": np.arange(9_000)}


def paper(folder: Path) -> None:
    # The seconds that it took are written too.
    with patch("time.perf_counter", return_value=0.0):
        Results("full", folder / "r").get(numbers)


def animation(folder: Path) -> None:
    fp.report.animate(fp.grid((3,)), [0, 1, 2], figsize=(1, 1)).save(folder / "a.gif")


def results(folder: Path) -> None:
    with results_folder(folder / "new" / "out") as out:
        write_text(out / "page.html", 20_000 * "page")
        options().save(out / "options.npz")


def replaced_results(folder: Path) -> None:
    with results_folder(folder) as out:
        write_text(out / "a.html", 20_000 * "page")
        write_text(out / "b.html", 20_000 * "page")


def checkpoint(folder: Path) -> None:
    fp.score(fp.open_room(280, 300), 2, "local", checkpoint=folder / "blocks", n_jobs=1)


def mapped_scores(folder: Path) -> None:
    fp.score(fp.open_room(280, 300), 2, "local", out=folder / "scores.npy", n_jobs=1)


# Each with a file that was there before, if it replaces one.
SAVES: dict[str, tuple[Save, str | None]] = {
    "text": (lambda folder: write_text(folder / "a.html", 5_000 * "text"), "a.html"),
    "rows": (lambda folder: write_rows(folder / "a.csv", 500 * [{"a": 1, "b": 2}]), "a.csv"),
    "figure": (figure, "figure.svg"),
    "options": (lambda folder: options().save(folder / "a.npz"), "a.npz"),
    "world": (lambda folder: fp.ring().save(folder / "a.npz"), "a.npz"),
    "animation": (animation, "a.gif"),
    "goal policy": (lambda folder: goal_policy().save(folder / "a.npz"), "a.npz"),
    "metric": (lambda folder: picture_metric().save(folder / "a.npz"), "a.npz"),
    "eigenfunctions": (lambda folder: eigenfunctions().save(folder / "a.npz"), "a.npz"),
    "paper": (paper, None),
    "checkpoint": (checkpoint, None),
    "results": (results, None),
    "replaced results": (replaced_results, "b.html"),
    "mapped scores": (mapped_scores, "scores.npy"),
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
    try:
        save(folder)
    except OutputError as error:
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
