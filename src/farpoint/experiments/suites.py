"""The suites that exist, each loaded when it is run.

This module imports nothing heavy, so that ``farpoint --help`` can list the suites.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from farpoint.errors import check_word

if TYPE_CHECKING:
    from farpoint.experiments.framework.suite import Suite


@dataclass(frozen=True)
class SuiteEntry:
    """Where a suite is, the help text of its command, and whether its scale has an ``option_probability``."""

    module: str
    help: str
    agents: bool = False


SUITES = {
    "paper": SuiteEntry(
        "farpoint.experiments.paper",
        "Reproduce the paper: every table and figure on one page. Continues where it was stopped.",
    ),
    "envs": SuiteEntry(
        "farpoint.experiments.exploration.environments",
        "Learn in Gymnasium environments from scratch, with options and without. Continues where it was stopped.",
        agents=True,
    ),
    "explore": SuiteEntry(
        "farpoint.experiments.exploration",
        "Compare ways to explore many worlds and environments from scratch. Continues where it was stopped.",
    ),
    "compare": SuiteEntry(
        "farpoint.experiments.comparison",
        "Rank all methods over many worlds, as performance profiles. Continues where it was stopped.",
    ),
    "large": SuiteEntry(
        "farpoint.experiments.large",
        "Scores, goals and options from samples of large and continuous worlds. Continues where it was stopped.",
        agents=True,
    ),
    "bench": SuiteEntry(
        "farpoint.experiments.bench",
        "Measure time and memory of the score against other programs, as ratios within one run.",
    ),
}


def load_suite(name: str) -> Suite[Any]:
    """Return the suite of this name.

    >>> load_suite("paper").experiments[0].title
    'The score and the stationary distribution'
    """
    suite: Suite[Any] = importlib.import_module(SUITES[check_word("suite", name, SUITES)].module).SUITE
    return suite
