"""Benchmarks: speed as ratios, never asserted in tests."""
