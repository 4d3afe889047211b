"""The CUDA kernels for maps, written for one t each: text that needs no GPU to be made.

All three follow y = p / d, as the kernels of the processor do: y′(v) = ½ y(v) + ½/d(v) Σ y(neighbors of v). They differ
in where the walk of one source lies: in the registers of one thread, in those of one warp, or in shared memory.
``degrees`` is the map with a margin of at least t walls on every side, one byte per cell, 0 on walls.
"""

from __future__ import annotations

from collections.abc import Iterator

# Up to here the walk of a source, one step short of its end, fits into the registers of a thread.
LARGEST_IN_THREAD = 6
# A column of the walk for each of 32 threads, of which the outermost must stay empty.
LARGEST_IN_WARP = 15
# Two squares of doubles in the 227 KiB of shared memory that a block may have.
LARGEST_RADIUS = 58

# A block of so many columns and rows of sources.
TILE = (32, 8)
WARPS_PER_BLOCK = 4
# Sources that a warp follows one after the other.
SOURCES_PER_WARP = 16
THREADS_PER_WALK = 256

_TABLES = """
__device__ __forceinline__ double half_inverse(unsigned char d) {
    return d == 0 ? 0.0 : d == 1 ? 0.5 : d == 2 ? 0.25 : d == 3 ? 0.5 / 3.0 : 0.125;
}
"""


def thread_source(t: int) -> str:
    """Return a kernel in which every thread follows the walk of its own cell in registers; all loops are written out.

    >>> "extern" in thread_source(2)
    True
    """
    cols, rows = TILE
    wide, high = cols + 2 * t, rows + 2 * t
    lines = [
        _TABLES,
        f"""
extern "C" __global__ void __launch_bounds__({cols * rows})
scores(const unsigned char* __restrict__ degrees, double* __restrict__ out, long long stride, int n_rows, int n_cols,
       double share, double rest) {{
    __shared__ double h[{high}][{wide}];
    __shared__ double d[{high}][{wide}];
    const int x0 = blockIdx.x * {cols};
    const int y0 = blockIdx.y * {rows};
    for (int i = threadIdx.y * {cols} + threadIdx.x; i < {wide * high}; i += {cols * rows}) {{
        const int y = i / {wide}, x = i % {wide};
        unsigned char degree = 0;
        if (y0 + y < n_rows + {2 * t} && x0 + x < n_cols + {2 * t})
            degree = degrees[(long long)(y0 + y) * stride + x0 + x];
        h[y][x] = half_inverse(degree);
        d[y][x] = (double)degree;
    }}
    __syncthreads();
    const int row = y0 + threadIdx.y, col = x0 + threadIdx.x;
    if (row >= n_rows || col >= n_cols) return;
    const int r = threadIdx.y + {t}, c = threadIdx.x + {t};
    const long long place = (long long)row * n_cols + col;
    if (h[r][c] == 0.0) {{ out[place] = 0.0; return; }}
    const double {_name(0, 0, 0)} = 2.0 * h[r][c];""",
    ]
    for k in range(1, t):
        lines += [f"    const double {_name(k, y, x)} = {_update(k, y, x)};" for y, x in diamond(k)]
    lines.append("    double squares = 0.0, product = 0.0, p;")
    for y, x in diamond(t):
        # With whole p = d y, squares is Σ p² and product Σ d p.
        lines.append(f"    p = {_at('d', y, x)} * ({_update(t, y, x)});")
        lines.append(f"    squares = fma(p, p, squares); product = fma({_at('d', y, x)}, p, product);")
    lines.append("    out[place] = fma(-2.0 * share, product, squares) + rest;\n}")
    return "\n".join(lines)


def diamond(radius: int) -> Iterator[tuple[int, int]]:
    """Yield the offsets within so many moves, row by row.

    >>> list(diamond(1))
    [(-1, 0), (0, -1), (0, 0), (0, 1), (1, 0)]
    """
    for y in range(-radius, radius + 1):
        for x in range(abs(y) - radius, radius - abs(y) + 1):
            yield y, x


