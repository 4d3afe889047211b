"""
The far points of a network
===========================

Zachary's karate club: members whose random walks take longest to forget where they began.
"""

import matplotlib.pyplot as plt
import networkx as nx

import farpoint as fp

club = nx.karate_club_graph()
world = fp.World.from_graph(club)
scores = fp.score(world, t=4)
goals = fp.find_goals(world, scores).states
places = nx.spring_layout(club, seed=3)

figure, axes = plt.subplots(figsize=(7, 5), layout="constrained")
nx.draw_networkx_edges(club, places, ax=axes, edge_color="0.8")
nodes = nx.draw_networkx_nodes(club, places, node_color=scores, cmap="viridis", node_size=160, ax=axes)
rings = nx.draw_networkx_nodes(club, places, nodelist=list(goals), node_color="none", node_size=230, ax=axes)
rings.set(edgecolor="crimson", linewidth=2.5)
figure.colorbar(nodes, ax=axes, label="score at t = 4")
axes.axis("off")
