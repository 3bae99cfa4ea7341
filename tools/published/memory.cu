// Kernels that move more than they calculate, of the shapes whose times are published, written for the stopwatch.
// Tags are those of memory_twins.py.

#undef SIDE // of the sums in kernels.cu, whose lines come before these

// Copies: an element of each thread, and on as far as the grid does not reach.

#define COPY(NAME, T)                                                                             \
  extern "C" __global__ void NAME(T *__restrict__ to, const T *__restrict__ from, size_t n) {     \
    const size_t stride = blockDim.x * gridDim.x;                                                 \
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)                    \
      to[i] = from[i];                                                                            \
  }

COPY(copy_1, char) // [c.move]
COPY(copy_2, short) // [c.move]
COPY(copy_4, float) // [c.move]
COPY(copy_8, double) // [c.move]

extern "C" __global__ void copy_16(float4 *__restrict__ to, const float4 *__restrict__ from,
                                   size_t n) {
  const size_t stride = blockDim.x * gridDim.x;
  for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
    const float4 four = from[i]; // [c4.load]
    to[i] = four; // [c4.store]
  }
}

// Two arrays are read, and each pair takes part in so many multiply-adds.

template <int STEPS>
__device__ void arithmetic(const float *__restrict__ a, const float *__restrict__ b, float *out,
                           int items) {
  const float *own_a = a + threadIdx.x + blockIdx.x * 256 * items;
  const float *own_b = b + threadIdx.x + blockIdx.x * 256 * items;
  float sum = 0.0f;
#pragma unroll 1
  for (int i = 0; i < items; i += 2) {
    const float x = own_a[i * 256]; // [f.x]
    const float y = own_b[i * 256]; // [f.y]
    const float x2 = own_a[(i + 1) * 256]; // [f.x2]
    const float y2 = own_b[(i + 1) * 256]; // [f.y2]
    float v = x - y, v2 = x2 - y2;
    for (int k = 0; k < STEPS; ++k) { // [f.v]
      v = v * x - y;
      v2 = v2 * x2 - y2;
    }
    sum += v + v2; // [f.sum]
  }
  if (threadIdx.x == 0)
    out[blockIdx.x] = sum; // [f.out]
}

#define ARITHMETIC(STEPS)                                                                         \
  extern "C" __global__ void arithmetic_##STEPS(const float *__restrict__ a,                      \
                                                const float *__restrict__ b, float *out,          \
                                                int items) {                                      \
    arithmetic<STEPS>(a, b, out, items);                                                          \
  }

ARITHMETIC(0)
ARITHMETIC(4)
ARITHMETIC(24)
ARITHMETIC(40)
ARITHMETIC(56)
ARITHMETIC(80)
ARITHMETIC(120)

// Transposes of n x n floats.

#define SCATTER(NAME)                                                                             \
  extern "C" __global__ void NAME(const float *__restrict__ from, float *__restrict__ to, int n) { \
    const int x = blockIdx.x * blockDim.x + threadIdx.x;                                          \
    const int y = blockIdx.y * blockDim.y + threadIdx.y;                                          \
    if (x < n && y < n)                                                                           \
      to[x * n + y] = from[y * n + x];                                                            \
  }

SCATTER(transpose_scatter) // [t1.move]
SCATTER(transpose_scatter_16) // [t1.move]

extern "C" __global__ void transpose_gather_16(const float *__restrict__ from,
                                               float *__restrict__ to, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < n && y < n)
    to[y * n + x] = from[x * n + y]; // [t2.move]
}

template <int PAD, int ROWS>
__device__ void tiled(const float *__restrict__ from, float *__restrict__ to, int n) {
  __shared__ float tile[32][32 + PAD];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
#pragma unroll
  for (int j = 0; j < 32; j += ROWS)
    tile[threadIdx.y + j][threadIdx.x] = from[(y + j) * n + x]; // [t3.load]
  __syncthreads(); // [t3.ready]
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
#pragma unroll
  for (int j = 0; j < 32; j += ROWS)
    to[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j]; // [t3.store]
}

#define TILED(NAME, PAD, ROWS)                                                                    \
  extern "C" __global__ void NAME(const float *__restrict__ from, float *__restrict__ to, int n) { \
    tiled<PAD, ROWS>(from, to, n);                                                                \
  }

TILED(transpose_tiled, 0, 32)
TILED(transpose_padded, 1, 32)
TILED(transpose_rows_2, 1, 16)
TILED(transpose_rows_4, 1, 8)
TILED(transpose_rows_8, 1, 4)

