"""Eigenfunctions of a walk as neural networks, learned from transitions alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from farpoint.deep import require_torch
from farpoint.deep.eigenfunctions.data import TrainingData, read_data, read_observations
from farpoint.diffusion.spectra.decomposition import with_fixed_signs
from farpoint.errors import InvalidFile, InvalidInput, check_integer, check_time, check_word
from farpoint.worlds import World

if TYPE_CHECKING:
    from farpoint.deep.eigenfunctions.networks import FunctionNetwork

FORM = "farpoint-eigenfunctions"
# Directions of the learned span that are weaker than this, relatively, are rounding and not functions.
_NOTHING = 1e-10


@dataclass(frozen=True, eq=False, repr=False)
class Eigenfunctions:
    """Functions of an observation that are the leading eigenfunctions φ of a random walk.

    Attributes
    ----------
    omega : array, shape (n_functions,)
        Eigenvalues of the lazy walk, descending: ω_i = 1 − ν_i / 2 with ν_i = ½ E[(φ_i(s) − φ_i(s′))²] / E[φ_i(s)²]
        measured on the data, where ν are the eigenvalues of the Laplacian of the walk without laziness. (Of a log
        whose walk is itself lazy, the eigenvalues of that walk are 1 − ν = 2 ω − 1.)
    network : torch.nn.Module
    rotation : array, shape (n_outputs of the network, n_functions)
        φ = network(s) @ rotation.
    record : mapping
        How it was made.
    history : array, shape (n_blocks, 3)
        Mean loss, energy Σ ⟨u_i, L u_i⟩ and largest violation of a constraint, of each hundred steps; spare
        functions count too.

    Examples
    --------
    >>> import farpoint as fp
    >>> corridor = fp.grid((10,))
    >>> functions = fp.learn_eigenfunctions(corridor, n_functions=3, steps=1000, hidden=(32, 32))
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
        """Number of functions, the constant one counted."""
        return int(self.omega.size)

    def phi(self, observations: Any) -> NDArray[np.float64]:
        """Return the values of the functions at observations, shape (n, n_functions).

        Their scale: E[φ_i²] = 1 over the data. In a symmetric world that is Σ π₀ φ_i² = 1, so that they are √(Σ d)
        times the ``phi`` of `spectrum`, up to sign.

        Parameters
        ----------
        observations : array, or World
            As in training: one a row. Of a world, those of its states.
        """
        from farpoint.deep.eigenfunctions.training import evaluate

        return np.asarray(evaluate(self.network, read_observations("observations", observations)) @ self.rotation)

    def score(self, observations: Any, t: float = 4) -> NDArray[np.float64]:
        """Return Σ_{i≥2} ω_i^2t φ_i(s)² at observations: how far the walk from s still is from π₀ after t steps.

        With all functions it is Σ_s′ (p_t(s′|s) − π₀(s′))² / π₀(s′), the norm weighted by 1/π₀ (a χ² distance); f_t of
        Eq. 1 is the same sum without the weight. Where all degrees are equal the two are proportional (this is
        n_states · f_t), elsewhere states beside rare states count more here. With fewer functions it is a
        lower bound that lacks at most ω_{d+1}^2t (1 / π₀(s) − 1). It depends on the eigenspaces only: a
        rotation inside a repeated eigenvalue changes nothing.

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
        >>> functions = fp.learn_eigenfunctions(corridor, n_functions=3, steps=1000, hidden=(32, 32))
        >>> int(functions.score(corridor, t=20).argmax()) in (0, 9)
        True
        """
        return weighted_score(self.omega, self.phi(observations), t)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the functions to one safetensors file, with a version and a digest."""
        require_torch()
        import torch

        from farpoint.deep.checkpoints import write_tensors

        facts = {
            "kind": self.network.kind,
            "shape": list(self.network.shape),
            "n_outputs": self.network.n_functions,
            "record": dict(self.record),
        }
        tensors = {f"network.{name}": tensor for name, tensor in self.network.state_dict().items()}
        for name in ("omega", "rotation", "history"):
            tensors[name] = torch.from_numpy(np.ascontiguousarray(getattr(self, name)))
        write_tensors(path, FORM, facts, tensors)

    @classmethod
    def load(cls, path: str | PathLike[str], device: str = "cpu") -> Eigenfunctions:
        """Return the functions that `save` wrote.

        Raises
        ------
        InvalidFile
            If the file is missing, damaged, not one of ours, or of a newer version.

        Examples
        --------
        >>> import tempfile, os, farpoint as fp
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "functions.safetensors")
        ...     fp.learn_eigenfunctions(fp.grid((5,)), n_functions=2, steps=10, hidden=(8,)).save(path)
        ...     fp.Eigenfunctions.load(path)
        Eigenfunctions(2 functions of coordinates (1,), allo, 10 steps)
        """
        require_torch()
        from farpoint.deep.checkpoints import read_tensors
        from farpoint.deep.eigenfunctions.training import pick_device, restore_network

        chosen = pick_device(device)
        facts, tensors = read_tensors(path, FORM, "Farpoint eigenfunctions")
        try:
            record = facts["record"]
            network = restore_network(facts["kind"], facts["shape"], facts["n_outputs"], record["hidden"], tensors)
            arrays = [tensors[name].numpy() for name in ("omega", "rotation", "history")]
        except (KeyError, TypeError, ValueError, RuntimeError) as error:
            raise InvalidFile(f"{path} must hold the eigenfunctions whole; it is damaged ({error}).") from error
        return cls(arrays[0], network.to(chosen), arrays[1], record, arrays[2])

    def __repr__(self) -> str:
        return (
            f"Eigenfunctions({self.n_functions} functions of {self.network.kind} {self.network.shape}, "
            f"{self.record.get('objective')}, {self.record.get('steps')} steps)"
        )


def weighted_score(omega: NDArray[np.float64], phi: NDArray[np.float64], t: float) -> NDArray[np.float64]:
    """Return Σ_{i≥2} ω_i^2t φ_i(s)² of values φ, one function a column, the constant first.

    >>> weighted_score(np.array([1.0, 0.5]), np.array([[1.0, 2.0]]), t=1)
    array([1.])
    """
    weights = np.maximum(omega[1:], 0.0) ** (2 * check_time(t))
    return np.asarray(phi[:, 1:] ** 2 @ weights)


def learn_eigenfunctions(
    observations: Any,
    next_observations: Any = None,
    *,
    n_functions: int = 11,
    objective: str = "allo",
    steps: int = 10_000,
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
    """Return the leading eigenfunctions of a random walk as networks, learned from its transitions alone.

    What is learned: let J(s, s′) be the share of transitions from s to s′ in the data, averaged with those from s′ to
    s, and ρ(s) its row sums. The functions solve (diag ρ − J) u = ν diag(ρ) u, smallest ν first, with
    E_ρ[u_i u_j] = δ_ij: ½ E[(u(s) − u(s′))²] over transitions is ⟨u, (diag ρ − J) u⟩, and products are averaged over
    both ends of transitions. So

    - of a walk in a symmetric world, at rest (s drawn from π₀ ∝ degree): J ∝ M, ρ = π₀, and u are the φ of `spectrum`
      times √(Σ d), with ω = 1 − ν / 2;
    - with s drawn in another way (uniformly, say) and s′ by the walk: those of the graph with the weights J, which
      are not quite the walk's;
    - of a world that is not symmetric: those of the stationary walk averaged with its reverse.

    Steps that change nothing count as transitions of a log (a `World` has none): they raise ω.

    Parameters
    ----------
    observations : array, World or Log
        What the agent saw before each step: vectors (n, k), pictures (n, height, width[, channels]) or (n, channels,
        height, width), or numbers of states (n,). A `World`: its steps, each as often as the stationary walk
        (without laziness) takes it, seen through ``world.observations`` if it has them, else its positions, else state
        numbers. A log: its states, which must be numbers or tuples of numbers.
    next_observations : array, optional
        What it saw after each step.
    n_functions : int
        How many, the constant one (ω = 1) counted.
    objective : {"allo", "ggdo"}
        Augmented Lagrangian (Gomez, Bowling and Machado 2024), or generalized graph drawing (Wang and others 2021).
    steps : int
    batch_size : int
        Log in each of the two independent samples of a step. Data with no more distinct transitions than this
        are used whole in every step, which is exact.
    learning_rate, dual_rate, barrier : float
        Of Adam, constant for the first half of the steps and then falling; of the dual variables of "allo"; and the
        weight b of the squared constraints. A function whose ν is above b shrinks to nothing: 2 suits every walk (no ν
        is larger), and less trains faster where all ν that are sought are small.
    hidden : sequence of int
        Widths of the layers; pictures pass two convolutions before.
    rayleigh_ritz : bool
        At the end turn the functions within their span so that they are orthonormal and ordered exactly on the data
        (an eigenproblem of their number). Otherwise as the network gives them.
    n_spare : int
        With ``rayleigh_ritz``, functions learned beyond those returned, as block eigensolvers do: the last ones asked
        for are then not those that training settles last. Fewer where there are too few observations.
    seed : int
        The same seed gives the same functions on a CPU, whatever the number of cores: one thread is used.
    device : str
        ``"auto"``: a GPU where there is one.
    checkpoint : path of a folder, optional
        Training that was stopped goes on from here and ends with exactly the functions it would have had.
    progress : function of (int, int), optional
        Called now and then with the steps done and their number.

    Raises
    ------
    MissingExtra
        If torch is not installed: ``pip install 'farpoint[deep]'``.

    Examples
    --------
    >>> import farpoint as fp
    >>> corridor = fp.grid((10,))
    >>> functions = fp.learn_eigenfunctions(corridor, n_functions=3, steps=1000, hidden=(32, 32))
    >>> bool(fp.cosine_similarities(functions, corridor).mean() > 0.9)
    True
    """
    require_torch()
    from farpoint.deep.eigenfunctions.objectives import OBJECTIVES
    from farpoint.deep.eigenfunctions.training import Settings, evaluate, one_thread, train

    check_word("objective", objective, OBJECTIVES)
    n_functions = check_integer("n_functions", n_functions, 1)
    n_spare = check_integer("n_spare", n_spare, 0) if rayleigh_ritz else 0
    settings = Settings(
        objective,
        n_functions,
        n_spare,
        check_integer("steps", steps, 1),
        check_integer("batch_size", batch_size, 2),
        _above_zero("learning_rate", learning_rate),
        _above_zero("dual_rate", dual_rate),
        _above_zero("barrier", barrier),
        tuple(check_integer("each width in hidden", width, 1) for width in hidden),
        check_integer("seed", seed, 0, 2**63 - 1),
    )
    data = read_data(observations, next_observations)
    n_distinct = len(data.observations)
    if n_distinct < n_functions:
        raise InvalidInput(
            f"n_functions must be at most the number of distinct observations, {n_distinct}; got {n_functions}."
        )
    settings = replace(settings, n_spare=min(n_spare, n_distinct - n_functions))
    network, history = train(
        data, settings, device=device, checkpoint=checkpoint, progress=progress or (lambda done, total: None)
    )
    with one_thread():
        values = evaluate(network, data.observations)
    nu, rotation = _rotation(data, values, rayleigh_ritz)
    nu, rotation = nu[:n_functions], rotation[:, :n_functions]
    record = {**asdict(settings), "rayleigh_ritz": bool(rayleigh_ritz), "data": data.digest}
    if isinstance(observations, World):
        record["world"] = observations.name
    return Eigenfunctions(1.0 - nu / 2.0, network, rotation, record, history)


def _above_zero(what: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < float("inf"):
        raise InvalidInput(f"{what} must be a finite number above 0; got {value!r}.")
    return float(value)


def _rotation(
    data: TrainingData, values: NDArray[np.float64], rayleigh_ritz: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return ν and the matrix that turns the network's values into the functions, by the data's quadratic forms."""
    difference = values[data.before] - values[data.after]
    energy = 0.5 * difference.T @ (data.shares[:, None] * difference)
    inner = values.T @ (data.mass[:, None] * values)
    if not rayleigh_ritz:
        size = np.maximum(np.diag(inner), np.finfo(np.float64).tiny)
        return np.diag(energy) / size, np.diag(1.0 / np.sqrt(size))
    strength, directions = np.linalg.eigh(inner)
    nothing = strength < _NOTHING * strength[-1]
    whiten = directions / np.sqrt(np.where(nothing, 1.0, strength))
    form = whiten.T @ energy @ whiten
    # Directions that training did not fill come last, with the largest ν there is.
    form[nothing], form[:, nothing] = 0.0, 0.0
    form[nothing, nothing] = 2.0
    nu, turn = np.linalg.eigh(form)
    rotation = whiten @ turn
    signs = np.sign((with_fixed_signs(values @ rotation) * (values @ rotation)).sum(axis=0))
    return np.maximum(nu, 0.0), rotation * np.where(signs == 0, 1.0, signs)
