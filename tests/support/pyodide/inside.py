"""The first script in Pyodide: makes importable what tests need, and starts the script proper."""

from __future__ import annotations

import importlib
import os
import runpy
import sys
from collections.abc import Iterable
from importlib import metadata
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import NoReturn

ROOT = Path(__file__).parents[3]
SITE = os.environ["WARPWISE_SITE"]  #: where this machine's packages are
PURE = set(os.environ["WARPWISE_PURE"].split())
#: What tests import, and what is not there: a test that uses it is skipped.
ABSENT = (
    "jupyter_client jupyter_client.manager jupytext nbformat numba.core "
    "numba.core.target_extension numba.cuda.cpython numba.cuda.descriptor "
    "matplotlib matplotlib.pyplot quickjs"
).split()


class PurePackages:
    """A finder of those packages of this machine that are pure Python."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        return PathFinder.find_spec(name, [SITE], target) if path is None and name in PURE else None

    @staticmethod
    def find_distributions(context: metadata.DistributionFinder.Context) -> Iterable[object]:
        """Find their versions, by name; entry points, which pytest would load, by none."""
        if context.name in PURE:
            inner = metadata.DistributionFinder.Context(name=context.name, path=[SITE])
            yield from metadata.MetadataPathFinder.find_distributions(inner)


class Absent:
    """Something that is not there under Pyodide."""

    def __init__(self, name: str):
        self._name = name

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        self()

    def __call__(self, *args: object, **options: object) -> NoReturn:
        pytest = importlib.import_module("pytest")
        pytest.skip(f"there is no {self._name} under Pyodide", allow_module_level=True)


class AbsentModule(ModuleType):
    """A module of which every name is ``Absent``."""

    __path__ = ()

    def __getattr__(self, name: str) -> Absent:
        if name.startswith("__"):
            raise AttributeError(name)
        return Absent(f"{self.__name__}.{name}")


def prepare() -> None:
    """Make what tests import importable, and Numba the simulator."""
    sys.meta_path.append(PurePackages)
    sys.path[:0] = [str(ROOT), str(ROOT / "tests")]
    importlib.import_module("numpy.testing")  # asks a process, lscpu, what this machine can do
    importlib.import_module("warpwise.cuda.as_numba").install()
    sys.modules |= {name: AbsentModule(name) for name in ABSENT}


if __name__ == "__main__":
    prepare()
    sys.argv = sys.argv[1:]
    runpy.run_path(sys.argv[0], run_name="__main__")
