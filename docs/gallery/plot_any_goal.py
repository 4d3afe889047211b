"""
Any goal from a log
===================

A point moves freely through four rooms. From a log of its steps alone: the cells that it visits, their far points, and
the route of a policy from one of them to another.
"""

import matplotlib.pyplot as plt
import numpy as np

import farpoint as fp

env = fp.ContinuousMaze(start="random")
log = fp.envs.record_samples(env, 60_000, seed=0)
policy = fp.GoalPolicy.from_log(log, cell=0.4, radius=0.5)
options = policy.options(n_options=4, t=50)
first, last = options.goals[0], options.goals[policy.distance(options.goals[0], options.goals).argmax()]
route = policy.route(first, last)
figure, axes = plt.subplots(figsize=(6, 5), layout="constrained")
# Positions are (x, y) with y upwards; in this maze it points downwards.
axes.scatter(*policy.world.observations.T, c=np.log(fp.score(policy.world, t=50)), s=90)
axes.plot(*route.T, color="black", linewidth=5)
axes.plot(*route.T, color="white", linewidth=3)
axes.scatter(*options.goals.T, color="tab:red", edgecolors="white", marker="*", s=350, zorder=3)
axes.set_axis_off()
axes.invert_yaxis()
axes.set_aspect("equal")
plt.show()
