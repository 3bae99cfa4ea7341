"""Times of textbook kernels on a GPU, by CUDA events, beside cupy's and torch's where these are installed.

    PYTHONPATH=. python tests/gpu/time_kernels.py [--samples N] [--out FILE]

Needs numpy, numba and numba-cuda. Writes ``measurements/<device>/kernels.json`` with every sample. Each kernel's result is first compared
with NumPy's. Arrays are larger than the L2 cache, and hold random numbers.
"""

from __future__ import annotations

import argparse
import importlib
import statistics
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from patterns import textbook
from provenance import MEASUREMENTS, NEEDS_GPU, device_name, has_gpu, provenance, slug, write

WARM_UP = 3
SIDE, VECTOR, MATMUL = 8192, 1 << 26, 2048


@dataclass(frozen=True)
class Job:
    """One kernel at one size. ``want``: its result by NumPy. ``peers``: the same in the words of cupy and torch, by the module's name.
    ``moved``: the least bytes that must move; ``flops``: operations, where they are what the kernel is for."""

    name: str
    kernel: object
    blocks: object
    threads: object
    args: tuple
    want: Callable[[], np.ndarray]
    peers: dict[str, Callable]
    moved: int
    flops: int = 0


def jobs(small: bool = False) -> Iterator[Job]:
    """Small ones are for trying them out in the simulator."""
    book, rng = textbook(), np.random.default_rng(0)
    n, side, middle, rows, cols = (1000, 40, 32, 5, 200) if small else (VECTOR, SIDE, MATMUL, SIDE, 4096)

    kernel, blocks, threads, (a, x, y) = book.on_vectors(book.saxpy, rng, n)
    before = y.copy()  # the simulator, unlike a GPU, writes to y itself
    peers = {"cupy": lambda a, x, y: y + a * x, "torch": lambda a, x, y: y.add(x, alpha=float(a))}
    yield Job("saxpy", kernel, blocks, threads, (a, x, y), lambda a=a, x=x: a * x + before, peers, 12 * n)

    for name in ("matmul_1_naive", "matmul_2_tiled"):
        kernel, blocks, threads, (a, b, c) = book.on_matmul(getattr(book, name), rng, middle, middle, middle)
        peers = {"cupy": lambda a, b, c: a @ b, "torch": lambda a, b, c: a @ b}
        yield Job(name, kernel, blocks, threads, (a, b, c), lambda a=a, b=b: a @ b, peers, 12 * middle**2, 2 * middle**3)

    for name in ("transpose_1_naive", "transpose_2_tiled"):
        kernel, blocks, threads, (src, dst) = book.on_matrices(getattr(book, name), rng, side, side)
        peers = {"cupy": lambda src, dst: src.T.copy(), "torch": lambda src, dst: src.T.contiguous()}
        yield Job(name, kernel, blocks, threads, (src, dst), lambda src=src: src.T, peers, 8 * side**2)

    kernel, blocks, threads, (x, out) = book.on_vectors(book.reduction, rng, n)
    peers = {"cupy": lambda x, out: x.sum(), "torch": lambda x, out: x.sum()}
    yield Job("reduction", kernel, blocks, threads, (x, out), lambda x=x, t=threads: block_sums(x, t), peers, 4 * n)

    kernel, blocks, threads, (x, out) = book.on_softmax(rng, rows, cols)
    peers = {"torch": lambda x, out: x.softmax(1)}
    yield Job("softmax", kernel, blocks, threads, (x, out), lambda x=x: row_softmax(x), peers, 8 * rows * cols)


def block_sums(x: np.ndarray, threads: int) -> np.ndarray:
    return np.pad(x, (0, -len(x) % threads)).reshape(-1, threads).sum(axis=1)


def row_softmax(x: np.ndarray) -> np.ndarray:
    powers = np.exp(x - x.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def timed(work: Callable[[], object], event: Callable[[], object], elapsed: Callable, samples: int) -> list[float]:
    """Milliseconds of each sample, between two events in the stream."""
    for _ in range(WARM_UP):
        work()
    pairs = []
    for _ in range(samples):
        start, stop = event(), event()
        start.record()
        work()
        stop.record()
        pairs.append((start, stop))
    pairs[-1][1].synchronize()
    return [elapsed(start, stop) for start, stop in pairs]


def of_kernel(job: Job, samples: int) -> list[float]:
    """Samples of the kernel; raises AssertionError if its result is not NumPy's."""
    from numba import cuda

    held = [cuda.to_device(a) if isinstance(a, np.ndarray) else a for a in job.args]
    launched = job.kernel[job.blocks, job.threads]
    launched(*held)
    np.testing.assert_allclose(held[-1].copy_to_host(), job.want(), rtol=1e-3, atol=1e-3, err_msg=job.name)
    return timed(lambda: launched(*held), cuda.event, cuda.event_elapsed_time, samples)


def of_peer(job: Job, peer: str, samples: int) -> list[float] | None:
    """Samples of the same work in cupy or torch; None where the peer is not installed or sees no GPU."""
    try:
        module = importlib.import_module(peer)
    except ImportError:
        return None
    if peer == "cupy":
        held = [module.asarray(a) if isinstance(a, np.ndarray) else a for a in job.args]
        event, elapsed = module.cuda.Event, module.cuda.get_elapsed_time
    elif module.cuda.is_available():
        held = [module.from_numpy(a).cuda() if isinstance(a, np.ndarray) else a for a in job.args]
        event, elapsed = (lambda: module.cuda.Event(enable_timing=True)), (lambda start, stop: start.elapsed_time(stop))
    else:
        return None
    return timed(lambda: job.peers[peer](*held), event, elapsed, samples)


def rows_of(job: Job, samples: int) -> Iterator[dict]:
    """The kernel's row, then its peers'."""
    by = {"numba": of_kernel(job, samples)} | {peer: of_peer(job, peer, samples) for peer in job.peers}
    for name, milliseconds in by.items():
        if milliseconds is None:
            continue
        seconds = statistics.median(milliseconds) / 1000
        yield {
            "name": job.name, "by": name, "blocks": job.blocks, "threads": job.threads,
            "shapes": [list(a.shape) for a in job.args if isinstance(a, np.ndarray)], "bytes": job.moved, "flops": job.flops,
            "median_ms": 1000 * seconds, "GB_per_s": job.moved / seconds / 1e9, "GFLOP_per_s": job.flops / seconds / 1e9,
            "samples_ms": milliseconds,
        }  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=20)
    parser.add_argument("--out", type=Path, help="the file to write; measurements/<device>/kernels.json if not named")
    options = parser.parse_args(arguments)
    if not has_gpu():
        print(NEEDS_GPU, file=sys.stderr)
        return 1
    rows = []
    for job in jobs():
        for row in rows_of(job, options.samples):
            rates = f"{row['GB_per_s']:8.0f} GB/s  {row['GFLOP_per_s']:8.0f} GFLOP/s"
            print(f"{row['name']:18} {row['by']:6} {row['median_ms']:9.3f} ms  {rates}")
            rows.append(row)
    write({"what": "kernels", **provenance(), "kernels": rows}, options.out or MEASUREMENTS / slug(device_name()) / "kernels.json")
    return 0


if __name__ == "__main__":
    sys.exit(main())
