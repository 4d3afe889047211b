"""How often a random decision is an option, unless something else is asked for.

The paper's agent takes an option every second time and hardly looks around where it was brought: nearly best with all
the options of the paper, far from it with few options or in an environment. docs/choices.md has the table that the
default follows from.
"""

# What the paper's own measures and its learning keep.
PAPER_OPTION_PROBABILITY = 0.5
# Everything else.
DEFAULT_OPTION_PROBABILITY = 0.05
