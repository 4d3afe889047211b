"""Experiments: a framework that runs them, one folder per suite, and the list of suites in `suites`."""
