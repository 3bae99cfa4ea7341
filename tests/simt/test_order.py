"""Accesses to shared and global memory that are ordered, and races for want of one word."""

import re
import sys
import textwrap

import numpy as np
import pytest

from warpwise import cuda, trace
from warpwise.errors import UnwrittenReadError
from warpwise.simt import kernels_in
from warpwise.simt.frontend.written import has_fence, written_parameters

HEAD = """
import math
import numpy as np
from numba import cuda
T = 64

@cuda.jit(device=True)
def put(a, k, value):
    a[k] = value  # in put

@cuda.jit(device=True)
def quiet(a, k):
    return a[k] + 1

@cuda.jit
def kernel(x, out, count):
    s = cuda.shared.array(T, np.float32)
    flag = cuda.shared.array(1, np.bool_)
    t, b, i = cuda.threadIdx.x, cuda.blockIdx.x, cuda.grid(1)
"""


def kernel_of(body: str):
    return kernels_in(HEAD + textwrap.indent(textwrap.dedent(" " * 8 + body.strip()), "    "))[
        "kernel"
    ]


def run(body: str, blocks: int = 3, threads: int = 64, **options):
    x = np.arange(blocks * threads, dtype=np.float32)
    return trace(
        kernel_of(body), blocks, threads, x, np.zeros_like(x), np.zeros(4, np.int32), **options
    )


# A body that is in order as it stands; without the lines marked "# needed" it races, between
# threads of that scope.
IN_ORDER = {
    "a syncwarp between lanes of a warp": (
        "warp",
        """
        s[t] = x[i]
        cuda.syncwarp()  # needed
        out[i] = s[t ^ 1]
        """,
    ),
    "a syncwarp in a loop, of the first warp alone": (
        "warp",
        """
        s[t] = x[i]
        cuda.syncthreads()
        if t < 32:
            n = 16
            while n > 0:
                v = s[t + n]
                cuda.syncwarp()  # needed
                s[t] += v
                cuda.syncwarp()
                n //= 2
        """,
    ),
    "a syncwarp of half a warp": (
        "warp",
        """
        s[t] = x[i]
        if t % 32 < 16:
            cuda.syncwarp(0xFFFF)  # needed
            out[i] = s[t ^ 1]
        """,
    ),
    "a syncwarp of each half of a warp": (
        "warp",
        """
        half = 0xFFFF0000 if t & 16 else 0xFFFF
        s[t] = x[i]
        cuda.syncwarp(half)  # needed
        out[i] = s[t ^ 8]
        """,
    ),
    "a chain of syncwarps of two halves and a whole": (
        "warp",
        """
        if t == 0:
            s[0] = x[i]
        if t < 16:
            cuda.syncwarp(0xFFFF)  # needed
        if 8 <= t < 24:
            cuda.syncwarp(0x00FFFF00)  # needed
        if t == 20:
            out[i] = s[0]
        """,
    ),
    "a barrier between threads of a block, on global memory": (
        "block",
        """
        out[i] = x[i]
        cuda.syncthreads()  # needed
        x[i] = out[b * T + (T - 1 - t)]
        """,
    ),
    "a syncwarp between lanes, on global memory": (
        "warp",
        """
        out[i] = x[i]
        cuda.syncwarp()  # needed
        x[i] = out[i ^ 1]
        """,
    ),
    "a sync of the grid between blocks": (
        "grid",
        """
        out[i] = x[i]
        cuda.cg.this_grid().sync()  # needed
        x[i] = out[3 * T - 1 - i]
        """,
    ),
    "a sync of the grid between blocks, for one element": (
        "grid",
        """
        if i == 0:
            out[0] = 1
        cuda.cg.this_grid().sync()  # needed
        x[i] = out[0]
        """,
    ),
    "the last block, with a fence before its atomic": (
        "grid",
        """
        if t == 0:
            out[b] = x[i]
            cuda.threadfence()  # needed
            flag[0] = cuda.atomic.add(count, 0, 1) == cuda.gridDim.x - 1
        cuda.syncthreads()
        if flag[0]:
            x[i] = out[0] + out[1] + out[2]
        """,
    ),
    "the last block, where all threads write, and one has a fence after the barrier": (
        "grid",
        """
        out[i] = x[i]
        cuda.syncthreads()
        if t == 0:
            cuda.threadfence()  # needed
            flag[0] = cuda.atomic.add(count, 0, 1) == cuda.gridDim.x - 1
        cuda.syncthreads()
        if flag[0]:
            x[i] = out[t] + out[T + t] + out[2 * T + t]
        """,
    ),
    "the last block, where all threads write and have a fence, then meet": (
        "grid",
        """
        out[i] = x[i]
        cuda.threadfence()  # needed
        cuda.syncthreads()
        if t == 0:
            flag[0] = cuda.atomic.add(count, 0, 1) == cuda.gridDim.x - 1
        cuda.syncthreads()
        if flag[0]:
            x[i] = out[t] + out[T + t] + out[2 * T + t]
        """,
    ),
    "an atomic and a plain read, with a barrier between": (
        "block",
        """
        if t == 0:
            s[0] = 0
        cuda.syncthreads()
        cuda.atomic.add(s, 0, x[i])
        cuda.syncthreads()  # needed
        if t == 5:
            out[i] = s[0]
        """,
    ),
    "fp32 words behind one another in one allocation, written by neighbours": (
        "block",
        """
        half = x.view(np.int16)
        half[2 * (i ^ 33)] = 1
        cuda.syncthreads()  # needed
        out[i] = x[i]
        """,
    ),
}

