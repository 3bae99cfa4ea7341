"""mbarriers, TMA copies and warpgroup products: what they compute, and what they order.

Their mistakes are in ``chapters/mistakes/hopper``."""

from __future__ import annotations

import re

import numpy as np
import pytest

from warpwise import Observer, hopper, trace
from warpwise.errors import (
    AsyncCopyError,
    BarrierError,
    EndlessError,
    KernelError,
    MisalignedError,
    UnsupportedError,
)
from warpwise.simt import kernels_in

pytestmark = pytest.mark.threads

HEAD = """
import numpy as np
from warpwise import cuda, hopper
{names}

@cuda.jit
def kernel({parameters}):
    t = cuda.threadIdx.x
    bars = cuda.shared.array(4, np.uint64)
"""
WAIT = "while not hopper.mbarrier_try_wait(bars, {}, {}):\n    pass\n"


def run(body: str, threads: int, blocks: int = 1, names: str = "", observers=(), **arguments):
    """Run the body of a kernel with these arguments; return its trace."""
    head = HEAD.format(names=names, parameters=", ".join(arguments))
    kernel = kernels_in(head + re.sub("^", "    ", body, flags=re.MULTILINE))["kernel"]
    return trace(kernel, blocks, threads, *arguments.values(), observers=observers)


def made(count: int, index: int = 0) -> str:
    """Return lines by which thread 0 makes an mbarrier, before all others go on."""
    return f"if t == 0:\n    hopper.mbarrier_init(bars, {index}, {count})\ncuda.syncthreads()\n"


# --- mbarriers ---


def test_a_phase_ends_with_its_last_arrival_and_the_next_has_the_other_parity():
    """Warp 0 goes through five phases, each of which warp 1 ends."""
    out = np.zeros(5, np.int32)
    body = made(32) + (
        "if t < 32:\n"
        "    for k in range(5):\n"
        "        while not hopper.mbarrier_try_wait(bars, 0, k % 2):\n"
        "            pass\n"
        "        if t == 0:\n"
        "            out[k] = k + 1\n"
        "        hopper.mbarrier_arrive(bars, 1)\n"
        "else:\n"
        "    for k in range(5):\n"
        "        hopper.mbarrier_arrive(bars, 0)\n"
        "        while not hopper.mbarrier_try_wait(bars, 1, k % 2):\n"
        "            pass\n"
    )
    run(made(32, 1) + body, 64, out=out)
    assert out.tolist() == [1, 2, 3, 4, 5]


def test_the_phase_before_the_first_counts_as_over():
    run(made(1) + WAIT.format(0, 1), 32)


@pytest.mark.parametrize("order", ["expect, copy", "copy, expect"])
def test_a_phase_ends_when_its_bytes_have_come_in_either_order(order: str):
    """What was expected, and what came, meet before the arrival ends the phase."""
    x, out = np.arange(64, dtype=np.float32).reshape(8, 8), np.zeros((8, 8), np.float32)
    steps = {
        "expect": "    hopper.mbarrier_expect_tx(bars, 0, 256)\n",
        "copy": "    hopper.tma_load(tile, x_map, (0, 0), bars, 0)\n",
    }
    body = (
        "tile = cuda.shared.array((8, 8), np.float32, alignment=128)\n"
        + made(1)
        + "if t == 0:\n"
        + "".join(steps[one] for one in order.split(", "))
        + "    hopper.mbarrier_arrive(bars, 0)\n"
        + WAIT.format(0, 0)
        + "out[t // 8, t % 8] = tile[t // 8, t % 8]"
    )
    run(body, 64, x_map=hopper.tensor_map(x, (8, 8)), out=out)
    assert (out == x).all()


