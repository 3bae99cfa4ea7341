// Kernels of the shapes whose times are published, written for the stopwatch. A tag such as k3.a, in brackets,
// stands on the line of the twin in twins.py that does the same.

#define TILE 32

// Matrix products C = A B, row-major. k: columns of A; lda, ldb, ldc: elements from row to row.

extern "C" __global__ void sgemm_naive(int m, int n, int k, int lda, int ldb, int ldc,
                                       const float *a, const float *b, float *c) {
  const unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned col = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < m && col < n) {
    float sum = 0.0f;
    for (int i = 0; i < k; ++i)
      sum += a[row * lda + i] * b[i * ldb + col]; // [k1.fma]
    c[row * ldc + col] = sum; // [k1.c]
  }
}

extern "C" __global__ void sgemm_coalesced(int m, int n, int k, int lda, int ldb, int ldc,
                                           const float *a, const float *b, float *c) {
  const int row = blockIdx.x * TILE + threadIdx.x / TILE;
  const int col = blockIdx.y * TILE + threadIdx.x % TILE;
  if (row < m && col < n) {
    float sum = 0.0f;
    for (int i = 0; i < k; ++i)
      sum += a[row * lda + i] * b[i * ldb + col]; // [k2.fma]
    c[row * ldc + col] = sum; // [k2.c]
  }
}

extern "C" __global__ void sgemm_shared(int m, int n, int k, int lda, int ldb, int ldc,
                                        const float *a, const float *b, float *c) {
  __shared__ float tile_a[TILE * TILE], tile_b[TILE * TILE];
  const int tx = threadIdx.x % TILE, ty = threadIdx.x / TILE;
  a += blockIdx.x * TILE * lda;
  b += blockIdx.y * TILE;
  c += blockIdx.x * TILE * ldc + blockIdx.y * TILE;
  float sum = 0.0f;
  for (int start = 0; start < k; start += TILE) {
    tile_a[ty * TILE + tx] = a[ty * lda + tx]; // [k3.a]
    tile_b[ty * TILE + tx] = b[ty * ldb + tx]; // [k3.b]
    __syncthreads(); // [k3.ready]
    a += TILE;
    b += TILE * ldb;
    for (int i = 0; i < TILE; ++i)
      sum += tile_a[ty * TILE + i] * tile_b[i * TILE + tx]; // [k3.fma]
    __syncthreads(); // [k3.read]
  }
  c[ty * ldc + tx] = sum; // [k3.c]
}

template <int SIDE, int DEPTH, int OWN>
__device__ void tile_1d(int k, int lda, int ldb, int ldc, const float *a, const float *b,
                        float *c) {
  __shared__ float tile_a[SIDE * DEPTH], tile_b[DEPTH * SIDE];
  const int col = threadIdx.x % SIDE, group = threadIdx.x / SIDE;
  const int a_row = threadIdx.x / DEPTH, a_col = threadIdx.x % DEPTH;
  a += blockIdx.y * SIDE * lda;
  b += blockIdx.x * SIDE;
  c += blockIdx.y * SIDE * ldc + blockIdx.x * SIDE;
  float sums[OWN] = {0.0f};
  for (int start = 0; start < k; start += DEPTH) {
    tile_a[a_row * DEPTH + a_col] = a[a_row * lda + a_col]; // [k4.a]
    tile_b[group * SIDE + col] = b[group * ldb + col]; // [k4.b]
    __syncthreads(); // [k4.ready]
    a += DEPTH;
    b += DEPTH * ldb;
    for (int d = 0; d < DEPTH; ++d) {
      const float of_b = tile_b[d * SIDE + col]; // [k4.of_b]
      for (int i = 0; i < OWN; ++i)
        sums[i] += tile_a[(group * OWN + i) * DEPTH + d] * of_b; // [k4.fma]
    }
    __syncthreads(); // [k4.read]
  }
  for (int i = 0; i < OWN; ++i)
    c[(group * OWN + i) * ldc + col] = sums[i]; // [k4.c]
}

extern "C" __global__ void __launch_bounds__(512)
    sgemm_tile_1d(int m, int n, int k, int lda, int ldb, int ldc, const float *a, const float *b,
                  float *c) {
  tile_1d<64, 8, 8>(k, lda, ldb, ldc, a, b, c);
}

