"""What all suites of experiments share: parts, suites, claims, the runner, the store and the report."""

from farpoint.experiments.framework.claims import Claim, judge
from farpoint.experiments.framework.part import Arrays, Part
from farpoint.experiments.framework.results import Results
from farpoint.experiments.framework.runner import run
from farpoint.experiments.framework.store import Store, code_version
from farpoint.experiments.framework.suite import Captioned, Experiment, Suite, Summary

__all__ = [
    "Arrays",
    "Captioned",
    "Claim",
    "Experiment",
    "Part",
    "Results",
    "Store",
    "Suite",
    "Summary",
    "code_version",
    "judge",
    "run",
]
