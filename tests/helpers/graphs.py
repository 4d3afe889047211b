"""Worlds that several tests use."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import numpy as np

import farpoint as fp


def cylinder(n_around: int, n_long: int) -> fp.World:
    """A grid whose rows are closed to circles; state = place around × n_long + place along."""
    return fp.World.from_graph(nx.cartesian_product(nx.cycle_graph(n_around), nx.path_graph(n_long)))


def without_map(world: fp.World) -> fp.World:
    """The same graph without its positions, so that no solver knows that it is a map."""
    return fp.World.from_graph(world.adjacency)


def directed_graph(seed: int, n: int = 60) -> fp.World:
    """A graph of random one-way edges around a one-way circle: every state can be reached."""
    rng = np.random.default_rng(seed)
    weights = (rng.random((n, n)) < 0.06) * rng.random((n, n))
    weights[np.arange(n), (np.arange(n) + 1) % n] = 1.0
    return fp.World.from_graph(weights)


def with_episodes(world: fp.World, *, terminal: int = 3, n_starts: int = 5, seed: int = 0) -> fp.World:
    """The same moves with episodes: some states always end them, the others now and then."""
    rng = np.random.default_rng(seed)
    restart = rng.uniform(0.0, 0.2, world.n_states)
    restart[rng.choice(world.n_states, terminal, replace=False)] = 1.0
    starts = np.zeros(world.n_states)
    starts[rng.choice(np.flatnonzero(restart < 1.0), n_starts, replace=False)] = rng.uniform(0.5, 1.0, n_starts)
    return replace(world, restart=restart, starts=starts / starts.sum())


def spider(n_legs: int, length: int) -> fp.World:
    """Paths of one length that meet in state 0: by symmetry most eigenvalues are repeated n_legs − 1 times."""
    n = n_legs * length + 1
    weights = np.zeros((n, n))
    for leg in range(n_legs):
        states = [0, *range(1 + leg * length, 1 + (leg + 1) * length)]
        weights[states[:-1], states[1:]] = 1.0
    return fp.World.from_graph(weights + weights.T)
