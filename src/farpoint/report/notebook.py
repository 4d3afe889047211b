"""The picture of each class, and what a notebook shows of it: its facts as a table beside a small picture.

`farpoint.display.Plottable` finds this module by its name. A new class that draws itself registers one function in
`painted`, and one in `facts_of` if its notebook view has more than its text.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from farpoint.agents import LearningResult
from farpoint.agents.learning import EpisodicResult
from farpoint.diffusion import Goals, Scores
from farpoint.errors import FarpointError, InvalidInput
from farpoint.exploration import Exploration
from farpoint.exploration.scratch import ScratchLearning
from farpoint.measures import CoverTime, Estimate, StepsBetweenStates
from farpoint.options import OptionSet
from farpoint.report import results
from farpoint.report.figures import inline_image, png_of
from farpoint.report.plots import draw_score, draw_world
from farpoint.report.tables import cell_text, escaped
from farpoint.worlds import World

# Larger worlds are described in a notebook without a picture: it would take longer than a glance.
_MOST_STATES = 20_000
_SMALL = (3.0, 2.6)


class InlineFigure(Figure):
    """A figure that a notebook shows where it ends a cell, without a magic line and without pyplot."""

    def _repr_png_(self) -> bytes:
        return png_of(self)


@singledispatch
def painted(thing: Any, **look: Any) -> Figure:
    """Return the picture of something.

    >>> import farpoint as fp
    >>> figure = painted(fp.maze())
    """
    raise InvalidInput(f"thing must be something that has a picture; got {thing!r}.")


@painted.register
def _(thing: OptionSet, **look: Any) -> Figure:
    title = f"{thing.world.name}: {len(thing)} {thing.method} goals"
    return draw_world(thing.world, goals=thing.goals, **{"title": title, **_known(draw_world, look)})


@painted.register
def _(thing: Scores, **look: Any) -> Figure:
    world = _world_of(thing)
    title = f"{world.name}: $f_{{{thing.t:g}}}(s)$"
    known = _known(draw_score, look, "goals")
    return draw_score(world, thing, **{"title": title, "label": f"$f_{{{thing.t:g}}}(s)$", **known})


@painted.register
def _(thing: Goals, **look: Any) -> Figure:
    world = _world_of(thing)
    title = f"{world.name}: {len(thing)} goals"
    return draw_world(world, goals=thing.states, **{"title": title, **_known(draw_world, look)})


def _draws(function: Callable[..., Figure]) -> Callable[..., Figure]:
    """Return a function that draws with another one, and whose keywords are checked."""
    return lambda thing, **look: function(thing, **_known(function, look))


painted.register(World, _draws(draw_world))
painted.register(StepsBetweenStates, _draws(results.draw_steps))
painted.register(CoverTime, _draws(results.draw_cover_time))
painted.register(LearningResult, _draws(results.draw_learning))
painted.register(EpisodicResult, _draws(results.draw_episodes))
painted.register(Exploration, _draws(results.draw_coverage))


@painted.register
def _(thing: ScratchLearning, **look: Any) -> Figure:
    return painted(thing.exploration, **look)


def _known(function: Callable[..., Figure], look: dict[str, Any], *others: str) -> dict[str, Any]:
    """Return the keywords if the function has them; fail naming those that it has."""
    names = [*(name for name in function.__kwdefaults__ or {} if name != "goals"), *others]
    for name in look:
        if name not in names:
            raise InvalidInput(f"keyword must be one of {', '.join(names)}; got {name!r}.")
    return look


def _world_of(thing: Scores | Goals) -> World:
    if thing.world is None:
        raise InvalidInput(
            f"world must be known to draw {type(thing).__name__}; got none, as after a pickle. Use "
            "farpoint.report.draw_score(world, scores)."
        )
    return thing.world


@singledispatch
def facts_of(thing: Any) -> dict[str, Any]:
    """Return what the notebook view of something says beside its text.

    >>> import farpoint as fp
    >>> facts_of(fp.maze())["choices"]
    440
    """
    return {}


@facts_of.register
def _(thing: World) -> dict[str, Any]:
    facts: dict[str, Any] = {"states": thing.n_states, "choices": thing.n_choices}
    facts["moves"] = "certain" if thing.deterministic else "by chance"
    if thing.start is not None:
        facts["start"] = thing.start
    if thing.targets is not None:
        facts["targets"] = thing.targets.size
    if thing.restart is not None:
        facts["episodes"] = f"{int(thing.terminal.sum()):,} terminal states"
    if thing.notes:
        facts["notes"] = "; ".join(thing.notes)
    return facts


@facts_of.register
def _(thing: OptionSet) -> dict[str, Any]:
    plain = {name: value for name, value in thing.record.items() if isinstance(value, (str, int, float))}
    if "t" in plain:
        plain["t"] = f"{plain['t']:g}"
    return {"method": thing.method, "options": len(thing), **plain}


@facts_of.register
def _(thing: Scores) -> dict[str, Any]:
    facts: dict[str, Any] = {"states": thing.size, "t": f"{thing.t:g}", "solver": thing.solver, "reason": thing.reason}
    if thing.size:
        facts |= {"lowest": float(np.min(thing)), "highest": float(np.max(thing))}
    if thing.error_bound is not None:
        facts["largest error"] = float(thing.error_bound.max())
    return facts


@facts_of.register
def _(thing: Goals) -> dict[str, Any]:
    return {"goals": len(thing), "highest": float(thing.heights.max(initial=0.0))}


@facts_of.register
def _(thing: StepsBetweenStates) -> dict[str, Any]:
    names = ("median", "iqr", "mean", "std")
    return {"targets": thing.targets.size, **{name: getattr(thing, name) for name in names}}


@facts_of.register
def _(thing: CoverTime) -> dict[str, Any]:
    return {"walks": thing.walks.size, "mean": Estimate(thing.mean, thing.low, thing.high)}


@facts_of.register
def _(thing: LearningResult) -> dict[str, Any]:
    n_runs, n_targets, n_episodes = thing.curves.shape
    return {"runs": n_runs, "targets": n_targets, "episodes": n_episodes, "mean steps": thing.mean}


@facts_of.register
def _(thing: EpisodicResult) -> dict[str, Any]:
    first, near = float(np.median(thing.first_target)), float(np.median(thing.near_optimal))
    return {"runs": thing.first_target.size, "target first reached": first, "near-optimal": near}


@facts_of.register
def _(thing: Exploration) -> dict[str, Any]:
    return {"states seen": thing.n_states, "steps": thing.n_steps, "method": thing.settings.method}


@facts_of.register
def _(thing: ScratchLearning) -> dict[str, Any]:
    return {"first reward after": thing.first_reward, "near-optimal after": thing.near_optimal}


def html_of(thing: Any) -> str:
    """Return what a notebook shows: the name, a table of facts, and a small picture where that does not take long.

    >>> import farpoint as fp
    >>> html_of(fp.maze())[:41]
    "<div style='display:flex;gap:1em;align-it"
    """
    lines = [
        f"<tr><th style='text-align:left'>{escaped(name)}</th><td style='text-align:left'>{value}</td></tr>"
        for name, value in ((name, escaped(cell_text(value))) for name, value in facts_of(thing).items())
    ]
    table = f"<table style='margin:0'>{''.join(lines)}</table>" if lines else ""
    head = f"<b>{escaped(_name(thing))}</b>"
    picture = _small_picture(thing)
    return f"<div style='display:flex;gap:1em;align-items:flex-start'><div>{head}{table}</div>{picture}</div>"


def _name(thing: Any) -> str:
    text = repr(thing)
    return text if len(text) <= 120 else f"{text[:119]}…"


def _small_picture(thing: Any) -> str:
    # Of an object of a class that has no picture of its own size, and of one that cannot be drawn, only the facts.
    n_states: Any = getattr(getattr(thing, "world", thing), "n_states", 0)
    if n_states > _MOST_STATES:
        return ""
    try:
        figure = painted(thing, figsize=_SMALL, **({"title": ""} if isinstance(thing, _TITLED) else {}))
        return f"<img alt='{escaped(_name(thing))}' src='{inline_image(figure, dpi=80)}'>"
    except FarpointError:
        return ""


_TITLED = (World, OptionSet, Scores, Goals)
