"""Cards of every kind, as checks make them."""

from __future__ import annotations

from warpwise.labs.card import Card, Gauge

RIGHT = ("right, within budget", "64 x 96")
KEPT = Gauge("sectors_per_request_load", 4.0, 4.1)
OVER = Gauge("shared_bank_conflicts", 16, 0)

CARDS = {
    "right": Card(
        "copy_matrix",
        "passed",
        (RIGHT, ("right, within budget", "33 x 50")),
        gauges=(
            KEPT,
            Gauge("global_bytes_moved", 49_152, 73_728),
            Gauge("warp_efficiency", 0.97, 0.9),
        ),
        launch="64 x 96",
        progress="3 of 6 exercises done in this session. Next: planes",
    ),
    "many": Card("sectors_for", "passed", tuple(("right", f"stride {i}") for i in range(11))),
    "over": Card(
        "transpose",
        "over budget: shared_bank_conflicts",
        (RIGHT, ("over budget: shared_bank_conflicts", "33 x 50")),
        ("70 x 203", "31 x 30"),
        "the result is right, but shared_bank_conflicts is 16; the budget is at most 0\n"
        "most of it, 16, on\n    line 9: dst[col, row] = tile[threadIdx.x, threadIdx.y]",
        "pad the tile by one column",
        (KEPT, OVER),
        "33 x 50",
        "3 of 6 exercises done in this session.",
    ),
    "wrong": Card(
        "column_sums",
        "race",
        (("race", "96 x 64"),),
        tuple(f"{n} x 50" for n in range(9)),
        "race on partial[1, 0] in shared memory: thread (0, 1, 0) writes it on line 10\n"
        "at line 10 of the cell that defines column_sums\n    partial[y, x] = total",
        "cuda.syncthreads() between the two, where all threads of the block pass",
    ),
    "asked": Card(
        "square",
        "wrong result",
        (("wrong result", "100 elements"),),
        detail="y[0] should be 9 and is 6; 99 of 100 elements are wrong\ny is 2 * x",
        advice="with one small change all is right: is + the right operator? "
        "Or: x is added twice\nThat change is on line 5: x[i] + x[i]",
        progress="1 of 6 exercises done in this session.",
    ),
    "open": Card("histogram", "not done yet", progress="3 of 6 exercises done in this session."),
}
