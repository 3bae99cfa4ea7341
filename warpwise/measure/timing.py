"""Times by CUDA events: variants take turns, so that whatever changes meanwhile, such as a clock, changes for all of them.

Before each sample the device is given a pause to work off, during which the host puts the sample in line: so what is timed is the device
and not the host. Where a case is cold, an array of four times the L2 cache is written then, too.
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
SLOW_MS, FEW = 2000.0, 3  # a run that takes so long is timed so few times
PAUSE_CLOCKS, CLOCKS_A_RUN = 1_000_000, 50_000  # some 0.5 ms, and 25 microseconds more for each of a few runs
FEW_RUNS = 16  # more than these are not waited for: of a long train of launches, the host's part is meant to be seen
L2_TIMES = 4
PROTOCOL = (
    f"each variant's result is compared with float64 first; {WARM_UP} runs to warm up; {SAMPLES} samples of each by CUDA events, variants "
    f"by turns in one process, behind a kernel of {PAUSE_CLOCKS:,} clocks; cold cases after writing {L2_TIMES} times the L2 cache; "
    "random data"
)


@cuda.jit
def pause(clocks):
    begin = clock()
    while clock() - begin < clocks:
        pass


class Timer:
    """Holds what samples need on the device: the array that is written to empty the L2 cache."""

    def __init__(self, place: Place):
        self.place = place
        self.flushed = place.xp.zeros(1 if place.rehearsal else L2_TIMES * place.l2_bytes, "uint8")
        self.turns = range(1) if place.rehearsal else range(-WARM_UP, SAMPLES)  # what a rehearsal times says nothing

    def samples(self, case: Case, variants: Sequence[Variant]) -> tuple[dict[str, list[float]], dict[str, str]]:
        """Milliseconds of one run for each variant, by name; and for a variant that failed, why."""
        samples: dict[str, list[float]] = {variant.name: [] for variant in variants}
        problems: dict[str, str] = {}
        for turn in self.turns:
            for variant in variants:
                taken = samples[variant.name]
                if variant.name in problems or (len(taken) >= FEW and statistics.median(taken) > SLOW_MS):
                    continue
                try:
                    milliseconds = self._sample(case, variant)
                except Exception as error:  # whatever a library raises is why there is no time
                    problems[variant.name] = one_line(error)
                    continue
                if turn >= 0:
                    taken.append(milliseconds)
        return samples, problems

    def _sample(self, case: Case, variant: Variant) -> float:
        start, stop = cuda.event(), cuda.event()
        if not self.place.rehearsal:
            pause[1, 1](np.int64(PAUSE_CLOCKS + (CLOCKS_A_RUN * case.repeat if case.repeat <= FEW_RUNS else 0)))
        if case.cold:
            self.flushed.fill(0)
        start.record()
        for _ in range(case.repeat):
            variant.run()
        stop.record()
        stop.synchronize()
        return cuda.event_elapsed_time(start, stop) / case.repeat


def one_line(error: BaseException) -> str:
    """An error as one line: its kind, and the first line of what it says."""
    said = str(error).strip().splitlines()
    return f"{type(error).__name__}: {said[0].strip()}" if said else type(error).__name__
