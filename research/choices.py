"""What `discover` and the agents choose by default, against the other choices: the tables of docs/choices.md.

choices-worlds, choices-goals: exact mean steps between states. choices-environments: random agents in Gymnasium
environments. choices-unseen: the defaults on layouts that nothing was chosen on. choices-agents: how `train_tabular`
may act and learn.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import gymnasium as gym
import numpy as np

import farpoint as fp
from farpoint.measures import first_visits
from farpoint.options.methods.diffusion import MOST_BY_DEFAULT
from farpoint.options.methods.spread import farthest_first
from research.exploration.places import make_env, make_place
from research.exploration.plan import WRAPPED_PLACES
from research.exploration.wrapped import learned_under_wrapper
from research.runner import Part, Row, Table, main

PROBABILITIES = (0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002)
SHOWN_PROBABILITIES = (0.5, 0.1, 0.05, 0.02)
NUMBERS = (6, 10, 16)
LARGEST_TIMES = (1000, 512, 256, 128, 64, 32, 16, 8, 4, 2, 1)
MOST_STEPS = 300_000
N_RUNS = 20
LAYOUTS = range(5)
# The rules were chosen while looking at the layouts above; these were looked at only afterwards.
UNSEEN_LAYOUTS = range(5, 10)
POLAR_STATES = 2_500
MINIGRID = ("MiniGrid-FourRooms-v0", "MiniGrid-DoorKey-8x8-v0", "MiniGrid-MultiRoom-N4-S5-v0")
ENVIRONMENTS: dict[str, tuple[str, dict[str, Any], range]] = {
    "FrozenLake 8x8": ("FrozenLake8x8-v1", {"is_slippery": False}, range(1)),
    "FrozenLake 8x8, slippery": ("FrozenLake8x8-v1", {"is_slippery": True}, range(1)),
    "CliffWalking": ("CliffWalking-v1", {}, range(1)),
    "Taxi": ("Taxi-v4", {}, range(1)),
    "DoorKey-6x6": ("MiniGrid-DoorKey-6x6-v0", {}, range(3, 4)),
    "KeyCorridorS3R1": ("MiniGrid-KeyCorridorS3R1-v0", {}, range(3, 4)),
    "MultiRoom-N2-S4": ("MiniGrid-MultiRoom-N2-S4-v0", {}, range(3, 4)),
    "FourRooms": (MINIGRID[0], {}, LAYOUTS),
    "DoorKey-8x8": (MINIGRID[1], {}, LAYOUTS),
    "MultiRoom-N4-S5": (MINIGRID[2], {}, LAYOUTS),
}
UNSEEN = ("FourRooms", "DoorKey-8x8", "MultiRoom-N4-S5")
VARIANTS = (
    "none", "default", "p = 0.5", "p = 0.1", "p = 0.05", "p = 0.02", "5 options", "20 options", "40 options", "polar",
    "walk", "symmetrized", "spread", "random",
)  # fmt: skip
# Worlds and environments of each kind: rooms, a maze, one-way moves, noise, several layouts.
AGENT_PLACES = ("4rooms", "maze", "ring", "rooms25", "ninerooms", "cliff", "multiroom2", "corridor")
AGENT_STEPS = 30_000
AGENT_WAYS = (
    ("uniform", 0, 0.0), ("uniform", 1, 0.0), ("least tried", 0, 0.0), ("least tried", 1, 0.0), ("least tried", 3, 0.0),
    ("least tried", 1, 0.2),
)  # fmt: skip
PLACES = WRAPPED_PLACES


def eight_rooms() -> fp.World:
    """A map of 25 × 40 cells: two rows of four rooms with a door each."""
    cells = np.full((27, 42), "#")
    cells[1:-1, 1:-1] = "."
    cells[13, :] = "#"
    cells[:, [10, 20, 30]] = "#"
    cells[6, [10, 20, 30]] = cells[19, [10, 20, 30]] = cells[13, [5, 25, 36]] = "."
    return fp.World.from_map("\n".join("".join(row) for row in cells))


WORLDS: dict[str, Callable[[], fp.World]] = {
    "4Rooms": fp.four_rooms,
    "Maze": fp.maze,
    "Ring": fp.ring,
    "4Rooms, wind 1/3": lambda: fp.four_rooms(wind=1 / 3),
    "eight rooms": eight_rooms,
    "random_maze(20, 20)": lambda: fp.random_maze(20, 20, seed=1),
    "random_maze(30, 30)": lambda: fp.random_maze(30, 30, wall=0.35, seed=7),
}


def mean_steps(world: fp.World, options: fp.OptionSet | None, chance: float) -> float:
    n_targets = None if world.n_states <= 200 else 30
    return fp.steps_between_states(
        world, options, option_probability=chance, n_targets=n_targets, seed=1, n_jobs=1
    ).mean  # fmt: skip


def measure_probabilities(world: str, goals: str, n_options: int | None) -> list[Row]:
    """Return mean steps by the usual probability and by constants; as many options as asked for, or all."""
    made = WORLDS[world]()
    everything = len(fp.discover(made, t=4))
    options = fp.discover(made, goals, n_options=min(n_options or everything, everything))
    usual = options.option_probability
    return [
        {"n_found": len(options), "usual": chance == usual, "p": chance, "steps": mean_steps(made, options, chance)}
        for chance in (*PROBABILITIES, usual)
    ]


def parts_of_probabilities(quick: bool) -> Iterator[Part]:
    for world in list(WORLDS)[: 2 if quick else None]:
        for number in (6, 10, None):
            yield from ({"world": world, "goals": goals, "n_options": number} for goals in ("diffusion", "random"))


def measure_goals(world: str, n_options: int) -> Row:
    """Return mean steps with the goals that each way chooses, each with its usual probability."""
    made = WORLDS[world]()
    found: Row = {"none": mean_steps(made, None, 0.0)}
    for way, states in ways_to_choose(made, n_options):
        options = fp.OptionSet(made, np.asarray(states), "chosen")
        found[way] = mean_steps(made, options, options.option_probability)
    return found


def ways_to_choose(world: fp.World, number: int) -> Iterator[tuple[str, Any]]:
    """Yield the goals that ``number`` of local maxima could be."""
    at_4 = fp.find_goals(world, fp.score(world, 4))
    yield "t = 4, spread", farthest_first(world, at_4, number).states
    yield "t = 4, prominent", at_4.most_prominent(number).states
    yield "t = 4, highest", at_4.states[:number]
    form = "auto" if world.symmetric else "symmetrized"
    for t in LARGEST_TIMES:
        found = fp.find_goals(world, fp.score(world, t, form=form))
        if len(found) >= number:
            yield "largest t", found.most_prominent(number).states
            break
    yield "random", fp.discover(world, "random", n_options=number).goals


def parts_of_goals(quick: bool) -> Iterator[Part]:
    for name in list(WORLDS)[: 2 if quick else None]:
        most = len(fp.discover(WORLDS[name](), t=4))
        yield from ({"world": name, "n_options": number} for number in NUMBERS if number <= most)


@cache
def environment(name: str, layout: int) -> fp.World:
    """Return the world of an environment, enumerated once in a process."""
    env_id, settings, _ = ENVIRONMENTS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        env = make_env(env_id) if env_id.startswith("MiniGrid") else gym.make(env_id, **settings)
        return fp.World.from_env(env, seed=layout)


def measure_environment(environment_name: str, layout: int, defaults: bool) -> list[Row]:
    """Return the steps of random agents until a target is first reached, for each run and variant, or two of them."""
    world = environment(environment_name, layout)
    rows: list[Row] = []
    for variant, options, chance in ways_to_act(world):
        if defaults and variant not in ("none", "default"):
            break
        visits = first_visits(world, options, option_probability=chance, n_steps=MOST_STEPS, n_runs=N_RUNS, n_jobs=1)
        for run, steps in enumerate(visits[:, world.targets].min(axis=1)):
            rows.append({"variant": variant, "run": run, "steps": float(steps) if steps <= MOST_STEPS else None})
    return rows


def ways_to_act(world: fp.World) -> Iterator[tuple[str, fp.OptionSet | None, float | None]]:
    """Yield what could be chosen: a name, the options, and the probability (None: the usual one)."""
    everything = len(fp.discover(world, t=4))

    def found(number: int, **settings: Any) -> fp.OptionSet:
        return fp.discover(world, n_options=min(number, everything), **settings)

    ten = found(10)
    yield "none", None, None
    yield "default", ten, None
    for chance in SHOWN_PROBABILITIES:
        yield f"p = {chance:g}", ten, chance
    for number in (5, MOST_BY_DEFAULT, 40):
        yield f"{number} options", found(number), None
    for form, solver in (("polar", "spectral"), ("walk", "local"), ("symmetrized", "auto")):
        if form == "polar" and world.n_states > POLAR_STATES:
            continue
        scores = fp.score(world, 4, form=form, solver=solver)
        every = fp.find_goals(world, scores)
        every = every.where(~world.terminal[every.states])
        chosen = every.most_prominent(min(10, len(every)))
        yield form, fp.OptionSet(world, chosen.states, form), None
        if form == ten.record["form"]:
            spread = farthest_first(world, every, min(10, len(every)))
            yield "spread", fp.OptionSet(world, spread.states, "spread"), None
    yield "random", fp.discover(world, "random", n_options=len(ten)), None


def parts_of_environments(quick: bool) -> Iterator[Part]:
    for name, (_, _, layouts) in list(ENVIRONMENTS.items())[: 2 if quick else None]:
        for layout in layouts:
            yield {"environment_name": name, "layout": layout, "defaults": False}


def parts_of_unseen(quick: bool) -> Iterator[Part]:
    for name in UNSEEN[: 1 if quick else None]:
        for layout in UNSEEN_LAYOUTS[: 1 if quick else None]:
            yield {"environment_name": name, "layout": layout, "defaults": True}


def measure_agent(place: str, actions: str, replay: int, exploring: float, seed: int) -> Row:
    """Return the steps until `train_tabular` is near-optimal under `DiscoveringWrapper`."""
    where = PLACES[place]
    layout = seed % where.n_layouts
    found = learned_under_wrapper(
        make_place(where.world, layout), method="diffusion", probability=0.05, n_options=5, n_steps=AGENT_STEPS,
        episode=where.episode or 0, seed=seed, actions=actions, replay=replay, exploring_episodes=exploring,
    )  # fmt: skip
    return {"layout": layout, "limit": AGENT_STEPS, "near_optimal": found["near_optimal"]}


def parts_of_agents(quick: bool) -> Iterator[Part]:
    for place in AGENT_PLACES[: 1 if quick else None]:
        for actions, replay, exploring in AGENT_WAYS:
            for seed in range(2 if quick else N_RUNS):
                yield {"place": place, "actions": actions, "replay": replay, "exploring": exploring, "seed": seed}


TABLES = (
    Table("choices-worlds", measure_probabilities, parts_of_probabilities),
    Table("choices-goals", measure_goals, parts_of_goals),
    Table("choices-environments", measure_environment, parts_of_environments),
    Table("choices-unseen", measure_environment, parts_of_unseen),
    Table("choices-agents", measure_agent, parts_of_agents),
)

if __name__ == "__main__":
    main("research.choices")
