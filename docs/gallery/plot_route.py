"""
An option, and a way along it
=============================

The policy of the option that leads farthest from the start of the Maze, and its route from there.
"""

import matplotlib.pyplot as plt

import farpoint as fp

world = fp.maze()
option = max(fp.discover(world, n_options=6), key=lambda option: option.route(world.start).size)
figure, panels = plt.subplots(1, 2, figsize=(10, 5), layout="constrained")
fp.report.draw_policy(option, ax=panels[0])
fp.report.draw_route(world, option.route(world.start), ax=panels[1])
plt.show()
