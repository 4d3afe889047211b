"""Eigenfunctions of a random walk as a neural network: their values, their score, their file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.blas import one_blas_thread
from farpoint.deep.eigenfunctions.data import read_observations
from farpoint.deep.eigenfunctions.networks import FunctionNetwork, evaluate, new_network
from farpoint.deep.eigenfunctions.training import pick_device
from farpoint.deep.tensors import module_arrays, restore_module
from farpoint.errors import InvalidFile, check_time
from farpoint.files import read_arrays, write_arrays

KIND = "farpoint-eigenfunctions"
_ARRAYS = ("omega", "rotation", "history")


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
        write_arrays(path, KIND, facts, arrays | module_arrays("network", self.network))

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
        facts, arrays = read_arrays(path, KIND)
        try:
            network = new_network(
                facts["observations"], tuple(facts["shape"]), facts["n_outputs"], tuple(facts["hidden"])
            )
            restore_module("network", network, arrays)
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
