"""Run a student's kernel on this machine's GPU: its result, its time, and the least time possible.

``check`` does so where there is a GPU, once the simulator has passed the kernel: a racy or a wild
one never comes this far. It decides nothing: points come from the simulator. This is the only
module of the labs that touches a device, through ``numba.cuda``. Errors of the device or its
compiler become a line to read; nothing is raised."""

from __future__ import annotations

import re
import statistics
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import prod
from typing import Any

import numpy as np

from warpwise import benchmark_records
from warpwise.benchmark_records import Record, Row
from warpwise.cuda import backend
from warpwise.devices import MULTIPROCESSORS, Device, of_driver
from warpwise.errors import MeasureError
from warpwise.labs.compare import Mismatch, compare
from warpwise.labs.exercise import Case, Launch, Verdict, fresh, needs_the_simulator, outputs
from warpwise.messages import Words
from warpwise.model.bound import bound, duration
from warpwise.simt import Kernel
from warpwise.traces import Trace

WARM_UP, SAMPLES = 3, 20
#: below this most of the time is the launch itself (Numba: some microseconds, 30 with many arrays)
LAUNCH_SECONDS = 30e-6
MOST_LINE = 180  #: characters of an error
MOST_ROWS = 12  #: of a ladder
#: by which a result may differ beyond its tolerance: a GPU fuses a * b + c into one step, and has
#: its own exp and sin
ROUNDINGS = 64
ANSI = re.compile(r"\x1b\[[0-9;]*m")
ATTRIBUTES = (
    "MULTIPROCESSOR_COUNT",
    "CLOCK_RATE",
    "MEMORY_CLOCK_RATE",
    "GLOBAL_MEMORY_BUS_WIDTH",
    "L2_CACHE_SIZE",
)

#: The suite of reference kernels that starts from the same naive version, by words in an exercise's
#: name.
LADDERS = {
    "copy": "copy",
    "transpose": "transpose",
    "matmul": "sgemm_ladder",
    "softmax": "softmax",
    "flash": "attention",
    "sums": "reduction",
    "layernorm": "layernorm",
    "lean": "recompute",
}


def report(kernel: Any, name: str, cases: Sequence[Case], verdicts: Sequence[Verdict]) -> str:
    """Report on a kernel on this machine's GPU, in a few lines.

    The report is "" where there is no GPU, no launch, a case that did not pass, or one that no GPU
    can run."""
    passed = [
        (case, verdict.trace)
        for case, verdict in zip(cases, verdicts, strict=False)
        if isinstance(case, Launch)
        and verdict.passed
        and verdict.trace is not None
        and not needs_the_simulator(case)
    ]
    made_for_it = hasattr(kernel, "__getitem__") and not isinstance(kernel, Kernel)
    if not passed or len(passed) < len(cases) or not made_for_it or backend() != "gpu":
        return ""
    return "\n".join([*_on_device(kernel, passed), *ladder(name)])


def _on_device(kernel: Any, passed: Sequence[tuple[Launch, Trace]]) -> Iterator[str]:
    try:
        # Numba's advice on small grids is for other kernels than a lab's
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            name, device = this_device()
            lines = (_wrong(case, run(kernel, case)) for case, _ in passed)
            wrong = next(filter(None, lines), "")
            if wrong:
                yield f"on the GPU of this machine, {name}: another result\n  {wrong}"
                yield (
                    "  Points come from the simulator, which found it right. "
                    "Is an order of threads taken for granted?"
                )
                return
            largest, trace = max(passed, key=lambda one: threads(one[0]))
            seconds = timed(kernel, largest)
        yield f"on the GPU of this machine, {name}: right"
        yield from time_lines(largest.label, seconds, trace, device)
    # the driver, the compiler and the linker each have classes of their own
    except Exception as error:
        yield f"on the GPU of this machine: {one_line(error)}"
        yield (
            "  Points come from the simulator, so nothing is lost; "
            "`warpwise doctor` looks at the GPU, its driver and the wheels."
        )


def run(kernel: Any, case: Launch) -> list[np.ndarray]:
    """Launch a kernel once on the device, as the judge does, and return its outputs."""
    from numba import cuda

    given = [fresh(arg) for arg in case.args]
    held = [cuda.to_device(arg) if isinstance(arg, np.ndarray) else arg for arg in given]
    kernel[case.blocks, case.threads](*held)
    cuda.synchronize()
    return [array.copy_to_host() for array in outputs(case, held)]


def _wrong(case: Launch, outputs: Iterable[np.ndarray]) -> str:
    """Describe the first wrong output of a launch; "" if none is wrong."""
    for got, want in zip(outputs, case.want, strict=True):
        if mismatch := differs(got, want, case.rtol, case.atol):
            return f"{case.label}: {mismatch.say(Words('the output')).open()}"
    return ""


def differs(
    got: np.ndarray, want: np.ndarray, rtol: float = 0.0, atol: float = 0.0
) -> Mismatch | None:
    """``compare`` with room for a GPU's roundings of floats. Integers are compared exactly."""
    if want.dtype.kind != "f":
        return compare(got, want, rtol, atol)
    step = ROUNDINGS * float(np.finfo(want.dtype).eps)
    largest = float(np.max(np.abs(want), initial=0.0, where=np.isfinite(want)))
    return compare(got, want, max(rtol, step), max(atol, step * largest))