template <int SIDE, int DEPTH, int OWN>
__device__ void tile_2d(int k, int lda, int ldb, int ldc, const float *a, const float *b,
                        float *c) {
  constexpr int THREADS = SIDE * SIDE / (OWN * OWN);
  __shared__ float tile_a[SIDE * DEPTH], tile_b[DEPTH * SIDE];
  const int col = threadIdx.x % (SIDE / OWN), row = threadIdx.x / (SIDE / OWN);
  const int a_row = threadIdx.x / DEPTH, a_col = threadIdx.x % DEPTH;
  const int b_row = threadIdx.x / SIDE, b_col = threadIdx.x % SIDE;
  a += blockIdx.y * SIDE * lda;
  b += blockIdx.x * SIDE;
  c += blockIdx.y * SIDE * ldc + blockIdx.x * SIDE;
  float sums[OWN * OWN] = {0.0f}, of_a[OWN] = {0.0f}, of_b[OWN] = {0.0f};
  for (int start = 0; start < k; start += DEPTH) {
    for (int part = 0; part < SIDE; part += THREADS / DEPTH)
      tile_a[(a_row + part) * DEPTH + a_col] = a[(a_row + part) * lda + a_col]; // [k5.a]
    for (int part = 0; part < DEPTH; part += THREADS / SIDE)
      tile_b[(b_row + part) * SIDE + b_col] = b[(b_row + part) * ldb + b_col]; // [k5.b]
    __syncthreads(); // [k5.ready]
    a += DEPTH;
    b += DEPTH * ldb;
    for (int d = 0; d < DEPTH; ++d) {
      for (int i = 0; i < OWN; ++i)
        of_a[i] = tile_a[(row * OWN + i) * DEPTH + d]; // [k5.of_a]
      for (int i = 0; i < OWN; ++i)
        of_b[i] = tile_b[d * SIDE + col * OWN + i]; // [k5.of_b]
      for (int i = 0; i < OWN; ++i)
        for (int j = 0; j < OWN; ++j)
          sums[i * OWN + j] += of_a[i] * of_b[j]; // [k5.fma]
    }
    __syncthreads(); // [k5.read]
  }
  for (int i = 0; i < OWN; ++i)
    for (int j = 0; j < OWN; ++j)
      c[(row * OWN + i) * ldc + col * OWN + j] = sums[i * OWN + j]; // [k5.c]
}

extern "C" __global__ void __launch_bounds__(256)
    sgemm_tile_2d(int m, int n, int k, int lda, int ldb, int ldc, const float *a, const float *b,
                  float *c) {
  tile_2d<128, 8, 8>(k, lda, ldb, ldc, a, b, c);
}

extern "C" __global__ void __launch_bounds__(256)
    sgemm_tile_2d_deep(int m, int n, int k, int lda, int ldb, int ldc, const float *a,
                       const float *b, float *c) {
  tile_2d<128, 16, 8>(k, lda, ldb, ldc, a, b, c);
}

