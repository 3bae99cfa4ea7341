"""Predict the steps of the float32 product, without a GPU, for the book's charts and chapter 14.

As a program: put their times on devices, by default those of the book, into
measurements/predicted/<device>.json, and print them. One block is traced, over a part of its depth,
since its main loop goes on as it began; the rest is extrapolated, as in the replay of published
times."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

import numpy as np

from warpwise import trace
from warpwise.benchmark_records import folder
from warpwise.kernels import sgemm
from warpwise.kernels.step import Step
from warpwise.measure.predictions import milliseconds, path_of, put
from warpwise.stopwatch import Card, Estimate, find, time
from warpwise.traces import Trace

SUITE, N = "sgemm_ladder", 4096
DEVICES = ("H200", "RTX A6000")  # of chapter 9's chart, and of chapter 14
#: Columns of A that are traced; more where a pass of the main loop takes 32 of them at once.
DEPTH, DEEPER = 128, 512
SQUARE = (32, 32)  # threads of the first steps' blocks
SIDES = {"sgemm_1_naive": 32, "sgemm_2_coalesced": 32, "sgemm_3_shared": 32, "sgemm_4_tile_1d": 64}


def traced(step: Step, depth: int) -> tuple[Trace, tuple[int, int, int]]:
    """Trace one block of a product of N x ``depth`` and ``depth`` x N, and return its grid too."""
    side = SIDES.get(step.name, sgemm.SIDE)
    (built,) = step.built
    a, b, c = (np.zeros(size, np.float32) for size in (N * depth, depth * N, N * N))
    sizes = (N, N, depth) if step in sgemm.ANY_SIZE else (N, depth)
    threads = SQUARE if side == SQUARE[0] else built.threads
    arguments = *map(np.uint32, sizes), a, b, c
    made = trace(built.kernel, 1, threads, *arguments, sanitize=False, progress=False)
    return made, (N // side, N // side, 1)


def timed(step: Step, card: Card) -> Estimate:
    """Predict a step's time for N x N matrices."""
    depth = DEEPER if step.name == "sgemm_3_shared" else DEPTH
    made, grid = traced(step, depth)
    return time(made, card, grid, longer=N / depth)


def rows(card: Card, only: str = "") -> Iterator[dict[str, Any]]:
    """Yield a row for each step, as in a file of predictions."""
    for step in sgemm.STEPS:
        if only not in step.name:
            continue
        found = timed(step, card)
        yield {
            "suite": SUITE,
            "case": f"sgemm {N}",
            "variant": step.name,
            "parameters": {"n": N},
            "bytes": 12 * N * N,
            "flops": 2 * N**3,
            "predicted_ms": milliseconds([found]),
            "binds": found.binds,
            "busy": {pipe.name: round(pipe.share, 3) for pipe in found.pipes},
            "family": found.family,
            "notes": list(found.notes),
        }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("devices", nargs="*", default=DEVICES)
    parser.add_argument("--only", default="", help="a part of a step's name")
    words = parser.parse_args()
    for card in map(find, words.devices):
        found = []
        for row in rows(card, words.only):
            ms = row["predicted_ms"][0]
            rate = 1e-9 * row["flops"] / ms
            print(
                f"{row['variant']:20} {ms:9.4g} ms {rate:6.1f} TFLOP/s  {row['binds']}", flush=True
            )
            found.append(row)
        if not words.only:
            put(card, "make predictions", found, path_of(card, folder()))
            print(path_of(card, folder()))
