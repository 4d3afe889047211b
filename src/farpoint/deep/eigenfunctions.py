"""Eigenfunctions of a random walk, learned from transitions by a neural network."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.blas import one_blas_thread
from farpoint.deep.eigenfunction_training import (
    OBJECTIVES,
    FunctionNetwork,
    Settings,
    evaluate,
    network_arrays,
    new_network,
    pick_device,
    restore_network,
    train,
)
from farpoint.deep.training_data import TrainingData, read_data, read_observations
from farpoint.diffusion.spectral import fixed_signs
from farpoint.display import progress_bar
from farpoint.errors import (
    InvalidFile,
    InvalidInput,
    check_function,
    check_integer,
    check_positive,
    check_time,
    check_word,
)
from farpoint.files import read_arrays, write_arrays
from farpoint.worlds import World
from farpoint.worlds.arrays import whole_numbers

_KIND = "farpoint-eigenfunctions"
_ARRAYS = ("omega", "rotation", "history")
# Directions of the learned span that are relatively weaker than this are rounding errors.
_NEGLIGIBLE = 1e-10
_MOST_LAYERS, _WIDEST = 32, 2**16


@dataclass(frozen=True, eq=False, repr=False)
class Eigenfunctions:
    """The leading eigenfunctions φ of a random walk, as functions of an observation.

    Made by `learn_eigenfunctions`, or read by `Eigenfunctions.load`.

    Attributes
    ----------
    omega : array, shape (n_functions,)
        Eigenvalues of the lazy walk, descending: ω_i = 1 − ν_i / 2 with ν_i = ½ E[(φ_i(s) − φ_i(s′))²] / E[φ_i(s)²]
        measured on the data, where ν are the eigenvalues of the Laplacian of the walk without laziness. (For a log
        whose walk is itself lazy, the eigenvalues of that walk are 1 − ν = 2 ω − 1.)
    network : torch.nn.Module
    rotation : array, shape (n_outputs of the network, n_functions)
        φ = network(s) @ rotation.
    record : mapping
        The settings of the training and a digest of its data.
    history : array, shape (n_blocks, 3)
        Mean loss, energy Σ ⟨u_i, L u_i⟩ and largest constraint violation per block of 100 training steps; spare
        functions are included.

    Examples
    --------
    >>> import farpoint as fp
    >>> corridor = fp.grid((10,))
    >>> functions = fp.learn_eigenfunctions(corridor, n_functions=3, n_steps=1000, hidden=(32, 32))
    >>> functions
    Eigenfunctions(3 functions of coordinates (1,), allo, 1000 steps)
    >>> functions.phi(corridor.positions).shape
    (10, 3)
    """

    omega: NDArray[np.float64]
    network: FunctionNetwork
    rotation: NDArray[np.float64]
    record: Mapping[str, Any] = field(default_factory=dict)
    history: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 3)))

    @property
    def n_functions(self) -> int:
        """Number of functions, including the constant one."""
        return int(self.omega.size)

    @one_blas_thread()
    def phi(self, observations: Any) -> NDArray[np.float64]:
        """Return the values of the functions at observations, shape (n, n_functions).

        They are scaled so that E[φ_i²] = 1 over the data. In a symmetric world that is Σ π₀ φ_i² = 1, so that they are
        √(Σ d) times the ``phi`` of `spectrum`, up to sign.

        Parameters
        ----------
        observations : array, or World
            As in training, one row per observation. For a world: the observations of its states.
        """
        return np.asarray(evaluate(self.network, read_observations("observations", observations)) @ self.rotation)

    def score(self, observations: Any, t: float = 4) -> NDArray[np.float64]:
        """Return Σ_{i≥2} ω_i^2t φ_i(s)² at observations: a distance of the walk from s to π₀ after t steps.

        With all functions it is ``Σ_s′ (p_t(s′|s) − π₀(s′))² / π₀(s′)``, the squared distance weighted by 1/π₀ (χ²);
        f_t of Eq. 1 is the same sum without the weight. Where all degrees are equal the two are proportional (this
        one is n_states · f_t); elsewhere states close to rarely visited states score higher here. With fewer
        functions it is a lower bound, too small by at most ω_{d+1}^2t (1 / π₀(s) − 1). It depends on the eigenspaces
        only: a rotation inside a repeated eigenvalue does not change it.

        Parameters
        ----------
        observations : array, or World
        t : float
            Diffusion time.

        Returns
        -------
        array of float, shape (n,)

        Examples
        --------
        >>> import farpoint as fp
        >>> corridor = fp.grid((10,))
        >>> functions = fp.learn_eigenfunctions(corridor, n_functions=3, n_steps=1000, hidden=(32, 32))
        >>> int(functions.score(corridor, t=20).argmax()) in (0, 9)
        True
        """
        return weighted_score(self.omega, self.phi(observations), t)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the functions to one ``.npz`` file; see `load`."""
        facts = {
            "observations": self.network.kind,
            "shape": list(self.network.shape),
            "n_outputs": self.network.n_functions,
            "hidden": list(self.network.hidden),
            "record": dict(self.record),
        }
        arrays = {name: getattr(self, name) for name in _ARRAYS}
        write_arrays(path, _KIND, facts, arrays | network_arrays(self.network))

    @classmethod
    def load(cls, path: str | PathLike[str], *, device: str = "cpu") -> Eigenfunctions:
        """Return the functions that `save` wrote.

        Raises
        ------
        InvalidFile
            If the file is missing, damaged, of another kind or of another version.

        Examples
        --------
        >>> import tempfile, os, farpoint as fp
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "functions.npz")
        ...     fp.learn_eigenfunctions(fp.grid((5,)), n_functions=2, n_steps=10, hidden=(8,)).save(path)
        ...     fp.deep.Eigenfunctions.load(path)
        Eigenfunctions(2 functions of coordinates (1,), allo, 10 steps)
        """
        chosen = pick_device(device)
        facts, arrays = read_arrays(path, _KIND)
        try:
            network = new_network(
                facts["observations"], tuple(facts["shape"]), facts["n_outputs"], tuple(facts["hidden"])
            )
            restore_network(network, arrays)
            omega, rotation, history = (arrays[name] for name in _ARRAYS)
            return cls(omega, network.to(chosen), rotation, facts["record"], history)
        except (KeyError, TypeError, ValueError, RuntimeError) as error:
            raise InvalidFile(f"{path} must hold complete eigenfunctions; it is damaged ({error}).") from error

    def __repr__(self) -> str:
        return (
            f"Eigenfunctions({self.n_functions} functions of {self.network.kind} {self.network.shape}, "
            f"{self.record.get('objective')}, {self.record.get('n_steps')} steps)"
        )