RACES = {
    "blocks write one element": (
        "grid",
        """
        out[0] = x[i]  # race
        """,
    ),
    "a fence after the atomic is too late": (
        "grid",
        """
        if t == 0:
            out[b] = x[i]  # race
            flag[0] = cuda.atomic.add(count, 0, 1) == cuda.gridDim.x - 1
            cuda.threadfence()
        cuda.syncthreads()
        if flag[0]:
            x[i] = out[0] + out[1] + out[2]  # race
        """,
    ),
    "a fence of the block alone does not reach another block": (
        "grid",
        """
        if t == 0:
            out[b] = x[i]  # race
            cuda.threadfence_block()
            flag[0] = cuda.atomic.add(count, 0, 1) == cuda.gridDim.x - 1
        cuda.syncthreads()
        if flag[0]:
            x[i] = out[0] + out[1] + out[2]  # race
        """,
    ),
    "not the last block reads, but each": (
        "grid",
        """
        if t == 0:
            out[b] = x[i]  # race
            cuda.threadfence()
            cuda.atomic.add(count, 0, 1)
        cuda.syncthreads()
        x[i] = out[0] + out[1] + out[2]  # race
        """,
    ),
    "one thread's fence does not cover what others write": (
        "grid",
        """
        out[i] = x[i]  # race
        if t == 0:
            cuda.threadfence()
            flag[0] = cuda.atomic.add(count, 0, 1) == cuda.gridDim.x - 1
        cuda.syncthreads()
        if flag[0]:
            x[i] = out[t] + out[T + t] + out[2 * T + t]  # race
        """,
    ),
    "a barrier orders no blocks": (
        "grid",
        """
        out[i] = x[i]  # race
        cuda.syncthreads()
        x[i] = out[(i + 1) % (3 * T)]  # race
        """,
    ),
    "a shuffle orders no memory": (
        "warp",
        """
        s[t] = x[i]  # race
        v = cuda.shfl_sync(0xFFFFFFFF, x[i], 0)
        out[i] = s[t ^ 1] + v  # race
        """,
    ),
    "a plain write beside atomics": (
        "block",
        """
        if t == 40:
            out[b] = 0  # race
        cuda.atomic.add(out, b, x[i])  # race
        """,
    ),
    "the same array under two names": (
        "grid",
        """
        y = x[1:]
        if i < 3 * T - 1:
            y[i] = 1  # race
        out[i] = x[i]  # race
        """,
    ),
    "of three readers the one in another warp": (
        "block",
        """
        if t < 1:
            s[0] = 0
        cuda.syncthreads()
        if t == 40:
            out[i] = s[0]  # race
        if t == 0:
            out[i] = s[0]
        if t == 1:
            out[i] = s[0]
        cuda.syncwarp()
        if t == 9:
            s[0] = 1  # race
        """,
    ),
    "of three readers on global memory the one in another block": (
        "grid",
        """
        if b == 1 and t == 0:
            x[i] = out[0]  # race
        if b == 0 and t < 40:
            x[i] = out[0]
        cuda.syncthreads()
        if i == 7:
            out[0] = 1  # race
        """,
    ),
    "what another lane read, by one that read it too": (
        "warp",
        """
        if i == 33:
            x[i] = out[0]  # race
        if i == 34:
            x[i] = out[0]
        if i == 34:
            out[0] = 1  # race
        """,
    ),
    "a syncwarp in another warp": (
        "warp",
        """
        s[t] = x[i]  # race
        if t >= 32:
            cuda.syncwarp()
        if t < 32:
            out[i] = s[t ^ 1]  # race
        """,
    ),
    "a syncwarp of the even lanes": (
        "warp",
        """
        s[t] = x[i]  # race
        if t % 2 == 0:
            cuda.syncwarp(0x55555555)
        out[i] = s[t ^ 1]  # race
        """,
    ),
    "a syncwarp of each half of a warp, read across them": (
        "warp",
        """
        half = 0xFFFF0000 if t & 16 else 0xFFFF
        s[t] = x[i]  # race
        cuda.syncwarp(half)
        out[i] = s[t ^ 16]  # race
        """,
    ),
    "what is written again after a barrier": (
        "warp",
        """
        out[i] = 1
        cuda.syncthreads()
        out[i] = 2  # race
        if t == 5:
            x[i] = out[i - 1]  # race
        """,
    ),
    "what is read again after a barrier that one block passes by": (
        "block",
        """
        s[t] = x[i]
        cuda.syncthreads()
        out[i] = s[t]
        if b == 0:
            cuda.syncthreads()
        out[i] = s[t ^ 32]  # race
        if t == 5 and b == 1:
            s[t] = 1  # race
        """,
    ),
    "in a device function": (
        "warp",
        """
        put(out, i // 2, x[i])
        """,
    ),
}


