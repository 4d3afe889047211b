"""The paper as data, the loop that computes it, and what is claimed about it."""
