"""Time the simulator: beside Numba's, with and without the sanitizer, and on divergent work.

Every ratio is of the same launch, one of eleven textbook kernels, with counters and the sanitizer
on. Numba's simulator runs once, in a process of its own, as Numba decides when it is imported which
``cuda`` it has; ours runs several times, and the best run counts. Memory is measured, too.

    python tools/bench_kernels.py --numba NAME | --memory      what ``bench.py`` starts
"""

from __future__ import annotations

import inspect
import math
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache

import numpy as np
from bench_row import Row, best, said, seconds
from numba import cuda
from support import programs

LEAST, MEAN = 100, 1000
NEEDS = {"saxpy": 2000, "tiled matmul": 1000}  # the others: LEAST
MANY = 100_000_000
GB = 1e9


@cache
def book():
    return programs.load("textbook")


def launch_of(name: str) -> tuple:
    """Return kernel, blocks, threads and arguments, with the same numbers in every process."""
    return book().LARGE[name](np.random.default_rng(0))


def here(launch: tuple, times: int = 9, **options) -> float:
    """Return the seconds of one launch in our simulator, without events."""
    from warpwise import trace

    kernel, blocks, threads, args = launch
    return best(lambda: trace(kernel, blocks, threads, *args, record=(), **options), times)


def in_a_process(*arguments: str, **environment: str) -> list[float]:
    """Return the figures that this file prints when it runs as a script.

    Raises RuntimeError with the last line of what went wrong."""
    command = [sys.executable, __file__, *arguments]
    done = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError((done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1])
    return [float(figure) for figure in done.stdout.split()]


# --- beside Numba's simulator ---


def simulator(say: Callable[[str], None]) -> Iterator[Row]:
    ratios = {}
    for name in book().LARGE:
        row = beside_numba(name, say)
        if row.value is not None:
            ratios[name] = row.value
        yield row
    note = "" if len(ratios) == len(book().LARGE) else f"of {len(ratios)} that ran"
    mean = math.exp(sum(map(math.log, ratios.values())) / len(ratios)) if ratios else None
    yield Row("times faster, geometric mean", mean, "x", MEAN, note=note)
    least = min(ratios, key=ratios.get, default=None)
    yield Row("times faster, the least", ratios.get(least), "x", LEAST, note=least or "none ran")
    yield from products(say)


def beside_numba(name: str, say: Callable[[str], None]) -> Row:
    title = f"{name}: times faster"
    try:
        say(f"{name}, here ...")
        ours = here(launch_of(name))
        say(f"{name}, in Numba's simulator (seconds) ...")
        (theirs,) = in_a_process("--numba", name, NUMBA_ENABLE_CUDASIM="1", PYTHONWARNINGS="ignore")
    except Exception as error:  # one kernel that cannot run leaves the others their rows
        return Row(title, None, "x", NEEDS.get(name, LEAST), note=said(error))
    return Row(
        title,
        theirs / ours,
        "x",
        NEEDS.get(name, LEAST),
        note=f"{theirs:.2f} s and {1000 * ours:.2f} ms",
    )


def products(say: Callable[[str], None]) -> Iterator[Row]:
    tiled = book().matmul_2_tiled
    for n, times in [(256, 5), (512, 2)]:
        say(f"tiled matmul {n}^3 ...")
        taken = here(book().on_matmul(tiled, np.random.default_rng(n), n, n, n), times)
        if n == 512:
            yield Row("tiled matmul 512^3", taken, "s", 3, at_most=True)
        else:
            yield Row("tiled matmul 256^3", n**3 / taken, "FMA/s", 5e7)


def flash_attention(say: Callable[[str], None]) -> Iterator[Row]:
    """Time lab 12's block kernel for rows of 64 elements, on one head of 512 queries."""
    say("flash attention, 512 queries ...")
    kernel, rng = (
        lab_kernel("12_flash_attention", "flash_tiles", TILE=32, D=64, PATCH=2, PITCH=65, ROW=33),
        np.random.default_rng(12),
    )
    q, k, v = (rng.normal(size=(1, 512, 64)).astype(np.float32) for _ in range(3))
    o, log_sum_exp = np.zeros_like(q), np.zeros((1, 512), np.float32)
    launch = (
        kernel,
        (16, 1),
        (32, 32),
        (q, k, v, np.array([512], np.int32), o, log_sum_exp, np.float32(0.125)),
    )
    yield Row("flash attention forward, N = 512, d = 64", here(launch, 3), "s", 5, at_most=True)
    w = np.exp(0.125 * q[0].astype(np.float64) @ k[0].T)
    total = w.sum(axis=1)
    assert np.allclose(o[0], w @ v[0] / total[:, None], atol=1e-5) and np.allclose(
        log_sum_exp[0], np.log(total), atol=1e-5
    )