def timed(kernel: Any, case: Launch) -> float:
    """Return the seconds that one launch takes: the median of SAMPLES, by events.

    The arrays that a launch writes are restored before each, as a kernel may read them."""
    from numba import cuda

    given = [fresh(arg) for arg in case.args]
    held = [cuda.to_device(arg) if isinstance(arg, np.ndarray) else arg for arg in given]
    written = outputs(case, zip(held, given, strict=True))
    launched = kernel[case.blocks, case.threads]
    samples = []
    for _ in range(WARM_UP + SAMPLES):
        for array, start in written:
            array.copy_to_device(start)
        samples.append(_milliseconds(cuda, lambda: launched(*held)))
    return statistics.median(samples[WARM_UP:]) / 1e3


def _milliseconds(cuda: Any, work: Callable[[], object]) -> float:
    start, stop = cuda.event(), cuda.event()
    start.record()
    work()
    stop.record()
    stop.synchronize()
    milliseconds: float = start.elapsed_time(stop)
    return milliseconds


def time_lines(label: str, seconds: float, trace: Trace, device: Device | None) -> Iterator[str]:
    """Report a time, its share of the least that the device allows, and what that means."""
    if seconds <= 0:  # Numba's simulator has events, and no clock
        yield f"  {label}: not timed"
        return
    yield f"  {label}: {duration(seconds)}, the median of {SAMPLES} launches (measured)"
    if device is None:
        yield (
            "  the least possible time is not known: the GPU is not in the table of devices, "
            "and does not report its own figures"
        )
        return
    least = bound(trace, device)
    yield f"  {least}: {100 * least.seconds / seconds:.2g} % of what the roofline allows"
    if least.seconds > seconds:
        yield (
            "  More than the roofline allows: from launch to launch the arrays stay in the L2 "
            "cache, which the bound leaves out."
        )
    elif least.seconds < LAUNCH_SECONDS:
        yield (
            "  A launch by itself takes some microseconds, most of the time of a case this small: "
            "it says little of the kernel."
        )


def this_device() -> tuple[str, Device | None]:
    """Return the name of the GPU in use, and its figures: the table's, or else its own."""
    from numba import cuda

    gpu = cuda.get_current_device()
    name = getattr(gpu, "name", "") or "which does not give its name"
    name = name.decode() if isinstance(name, bytes) else name
    return name, of_driver(name) or by_its_attributes(name, gpu)


def by_its_attributes(name: str, gpu: Any) -> Device | None:
    """Make a device from a GPU's own attributes; None where it leaves one out.

    Both clocks are in kHz. The rates follow as in the CUDA C++ Best Practices Guide, "Theoretical
    Bandwidth Calculation": memory of double data rate."""
    capability = tuple(gpu.compute_capability)
    sms, clock, memory_clock, bus_bits, l2 = (int(getattr(gpu, n, 0) or 0) for n in ATTRIBUTES)
    if capability not in MULTIPROCESSORS or not all((sms, clock, memory_clock, bus_bits)):
        return None
    tflops = 2 * MULTIPROCESSORS[capability].fp32_lanes * sms * clock * 1e3 / 1e12
    gb_per_s = 2 * memory_clock * 1e3 * bus_bits / 8 / 1e9
    return Device(f"{name}, by its own figures", capability, sms, tflops, 0.0, gb_per_s, l2)


def ladder(name: str) -> list[str]:
    """List the recorded times of the reference kernels of an exercise's topic on an H200."""
    suite = next((suite for word, suite in LADDERS.items() if word in name.split("_")), "")
    try:
        records = benchmark_records.recorded(suite) if suite else ()
    except MeasureError:
        return []
    first = next((r for r in records if benchmark_records.FIRST in r.device), None)
    return _rungs(first) if first else []


def _rungs(record: Record) -> list[str]:
    """List the record's largest case of the suite's own topic: our kernels, then libraries."""
    rows = [row for row in record.rows if row.median_ms is not None]
    rows = [row for row in rows if row.parameters.get("topic", record.suite) == record.suite]
    ours = [row for row in rows if row.by == "numba"]
    if not ours:
        return []
    case = max(ours, key=_work).case
    rows = [row for row in rows if row.case == case]
    rows = sorted(rows, key=lambda row: row.by != "numba")[:MOST_ROWS]
    names = [row.variant if row.by == "numba" else f"{row.by} {row.variant}" for row in rows]
    width = max(map(len, names))
    head = f"the reference kernels on {record.device}, {case} (measured {record.date[:10]}):"
    return [head, *(f"  {n:{width}}  {_rate(row)}" for n, row in zip(names, rows, strict=True))]


def _work(row: Row) -> float:
    """The work of a row's case, in operations or in bytes: its rate times its time."""
    return (row.median_ms or 0) * (row.TFLOP_per_s or row.GB_per_s or 0)


def _rate(row: Row) -> str:
    time = f"{duration((row.median_ms or 0) / 1e3):>9}"
    if row.TFLOP_per_s:
        return f"{time}  {row.TFLOP_per_s:7.3g} TFLOP/s"
    return f"{time}  {row.GB_per_s:7,.0f} GB/s" if row.GB_per_s else time


def one_line(error: BaseException) -> str:
    """Shorten an error of the driver or of Numba's compiler, often a page, to one line."""
    lines = [line.strip() for line in ANSI.sub("", str(error)).splitlines()]
    lines = [line for line in lines if line and not line.startswith("Failed in ")]
    first = " ".join(lines[:2]) if lines and lines[0].endswith(":") else (lines or [""])[0]
    text = f"{type(error).__name__}: {first}".removesuffix(": ")
    return text if len(text) <= MOST_LINE else f"{text[:MOST_LINE]}..."


def threads(case: Launch) -> int:
    """Return the number of threads of a launch."""
    shape: list[int] = [*np.atleast_1d(case.blocks).tolist(), *np.atleast_1d(case.threads).tolist()]
    return prod(shape)
