"""Eigenfunctions learned from transitions, against the exact ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import torch

import farpoint as fp
from farpoint.deep.eigenfunctions import weighted_score
from farpoint.deep.training_data import read_data
from farpoint.errors import InvalidFile, InvalidInput, OutputError, UnknownName, WrongCheckpoint

TINY: dict[str, Any] = {"n_functions": 3, "hidden": (16, 16), "n_steps": 250}


@pytest.fixture(scope="module")
def corridor() -> fp.World:
    return fp.grid((10,))


@pytest.fixture(scope="module")
def learned(corridor: fp.World) -> fp.deep.Eigenfunctions:
    return fp.learn_eigenfunctions(corridor, n_functions=4, hidden=(64, 64), n_steps=2000)


def weights(functions: fp.deep.Eigenfunctions) -> list[np.ndarray]:
    return [tensor.cpu().numpy() for tensor in functions.network.state_dict().values()]


def same(first: fp.deep.Eigenfunctions, second: fp.deep.Eigenfunctions) -> bool:
    pairs = zip(weights(first), weights(second), strict=True)
    return all(np.array_equal(a, b) for a, b in pairs) and np.array_equal(first.omega, second.omega)


@pytest.mark.parametrize("objective", ["allo", "ggdo"])
def test_functions_and_eigenvalues_of_a_corridor(objective: str, corridor: fp.World) -> None:
    functions = fp.learn_eigenfunctions(
        corridor, objective=objective, n_functions=4, n_spare=0, hidden=(64, 64), n_steps=2000
    )
    cosines = fp.deep.cosine_similarities(functions, corridor)
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
        corridor, n_functions=3, hidden=(64, 64), n_steps=2000, dual_rate=1e-2, rayleigh_ritz=False
    )
    assert fp.deep.cosine_similarities(functions, corridor).min() > 0.97
    assert (np.diff(functions.omega) < 0).all()


def test_samples_of_a_log_give_the_functions_too(corridor: fp.World) -> None:
    rng = np.random.default_rng(0)
    here = rng.choice(10, size=4000, p=fp.stationary(corridor))
    there = np.where(here == 0, 1, np.where(here == 9, 8, here + rng.choice([-1, 1], size=4000)))
    # The second coordinate is noise that makes every observation distinct, so that batches are sampled.
    seen, seen_next = (np.stack([x, 0.01 * rng.random(4000)], axis=1) for x in (here, there))
    functions = fp.learn_eigenfunctions(seen, seen_next, n_functions=3, hidden=(64, 64), n_steps=1500, batch_size=256)
    assert len(read_data(seen, seen_next).before) > 256
    values = functions.phi(np.stack([np.arange(10), np.full(10, 0.005)], axis=1))
    assert fp.deep.cosine_similarities(values, corridor).min() > 0.95


def test_values_are_orthonormal_and_ordered_on_the_data(learned: fp.deep.Eigenfunctions, corridor: fp.World) -> None:
    phi = learned.phi(corridor.positions)
    inner = phi.T @ (fp.stationary(corridor)[:, None] * phi)
    # Networks compute in single precision, and their rounding depends on how many rows they see at once.
    np.testing.assert_allclose(inner, np.eye(4), atol=1e-5)
    assert (np.diff(learned.omega) < 0).all()
    np.testing.assert_array_equal(phi, learned.phi(corridor))


def test_score_is_that_of_the_exact_eigenpairs(learned: fp.deep.Eigenfunctions, corridor: fp.World) -> None:
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
def test_interrupted_training_ends_as_an_uninterrupted_one(
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
    message = "folder of this training; got .* with another {}. Give each training"
    with pytest.raises(WrongCheckpoint, match=message.format("seed")):
        fp.learn_eigenfunctions(corridor, **TINY, checkpoint=tmp_path, seed=3)
    with pytest.raises(WrongCheckpoint, match=message.format("data")):
        fp.learn_eigenfunctions(fp.grid((11,)), **TINY, checkpoint=tmp_path)
    with pytest.raises(WrongCheckpoint, match=message.format("barrier, objective")):
        fp.learn_eigenfunctions(corridor, **TINY, checkpoint=tmp_path, objective="ggdo", barrier=1.0)


def test_damaged_checkpoint_begins_again(corridor: fp.World, tmp_path: Path) -> None:
    first = fp.learn_eigenfunctions(corridor, **TINY, checkpoint=tmp_path)
    file = tmp_path / "state.npz"
    file.write_bytes(file.read_bytes()[:-40])
    calls: list[int] = []
    again = fp.learn_eigenfunctions(
        corridor, **TINY, checkpoint=tmp_path, progress=lambda done, total: calls.append(done)
    )
    assert calls == [0, 100, 200, 250]
    assert same(first, again)


def test_checkpoint_must_be_a_folder(corridor: fp.World, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="checkpoint must be a folder that can be written"):
        fp.learn_eigenfunctions(corridor, **TINY, checkpoint=tmp_path / "file")


def test_file_holds_everything(learned: fp.deep.Eigenfunctions, corridor: fp.World, tmp_path: Path) -> None:
    learned.save(tmp_path / "functions.npz")
    loaded = fp.deep.Eigenfunctions.load(tmp_path / "functions.npz")
    np.testing.assert_array_equal(loaded.phi(corridor), learned.phi(corridor))
    np.testing.assert_array_equal(loaded.omega, learned.omega)
    np.testing.assert_array_equal(loaded.history, learned.history)
    assert repr(loaded) == repr(learned)
    assert loaded.record == learned.record


@pytest.mark.parametrize("damage", ["cut", "changed", "rewritten", "text", "other arrays", "checkpoint", "missing"])
def test_damaged_file_is_refused(
    damage: str, learned: fp.deep.Eigenfunctions, corridor: fp.World, tmp_path: Path
) -> None:
    path = tmp_path / "functions.npz"
    learned.save(path)
    content = bytearray(path.read_bytes())
    if damage == "cut":
        content = content[:-10]
    elif damage == "changed":
        content[len(content) // 2] ^= 1
    elif damage == "text":
        content = bytearray(b"not an archive at all")
    elif damage == "checkpoint":
        fp.learn_eigenfunctions(corridor, **TINY, checkpoint=tmp_path)
        content = bytearray((tmp_path / "state.npz").read_bytes())
    path.write_bytes(content)
    if damage == "missing":
        path.unlink()
    elif damage == "rewritten":
        with np.load(path) as file:
            arrays = {**file, "omega": np.ones(4)}
        np.savez(path, **arrays)
    elif damage == "other arrays":
        np.savez(path, weight=np.zeros(3))
    with pytest.raises(InvalidFile):
        fp.deep.Eigenfunctions.load(path)


def test_file_that_cannot_be_written(learned: fp.deep.Eigenfunctions, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="must be a file that can be written"):
        learned.save(tmp_path / "file" / "functions.npz")


@pytest.mark.parametrize("shape", [(12, 12, 3), (3, 12, 12), (12, 12)])
def test_images(shape: tuple[int, ...]) -> None:
    world = fp.open_room(3, 4)
    assert world.positions is not None
    bright = np.zeros((12, 12, 12), dtype=np.uint8)
    for state, (row, column) in enumerate(world.positions):
        bright[state, 4 * row : 4 * row + 4, 3 * column : 3 * column + 3] = 255
    axis = None if len(shape) == 2 else -1 if shape[2] == 3 else 1
    images = bright if axis is None else np.stack([bright] * 3, axis=axis)
    steps = world.adjacency.tocoo()
    functions = fp.learn_eigenfunctions(images[steps.row], images[steps.col], n_functions=3, hidden=(64,), n_steps=800)
    assert functions.network.kind == "pixels"
    assert fp.deep.cosine_similarities(functions.phi(images), world).min() > 0.95


def test_coordinates_far_from_zero_give_the_same_functions() -> None:
    places = np.arange(30.0)[:, None]
    close, far = (
        fp.learn_eigenfunctions(
            shift + places[:-1], shift + places[1:], n_functions=3, n_steps=150, hidden=(32,), n_spare=0
        )
        for shift in (0.0, 1.7e9)
    )
    np.testing.assert_allclose(far.omega, close.omega, rtol=1e-6)
    np.testing.assert_allclose(far.phi(1.7e9 + places), close.phi(places), rtol=1e-4, atol=1e-5)


def test_state_numbers_of_a_log(corridor: fp.World) -> None:
    rng = np.random.default_rng(0)
    steps = corridor.adjacency.tocoo()
    taken = rng.integers(steps.nnz, size=5000)
    log = fp.Log(steps.row[taken], None, steps.col[taken])
    functions = fp.learn_eigenfunctions(log, n_functions=3, hidden=(64,), n_steps=1500)
    assert functions.network.kind == "numbers"
    assert fp.deep.cosine_similarities(functions.phi(np.arange(10)), corridor).min() > 0.95
    with pytest.raises(InvalidInput, match="must be states 0 … 9"):
        functions.phi(np.array([10]))


def test_windy_world_is_learned_as_the_walk_averaged_with_its_reverse() -> None:
    world = fp.open_room(4, 3, wind=0.3)
    functions = fp.learn_eigenfunctions(world, n_functions=3, hidden=(64, 64), n_steps=1500)
    assert fp.deep.cosine_similarities(functions, world).min() > 0.98
    # Independently: the Laplacian of that walk by dense numpy.
    pi, walk = fp.stationary(world), fp.diffusion.lazy_walk(world).toarray()
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
    # It is the χ² distance of Wᵗ e_s from π₀.
    pi = fp.stationary(ring)
    after = np.linalg.matrix_power(fp.diffusion.lazy_walk(ring).toarray(), 4)
    np.testing.assert_allclose(expected, ((after - pi[:, None]) ** 2 / pi[:, None]).sum(axis=0), rtol=1e-9)


def test_score_is_proportional_to_equation_1_where_degrees_are_equal() -> None:
    # Three neighbors for every state, and yet scores that differ: the Frucht graph has no symmetry at all.
    world = fp.World.from_graph(nx.frucht_graph())
    spectrum = fp.spectrum(world)
    score = weighted_score(spectrum.omega, spectrum.phi * np.sqrt(world.adjacency.sum()), 3)
    assert np.ptp(score) > 0.01
    np.testing.assert_allclose(score, world.n_states * np.asarray(fp.score(world, t=3)), rtol=1e-9)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
@pytest.mark.parametrize("batch_size", [4, 1024])
def test_a_gpu_is_used_where_there_is_one(batch_size: int, corridor: fp.World, tmp_path: Path) -> None:
    settings = {**TINY, "n_steps": 1000, "batch_size": batch_size}
    functions = fp.learn_eigenfunctions(corridor, **settings, checkpoint=tmp_path)
    assert functions.network.center.device.type == "cuda"
    again = fp.learn_eigenfunctions(corridor, **settings, checkpoint=tmp_path)
    np.testing.assert_allclose(functions.phi(corridor), again.phi(corridor), atol=1e-5)
    assert fp.deep.cosine_similarities(functions, corridor)[:2].min() > 0.95
    functions.save(tmp_path / "functions.npz")
    loaded = fp.deep.Eigenfunctions.load(tmp_path / "functions.npz")
    np.testing.assert_allclose(loaded.phi(corridor), functions.phi(corridor), atol=1e-4)


def test_wrong_arguments(corridor: fp.World) -> None:
    with pytest.raises(UnknownName, match="objective must be one of allo, ggdo"):
        fp.learn_eigenfunctions(corridor, objective="spin")
    with pytest.raises(InvalidInput, match="number of distinct observations, 10"):
        fp.learn_eigenfunctions(corridor, n_steps=1)
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
    with pytest.raises(InvalidInput, match="as in training"):
        fp.learn_eigenfunctions(corridor, **{**TINY, "n_steps": 1}).phi(np.zeros((4, 2)))
