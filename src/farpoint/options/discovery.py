"""Discovery: from a world to its options, by any of the methods."""

from __future__ import annotations

from typing import Any

from farpoint.blas import one_blas_thread
from farpoint.diffusion import ScoreRequest, Walk
from farpoint.diffusion.scores.request import DEFAULT_T
from farpoint.display.progress import LOG
from farpoint.errors import InvalidInput, check_integer, check_word
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
    **scoring: Any,
) -> OptionSet:
    """Return options that were found without any reward.

    Parameters
    ----------
    world : World
    method : {"diffusion", "eigen", "cover", "random", "none"}
        ``"diffusion"``: Algorithm 1 of the paper (Algorithm 2 in worlds that are not symmetric): an option to each
        local maximum of the score f_t. ``"eigen"``: options that climb eigenvectors of the normalized Laplacian.
        ``"cover"``: pairs of options between the ends of Fiedler vectors. ``"random"``: an option to each of
        ``n_options`` states drawn uniformly. ``"none"``: an empty set.
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
    **scoring
        ``solver``, ``form``, ``tolerance``, ``checkpoint``, ``progress``, ``n_jobs`` and the others of `score`. A
        checkpoint holds one score, so it needs ``t``.

    Returns
    -------
    OptionSet
        Its ``record["choice"]`` says which t, which of the local maxima, and why; ``record["reason"]`` which solver and
        form.

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
    """
    world = as_world(world)
    check_word("method", method, METHODS)
    Walk.of(world)  # fails on a world without far points
    seed = check_integer("seed", seed, 0)
    request = DiscoveryRequest(
        ScoreRequest.of(t=DEFAULT_T if t is None else t, seed=seed, **scoring),
        t is not None,
        n_options,
        seed,
        min_prominence,
        include_first,
    )
    request.check_number(world)
    if request.scoring.checkpoint is not None and t is None and n_options is not None:
        raise InvalidInput("checkpoint must go with t; got n_options alone, for which several t are looked at.")
    options = METHODS[method](world, request)
    LOG.info("%r: %s", options, options.record.get("choice", "as asked for"))
    return options
