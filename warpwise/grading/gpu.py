"""``grade --gpu``: run a kernel that passed on this machine's GPU too, beside the lab's solution.

    python -P -m warpwise.grading.gpu            the name of the GPU, on standard output
    python -P -m warpwise.grading.gpu run < job  outputs and times of one exercise, packed

Each exercise has a process of its own, with a CUDA context that no other kernel has used. It gets
kernels as text and inputs, and returns outputs: expected values stay here, where they are compared.
Racy and wild kernels never come this far, and no Python of a student runs (``gpu_kernel``). The
GPU's results decide no points."""

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
from warpwise.errors import GradingError, KernelError, LaunchError, WarpwiseError
from warpwise.grading import extract, hidden, watch
from warpwise.grading.gpu_kernel import compiled
from warpwise.grading.material import Material
from warpwise.grading.notebook import Answer
from warpwise.grading.record import STOPPED, OnGpu
from warpwise.grading.simulate import environment
from warpwise.labs import on_gpu
from warpwise.labs.exercise import InOut, Launch, Out, fresh, needs_the_simulator, shape_of
from warpwise.labs.source import role, unmarked
from warpwise.model.bound import bound
from warpwise.simt import Kernel

LIMITS = watch.Limits(60, memory_bytes=8 << 30, result_bytes=256 << 20)
COMMAND = (sys.executable, "-P", "-m", "warpwise.grading.gpu")
ANOTHER = "another result than in the simulator"
MODEL = "only the simulator runs it: warpwise.hopper is a model"
Json = dict[str, Any]
Arrays = Mapping[str, np.ndarray]


def name() -> str:
    """Return the name of this machine's GPU. Raises GradingError if Numba can use none."""
    done = watch.run(COMMAND, b"", LIMITS, env=environment("gpu"))
    if done.exit:
        said = (done.chatter.strip().splitlines() or [f"status {done.exit}"])[-1]
        need = f"--gpu needs a GPU that Numba can use ({said})"
        raise GradingError(f"{need}: `warpwise doctor` says what is missing")
    return done.result.decode().strip()


def run_on_gpu(answer: Answer, material: Material, gpu: str) -> OnGpu:
    """Run an answer's kernel on the GPU, on the lab's hidden cases.

    Whatever goes wrong is reported, and costs nothing."""
    try:
        return _run_on_gpu(answer, material, gpu)
    except Exception as error:
        return OnGpu(gpu, on_gpu.one_line(error))


def _run_on_gpu(answer: Answer, material: Material, gpu: str) -> OnGpu:
    drawn = hidden.cases(material.tests, answer.id, material.seed)
    cases = [case for case in drawn if isinstance(case, Launch)]
    if any(map(needs_the_simulator, cases)):
        return OnGpu(gpu, MODEL)
    about, arrays = _encoded(cases)
    answers = [asdict(answer), asdict(_solution(answer, material))]
    job = {"answers": answers, "given": material.given, "launches": about}
    done = watch.run([*COMMAND, "run"], _packed(job, arrays), LIMITS, env=environment("gpu"))
    if done.stopped or done.exit:
        return OnGpu(gpu, STOPPED[done.stopped])
    said, outputs = _unpacked(done.result)
    problem = said["problem"] or (ANOTHER if _differs(cases, outputs) else "")
    return OnGpu(gpu, problem) if problem else OnGpu(gpu, "", *said["times"])


def _solution(answer: Answer, material: Material) -> Answer:
    """The lab's own answer to an exercise."""
    cells = [cell for cell in material.lab.cells if role(cell) == "exercise"]
    solved = {cell.metadata["warpwise"]["id"]: unmarked(cell.source) for cell in cells}
    text = solved.pop(answer.id)
    return Answer(answer.id, answer.kind, answer.name, text, tuple(solved.values()))


def _differs(cases: Sequence[Launch], outputs: Arrays) -> bool:
    listed = (
        (i, k, case, want) for i, case in enumerate(cases) for k, want in enumerate(case.want)
    )
    wanted = {f"{i}-{k}": (case, want) for i, k, case, want in listed}
    return wanted.keys() != outputs.keys() or any(
        outputs[key].shape != want.shape or on_gpu.differs(outputs[key], want, case.rtol, case.atol)
        for key, (case, want) in wanted.items()
    )


# Between the processes goes JSON with arrays, in one file of NumPy's without pickles.


