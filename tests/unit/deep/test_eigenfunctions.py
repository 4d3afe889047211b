"""Eigenfunctions learned from transitions, against the exact ones."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import safetensors.torch
import torch

import farpoint as fp
from farpoint.deep.eigenfunctions.data import read_data
from farpoint.deep.eigenfunctions.functions import weighted_score
from farpoint.errors import InvalidFile, InvalidInput, UnknownName

TINY: dict[str, Any] = {"n_functions": 3, "hidden": (16, 16), "steps": 250}


@pytest.fixture(scope="module")
def corridor() -> fp.World:
    return fp.grid((10,))


@pytest.fixture(scope="module")
def learned(corridor: fp.World) -> fp.Eigenfunctions:
    return fp.learn_eigenfunctions(corridor, n_functions=4, hidden=(64, 64), steps=2000)


def weights(functions: fp.Eigenfunctions) -> list[np.ndarray]:
    return [tensor.cpu().numpy() for tensor in functions.network.state_dict().values()]


def same(first: fp.Eigenfunctions, second: fp.Eigenfunctions) -> bool:
    pairs = zip(weights(first), weights(second), strict=True)
    return all(np.array_equal(a, b) for a, b in pairs) and np.array_equal(first.omega, second.omega)


@pytest.mark.parametrize("objective", ["allo", "ggdo"])
def test_functions_and_eigenvalues_of_a_corridor(objective: str, corridor: fp.World) -> None:
    functions = fp.learn_eigenfunctions(
        corridor, objective=objective, n_functions=4, n_spare=0, hidden=(64, 64), steps=2000
    )
    cosines = fp.cosine_similarities(functions, corridor)
    assert cosines.min() > 0.99
    # Of a path of n states the walk has the eigenvalues cos(π k / (n − 1)); the lazy walk (1 + cos) / 2.
    np.testing.assert_allclose(functions.omega, (1 + np.cos(np.pi * np.arange(4) / 9)) / 2, atol=5e-3)
    loss, energy, violation = functions.history.T
    assert loss[-1] < loss[0] / 5
    assert violation[-1] < violation[0] / 5
    # At the optimum the energy is Σ ν.
    assert energy[-1] == pytest.approx((1 - np.cos(np.pi * np.arange(4) / 9)).sum(), rel=0.1)


def test_without_rayleigh_ritz_the_objective_alone_finds_and_orders_them(corridor: fp.World) -> None:
    functions = fp.learn_eigenfunctions(
        corridor, n_functions=3, hidden=(64, 64), steps=2000, dual_rate=1e-2, rayleigh_ritz=False
    )
    assert fp.cosine_similarities(functions, corridor).min() > 0.97
    assert (np.diff(functions.omega) < 0).all()


def test_samples_of_a_log_give_the_functions_too(corridor: fp.World) -> None:
    rng = np.random.default_rng(0)
    here = rng.choice(10, size=4000, p=fp.stationary(corridor))
    there = np.where(here == 0, 1, np.where(here == 9, 8, here + rng.choice([-1, 1], size=4000)))
    # Two coordinates, the second of which tells nothing but makes every observation distinct: batches are drawn.
    seen, seen_next = (np.stack([x, 0.01 * rng.random(4000)], axis=1) for x in (here, there))
    functions = fp.learn_eigenfunctions(seen, seen_next, n_functions=3, hidden=(64, 64), steps=1500, batch_size=256)
    assert len(read_data(seen, seen_next).before) > 256
    values = functions.phi(np.stack([np.arange(10), np.full(10, 0.005)], axis=1))
    assert fp.cosine_similarities(values, corridor).min() > 0.95


def test_values_are_orthonormal_and_ordered_on_the_data(learned: fp.Eigenfunctions, corridor: fp.World) -> None:
    phi = learned.phi(corridor.positions)
    inner = phi.T @ (fp.stationary(corridor)[:, None] * phi)
    # Networks compute in single precision, and their rounding depends on how many rows they see at once.
    np.testing.assert_allclose(inner, np.eye(4), atol=1e-5)
    assert (np.diff(learned.omega) < 0).all()
    np.testing.assert_array_equal(phi, learned.phi(corridor))


def test_score_is_that_of_the_exact_eigenpairs(learned: fp.Eigenfunctions, corridor: fp.World) -> None:
    spectrum, total = fp.spectrum(corridor), corridor.adjacency.sum()
    exact = weighted_score(spectrum.omega, spectrum.phi * np.sqrt(total), 30)
    np.testing.assert_allclose(learned.score(corridor, t=30), exact, rtol=0.1)


def test_the_same_seed_gives_the_same_functions(corridor: fp.World) -> None:
    first = fp.learn_eigenfunctions(corridor, **TINY)
    torch.manual_seed(7)
    noise = torch.rand(3)
    torch.manual_seed(7)
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        again = fp.learn_eigenfunctions(corridor, **TINY)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(threads)
    assert same(first, again)
    assert torch.equal(torch.rand(3), noise), "the caller's random numbers were touched"
    assert not same(first, fp.learn_eigenfunctions(corridor, **TINY, seed=1))


@pytest.mark.parametrize("objective", ["allo", "ggdo"])
@pytest.mark.parametrize("batch_size", [4, 1024])
def test_stopped_training_ends_as_if_it_had_not_been(
    objective: str, batch_size: int, corridor: fp.World, tmp_path: Path
) -> None:
    settings = {**TINY, "objective": objective, "batch_size": batch_size, "checkpoint": tmp_path}
    whole = fp.learn_eigenfunctions(corridor, **{**settings, "checkpoint": None})

    def stop(done: int, total: int) -> None:
        if done == 100:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fp.learn_eigenfunctions(corridor, **settings, progress=stop)
    calls: list[int] = []
    resumed = fp.learn_eigenfunctions(corridor, **settings, progress=lambda done, total: calls.append(done))
    assert calls == [100, 200, 250]
    assert same(whole, resumed)
    np.testing.assert_array_equal(whole.history, resumed.history)
    # Finished: nothing is left to do.
    assert same(whole, fp.learn_eigenfunctions(corridor, **settings))


def test_checkpoint_of_another_training_is_refused(corridor: fp.World, tmp_path: Path) -> None:
    fp.learn_eigenfunctions(corridor, **TINY, checkpoint=tmp_path)
    with pytest.raises(InvalidInput, match="with other seed"):
        fp.learn_eigenfunctions(corridor, **TINY, checkpoint=tmp_path, seed=3)
    with pytest.raises(InvalidInput, match="with other data"):
        fp.learn_eigenfunctions(fp.grid((11,)), **TINY, checkpoint=tmp_path)
    file = tmp_path / "training.safetensors"
    file.write_bytes(file.read_bytes()[:-40])
    with pytest.raises(InvalidFile, match="damaged"):
        fp.learn_eigenfunctions(corridor, **TINY, checkpoint=tmp_path)


def test_file_holds_everything(learned: fp.Eigenfunctions, corridor: fp.World, tmp_path: Path) -> None:
    learned.save(tmp_path / "functions.safetensors")
    loaded = fp.Eigenfunctions.load(tmp_path / "functions.safetensors")
    np.testing.assert_array_equal(loaded.phi(corridor), learned.phi(corridor))
    np.testing.assert_array_equal(loaded.omega, learned.omega)
    np.testing.assert_array_equal(loaded.history, learned.history)
    assert repr(loaded) == repr(learned)


@pytest.mark.parametrize("damage", ["cut", "changed", "header", "foreign", "other tensors", "checkpoint", "missing"])
def test_damaged_file_is_refused(damage: str, learned: fp.Eigenfunctions, corridor: fp.World, tmp_path: Path) -> None:
    path = tmp_path / "functions.safetensors"
    learned.save(path)
    content = bytearray(path.read_bytes())
    if damage == "cut":
        content = content[:-10]
    elif damage == "changed":
        content[-5] ^= 1
    elif damage == "header":
        content = bytearray(bytes(content).replace(b"coordinates", b"coordinateZ"))
    elif damage == "foreign":
        content = bytearray(b"not a safetensors file at all")
    elif damage == "other tensors":
        content = bytearray(safetensors.torch.save({"weight": torch.zeros(3)}))
    elif damage == "checkpoint":
        fp.learn_eigenfunctions(corridor, **TINY, checkpoint=tmp_path)
        content = bytearray((tmp_path / "training.safetensors").read_bytes())
    path.write_bytes(content)
    if damage == "missing":
        path.unlink()
    with pytest.raises(InvalidFile):
        fp.Eigenfunctions.load(path)


@pytest.mark.parametrize("shape", [(12, 12, 3), (3, 12, 12), (12, 12)])
def test_pictures(shape: tuple[int, ...]) -> None:
    world = fp.open_room(3, 4)
    assert world.positions is not None
    bright = np.zeros((12, 12, 12), dtype=np.uint8)
    for state, (row, column) in enumerate(world.positions):
        bright[state, 4 * row : 4 * row + 4, 3 * column : 3 * column + 3] = 255
    axis = None if len(shape) == 2 else -1 if shape[2] == 3 else 1
    pictures = bright if axis is None else np.stack([bright] * 3, axis=axis)
    steps = world.adjacency.tocoo()
    functions = fp.learn_eigenfunctions(
        pictures[steps.row], pictures[steps.col], n_functions=3, hidden=(64,), steps=800
    )
    assert functions.network.kind == "pixels"
    assert fp.cosine_similarities(functions.phi(pictures), world).min() > 0.95


def test_state_numbers_of_a_log(corridor: fp.World) -> None:
    rng = np.random.default_rng(0)
    steps = corridor.adjacency.tocoo()
    taken = rng.integers(steps.nnz, size=5000)
    log = fp.Log(
        steps.row[taken].tolist(), steps.col[taken].tolist(), np.zeros(5000, dtype=np.int64), np.zeros(5000, dtype=bool)
    )
    functions = fp.learn_eigenfunctions(log, n_functions=3, hidden=(64,), steps=1500)
    assert functions.network.kind == "numbers"
    assert fp.cosine_similarities(functions.phi(np.arange(10)), corridor).min() > 0.95
    with pytest.raises(InvalidInput, match="must be states 0 … 9"):
        functions.phi(np.array([10]))


def test_windy_world_is_learned_as_the_walk_averaged_with_its_reverse() -> None:
    world = fp.open_room(4, 3, wind=0.3)
    functions = fp.learn_eigenfunctions(world, n_functions=3, hidden=(64, 64), steps=1500)
    assert fp.cosine_similarities(functions, world).min() > 0.98
    # Independently: the Laplacian of that walk by dense numpy.
    pi, walk = fp.stationary(world), fp.lazy_walk(world).toarray()
    flow = (2 * walk - np.eye(12)) * pi[None, :]
    joint = (flow + flow.T) / 2
    half = np.sqrt(pi)
    nu = np.linalg.eigvalsh(np.eye(12) - joint / half[:, None] / half[None, :])
    np.testing.assert_allclose(functions.omega, 1 - nu[:3] / 2, atol=5e-3)


def test_score_does_not_depend_on_the_basis_of_an_eigenspace() -> None:
    ring = fp.ring()
    spectrum = fp.spectrum(ring)
    phi = spectrum.phi * np.sqrt(ring.adjacency.sum())
    expected = weighted_score(spectrum.omega, phi, 4)
    rng, turned, repeated = np.random.default_rng(0), phi.copy(), 0
    place = np.cumsum(np.diff(spectrum.omega, prepend=1.0) < -1e-9)
    for group in np.unique(place):
        columns = np.flatnonzero(place == group)
        repeated += columns.size > 1
        turned[:, columns] = phi[:, columns] @ np.linalg.qr(rng.normal(size=(columns.size, columns.size)))[0]
    assert repeated > 10
    assert np.abs(turned - phi).max() > 0.1
    np.testing.assert_allclose(weighted_score(spectrum.omega, turned, 4), expected, rtol=1e-9)
    np.testing.assert_allclose(fp.cosine_similarities(turned[:, :11], ring), 1.0, rtol=1e-9)
    # It is the χ² distance of Wᵗ e_s from π₀.
    pi = fp.stationary(ring)
    after = np.linalg.matrix_power(fp.lazy_walk(ring).toarray(), 4)
    np.testing.assert_allclose(expected, ((after - pi[:, None]) ** 2 / pi[:, None]).sum(axis=0), rtol=1e-9)


def test_score_is_proportional_to_equation_1_where_degrees_are_equal() -> None:
    # Three neighbors for every state, and yet scores that differ: the Frucht graph has no symmetry at all.
    world = fp.World.from_graph(nx.frucht_graph())
    spectrum = fp.spectrum(world)
    score = weighted_score(spectrum.omega, spectrum.phi * np.sqrt(world.adjacency.sum()), 3)
    assert np.ptp(score) > 0.01
    np.testing.assert_allclose(score, world.n_states * np.asarray(fp.score(world, t=3)), rtol=1e-9)


def test_cosines_see_a_wrong_order_and_a_wrong_function(corridor: fp.World) -> None:
    phi = fp.spectrum(corridor).phi[:, :3]
    np.testing.assert_allclose(fp.cosine_similarities(phi[:, [0, 2, 1]], corridor), [1, 0, 0], atol=1e-9)
    mixed = phi @ np.array([[1, 0, 0], [0, 1, 1], [0, 0, 1]])
    np.testing.assert_allclose(fp.cosine_similarities(mixed, corridor), [1, 1, np.sqrt(0.5)], atol=1e-9)
    np.testing.assert_allclose(fp.cosine_similarities(-5 * phi, corridor), 1, atol=1e-9)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
@pytest.mark.parametrize("batch_size", [4, 1024])
def test_a_gpu_is_used_where_there_is_one(batch_size: int, corridor: fp.World, tmp_path: Path) -> None:
    settings = {**TINY, "steps": 1000, "batch_size": batch_size}
    functions = fp.learn_eigenfunctions(corridor, **settings, checkpoint=tmp_path)
    assert functions.network.center.device.type == "cuda"
    again = fp.learn_eigenfunctions(corridor, **settings, checkpoint=tmp_path)
    np.testing.assert_allclose(functions.phi(corridor), again.phi(corridor), atol=1e-5)
    assert fp.cosine_similarities(functions, corridor)[:2].min() > 0.95
    functions.save(tmp_path / "functions.safetensors")
    loaded = fp.Eigenfunctions.load(tmp_path / "functions.safetensors")
    np.testing.assert_allclose(loaded.phi(corridor), functions.phi(corridor), atol=1e-4)


def test_wrong_arguments(corridor: fp.World) -> None:
    with pytest.raises(UnknownName, match="objective must be one of allo, ggdo"):
        fp.learn_eigenfunctions(corridor, objective="spin")
    with pytest.raises(InvalidInput, match="number of distinct observations, 10"):
        fp.learn_eigenfunctions(corridor, steps=1)
    with pytest.raises(InvalidInput, match="next_observations must be given"):
        fp.learn_eigenfunctions(np.zeros((3, 2)))
    with pytest.raises(InvalidInput, match="must be finite; got 1"):
        fp.learn_eigenfunctions(np.array([[np.nan]]), np.array([[1.0]]))
    with pytest.raises(InvalidInput, match="must be left out with a World"):
        fp.learn_eigenfunctions(corridor, corridor)
    with pytest.raises(InvalidInput, match="same shape"):
        fp.learn_eigenfunctions(np.zeros((3, 2)), np.zeros((4, 2)))
    with pytest.raises(InvalidInput, match="learning_rate must be a finite number above 0"):
        fp.learn_eigenfunctions(corridor, **TINY, learning_rate=-1)
    with pytest.raises(InvalidInput, match="device must be"):
        fp.learn_eigenfunctions(corridor, **TINY, device="abacus")
    with pytest.raises(InvalidInput, match="row for each of 10 states"):
        fp.cosine_similarities(np.zeros((9, 2)), corridor)
    with pytest.raises(InvalidInput, match="as in training"):
        fp.learn_eigenfunctions(corridor, **{**TINY, "steps": 1}).phi(np.zeros((4, 2)))


@pytest.mark.parametrize("missing", ["torch", "safetensors"])
def test_without_its_packages_the_error_says_what_to_install(missing: str) -> None:
    code = f"""
import sys
sys.modules[{missing!r}] = None
import farpoint as fp
world = fp.ring()
print(fp.cosine_similarities(fp.spectrum(world).phi[:, :3], world).round(6).tolist())
for use in (lambda: fp.learn_eigenfunctions(world), lambda: fp.Eigenfunctions.load("functions.safetensors")):
    try:
        use()
    except fp.errors.MissingExtra as error:
        print(error)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    says = f"{missing} must be installed for this. Run: pip install 'farpoint[deep]'"
    assert run.stdout.splitlines() == ["[1.0, 1.0, 1.0]", says, says]
