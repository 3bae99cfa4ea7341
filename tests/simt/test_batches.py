"""Going through a grid: batches that fit, endless kernels, interrupts, and the progress bar."""

import io
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from numba import cuda

from warpwise import trace
from warpwise.errors import StepLimitError
from warpwise.simt import kernels_in
from warpwise.simt.machine import batches


@cuda.jit
def count_down(x):
    i = cuda.grid(1)
    while x[i] > 0:
        x[i] -= 1


def sizes_of(monkeypatch, *launch, **options) -> list[int]:
    """Return how many blocks ran together, batch by batch."""
    counts = []
    batch = batches.Batch
    monkeypatch.setattr(
        batches,
        "Batch",
        lambda launch, first, count: counts.append(count) or batch(launch, first, count),
    )
    trace(*launch, **options)
    return counts


@cuda.jit
def tile(x):
    s = cuda.shared.array(8 * 1024, np.float32)
    s[cuda.threadIdx.x] = x[cuda.grid(1)]
    cuda.syncthreads()
    x[cuda.grid(1)] = s[31 - cuda.threadIdx.x]


def test_batches_are_sized_by_lanes_and_by_shared_memory(monkeypatch):
    assert sizes_of(monkeypatch, count_down, 40, 1024, np.zeros(40 * 1024, np.int64)) == [16, 16, 8]
    assert sizes_of(monkeypatch, tile, 3000, 32, np.zeros(3000 * 32, np.float32))[1:3] == [512, 512]
    monkeypatch.setattr(batches, "SHARED_BYTES", 1 << 20)
    assert sizes_of(monkeypatch, tile, 600, 32, np.zeros(600 * 32, np.float32)) == [512, 32, 32, 24]


ENDLESS = """
from numba import cuda
@cuda.jit
def forever(x, n):
    i = cuda.grid(1)
    while x[i] > n:
        for k in range(12):
            x[i] += k
@cuda.jit
def few_of_many(x, n):
    i = cuda.grid(1)
    while i % 64 in_range:  # comments are left out
        x[i] += 1
        i += 0
@cuda.jit(device=True)
def inner(v):
    return v + 1
@cuda.jit
def calls(x, n):
    i = cuda.grid(1)
    if i == 70:
        k = 0
        while k >= 0:
            k = inner(k)
""".replace("i % 64 in_range", "10 <= i % 64 < 50 and i % 64 != 20")


CLOSER = "check that every path through the loop comes closer to its end"


@pytest.mark.parametrize(
    ("name", "says"),
    [
        (
            "forever",
            "1,000 steps: 192 threads are still in this loop, `while x[i] > n`, "
            "first of them lanes 0-31 of warp 0 of block (0, 0, 0)",
        ),
        (
            "few_of_many",
            "1,000 steps: 117 threads are still in this loop, "
            "`while 10 <= i % 64 < 50 and i % 64 != 20`, "
            "first of them lanes 10-19, 21-31 of warp 0 of block (0, 0, 0)",
        ),
        (
            "calls",
            (
                "1,000 steps: 1 thread is still in this loop, `while k >= 0`, "
                "first of them lane 6 of warp 0 of block (1, 0, 0)"
            ),
        ),
    ],
)
def test_a_kernel_that_does_not_end_names_its_loop_and_the_lanes_in_it(name, says):
    with pytest.raises(StepLimitError) as caught:
        trace(kernels_in(ENDLESS)[name], 3, 64, np.full(192, 9), 0, max_steps=1000)
    assert caught.value.what == f"the kernel did not end within {says}"
    alone = "the launch has 192 threads, and one alone is in this loop: " if name == "calls" else ""
    said = str(caught.value.try_this)
    assert said.startswith(alone or CLOSER) and said.lower().endswith(CLOSER)


def test_the_budget_of_steps_is_that_of_a_batch():
    x = np.full(64 * 1024, 30)
    trace(count_down, 64, 1024, x, max_steps=40)  # four batches of 31 trips each
    assert not x.any()


def test_an_interrupt_leaves_the_arrays_as_they_are_and_goes_through():
    """Within a batch, a thread sends the signal once the kernel has begun to write."""
    program = textwrap.dedent("""
        import os, signal, threading
        # a job in the background ignores it
        signal.signal(signal.SIGINT, signal.default_int_handler)
        import numpy as np
        from warpwise import trace
        from warpwise.simt import kernels_in
        kernel = kernels_in('''
        from numba import cuda
        @cuda.jit
        def k(x, n):
            i = cuda.grid(1)
            for trip in range(n):
                x[i] += 1
        ''')["k"]
        x, n = np.zeros(40_000, np.int64), 1_000_000_000
        def interrupt():
            while not x[0] > 20:
                pass
            os.kill(os.getpid(), signal.SIGINT)
        threading.Thread(target=interrupt).start()
        try:
            trace(kernel, 40, 1000, x, n, max_steps=2 * n)
        except KeyboardInterrupt:
            assert 20 < x[0] < n and x[0] - 1 <= x[15_999] <= x[0] and not x[-1], x
            print("interrupted")
        again = np.zeros(64, np.int64)
        trace(kernel, 2, 32, again, 3)
        assert (again == 3).all()
        print("goes on")
    """)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=600
    )
    assert done.stdout.split("\n")[:2] == ["interrupted", "goes on"], done.stderr
    assert done.returncode == 0


def shown(monkeypatch, terminal: bool, patience: float, progress) -> str:
    err = io.StringIO()
    err.isatty = lambda: terminal
    monkeypatch.setattr("warpwise.simt.machine.progress.PATIENCE", patience)
    monkeypatch.setattr(sys, "stderr", err)
    trace(count_down, 64, 1024, np.zeros(64 * 1024, np.int64), progress=progress)
    return err.getvalue()


@pytest.mark.parametrize(
    ("terminal", "patience", "progress", "is_shown"),
    [
        (True, 0, None, True),
        (True, 60, None, False),
        (False, 0, None, False),
        (False, 60, True, True),
        (True, 0, False, False),
    ],
)
def test_a_bar_counts_the_blocks_of_a_long_launch(
    monkeypatch, terminal, patience, progress, is_shown
):
    text = shown(monkeypatch, terminal, patience, progress)
    assert ("16/64" in text and "count_down" in text) is is_shown


def test_without_tqdm_there_is_no_bar(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    assert shown(monkeypatch, True, 0, True) == ""


def test_warpwise_loads_no_progress_bar_before_it_is_needed():
    code = "import sys, warpwise; print('tqdm' in sys.modules, 'numba' in sys.modules)"
    assert subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split() == ["False", "False"]