def test_an_mbarrier_orders_what_threads_stored_before_they_arrived():
    """Without it the sanitizer would report a race between the two warps."""
    body = (
        "s = cuda.shared.array(32, np.float32)\n"
        + made(32)
        + (
            "if t >= 32:\n"
            "    s[t - 32] = t\n"
            "    hopper.mbarrier_arrive(bars, 0)\n"
            "else:\n"
            "    while not hopper.mbarrier_try_wait(bars, 0, 0):\n"
            "        pass\n"
            "    out[t] = s[31 - t]\n"
        )
    )
    out = np.zeros(32, np.float32)
    assert run(body, 64, out=out).races == ()
    assert out.tolist() == list(range(63, 31, -1))


def test_a_read_before_the_wait_is_still_a_race():
    body = (
        "s = cuda.shared.array(32, np.float32)\n"
        + made(32)
        + (
            "if t < 32:\n"
            "    s[t] = t\n"
            "    hopper.mbarrier_arrive(bars, 0)\n"
            "else:\n"
            "    out[t - 32] = s[t - 32]\n"
            "    while not hopper.mbarrier_try_wait(bars, 0, 0):\n"
            "        pass\n"
        )
    )
    assert len(run(body, 64, out=np.zeros(32, np.float32)).races) == 1


def test_a_deadlock_names_what_is_missing_and_who_waits_where():
    x = np.zeros((8, 8), np.float32)
    body = (
        "tile = cuda.shared.array((8, 8), np.float32, alignment=128)\n"
        + made(1)
        + made(1, 1)
        + "if t == 0:\n"
        "    hopper.mbarrier_arrive_expect_tx(bars, 0, 512)\n"
        "    hopper.tma_load(tile, x_map, (0, 0), bars, 0)\n"
        "if t < 32:\n"
        "    while not hopper.mbarrier_try_wait(bars, 0, 0):\n"
        "        pass\n"
        "else:\n"
        "    while not hopper.mbarrier_try_wait(bars, 1, 0):\n"
        "        pass\n"
    )
    with pytest.raises(EndlessError) as caught:
        run(body, 64, x_map=hopper.tensor_map(x, (8, 8)))
    said = caught.value.what
    assert "phase 0 of bars[0]" in said and "256 of 512 bytes have come" in said
    assert "warp 1 waits for bars[1] on line 24: 0 of 1 threads have arrived" in said


