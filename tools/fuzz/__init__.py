"""A fuzzer of everything public: calls, command lines and damaged files.

``make fuzz`` is the long run and ``test_fuzz.py`` a short one. The names are read from the package itself, so that a
new function, method, command or option is attacked without anyone adding it here. See `tools.fuzz.judging` for what
counts as a failure, and `tools.fuzz.values` for what is passed.
"""
