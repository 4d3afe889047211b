"""Options for the panels of the page, and the exact table beside them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.diffusion import difficulty
from farpoint.errors import FarpointError, InvalidInput, check_integer, check_word
from farpoint.measures import Compared, compare
from farpoint.options import METHODS, OptionSet, discover
from farpoint.options.probability import resolve_option_probability
from farpoint.report.figures import METHOD_COLORS, METHOD_TITLES
from farpoint.studio.protocol import MANY_STATES, MOST_TABLE_STATES, OPTIONS_OF_MANY
from farpoint.studio.worlds import Stage
from farpoint.worlds import World

_COVER_RUNS = 40
# A dense decomposition of this size takes a second.
_MOST_DIFFICULT = 400
MOST_ARROWS = 200_000


def method_list() -> list[dict[str, str]]:
    """Return the methods of this installation, with the title and color that they have everywhere.

    >>> method_list()[0]
    {'name': 'diffusion', 'title': 'diffusion options', 'color': '#0072b2'}
    """
    return [{"name": name, "title": METHOD_TITLES[name], "color": METHOD_COLORS[name]} for name in METHODS]


def n_options_of(world: World, method: str, wanted: object) -> int | None:
    """Return how many options to discover: as many as wanted, by default all; of very many states 20."""
    if method == "none":
        return None
    if wanted is None:
        # Of many states all would be thousands, and each option costs a search of the whole world.
        return OPTIONS_OF_MANY if world.n_states > MANY_STATES else None
    return min(check_integer("options", wanted, 1, 1_000), world.n_states)


def discover_options(
    world: World, method: str, t: int, n_options: int | None, min_prominence: float, keywords: dict[str, Any]
) -> OptionSet:
    """Return the options of a method; where a world has fewer than wanted, all of them.

    >>> import farpoint as fp
    >>> discover_options(fp.four_rooms(), "diffusion", 13, 40, 0.0, {})
    OptionSet(15 diffusion options on four_rooms, t=13)
    """
    check_word("method", method, METHODS)
    try:
        return discover(world, method, t=t, n_options=n_options, min_prominence=min_prominence, **keywords)
    except InvalidInput as error:
        if n_options is None or "n_options" not in str(error):
            raise
        return discover(world, method, t=t, min_prominence=min_prominence, **keywords)


def policy_arrows(stage: Stage, options: OptionSet, number: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the moves of an option's policy: from which state to which.

    >>> from farpoint.studio.worlds import make_stage
    >>> stage = make_stage({"kind": "text", "text": "S.."})
    >>> policy_arrows(stage, discover(stage.world), 0)
    (array([1, 2], dtype=int32), array([0, 1], dtype=int32))
    """
    world = stage.world
    if world.n_choices > MOST_ARROWS:
        raise InvalidInput(
            f"world must have at most {MOST_ARROWS:,} choices to show a policy; got {world.n_choices:,}."
        )
    taken = np.flatnonzero(options[number].choice_probabilities() > 0)
    owners = world.choice_states[taken]
    if stage.canvas is not None and not world.deterministic:
        # On a map the arrow shows where the agent wants to go, not where the wind takes it.
        assert world.positions is not None
        assert world.actions is not None
        places = world.positions
        state_at = np.full(places.max(axis=0) + 1, -1)
        state_at[tuple(places.T)] = np.arange(world.n_states)
        moves = np.array([[-1, 0], [0, -1], [0, 1], [1, 0]])[world.actions[taken]]
        leads = state_at[tuple((places[owners] + moves).T)]
    else:
        matrix = world.transitions
        leads = np.array(
            [
                matrix.indices[begin + int(matrix.data[begin:end].argmax())]
                for begin, end in zip(matrix.indptr[taken], matrix.indptr[taken + 1], strict=True)
            ]
        )
    return owners.astype(np.int32), leads.astype(np.int32)


def check_table(world: World) -> None:
    """Fail if a world is too large for the exact table."""
    if world.n_states > MOST_TABLE_STATES:
        raise InvalidInput(
            f"world must have at most {MOST_TABLE_STATES:,} states for the table; got {world.n_states:,}."
        )


def table_rows(
    world: World,
    sets: list[OptionSet],
    option_probability: float | None,
    progress: Callable[[dict[str, Any]], None] | None = None,
) -> dict[str, Any]:
    """Return the exact steps between states, the cover time and the world's difficulty, a row per set of options.

    >>> import farpoint as fp
    >>> world = fp.four_rooms()
    >>> table = table_rows(world, [fp.discover(world, t=4)], 0.5)
    >>> round(table["rows"][0]["median"]), table["sampled"]
    (149, None)
    """
    rows: list[dict[str, Any]] = []
    sampled = None

    def add(row: dict[str, Any]) -> None:
        rows.append(row)
        if progress is not None:
            progress(row)

    try:
        found = compare(
            world, sets, option_probability=option_probability, n_runs=_COVER_RUNS,
            progress=lambda row: add(_numbers(row)),
        )  # fmt: skip
        sampled = found.targets.size if found.sampled else None
    except FarpointError as error:
        # A world with one-way moves has no table; the rows say why.
        for options in sets[len(rows) :]:
            chance = resolve_option_probability(option_probability, options)
            add({**_head(options, chance), "problem": str(error)})
    hard = difficulty(world) if world.symmetric and world.n_states <= _MOST_DIFFICULT else None
    return {"rows": rows, "difficulty": hard, "sampled": sampled}


def _head(options: OptionSet, chance: float) -> dict[str, Any]:
    return {"method": options.method, "n_options": len(options), "probability": chance}


def _numbers(row: Compared) -> dict[str, Any]:
    """Return the numbers of one row of the table; no cover time where some walk did not end."""
    head = _head(row.options, row.option_probability)
    if row.steps is None or row.cover is None:
        first = row.first_target
        assert first is not None
        return {**head, "first": None if first.capped else first.value, "interval": str(first)}
    cover = None if row.cover.capped else row.cover.value
    return {**head, **{name: getattr(row.steps, name) for name in ("mean", "median", "worst")}, "cover": cover}