template <int SIDE, int ROWS>
__device__ void wide(const float *__restrict__ from, float *__restrict__ to, int n) {
  __shared__ float tile[SIDE][SIDE + 1];
  const float4 *fours = reinterpret_cast<const float4 *>(from);
  int x = blockIdx.x * (SIDE / 4) + threadIdx.x, y = blockIdx.y * SIDE + threadIdx.y;
#pragma unroll
  for (int j = 0; j < SIDE; j += ROWS) {
    const float4 four = fours[(y + j) * (n / 4) + x]; // [t4.load]
    tile[threadIdx.y + j][threadIdx.x * 4 + 0] = four.x; // [t4.0]
    tile[threadIdx.y + j][threadIdx.x * 4 + 1] = four.y; // [t4.1]
    tile[threadIdx.y + j][threadIdx.x * 4 + 2] = four.z; // [t4.2]
    tile[threadIdx.y + j][threadIdx.x * 4 + 3] = four.w; // [t4.3]
  }
  __syncthreads(); // [t4.ready]
  x = blockIdx.y * (SIDE / 4) + threadIdx.x;
  y = blockIdx.x * SIDE + threadIdx.y;
#pragma unroll
  for (int j = 0; j < SIDE; j += ROWS) {
    float4 four;
    four.x = tile[threadIdx.x * 4 + 0][threadIdx.y + j]; // [t4.x]
    four.y = tile[threadIdx.x * 4 + 1][threadIdx.y + j]; // [t4.y]
    four.z = tile[threadIdx.x * 4 + 2][threadIdx.y + j]; // [t4.z]
    four.w = tile[threadIdx.x * 4 + 3][threadIdx.y + j]; // [t4.w]
    reinterpret_cast<float4 *>(to)[(y + j) * (n / 4) + x] = four; // [t4.store]
  }
}

#define WIDE(NAME, SIDE, ROWS)                                                                    \
  extern "C" __global__ void NAME(const float *__restrict__ from, float *__restrict__ to, int n) { \
    wide<SIDE, ROWS>(from, to, n);                                                                \
  }

WIDE(transpose_wide, 32, 32)
WIDE(transpose_wide_4, 32, 8)
WIDE(transpose_wide_64, 64, 32)
WIDE(transpose_wide_64_4, 64, 8)

// Rows of c floats, each less its mean and over its deviation, times a weight, plus a bias.

__device__ __forceinline__ float sum_of_warp(float x) {
  for (int apart = 16; apart > 0; apart >>= 1)
    x += __shfl_xor_sync(0xffffffff, x, apart);
  return x;
}

// A warp to a row, in three passes.
extern "C" __global__ void norm_warps(float *__restrict__ to, float *__restrict__ mean,
                                      float *__restrict__ rstd, const float *__restrict__ from,
                                      const float *__restrict__ weight,
                                      const float *__restrict__ bias, int rows, int c) {
  const int lane = threadIdx.x % 32;
  const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  if (row >= rows)
    return;
  const float *x = from + row * c;
  float sum = 0.0f;
  for (int i = lane; i < c; i += 32)
    sum += x[i]; // [n3.sum]
  const float m = sum_of_warp(sum) / c;
  if (lane == 0)
    __stcs(mean + row, m); // [n3.mean]
  sum = 0.0f;
  for (int i = lane; i < c; i += 32)
    sum += (x[i] - m) * (x[i] - m); // [n3.square]
  const float s = rsqrtf(sum_of_warp(sum) / c + 1e-5f);
  if (lane == 0)
    __stcs(rstd + row, s); // [n3.rstd]
  float *y = to + row * c;
  for (int i = lane; i < c; i += 32)
    __stcs(y + i, s * (__ldcs(x + i) - m) * weight[i] + bias[i]); // [n3.out]
}

