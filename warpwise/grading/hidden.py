"""Hidden tests: ``tests/hidden/<lab>.py``, one function per exercise that draws its cases from a seeded generator.

All submissions of a run meet the same cases. The seed is secret until the grades are out: who knows the sizes can write for them.
This is the instructor's own code, so it is imported; a course folder inside the submissions is refused before it comes to that.
"""

from __future__ import annotations

import importlib.util
import zlib
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from types import ModuleType

import numpy as np

from warpwise.errors import GradingError
from warpwise.labs.exercise import Call, Case, Launch


def load(course: Path, stem: str) -> ModuleType:
    """The hidden tests of a lab as a module. Raises GradingError if there are none or they cannot be imported."""
    path = course / "tests" / "hidden" / f"{stem}.py"
    if not path.is_file():
        raise GradingError(f"lab {stem} has no hidden tests: {path} is missing")
    spec = importlib.util.spec_from_file_location(f"warpwise_hidden_{stem}", path)
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise GradingError(f"the hidden tests {path} cannot be imported: {type(error).__name__}: {error}") from error
    return module


@lru_cache(maxsize=64)
def cases(module: ModuleType, exercise: str, seed: int) -> tuple[Case, ...]:
    """The cases of one exercise: the same for the same seed, whatever other exercises draw. Raises GradingError if there are none."""
    draw: Callable | None = getattr(module, exercise, None)
    if not callable(draw):
        raise GradingError(f"{module.__file__} has no function {exercise}(rng)")
    rng = np.random.default_rng([seed, zlib.crc32(exercise.encode())])
    try:
        drawn: Sequence[Case] = tuple(draw(rng))
    except Exception as error:
        raise GradingError(f"{module.__file__}: {exercise}(rng) raised {type(error).__name__}: {error}") from error
    if not drawn or not all(isinstance(case, (Launch, Call)) for case in drawn):
        raise GradingError(f"{module.__file__}: {exercise}(rng) must yield launches or calls, at least one")
    return tuple(drawn)
