"""Long attacks on the package: fuzzing, kills, mutants. Not installed."""
