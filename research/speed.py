"""Time and memory of the score against other programs: the tables of docs/scale.md.

Every measurement is made in a fresh process, and all in one run: machines differ, so compare the ratios.
"""

from __future__ import annotations

import os
import resource
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass
from multiprocessing import get_context

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.sparse import csr_matrix

from farpoint.diffusion import find_goals, lazy_walk, normalized_laplacian, score, stationary
from farpoint.diffusion.maps import LARGEST_UNROLLED
from farpoint.worlds import World, open_room, random_maze
from research.runner import Part, Row, Table, main

# The t at which programs are compared over sizes.
T = 4
SIDES = (37, 68, 116, 366, 1158, 3661)
SIZE_PEERS = ("farpoint", "powers", "eigh", "pygsp", "simpleoptions")
TIMES = (1, 2, 4, 8, 13, 30, 60, 100)
TIMES_SIDE = 366
TIME_PEERS = ("farpoint", "thousandth", "probes", "powers")
GOALS_SIDE = 3163
TWO_TIMES_SIDE = 1000
ROOM_SIDE = 45
# The share of the free memory that a program may need.
_SHARE_OF_MEMORY = 0.6
# A series ends before a measurement that should take longer than this, by the growth of the two before it.
_LONGEST_SECONDS = 90.0
# Shorter runs are measured several times.
_SHORT_SECONDS = 2.0
_REPEATS = 3
# Of a map that is scored by the loops of large ones.
_LARGE_SIDE = 600
_COLUMNS_AT_ONCE = 256

Scorer = Callable[[World, int], NDArray[np.float64]]


@dataclass(frozen=True)
class Peer:
    """A way to score all states.

    Attributes
    ----------
    name, title : str
    run : function of a world and t
    bytes_of : function of the number of states
        Roughly the memory that it needs, so that it is not run on worlds that are too large for it.
    exact : bool
        Whether it computes f_t up to rounding.
    power : float
        Its time grows at least like n^``power``.
    """

    name: str
    title: str
    run: Scorer
    bytes_of: Callable[[int], float]
    exact: bool
    power: float = 1.0


def _exact(world: World, t: int) -> NDArray[np.float64]:
    return np.asarray(score(world, t, "local"))


def _to_a_thousandth(world: World, t: int) -> NDArray[np.float64]:
    return np.asarray(score(world, t, "local", tolerance=1e-3))


def _probes(world: World, t: int) -> NDArray[np.float64]:
    return np.asarray(score(world, t, "probes"))


def dense_eigh(world: World, t: int) -> NDArray[np.float64]:
    """Return f_t by Eq. 1 from all eigenvectors of the dense normalized Laplacian."""
    nu, psi = linalg.eigh(normalized_laplacian(world).toarray(), overwrite_a=True)
    root = np.sqrt(np.asarray(world.adjacency.sum(axis=1)))
    # Wᵗe_s − π = D^½ Σ_{i≥2} ω_iᵗ ψ_i ψ_i(s) / √d(s)
    spread = root[:, None] * ((psi[:, 1:] * (1.0 - nu[1:] / 2.0) ** t) @ psi[:, 1:].T)
    return np.asarray((spread**2).sum(axis=0) / root**2)


def sparse_powers(world: World, t: int) -> NDArray[np.float64]:
    """Return f_t by Proposition 2 from Wᵗ, one sparse product after another."""
    walk = lazy_walk(world)
    power = walk
    for _ in range(t - 1):
        power = power @ walk
    pi = stationary(world)
    # ‖p − π‖² = ‖p‖² − 2 p·π + ‖π‖²
    squares = power.power(2).sum(axis=0)
    return np.asarray(squares - 2.0 * (power.T @ pi) + pi @ pi)


def pygsp_heat(world: World, t: int) -> NDArray[np.float64]:
    """Return ‖D^½ (e^{−tN/2} − ψ₁ψ₁ᵀ) D^-½ e_s‖² from PyGSP's heat filter: (1 − ν/2)ᵗ is near e^{−tν/2}, not equal."""
    from pygsp import filters, graphs

    graph = graphs.Graph(csr_matrix(world.adjacency.copy()), lap_type="normalized")
    graph.estimate_lmax()
    heat = filters.Heat(graph, scale=t / 2.0 * graph.lmax)
    root = np.sqrt(np.asarray(world.adjacency.sum(axis=1)))
    pi = stationary(world)[:, None]
    squares = np.empty(world.n_states)
    for first in range(0, world.n_states, _COLUMNS_AT_ONCE):
        last = min(first + _COLUMNS_AT_ONCE, world.n_states)
        deltas = np.zeros((world.n_states, last - first))
        deltas[np.arange(first, last), np.arange(last - first)] = 1.0
        kernels = np.asarray(heat.filter(deltas, method="chebyshev")).reshape(world.n_states, -1)
        squares[first:last] = ((root[:, None] * kernels / root[first:last] - pi) ** 2).sum(axis=0)
    return squares


