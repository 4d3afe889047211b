"""Learning eigenfunctions from transitions: arguments, training, and the final rotation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.blas import one_blas_thread
from farpoint.deep.eigenfunctions.data import TrainingData, read_data
from farpoint.deep.eigenfunctions.functions import Eigenfunctions
from farpoint.deep.eigenfunctions.networks import evaluate
from farpoint.deep.eigenfunctions.objectives import OBJECTIVES
from farpoint.deep.eigenfunctions.training import Settings, train
from farpoint.deep.tensors import check_widths, one_thread
from farpoint.diffusion.spectra.bases import fixed_signs
from farpoint.display.progress import shows_progress
from farpoint.errors import InvalidInput, check_function, check_integer, check_positive, check_word
from farpoint.worlds import World

# Directions of the learned span that are relatively weaker than this are rounding errors.
_NEGLIGIBLE = 1e-10


@one_blas_thread()
@shows_progress("learning eigenfunctions")
def learn_eigenfunctions(
    observations: Any,
    next_observations: Any = None,
    *,
    n_functions: int = 11,
    objective: str = "allo",
    n_steps: int = 10_000,
    batch_size: int = 1024,
    learning_rate: float = 2e-3,
    dual_rate: float = 1e-3,
    barrier: float = 2.0,
    hidden: Sequence[int] = (256, 256),
    rayleigh_ritz: bool = True,
    n_spare: int = 4,
    seed: int = 0,
    device: str = "auto",
    checkpoint: str | PathLike[str] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Eigenfunctions:
    """Return the leading eigenfunctions of a random walk as a network, learned from transitions alone.

    Let J(s, s′) be the share of transitions from s to s′ in the data, averaged with those from s′ to s, and ρ(s) its
    row sums. The functions solve (diag ρ − J) u = ν diag(ρ) u, smallest ν first, with E_ρ[u_i u_j] = δ_ij:
    ½ E[(u(s) − u(s′))²] over transitions is ⟨u, (diag ρ − J) u⟩, and products are averaged over both ends of
    transitions. Therefore

    - for the stationary walk in a symmetric world (s drawn from π₀ ∝ degree): J ∝ M, ρ = π₀, and u are the φ of
      `spectrum` times √(Σ d), with ω = 1 − ν / 2;
    - with s drawn from another distribution (uniform, for example) and s′ by the walk: the eigenfunctions of the graph
      with weights J, which differ from those of the walk;
    - for a world that is not symmetric: the eigenfunctions of the stationary walk averaged with its reverse.

    Transitions of a log that do not change the state count too (a `World` has none): they increase ω.

    Parameters
    ----------
    observations : array, World or Log
        What the agent observed before each step: vectors (n, k), images (n, height, width[, channels]) or (n, channels,
        height, width), or state numbers (n,). A `World`: its transitions, each weighted by how often the stationary
        walk (without laziness) takes it, observed as ``world.observations`` if it has them, else as positions, else as
        state numbers. A `Log`: its states, which must be numbers or tuples of numbers.
    next_observations : array, optional
        What the agent observed after each step.
    n_functions : int
        Number of functions, including the constant one (ω = 1).
    objective : {"allo", "ggdo"}
        Augmented Lagrangian (Gomez, Bowling and Machado 2024), or generalized graph drawing (Wang and others 2021).
    n_steps : int
        Number of gradient steps.
    batch_size : int
        Transitions in each of the two independent samples of a step. Data with at most this many distinct transitions
        are used whole in every step, so that the loss is exact.
    learning_rate, dual_rate, barrier : float
        Learning rate of Adam, constant for the first half of the steps and then decreasing; learning rate of the dual
        variables of "allo"; and the weight b of the squared constraints. A function with ν > b shrinks to zero: 2 suits
        every walk (no ν is larger), and less trains faster where all wanted ν are small.
    hidden : sequence of int
        Widths of the hidden layers; images pass two convolutions first.
    rayleigh_ritz : bool
        After training, rotate the functions within their span so that they are exactly orthonormal and ordered on the
        data (an eigenproblem of size n_functions + n_spare). Otherwise they are the outputs of the network.
    n_spare : int
        With ``rayleigh_ritz``: additional functions that are learned and not returned, as in block eigensolvers,
        because the last functions converge last. Reduced where there are too few observations.
    seed : int
        The same seed gives the same functions on a CPU for any number of cores: one thread is used.
    device : str
        ``"auto"`` uses a GPU if there is one.
    checkpoint : path of a folder, optional
        Keeps the state of the training. An interrupted training continues from it and ends with exactly the same
        functions as an uninterrupted one.
    progress : function of (int, int), optional
        Called after each block of steps with the number of steps done and in total.

    Returns
    -------
    Eigenfunctions

    Raises
    ------
    MissingExtra
        If torch is not installed.
    WrongCheckpoint
        If the folder belongs to another training.

    Examples
    --------
    >>> import farpoint as fp
    >>> corridor = fp.grid((10,))
    >>> functions = fp.learn_eigenfunctions(corridor, n_functions=3, n_steps=1000, hidden=(32, 32))
    >>> bool(fp.diffusion.cosine_similarities(functions, corridor).mean() > 0.9)
    True
    """
    check_function("progress", progress)
    n_functions = check_integer("n_functions", n_functions, 1, 2**16)
    settings = Settings(
        objective=check_word("objective", objective, OBJECTIVES),
        n_functions=n_functions,
        n_spare=check_integer("n_spare", n_spare, 0, 2**16) if rayleigh_ritz else 0,
        n_steps=check_integer("n_steps", n_steps, 1),
        batch_size=check_integer("batch_size", batch_size, 2, 2**20),
        learning_rate=check_positive("learning_rate", learning_rate),
        dual_rate=check_positive("dual_rate", dual_rate),
        barrier=check_positive("barrier", barrier),
        hidden=check_widths(hidden),
        seed=check_integer("seed", seed, 0, 2**63 - 1),
    )
    data = read_data(observations, next_observations)
    n_distinct = len(data.observations)
    if n_distinct < n_functions:
        raise InvalidInput(
            f"n_functions must be at most the number of distinct observations, {n_distinct}; got {n_functions}."
        )
    settings = replace(settings, n_spare=min(settings.n_spare, n_distinct - n_functions))
    network, history = train(data, settings, device=device, checkpoint=checkpoint, progress=progress)
    with one_thread():
        values = evaluate(network, data.observations)
    nu, rotation = _rotation(data, values, rayleigh_ritz)
    nu, rotation = nu[:n_functions], rotation[:, :n_functions]
    record = {**asdict(settings), "hidden": list(settings.hidden), "rayleigh_ritz": bool(rayleigh_ritz)}
    record["data"] = data.digest
    if isinstance(observations, World):
        record["world"] = observations.name
    return Eigenfunctions(1.0 - nu / 2.0, network, rotation, record, history)


def _rotation(
    data: TrainingData, values: NDArray[np.float64], rayleigh_ritz: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return ν and the matrix that maps outputs of the network to eigenfunctions, from the data's quadratic forms."""
    difference = values[data.before] - values[data.after]
    energy = 0.5 * difference.T @ (data.shares[:, None] * difference)
    inner = values.T @ (data.mass[:, None] * values)
    if not rayleigh_ritz:
        size = np.maximum(np.diag(inner), np.finfo(np.float64).tiny)
        return np.diag(energy) / size, np.diag(1.0 / np.sqrt(size))
    strength, directions = np.linalg.eigh(inner)
    negligible = strength < _NEGLIGIBLE * strength[-1]
    whiten = directions / np.sqrt(np.where(negligible, 1.0, strength))
    form = whiten.T @ energy @ whiten
    # Directions that training did not fill come last, with the largest possible ν.
    form[negligible], form[:, negligible] = 0.0, 0.0
    form[negligible, negligible] = 2.0
    nu, turn = np.linalg.eigh(form)
    rotation = whiten @ turn
    signs = np.sign((fixed_signs(values @ rotation) * (values @ rotation)).sum(axis=0))
    return np.maximum(nu, 0.0), rotation * np.where(signs == 0, 1.0, signs)
