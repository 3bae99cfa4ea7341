"""Bodies of kernels with one mistake each in how they use Hopper's asynchronous units.

They are bodies of ``k(x, m, n, b, out)`` in ``tests/grading/test_hidden_messages.py``: ``n`` is a
drawn number, ``t`` the thread and ``lane`` its lane. In those of MAPPED ``m`` is a tensor map of a
float32 array, whose box is ``BOX``; those of WARPGROUPS run with whole warpgroups."""

from __future__ import annotations

BOX = 8, 32
BARS = "bars = cuda.shared.array(4, np.uint64)\n"
MADE = BARS + (
    "if t == 0:\n    hopper.mbarrier_init(bars, 0, {count})\n"
    "    hopper.mbarrier_init(bars, 1, 1)\ncuda.syncthreads()\n"
)
WAIT = "while not hopper.mbarrier_try_wait(bars, {}, {}):\n{indent}    pass\n"

BODIES = {
    "an mbarrier that nobody makes": BARS + "hopper.mbarrier_arrive(bars, n % 2)",
    "an mbarrier that another warp makes": BARS
    + "if t == 0:\n    hopper.mbarrier_init(bars, n % 2, 1)\n"
    + "if t >= 32:\n    hopper.mbarrier_arrive(bars, n % 2)",
    "an mbarrier that several threads make": BARS
    + "if lane < 2 + n % 20:\n    hopper.mbarrier_init(bars, 0, 1)",
    "an mbarrier of no arrivals": BARS + "if t == 0:\n    hopper.mbarrier_init(bars, 0, -(n % 9))",
    "an mbarrier for each thread": MADE.format(count=1)
    + "hopper.mbarrier_arrive(bars, t % (2 + n % 2))",
    "too many arrivals": MADE.format(count="1 + n % 30") + "hopper.mbarrier_arrive(bars, 0)",
    "the same phase again": MADE.format(count=32)
    + "if t < 32:\n    if n % 2 == 0:\n        hopper.mbarrier_arrive(bars, 0)\n"
    + "    for k in range(2):\n        "
    + WAIT.format(0, "n % 2", indent=" " * 8),
    "a parity that is neither": MADE.format(count=1) + WAIT.format("n % 2", "2 + n % 9", indent=""),
    "bytes and arrivals that never come": MADE.format(count=1)
    + "if t == 0:\n    hopper.mbarrier_arrive_expect_tx(bars, 0, 64 + n % 9)\n"
    + "if t < 32:\n    "
    + WAIT.format(0, 0, indent=" " * 4)
    + "else:\n    "
    + WAIT.format(1, 0, indent=" " * 4),
    "a part of a warpgroup": "if lane < 2 + n % 20:\n    hopper.wgmma_fence()",
    "a tile with gaps": (
        "a = cuda.shared.array((64, 32), np.float16, alignment=1024)\n"
        "d = hopper.wgmma_descriptor(a[:, :16 + n % 8], 32)"
    ),
    "a tile off its pattern": (
        "a = cuda.shared.array((9, 4, 64), np.float16, alignment=1024)\n"
        "d = hopper.wgmma_descriptor(a[1 + 2 * (n % 3)], 128)"
    ),
    "rows shorter than the swizzle": (
        "a = cuda.shared.array((64, 16), np.float16, alignment=1024)\n"
        "d = hopper.wgmma_descriptor(a, 64)"
    ),
}

# A tile of float16 that threads have written, and a product of it with itself.
TILE = "a = cuda.shared.array((64, 16), np.float16, alignment=1024)\n"
STORES = "if t < 128:\n    for j in range(8):\n        a[t // 2, t % 2 * 8 + j] = x[j]\n"
FENCE, MEET = "hopper.fence_proxy_async()\n", "cuda.syncthreads()\n"
PRODUCT = (
    "sums = cuda.local.array({sums}, float32)\nd = hopper.wgmma_descriptor(a, 32)\n"
    "{fence}hopper.wgmma_mma_async(sums, {descriptor}, d, {scale})\n"
)


def product(
    sums: int = 32, descriptor: str = "d", scale: object = 0, fence: str = "hopper.wgmma_fence()\n"
) -> str:
    return PRODUCT.format(sums=sums, descriptor=descriptor, scale=scale, fence=fence)


