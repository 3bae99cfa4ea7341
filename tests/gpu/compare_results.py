"""Compare the labs' solutions and the programs of the oracle on the GPU with the simulator.

    PYTHONPATH=. python tests/gpu/compare_results.py [--only TEXT] [--jobs N] [--most-threads N]

It prints a line for each kernel, and what differs. Integers must be equal, floating-point numbers
nearly so: a GPU joins a * b + c to one step, and has its own exp. A kernel goes to the GPU only if
the simulator found no fault in it. Each lab and each program of ``tests/programs/oracle/`` has a
process of its own, and a kernel that spoils it costs only itself: another process goes on after it.
This needs numpy, pyyaml, numba and numba-cuda. With NUMBA_ENABLE_CUDASIM=1 Numba's own simulator
takes the GPU's place, to try it out."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(Path(__file__).resolve().parent)]

import solved_labs  # noqa: E402
from support import programs  # noqa: E402

from warpwise import trace  # noqa: E402
from warpwise.cuda import numba_backend  # noqa: E402
from warpwise.errors import WarpwiseError  # noqa: E402
from warpwise.hopper import TensorMap  # noqa: E402
from warpwise.labs.exercise import fresh  # noqa: E402
from warpwise.simt import as_kernel  # noqa: E402

NEEDS_GPU = "needs an NVIDIA GPU: none was found here"
SECONDS = 300  # for one lab or program
OK, DIFFERS, FAILED, SKIPPED = "ok", "differs", "failed", "skipped"
SPOILT = 3  # the exit status of a process whose GPU context is lost
# By bytes of a real number; float64, too, may hold what was computed in float32.
ROOM = {2: 1e-2, 4: 1e-5, 8: 1e-5}


@dataclass(frozen=True)
class Result:
    """The outcome of one kernel: OK, DIFFERS, FAILED or SKIPPED, and why.

    FAILED: the GPU or its compiler refused it."""

    name: str
    status: str
    said: str = ""

    def __str__(self) -> str:
        return f"{self.status:8} {self.name:52} {self.said}".rstrip()


@dataclass(frozen=True)
class Job:
    """One kernel and its launches.

    Each launch pairs a name with (blocks, threads, arguments). ``rtol``, ``atol``: where it has its
    own."""

    name: str
    kernel: Any
    launches: tuple[tuple[str, Any, Any, tuple], ...]
    rtol: float = 0.0
    atol: float = 0.0


# --- kernels to run ---


def groups() -> list[str]:
    return [f"solutions/{stem}" for stem in solved_labs.stems()] + [
        f"kernels/{stem}" for stem in programs.stems()
    ]


def jobs_of(group: str, folder: Path, cuda: Any = None) -> Iterator[Job]:
    """Yield the kernels of a lab or a program.

    ``cuda``: what a lab is to import under that name, if it is not the backend's."""
    kind, stem = group.split("/")
    if kind == "kernels":
        for launch in programs.launches(stem):
            yield Job(
                f"kernels/{launch.name}",
                launch.kernel,
                (("", launch.blocks, launch.threads, launch.args),),
            )
        return
    for one in solved_labs.solved(stem, folder, cuda):
        launches = tuple(
            (case.label, case.blocks, case.threads, tuple(map(fresh, case.args)))
            for case in one.launches
        )
        room = [
            max((getattr(case, name) for case in one.launches), default=0.0)
            for name in ("rtol", "atol")
        ]
        yield Job(f"{group}:{one.name}", one.kernel, launches, *room)


# --- running one, in a process of its own ---


def result_of(job: Job, most_threads: int) -> Result:
    """Run a kernel in the simulator and, if faultless there, on the GPU; compare all arrays."""
    if job.kernel is None:
        return Result(job.name, SKIPPED, "a host function")
    if is_model(job):
        return Result(job.name, SKIPPED, "a kernel of warpwise.hopper, a model")
    launches = [one for one in job.launches if threads(one[1]) * threads(one[2]) <= most_threads]
    if not launches:
        return Result(job.name, SKIPPED, f"no launch has {most_threads:,} threads or fewer")
    wrong, farthest = [], 0.0
    for label, blocks, block, args in launches:
        want = copied(args)
        try:
            races = trace(as_kernel(job.kernel), blocks, block, *want, record=()).races
        except WarpwiseError as error:
            return Result(
                job.name,
                SKIPPED,
                f"{label}: the simulator does not pass it: {first_line(error)}".removeprefix(": "),
            )
        if races:
            return Result(job.name, SKIPPED, f"{label}: {races[0].what}".removeprefix(": "))
        got = on_device(job.kernel, blocks, block, args)
        told = [
            compared(g, w, max(job.rtol, ROOM.get(_real(w.dtype), 0)), job.atol)
            for g, w in zip(got, arrays(want), strict=True)
        ]
        wrong += [
            f"{label}: array {i} {said}".removeprefix(": ")
            for i, (said, _) in enumerate(told)
            if said
        ][:1]
        farthest = max([farthest, *(far for _, far in told)])
    count = f"{len(launches)} launch{'es' * (len(launches) > 1)}"
    if wrong:
        return Result(job.name, DIFFERS, f"{len(wrong)} of {count}; {wrong[0]}")
    return Result(
        job.name,
        OK,
        (
            f"{count}, "
            f"{'equal' if farthest == 0 else f'at most {farthest:.1g} of the largest number apart'}"
        ),
    )


