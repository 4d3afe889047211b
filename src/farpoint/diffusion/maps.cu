// The CUDA kernels for maps. gpu.py cuts this file at the lines that begin with four slashes, defines the names in
// capitals for one t, and writes out the steps of a walk in place of WALK.
//
// All follow y = p / d, as the kernels of the processor do: y'(v) = 1/2 y(v) + 1/2/d(v) (sum of y over the neighbors
// of v). They differ in where the walk of one source lies: in the registers of one thread, in those of one warp, or in
// shared memory. `degrees` is the map with a margin of at least t walls on every side, one byte per cell, 0 on walls.

//// inverse: 1/2 over the number of neighbors
__device__ __forceinline__ double half_inverse(unsigned char d) {
    return d == 0 ? 0.0 : d == 1 ? 0.5 : d == 2 ? 0.25 : d == 3 ? 0.5 / 3.0 : 0.125;
}

//// thread: every thread follows the walk of its own cell in registers
extern "C" __global__ void __launch_bounds__(COLS * ROWS)
scores(const unsigned char* __restrict__ degrees, double* __restrict__ out, long long stride, int n_rows, int n_cols,
       double share, double rest) {
    __shared__ double h[HIGH][WIDE];
    __shared__ double d[HIGH][WIDE];
    const int x0 = blockIdx.x * COLS;
    const int y0 = blockIdx.y * ROWS;
    for (int i = threadIdx.y * COLS + threadIdx.x; i < WIDE * HIGH; i += COLS * ROWS) {
        const int y = i / WIDE, x = i % WIDE;
        unsigned char degree = 0;
        if (y0 + y < n_rows + 2 * STEPS && x0 + x < n_cols + 2 * STEPS)
            degree = degrees[(long long)(y0 + y) * stride + x0 + x];
        h[y][x] = half_inverse(degree);
        d[y][x] = (double)degree;
    }
    __syncthreads();
    const int row = y0 + threadIdx.y, col = x0 + threadIdx.x;
    if (row >= n_rows || col >= n_cols) return;
    const int r = threadIdx.y + STEPS, c = threadIdx.x + STEPS;
    const long long place = (long long)row * n_cols + col;
    if (h[r][c] == 0.0) { out[place] = 0.0; return; }
    // WALK
    out[place] = fma(-2.0 * share, product, squares) + rest;
}

//// warp: the threads of a warp hold a column each of the walk of one source
extern "C" __global__ void __launch_bounds__(32 * WARPS_PER_BLOCK)
scores(const unsigned char* __restrict__ degrees, double* __restrict__ out, long long stride, int n_rows, int n_cols,
       double share, double rest) {
    __shared__ double halves[5];
    if (threadIdx.x < 5) halves[threadIdx.x] = half_inverse((unsigned char)threadIdx.x);
    __syncthreads();
    const int lane = threadIdx.x % WIDTH;
    const long long group = ((long long)blockIdx.x * blockDim.x + threadIdx.x) / WIDTH;
    const long long n_cells = (long long)n_rows * n_cols;
    const long long first = group * SOURCES_PER_WARP;
    for (int source = 0; source < SOURCES_PER_WARP; ++source) {
        const long long place = first + source;
        const bool inside = place < n_cells;
        const long long row = inside ? place / n_cols : 0, col = inside ? place % n_cols : 0;
        const unsigned char* corner = degrees + row * stride + col + lane;
        const bool floor = inside && degrees[(row + STEPS) * stride + col + STEPS] > 0;
        // All threads of a warp shuffle together, so two sources of one warp are left out only together.
        if (!__any_sync(0xffffffffu, floor)) {
            if (inside && lane == 0) out[place] = 0.0;
            continue;
        }
        // WALK
        for (int apart = WIDTH / 2; apart > 0; apart /= 2) {
            squares += __shfl_down_sync(0xffffffffu, squares, apart, WIDTH);
            product += __shfl_down_sync(0xffffffffu, product, apart, WIDTH);
        }
        if (inside && lane == 0) out[place] = floor ? fma(-2.0 * share, product, squares) + rest : 0.0;
    }
}