def _name(k: int, y: int, x: int) -> str:
    return f"y{k}_{y + k}_{x + k}"


def _at(array: str, y: int, x: int) -> str:
    return f"{array}[r + {y}][c + {x}]".replace("+ -", "- ")


def _update(k: int, y: int, x: int) -> str:
    """Return the value after step k at an offset; what lies outside the walk so far is 0."""
    around = [(y - 1, x), (y + 1, x), (y, x - 1), (y, x + 1)]
    known = [_name(k - 1, *place) for place in around if abs(place[0]) + abs(place[1]) < k]
    total = " + ".join(known) or "0.0"
    stays = f"0.5 * {_name(k - 1, y, x)}" if abs(y) + abs(x) < k else "0.0"
    return f"fma({_at('h', y, x)}, {total}, {stays})"


def warp_source(t: int) -> str:
    """Return a kernel in which the threads of a warp hold a column each of the walk of one source.

    >>> "__shfl_up_sync" in warp_source(7)
    True
    """
    side = 2 * t + 1
    # Two sources in one warp where their columns fit.
    width = 16 if side < 16 else 32
    lines = [
        _TABLES,
        f"""
extern "C" __global__ void __launch_bounds__({32 * WARPS_PER_BLOCK})
scores(const unsigned char* __restrict__ degrees, double* __restrict__ out, long long stride, int n_rows, int n_cols,
       double share, double rest) {{
    __shared__ double halves[5];
    if (threadIdx.x < 5) halves[threadIdx.x] = half_inverse((unsigned char)threadIdx.x);
    __syncthreads();
    const int lane = threadIdx.x % {width};
    const long long group = ((long long)blockIdx.x * blockDim.x + threadIdx.x) / {width};
    const long long n_cells = (long long)n_rows * n_cols;
    const long long first = group * {SOURCES_PER_WARP};
    for (int source = 0; source < {SOURCES_PER_WARP}; ++source) {{
        const long long place = first + source;
        const bool inside = place < n_cells;
        const long long row = inside ? place / n_cols : 0, col = inside ? place % n_cols : 0;
        const unsigned char* corner = degrees + row * stride + col + lane;
        const bool floor = inside && degrees[(row + {t}) * stride + col + {t}] > 0;
        // All threads of a warp shuffle together, so two sources of one warp are left out only together.
        if (!__any_sync(0xffffffffu, floor)) {{
            if (inside && lane == 0) out[place] = 0.0;
            continue;
        }}""",
    ]
    for y in range(side):
        lines.append(f"        const double h{y} = lane < {side} ? halves[corner[{y} * stride]] : 0.0;")
    for y in range(side):
        start = f"lane == {t} ? 2.0 * h{t} : 0.0" if y == t else "0.0"
        lines.append(f"        double y{y} = {start};")
    lines.append("        double before, old, sides;")
    for k in range(1, t + 1):
        lines.append("        before = 0.0;")
        for y in range(t - k, t + k + 1):
            below = f"y{y + 1}" if y < t + k else "0.0"
            lines.append(
                f"        old = y{y}; sides = __shfl_up_sync(0xffffffffu, old, 1, {width})"
                f" + __shfl_down_sync(0xffffffffu, old, 1, {width});"
                f" y{y} = fma(h{y}, (before + {below}) + sides, 0.5 * old); before = old;"
            )
    lines.append("        double squares = 0.0, product = 0.0, p, d;")
    for y in range(side):
        lines.append(
            f"        d = h{y} > 0.0 ? (double)corner[{y} * stride] : 0.0; p = d * y{y};"
            " squares = fma(p, p, squares); product = fma(d, p, product);"
        )
    lines.append(f"""
        for (int apart = {width // 2}; apart > 0; apart /= 2) {{
            squares += __shfl_down_sync(0xffffffffu, squares, apart, {width});
            product += __shfl_down_sync(0xffffffffu, product, apart, {width});
        }}
        if (inside && lane == 0) out[place] = floor ? fma(-2.0 * share, product, squares) + rest : 0.0;
    }}
}}""")
    return "\n".join(lines)


