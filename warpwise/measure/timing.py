"""Times by CUDA events: variants take turns, so that a change of the clock affects all of them.

Before each sample the device runs a pause, during which the host enqueues the sample: so the times
are the device's and not the host's. For a cold case, an array of four times the L2 cache is written
then, too.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence

import numpy as np

from warpwise import cuda
from warpwise.kernels.pointer_chase import clock
from warpwise.measure.case import Case, Variant
from warpwise.measure.place import Place

SAMPLES, WARM_UP = 20, 3
SLOW_MS, FEW = 2000.0, 3  # a run that takes longer is timed only so many times
# about 0.5 ms, and 25 microseconds more for each of a few runs
PAUSE_CLOCKS, CLOCKS_A_RUN = 1_000_000, 50_000
# With more runs the pause is no longer: in a long train of launches the host's time should show.
FEW_RUNS = 16
L2_TIMES = 4
PROTOCOL = (
    f"each variant's result is compared with float64 first; {WARM_UP} warm-up runs; {SAMPLES} "
    "samples each by CUDA events, variants in turns in one process, behind a kernel of "
    f"{PAUSE_CLOCKS:,} clocks; cold cases after writing {L2_TIMES} times the L2 cache; random data"
)


@cuda.jit
def pause(clocks):  # type: ignore[no-untyped-def]  # a kernel
    begin = clock()
    while clock() - begin < clocks:
        pass


class Timer:
    """Takes samples, and holds the array that is written to flush the L2 cache."""

    def __init__(self, place: Place):
        self.place = place
        self.flushed = place.xp.zeros(1 if place.rehearsal else L2_TIMES * place.l2_bytes, "uint8")
        # the times of a rehearsal are meaningless
        self.turns = range(1) if place.rehearsal else range(-WARM_UP, SAMPLES)

    def samples(
        self, case: Case, variants: Sequence[Variant]
    ) -> tuple[dict[str, list[float]], dict[str, str]]:
        """Return each variant's milliseconds per run by name, and the problems of failed ones."""
        samples: dict[str, list[float]] = {variant.name: [] for variant in variants}
        problems: dict[str, str] = {}
        for turn in self.turns:
            for variant in variants:
                taken = samples[variant.name]
                slow = len(taken) >= FEW and statistics.median(taken) > SLOW_MS
                if slow or variant.name in problems:
                    continue
                try:
                    milliseconds = self._sample(case, variant)
                except Exception as error:  # libraries raise anything
                    problems[variant.name] = one_line(error)
                    continue
                if turn >= 0:
                    taken.append(milliseconds)
        return samples, problems

    def _sample(self, case: Case, variant: Variant) -> float:
        start, stop = cuda.event(), cuda.event()
        if not self.place.rehearsal:
            runs = case.repeat if case.repeat <= FEW_RUNS else 0
            pause[1, 1](np.int64(PAUSE_CLOCKS + CLOCKS_A_RUN * runs))
        if case.cold:
            self.flushed.fill(0)
        start.record()
        for _ in range(case.repeat):
            variant.run()
        stop.record()
        stop.synchronize()
        milliseconds: float = cuda.event_elapsed_time(start, stop)
        return milliseconds / case.repeat


def one_line(error: BaseException) -> str:
    """Return an error's type and the first line of its message."""
    said = str(error).strip().splitlines()
    return f"{type(error).__name__}: {said[0].strip()}" if said else type(error).__name__