def is_model(job: Job) -> bool:
    """Return whether a kernel is one of ``warpwise.hopper``, which no compiler takes."""
    return any(isinstance(arg, TensorMap) for *_, args in job.launches for arg in args)


def on_device(kernel: Any, blocks: Any, block: Any, args: tuple) -> list[np.ndarray]:
    """Launch a kernel on the GPU with copies of its arguments; return all its arrays.

    They come in the order of ``arrays``."""
    cuda = numba_backend.load()
    held: list[Any] = []

    def put(arg: Any) -> Any:
        if isinstance(arg, tuple):
            parts = [put(part) for part in arg]
            return type(arg)(*parts) if hasattr(arg, "_fields") else tuple(parts)
        if not isinstance(arg, np.ndarray):
            return arg
        whole = arg.flags.c_contiguous or arg.flags.f_contiguous
        held.append(cuda.to_device(np.array(arg, order="K" if whole else "C")))
        return held[-1]

    given = [put(arg) for arg in args]
    kernel[blocks, block](*given)
    cuda.synchronize()
    return [array.copy_to_host() for array in held]


def copied(args: tuple) -> tuple:
    """Return arguments with copies of their arrays, also of those inside tuples."""
    if isinstance(args, tuple):
        parts = [copied(arg) for arg in args]
        return type(args)(*parts) if hasattr(args, "_fields") else tuple(parts)
    return args.copy(order="K") if isinstance(args, np.ndarray) else args


def arrays(args: Any) -> list[np.ndarray]:
    """Return the arrays among arguments, those inside tuples too, in order."""
    if isinstance(args, tuple):
        return [array for arg in args for array in arrays(arg)]
    return [args] if isinstance(args, np.ndarray) else []


def compared(got: np.ndarray, want: np.ndarray, rtol: float, atol: float) -> tuple[str, float]:
    """Return what differs ("" if nothing), and the largest error.

    The error is a share of the largest number."""
    if want.dtype.names:
        parts = [
            compared(got[name], want[name], ROOM.get(_real(want.dtype[name]), 0), atol)
            for name in want.dtype.names
        ]
        return next((said for said, _ in parts if said), ""), max(far for _, far in parts)
    if want.dtype.kind not in "fc":
        bad, far = np.asarray(got != want), np.zeros(1)
    else:
        same = (got == want) | (np.isnan(got) & np.isnan(want))
        finite = np.isfinite(got) & np.isfinite(want)
        largest = float(np.max(np.abs(want), initial=0.0, where=np.isfinite(want)))
        wide = np.complex128 if want.dtype.kind == "c" else np.float64
        apart = np.abs(
            np.where(finite, got, 0).astype(wide) - np.where(finite, want, 0).astype(wide)
        )
        bad = ~same & ~(
            finite
            & (apart <= max(atol, rtol * largest / 10) + rtol * np.abs(np.where(finite, want, 0)))
        )
        far = apart / (largest or 1.0)
    if not bad.any():
        return "", float(np.max(far, initial=0.0))
    first = tuple(np.argwhere(bad)[0].tolist())
    index = ", ".join(map(str, first))
    return (
        (
            f"[{index}] is {got[first]} on the GPU and {want[first]} in the simulator; "
            f"{int(bad.sum())} of {bad.size} differ"
        ),
        0.0,
    )


def threads(dims: Any) -> int:
    return prod(int(n) for n in np.atleast_1d(dims))


def first_line(error: BaseException) -> str:
    from warpwise.labs.on_gpu import one_line

    return one_line(error)


def _real(dtype: np.dtype) -> int:
    """Return the bytes of a real number of this type, 0 for types compared exactly."""
    return dtype.itemsize // (2 if dtype.kind == "c" else 1) if dtype.kind in "fc" else 0


