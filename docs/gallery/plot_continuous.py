"""
Far points of a continuous maze
===============================

A point moves freely through four rooms. From a log of its steps alone: a graph of representative places, its score, and
its far points.
"""

import matplotlib.pyplot as plt

import farpoint as fp

env = fp.ContinuousMaze(fp.four_rooms(), start="random")
log = fp.envs.record_samples(env, 30_000, seed=0)
world = fp.World.from_samples(log.observations, log.next_observations, n_states=250, neighbors="temporal")
scores = fp.score(world, t=4)
goals = fp.find_goals(world, scores).states
places = world.positions

figure, axes = plt.subplots(figsize=(5.5, 5), layout="constrained")
axes.plot(*log.observations[::20].T, ",", color="0.7")
points = axes.scatter(*places.T, c=scores, cmap="viridis", s=30)
axes.scatter(*places[goals].T, facecolors="none", edgecolors="crimson", s=120, linewidths=2)
figure.colorbar(points, ax=axes, label="score at t = 4")
axes.set_aspect("equal")
axes.axis("off")
