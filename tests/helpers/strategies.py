"""What hypothesis draws worlds from."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.sparse import csr_array

import farpoint as fp
from farpoint.worlds.state_index import state_key


@st.composite
def connected_weights(draw: st.DrawFn, most: int = 60, weighted: bool = True) -> NDArray[np.float64]:
    """The symmetric weights of a connected graph: a random tree and some more edges."""
    n = draw(st.integers(2, most))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    weights = np.zeros((n, n))
    for node in range(1, n):
        weights[node, rng.integers(node)] = 1.0
    more = draw(st.integers(0, 3 * n))
    ends = rng.integers(n, size=(more, 2))
    weights[ends[:, 0], ends[:, 1]] = 1.0
    if weighted and draw(st.booleans()):
        weights *= rng.uniform(0.01, 10.0, size=weights.shape)
    weights = weights + weights.T
    np.fill_diagonal(weights, 0.0)
    return weights


def labels(state: int) -> st.SearchStrategy[Any]:
    """Every kind of label; those of different states differ."""
    kinds = [state, f"{state} é\n", (state, "a"), (state, (None, True)), b"%d" % state, frozenset({state, -1})]
    return st.sampled_from([*kinds, ("end", state), state_key(np.full((5, 5), state)), state + 10**30])


@st.composite
def worlds(draw: st.DrawFn, most: int = 12) -> fp.World:
    """A map or a table of choices, with any of the fields that a world may have."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    if draw(st.booleans()):
        shape = draw(st.integers(1, most)), draw(st.integers(1, most))
        cells = rng.random(shape) < 0.8
        cells[0, 0] = True
        world, table = fp.World.from_array(cells, largest_component=True), None
        n_states = world.n_states
    else:
        n_states = draw(st.integers(1, most))
        choice_ptr = np.concatenate([[0], np.cumsum(rng.integers(0, 4, n_states))])
        n_choices = int(choice_ptr[-1])
        chances = rng.random((n_choices, n_states)) * (rng.random((n_choices, n_states)) < 0.4)
        chances[np.arange(n_choices), rng.integers(n_states, size=n_choices)] += 1.0
        table = csr_array(chances / chances.sum(axis=1, keepdims=True)), choice_ptr
    one_per_state = {
        "start": st.just(int(rng.integers(n_states))),
        "targets": st.just(rng.choice(n_states, rng.integers(1, n_states + 1), replace=False)),
        "labels": st.tuples(*map(labels, range(n_states))),
        "positions": st.sampled_from([rng.integers(-5, 99, (n_states, 2)), rng.normal(size=(n_states, 3))]),
        "observations": st.just(rng.normal(size=(n_states, 2))),
        "keyed_by": st.sampled_from(["table", "minigrid"]),
        "notes": st.sampled_from([("kept all",), ("left out 1 step", "naïve")]),
        "name": st.text(max_size=5),
    }
    facts: dict[str, Any] = draw(st.fixed_dictionaries({}, optional=one_per_state))
    if draw(st.booleans()):
        # In a state without choices every episode ends.
        stuck = np.zeros(n_states, dtype=bool) if table is None else np.diff(table[1]) == 0
        facts |= {"restart": np.where(stuck, 1.0, rng.random(n_states)), "starts": np.full(n_states, 1.0 / n_states)}
    if table is None:
        return replace(world, **facts)
    for name in ("weights", "lengths"):
        if draw(st.booleans()):
            facts[name] = rng.uniform(0.1, 9.0, n_choices)
    if draw(st.booleans()):
        facts["actions"] = rng.permutation(n_choices + 5)[:n_choices]
    return fp.World.from_matrix(*table, **facts)
