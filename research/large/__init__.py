"""Worlds too large or too continuous to enumerate: scores, goals and options from samples."""

from research.large.suite import SUITE

__all__ = ["SUITE"]
