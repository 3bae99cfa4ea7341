"""``grade --gpu``: a kernel that passed in the simulator runs on this machine's GPU too, beside the lab's solution.

    python -P -m warpwise.grading.gpu            the name of the GPU, on standard output
    python -P -m warpwise.grading.gpu run < job  outputs and times of one exercise, packed

Each exercise has a process of its own, with a CUDA context that no other kernel has used. It gets kernels as text and inputs, and gives
back outputs: expected values stay here, where they are compared. Racy and wild kernels never come this far, and no Python of a student
runs (``compiled``). What the GPU says decides no points.
"""

from __future__ import annotations

import io
import json
import os
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from warpwise import trace
from warpwise.errors import GradingError, WarpwiseError
from warpwise.grading import extract, hidden, watch
from warpwise.grading.compiled import compiled
from warpwise.grading.material import Material
from warpwise.grading.notebook import Answer
from warpwise.grading.record import STOPPED, OnGpu
from warpwise.grading.simulate import environment
from warpwise.labs import on_gpu
from warpwise.labs.exercise import InOut, Launch, Out, shape_of
from warpwise.labs.judge import fresh
from warpwise.labs.source import role, unmarked
from warpwise.model.bound import bound
from warpwise.simt import Kernel

LIMITS = watch.Limits(cpu_seconds=60, wall_seconds=180, memory_bytes=8 << 30, result_bytes=256 << 20)
COMMAND = (sys.executable, "-P", "-m", "warpwise.grading.gpu")
ANOTHER = "another result than in the simulator"


def name() -> str:
    """The name of this machine's GPU. Raises GradingError where there is none that Numba can use."""
    done = watch.run(COMMAND, b"", LIMITS, env=environment("gpu"))
    if done.exit:
        said = (done.chatter.strip().splitlines() or [f"status {done.exit}"])[-1]
        raise GradingError(f"--gpu needs a GPU that Numba can use ({said}): `warpwise doctor` says what is missing")
    return done.result.decode().strip()


def looked_at(answer: Answer, material: Material, gpu: str) -> OnGpu:
    """How an answer's kernel does on the GPU, on the lab's hidden cases. Whatever goes wrong is said, and costs nothing."""
    try:
        return _looked_at(answer, material, gpu)
    except Exception as error:
        return OnGpu(gpu, on_gpu.one_line(error))


def _looked_at(answer: Answer, material: Material, gpu: str) -> OnGpu:
    cases = [case for case in hidden.cases(material.tests, answer.id, material.seed) if isinstance(case, Launch)]
    about, arrays = _told(cases)
    job = {"answers": [asdict(answer), asdict(_solution(answer, material))], "given": material.given, "launches": about}
    done = watch.run([*COMMAND, "run"], _packed(job, arrays), LIMITS, env=environment("gpu"))
    if done.stopped or done.exit:
        return OnGpu(gpu, STOPPED[done.stopped])
    said, outputs = _unpacked(done.result)
    problem = said["problem"] or (ANOTHER if _differs(cases, outputs) else "")
    return OnGpu(gpu, problem) if problem else OnGpu(gpu, "", *said["times"])


def _solution(answer: Answer, material: Material) -> Answer:
    """The lab's own answer to an exercise."""
    solved = {cell.metadata["warpwise"]["id"]: unmarked(cell.source) for cell in material.lab.cells if role(cell) == "exercise"}
    return Answer(answer.id, answer.kind, answer.name, solved.pop(answer.id), tuple(solved.values()))


def _differs(cases: Sequence[Launch], outputs: Mapping[str, np.ndarray]) -> bool:
    wanted = {f"{i}-{k}": (case, want) for i, case in enumerate(cases) for k, want in enumerate(case.want)}
    return wanted.keys() != outputs.keys() or any(
        outputs[key].shape != want.shape or on_gpu.differs(outputs[key], want, case.rtol, case.atol) for key, (case, want) in wanted.items()
    )


# What goes between the processes: JSON and arrays in one file of NumPy's, without pickles.


