"""Eigenvalues and eigenvectors of the lazy random walk."""
