"""The methods that the paper's section 5 speaks of, and what it says of them, computed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from farpoint.diffusion import find_goals, spectrum, stationary
from farpoint.measures import steps_between_states
from farpoint.options import betweenness, discover
from farpoint.options.routes import steps_to
from farpoint.paper.framework import Arrays, Part
from farpoint.paper.framework.claims import graded
from farpoint.paper.plan import WORLDS, Results, Scale
from farpoint.report.names import METHOD_TITLES, WORLD_TITLES
from farpoint.report.tables import Row, Share
from farpoint.worlds import World, named_world

FIELD_METHODS = (
    "diffusion", "farpoint", "eigen", "cover", "betweenness", "bottleneck", "louvain", "successor", "visits", "random",
    "none",
)  # fmt: skip
PROBABILITIES = (0.5, 0.2, 0.1, 0.05, 0.02)
FIELD_WORLDS = (*WORLDS, "t_shape")
_TITLES = WORLD_TITLES | {"t_shape": "T"}
_STEM = 12
# Two goals so near to each other are one goal twice.
_NEAR = 2
# A method fails where it gains less than this over primitive actions.
_GAIN = 0.05
_SAME = 1e-9
# The goals of so many bottleneck options, two per cut, are the states at the narrowest cuts.
_CUT_OPTIONS = 8

Outcome = tuple[str, str]


def field_world(name: str) -> World:
    """Return one of the paper's worlds, or a T of two corridors.

    >>> field_world("t_shape").n_states
    33
    """
    if name != "t_shape":
        return named_world(name)
    rows = ["." * (2 * 10 + 1), *("#" * 10 + "." + "#" * 10 for _ in range(_STEM))]
    return World.from_map("\n".join(rows), name="t_shape")


def field_part(world: str, method: str, scale: Scale) -> Part:
    """Return what is measured with one method in one world."""
    return Part.of("field", world_name=world, method=method, n_probabilities=scale.n_probabilities)


def bottlenecks_part(world: str) -> Part:
    """Return where the bottlenecks of a world lie."""
    return Part.of("bottlenecks", world_name=world)


def field_parts(scale: Scale) -> list[Part]:
    """Return all parts of the experiment."""
    measured = [field_part(world, method, scale) for world in FIELD_WORLDS for method in FIELD_METHODS]
    return [*measured, *(bottlenecks_part(world) for world in (*WORLDS, "two_rooms"))]


def _field(n_jobs: int, world_name: str, method: str, n_probabilities: int) -> Arrays:
    """Return mean steps between states over option probabilities, as many options as there are diffusion options."""
    world = field_world(world_name)
    options = discover(world, method, t=4)
    chances = PROBABILITIES[:n_probabilities]
    if method == "farpoint":
        # Besides, the probability that was chosen with them.
        chances += (options.option_probability,)
    means = [steps_between_states(world, options, option_probability=p, n_jobs=n_jobs).mean for p in chances]
    to_others = [
        np.delete(steps_to(world, int(goal))[options.goals], place) for place, goal in enumerate(options.goals)
    ]
    near = [float(moves.min(initial=np.inf) <= _NEAR) for moves in to_others]
    return {"means": np.array(means), "n_options": np.array(len(options)), "near": np.array(near)}


def _bottlenecks(n_jobs: int, world_name: str) -> Arrays:
    """Return how bottlenecks relate to eigenvectors and to the stationary distribution."""
    if world_name == "two_rooms":
        room = ["......#......"] * 2 + ["............."] + ["......#......"] * 2
        world = World.from_map("\n".join(room), name="two_rooms")
    else:
        world = named_world(world_name)
    found = spectrum(world, 4)
    places = find_goals(world, betweenness(world).values).states
    pi, graph = stationary(world), world.neighbors
    minimal = np.array(
        [pi[s] <= pi[graph.indices[graph.indptr[s] : graph.indptr[s + 1]]].min() * (1 + _SAME) for s in range(pi.size)]
    )
    crossed = np.unique(discover(world, "bottleneck", n_options=_CUT_OPTIONS).goals)
    door = int(betweenness(world).values.argmax())
    eigen = discover(world, "eigen", n_options=4).goals[2:]
    moves = steps_to(world, door)
    return {
        "nu": 2.0 * (1.0 - found.omega),
        "central": minimal[places],
        "crossed": minimal[crossed],
        "anywhere": minimal,
        "eigen_moves": moves[eigen],
        "mean_moves": np.array(moves.mean()),
    }


FIELD_KINDS: dict[str, Callable[..., Arrays]] = {"field": _field, "bottlenecks": _bottlenecks}


def least_steps(results: Results, world: str, method: str) -> float:
    """Return the mean steps with the best of the probabilities."""
    return float(results[field_part(world, method, results.scale)]["means"].min())


def field_rows(results: Results) -> list[Row]:
    """Return mean steps of every method, at the paper's ½ and with the best of the probabilities."""
    rows: list[Row] = []
    for world in FIELD_WORLDS:
        for method in FIELD_METHODS:
            arrays = results[field_part(world, method, results.scale)]
            rows.append(
                {
                    "world": _TITLES[world],
                    "method": METHOD_TITLES[method],
                    "options": int(arrays["n_options"]),
                    "mean, p = ½": float(arrays["means"][0]),
                    "mean, best p": least_steps(results, world, method),
                    "goals near another": Share(float(arrays["near"].mean())) if arrays["near"].size else None,
                }
            )
    return rows