def block_source() -> str:
    """Return a kernel in which a block of threads follows the walk of each source in shared memory, for any radii.

    ``radii[k]`` is how far the walk is followed after k steps; what goes farther is lost, and how much is written too.

    >>> "lost" in block_source()
    True
    """
    return (
        _TABLES
        + f"""
extern "C" __global__ void __launch_bounds__({THREADS_PER_WALK})
scores(const unsigned char* __restrict__ degrees, const long long* __restrict__ sources, long long n_sources,
       const int* __restrict__ radii, int t, int radius, long long stride, double share, double rest,
       double* __restrict__ out, double* __restrict__ lost, double* __restrict__ peaks) {{
    extern __shared__ double room[];
    __shared__ double halves[5];
    __shared__ double sums[4][{THREADS_PER_WALK} / 32];
    const int side = 2 * radius + 3, cells = side * side, middle = radius + 1;
    double* now = room;
    double* then = room + cells;
    if (threadIdx.x < 5) halves[threadIdx.x] = half_inverse((unsigned char)threadIdx.x);
    for (long long number = blockIdx.x; number < n_sources; number += gridDim.x) {{
        const unsigned char* center = degrees + sources[number];
        __syncthreads();
        for (int i = threadIdx.x; i < 2 * cells; i += blockDim.x) room[i] = 0.0;
        __syncthreads();
        if (threadIdx.x == 0) now[middle * side + middle] = 2.0 * halves[*center];
        __syncthreads();
        for (int k = 1; k <= t; ++k) {{
            const int reach = radii[k], wide = 2 * reach + 1;
            for (int i = threadIdx.x; i < wide * wide; i += blockDim.x) {{
                const int y = i / wide - reach, x = i % wide - reach;
                if (abs(y) + abs(x) > reach) continue;
                const int at = (y + middle) * side + x + middle;
                const double around = (now[at - side] + now[at + side]) + (now[at - 1] + now[at + 1]);
                then[at] = fma(halves[center[y * stride + x]], around, 0.5 * now[at]);
            }}
            __syncthreads();
            double* swapped = now; now = then; then = swapped;
        }}
        double squares = 0.0, product = 0.0, mass = 0.0, peak = 0.0;
        const int wide = 2 * radius + 1;
        for (int i = threadIdx.x; i < wide * wide; i += blockDim.x) {{
            const int y = i / wide - radius, x = i % wide - radius;
            if (abs(y) + abs(x) > radius) continue;
            const double d = (double)center[y * stride + x];
            const double p = d * now[(y + middle) * side + x + middle];
            squares = fma(p, p, squares); product = fma(d, p, product); mass += p; peak = fmax(peak, p);
        }}
        for (int apart = 16; apart > 0; apart /= 2) {{
            squares += __shfl_down_sync(0xffffffffu, squares, apart);
            product += __shfl_down_sync(0xffffffffu, product, apart);
            mass += __shfl_down_sync(0xffffffffu, mass, apart);
            peak = fmax(peak, __shfl_down_sync(0xffffffffu, peak, apart));
        }}
        if (threadIdx.x % 32 == 0) {{
            const int warp = threadIdx.x / 32;
            sums[0][warp] = squares; sums[1][warp] = product; sums[2][warp] = mass; sums[3][warp] = peak;
        }}
        __syncthreads();
        if (threadIdx.x == 0) {{
            for (int warp = 1; warp < blockDim.x / 32; ++warp) {{
                squares += sums[0][warp]; product += sums[1][warp]; mass += sums[2][warp];
                peak = fmax(peak, sums[3][warp]);
            }}
            out[number] = fma(-2.0 * share, product, squares) + rest;
            lost[number] = fmax(0.0, 1.0 - mass);
            peaks[number] = peak;
        }}
    }}
}}"""
    )


