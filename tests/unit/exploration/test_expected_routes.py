"""Routes by expected steps; expected values were worked out by hand."""

from __future__ import annotations

import numpy as np

import farpoint as fp
from farpoint.worlds.state_index import StateIndex


def explorer_of(moves: list[tuple[int, int, int]], n_states: int, *, continuous: bool = True) -> fp.Explorer:
    """Return an explorer that has seen these moves; its states are one more than those given here."""
    points = np.empty((0, 1))
    index = StateIndex.nearest(points, scale=0.5, within=1.0) if continuous else StateIndex.exact()
    explorer = fp.Explorer(index, 2)
    states = explorer.begin([[float(state)] for state in range(n_states)])
    for before, action, after in moves:
        explorer.add([states[before]], [action], [[float(after)]], [False])
    assert explorer.n_states == n_states
    return explorer


def test_a_sure_way_is_better_than_a_lucky_one() -> None:
    # From 0, action 0 leads to the goal 3 once in four times and otherwise far back, to 4, whence it takes five steps;
    # action 1 leads there by 1 and 2. Tries alone would say 4 against 3 as well, so the way back is made to count:
    back = [(4, 0, 5), (5, 0, 6), (6, 0, 7), (7, 0, 0)]
    lucky = [(0, 0, 3), (0, 0, 4)]
    sure = [(0, 1, 1), (1, 0, 2), (2, 0, 3)]
    moves = [*lucky, *sure, *back]
    # V by luck = 1 + ½ (4 + V) = 6; by the sure way 3. The expected tries of luck are only 2.
    assert explorer_of(moves, 8).route_to(4)[1] == 1
    assert explorer_of(moves, 8, continuous=False).route_to(4)[1] == 0


def test_staying_is_solved_for() -> None:
    # Action 0 stays nine times of ten, action 1 takes eight sure steps: 10 against 8; with four of five, 5 against 8.
    chain = [(0, 1, 2), *((s, 1, s + 1) for s in range(2, 8)), (8, 1, 1)]
    for n_stays, action in ((9, 1), (4, 0)):
        moves = [(0, 0, 0)] * n_stays + [(0, 0, 1)]
        assert explorer_of([*moves, *chain], 9).route_to(2)[1] == action


def test_where_nothing_leads_to_the_goal_there_is_no_route() -> None:
    explorer = explorer_of([(0, 0, 1), (2, 0, 2)], 3)
    np.testing.assert_array_equal(explorer.route_to(2)[1:], [0, -1, -1])
    # One-way: from 1 nothing is known.
    np.testing.assert_array_equal(explorer.route_to(1)[1:], [-1, -1, -1])
