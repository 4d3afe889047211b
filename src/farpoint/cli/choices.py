"""What was chosen for the user, in one line each: why these options, how often one is taken, whether they harm."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from farpoint.measures.harm import effect_of
from farpoint.options import OptionSet
from farpoint.report.names import METHOD_TITLES


def print_choice(console: Console, options: OptionSet) -> None:
    """Print which t and which of its local maxima were taken, and why."""
    if "choice" in options.record:
        console.print(Text(str(options.record["choice"]), style="dim"), soft_wrap=True)


def print_harm(console: Console, options: OptionSet, option_probability: float | None, seed: int) -> None:
    """Print a warning if an agent that acts at random needs more steps with the options than without."""
    if len(options) == 0:
        return
    effect = effect_of(options.world, options, option_probability=option_probability, seed=seed)
    if effect is None or not effect.harms:
        return
    chance = options.option_probability if option_probability is None else option_probability
    line = (
        f"warning: {METHOD_TITLES[options.method]} make things worse than none for an agent that takes an option with "
        f"probability {chance:.3g}: {effect.measure}, in the mean {effect.helped:,.0f}, without options "
        f"{effect.alone:,.0f}. Use more options, or a smaller probability."
    )
    console.print(Text(line, style="yellow"), soft_wrap=True)


def print_choices(console: Console, found: list[OptionSet], option_probability: float | None, seed: int) -> None:
    """Print how options were chosen, and a warning for each method whose options harm."""
    for options in found:
        print_choice(console, options)
    for options in found:
        print_harm(console, options, option_probability, seed)
