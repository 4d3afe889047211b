"""Environments that are too large to enumerate: stepped as they are."""

from __future__ import annotations

import pytest

from farpoint.paper.framework import Results
from research.exploration.computation import KINDS
from research.exploration.learning_pages import draw_learning
from research.exploration.plan import LARGE_ENVIRONMENTS, LEARNERS, Place, Scale

TINY = Scale(n_runs=1, share=0.0)


@pytest.mark.parametrize("place", LARGE_ENVIRONMENTS, ids=lambda place: place.name)
def test_a_large_environment_is_stepped(place: Place) -> None:
    parts = {method: place.learning_part(method, TINY) for method in LEARNERS}
    arrays = KINDS["learn"](n_jobs=1, **dict(parts["diffusion"].params))
    assert arrays["n_steps"].tolist() == [1_000]
    assert 20 < arrays["n_seen"][0] <= 1_000
    # Of these nobody knows what is near-optimal: the picture has its legend beside the other panel.
    figure = draw_learning(Results(TINY, dict.fromkeys(parts.values(), arrays), {}), [place])
    assert [axes.get_legend() is not None for axes in figure.axes] == [True, False]
