"""Whatever says how a score is computed, the quantity is that of the form, within the bound that is stated."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from joblib import parallel_config
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

import farpoint as fp
from farpoint.diffusion import graphs, maps, scoring
from farpoint.errors import InvalidInput
from tests.helpers import brute
from tests.helpers.fake_cupy import use_fake_gpu
from tests.helpers.graphs import with_episodes, without_map

Vector = NDArray[np.float64]

# Decompositions of more states, and a GPU that is played by numpy, would take most of the time.
MOST_DECOMPOSED, MOST_ON_GPU = 250, 150


def directed(n_states: int, seed: int) -> fp.World:
    graph = nx.gnp_random_graph(n_states, 2.0 / n_states, seed=seed, directed=True)
    graph.add_edges_from((state, (state + 1) % n_states) for state in range(n_states))
    return fp.World.from_graph(graph)


# By the number of states, which need only be about that, and a seed.
WORLDS: dict[str, Callable[[int, int], fp.World]] = {
    "map": lambda n, seed: fp.random_maze(max(2, n // 40 + 1), min(n, 40) + 4, wall=0.2, seed=seed),
    "graph": lambda n, seed: fp.World.from_graph(nx.connected_watts_strogatz_graph(max(n, 8), 4, 0.2, seed=seed)),
    "map as a graph": lambda n, seed: without_map(WORLDS["map"](n, seed)),
    "directed": directed,
    "windy": lambda n, seed: fp.random_maze(max(2, n // 20), 20, wind=0.2, seed=seed),
    "episodes": lambda n, seed: with_episodes(WORLDS["map"](min(n, 300), seed), seed=seed),
    "directed episodes": lambda n, seed: with_episodes(directed(min(max(n, 12), 300), seed), seed=seed),
    "ends": lambda n, seed: replace(
        fp.grid((min(max(n, 4), 60),)),
        restart=np.eye(min(max(n, 4), 60))[-1],
        starts=np.eye(min(max(n, 4), 60))[0],
    ),
}
HOW: list[dict[str, Any]] = [
    {},
    {"solver": "local"},
    {"solver": "spectral"},
    {"n_components": 6},
    {"tolerance": 1e-2},
    {"tolerance": 1e-7, "n_jobs": 1},
    {"n_probes": 64, "seed": 1},
    {"n_jobs": 2, "solver": "local"},
    {"n_jobs": 2, "solver": "local", "backend": "sequential"},
    {"n_jobs": 2, "tolerance": 1e-2, "backend": "threading"},
    {"device": "gpu"},
    {"device": "gpu", "tolerance": 1e-2},
]


def weights_of(world: fp.World) -> csr_array:
    if world.restart is None or world.starts is None:
        return world.adjacency
    return csr_array(brute.restart_weights(world.adjacency.toarray(), world.restart, world.starts))


def expected_scores(world: fp.World, form: str, t: float) -> tuple[Vector, float]:
    """The score of a form by its definition, and Σ π₀²."""
    weights = weights_of(world)
    if form == "polar" or not float(t).is_integer():
        dense = (weights + weights.T).toarray() if form == "symmetrized" else weights.toarray()
        left, nu, _ = np.linalg.svd(brute.laplacian(dense))
        degrees, omega = dense.sum(axis=0), 1.0 - nu[:-1] / 2.0
        # Of a symmetric world no ω is negative, but by rounding.
        omega = omega if float(t).is_integer() else np.maximum(omega, 0.0)
        phi, phi_tilde = left[:, :-1] / np.sqrt(degrees)[:, None], left[:, :-1] * np.sqrt(degrees)[:, None]
        pi = degrees / degrees.sum()
        return np.asarray((((phi * omega**t) @ phi_tilde.T) ** 2).sum(axis=1)), float(pi @ pi)
    if form == "symmetrized":
        weights = csr_array(weights + weights.T)
    leaving = np.asarray(weights.sum(axis=1))
    walk = csr_array(0.5 * weights.T @ diags_array(1.0 / leaving)) + 0.5 * csr_array(np.eye(len(leaving)))
    symmetric = abs(weights - weights.T).max() == 0.0
    pi = leaving / leaving.sum() if symmetric else brute.stationary(weights.toarray())
    after = np.eye(len(leaving))
    for _ in range(int(t)):
        after = walk @ after
    return np.asarray(((after - pi[:, None]) ** 2).sum(axis=0)), float(pi @ pi)


@contextmanager
def noted(plans: set[tuple[str, str]]) -> Iterator[None]:
    """Note by which plan each form is computed, and whether in several blocks: they are small here."""
    choose_form, run_blocks, forms = scoring.choose_form, scoring.run_blocks, [""]

    def chosen(walk: Any, asked: str) -> Any:
        forms[0], why = choose_form(walk, asked)
        return forms[0], why

    def run(plan: Any, *settings: Any, **more: Any) -> Any:
        found = run_blocks(plan, *settings, **more)
        blocks = " in blocks" if len(plan.tasks) > 1 else ""
        plans.add((forms[0], type(plan).__name__ + blocks))
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scoring, "choose_form", chosen)
        patch.setattr(scoring, "run_blocks", run)
        patch.setattr(maps, "CELLS_PER_BLOCK", 300)
        patch.setattr(maps, "RADII_PER_BLOCK", 0)
        patch.setattr(graphs, "STATES_PER_BLOCK", 200)
        use_fake_gpu(patch)
        yield


def computed_or_refused(
    world: fp.World, t: float, *, backend: str = "threading", **way: Any
) -> fp.diffusion.Scores | None:
    try:
        with parallel_config(backend):
            return fp.score(world, t, **way)
    except InvalidInput as error:
        ways_out = ("form=", "solver", "device", "whole number")
        return None if any(word in str(error) for word in ways_out) else pytest.fail(str(error))


def decompositions(world: fp.World) -> list[fp.diffusion.Spectrum]:
    """A whole spectrum of a world and the beginning of one, where it is small and has one."""
    if world.n_states > MOST_DECOMPOSED:
        return []
    try:
        return [fp.spectrum(world), fp.spectrum(world, min(6, world.n_states - 1))]
    except InvalidInput:
        return []


def check_how(world: fp.World, t: float, folder: Path) -> set[tuple[str, str]]:
    """Compare all ways to compute the score of a world with its definition; return the forms and plans that occur."""
    plans = set[tuple[str, str]]()
    folder.mkdir(exist_ok=True)
    form, _ = fp.diffusion.Walk.of(world).default_form
    for asked in ["auto", "walk", "symmetrized"] if world.n_states <= MOST_DECOMPOSED else ["auto"]:
        if asked == form or (asked == "symmetrized" and world.symmetric):
            continue
        expected, pi_squared = expected_scores(world, form if asked == "auto" else asked, t)
        decomposed = [{"decomposition": one} for one in decompositions(world)]
        ways = [
            *HOW,
            *decomposed,
            {"checkpoint": folder / asked},
            {"checkpoint": folder / asked},
            {"out": folder / f"{asked}.npy"},
        ]
        for way in ways:
            if way.get("solver") == "spectral" and world.n_states > MOST_DECOMPOSED:
                continue
            if "device" in way and (world.n_states > MOST_ON_GPU or t > 6):
                continue
            with noted(plans):
                found = computed_or_refused(world, t, form=asked, **way)
            if found is None:
                continue
            assert asked in ("auto", found.form)
            error_ = np.abs(found - expected)
            if found.standard_error is not None:
                assert (error_ <= 8.0 * found.standard_error + 1e-12).mean() > 0.98, way
                continue
            stated = np.zeros(world.n_states) if found.error_bound is None else found.error_bound
            assert (error_ <= stated + 1e-9 * (expected + pi_squared)).all(), way
            if "checkpoint" in way:
                # Some blocks are lost, and are computed again; the others are read.
                for path in sorted(Path(way["checkpoint"]).glob("block-*.npz"))[::2]:
                    path.unlink()
    return plans


def test_every_form_and_every_plan_occurs(tmp_path: Path) -> None:
    found = set[tuple[str, str]]()
    cases: list[tuple[str, int, float]] = [
        ("map", 1100, 13),
        ("map as a graph", 900, 13),
        ("directed", 1050, 4),
        ("windy", 100, 4),
    ]
    cases += [("episodes", 300, 13), ("ends", 20, 3), ("graph", 60, 2.5), ("graph", 60, 4), ("map", 80, 4)]
    for number, (name, n_states, t) in enumerate(cases):
        found |= check_how(WORLDS[name](n_states, 1), t, tmp_path / str(number))
    plans = {"PowerPlan", "GraphPlan in blocks", "ProbePlan in blocks", "SpectralPlan"}
    assert {plan for form, plan in found if form == "walk"} >= plans | {"MapPlan in blocks", "OnGpu"}
    assert {plan for form, plan in found if form == "symmetrized"} >= plans
    assert {plan for form, plan in found if form == "polar"} == {"SpectralPlan"}


@settings(max_examples=15, deadline=None)
@given(
    name=st.sampled_from(sorted(WORLDS)),
    n_states=st.one_of(st.integers(8, 120), st.integers(800, 1500)),
    seed=st.integers(0, 99),
    t=st.sampled_from([1, 2, 4, 6, 13, 0.5, 2.5]),
)
def test_how_never_changes_what(name: str, n_states: int, seed: int, t: float) -> None:
    world = WORLDS[name](n_states if float(t).is_integer() else min(n_states, 120), seed)
    # Other forms are defined for whole t alone, or where no ω is negative.
    t = t if world.symmetric and world.restart is None else int(np.ceil(t))
    if world.n_states < 3:
        return
    with tempfile.TemporaryDirectory() as folder:
        for form, plan in check_how(world, t, Path(folder)):
            event(f"{name}: {form} by {plan}")
