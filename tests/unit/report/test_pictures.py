from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

import farpoint as fp
from farpoint import report
from farpoint.errors import InvalidInput, OutputError, UnknownName

SIGNATURES = {"png": b"\x89PNG", "pdf": b"%PDF", "svg": b"<?xml"}


@pytest.mark.parametrize("ending", report.FORMATS)
def test_each_format_is_what_it_says(tmp_path: Path, ending: str) -> None:
    path = report.save_figure(report.draw_stationary(fp.ring()), tmp_path / f"ring.{ending}")
    assert path.read_bytes().startswith(SIGNATURES[ending])


@pytest.mark.parametrize("ending", report.FORMATS)
def test_the_same_picture_gives_the_same_file(tmp_path: Path, ending: str) -> None:
    files = [report.save_figure(report.draw_stationary(fp.ring()), tmp_path / f"{k}.{ending}") for k in "ab"]
    assert files[0].read_bytes() == files[1].read_bytes()


def test_heat_map_shows_the_numbers_where_the_states_are() -> None:
    world = fp.four_rooms()
    scores = np.asarray(fp.score(world))
    axes = report.draw_score(world, scores, fp.find_goals(world, scores)).axes[0]
    floor, image = axes.images
    shown = np.asarray(image.get_array().filled(np.nan))  # type: ignore[union-attr]
    assert shown.shape == (13, 13)
    assert world.positions is not None
    np.testing.assert_array_equal(shown[world.positions[:, 0], world.positions[:, 1]], scores)
    assert np.isnan(shown).sum() == 13 * 13 - 104
    assert np.isfinite(np.asarray(floor.get_array().filled(np.nan))).sum() == 104  # type: ignore[union-attr]
    assert axes.get_aspect() == 1.0
    assert tuple(image.get_extent()) == (-0.5, 12.5, 12.5, -0.5)
    assert len(axes.lines[0].get_xdata()) == 20  # type: ignore[arg-type]


def test_wall_and_floor_have_their_colors_in_the_file(tmp_path: Path) -> None:
    world = fp.open_room(3, 3)
    figure = report.draw_score(world, np.arange(9.0))
    pixels = imread(report.save_figure(figure, tmp_path / "room.png"))[:, :, :3]
    colors = {tuple(np.round(255 * pixel).astype(int)) for pixel in pixels.reshape(-1, 3)}
    assert (0x2B, 0x2B, 0x2B) in colors
    assert len(colors) > 9


def test_arrows_are_one_for_each_choice_taken() -> None:
    option = fp.discover(fp.open_room(3, 3))[0]
    arrows = report.draw_policy(option).axes[0].collections[0]
    assert arrows.N == int((option.choice_probabilities() > 0).sum()) == 12  # type: ignore[attr-defined]
    assert option.goal == 0
    assert (arrows.U <= 0).all()  # type: ignore[attr-defined]


def test_score_over_t_counts_the_goals() -> None:
    titles = [axes.get_title() for axes in report.draw_score_over_t(fp.ring(), (4, 13)).axes[:2]]
    assert titles == ["$t = 4$: 32 goals", "$t = 13$: 28 goals"]


def test_worlds_without_positions_are_laid_out_by_their_spectrum() -> None:
    world = fp.grid((3, 3, 3))
    figure = report.draw_score(world, fp.score(world), [0, 26])
    dots, rings = figure.axes[0].collections
    assert len(dots.get_offsets()) == 27  # type: ignore[arg-type]
    assert len(rings.get_offsets()) == 2  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="row and a column"):
        report.draw_policy(fp.discover(world)[0])


def test_bad_targets(tmp_path: Path) -> None:
    figure = report.draw_stationary(fp.ring())
    with pytest.raises(UnknownName, match="picture format must be one of png, pdf, svg; got 'gif'"):
        report.save_figure(figure, tmp_path / "ring.gif")
    with pytest.raises(OutputError, match="must be a file that can be written"):
        report.save_figure(figure, tmp_path / "no" / "ring.png")