// As tile_2d, with loads and stores of 16 bytes, and A's tile transposed.
extern "C" __global__ void __launch_bounds__(256)
    sgemm_vectorised(int m, int n, int k, int lda, int ldb, int ldc, const float *a,
                     const float *b, float *c) {
  constexpr int SIDE = 128, DEPTH = 8, OWN = 8;
  __shared__ __align__(16) float tile_a[DEPTH * SIDE], tile_b[DEPTH * SIDE];
  const int col = threadIdx.x % (SIDE / OWN), row = threadIdx.x / (SIDE / OWN);
  const int a_row = threadIdx.x / (DEPTH / 4), a_col = threadIdx.x % (DEPTH / 4);
  const int b_row = threadIdx.x / (SIDE / 4), b_col = threadIdx.x % (SIDE / 4);
  a += blockIdx.y * SIDE * lda;
  b += blockIdx.x * SIDE;
  c += blockIdx.y * SIDE * ldc + blockIdx.x * SIDE;
  float sums[OWN * OWN] = {0.0f}, of_a[OWN], of_b[OWN];
  for (int start = 0; start < k; start += DEPTH) {
    const float4 four = *reinterpret_cast<const float4 *>(&a[a_row * lda + a_col * 4]); // [k6.a]
    tile_a[(a_col * 4 + 0) * SIDE + a_row] = four.x; // [k6.a0]
    tile_a[(a_col * 4 + 1) * SIDE + a_row] = four.y; // [k6.a1]
    tile_a[(a_col * 4 + 2) * SIDE + a_row] = four.z; // [k6.a2]
    tile_a[(a_col * 4 + 3) * SIDE + a_row] = four.w; // [k6.a3]
    const float4 other = *reinterpret_cast<const float4 *>(&b[b_row * ldb + b_col * 4]); // [k6.b]
    *reinterpret_cast<float4 *>(&tile_b[b_row * SIDE + b_col * 4]) = other; // [k6.b0]
    __syncthreads(); // [k6.ready]
    a += DEPTH;
    b += DEPTH * ldb;
    for (int d = 0; d < DEPTH; ++d) {
      for (int i = 0; i < OWN; ++i)
        of_a[i] = tile_a[d * SIDE + row * OWN + i]; // [k6.of_a]
      for (int i = 0; i < OWN; ++i)
        of_b[i] = tile_b[d * SIDE + col * OWN + i]; // [k6.of_b]
      for (int i = 0; i < OWN; ++i)
        for (int j = 0; j < OWN; ++j)
          sums[i * OWN + j] += of_a[i] * of_b[j]; // [k6.fma]
    }
    __syncthreads(); // [k6.read]
  }
  for (int i = 0; i < OWN; ++i)
    for (int j = 0; j < OWN; j += 4) {
      const float *s = &sums[i * OWN + j];
      const float4 four = make_float4(s[0], s[1], s[2], s[3]);
      *reinterpret_cast<float4 *>(&c[(row * OWN + i) * ldc + col * OWN + j]) = four; // [k6.c]
    }
}

// Streams of doubles. A second block of each SM is kept out by shared memory that nobody uses.

#define STREAM(NAME, FIRST, LAST, BODY)                                                           \
  extern "C" __global__ void NAME(double *a, const double *__restrict__ b,                        \
                                  const double *__restrict__ c, size_t n, bool never) {           \
    __shared__ double spare[768];                                                                 \
    const int i = blockIdx.x * blockDim.x + threadIdx.x;                                          \
    if (i >= n - LAST || i < FIRST)                                                               \
      return;                                                                                     \
    if (never)                                                                                    \
      spare[threadIdx.x] = threadIdx.x;                                                           \
    BODY;                                                                                         \
    if (never)                                                                                    \
      a[i] = spare[i];                                                                            \
  }

STREAM(stream_init, 0, 0, a[i] = 0.25) // [s.init]
STREAM(stream_read, 0, 0, double x = b[i]; if (x == 123.0) a[i] = x) // [s.read]
STREAM(stream_scale, 0, 0, a[i] = b[i] * 1.5) // [s.scale]
STREAM(stream_triad, 0, 0, a[i] = b[i] * 1.5 + c[i]) // [s.triad]
STREAM(stream_3pt, 1, 1, a[i] = 0.5 * b[i - 1] - b[i] + 0.25 * b[i + 1]) // [s.3pt]
STREAM(stream_5pt, 2, 2, a[i] = 0.5 * b[i - 2] + 0.25 * b[i - 1] - b[i] + 0.25 * b[i + 1] + 0.5 * b[i + 2]) // [s.5pt]

// One float of each thread, or four.

extern "C" __global__ void add_float(const float *a, const float *b, float *c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    c[i] = a[i] + b[i]; // [e.add]
}

extern "C" __global__ void add_float4(const float4 *a, const float4 *b, float4 *c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 x = a[i]; // [e.a]
  const float4 y = b[i]; // [e.b]
  c[i] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w); // [e.c]
}

// Sums of 256 floats in each block, as in Harris, Optimizing Parallel Reduction in CUDA.

#define SIDE 256

extern "C" __global__ void reduce_modulo(const float *x, float *sums) {
  __shared__ float part[SIDE];
  const int t = threadIdx.x;
  part[t] = x[blockIdx.x * SIDE + t]; // [r0.load]
  __syncthreads(); // [r0.ready]
  for (int step = 1; step < blockDim.x; step *= 2) {
    if (t % (2 * step) == 0)
      part[t] += part[t + step]; // [r0.add]
    __syncthreads(); // [r0.done]
  }
  if (t == 0)
    sums[blockIdx.x] = part[0]; // [r0.out]
}

