"""Discovery by name, whatever the method."""

from __future__ import annotations

from pathlib import Path

import pytest

import farpoint as fp
from farpoint.errors import InvalidInput, UnknownName


def test_asking_for_twenty_options_just_gives_them() -> None:
    for name in ("ring", "maze", "four_rooms", "random_maze"):
        options = fp.discover(fp.worlds.named_world(name), n_options=16)
        assert len(options) == 16
        assert len(set(options.goals.tolist())) == 16


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
    with pytest.raises(
        UnknownName, match=r"one of diffusion, farpoint, eigen, .*; got 'difusion'\. Did you mean diffusion"
    ):
        fp.discover(fp.maze(), "difusion")


@pytest.mark.parametrize("method", fp.options.METHODS)
def test_keywords_of_the_score_are_passed_on(method: str) -> None:
    options = fp.discover(fp.maze(), method, t=4, solver="local", tolerance=1e-3, n_jobs=1)
    assert len(options) == (0 if method == "none" else 19)
    if method == "diffusion":
        assert (options.record["solver"], options.record["form"]) == ("local", "walk")


def test_keywords_that_do_not_exist() -> None:
    with pytest.raises(UnknownName, match=r"keyword must be one of .*; got 'steps'"):
        fp.discover(fp.maze(), steps=3)
    with pytest.raises(InvalidInput, match="tolerance must go with solver='local'; got solver='spectral'"):
        fp.discover(fp.maze(), t=4, solver="spectral", tolerance=0.1)
    with pytest.raises(InvalidInput, match=r"world must be a World, or the name of one .*; got \[0, 1\]\."):
        fp.discover([0, 1])  # type: ignore[arg-type]


def test_a_checkpoint_is_that_of_one_score(tmp_path: Path) -> None:
    options = fp.discover(fp.maze(), t=4, solver="local", checkpoint=tmp_path)
    assert list(tmp_path.glob("block-*.npz"))
    again = fp.discover(fp.maze(), t=4, solver="local", checkpoint=tmp_path)
    assert again.goals.tolist() == options.goals.tolist()
    with pytest.raises(InvalidInput, match="checkpoint must go with t; got n_options alone"):
        fp.discover(fp.maze(), n_options=4, checkpoint=tmp_path)
