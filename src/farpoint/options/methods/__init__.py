"""The methods of discovery, one file each; `discover` finds them here by name."""

from collections.abc import Callable

from farpoint.options.methods.average import average_options
from farpoint.options.methods.betweenness import betweenness_options
from farpoint.options.methods.bottleneck import bottleneck_options
from farpoint.options.methods.cover import cover_options
from farpoint.options.methods.diffusion import diffusion_options
from farpoint.options.methods.eigen import eigenoptions
from farpoint.options.methods.farpoint import farpoint_options
from farpoint.options.methods.louvain import louvain_options
from farpoint.options.methods.request import DiscoveryRequest
from farpoint.options.methods.simple import no_options, random_options
from farpoint.options.methods.successor import successor_options
from farpoint.options.methods.visits import visits_options
from farpoint.options.option_set import OptionSet
from farpoint.worlds import World

METHODS: dict[str, Callable[[World, DiscoveryRequest], OptionSet]] = {
    "diffusion": diffusion_options,
    "farpoint": farpoint_options,
    "average": average_options,
    "eigen": eigenoptions,
    "cover": cover_options,
    "betweenness": betweenness_options,
    "bottleneck": bottleneck_options,
    "louvain": louvain_options,
    "successor": successor_options,
    "visits": visits_options,
    "random": random_options,
    "none": no_options,
}

__all__ = ["METHODS", "DiscoveryRequest"]
