"""Discovery: from a world to its options, by any of the methods."""

from __future__ import annotations

from typing import Any

from farpoint.blas import one_blas_thread
from farpoint.diffusion import Walk
from farpoint.diffusion.scoring import DEFAULT_T, check_keywords
from farpoint.display import LOG
from farpoint.errors import InvalidInput, check_fraction, check_integer, check_jobs, check_time, check_word
from farpoint.options.methods import METHODS, DiscoveryRequest
from farpoint.options.option_set import OptionSet
from farpoint.worlds import WorldLike, as_world


@one_blas_thread()
def discover(
    world: WorldLike,
    method: str = "diffusion",
    *,
    t: float | None = None,
    n_options: int | None = None,
    seed: int = 0,
    min_prominence: float = 0.0,
    include_first: bool = True,
    option_probability: float | None = None,
    **scoring: Any,
) -> OptionSet:
    """Return options that were found without any reward.

    Parameters
    ----------
    world : World
    method : str
        ``"diffusion"``: Algorithm 1 of the paper (Algorithm 2 in worlds that are not symmetric): an option to each
        local maximum of the score f_t. ``"farpoint"``: to the goals with the fewest steps between states
        (docs/methods.md). ``"average"``: to the goals with the fewest decisions of an agent that plans. ``"eigen"``:
        options that climb eigenvectors of the normalized Laplacian. ``"cover"``: pairs of options between the ends of
        Fiedler vectors. ``"betweenness"``: to local maxima of betweenness. ``"bottleneck"``: across normalized cuts.
        ``"louvain"``: between neighboring communities. ``"successor"``: to centers of clusters of the successor
        representation. ``"visits"``: to states that best routes visit often. ``"random"``: to each of ``n_options``
        states drawn uniformly. ``"none"``: an empty set.
    t : float, optional
        Diffusion time. Default 4, as in the paper, or less if that has fewer local maxima than ``n_options``.
    n_options : int, optional
        How many. Diffusion: with ``t`` given, the most prominent of its local maxima. Without, what
        docs/choices.md measures to be best: the most prominent ones in a world with episodes, elsewhere the highest and
        those farthest from each other. Default: all of them, as in the paper, but of a world with episodes at most 20
        (all, with ``t`` given). The other methods: default as many as there are diffusion options.
    seed : int
        For the methods that draw.
    min_prominence : float
        As in `find_goals`.
    include_first : bool
        Whether eigenoptions begin with ±ψ₁ (the authors' protocol) or with ±ψ₂.
    option_probability : float, optional
        How often an agent will take one of the ``"farpoint"`` options. Default: chosen with them;
        ``options.option_probability`` says it.
    **scoring
        ``solver``, ``form``, ``tolerance``, ``checkpoint``, ``progress``, ``n_jobs`` and the others of `score`. A
        checkpoint and a file hold one score, so they need ``t``.

    Returns
    -------
    OptionSet
        Its ``record["choice"]`` says which t, which of the local maxima, and why, and whether they are those of an
        estimated score (``solver="probes"``); ``record["reason"]`` which solver and form.

    Raises
    ------
    InvalidInput
        More options than states, or than local maxima; a keyword that `score` does not have.

    Examples
    --------
    >>> import farpoint as fp
    >>> fp.discover(fp.maze(), t=13)
    OptionSet(14 diffusion options on maze, t=13)
    >>> options = fp.discover(fp.maze(), n_options=10)
    >>> options.record["choice"]
    't = 4, as in the paper; of its 19 local maxima the highest and those farthest from each other, 10 in all'
    >>> fp.discover(fp.maze(), "random", n_options=3, seed=7).goals
    array([ 91, 101, 137])
    >>> best = fp.discover(fp.maze(), "farpoint", n_options=10)
    >>> best.record["choice"]
    'the 10 goals with the least mean steps between states that exchanges found: 321.4'
    """
    world = as_world(world)
    check_word("method", method, METHODS)
    seed = check_integer("seed", seed, 0)
    request = DiscoveryRequest(
        t=DEFAULT_T if t is None else check_time(t),
        n_jobs=check_jobs(scoring.get("n_jobs", -1)),
        scoring={"seed": seed, **check_keywords(scoring)},
        t_given=t is not None,
        n_options=n_options,
        seed=seed,
        min_prominence=min_prominence,
        include_first=include_first,
        option_probability=None if option_probability is None else _check_probability(option_probability),
    )
    if n_options is not None:
        request.check_number(world)
        kept = [name for name in ("checkpoint", "out") if scoring.get(name) is not None]
        if kept and t is None:
            raise InvalidInput(f"{kept[0]} must go with t; got n_options alone, for which several t are looked at.")
    Walk.of(world)  # fails on a world without far points
    options = METHODS[method](world, request)
    LOG.info("%r: %s", options, options.record.get("choice", "as asked for"))
    return options


def _check_probability(value: float) -> float:
    chance = check_fraction("option_probability", value)
    if not 0.0 < chance < 1.0:
        raise InvalidInput(f"option_probability must be above 0 and below 1; got {value!r}.")
    return chance
