"""An experiment is one table or figure; a suite is a list of experiments that one command runs."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic

from farpoint.errors import InvalidInput, MissingExtra, check_word
from farpoint.paper.framework.claims import Claim
from farpoint.paper.framework.part import Arrays, Part
from farpoint.paper.framework.results import Results, ScaleT
from farpoint.report.tables import Row

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# A caption and its figure.
Captioned = tuple[str, "Figure"]


@dataclass(frozen=True)
class Experiment(Generic[ScaleT]):
    """Everything about one table or figure.

    Attributes
    ----------
    name : str
        For ``--only``, file names and links.
    title, place : str
        The heading of its section, and where it stands in the paper or what it measures.
    parts : function of a scale
        The parts that it needs.
    rows : function of the results, optional
        The rows of its table.
    figures : function of the results, optional
        Its figures with their captions.
    note : str
        A text for the page, in HTML.
    needs : mapping from module to package, optional
        Modules that must be importable, each with the package that ``pip install`` takes.
    optional : bool
        Whether it is left out, unless it is selected by name, where something that it needs is not installed.
    """

    name: str
    title: str
    place: str
    parts: Callable[[ScaleT], Sequence[Part]]
    rows: Callable[[Results[ScaleT]], Sequence[Row]] | None = None
    figures: Callable[[Results[ScaleT]], Sequence[Captioned]] | None = None
    note: str = ""
    needs: Mapping[str, str] = field(default_factory=dict)
    optional: bool = False

    @property
    def installed(self) -> bool:
        """Whether all that it needs is installed."""
        return not _missing(self.needs)


@dataclass(frozen=True)
class Summary:
    """One figure, one table and one note of a whole run.

    Attributes
    ----------
    figure : (caption, figure), optional
    rows : sequence of rows
        Written to one file, beside one file per experiment.
    note : str
        A text for the page, in HTML.
    """

    figure: Captioned | None = None
    rows: Sequence[Row] = ()
    note: str = ""


@dataclass(frozen=True)
class Suite(Generic[ScaleT]):
    """A list of experiments, the functions that compute their parts, and the claims that they check.

    Attributes
    ----------
    name : str
        Of the command and of the output files.
    title, lead : str
        Of the page; the lead is HTML, in which ``{n_runs}`` stands for that number of the scale that was run.
    experiments : sequence of Experiment
    kinds : mapping from kind to function
        A function takes ``n_jobs`` and the parameters of the part as keywords and returns a dictionary of arrays.
    full, quick : object
        How much work a whole run does, and a quick look.
    claims : sequence of Claim
    needs : mapping from module to package
        What every experiment of the suite needs, as in `Experiment`.
    summary : function of the results and the experiments, optional
        What there is to show of the whole run.

    Examples
    --------
    >>> import numpy as np
    >>> def double(n_jobs, number):
    ...     return {"doubled": np.array(2 * number)}
    >>> experiment = Experiment("two", "Twice two", "here", lambda scale: [Part.of("double", number=2)])
    >>> suite = Suite("numbers", "Numbers", "A lead.", [experiment], {"double": double}, full=None, quick=None)
    >>> suite.compute(Part.of("double", number=2))
    {'doubled': array(4)}
    """

    name: str
    title: str
    lead: str
    experiments: Sequence[Experiment[ScaleT]]
    kinds: Mapping[str, Callable[..., Arrays]]
    full: ScaleT
    quick: ScaleT
    claims: Sequence[Claim[ScaleT]] = ()
    needs: Mapping[str, str] = field(default_factory=dict)
    summary: Callable[[Results[ScaleT], Sequence[Experiment[ScaleT]]], Summary] | None = None

    def __post_init__(self) -> None:
        names = [experiment.name for experiment in self.experiments]
        if len(set(names)) != len(names):
            raise InvalidInput(f"experiments of suite {self.name} must have different names; got {', '.join(names)}.")
        for claim in self.claims:
            check_word(f"experiment of the claim {claim.text!r}", claim.experiment, names)

    def choose(self, names: Sequence[str] | None = None) -> list[Experiment[ScaleT]]:
        """Return the experiments of these names, in the order of the suite; None selects all that can run.

        Raises
        ------
        UnknownName
            If there is no experiment of one of these names.
        MissingExtra
            If a package that they need is not installed.
        """
        if names is None:
            chosen = [one for one in self.experiments if not one.optional or one.installed]
        else:
            known = [experiment.name for experiment in self.experiments]
            wanted = {check_word("section", name, known) for name in names}
            chosen = [experiment for experiment in self.experiments if experiment.name in wanted]
        needs = dict(self.needs)
        for experiment in chosen:
            needs.update(experiment.needs)
        missing = _missing(needs)
        if missing:
            packages = " ".join(f"'{package}'" for package in dict.fromkeys(missing.values()))
            raise MissingExtra(
                f"{', '.join(missing)} must be installed for the suite {self.name}. Run: pip install {packages}"
            )
        return chosen

    def compute(self, part: Part, n_jobs: int = -1) -> Arrays:
        """Return the arrays of a part."""
        return self.kinds[part.kind](n_jobs=n_jobs, **dict(part.params))


def _missing(needs: Mapping[str, str]) -> dict[str, str]:
    return {module: package for module, package in needs.items() if importlib.util.find_spec(module) is None}
