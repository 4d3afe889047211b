"""Pictures show the right numbers in the right places, and every file is what its ending says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.image import imread
from matplotlib.quiver import Quiver
from scipy.spatial import cKDTree

import farpoint as fp
from farpoint import report
from farpoint.errors import InvalidInput, OutputError, UnknownName
from farpoint.report.layout import graph_layout, places_of
from tests.helpers.worlds import WORLDS


def stationary_of_ring() -> Figure:
    world = fp.ring()
    return report.draw_stationary(world, fp.stationary(world))


SIGNATURES = {"png": b"\x89PNG", "pdf": b"%PDF", "svg": b"<?xml"}


@pytest.mark.parametrize("ending", report.FORMATS)
def test_each_format_is_what_it_says(tmp_path: Path, ending: str) -> None:
    path = report.save_figure(stationary_of_ring(), tmp_path / f"ring.{ending}")
    assert path.read_bytes().startswith(SIGNATURES[ending])


@pytest.mark.parametrize("ending", report.FORMATS)
def test_the_same_picture_gives_the_same_file(tmp_path: Path, ending: str) -> None:
    files = [report.save_figure(stationary_of_ring(), tmp_path / f"{k}.{ending}") for k in "ab"]
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
    world = fp.ring()
    scores = {t: fp.score(world, t) for t in (4, 13)}
    goals = {t: fp.find_goals(world, scores[t]) for t in scores}
    titles = [axes.get_title() for axes in report.draw_score_over_t(world, scores, goals).axes[:2]]
    assert titles == ["$t = 4$: 32 goals", "$t = 13$: 28 goals"]
    with pytest.raises(InvalidInput, match=r"must be of the same times, at least one; got \[4, 13\] and \[4\]"):
        report.draw_score_over_t(world, scores, {4: goals[4]})
    with pytest.raises(InvalidInput, match="at least one; got"):
        report.draw_score_over_t(world, {}, {})


def test_a_route_goes_through_its_states() -> None:
    world = fp.open_room(2, 3)
    axes = report.draw_route(world, [0, 1, 2, 5]).axes[0]
    line, begin, end = axes.lines
    np.testing.assert_array_equal(line.get_xydata(), [[0, 0], [1, 0], [2, 0], [2, 1]])
    np.testing.assert_array_equal(begin.get_xydata(), [[0, 0]])
    np.testing.assert_array_equal(end.get_xydata(), [[2, 1]])
    assert axes.get_title() == "open_room: 3 steps from state 0"
    with pytest.raises(InvalidInput, match="route must have at least one state"):
        report.draw_route(world, [])


def test_a_graph_is_drawn_as_dots_and_edges_at_its_places() -> None:
    world = fp.World.from_graph([[0, 1, 1], [1, 0, 0], [1, 0, 0]])
    # As in networkx: x to the right, y upwards.
    pos = {0: (0.0, -0.5), 1: (2.0, -1.5), 2: (-1.0, 0.0)}
    axes = report.draw_score(world, [1.0, 2.0, 3.0], [2], pos=pos).axes[0]
    dots, rings = axes.collections
    np.testing.assert_array_equal(np.asarray(dots.get_offsets()), [[0.0, 0.5], [2.0, 1.5], [-1.0, 0.0]])
    np.testing.assert_array_equal(np.asarray(dots.get_array()), [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(np.asarray(rings.get_offsets()), [[-1.0, 0.0]])
    (edges,) = axes.lines
    ends = np.asarray(edges.get_xydata()).reshape(-1, 3, 2)
    assert np.isnan(ends[:, 2]).all(), "edges are apart"
    drawn = {(tuple(first), tuple(second)) for first, second in ends[:, :2]}
    assert drawn == {((0.0, 0.5), (2.0, 1.5)), ((0.0, 0.5), (-1.0, 0.0))}
    assert axes.yaxis_inverted(), "rows count downwards"


def every_picture(world: fp.World, **look: Any) -> list[Figure]:
    option = fp.discover(world)[0]
    scores = fp.score(world)
    start = int(option.initiation.argmax())
    return [
        report.draw_world(world, **look),
        report.draw_score(world, scores, [0, 1], **look),
        report.draw_stationary(world, np.full(world.n_states, 1.0 / world.n_states), **look),
        report.draw_route(world, option.route(start), **look),
        report.draw_policy(option, **look),
        world.draw(**look),
        fp.discover(world).draw(**look),
        scores.draw(**look),
        fp.find_goals(world, scores).draw(**look),
    ]


@pytest.mark.parametrize("name", sorted(WORLDS))
def test_every_kind_of_world_has_every_picture(name: str) -> None:
    world = WORLDS[name]()
    for figure in every_picture(world):
        # A panel, or several, and what is on it.
        assert figure.axes[0].images or figure.axes[0].collections


def test_every_picture_takes_places_axes_a_size_and_colors() -> None:
    world = fp.grid((3, 3, 3))
    pos = np.random.default_rng(0).random((27, 2))
    for figure in every_picture(world, pos=pos, figsize=(3, 2), cmap="magma"):
        dots = figure.axes[0].collections[0]
        assert len(np.asarray(dots.get_offsets())) == 27
        assert dots.get_cmap().name == "magma"
        assert figure.get_size_inches().tolist() == [3, 2]
    given = Figure()
    for figure in every_picture(world, ax=given.subplots(), labels=False):
        assert figure is given
    message = r"pos must be x and y of every state, finite and of shape \(27, 2\); got shape \(26, 2\)"
    with pytest.raises(InvalidInput, match=message):
        world.draw(pos=pos[1:])
    with pytest.raises(InvalidInput, match="pos must have a place for every state; got none for 3"):
        world.draw(pos=dict.fromkeys(range(3), (0, 0)))
    with pytest.raises(InvalidInput, match="cmap must be a color map"):
        world.draw(cmap="no such map")
    with pytest.raises(InvalidInput, match="figsize must go without ax"):
        world.draw(ax=Figure().subplots(), figsize=(2, 2))
    with pytest.raises(InvalidInput, match="keyword must be one of pos, labels"):
        world.draw(colour="red")


def test_a_layout_keeps_neighbors_near() -> None:
    # A cycle of twelve is laid out as a circle: all edges equally long, opposite states a diameter apart.
    cycle = fp.World.from_graph(nx.cycle_graph(12))
    places = graph_layout(cycle)
    sides = np.linalg.norm(places - np.roll(places, 1, axis=0), axis=1)
    across = np.linalg.norm(places - np.roll(places, 6, axis=0), axis=1)
    np.testing.assert_allclose(sides, sides.mean(), rtol=0.02)
    np.testing.assert_allclose(across, across.mean(), rtol=0.02)
    assert across.mean() > 3 * sides.mean()
    # Beyond 500 states distances to pivots suffice: moves are far shorter than the whole.
    grid = nx.convert_node_labels_to_integers(nx.grid_2d_graph(25, 25))
    wide = fp.World.from_graph(grid)
    places = graph_layout(wide)
    moves = wide.adjacency.tocoo()
    lengths = np.linalg.norm(places[moves.row] - places[moves.col], axis=1)
    assert lengths.max() < 0.15 * np.ptp(places, axis=0).max()


def test_a_large_tree_is_spread_out() -> None:
    # Beyond 500 states, the branches of a tree are equally far from most pivots; they must not be drawn as one line.
    tree = fp.World.from_graph(nx.balanced_tree(3, 6))
    places = graph_layout(tree)
    moves = tree.adjacency.tocoo()
    lengths = np.linalg.norm(places[moves.row] - places[moves.col], axis=1)
    assert 0.5 < np.median(lengths) < 2.0, "in moves, as everywhere"
    nearest = cKDTree(places).query(places, k=2)[0][:, 1]
    # Without pairs of leaves: 0.02.
    assert np.median(nearest) > 0.1
    np.testing.assert_array_equal(places, graph_layout(tree))


def test_every_world_has_finite_places() -> None:
    for name in sorted(WORLDS):
        world = WORLDS[name]()
        places = places_of(world)
        assert places.shape == (world.n_states, 2), name
        assert np.isfinite(places).all(), name


def far_apart(**given: Any) -> fp.World:
    return fp.World.from_graph([[0, 1, 0], [1, 0, 1], [0, 1, 0]], **given)


def far_apart_in_networkx() -> fp.World:
    path = nx.path_graph(3)
    nx.set_node_attributes(path, {0: (0, 0), 1: (100_000, 0), 2: (100_000, 100_000)}, "pos")
    return fp.World.from_graph(path)


# Three states 100,000 apart: as a map it would be an image of 80 GB.
FAR_APART = {
    "pos": (far_apart, {0: (0, 0), 1: (100_000, 0), 2: (100_000, 100_000)}),
    "networkx": (far_apart_in_networkx, None),
    "positions": (lambda: far_apart(positions=[[0, 0], [0, 100_000], [-100_000, 100_000]]), None),
}


@pytest.mark.parametrize("name", FAR_APART)
def test_a_graph_at_whole_numbers_is_drawn_with_dots_and_edges(name: str, tmp_path: Path) -> None:
    build, pos = FAR_APART[name]
    world = build()
    figure = report.draw_world(world, pos=pos)
    axes = figure.axes[0]
    assert not axes.images
    # x to the right; rows count downwards, against y.
    dots = [(0, 0), (100_000, 0), (100_000, -100_000)]
    np.testing.assert_array_equal(np.asarray(axes.collections[0].get_offsets()), dots)
    ends = np.asarray(axes.lines[0].get_xydata()).reshape(-1, 3, 2)[:, :2]
    np.testing.assert_array_equal(ends, [dots[:2], dots[1:]])
    assert report.save_figure(figure, tmp_path / "far.png").stat().st_size < 10**6
    option = fp.OptionSet(world, np.array([2]))[0]
    for drawn in (
        report.draw_score(world, [1.0, 2.0, 3.0], [1], pos=pos),
        report.draw_route(world, [0, 1, 2], pos=pos),
        report.draw_policy(option, pos=pos),
        report.draw_score_over_t(world, {4: [1.0, 2.0, 3.0]}, {4: [1]}, pos=pos),
    ):
        assert not drawn.axes[0].images
    assert len(report.animate(world, [0, 1, 2], pos=pos)) == 3


def test_whole_number_positions_are_a_map_where_moves_join_cells_that_touch() -> None:
    path = fp.World.from_graph([[0, 1], [1, 0]], positions=[[0, 0], [0, 1]])
    axes = report.draw_score(path, [1.0, 2.0]).axes[0]
    shown = np.asarray(axes.images[1].get_array().filled(np.nan))  # type: ignore[union-attr]
    np.testing.assert_array_equal(shown[1], [np.nan, 1.0, 2.0, np.nan])
    # The moves of a knight join no cells that touch; a map would not show them.
    board = nx.Graph(
        ((row, column), (row + down, column + right))
        for row in range(4) for column in range(4) for down, right in ((1, 2), (2, 1), (1, -2), (2, -1))
        if row + down < 4 and 0 <= column + right < 4
    )  # fmt: skip
    knight = fp.World.from_graph(nx.to_numpy_array(board), positions=np.array(board.nodes))
    axes = report.draw_world(knight).axes[0]
    assert not axes.images
    assert np.asarray(axes.lines[0].get_xydata()).shape == (3 * board.number_of_edges(), 2)


def test_two_places_far_apart_are_no_map() -> None:
    # Most moves join cells that touch, but the rectangle around them has 10¹⁰ cells.
    places = [[0, column] for column in range(20)] + [[100_000, 100_000 + column] for column in range(20)]
    world = fp.World.from_graph(nx.to_numpy_array(nx.path_graph(40)), positions=places)
    assert not report.draw_world(world).axes[0].images


def test_labels_are_written_where_they_are_few_or_asked_for() -> None:
    def texts(figure: Figure) -> list[str]:
        return [text.get_text() for text in figure.axes[0].texts]

    club = fp.World.from_graph(nx.relabel_nodes(nx.path_graph(3), {0: "a", 1: "b", 2: "c"}))
    assert texts(club.draw()) == ["a", "b", "c"]
    assert texts(club.draw(labels=False)) == []
    assert texts(club.draw(labels={"b": "bridge"})) == ["bridge"]
    assert texts(fp.maze().draw()) == []
    assert len(texts(fp.maze().draw(labels=True))) == 148
    with pytest.raises(InvalidInput, match="labels must be one text per state"):
        club.draw(labels=["x"])


def test_minigrid_has_a_panel_for_each_thing_carried_and_state_of_the_door() -> None:
    world = WORLDS["door_key"]()
    titles = [axes.get_title() for axes in world.draw().axes if axes.get_title()]
    assert titles[0] == "carries nothing\nyellow door locked"
    assert "carries the yellow key\nyellow door open" in titles
    # The key is carried or not while the door is locked, open or closed; locked again it cannot be.
    assert len(titles) == len(set(titles)) == 6
    scores = fp.score(world)
    panels = [axes.collections[0] for axes in scores.draw().axes[:6]]
    shown = np.concatenate([np.asarray(panel.get_array()) for panel in panels])
    np.testing.assert_array_equal(np.sort(shown), np.sort(scores))
    # On given axes there is room for one panel only.
    assert len(scores.draw(ax=Figure().subplots()).axes) == 2


def test_bad_targets(tmp_path: Path) -> None:
    figure = stationary_of_ring()
    with pytest.raises(UnknownName, match="picture format must be one of png, pdf, svg; got 'gif'"):
        report.save_figure(figure, tmp_path / "ring.gif")
    with pytest.raises(OutputError, match="must be a file that can be written"):
        report.save_figure(figure, tmp_path / "no" / "ring.png")
    assert list(tmp_path.iterdir()) == []


def large_graph() -> fp.World:
    return fp.World.from_graph(nx.barabasi_albert_graph(400, 3, seed=0), name="large")


def test_a_large_graph_has_thin_edges_that_leave_most_of_it_white() -> None:
    axes = large_graph().draw(figsize=(4, 4)).axes[0]
    edges = next(one for one in axes.collections if isinstance(one, LineCollection))
    assert len(edges.get_segments()) == nx.barabasi_albert_graph(400, 3, seed=0).number_of_edges()
    assert np.max(edges.get_linewidth()) <= 0.5
    lengths = np.array([np.linalg.norm(end - begin) for begin, end in edges.get_segments()])
    strengths = np.asarray(edges.get_colors())[:, 3]
    # The longest say the least, and no edge hides a dot.
    assert strengths[lengths.argmax()] < strengths[lengths.argmin()] <= 0.5
    assert not [line for line in axes.lines if np.isnan(np.asarray(line.get_xdata())).any()]


def test_of_a_large_graph_the_goals_are_named() -> None:
    def texts(figure: Figure) -> list[str]:
        return [text.get_text() for text in figure.axes[0].texts]

    world = large_graph()
    goals = [5, 17, 300]
    assert texts(report.draw_world(world, goals=goals)) == ["5", "17", "300"]
    assert texts(report.draw_score(world, fp.score(world), goals)) == ["5", "17", "300"]
    assert texts(report.draw_world(world, goals=goals, labels=False)) == []
    assert texts(report.draw_world(world, goals=range(31))) == []
    named = fp.World.from_graph(nx.relabel_nodes(nx.path_graph(50), lambda node: f"${node}^"))
    assert texts(report.draw_world(named, goals=[49])) == ["$49^"]
    named.draw(figsize=(3, 3)).canvas.draw()
    assert texts(report.draw_world(fp.maze(), goals=[3])) == []


def test_the_title_of_an_option_names_its_goal_and_a_large_graph_has_no_arrows() -> None:
    world = large_graph()
    axes = report.draw_policy(fp.OptionSet(world, np.array([7]))[0]).axes[0]
    assert axes.get_title() == "large: an option, goal: 7"
    assert not [one for one in axes.collections if isinstance(one, Quiver)]