extern "C" __global__ void reduce_strided(const float *x, float *sums) {
  __shared__ float part[SIDE];
  const int t = threadIdx.x;
  part[t] = x[blockIdx.x * SIDE + t]; // [r1.load]
  __syncthreads(); // [r1.ready]
  for (int step = 1; step < blockDim.x; step *= 2) {
    const int at = 2 * step * t;
    if (at < blockDim.x)
      part[at] += part[at + step]; // [r1.add]
    __syncthreads(); // [r1.done]
  }
  if (t == 0)
    sums[blockIdx.x] = part[0]; // [r1.out]
}

extern "C" __global__ void reduce_halves(const float *x, float *sums) {
  __shared__ float part[SIDE];
  const int t = threadIdx.x;
  part[t] = x[blockIdx.x * SIDE + t]; // [r2.load]
  __syncthreads(); // [r2.ready]
  for (int step = blockDim.x / 2; step > 0; step >>= 1) {
    if (t < step)
      part[t] += part[t + step]; // [r2.add]
    __syncthreads(); // [r2.done]
  }
  if (t == 0)
    sums[blockIdx.x] = part[0]; // [r2.out]
}

extern "C" __global__ void reduce_two_loads(const float *x, float *sums) {
  __shared__ float part[SIDE];
  const int t = threadIdx.x;
  const int i = blockIdx.x * SIDE * 2 + t;
  part[t] = x[i] + x[i + SIDE]; // [r3.load]
  __syncthreads(); // [r3.ready]
  for (int step = blockDim.x / 2; step > 0; step >>= 1) {
    if (t < step)
      part[t] += part[t + step]; // [r3.add]
    __syncthreads(); // [r3.done]
  }
  if (t == 0)
    sums[blockIdx.x] = part[0]; // [r3.out]
}

#define LAST_WARP(R)                                                                              \
  if (t < 32) {                                                                                   \
    volatile float *v = part;                                                                     \
    for (int step = 32; step > 0; step >>= 1)                                                     \
      v[t] += v[t + step];                                                                        \
  }

extern "C" __global__ void reduce_last_warp(const float *x, float *sums) {
  __shared__ float part[SIDE];
  const int t = threadIdx.x;
  const int i = blockIdx.x * SIDE * 2 + t;
  part[t] = x[i] + x[i + SIDE]; // [r4.load]
  __syncthreads(); // [r4.ready]
  for (int step = blockDim.x / 2; step > 32; step >>= 1) {
    if (t < step)
      part[t] += part[t + step]; // [r4.add]
    __syncthreads(); // [r4.done]
  }
  LAST_WARP(4) // [r4.last]
  if (t == 0)
    sums[blockIdx.x] = part[0]; // [r4.out]
}

extern "C" __global__ void reduce_unrolled(const float *x, float *sums) {
  __shared__ float part[SIDE];
  const int t = threadIdx.x;
  const int i = blockIdx.x * SIDE * 2 + t;
  part[t] = x[i] + x[i + SIDE]; // [r5.load]
  __syncthreads(); // [r5.ready]
#pragma unroll
  for (int step = SIDE / 2; step > 32; step >>= 1) {
    if (t < step)
      part[t] += part[t + step]; // [r5.add]
    __syncthreads(); // [r5.done]
  }
  LAST_WARP(5) // [r5.last]
  if (t == 0)
    sums[blockIdx.x] = part[0]; // [r5.out]
}

extern "C" __global__ void reduce_many_loads(const float *x, float *sums, unsigned n) {
  __shared__ float part[SIDE];
  const unsigned t = threadIdx.x;
  unsigned i = blockIdx.x * SIDE * 2 + t;
  const unsigned stride = SIDE * 2 * gridDim.x;
  float sum = 0.0f;
  while (i < n) {
    sum += x[i] + x[i + SIDE]; // [r6.load]
    i += stride;
  }
  part[t] = sum; // [r6.part]
  __syncthreads(); // [r6.ready]
#pragma unroll
  for (int step = SIDE / 2; step > 32; step >>= 1) {
    if (t < step)
      part[t] += part[t + step]; // [r6.add]
    __syncthreads(); // [r6.done]
  }
  LAST_WARP(6) // [r6.last]
  if (t == 0)
    sums[blockIdx.x] = part[0]; // [r6.out]
}
