"""Scores of every state from a sample of the states."""