def simpleoptions_score(world: World, t: int) -> NDArray[np.float64]:
    """Return the score as the diffusion option generator of simpleoptions computes it."""
    from simpleoptions.implementations.diffusion_options import DiffusionOptionGenerator

    generator = DiffusionOptionGenerator.__new__(DiffusionOptionGenerator)
    generator.time_scale = t
    adjacency = world.adjacency.toarray()
    pieces = generator._compute_eigendecomp(np.diag(adjacency.sum(axis=1)), adjacency)
    return np.asarray(generator.compute_f(*pieces))


def strict_maxima(world: World, scores: NDArray[np.float64]) -> int:
    """Return how many states are higher than all of their neighbors: what simpleoptions takes for its goals."""
    matrix = world.adjacency
    highest = np.maximum.reduceat(scores[matrix.indices], matrix.indptr[:-1])
    return int((scores > highest).sum())


PEERS = {
    peer.name: peer
    for peer in (
        Peer("farpoint", "Farpoint, exact", _exact, lambda n: 300.0 * n, True),
        Peer("thousandth", "Farpoint, to 0.1 %", _to_a_thousandth, lambda n: 300.0 * n, False),
        Peer("probes", "Farpoint, 256 probes", _probes, lambda n: 600.0 * n, False),
        Peer("powers", "scipy, sparse powers", sparse_powers, lambda n: 900.0 * n, True),
        Peer("eigh", "dense eigh", dense_eigh, lambda n: 40.0 * n**2, True, 3.0),
        Peer("pygsp", "PyGSP, heat filter", pygsp_heat, lambda n: 8.0 * 10 * _COLUMNS_AT_ONCE * n, False, 2.0),
        Peer("simpleoptions", "simpleoptions", simpleoptions_score, lambda n: 100.0 * n**2, False, 3.0),
    )
}


class PeakMemory:
    """Measures the peak resident memory of this process inside a ``with`` block, which is sampled every 2 ms.

    Attributes
    ----------
    most : int
        Bytes, in all.
    extra : int
        Bytes above what the process held at the beginning of the block.

    Examples
    --------
    >>> with PeakMemory() as memory:
    ...     held = bytes(50_000_000)
    >>> memory.most > 50_000_000
    True
    """

    def __enter__(self) -> PeakMemory:
        import psutil

        self._process = psutil.Process(os.getpid())
        self._before = self.most = int(self._process.memory_info().rss)
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._sample)
        self._thread.start()
        return self

    def _sample(self) -> None:
        while True:
            self.most = max(self.most, self._process.memory_info().rss)
            if self._done.wait(0.002):
                return

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    @property
    def extra(self) -> int:
        """Bytes above what the process held at the beginning of the block."""
        return int(self.most - self._before)


@dataclass(frozen=True)
class Cell:
    """One measurement to make: a program on a random maze of ``side`` × ``side`` cells (or an open room) at t."""

    peer: str
    side: int
    t: int
    room: bool = False
    goals: bool = False


@dataclass(frozen=True)
class Measured:
    """What was measured: the best seconds of several runs; the most memory above the world's own, and in all."""

    cell: Cell
    n_states: int
    seconds: float
    extra_bytes: int
    peak_bytes: int

    @property
    def row(self) -> Row:
        """The measurement as a row of the table."""
        return {name: value for name, value in asdict(self).items() if name != "cell"}


def measure_series(cells: Sequence[Cell], measure_one: Callable[[Cell], Measured] | None = None) -> list[Measured]:
    """Return the measurements of growing cells, up to the first that would need too much time or memory.

    Parameters
    ----------
    cells : sequence of Cell
    measure_one : function of a cell, optional
        Default: `measure` in a fresh process.
    """
    import psutil

    most_bytes = _SHARE_OF_MEMORY * psutil.virtual_memory().available
    measured: list[Measured] = []
    for cell in cells:
        if PEERS[cell.peer].bytes_of(cell.side**2) > most_bytes or _expected(measured, cell) > _LONGEST_SECONDS:
            break
        try:
            measured.append((measure_one or _measure_apart)(cell))
        except (BrokenProcessPool, MemoryError):
            # The system ended the process for lack of memory: the series ends here.
            break
    return measured


