"""Barriers that vote and the sync of a grid: results, attendance, and the order they make."""

import numpy as np
import pytest
from numba import cuda
from numba.cuda import cg

from warpwise import trace
from warpwise.devices import H100, T4
from warpwise.errors import BarrierError, KernelError, LaunchError
from warpwise.simt import kernels_in


@cuda.jit
def votes(x, out):
    i, t, b = cuda.grid(1), cuda.threadIdx.x, cuda.blockIdx.x
    if t >= cuda.blockDim.x - 2:
        return
    out[0, i] = cuda.syncthreads_count(x[i])
    out[1, i] = cuda.syncthreads_and(x[i])
    out[2, i] = cuda.syncthreads_or(x[i])
    out[3, i] = cuda.syncthreads_count(1)
    out[4, i] = cuda.syncthreads_count(t % 2)
    if b % 2 == 0:
        out[5, i] = cuda.syncthreads_and(b)
        out[6, i] = cuda.syncthreads_or(b)


@pytest.mark.parametrize(("blocks", "threads"), [(1, 32), (4, 7), (3, 50)])
def test_votes_of_a_block(blocks, threads):
    x = (np.random.default_rng(threads).random((blocks, threads)) < 0.9).astype(np.int64) * 3
    x[0] = 1
    out = np.full((7, blocks, threads), -1)
    t = trace(votes, blocks, threads, x.ravel(), out.reshape(7, -1))
    here = threads - 2
    voting = x[:, :here] != 0
    for b in range(blocks):
        even = b % 2 == 0
        want = [
            voting[b].sum(),
            voting[b].all(),
            voting[b].any(),
            here,
            here // 2,
            int(b > 0) if even else -1,
            int(b > 0) if even else -1,
        ]
        for row, value in zip(out[:, b], want, strict=True):
            np.testing.assert_array_equal(row[:here], int(value))
        assert (out[:, b, here:] == -1).all()
    warps = -(-here // 32)
    assert t.metrics.barriers == warps * (5 * blocks + 2 * -(-blocks // 2))


def test_a_vote_that_a_part_of_the_block_does_not_reach():
    text = """
from numba import cuda
@cuda.jit
def k(x):
    i = cuda.grid(1)
    if i != 70:
        x[i] = cuda.syncthreads_or(x[i])
"""
    with pytest.raises(
        BarrierError,
        match=(
            r"only 31 of 32 threads of block \(2, 0, 0\) reach this barrier; "
            r"thread \(6, 0, 0\) does not"
        ),
    ):
        trace(kernels_in(text)["k"], 3, 32, np.zeros(96, np.int32))


@cuda.jit
def heat(x, y, steps):
    i, grid = cuda.grid(1), cg.this_grid()
    n = x.size
    for _ in range(steps):
        if 0 < i < n - 1:
            y[i] = (x[i - 1] + 2 * x[i] + x[i + 1]) // 4
        grid.sync()
        if 0 < i < n - 1:
            x[i] = y[i]
        cuda.cg.this_grid().sync()


def test_a_grid_that_syncs_runs_together_and_has_no_race():
    x = np.random.default_rng(0).integers(0, 1000, 700 * 32)
    want = x.copy()
    for _ in range(5):
        want[1:-1] = (want[:-2] + 2 * want[1:-1] + want[2:]) // 4
    t = trace(heat, 700, 32, x, np.zeros_like(x), 5)
    np.testing.assert_array_equal(x, want)
    assert t.races == () and t.metrics.barriers == 2 * 5 * 700


GRID = """
from numba import cuda
from numba.cuda import cg
@cuda.jit
def in_a_branch(x):
    g = cg.this_grid()
    if cuda.blockIdx.x < 3:
        g.sync()
@cuda.jit
def after_a_return(x):
    if cuda.grid(1) > 100:
        return
    cuda.cg.this_grid().sync()
@cuda.jit
def long_loop_of_one(x):
    g = cg.this_grid()
    k = 0
    while k < 40:
        if cuda.blockIdx.x == 3 and k > 5:
            break
        g.sync()
        k += 1
@cuda.jit
def fine(x):
    g = cg.this_grid()
    x[cuda.grid(1) % x.size] = g.sync()
"""


@pytest.mark.parametrize(
    ("name", "says"),
    [
        (
            "in_a_branch",
            (
                "only 96 of the grid's 160 threads reach this sync; "
                "thread (0, 0, 0) of block (3, 0, 0) does not"
            ),
        ),
        (
            "after_a_return",
            "only 101 of the grid's 160 threads reach this sync; "
            "thread (5, 0, 0) of block (3, 0, 0) has returned from the kernel",
        ),
        (
            "long_loop_of_one",
            (
                "only 128 of the grid's 160 threads reach this sync; "
                "thread (0, 0, 0) of block (3, 0, 0) does not"
            ),
        ),
    ],
)
def test_a_sync_of_the_grid_that_some_do_not_reach(name, says):
    with pytest.raises(BarrierError) as caught:
        trace(kernels_in(GRID)[name], 5, 32, np.zeros(4))
    assert caught.value.what == says


def test_a_sync_of_the_grid_that_some_have_returned_before_is_noted_where_a_gpu_goes_on():
    kernel = kernels_in(GRID)["after_a_return"]
    (note,) = trace(kernel, 4, 32, np.zeros(4)).notes
    assert note.what.startswith("only 101 of the grid's 128 threads reach this sync")
    assert "a GPU would go on" in note.what
    with pytest.raises(BarrierError, match="only 101"):
        trace(kernel, 4, 32, np.zeros(4), whole_barriers=True)


def test_a_grid_that_cannot_be_on_the_gpu_at_once_is_refused():
    fine = kernels_in(GRID)["fine"]
    for device, threads in ((H100, 1024), (T4, 256)):
        most = device.sms * (device.sm.warps * 32 // threads)
        trace(fine, most, threads, np.zeros(4), device=device)
        with pytest.raises(LaunchError, match=f"at most {most:,} can"):
            trace(fine, most + 1, threads, np.zeros(4), device=device)


def test_what_is_no_sync_of_a_grid_is_refused():
    for line in (
        "x.sync()",
        "g.sync(1)",
        "g.thread_rank()",
        "cuda.cg.this_grid(1)",
        "g + 1",
        "cuda.cg()",
    ):
        text = (
            "from numba import cuda\n"
            "@cuda.jit\n"
            "def k(x):\n"
            "    g = cuda.cg.this_grid()\n"
            f"    v = {line}\n"
        )
        with pytest.raises(KernelError) as caught:
            trace(kernels_in(text)["k"], 1, 32, np.zeros(4))
        assert caught.value.where.line == 5, line


# --- threads that have ended count as arrived ---

HEAD = """
from numba import cuda
import numpy as np
@cuda.jit
def k(x, y):
    t = cuda.threadIdx.x
    s = cuda.shared.array(96, np.float32)
    s[t] = x[t]
"""
ENDS = {
    "return": "if t >= 70:\n    return\ncuda.syncthreads()\ny[t] = s[69 - t]",
    "a warp returns": "if t >= 32:\n    return\ncuda.syncthreads()\ny[t] = s[31 - t]",
    "a warp that goes round it": "if t < 32:\n    cuda.syncthreads()\n    y[t] = s[31 - t]",
    "in the other way": "if t >= 64:\n    y[t] = 1\nelse:\n    cuda.syncthreads()\n    y[t] = s[0]",
    "trips": "for n in range(t // 32):\n    cuda.syncthreads()\n    y[t] = n",
}
DIVIDED = {
    "a warp": "if t < 40:\n    cuda.syncthreads()",
    "it comes to another": "if t < 32:\n    cuda.syncthreads()\ny[t] = 1\ncuda.syncthreads()",
    "both ways": "if t < 32:\n    cuda.syncthreads()\nelse:\n    cuda.syncthreads()",
    "a race": "if t < 32:\n    s[t] = 1\n    cuda.syncthreads()\ny[t] = s[t % 32]",
    "a read of what comes later": "if t < 32:\n    cuda.syncthreads()\n    y[t] = s[t + 32]\n"
    "else:\n    s[t] = 2",
    "an error behind it": "if t < 32:\n    cuda.syncthreads()\n    y[t + 90] = 1",
}


def ended(body: str, **options):
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    y = np.zeros(96, np.float32)
    return trace(kernels_in(HEAD + lines)["k"], 1, 96, np.arange(96.0), y, **options), y


@pytest.mark.parametrize("name", ENDS)
def test_threads_that_have_ended_count_as_arrived(name):
    t, y = ended(ENDS[name])
    assert not t.races and y.any()
    if "return" in ENDS[name]:
        assert not t.notes
        ended(ENDS[name], whole_barriers=True)
        return
    (note,) = t.notes
    assert note.text == "cuda.syncthreads()" and "threads that have ended count" in note.what
    with pytest.raises(BarrierError):
        ended(ENDS[name], whole_barriers=True)


@pytest.mark.parametrize("name", DIVIDED)
def test_threads_that_go_on_elsewhere_are_missing(name):
    with pytest.raises(BarrierError) as caught:
        ended(DIVIDED[name])
    assert caught.value.where.text == "cuda.syncthreads()"
    assert " of 96 threads of block (0, 0, 0) reach this barrier" in caught.value.what
