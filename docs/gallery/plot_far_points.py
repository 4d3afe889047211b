"""
Far points over the diffusion time
==================================

The score of 4Rooms at four diffusion times. Its local maxima, the far points, become fewer as t grows: first all
corners and doors, then the corners of rooms, then whole rooms.
"""

import matplotlib.pyplot as plt

import farpoint as fp

world = fp.four_rooms()
figure, panels = plt.subplots(2, 2, figsize=(8, 7), layout="constrained")
for axes, t in zip(panels.flat, (1, 4, 13, 50), strict=True):
    scores = fp.score(world, t=t)
    goals = fp.find_goals(world, scores)
    fp.report.draw_score(world, scores, goals, ax=axes, title=f"t = {t}: {len(goals)} goals")
plt.show()
