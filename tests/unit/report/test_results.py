"""Tables and figures from finished rows and numbers."""

from __future__ import annotations

import numpy as np
import pytest

import farpoint as fp
from farpoint.errors import InvalidInput
from farpoint.measures import Estimate
from farpoint.report.figures import METHOD_COLORS, METHOD_LINES, METHOD_TITLES, new_figure
from farpoint.report.notebook import facts_of, html_of
from farpoint.report.results import band, draw_comparison, interval_dot, learning_curves
from farpoint.report.tables import cell_text, table_html, table_markdown


def test_numbers_are_aligned_and_words_are_escaped() -> None:
    text = table_html([{"a < b": "x & y", "count": 12345}, {"a < b": "z", "count": "–"}])
    assert "<th>a &lt; b</th><th class='number'>count</th>" in text
    assert "<tr><td>x &amp; y</td><td class='number'>12,345</td></tr>" in text
    assert "<td class='number'>–</td>" in text


def test_markdown_tables() -> None:
    text = table_markdown([{"world": "ring", "t": 4, "goals": 32}, {"world": "maze", "t": 13, "goals": 14}])
    assert text.splitlines() == ["| world | t | goals |", "|---|---:|---:|", "| ring | 4 | 32 |", "| maze | 13 | 14 |"]


def test_every_method_has_a_title_a_color_and_a_line() -> None:
    assert METHOD_TITLES.keys() == METHOD_COLORS.keys() == METHOD_LINES.keys()
    assert len(set(METHOD_COLORS.values())) == len(METHOD_COLORS)


def test_curves_show_means_and_bands() -> None:
    axes = new_figure(3, 3).subplots()
    mean, spread = np.array([50.0, 20.0, 10.0]), np.array([5.0, 2.0, 1.0])
    learning_curves(axes, {"diffusion": (mean, spread), "none": (2 * mean, spread)})
    first, second = axes.lines
    np.testing.assert_array_equal(first.get_xydata(), [[1, 50], [2, 20], [3, 10]])
    np.testing.assert_array_equal(second.get_ydata(), 2 * mean)
    low, high = axes.collections[0].get_paths()[0].get_extents().intervaly
    assert (low, high) == (9.0, 55.0)
    assert axes.get_ylim()[1] == pytest.approx(107.0)
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["diffusion options", "primitive actions"]
    band(axes, [1, 2, 3], mean, spread, color="red", label="more")
    assert len(axes.lines) == 3


def test_an_estimate_is_a_dot_on_its_interval() -> None:
    axes = new_figure(3, 3).subplots()
    interval_dot(axes, 2.0, 5.0, 4.0, 7.0, color="red", label="here")
    line, dot = axes.lines
    np.testing.assert_array_equal(line.get_xydata(), [[4.0, 2.0], [7.0, 2.0]])
    np.testing.assert_array_equal(dot.get_xydata(), [[5.0, 2.0]])


def test_a_comparison_has_a_dot_per_target() -> None:
    steps = {"diffusion": np.array([10.0, 20.0, 90.0]), "none": np.array([100.0, 200.0])}
    curves = {method: (np.ones(4), np.zeros(4)) for method in steps}
    left, right = draw_comparison("ring", steps, curves).axes
    dots, median = left.lines[:2]
    np.testing.assert_array_equal(dots.get_xdata(), steps["diffusion"])
    assert np.abs(np.asarray(dots.get_ydata())).max() < 0.25
    np.testing.assert_array_equal(median.get_xydata(), [[20.0, 0.0]])
    assert [label.get_text() for label in left.get_yticklabels()] == ["diffusion options", "primitive actions"]
    assert len(right.lines) == 2


def test_a_notebook_writes_numbers_as_tables_do() -> None:
    cover = fp.cover_time(fp.four_rooms(), n_runs=20)
    facts = facts_of(cover)
    assert cell_text(facts["mean"]) == str(Estimate(cover.mean, cover.low, cover.high))
    text = html_of(cover)
    assert f"<td style='text-align:left'>{facts['mean']}</td>" in text
    assert "<th style='text-align:left'>t</th><td style='text-align:left'>4</td>" in html_of(fp.score(fp.four_rooms()))
    assert (cell_text(np.int64(12_345)), cell_text(True), cell_text(float("inf"))) == ("12,345", "True", "∞")


def test_given_axes_must_be_as_many_as_panels() -> None:
    steps = {"none": np.array([100.0, 200.0])}
    curves = {"none": (np.ones(4), np.zeros(4))}
    given = new_figure(6, 3).subplots(1, 2)
    assert draw_comparison("ring", steps, curves, ax=given) is given[0].figure
    with pytest.raises(InvalidInput, match="ax must have 2 pairs of axes here; got 1"):
        draw_comparison("ring", steps, curves, ax=given[0])
    with pytest.raises(InvalidInput, match="ax must be axes of matplotlib; got 'left'"):
        draw_comparison("ring", steps, ax="left")
    with pytest.raises(InvalidInput, match="figsize must go without ax"):
        draw_comparison("ring", steps, ax=given[0], figsize=(3, 3))
