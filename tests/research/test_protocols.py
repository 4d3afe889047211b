"""Exploring by the protocol of others."""

from __future__ import annotations

from typing import Any

import pytest

import farpoint as fp
from farpoint.paper.framework import Results
from research.exploration.computation import KINDS
from research.exploration.places import make_place
from research.exploration.plan import Scale
from research.exploration.protocols import NEO_METHODS, NEO_PLACES, neo_part, neo_parts, neo_rows

TINY = Scale(n_runs=2, share=0.02)


def test_options_are_made_anew_as_rarely_as_in_the_protocol() -> None:
    for place in NEO_PLACES:
        n_states = make_place(place.world, 0).n_states
        assert place.n_steps == (125_000 if n_states < 1_000 else 250_000)
        assert place.remake_every is not None
        # Random mazes differ in size.
        assert abs(place.remake_every - max(1_000, 5 * n_states)) <= 0.03 * place.remake_every


def test_rows_are_what_explore_has_seen() -> None:
    place = NEO_PLACES[0]
    parts = {method: neo_part(place, method, TINY) for method in NEO_METHODS}
    assert set(parts.values()) <= set(neo_parts(TINY))
    arrays = {part: KINDS["explore"](n_jobs=1, **dict(part.params)) for part in parts.values()}
    rows = neo_rows(Results(TINY, arrays, {}), [place])
    assert [row["method"] for row in rows][:3] == ["diffusion options", "least known states", "NEO"]
    settings: dict[str, Any] = {"n_options": 4, "option_probability": 0.1, "remake_every": 2_440, "actions": "uniform"}
    for method, row in zip(NEO_METHODS, rows, strict=True):
        seen = [
            fp.explore(
                make_place(place.world, run), 2_500, method, max_episode_steps=500, seed=run, **settings
            ).n_states
            for run in range(2)
        ]
        assert getattr(row["seen at the end"], "value", None) == pytest.approx(sum(seen) / 2)
