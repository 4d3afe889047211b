"""The suite on exploring from scratch: one experiment per place, learning, and tasks that come later."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from farpoint.paper.framework import Experiment, Suite, Summary
from research.exploration.computation import KINDS, TASK_STEPS
from research.exploration.coverage_pages import draw_places, place_figures, place_rows
from research.exploration.later_pages import later_rows
from research.exploration.learning_pages import LEARNING_CAPTION, draw_learning, learning_rows
from research.exploration.plan import (
    ENVIRONMENTS,
    FULL,
    LATER,
    N_OPTIONS,
    N_TASKS,
    QUICK,
    UNDER_WRAPPER,
    WORLDS,
    WRAPPED_PLACES,
    Place,
    Results,
    Scale,
)
from research.exploration.protocols import neo_parts, neo_rows

_PLACES = (*WORLDS, *ENVIRONMENTS)


def summarize(results: Results, experiments: Sequence[Experiment[Scale]]) -> Summary:
    """Return one figure and one table of all places that were explored."""
    names = {experiment.name for experiment in experiments}
    chosen = [place for place in _PLACES if place.name in names]
    if not chosen:
        return Summary()
    caption = (
        "Steps until 90 % of the states were seen, those of runs that did not get there counted with all their steps: "
        "interquartile means with 95 % intervals, each method with its own best option probability."
    )
    rows = [{"world": place.title, **row} for place in chosen for row in place_rows(results, place)]
    columns = dict.fromkeys(name for row in rows for name in row)
    return Summary(
        figure=(caption, draw_places(results, chosen)),
        rows=[{name: row.get(name, "") for name in columns} for row in rows],
    )


def _experiment(place: Place) -> Experiment[Scale]:
    layouts = f", {place.n_layouts} layouts or starts" if place.n_layouts > 1 else ""
    return Experiment(
        place.name,
        place.title,
        f"{place.n_steps:,} steps, episodes of {place.episode:,}{layouts}",
        parts=place.parts,
        rows=partial(place_rows, place=place),
        figures=partial(place_figures, place=place),
        needs=place.needs,
    )


LEARNING = Experiment[Scale](
    "learning",
    "Learning from scratch",
    "the target is the state farthest from the start; environments have a suite of their own",
    parts=lambda scale: [part for place in WORLDS for part in place.learning_parts(scale)],
    rows=lambda results: [{"world": place.title, **row} for place in WORLDS for row in learning_rows(results, place)],
    figures=lambda results: [(LEARNING_CAPTION, draw_learning(results, WORLDS))],
)


def _wrapped(name: str, places: tuple[Place, ...]) -> Experiment[Scale]:
    which = {"wrapper": "", "wrapper-worlds": ": more worlds", "wrapper-environments": ": more environments"}[name]
    return Experiment(
        name,
        f"An agent of its own under DiscoveringWrapper{which}",
        "tabular Q-learning (<code>fp.train_tabular</code>) that chooses among actions and slots as among any actions",
        parts=lambda scale: [part for place in places for part in place.wrapped_parts(scale)],
        rows=lambda results: [
            {"world": place.title, **row} for place in places for row in learning_rows(results, place, UNDER_WRAPPER)
        ],
        figures=lambda results: [(LEARNING_CAPTION, draw_learning(results, places, UNDER_WRAPPER))],
        needs={"minigrid": "farpoint[envs]"} if any(place.needs for place in places) else {},
        note=(
            "Stepped one by one in Python. The agent is not told which actions are possible; those that are not do "
            "nothing. Near-optimal is what its best primitive actions are worth, exactly."
        ),
    )


NEO_PROTOCOL = Experiment[Scale](
    "neo-protocol",
    "By the protocol of NEO",
    "125,000 or 250,000 steps; four options, made anew every max(1,000, 5 n) steps and taken with probability 0.1",
    parts=neo_parts,
    rows=neo_rows,
    note=(
        "Primitive actions are uniform here, for all methods. Paper: old options are kept beside the new ones, up to "
        "64, and climb an eigenvector. Here: four at a time, which take the shortest way known, for all methods alike; "
        "nothing is learned besides. The target plays no part."
    ),
)
WRAPPED = [_wrapped(name, places) for name, places in WRAPPED_PLACES.items()]
LATER_TASKS = Experiment[Scale](
    "later",
    "Tasks that come after one exploration",
    f"steps of {N_TASKS} random tasks together, at most {TASK_STEPS:,} each, after the steps of the exploration",
    parts=lambda scale: [part for place in LATER for part in place.later_parts(scale)],
    rows=later_rows,
    note=(
        "Diffusion and least known states explore as they do; the others are given the world that diffusion has seen. "
        "All have as many options as there are far points, each method with its own best option probability, and learn "
        "the same tasks by intra-option Q-learning in the world as it was seen. Ratios are taken run by run, for every "
        "method has the same tasks there."
    ),
)

SUITE = Suite(
    name="explore",
    title="Exploring from scratch",
    lead=(
        "Nothing is known beforehand; the agent can only step and reset, and every step counts. All methods run in "
        f"the same loop (<code>fp.explore</code>): {N_OPTIONS} options along moves that were seen, made anew as more "
        "is seen; {n_runs} runs each. They differ in where the options lead. Primitive actions are those tried "
        "least often so far, except in the last row, where they are uniform. The best option probability is the best "
        "of four for diffusion, least known states, NEO and random states, and of two for eigenoptions and cover "
        "options, on the runs that are shown. Environments are simulated; the agent is told nothing but which actions "
        "are possible where it stands."
    ),
    experiments=[*(_experiment(place) for place in _PLACES), NEO_PROTOCOL, LEARNING, *WRAPPED, LATER_TASKS],
    kinds=KINDS,
    full=FULL,
    quick=QUICK,
    summary=summarize,
)
