"""
Far points of a continuous maze
===============================

A point moves freely through four rooms. From a log of its steps alone: a graph of representative places, its score, and
its far points.
"""

from dataclasses import replace

import matplotlib.pyplot as plt

import farpoint as fp

env = fp.ContinuousMaze(fp.four_rooms(), start="random")
log = fp.envs.record_samples(env, 30_000, seed=0)
world = fp.World.from_samples(log.observations, log.next_observations, n_states=250, neighbors="temporal")
# In this maze y points downwards, as rows do.
world = replace(world, positions=world.observations[:, ::-1])
scores = fp.score(world, t=4)
figure, axes = plt.subplots(figsize=(6, 5), layout="constrained")
fp.report.draw_score(world, scores, fp.find_goals(world, scores), ax=axes, title="")
plt.show()