REFUSED = {
    "no mbarrier": ("hopper.mbarrier_arrive(bars, 0)", BarrierError, "no mbarrier_init has made"),
    "too many arrivals": (
        made(5) + "hopper.mbarrier_arrive(bars, 0)",
        BarrierError,
        "32 threads arrive at bars[0] in one phase, and mbarrier_init says 5",
    ),
    "made by all": ("hopper.mbarrier_init(bars, 0, 1)", BarrierError, "32 threads call"),
    "a count of nothing": (
        "if t == 0:\n    hopper.mbarrier_init(bars, 0, 0)",
        BarrierError,
        "not 0",
    ),
    "a wait whose result nobody reads": (
        made(1) + "hopper.mbarrier_try_wait(bars, 0, 1)",
        UnsupportedError,
        "may give up",
    ),
    "a wait in an if": (
        made(1) + "if not hopper.mbarrier_try_wait(bars, 0, 1):\n    pass",
        UnsupportedError,
        "return False before its phase is over, so it has to be the condition of a while loop",
    ),
    "a wait whose result is kept": (
        made(1) + "over = hopper.mbarrier_try_wait(bars, 0, 1)",
        UnsupportedError,
        "so it has to be the condition of a while loop",
    ),
    "a parity that is a round": (
        made(1) + WAIT.format(0, 2),
        BarrierError,
        "this waits for parity 2 of bars[0], and a parity is 0 or 1",
    ),
    "a negative parity": (made(1) + WAIT.format(0, -1), BarrierError, "parity -1 of bars[0]"),
    "an mbarrier for each thread": (
        made(1) + "hopper.mbarrier_arrive(bars, t % 2)",
        UnsupportedError,
        "different values for the mbarrier's index",
    ),
    "outside": (made(1) + "hopper.mbarrier_arrive(bars, 7)", KernelError, "index 7 is outside"),
    "another array": (
        "s = cuda.shared.array(4, np.float32)\nhopper.mbarrier_arrive(s, 0)",
        KernelError,
        "shared array of uint64",
    ),
    "misspelt": ("hopper.mbarier_arrive(bars, 0)", KernelError, "did you mean"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_wrong_use_is_named(name: str):
    body, kind, words = REFUSED[name]
    with pytest.raises(kind, match=re.escape(words)):
        run(body, 32)


# --- copies ---

COPY = (
    "tile = cuda.shared.array({shape}, np.{dtype}, alignment=1024)\n" + made(1) + "if t == 0:\n"
    "    hopper.mbarrier_arrive_expect_tx(bars, 0, {size})\n"
    "    hopper.tma_load(tile, x_map, {corner}, bars, 0)\n" + WAIT.format(0, 0)
)


@pytest.mark.parametrize("corner", [(0, 0), (5, 8), (-3, -8), (6, 24), (40, 0)], ids=str)
def test_a_box_that_leaves_the_array_brings_zeros(corner: tuple[int, int]):
    rng = np.random.default_rng(1)
    x, out = rng.random((12, 28), np.float32), np.full((8, 16), np.nan, np.float32)
    copy = COPY.format(shape=(8, 16), dtype="float32", size=512, corner=corner)
    body = (
        copy
        + "for i in range(4):\n    out[2 * i + t // 16, t % 16] = tile[2 * i + t // 16, t % 16]"
    )
    run(body, 32, x_map=hopper.tensor_map(x, (8, 16)), out=out)
    padded = np.pad(x, 64)[corner[0] + 64 :, corner[1] + 64 :]
    assert (out == padded[:8, :16]).all()


#: by swizzle: the chunk at which chunk c of row r lies (PTX ISA, "Tensor Swizzling Modes")
CHUNK_OF = {
    0: lambda row, chunk: chunk,
    32: lambda row, chunk: chunk ^ (row // 4 % 2),
    64: lambda row, chunk: chunk ^ (row // 2 % 4),
    128: lambda row, chunk: chunk ^ (row % 8),
}


@pytest.mark.parametrize("swizzle", CHUNK_OF)
def test_a_swizzle_exchanges_chunks_of_16_bytes(swizzle: int):
    columns = (swizzle or 64) // 2
    x = np.arange(16 * columns, dtype=np.int16).reshape(16, columns)
    out = np.zeros_like(x)
    copy = COPY.format(shape=x.shape, dtype="int16", size=x.nbytes, corner=(0, 0))
    body = copy + "if t < 16:\n    for i in range(out.shape[1]):\n        out[t, i] = tile[t, i]"
    run(body, 32, x_map=hopper.tensor_map(x, x.shape, swizzle), out=out)
    wanted = np.zeros_like(x)
    for row in range(16):
        for column in range(columns):
            place = CHUNK_OF[swizzle](row, column // 8) * 8 + column % 8
            wanted[row, place] = x[row, column]
    assert (out == wanted).all()


@pytest.mark.parametrize("swizzle", CHUNK_OF)
def test_a_store_undoes_the_swizzle_and_leaves_out_what_is_outside(swizzle: int):
    columns = (swizzle or 64) // 2
    x = np.arange(16 * columns, dtype=np.int16).reshape(16, columns)
    out = np.zeros((20, columns), np.int16)
    copy = COPY.format(shape=x.shape, dtype="int16", size=x.nbytes, corner=(0, 0))
    body = copy + (
        "if t == 0:\n"
        "    hopper.tma_store(out_map, (8, 0), tile)\n"
        "    hopper.tma_store_commit_group()\n"
        "    hopper.tma_store_wait_group(0)"
    )
    maps = [hopper.tensor_map(one, x.shape, swizzle) for one in (x, out)]
    run(body, 32, x_map=maps[0], out_map=maps[1])
    assert (out[8:] == x[:12]).all() and not out[:8].any()


# --- products ---

PRODUCT = (
    "a = cuda.shared.array((64, K), np.float16, alignment=1024)\n"
    "b = cuda.shared.array((N, K), np.float16, alignment=1024)\n" + made(1) + "if t == 0:\n"
    "    hopper.mbarrier_arrive_expect_tx(bars, 0, (64 + N) * K * 2)\n"
    "    hopper.tma_load(a, a_map, (0, 0), bars, 0)\n"
    "    hopper.tma_load(b, b_map, (0, 0), bars, 0)\n" + WAIT.format(0, 0) + "if t < 128:\n"
    "    sums = cuda.local.array(SUMS, np.float32)\n"
    "    for i in range(SUMS):\n"
    "        sums[i] = 100\n"
    "    left = hopper.wgmma_descriptor(a, SWIZZLE)\n"
    "    right = hopper.wgmma_descriptor(b, SWIZZLE)\n"
    "    hopper.wgmma_fence()\n"
    "    for k in range(K // 16):\n"
    "        hopper.wgmma_mma_async(sums, left + 2 * k, right + 2 * k, FIRST or k)\n"
    "    hopper.wgmma_commit_group()\n"
    "    hopper.wgmma_wait_group(0)\n"
    "    for i in range(SUMS):\n"
    "        row = t // 32 * 16 + i // 2 % 2 * 8 + t % 32 // 4\n"
    "        out[row, i // 4 * 8 + t % 4 * 2 + i % 2] = sums[i]\n"
)


@pytest.mark.parametrize(
    ("n", "swizzle", "adds"), [(8, 128, 0), (64, 128, 1), (24, 64, 0), (16, 32, 1)]
)
def test_a_product_is_numpys(n: int, swizzle: int, adds: int):
    rng, k = np.random.default_rng(n), swizzle // 2
    a, b = (rng.standard_normal((rows, k)).astype(np.float16) for rows in (64, n))
    out = np.zeros((64, n), np.float32)
    names = f"K, N, SUMS, SWIZZLE, FIRST = {k}, {n}, {n // 2}, {swizzle}, {adds}"
    maps = hopper.tensor_map(a, a.shape, swizzle), hopper.tensor_map(b, b.shape, swizzle)
    run(PRODUCT, 128, names=names, a_map=maps[0], b_map=maps[1], out=out)
    wanted = a.astype(np.float64) @ b.astype(np.float64).T + 100 * adds
    assert np.allclose(out, wanted, atol=1e-3)


def test_without_a_swizzle_the_descriptor_goes_by_core_matrices_of_16_bytes():
    """Two boxes of 16 bytes a row, one behind the other, are 16 numbers of K."""
    rng = np.random.default_rng(2)
    a, b = (rng.standard_normal((rows, 16)).astype(np.float16) for rows in (64, 8))
    out = np.zeros((64, 8), np.float32)
    loads = "".join(
        f"    hopper.tma_load({one}[{half}], {one}_map, (0, {8 * half}), bars, 0)\n"
        for one in "ab"
        for half in (0, 1)
    )
    body = (
        PRODUCT.replace("(64, K)", "(2, 64, 8)")
        .replace("(N, K)", "(2, N, 8)")
        .replace("hopper.wgmma_descriptor(a,", "hopper.wgmma_descriptor(a[0],")
        .replace("hopper.wgmma_descriptor(b,", "hopper.wgmma_descriptor(b[0],")
    )
    body = re.sub(r"(    hopper\.tma_load.*\n){2}", loads, body)
    maps = hopper.tensor_map(a, (64, 8)), hopper.tensor_map(b, (8, 8))
    names = "K, N, SUMS, SWIZZLE, FIRST = 16, 8, 4, 0, 0"
    run(body, 128, names=names, a_map=maps[0], b_map=maps[1], out=out)
    assert np.allclose(out, a.astype(np.float64) @ b.astype(np.float64).T, atol=1e-3)


# --- which wait, group or arrival was the wrong one ---

RING = """if t == 0:
    for i in range(2):
        hopper.mbarrier_init(full, i, 1)
        hopper.mbarrier_init(empty, i, 128)
cuda.syncthreads()
if t == 128:
    for s in range(7):
        while not hopper.mbarrier_try_wait(empty, s % 2, s // 2 % 2 ^ 1):
            pass
        hopper.mbarrier_arrive_expect_tx(full, s % 2, 64 * 64)
        hopper.tma_load(tiles[s % 2], x_map, (0, 32 * s), full, s % 2)
if t < 128:
    for s in range(7):
        while not hopper.mbarrier_try_wait(full, s % 2, s // 2 % 2):
            pass
        of = hopper.wgmma_descriptor(tiles[s % 2], 64)
        hopper.wgmma_fence()
        hopper.wgmma_mma_async(sums, of, of, s > 0)
        hopper.wgmma_mma_async(sums, of + 2, of + 2, True)
        hopper.wgmma_commit_group()
        hopper.wgmma_wait_group(0)
        hopper.mbarrier_arrive(empty, s % 2)
"""
ARRAYS = """tiles = cuda.shared.array((2, 64, 32), np.float16, alignment=512)
full, empty = cuda.shared.array(2, np.uint64), cuda.shared.array(2, np.uint64)
sums = cuda.local.array(32, np.float32)
"""
WEAK = "before that had ended; the wait on line 33 lets the newest group go on"
BLAMED = {
    "parity": (
        "(full, s % 2, s // 2 % 2)",
        "(full, s % 2, s // 2 % 2 ^ 1)",
        "came through at once",
    ),
    "old phase": ("(full, s % 2, s // 2 % 2)", "(full, s % 2, s % 2)", "0 of 1 threads"),
    "stage": ("tiles[s % 2], 64", "tiles[1 - s % 2], 64", "is for full[0], and this is filled for"),
    "moved": ("of + 2, of + 2", "of + 32, of + 32", "begins in a tile that has come, and reaches"),
    "commit": ("        hopper.wgmma_commit_group()\n", "", "no commit has put it into a group"),
    "wait": ("        hopper.wgmma_wait_group(0)\n", "", "no wait has come for its group"),
    "weak wait": ("wgmma_wait_group(0)", "wgmma_wait_group(1)", WEAK),
    "given back": ("tiles[s % 2], 64", "tiles[0], 64", "before it read that"),
    "other stage": ("(empty, s % 2)\n", "(empty, 0)\n", "did not arrive in phase 0 of empty[0]"),
    "else": ("if t < 128:", "else:", "threads of this same warp"),
    "one more": ("if t < 128:", "if t < 129:", "threads of this same warp"),
}


def ring(old: str = "", new: str = "", without: str = "") -> None:
    """Run the ring with one change, and without a line."""
    x = np.random.default_rng(7).standard_normal((64, 224)).astype(np.float16)
    assert not old or RING.count(old) == 1
    body = ARRAYS + (RING.replace(without, "").replace(old, new) if old else RING)
    run(body, 160, x_map=hopper.tensor_map(x, (64, 32), 64))


def test_a_ring_of_stages_is_right():
    ring()


def stored_ring(before: str = "", behind: str = "") -> None:
    """Run the ring with copies in place of products, and words before and behind an arrival."""
    stores = RING.replace("mma_async(sums, of, of, s > 0)", "fence()")
    stores = re.sub(r".*mma_async.*\n|.*wgmma_(commit|wait).*\n", "", stores)
    store = "        if t == 0:\n            hopper.tma_store(x_map, (0, 0), tiles[s % 2])\n"
    arrive = "        hopper.mbarrier_arrive(empty, s % 2)\n"
    assert stores.count(arrive) == 1
    body = ARRAYS + stores.replace(arrive, store + before + arrive + behind)
    run(body, 160, x_map=hopper.tensor_map(np.zeros((64, 224), np.float16), (64, 32), 64))


def test_a_stage_whose_copy_to_global_memory_goes_on_is_told_to_wait_for_that():
    """It is not of a group of products, so the words to add are those of copies."""
    with pytest.raises(AsyncCopyError, match=r"Try: hopper.tma_store_commit_group\(\)"):
        stored_ring()


def test_an_arrival_before_the_wait_for_a_copy_to_global_memory_is_told_to_wait_for_that():
    commit = "        hopper.tma_store_commit_group()\n"
    wait = "        hopper.tma_store_wait_group(0)\n"
    words = r"had ended; its wait comes later.*Try: hopper.tma_store_wait_group\(0\)"
    with pytest.raises(AsyncCopyError, match=f"(?s){words}"):
        stored_ring(commit, wait)
    stored_ring(commit + wait)


@pytest.mark.parametrize("name", BLAMED)
def test_what_is_wrong_in_a_ring_is_named(name: str):
    old, new, words = BLAMED[name]
    with pytest.raises(KernelError, match=re.escape(words)):
        ring(old, new)


def test_one_wgmma_fence_is_enough_where_no_thread_uses_the_accumulators_between_products():
    """PTX ISA, "wgmma.fence": products of the same shape follow one another without it."""
    fence = "        hopper.wgmma_fence()\n"
    ring("if t < 128:\n", "if t < 128:\n    hopper.wgmma_fence()\n", fence)


STORED_TWICE = """a = cuda.shared.array((64, 16), np.float16, alignment=1024)
sums = cuda.local.array(32, np.float32)
for k in range(2):
    for j in range(8):
        a[t // 2, t % 2 * 8 + j] = x[j]
    {fence}
    cuda.syncthreads()
    of = hopper.wgmma_descriptor(a, 32)
    hopper.wgmma_fence()
    hopper.wgmma_mma_async(sums, of, of, k > 0)
    hopper.wgmma_commit_group()
    hopper.wgmma_wait_group(0)
    cuda.syncthreads()
"""


def test_what_threads_store_needs_a_fence_of_the_async_proxy_before_each_product():
    x = np.ones(8, np.float16)
    run(STORED_TWICE.format(fence="hopper.fence_proxy_async()"), 128, x=x)
    once = STORED_TWICE.format(fence="if k == 0:\n        hopper.fence_proxy_async()")
    with pytest.raises(AsyncCopyError, match="the async proxy, and no fence lies between"):
        run(once, 128, x=x)


@pytest.mark.parametrize("alignment", [1, 64, 256])
def test_a_tile_that_fits_its_swizzle_by_chance_is_refused(alignment: int):
    body = (
        "before = cuda.shared.array(480, np.uint8)\n"  # with the mbarriers 512 bytes
        "a = cuda.shared.array((64, 32), np.float16{})\nd = hopper.wgmma_descriptor(a, 64)"
    )
    asked = f", alignment={alignment}" if alignment > 1 else ""
    run(body.format(", alignment=512"), 128)
    with pytest.raises(MisalignedError, match="which takes one of 512: here it fits by chance"):
        run(body.format(asked), 128)


# --- copies by threads, and what the async proxy sees of them ---

ARRIVES = "cp_async_commit()\ncp_async_wait(0)\nhopper.fence_proxy_async()\ncuda.syncthreads()\n"
BY_THREADS = (
    "a = cuda.shared.array((2, 64, 8), np.float16, alignment=1024)\n"
    "cp_async16(a.reshape(1024).view(np.float32), 4 * t, x, 8 * (t % 64) + 4 * (t // 64))\n"
    "{arrives}"
    "sums = cuda.local.array(32, np.float32)\n"
    "tile = hopper.wgmma_descriptor(a[0], 0)\n"
    "hopper.wgmma_fence()\n"
    "hopper.wgmma_mma_async(sums, tile, tile, 0)\n"
    "hopper.wgmma_commit_group()\n"
    "hopper.wgmma_wait_group(0)\n"
    "for i in range(32):\n"
    "    row = t // 32 * 16 + i // 2 % 2 * 8 + t % 32 // 4\n"
    "    out[row, i // 4 * 8 + t % 4 * 2 + i % 2] = sums[i]\n"
)
COPIES = "from warpwise.kernels.tensor_core import cp_async16, cp_async_commit, cp_async_wait"


def gram(arrives: str) -> tuple[np.ndarray, np.ndarray]:
    """Multiply 64 rows, which threads copy by ``cp_async16``, by themselves."""
    rows = np.random.default_rng(3).standard_normal((64, 16)).astype(np.float16)
    out = np.zeros((64, 64), np.float32)
    body = BY_THREADS.format(arrives=arrives)
    run(body, 128, names=COPIES, x=rows.reshape(-1).view(np.float32), out=out)
    return out, rows.astype(np.float64)


def test_a_product_reads_what_threads_have_copied_waited_for_and_fenced():
    out, rows = gram(ARRIVES)
    assert np.allclose(out, rows @ rows.T, atol=1e-3)


@pytest.mark.parametrize(
    ("left_out", "words"),
    [
        ("cp_async_wait(0)\n", "its threads have not waited for it"),
        ("hopper.fence_proxy_async()\n", "no fence lies between"),
    ],
)
def test_a_product_of_what_threads_copy_needs_the_wait_and_the_fence(left_out: str, words: str):
    with pytest.raises(AsyncCopyError, match=words):
        gram(ARRIVES.replace(left_out, ""))


def test_a_fence_before_the_wait_is_too_early():
    early = "hopper.fence_proxy_async()\ncp_async_commit()\ncp_async_wait(0)\ncuda.syncthreads()\n"
    with pytest.raises(AsyncCopyError, match="no fence lies between"):
        gram(early)


def test_a_copy_of_a_box_over_one_by_threads_is_named():
    body = (
        "tile = cuda.shared.array((8, 8), np.float32, alignment=128)\n"
        + made(1)
        + "if t < 16:\n    cp_async16(tile.reshape(64), 4 * t, x, 4 * t)\n"
        + "if t == 0:\n    hopper.tma_load(tile, x_map, (0, 0), bars, 0)\n"
    )
    x = np.zeros((8, 8), np.float32)
    with pytest.raises(AsyncCopyError, match="that on line 15 may still be on its way"):
        run(body, 32, names=COPIES, x=x.reshape(-1), x_map=hopper.tensor_map(x, (8, 8)))


# --- registers, and who runs them ---

BUDGET = "if t < 128:\n    hopper.setmaxnreg_dec({dec})\nelse:\n    hopper.setmaxnreg_inc({inc})\n"


def test_a_warpgroup_takes_registers_that_another_gives_back():
    """Each of 384 threads has 168 of 65,536 at first."""
    run(BUDGET.format(dec=40, inc=232), 384)
    with pytest.raises(EndlessError, match="nobody will give this warp its registers: 240"):
        run(BUDGET.format(dec=40, inc=240), 384)


def test_registers_go_the_way_that_the_word_says():
    with pytest.raises(KernelError, match="168 registers here, and setmaxnreg_dec cannot"):
        run("hopper.setmaxnreg_dec(232)", 384)
    with pytest.raises(UnsupportedError, match="a multiple of 8"):
        run("hopper.setmaxnreg_dec(30)", 384)


def test_a_partial_warpgroup_is_named():
    with pytest.raises(KernelError, match="four warps from a multiple of four on"):
        run("hopper.wgmma_fence()", 96)


class Words(Observer):
    """Keeps the words of each warp."""

    def __init__(self):
        self.seen = []

    def asynchronous(self, event):
        self.seen.append((event.mask.group.first, event.warp, event.word))


def test_observers_see_every_word_of_each_block():
    words = Words()
    run(made(64) + "hopper.mbarrier_arrive(bars, 0)", 64, blocks=2, observers=words)
    assert sorted(words.seen) == [
        (block, warp, word)
        for block in (0, 1)
        for warp, word in (
            (0, "mbarrier_arrive"),
            (0, "mbarrier_init"),
            (1, "mbarrier_arrive"),
        )
    ]