def weighted_score(omega: NDArray[np.float64], phi: NDArray[np.float64], t: float) -> NDArray[np.float64]:
    """Return Σ_{i≥2} ω_i^2t φ_i(s)² from values φ, one column per function, the constant function first.

    >>> weighted_score(np.array([1.0, 0.5]), np.array([[1.0, 2.0]]), t=1)
    array([1.])
    """
    weights = np.maximum(omega[1:], 0.0) ** (2 * check_time(t))
    return np.asarray(phi[:, 1:] ** 2 @ weights)


def check_widths(hidden: Sequence[int]) -> tuple[int, ...]:
    """Return the widths of hidden layers.

    >>> check_widths([128, 128])
    (128, 128)
    """
    widths = whole_numbers("hidden", hidden, np.int64)
    if widths.ndim != 1 or widths.size > _MOST_LAYERS or not ((widths >= 1) & (widths <= _WIDEST)).all():
        raise InvalidInput(f"hidden must be at most {_MOST_LAYERS} widths from 1 to {_WIDEST}; got {hidden!r}.")
    return tuple(widths.tolist())


@one_blas_thread()
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
    >>> bool(fp.deep.cosine_similarities(functions, corridor).mean() > 0.9)
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
    with progress_bar("learning eigenfunctions", settings.n_steps, progress) as tell:
        network, history = train(data, settings, device=device, checkpoint=checkpoint, progress=tell)
    nu, rotation = _rotation(data, evaluate(network, data.observations), rayleigh_ritz)
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
