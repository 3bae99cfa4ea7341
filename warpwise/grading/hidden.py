"""Hidden tests: ``tests/course/<lab>/hidden.py``, a function per exercise that draws its cases.

All submissions of a run meet the same cases, drawn from a seed. It is secret until the grades are
out: who knows the sizes can write for them. This is the instructor's own code, so it is imported; a
course folder inside the submissions is refused before it comes to that."""

from __future__ import annotations

import importlib.util
import zlib
from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path
from types import ModuleType

import numpy as np

from warpwise.errors import GradingError
from warpwise.labs.exercise import Call, Case, Launch, Program

FOLDER = Path("tests", "course")
Calls = tuple[Call, ...] | tuple[Program, ...]


def load(course: Path, stem: str) -> ModuleType:
    """Import the hidden tests of a lab. Raises GradingError if they are missing or broken."""
    path = course / FOLDER / stem / "hidden.py"
    if not path.is_file():
        raise GradingError(f"lab {stem} has no hidden tests: {path} is missing")
    spec = importlib.util.spec_from_file_location(f"warpwise_hidden_{stem}", path)
    assert spec is not None and spec.loader is not None  # as the name ends in .py
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        raise GradingError(f"the hidden tests {path} cannot be imported: {why}") from error
    return module


@lru_cache(maxsize=64)
def cases(module: ModuleType, exercise: str, seed: int) -> tuple[Case, ...]:
    """Draw the cases of one exercise: the same for the same seed, whatever other exercises draw.

    Raises GradingError if there are none."""
    return _drawn(module, exercise, (seed, zlib.crc32(exercise.encode())))


@lru_cache(maxsize=16)
def more_cases(module: ModuleType, exercise: str, seed: int) -> tuple[Case, ...]:
    """Draw other cases of the same kinds, by which ``behaviour`` is confirmed."""
    return _drawn(module, exercise, (seed, zlib.crc32(exercise.encode()), 1))


def _drawn(module: ModuleType, exercise: str, seed: tuple[int, ...]) -> tuple[Case, ...]:
    name = f"{exercise}(rng)"
    draw: Callable[[np.random.Generator], Iterable[Case]] | None = getattr(module, exercise, None)
    if not callable(draw):
        raise GradingError(f"{module.__file__} has no function {name}")
    rng = np.random.default_rng(seed)
    try:
        drawn = tuple(draw(rng))
    except Exception as error:
        raised = f"{name} raised {type(error).__name__}: {error}"
        raise GradingError(f"{module.__file__}: {raised}") from error
    if not drawn or not all(isinstance(case, (Launch, Call, Program)) for case in drawn):
        must = f"{name} must yield launches, calls or programs, at least one"
        raise GradingError(f"{module.__file__}: {must}")
    return drawn


def calls(module: ModuleType, exercise: str, seed: int) -> Calls:
    """Draw the cases of an exercise that asks for a host function. Raises GradingError."""
    return _calls(module, exercise, cases(module, exercise, seed))


def more_calls(module: ModuleType, exercise: str, seed: int) -> Calls:
    """Draw other cases, as ``more_cases``. Raises GradingError."""
    return _calls(module, exercise, more_cases(module, exercise, seed))


def _calls(module: ModuleType, exercise: str, drawn: tuple[Case, ...]) -> Calls:
    found = tuple(case for case in drawn if isinstance(case, Call))
    programs = tuple(case for case in drawn if isinstance(case, Program))
    if len(drawn) not in (len(found), len(programs)):
        must = "must yield calls only, or programs only"
        raise GradingError(f"{module.__file__}: {exercise}(rng) {must}")
    return found or programs