def child(group: str, after: int, most_threads: int) -> int:
    """Run a group's kernels from number ``after`` on; print JSON as each begins and ends."""
    cuda = numba_backend.load()
    simulated = _made_like_compiled(cuda)
    with tempfile.TemporaryDirectory() as folder:
        for number, job in enumerate(jobs_of(group, Path(folder), cuda if simulated else None)):
            if number < after:
                continue
            print(json.dumps({"begins": job.name}), flush=True)
            try:
                result = result_of(job, most_threads)
            except Exception as error:  # the driver's, the compiler's or the linker's
                result = Result(job.name, FAILED, first_line(error))
            print(json.dumps(asdict(result)), flush=True)
            if result.status == FAILED and _spoilt(cuda):
                return SPOILT
    return 0


def _made_like_compiled(cuda: Any) -> bool:
    """Return whether this is Numba's simulator, after adapting its kernels.

    They get the one name that compiled ones have besides. It looks for its own ``cuda`` in a
    kernel's names, so a lab has to have that."""
    if os.environ.get("NUMBA_ENABLE_CUDASIM", "0") in ("", "0"):
        return False
    type(cuda.jit(lambda: None)).py_func = property(lambda kernel: kernel.fn)
    return True


def _spoilt(cuda: Any) -> bool:
    """Return whether a fault has made the context useless: every later call then fails too."""
    try:
        cuda.synchronize()
        cuda.to_device(np.zeros(1)).copy_to_host()
    except Exception:
        return True
    return False


# --- all of them ---


def run_group(group: str, most_threads: int, process: Callable | None = None) -> list[Result]:
    """Run a group in processes: one, and another after each kernel that ended the one before.

    ``process``: see ``_process``."""
    results: list[Result] = []
    while True:
        status, lines, complaint = (process or _process)(group, len(results), most_threads)
        begun = ""
        for said in map(json.loads, lines):
            if "begins" in said:
                begun = said["begins"]
            else:
                begun, results = "", [*results, Result(**said)]
        if status == 0:
            return results
        if begun:
            results.append(Result(begun, FAILED, complaint))
        elif status != SPOILT:
            return [*results, Result(group, FAILED, complaint)]


def _process(group: str, after: int, most_threads: int) -> tuple[int | None, list[str], str]:
    """Run a process; return its status, its whole lines of JSON, and its last complaint.

    The status is None if it was stopped."""
    command = [
        sys.executable,
        __file__,
        "--group",
        group,
        "--after",
        str(after),
        "--most-threads",
        str(most_threads),
    ]
    environment = os.environ | {"WARPWISE_BACKEND": "gpu", "PYTHONWARNINGS": "ignore"}
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=SECONDS
        )
        status, out, err = done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired as late:
        status, out, err = (
            None,
            (late.stdout or b"").decode("utf-8", "replace"),
            f"no end within {SECONDS} seconds",
        )
    lines = [line for line in out.splitlines() if line.startswith("{") and line.endswith("}")]
    complaint = (err.strip().splitlines() or [f"the process ended with status {status}"])[-1]
    return status, lines, complaint


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--only",
        default="",
        help="labs and programs with this text in their name, such as solutions/09 or kernels/",
    )
    parser.add_argument(
        "--jobs",
        type=int,
        default=max(1, min(8, (os.cpu_count() or 2) // 2)),
        help="processes at a time",
    )
    parser.add_argument(
        "--most-threads", type=int, default=1 << 40, help="leave larger launches out"
    )
    parser.add_argument("--group", help=argparse.SUPPRESS)
    parser.add_argument("--after", type=int, default=0, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.group:
        return child(options.group, options.after, options.most_threads)
    if not has_gpu():
        print(NEEDS_GPU, file=sys.stderr)
        return 1
    return report(
        [group for group in groups() if options.only in group], options.jobs, options.most_threads
    )


def report(asked: list[str], jobs: int, most_threads: int) -> int:
    begin, results = time.monotonic(), []
    with ThreadPoolExecutor(jobs) as pool:
        for number, found in enumerate(
            pool.map(lambda group: run_group(group, most_threads), asked), 1
        ):
            results += found
            print("\n".join(map(str, found)), flush=True)
            print(
                (
                    f"-- {asked[number - 1]}: {number} of {len(asked)}, "
                    f"{time.monotonic() - begin:.0f} s"
                ),
                file=sys.stderr,
                flush=True,
            )
    counts = {
        status: sum(result.status == status for result in results)
        for status in (OK, DIFFERS, FAILED, SKIPPED)
    }
    print(
        f"{len(results)} kernels: "
        f"{', '.join(f'{count} {status}' for status, count in counts.items())}"
    )
    return 1 if counts[DIFFERS] or counts[FAILED] else 0


def has_gpu() -> bool:
    try:
        from numba import cuda
    except ImportError:
        return False
    return bool(cuda.is_available())


if __name__ == "__main__":
    sys.exit(main())
