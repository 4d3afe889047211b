"""Faults on purpose: calls of the operating system that fail, processes that are killed, several at once."""