// A block to a row, in two passes.
extern "C" __global__ void norm_blocks(float *__restrict__ to, float *__restrict__ mean,
                                       float *__restrict__ rstd, const float *__restrict__ from,
                                       const float *__restrict__ weight,
                                       const float *__restrict__ bias, int rows, int c) {
  __shared__ float sums[32], squares[32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const float *x = from + blockIdx.x * c;
  float sum = 0.0f, square = 0.0f;
  for (int i = threadIdx.x; i < c; i += blockDim.x) {
    const float own = x[i]; // [n5.load]
    sum += own; // [n5.sum]
    square += own * own; // [n5.square]
  }
  sums[warp] = sum_of_warp(sum); // [n5.sums]
  squares[warp] = sum_of_warp(square); // [n5.squares]
  __syncthreads(); // [n5.ready]
  sum = lane < blockDim.x / 32 ? sums[lane] : 0.0f; // [n5.a]
  square = lane < blockDim.x / 32 ? squares[lane] : 0.0f; // [n5.b]
  const float m = sum_of_warp(sum) / c;
  const float s = rsqrtf(sum_of_warp(square) / c - m * m + 1e-5f);
  if (threadIdx.x == 0)
    __stcs(mean + blockIdx.x, m); // [n5.mean]
  if (threadIdx.x == 0)
    __stcs(rstd + blockIdx.x, s); // [n5.rstd]
  float *y = to + blockIdx.x * c;
  for (int i = threadIdx.x; i < c; i += blockDim.x)
    __stcs(y + i, s * (__ldcs(x + i) - m) * weight[i] + bias[i]); // [n5.out]
}

// A warp to a row, which is kept in shared memory with weight and bias; threads (32, rows).
template <bool ONCE>
__device__ void in_shared(float *to, float *mean, float *rstd, const float *from,
                          const float *weight, const float *bias, int rows, int c) {
  extern __shared__ float4 kept[];
  const int fours = c / 4;
  float4 *weights = kept, *biases = kept + fours, *own = kept + (2 + threadIdx.y) * fours;
  for (int i = threadIdx.x + 32 * threadIdx.y; i < fours; i += blockDim.y * 32) {
    weights[i] = reinterpret_cast<const float4 *>(weight)[i]; // [n6.w]
    biases[i] = reinterpret_cast<const float4 *>(bias)[i]; // [n6.b]
  }
  __syncthreads(); // [n6.ready]
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows)
    return;
  const float4 *x = reinterpret_cast<const float4 *>(from + row * c);
  float4 *y = reinterpret_cast<float4 *>(to + row * c);
  float sum = 0.0f, square = 0.0f;
  for (int i = threadIdx.x; i < fours; i += 32) {
    const float4 four = __ldcs(x + i); // [n6.x]
    sum += four.x + four.y + four.z + four.w; // [n6.sum]
    if (ONCE)
      square += four.x * four.x + four.y * four.y + four.z * four.z + four.w * four.w; // [n6.once]
    own[i] = four; // [n6.own]
  }
  const float m = sum_of_warp(sum) / c;
  if (!ONCE)
    for (int i = threadIdx.x; i < fours; i += 32) {
      const float4 four = own[i]; // [n6.again]
      const float4 d = make_float4(four.x - m, four.y - m, four.z - m, four.w - m); // [n6.less]
      square += d.x * d.x + d.y * d.y + d.z * d.z + d.w * d.w; // [n6.square]
    }
  const float v = sum_of_warp(square) / c - (ONCE ? m * m : 0.0f);
  const float s = rsqrtf(v + 1e-5f);
  for (int i = threadIdx.x; i < fours; i += 32) {
    const float4 four = own[i]; // [n6.last]
    const float4 w = weights[i]; // [n6.weight]
    const float4 b = biases[i]; // [n6.bias]
    const float4 done = make_float4(s * (four.x - m) * w.x + b.x, s * (four.y - m) * w.y + b.y, s * (four.z - m) * w.z + b.z, s * (four.w - m) * w.w + b.w); // [n6.done]
    __stcs(y + i, done); // [n6.out]
  }
  if (threadIdx.x == 0)
    __stcs(mean + row, m); // [n6.mean]
  if (threadIdx.x == 0)
    __stcs(rstd + row, s); // [n6.rstd]
}

extern "C" __global__ void norm_shared(float *__restrict__ to, float *__restrict__ mean,
                                       float *__restrict__ rstd, const float *__restrict__ from,
                                       const float *__restrict__ weight,
                                       const float *__restrict__ bias, int rows, int c) {
  in_shared<false>(to, mean, rstd, from, weight, bias, rows, c);
}

extern "C" __global__ void norm_shared_once(float *__restrict__ to, float *__restrict__ mean,
                                            float *__restrict__ rstd,
                                            const float *__restrict__ from,
                                            const float *__restrict__ weight,
                                            const float *__restrict__ bias, int rows, int c) {
  in_shared<true>(to, mean, rstd, from, weight, bias, rows, c);
}

// Sums of whole numbers: 512 threads, ITEMS of each, and one addition of a block to the result.

template <int ITEMS, bool WIDE_LOADS>
__device__ void total(const int *x, int *out, size_t n) {
  __shared__ int part[512];
  const int t = threadIdx.x;
  const int i = blockIdx.x * 512 + t;
  int sum = 0;
  if (i < n) {
    if (WIDE_LOADS)
#pragma unroll
      for (int j = 0; j < ITEMS / 4; ++j) {
        const int4 four = reinterpret_cast<const int4 *>(x)[i * (ITEMS / 4) + j]; // [u.wide]
        sum += four.x + four.y + four.z + four.w;
      }
    else
#pragma unroll
      for (int j = 0; j < ITEMS; ++j)
        if (i * ITEMS + j < n)
          sum += x[i * ITEMS + j]; // [u.load]
  }
  part[t] = sum; // [u.part]
  __syncthreads(); // [u.ready]
#pragma unroll
  for (int step = 256; step > 32; step >>= 1) {
    if (t < step)
      part[t] += part[t + step]; // [u.add]
    __syncthreads(); // [u.done]
  }
  volatile int *v = part;
#pragma unroll
  for (int step = 32; step > 0; step >>= 1) {
    if (t < step)
      v[t] += v[t + step]; // [u.last]
    __syncwarp();
  }
  if (t == 0)
    atomicAdd(out, v[0]); // [u.out]
}

extern "C" __global__ void total_1(const int *x, int *out, size_t n) { total<1, false>(x, out, n); }
extern "C" __global__ void total_12(const int *x, int *out, size_t n) { total<12, false>(x, out, n); }
extern "C" __global__ void total_12_wide(const int *x, int *out, size_t n) { total<12, true>(x, out, n); }