@pytest.mark.parametrize("name", IN_ORDER)
def test_what_is_in_order_is_left_alone(name):
    assert run(IN_ORDER[name][1]).races == ()


@pytest.mark.parametrize("name", IN_ORDER)
def test_without_what_orders_it_it_races(name):
    scope, body = IN_ORDER[name]
    kept = [
        re.sub(
            r"cuda\.[\w.()]*sync\w*\(.*\)  # needed|cuda\.threadfence\(\)  # needed", "pass", line
        )
        for line in body.split("\n")
    ]
    assert kept != body.split("\n")
    races = run("\n".join(kept)).races
    assert races and scope in {race.scope for race in races}


@pytest.mark.parametrize("name", RACES)
def test_a_race_is_found_with_its_scope(name):
    scope, body = RACES[name]
    t = run(body)
    marked = {
        n
        for n, text in t.source.items()
        if text.endswith("# in put" if "device function" in name else "# race")
    }
    assert scope in {race.scope for race in t.races}
    assert {line for race in t.races for line in (race.first.line, race.second.line)} == marked


@pytest.mark.parametrize("blocks", [3, 400, 2000])
def test_blocks_of_different_batches_race_too(blocks):
    """Block 0 writes what the last block reads, hundreds of batches later.

    So do neighbouring blocks with one element."""
    (race,) = run(
        """
        if i == 7:
            out[5] = 1
        if b == cuda.gridDim.x - 1:
            if t == 3:
                x[i] = out[5]
        """,
        blocks=blocks,
    ).races
    assert (race.first.block, race.second.block, race.scope) == (
        (0, 0, 0),
        (blocks - 1, 0, 0),
        "grid",
    )
    (race,) = run("x[i] = out[min(i + 64, out.size - 1)]\n        out[i] = 1", blocks=blocks).races
    assert race.scope == "grid" and race.index[0] >= 64


def test_arguments_that_share_memory_are_one():
    kernel = kernel_of("x[i] = out[i]")
    both = cuda.to_device(np.zeros(65, np.float32))
    assert trace(kernel, 1, 64, both[:64], both[:64], both).races == ()
    (race,) = trace(kernel, 1, 64, both[1:], both[:64], both).races
    assert race.array in ("x", "out") and race.scope == "block"


def test_a_race_on_a_view_names_the_element_of_the_array():
    kernel = kernels_in("""
from numba import cuda
@cuda.jit
def kernel(m):
    t = cuda.threadIdx.x
    row = m[2]
    row[t // 2] = t
""")["kernel"]
    (race,) = trace(kernel, 1, 8, np.zeros((4, 10))).races
    assert (race.array, race.index) == ("m", (2, 0))


def test_halves_of_an_element_do_not_race():
    """Even threads write real parts, odd threads imaginary ones; reads of whole numbers race."""
    text = """
from numba import cuda
@cuda.jit
def kernel(z, out):
    t = cuda.threadIdx.x
    parts = z.view(out.dtype)
    parts[t] = 1
    {}
"""
    fine, racy = (
        kernels_in(text.format(line))["kernel"]
        for line in ("out[t] = parts[t]", "out[t] = z[t // 2].real")
    )
    z, out = np.zeros(16, np.complex64), np.zeros(32, np.float32)
    try:
        t = trace(fine, 1, 32, z, out)
    except Exception as error:
        pytest.skip(f"views of this kind are not there yet: {error}")
    assert t.races == ()
    assert {race.scope for race in trace(racy, 1, 32, z, out).races} == {"warp"}