def _measure_apart(cell: Cell) -> Measured:
    """Return the measurement of a cell in a fresh process, which holds no memory of an earlier one."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(measure, cell).result()


def measure(cell: Cell) -> Measured:
    """Return the measurement of one cell, in this process, which should be a fresh one."""
    # Compile first: the loops that small worlds go without.
    own = cell.peer in ("farpoint", "thousandth")
    if own:
        large = random_maze(_LARGE_SIDE, _LARGE_SIDE)
        find_goals(large, PEERS[cell.peer].run(large, min(cell.t, LARGEST_UNROLLED + 1)))
    small = random_maze(40, 40)
    warm = PEERS[cell.peer].run(small, min(cell.t, 4))
    find_goals(small, warm)
    seconds: list[float] = []
    extra = 0
    while len(seconds) < (1 if seconds and seconds[0] > _SHORT_SECONDS else _REPEATS):
        # A world caches what it computes, so each run has a world of its own.
        world = open_room(cell.side, cell.side) if cell.room else random_maze(cell.side, cell.side)
        # What the others need is not theirs to make; a map needs none of it.
        if not own:
            _ = world.adjacency
        with PeakMemory() as memory:
            began = time.perf_counter()
            scores = PEERS[cell.peer].run(world, cell.t)
            if cell.goals:
                find_goals(world, scores)
            seconds.append(time.perf_counter() - began)
        # Of the first run only: later runs reuse memory that it has released.
        extra = extra or memory.extra
    # Over the whole life of the process, so that making the world counts too (kibibytes on Linux).
    peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return Measured(cell, world.n_states, min(seconds), extra, peak)


def _expected(measured: Sequence[Measured], cell: Cell) -> float:
    """Return the seconds that a cell should take, by the growth so far in a series of growing worlds or times."""
    if not measured:
        return 0.0
    slope = PEERS[cell.peer].power
    sizes = np.log([one.cell.side**2 * one.cell.t for one in measured[-2:]])
    seconds = np.log([one.seconds for one in measured[-2:]])
    if len(measured) > 1:
        slope = max(slope, float(np.diff(seconds)[0] / np.diff(sizes)[0]))
    return float(np.exp(seconds[-1] + slope * (np.log(cell.side**2 * cell.t) - sizes[-1])))


def measure_speed(peer: str, sides: str, times: str, room: bool = False, goals: bool = False) -> list[Row]:
    """Measure a program over sides and times until it takes too long or would need too much memory."""
    pairs = [(int(side), int(t)) for side in sides.split() for t in times.split()]
    measured = measure_series([Cell(peer, side, t, room, goals) for side, t in pairs])
    return [{"side": one.cell.side, "t": one.cell.t, **one.row} for one in measured]


def parts_of_speed(quick: bool) -> Iterator[Part]:
    """Yield one program over sizes, and one over times; then what single comparisons need."""
    sides, times, side = ((20, 37, 60), (1, 4, 13), 60) if quick else (SIDES, TIMES, TIMES_SIDE)
    size_peers = ("farpoint", "powers", "eigh") if quick else SIZE_PEERS
    time_peers = ("farpoint", "thousandth", "powers") if quick else TIME_PEERS
    for peer in size_peers:
        yield {"peer": peer, "sides": _words(sides), "times": str(T)}
    for peer in time_peers:
        yield {"peer": peer, "sides": str(side), "times": _words(times)}
    yield {"peer": "farpoint", "sides": str(116 if quick else GOALS_SIDE), "times": str(T), "goals": True}
    if not quick:
        yield {"peer": "farpoint", "sides": str(TWO_TIMES_SIDE), "times": "4 13"}
        for peer in ("farpoint", "simpleoptions"):
            yield {"peer": peer, "sides": str(ROOM_SIDE), "times": str(T), "room": True}


def _words(numbers: Sequence[int]) -> str:
    return " ".join(map(str, numbers))


def measure_goals(world: str) -> Row:
    """Return how many goals Farpoint finds, and simpleoptions; or how many goals a score to a thousandth shares."""
    if world == "agreement":
        made = random_maze(TIMES_SIDE, TIMES_SIDE)
        exact = find_goals(made, score(made, TIMES[-1], "local")).states
        near = find_goals(made, score(made, TIMES[-1], "local", tolerance=1e-3)).states
        share = np.isin(exact, near).mean() * np.isin(near, exact).mean()
        return {"farpoint": exact.size, "share": float(share)}
    made = COUNTED_WORLDS[world]()
    theirs = strict_maxima(made, PEERS["simpleoptions"].run(made, T))
    return {"farpoint": len(find_goals(made, score(made, T))), "simpleoptions": theirs}


def cylinder(n_around: int, n_long: int) -> World:
    """Return a grid that is closed in one direction.

    >>> cylinder(24, 8).n_states
    192
    """
    import networkx as nx

    return World.from_graph(
        nx.to_scipy_sparse_array(nx.cartesian_product(nx.cycle_graph(n_around), nx.path_graph(n_long))),
        name="cylinder",
    )


COUNTED_WORLDS: dict[str, Callable[[], World]] = {
    "20 × 20 grid": lambda: open_room(20, 20),
    "24 × 8 cylinder": lambda: cylinder(24, 8),
}

TABLES = (
    Table("speed-scores", measure_speed, parts_of_speed, timed=True),
    Table("speed-goals", measure_goals, lambda quick: [{"world": name} for name in (*COUNTED_WORLDS, "agreement")]),
)

if __name__ == "__main__":
    main("research.speed")
