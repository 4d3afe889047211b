"""
Far points over the diffusion time
==================================

The score of 4Rooms at four diffusion times. Its local maxima, the far points, become fewer as t grows: first all
corners and doors, then the corners of rooms, then whole rooms.
"""

import farpoint as fp

world = fp.four_rooms()
scores = {t: fp.score(world, t=t) for t in (1, 4, 13, 50)}
goals = {t: fp.find_goals(world, score) for t, score in scores.items()}
figure = fp.report.draw_score_over_t(world, scores, goals)