ADVICE = {
    "out[0] = x[i]": "let only one thread write each element of out",
    "out[i // 40] += x[i]": (
        "cuda.atomic.add(out, i // 40, x[i]): several threads update one element"
    ),
    "out[t] = x[i]": "does the index count the blocks before, as cuda.grid(1) does?",
    "s[t] = x[i]\n"
    "        cuda.syncthreads()\n"
    "        if t < 32:\n"
    "            s[t] += s[t + 16]": "; in a loop, that means in every trip",
    "s[t] = x[i]\n        out[i] = s[t ^ 1]": "cuda.syncwarp()",
    "s[t] = x[i]\n        out[i] = s[t ^ 32]": "cuda.syncthreads()",
    "if t == 0:\n"
    "            out[0] = 1\n"
    "        if t == 40:\n"
    "            cuda.atomic.add(out, 0, 1)": "or let both be atomic",
    "out[i] = 1\n        x[i] = out[(i + 64) % 192]": "second launch",
}


@pytest.mark.parametrize("body", ADVICE)
def test_what_to_try_fits_the_race(body):
    races = run(body).races
    assert any(ADVICE[body] in race.try_this for race in races), [str(race) for race in races]


def test_a_read_and_a_write_of_the_next_trip_are_told_so():
    (race,) = run("""
        for k in range(3):
            s[t] = x[i] + k
            cuda.syncthreads()
            out[i] = s[63 - t]
        """).races
    assert (
        "if line 16 is in the next trip of a loop, at the end of that loop"
        in race.try_this.replace(str(race.second.line), "16")
    )


@pytest.mark.parametrize(
    "body", ["cuda.atomic.add(s, t, 1)", "s[t] += 1", "cuda.atomic.max(s, 0, x[i])"]
)
def test_an_update_reads_what_nobody_wrote(body):
    with pytest.raises(UnwrittenReadError, match=r"s\[0\] is read, but nothing was written there"):
        run(body)


@pytest.mark.parametrize("body", ["out[0] = s[t]", "out[i % 7] = x[i]\n        s[0] = t"])
def test_without_the_sanitizer_nothing_is_told(body):
    assert run(body, sanitize=False).races == ()


def calls(work) -> tuple[object, int]:
    """Return what `work` returns, and how many calls it took: a time without a clock."""
    count = 0

    def each(_frame, event, _function):
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(each)
    try:
        return work(), count
    finally:
        sys.setprofile(None)


def test_a_kernel_that_races_everywhere_takes_no_more_work_the_longer_it_races():
    """Only so many races are told, and the work of each access stays the same."""
    lines = (
        f"out[(i * {n} + k) % 64] = x[(i + {n}) % 64]\n            x[i % 8] = {n}"
        for n in range(1, 9)
    )
    body = "\n            ".join(["for k in range(50):", *lines])
    raced, racy = calls(lambda: run(body, blocks=256))
    _, plain = calls(lambda: run(body, blocks=256, sanitize=False))
    assert len(raced.races) == 16 and racy < 4 * plain


WRITTEN = {
    "out[i] = x[i]": "out",
    "y = out\n        y[i] = 1": "out",
    "y = x if b else out\n        y[i] = 1": "out x",
    "y, z = x, out\n        z[i] = 1": "out x",
    "put(x, i, out[i])": "x",
    "out[i] = quiet(x, i)": "out",
    "cuda.atomic.add(count, 0, x[i])": "count",
    "out[i] += math.sqrt(float(max(x[i], len(out))))": "out",
    "x[1:][i] = 1": "x",
    "for y in (x, out):\n            y[i] = 1": "out x",
    "v = x[i]\n        if v > 0:\n            out[i] = v": "out",
}


@pytest.mark.parametrize("body", WRITTEN)
def test_which_arguments_a_kernel_may_write(body):
    found = written_parameters(kernel_of(body))
    must = {"y = x if b else out\n        y[i] = 1": "out x"}.get(body, WRITTEN[body])
    assert (
        set(must.split()) <= found <= set(must.split()) | {"x", "out"}
        if " " in must
        else found == set(must.split())
    )


@pytest.mark.parametrize(
    "name", ["threadfence", "threadfence_block", "threadfence_system", "syncthreads", "syncwarp"]
)
def test_a_fence_is_seen_in_the_text(name):
    assert has_fence(kernel_of(f"cuda.{name}()")) == name.startswith("threadfence")