def lab_kernel(stem: str, name: str, **constants: int):
    """Return the kernel of a lab's solution, with other constants."""
    from warpwise.labs.source import load_lab, solved_notebook
    from warpwise.simt import kernels_in

    cells = [
        cell.source
        for cell in solved_notebook(load_lab(stem)).cells
        if f"def {name}(" in cell.source
    ]
    values = "\n".join(f"{constant} = {value}" for constant, value in constants.items())
    return kernels_in(
        f"import math\nimport numpy as np\nfrom warpwise import cuda\n{values}\n{cells[0]}"
    )[name]


# --- the cost of the sanitizer ---


def sanitizer(say: Callable[[str], None]) -> Iterator[Row]:
    from warpwise import trace

    title, need = "sanitizer: times slower than counters alone, the worst", 3
    if "sanitize" not in inspect.signature(trace).parameters:
        yield Row(title, None, "x", need, at_most=True, note="trace() has no option sanitize")
        return
    costs, failed = {}, []
    for name in book().LARGE:
        say(f"{name}, with the sanitizer and without ...")
        try:
            costs[name] = cost_of(launch_of(name))
        except Exception as error:
            failed.append(f"{name}: {said(error)}")
    worst = max(costs, key=costs.get, default=None)
    yield Row(
        title,
        costs.get(worst),
        "x",
        need,
        at_most=True,
        note="; ".join([worst or "none ran", *failed]),
    )


def cost_of(launch: tuple, times: int = 9) -> float:
    """Return seconds with the sanitizer over seconds without.

    The runs take turns, so that a busy machine disturbs both alike."""
    from warpwise import trace

    kernel, blocks, threads, args = launch
    runs = [
        lambda on=on: trace(kernel, blocks, threads, *args, record=(), sanitize=on)
        for on in (True, False)
    ]
    runs[0]()  # compiles the kernel
    taken = [[seconds(run) for run in runs] for _ in range(times)]
    checked, counted = map(min, zip(*taken, strict=True))
    return checked / counted


# --- memory ---


def memory(say: Callable[[str], None]) -> Iterator[Row]:
    title = f"saxpy, {MANY:,} threads: memory beyond its arrays"
    say(f"{title} ...")
    try:
        beyond, taken = in_a_process("--memory")
    except RuntimeError as error:
        yield Row(title, None, "GB", 1, at_most=True, note=said(error))
        return
    yield Row(title, beyond / GB, "GB", 1, at_most=True, note=f"{taken:.1f} s")


def peak_beyond_arrays() -> tuple[float, float]:
    """Return this process's largest bytes without the arrays, and the launch's seconds."""
    from warpwise import trace

    x, y = np.ones(MANY, np.float32), np.ones(MANY, np.float32)
    taken = seconds(lambda: trace(book().saxpy, MANY // 128, 128, np.float32(2), x, y, record=()))
    assert y[0] == y[-1] == 3
    # Linux says it in KiB
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - x.nbytes - y.nbytes, taken


# --- divergent work ---

LONG = 1000
EVERY = 100


@cuda.jit
def uneven(out, every, long):
    """One warp in ``every`` makes ``long`` trips, the others one."""
    i = cuda.grid(1)
    trips = long if i // 32 % every == 0 else 1
    total = np.float32(0)
    for k in range(trips):
        total = total * np.float32(0.5) + np.float32(k)
    out[i] = total


def divergence(say: Callable[[str], None]) -> Iterator[Row]:
    for warps in (400, 3200):
        say(f"one warp in a hundred, of {warps:,} ...")
        title = (
            f"one warp of {EVERY} loops {LONG:,} times longer, {32 * warps:,} threads: "
            "against those alone"
        )
        alone, rest = warps // EVERY * 32, 32 * warps
        try:
            lone = here((uneven, alone // 32, 32, (np.zeros(alone, np.float32), 1, LONG)), 3)
            taken = here((uneven, rest // 128, 128, (np.zeros(rest, np.float32), EVERY, LONG)), 3)
        except Exception as error:
            yield Row(title, None, "x", 5, at_most=True, note=said(error))
            continue
        yield Row(
            title,
            taken / lone,
            "x",
            5,
            at_most=True,
            note=f"{1000 * taken:.0f} and {1000 * lone:.0f} ms",
        )


def main(arguments: list[str]) -> int:
    if arguments == ["--memory"]:
        print(*peak_beyond_arrays())
        return 0
    kernel, blocks, threads, args = launch_of(arguments[1])
    print(seconds(lambda: kernel[blocks, threads](*args)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
