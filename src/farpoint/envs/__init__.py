"""Gymnasium: options as actions, recording, and environments of our own."""