def clusters_of_ring(results: Results) -> Outcome:
    """Check that the methods that cluster do not help in the Ring."""
    alone = least_steps(results, "ring", "none")
    means = {method: least_steps(results, "ring", method) for method in ("bottleneck", "louvain")}
    outcomes = [mean > (1.0 - _GAIN) * alone for mean in means.values()]
    said = ", ".join(f"{METHOD_TITLES[method]} {mean:,.0f}" for method, mean in means.items())
    ours = least_steps(results, "ring", "diffusion")
    return graded(outcomes), (
        f"mean steps in the Ring with the best of {results.scale.n_probabilities} probabilities: {said}; primitive "
        f"actions {alone:,.0f}, diffusion options {ours:,.0f}"
    )


def no_clusters_in_ring(results: Results) -> Outcome:
    """Check that the vector that cuts the Ring in two is one of many."""
    gaps = {}
    for world in WORLDS:
        nu = results[bottlenecks_part(world)]["nu"]
        gaps[world] = abs(float((nu[2] - nu[1]) / nu[1]))
    said = ", ".join(f"{WORLD_TITLES[world]} {gap:.2g}" for world, gap in gaps.items())
    return graded([gaps["ring"] < _SAME]), f"relative gap between ν₂ and ν₃ (0: any rotation cuts as well): {said}"


def visits_of_t(results: Results) -> Outcome:
    """Check that often visited states are redundant goals in a T, and worse ones."""
    near = {
        method: results[field_part("t_shape", method, results.scale)]["near"].mean()
        for method in ("visits", "diffusion")
    }
    steps = {method: least_steps(results, "t_shape", method) for method in ("visits", "diffusion", "none")}
    outcomes = [bool(near["visits"] > near["diffusion"]), steps["visits"] > steps["diffusion"]]
    return graded(outcomes), (
        f"goals with another within {_NEAR} moves: often visited states {100 * near['visits']:.0f} %, diffusion "
        f"{100 * near['diffusion']:.0f} %; mean steps {steps['visits']:,.0f} against {steps['diffusion']:,.0f} "
        f"(primitive {steps['none']:,.0f})"
    )


def away_from_bottlenecks(results: Results) -> Outcome:
    """Check that the eigenoptions of ψ₂ lead away from the door between two rooms."""
    arrays = results[bottlenecks_part("two_rooms")]
    moves, mean = arrays["eigen_moves"], float(arrays["mean_moves"])
    return graded([bool(one > mean) for one in moves]), (
        f"±ψ₂ end {moves[0]:.0f} and {moves[1]:.0f} moves from the door of two rooms; the mean state is {mean:.1f} away"
    )


def at_minima(results: Results) -> Outcome:
    """Check that bottlenecks are local minima of the stationary distribution more often than other states are.

    Bottlenecks are the local maxima of betweenness, or the states at the narrowest cuts.
    """
    outcomes, said = [], []
    for world in WORLDS:
        arrays = results[bottlenecks_part(world)]
        usual = float(arrays["anywhere"].mean())
        shares = [float(arrays[name].mean()) for name in ("central", "crossed")]
        outcomes += [share > max(usual, 0.5) for share in shares]
        said.append(f"{WORLD_TITLES[world]} {100 * shares[0]:.0f} % and {100 * shares[1]:.0f} % ({100 * usual:.0f} %)")
    return graded(outcomes), (
        "local minima of π₀ among local maxima of betweenness and among states at the four narrowest cuts (among all "
        f"states): {', '.join(said)}"
    )
