"""The programs in ``programs/oracle/``: reading them, and running them in Numba's simulator.

Run as a script, with ``NUMBA_ENABLE_CUDASIM=1``, it runs every launch of every program and writes
the arrays to a file. One process does it all, as Numba decides when it is imported which ``cuda``
it has."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import numpy as np

FOLDER = Path(__file__).parents[1] / "programs" / "oracle"


@dataclass(frozen=True)
class Launch:
    """One launch of a program.

    ``name`` says which, as in ``loops:collatz[2]``. ``want``: the last array, where the program
    knows it."""

    name: str
    kernel: object
    blocks: object
    threads: object
    args: tuple
    want: np.ndarray | None = None

    @property
    def arrays(self) -> list[np.ndarray]:
        return [a for a in self.args if isinstance(a, np.ndarray)]


def stems() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.py"))


def expectation(stem: str) -> str:
    """Return what a program's ``# expect:`` comment says, "equal" without one.

    Otherwise it is "rounding" or "the simulator differs"."""
    lines = (FOLDER / f"{stem}.py").read_text().splitlines()
    return next(
        (line.removeprefix("# expect: ") for line in lines if line.startswith("# expect: ")),
        "equal",
    )


def load(stem: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"kernels_{stem}", FOLDER / f"{stem}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def launches(stem: str) -> Iterator[Launch]:
    """Yield the launches of one program, with the same random data in every process."""
    rng = np.random.default_rng(zlib.crc32(stem.encode()))
    for number, (kernel, *rest) in enumerate(load(stem).launches(rng)):
        function = getattr(kernel, "py_func", None) or kernel.fn  # the second: in Numba's simulator
        yield Launch(f"{stem}:{function.__name__}[{number}]", kernel, *rest)


def in_numbas_simulator(out: Path) -> dict[str, list[np.ndarray]]:
    """Run every launch in Numba's simulator; map names to arrays."""
    environment = os.environ | {"NUMBA_ENABLE_CUDASIM": "1", "PYTHONWARNINGS": "ignore"}
    subprocess.run([sys.executable, __file__, str(out)], env=environment, check=True)
    found: dict[str, list[np.ndarray]] = {}
    with np.load(out) as data:
        for key in data.files:
            found.setdefault(key.rpartition("/")[0], []).append(data[key])
    return found


def main(out: Path) -> None:
    results = {}
    for launch in (one for stem in stems() for one in launches(stem)):
        launch.kernel[launch.blocks, launch.threads](*launch.args)
        results |= {f"{launch.name}/{i}": array for i, array in enumerate(launch.arrays)}
    np.savez(out, **results)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
