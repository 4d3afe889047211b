"""Eigenfunctions of a random walk as neural networks."""
