"""Exploring from scratch: how many steps until a world has been seen, with every step counted."""