def _packed(said: Json, arrays: Arrays) -> bytes:
    file, text = io.BytesIO(), np.frombuffer(json.dumps(said).encode(), np.uint8)
    np.savez(file, allow_pickle=False, said=text, **arrays)
    return file.getvalue()


def _unpacked(data: bytes) -> tuple[Json, dict[str, np.ndarray]]:
    with np.load(io.BytesIO(data), allow_pickle=False) as file:
        arrays = dict(file)
    return json.loads(arrays.pop("said").tobytes()), arrays


def _encoded(launches: Sequence[Launch]) -> tuple[list[Any], dict[str, np.ndarray]]:
    """Encode launches as JSON without their expected results, and the arrays that it names."""
    arrays: dict[str, np.ndarray] = {}
    about = []
    for launch in launches:
        args = [_encoded_argument(arg, arrays) for arg in launch.args]
        about.append([launch.blocks, launch.threads, args])
    return about, arrays


def _encoded_argument(arg: Any, arrays: dict[str, np.ndarray]) -> list[Any]:
    if isinstance(arg, Out):
        return ["out", list(shape_of(arg)), arg.dtype]
    key = f"a{len(arrays)}"
    for kind, name in ((InOut, "inout"), (np.generic, "scalar"), (np.ndarray, "array")):
        if isinstance(arg, kind):
            arrays[key] = np.asarray(arg.start if isinstance(arg, InOut) else arg)
            return [name, key]
    return ["plain", arg]


def _decoded(about: list[Any], arrays: Arrays) -> Iterator[Launch]:
    """Decode launches, with blank arrays of the right shapes as expected results."""
    for i, (blocks, threads, encoded) in enumerate(about):
        grid, block = (tuple(n) if isinstance(n, list) else n for n in (blocks, threads))
        args = tuple(_decoded_argument(one, arrays) for one in encoded)
        blank = tuple(np.zeros_like(fresh(arg)) for arg in args if isinstance(arg, Out | InOut))
        yield Launch(str(i), grid, block, args, blank)


def _decoded_argument(encoded: list[Any], arrays: Arrays) -> Any:
    match encoded:
        case ["out", shape, dtype]:
            return Out(tuple(shape), dtype)
        case ["inout", key]:
            return InOut(arrays[key])
        case ["scalar", key]:
            return arrays[key][()]
        case ["array", key]:
            return arrays[key]
    return encoded[1]


# From here on: what runs in the process.


def main() -> None:
    with os.fdopen(os.dup(1), "wb") as result:
        # a kernel that prints on the GPU writes there
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        warnings.simplefilter("ignore")
        if sys.argv[1:] != ["run"]:
            result.write(_here().encode())
            return
        job, arrays = _unpacked(sys.stdin.buffer.read())
        said, outputs = _run(job, list(_decoded(job["launches"], arrays)))
        result.write(_packed(said, outputs))


def _here() -> str:
    try:
        return on_gpu.this_device()[0]
    except Exception as error:
        raise SystemExit(on_gpu.one_line(error)) from error


def _run(job: Json, launches: Sequence[Launch]) -> tuple[Json, dict[str, np.ndarray]]:
    """Return outputs by launch and number, and three times.

    Errors of the device or its compiler are a problem in words."""
    outputs: dict[str, np.ndarray] = {}
    answers, given = job["answers"], job["given"]
    try:
        kernels = [extract.kernel(a["text"], a["name"], a["others"], given) for a in answers]
        theirs, ours = map(compiled, kernels)
        for i, launch in enumerate(launches):
            outputs |= {f"{i}-{k}": output for k, output in enumerate(on_gpu.run(theirs, launch))}
        largest = max(launches, key=on_gpu.threads)
        times = [on_gpu.timed(theirs, largest), on_gpu.timed(ours, largest)]
        return {"problem": "", "times": [*times, _least(kernels[0], largest)]}, outputs
    except (KernelError, LaunchError) as error:  # of a hidden launch
        return {"problem": error.told.hidden()}, {}
    # the driver, the compiler and the linker each have classes of their own
    except Exception as error:
        of_warpwise = isinstance(error, WarpwiseError)
        return {"problem": str(error) if of_warpwise else on_gpu.one_line(error)}, {}


def _least(kernel: Kernel, case: Launch) -> float:
    """Return the least seconds that the GPU allows a launch, 0 if its figures are not known."""
    device = on_gpu.this_device()[1]
    if device is None:
        return 0.0
    return bound(trace(kernel, case.blocks, case.threads, *map(fresh, case.args)), device).seconds


if __name__ == "__main__":
    main()