FILLED = TILE + STORES + FENCE + MEET
WARPGROUPS = {
    "accumulators before the wait": FILLED
    + product()
    + "hopper.wgmma_commit_group()\nout[t % 8] = sums[n % 32]",
    "accumulators without a commit": FILLED
    + product()
    + "hopper.wgmma_wait_group(0)\nout[t % 8] = sums[n % 32]",
    "a product without a fence": FILLED + product(fence=""),
    "a product that adds to nothing": FILLED + product(scale="n % 2 + 1"),
    "a product that a warp leaves out": FILLED
    + PRODUCT.format(
        sums=32,
        descriptor="d",
        scale=0,
        fence="hopper.wgmma_fence()\nif t // 32 % 4 != n % 4:\n    ",
    ),
    "a product of nothing": TILE + product(),
    "a product before the async proxy's fence": TILE + STORES + MEET + product(),
    "a product before a copy by threads has come": TILE
    + "for j in range(n % 4 + 1):\n    cp_async_commit()\n"
    + "if t < 128:\n    cp_async16(a.reshape(1024).view(float32), 4 * t, x, 4 * (t % 32))\n"
    + FENCE
    + MEET
    + product(),
    "a product that no barrier orders": FILLED
    + "if t < 32:\n    a[t, n % 16] = 1\n    hopper.fence_proxy_async()\n"
    + product(),
    "a store under a product": FILLED + product() + "a[t % 64, n % 16] = 1",
    "a product beyond its tile": FILLED + product(sums=4, descriptor="d + 2 * (1 + n % 3)"),
    "a product of no tile": FILLED + product(descriptor="16000 + n % 99"),
    "registers that nobody gives": (
        "if t < 128:\n    hopper.setmaxnreg_dec(40)\nelse:\n    hopper.setmaxnreg_inc(240)"
    ),
    "registers that go up by a dec": "hopper.setmaxnreg_dec(232)",
}

COPIED = MADE.format(count=1) + (
    "s = cuda.shared.array((8, 32), float32, alignment=128)\n"
    "if t == 0:\n    hopper.mbarrier_arrive_expect_tx(bars, 0, 1024)\n"
    "    hopper.tma_load(s, m, (n % 9, 0), bars, 0)\n"
)
WRITTEN = "s = cuda.shared.array((8, 32), float32, alignment=128)\nfor j in range(8):\n"
STORED = (
    WRITTEN + "    s[j, lane] = j\nhopper.fence_proxy_async()\ncuda.syncthreads()\n"
    "if t == 0:\n    hopper.tma_store(m, (n % 3, 0), s)\n    hopper.tma_store_commit_group()"
)
MAPPED = {
    "a tile of another type": COPIED.replace("32), float32", "32), int32"),
    "a tile before its copy has come": COPIED + "out[t % 8] = s[n % 8, lane]",
    "a copy over a copy": COPIED + "if t == 0:\n    hopper.tma_load(s, m, (0, 0), bars, 1)",
    "a copy over what is read": MADE.format(count=1)
    + WRITTEN
    + "    s[j, lane] = j\ncuda.syncthreads()\n"
    + "if t < 32:\n    out[t % 8] = s[n % 8, lane]\n"
    + "if t == 32:\n    hopper.tma_load(s, m, (0, 0), bars, 0)",
    "another swizzle": MADE.format(count=1)
    + "h = cuda.shared.array((64, 64), np.float16, alignment=1024)\n"
    + "s = h[:8].view(float32)\n"
    + COPIED[COPIED.index("if t == 0:\n    hopper.mbarrier_arrive_expect") :]
    + WAIT.format(0, 0, indent="")
    + "sums = cuda.local.array(4, float32)\nd = hopper.wgmma_descriptor(h, 128)\n"
    + "hopper.wgmma_fence()\nhopper.wgmma_mma_async(sums, d, d, 0)",
    "a block that ends under a copy": STORED,
    "a tile filled behind no barrier": STORED
    + "\n    hopper.tma_store_wait_group(0)\ns[n % 8, lane] = n",
}