def _packed(said: dict, arrays: Mapping[str, np.ndarray]) -> bytes:
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, said=np.frombuffer(json.dumps(said).encode(), np.uint8), **arrays)
    return file.getvalue()


def _unpacked(data: bytes) -> tuple[dict, dict[str, np.ndarray]]:
    with np.load(io.BytesIO(data), allow_pickle=False) as file:
        arrays = dict(file)
    return json.loads(arrays.pop("said").tobytes()), arrays


def _told(launches: Sequence[Launch]) -> tuple[list, dict[str, np.ndarray]]:
    """Launches as JSON, without what is expected of them, and the arrays that it names."""
    about, arrays = [], {}
    for launch in launches:
        told = []
        for arg in launch.args:
            key = f"a{len(arrays)}"
            if isinstance(arg, Out):
                told.append(["out", list(shape_of(arg)), arg.dtype])
            elif isinstance(arg, InOut | np.ndarray | np.generic):
                arrays[key] = np.asarray(arg.start if isinstance(arg, InOut) else arg)
                told.append(["inout" if isinstance(arg, InOut) else "scalar" if isinstance(arg, np.generic) else "array", key])
            else:
                told.append(["plain", arg])
        about.append([launch.blocks, launch.threads, told])
    return about, arrays


def _launches(about: list, arrays: Mapping[str, np.ndarray]) -> Iterator[Launch]:
    """The launches again, with arrays of the right shape in place of what is expected."""
    for i, (blocks, threads, told) in enumerate(about):
        args = tuple(_argument(one, arrays) for one in told)
        blank = tuple(np.zeros_like(fresh(arg)) for arg in args if isinstance(arg, Out | InOut))
        yield Launch(str(i), *(tuple(n) if isinstance(n, list) else n for n in (blocks, threads)), args, blank)


def _argument(told: list, arrays: Mapping[str, np.ndarray]) -> Any:
    match told:
        case ["out", shape, dtype]:
            return Out(tuple(shape), dtype)
        case ["inout", key]:
            return InOut(arrays[key])
        case ["scalar", key]:
            return arrays[key][()]
        case ["array", key]:
            return arrays[key]
    return told[1]


# From here on: what runs in the process.


def main() -> None:
    with os.fdopen(os.dup(1), "wb") as result:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what a kernel prints on the GPU comes out there
        warnings.simplefilter("ignore")
        if sys.argv[1:] != ["run"]:
            result.write(_here().encode())
            return
        job, arrays = _unpacked(sys.stdin.buffer.read())
        said, outputs = _run(job, list(_launches(job["launches"], arrays)))
        result.write(_packed(said, outputs))


def _here() -> str:
    try:
        return on_gpu.this_device()[0]
    except Exception as error:
        raise SystemExit(on_gpu.one_line(error)) from error


def _run(job: dict, launches: Sequence[Launch]) -> tuple[dict, dict[str, np.ndarray]]:
    """Outputs by launch and number, and three times. What the device refuses, or its compiler, is a problem in words."""
    outputs: dict[str, np.ndarray] = {}
    try:
        kernels = [extract.kernel(a["text"], a["name"], a["others"], job["given"]) for a in job["answers"]]
        theirs, ours = map(compiled, kernels)
        for i, launch in enumerate(launches):
            outputs |= {f"{i}-{k}": output for k, output in enumerate(on_gpu.run(theirs, launch))}
        largest = max(launches, key=on_gpu.threads)
        times = [on_gpu.timed(theirs, largest), on_gpu.timed(ours, largest), _least(kernels[0], largest)]
        return {"problem": "", "times": times}, outputs
    except Exception as error:  # the driver's, the compiler's, the linker's: each has a class of its own
        return {"problem": str(error) if isinstance(error, WarpwiseError) else on_gpu.one_line(error)}, {}


def _least(kernel: Kernel, case: Launch) -> float:
    """The least seconds that the GPU allows a launch, 0 if its figures are not known."""
    device = on_gpu.this_device()[1]
    return bound(trace(kernel, case.blocks, case.threads, *map(fresh, case.args)), device).seconds if device else 0.0


if __name__ == "__main__":
    main()