//// block: a block of threads follows the walk of each source in shared memory, for any radii
// radii[k] is how far the walk is followed after k steps; what goes farther is lost, and how much is written too.
extern "C" __global__ void __launch_bounds__(THREADS_PER_WALK)
scores(const unsigned char* __restrict__ degrees, const long long* __restrict__ sources, long long n_sources,
       const int* __restrict__ radii, int t, int radius, long long stride, double share, double rest,
       double* __restrict__ out, double* __restrict__ lost, double* __restrict__ peaks) {
    extern __shared__ double room[];
    __shared__ double halves[5];
    __shared__ double sums[4][THREADS_PER_WALK / 32];
    const int side = 2 * radius + 3, cells = side * side, middle = radius + 1;
    double* now = room;
    double* then = room + cells;
    if (threadIdx.x < 5) halves[threadIdx.x] = half_inverse((unsigned char)threadIdx.x);
    for (long long number = blockIdx.x; number < n_sources; number += gridDim.x) {
        const unsigned char* center = degrees + sources[number];
        __syncthreads();
        for (int i = threadIdx.x; i < 2 * cells; i += blockDim.x) room[i] = 0.0;
        __syncthreads();
        if (threadIdx.x == 0) now[middle * side + middle] = 2.0 * halves[*center];
        __syncthreads();
        for (int k = 1; k <= t; ++k) {
            const int reach = radii[k], wide = 2 * reach + 1;
            for (int i = threadIdx.x; i < wide * wide; i += blockDim.x) {
                const int y = i / wide - reach, x = i % wide - reach;
                if (abs(y) + abs(x) > reach) continue;
                const int at = (y + middle) * side + x + middle;
                const double around = (now[at - side] + now[at + side]) + (now[at - 1] + now[at + 1]);
                then[at] = fma(halves[center[y * stride + x]], around, 0.5 * now[at]);
            }
            __syncthreads();
            double* swapped = now; now = then; then = swapped;
        }
        double squares = 0.0, product = 0.0, mass = 0.0, peak = 0.0;
        const int wide = 2 * radius + 1;
        for (int i = threadIdx.x; i < wide * wide; i += blockDim.x) {
            const int y = i / wide - radius, x = i % wide - radius;
            if (abs(y) + abs(x) > radius) continue;
            const double d = (double)center[y * stride + x];
            const double p = d * now[(y + middle) * side + x + middle];
            squares = fma(p, p, squares); product = fma(d, p, product); mass += p; peak = fmax(peak, p);
        }
        for (int apart = 16; apart > 0; apart /= 2) {
            squares += __shfl_down_sync(0xffffffffu, squares, apart);
            product += __shfl_down_sync(0xffffffffu, product, apart);
            mass += __shfl_down_sync(0xffffffffu, mass, apart);
            peak = fmax(peak, __shfl_down_sync(0xffffffffu, peak, apart));
        }
        if (threadIdx.x % 32 == 0) {
            const int warp = threadIdx.x / 32;
            sums[0][warp] = squares; sums[1][warp] = product; sums[2][warp] = mass; sums[3][warp] = peak;
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            for (int warp = 1; warp < blockDim.x / 32; ++warp) {
                squares += sums[0][warp]; product += sums[1][warp]; mass += sums[2][warp];
                peak = fmax(peak, sums[3][warp]);
            }
            out[number] = fma(-2.0 * share, product, squares) + rest;
            lost[number] = fmax(0.0, 1.0 - mass);
            peaks[number] = peak;
        }
    }
}

//// degrees: how many neighbors every cell of the floor has, and how many cells have 1 to 4
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
}

//// goals: local maxima on a map: plateaus by union and find, then those without a higher neighbor
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
