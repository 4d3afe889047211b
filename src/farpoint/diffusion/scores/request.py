"""What a score is computed with: every parameter of `score`, checked in one place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from os import PathLike
from typing import Any

from farpoint.diffusion.scores.bounds import check_tolerance
from farpoint.diffusion.spectra.decomposition import Spectrum
from farpoint.errors import InvalidInput, check_function, check_integer, check_jobs, check_time, check_word

SOLVERS = ("auto", "spectral", "local", "truncated", "probes")
FORMS = ("auto", "polar", "walk", "symmetrized")
DEVICES = ("cpu", "gpu", "auto")
DEFAULT_T = 4
DEFAULT_PROBES = 256
# The solver that each of these parameters belongs to.
_SOLVER_OF = {"n_components": "truncated", "tolerance": "local", "n_probes": "probes", "checkpoint": "local"}


@dataclass(frozen=True, kw_only=True)
class ScoreRequest:
    """The parameters of one score; see `score` for their meaning.

    Examples
    --------
    >>> ScoreRequest(t=60, tolerance=1e-3).solver       # only the local solver has a tolerance
    'local'
    """

    t: float = DEFAULT_T
    solver: str = "auto"
    form: str = "auto"
    tolerance: float | None = None
    n_components: int | None = None
    decomposition: Spectrum | None = None
    n_probes: int | None = None
    seed: int = 0
    checkpoint: str | PathLike[str] | None = None
    progress: Callable[[int, int], None] | None = None
    n_jobs: int = -1
    device: str = "cpu"

    def __post_init__(self) -> None:
        def put(name: str, value: Any) -> None:
            object.__setattr__(self, name, value)

        put("t", check_time(self.t))
        check_word("solver", self.solver, SOLVERS)
        check_word("form", self.form, FORMS)
        check_word("device", self.device, DEVICES)
        put("tolerance", check_tolerance(self.tolerance))
        put("seed", check_integer("seed", self.seed, 0))
        put("n_jobs", check_jobs(self.n_jobs))
        check_function("progress", self.progress)
        for name, least in (("n_components", 1), ("n_probes", 2)):
            if getattr(self, name) is not None:
                put(name, check_integer(name, getattr(self, name), least))
        for name, solver in _SOLVER_OF.items():
            if getattr(self, name) is None or self.solver == solver:
                continue
            if self.solver != "auto":
                raise InvalidInput(f"{name} must go with solver={solver!r}; got solver={self.solver!r}.")
            # A parameter of one solver chooses that solver; only a checkpoint waits until auto has chosen.
            if name != "checkpoint":
                put("solver", solver)
        if self.device == "gpu":
            self._check_gpu()
            put("solver", "local")

    def _check_gpu(self) -> None:
        """Fail on what only the processor does."""
        if self.solver not in ("auto", "local"):
            raise InvalidInput(f"solver must be 'local' with device='gpu'; got {self.solver!r}.")
        for name in ("checkpoint", "decomposition"):
            if getattr(self, name) is not None:
                raise InvalidInput(f"{name} must not be given with device='gpu'; got one.")

    @classmethod
    def of(cls, **settings: Any) -> ScoreRequest:
        """Return the request with these settings; fail on one that `score` does not have."""
        names = [field.name for field in fields(cls)]
        for name in settings:
            check_word("keyword", name, names)
        return cls(**settings)