def degrees_source() -> str:
    """Return the kernels that write how many neighbors every cell of the floor has, and count the cells with 1 to 4.

    >>> degrees_source().count("__global__")
    2
    """
    return """
extern "C" __global__ void count(const unsigned char* __restrict__ degrees, unsigned long long* __restrict__ counts,
                                 long long n_cells) {
    unsigned int own[5] = {0, 0, 0, 0, 0};
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n_cells;
         i += (long long)gridDim.x * blockDim.x) {
        const unsigned char d = degrees[i];
        for (int k = 1; k < 5; ++k) own[k] += d == k;
    }
    for (int k = 1; k < 5; ++k) {
        const unsigned int together = __reduce_add_sync(0xffffffffu, own[k]);
        if (threadIdx.x % 32 == 0) atomicAdd(&counts[k], (unsigned long long)together);
    }
}
extern "C" __global__ void degrees(const unsigned char* __restrict__ floor, unsigned char* __restrict__ out,
                                   long long stride, long long n_cells) {
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < stride || i >= n_cells - stride || !floor[i]) return;
    out[i] = (floor[i - 1] != 0) + (floor[i + 1] != 0) + (floor[i - stride] != 0) + (floor[i + stride] != 0);
}"""


def goals_source() -> str:
    """Return the kernels that find local maxima on a map: plateaus by union and find, then those without a higher
    neighbor.

    >>> goals_source().count("__global__")
    4
    """
    return """
__device__ __forceinline__ int root(int* parent, int cell) {
    int above = parent[cell];
    while (above != cell) {
        const int next = parent[above];
        if (next != above) parent[cell] = next;
        cell = above;
        above = next;
    }
    return cell;
}

__device__ __forceinline__ bool equal(double a, double b, double tolerance) {
    return fabs(a - b) <= tolerance * fmax(fabs(a), fabs(b));
}

// The smaller number becomes the root, so the root is the first cell of its plateau.
__device__ void unite(int* parent, int a, int b) {
    while (true) {
        a = root(parent, a);
        b = root(parent, b);
        if (a == b) return;
        if (a < b) { const int swapped = a; a = b; b = swapped; }
        if (atomicCAS(&parent[a], a, b) == a) return;
    }
}

extern "C" __global__ void begin(const double* __restrict__ scores, int* __restrict__ parent,
                                 unsigned char* __restrict__ peak, const unsigned char* __restrict__ floor,
                                 long long n_cells) {
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n_cells) return;
    parent[i] = (int)i;
    peak[i] = floor[i] != 0;
}

extern "C" __global__ void join(const double* __restrict__ scores, int* parent, const unsigned char* __restrict__ floor,
                                int n_cols, long long n_cells, double tolerance) {
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n_cells || !floor[i]) return;
    if (i % n_cols > 0 && floor[i - 1] && equal(scores[i], scores[i - 1], tolerance)) unite(parent, (int)i, (int)i - 1);
    if (i >= n_cols && floor[i - n_cols] && equal(scores[i], scores[i - n_cols], tolerance))
        unite(parent, (int)i, (int)(i - n_cols));
}

extern "C" __global__ void settle(int* parent, long long n_cells) {
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n_cells) parent[i] = root(parent, (int)i);
}

extern "C" __global__ void lower(const double* __restrict__ scores, const int* __restrict__ parent,
                                 unsigned char* __restrict__ peak, const unsigned char* __restrict__ floor, int n_cols,
                                 long long n_cells) {
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n_cells || !floor[i]) return;
    const int own = parent[i];
    if (own != i) peak[i] = 0;
    const int col = i % n_cols;
    const long long next[4] = {i - n_cols, i + n_cols, col > 0 ? i - 1 : -1, col + 1 < n_cols ? i + 1 : -1};
    for (int k = 0; k < 4; ++k) {
        const long long v = next[k];
        if (v >= 0 && v < n_cells && floor[v] && parent[v] != own && scores[v] > scores[i]) { peak[own] = 0; return; }
    }
}
"""
