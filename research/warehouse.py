"""A warehouse as a user might write it: fetch a box, two rooms further bring it to a shelf."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

# 12 × 12 cells, three rooms with doors of one cell; start S, box B, shelf G.
MAP = (
    "##############",
    "#S..#...B#...#",
    "#...#....#...#",
    "#...#....#...#",
    "#...#....#...#",
    "#...#....#...#",
    "#...#....#...#",
    "#...#........#",
    "#...#....#...#",
    "#...#....#...#",
    "#...#....#...#",
    "#...#....#...#",
    "#........#..G#",
    "##############",
)
MOVES = ((-1, 0), (0, 1), (1, 0), (0, -1))
TAKE, PUT = 4, 5
SLIP = 0.1
EPISODE = 200
Cell = tuple[int, int]


def place_of(letter: str) -> Cell:
    """The cell of a letter on the map."""
    ((row, column),) = ((row, line.index(letter)) for row, line in enumerate(MAP) if letter in line)
    return row, column


START, BOX, SHELF = map(place_of, "SBG")


def moved(cell: Cell, move: int) -> Cell:
    """The cell after a move; walls hold."""
    row, column = cell[0] + MOVES[move][0], cell[1] + MOVES[move][1]
    return cell if MAP[row][column] == "#" else (row, column)


class Warehouse(gym.Env[Any, Any]):
    """Four moves, which slip to a side with probability 0.1; take the box where it stands; put it on the shelf.

    Delivery gives the only reward and ends the episode. ``box`` is 1 while the box stands in its place.
    """

    def __init__(self) -> None:
        self.observation_space = gym.spaces.Dict(
            {name: gym.spaces.Discrete(n) for name, n in (("row", 14), ("col", 14), ("carrying", 2), ("box", 2))}
        )
        self.action_space = gym.spaces.Discrete(6)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[dict[str, int], dict[str, Any]]:
        """Begin at the start, with the box in its place."""
        super().reset(seed=seed)
        self.cell, self.carrying = START, False
        return self.observe(), {}

    def observe(self) -> dict[str, int]:
        """Return where the agent is, and where the box."""
        return {"row": self.cell[0], "col": self.cell[1], "carrying": int(self.carrying), "box": int(not self.carrying)}

    def step(self, action: int) -> tuple[dict[str, int], float, bool, bool, dict[str, Any]]:
        """Move, take the box or put it down."""
        delivered = action == PUT and self.carrying and self.cell == SHELF
        if action == TAKE:
            self.carrying |= self.cell == BOX
        elif action < TAKE:
            if self.np_random.random() < SLIP:
                action = (action + (1 if self.np_random.random() < 0.5 else 3)) % 4
            self.cell = moved(self.cell, int(action))
        return self.observe(), float(delivered), bool(delivered), False, {}


def warehouse() -> gym.Env[Any, Any]:
    """The warehouse with episodes of 200 steps."""
    return gym.wrappers.TimeLimit(Warehouse(), EPISODE)


def states() -> list[tuple[Cell, bool]]:
    """Every cell, without and with the box."""
    floor = [(row, column) for row, line in enumerate(MAP) for column, letter in enumerate(line) if letter != "#"]
    return [(cell, carrying) for carrying in (False, True) for cell in floor]


def outcomes(cell: Cell, carrying: bool, action: int) -> list[tuple[float, Cell, bool]]:
    """The chances, cells and loads that an action leads to, where it delivers nothing."""
    if action >= TAKE:
        return [(1.0, cell, carrying or (action == TAKE and cell == BOX))]
    chances = ((1 - SLIP, action), (SLIP / 2, (action + 1) % 4), (SLIP / 2, (action + 3) % 4))
    return [(chance, moved(cell, move), carrying) for chance, move in chances]


def value_of(actions: dict[tuple[Cell, bool], list[int]] | None, gamma: float) -> float:
    """The mean discounted reward of an episode from the start; ``actions``: those taken alike; None: the best ones.

    A state that is not named takes all actions alike. By backward induction over the 200 steps, exactly.
    """
    every = states()
    number = {state: place for place, state in enumerate(every)}
    # One array of chances per action, and its mean reward.
    moves, rewards = np.zeros((6, len(every), len(every))), np.zeros((6, len(every)))
    for (cell, carrying), place in number.items():
        for action in range(6):
            if action == PUT and carrying and cell == SHELF:
                rewards[action, place] = 1.0
                continue
            for chance, there, loaded in outcomes(cell, carrying, action):
                moves[action, place, number[there, loaded]] += chance
    share = np.full((6, len(every)), 1 / 6)
    for state, taken in (actions or {}).items():
        share[:, number[state]] = np.isin(np.arange(6), taken) / len(taken)
    value = np.zeros(len(every))
    for _ in range(EPISODE):
        of_actions = rewards + gamma * moves @ value
        value = of_actions.max(axis=0) if actions is None else (share * of_actions).sum(axis=0)
    return float(value[number[START, False]])
