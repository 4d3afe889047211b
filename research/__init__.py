"""Research: suites and speed. Not installed; every table is one CSV in ``research/results/``, which the pages show."""
