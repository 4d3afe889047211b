"""The command line of the suites that are not on the runner yet: ``python -m research.large --quick``."""

from __future__ import annotations

import argparse
import sys
from dataclasses import fields, replace
from pathlib import Path

from farpoint.cli.paper import run_study
from farpoint.errors import FarpointError, one_line
from farpoint.options.probability import exploring_option_probability
from farpoint.paper.page import Study


def main(suite: Study, words: list[str] | None = None) -> None:
    """Run a suite by the words of the command line; write its page, figures and tables."""
    parser = argparse.ArgumentParser(description=suite.title)
    parser.add_argument("--only", help="only these sections, comma-separated; a wrong name shows those that exist")
    parser.add_argument("--quick", action="store_true", help="far less work, for a first look")
    parser.add_argument("--jobs", type=int, default=-1, help="workers; -1 is one per core")
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for the page and the tables")
    by_agents = "option_probability" in {item.name for item in fields(suite.full)}
    if by_agents:
        parser.add_argument("--option-probability", type=float, help="how often a random decision is an option")
    given = vars(parser.parse_args(words))
    chance = given.pop("option_probability", None)
    try:
        if chance is not None:
            chance = exploring_option_probability(chance)
            full, quick = (replace(scale, option_probability=chance) for scale in (suite.full, suite.quick))
            suite = replace(suite, full=full, quick=quick)
        run_study(suite, **given)
    except FarpointError as error:
        sys.exit(f"research: {one_line(str(error))}")
