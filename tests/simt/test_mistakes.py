"""Mistakes in ``chapters/mistakes/``: each is named; its correct twin is left alone and right.

A mistake is named on its line and in its thread. ``# expect: race`` ends each of the one or two
lines that take part in a race, and ``# scope:`` says where the two threads may be. ``# expect:
fragment`` ends a product that gets a fragment in another order, of which a wrong result is told.
``# expect: <class of the error>`` ends the line that is to be named; for a LaunchError that is the
launch, and words of the message follow."""

from __future__ import annotations

import ast
import difflib
import importlib.util
import re
from collections import Counter
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from support.mistakes import FOLDER, KERNEL_ERRORS, NAMES

from warpwise import errors, trace
from warpwise.cuda import DeviceArray
from warpwise.labs.fragments import misplaced
from warpwise.labs.mistake_pairs import pair
from warpwise.simt import as_kernel

SEEDS = (3, 4)
MOST_CHANGED_LINES = 8


@dataclass(frozen=True)
class Program:
    """One file of the folder: its text, what its comments expect, and its launches."""

    path: Path

    @cached_property
    def text(self) -> str:
        return self.path.read_text()

    @cached_property
    def lines(self) -> list[str]:
        return self.text.splitlines()

    @cached_property
    def expectations(self) -> dict[int, str]:
        """Map lines (from 1) to what ``# expect:`` says there."""
        return {
            n: line.partition("# expect: ")[2]
            for n, line in enumerate(self.lines, 1)
            if "# expect: " in line
        }

    @cached_property
    def scopes(self) -> set[str]:
        found = re.search(r"^# scope: (.*)$", self.text, re.MULTILINE)
        return set(found[1].split(", ")) if found else set()

    @cached_property
    def module(self) -> ModuleType:
        spec = importlib.util.spec_from_file_location(f"mistakes_{self.path.stem}", self.path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    @cache  # noqa: B019 - several mistakes have one twin, and several tests ask for one run
    def run(self, seed: int):
        """Run a launch; return its trace, its arguments before it, and those after it."""
        kernel, blocks, threads, args, *options = self.module.launch(np.random.default_rng(seed))
        before = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
        return (
            trace(kernel, blocks, threads, *args, record=(), **(options[0] if options else {})),
            before,
            args,
        )


def faulty(name: str) -> Program:
    return Program(FOLDER / f"{name}_faulty.py")


def correct(name: str) -> Program:
    return Program(pair(FOLDER, name).correct)


def statements(program: Program) -> list[str]:
    """Return the program's lines without docstring, comments and the twin's reference."""
    tree = ast.parse(program.text)
    body = [node for node in tree.body[1:] if getattr(node, "name", "") != "expected"]
    return [line for line in ast.unparse(ast.Module(body, [])).splitlines() if line.strip()]


def changed_lines(before: list[str], after: list[str]) -> int:
    steps = difflib.SequenceMatcher(a=before, b=after, autojunk=False).get_opcodes()
    return sum(max(a1 - a0, b1 - b0) for kind, a0, a1, b0, b1 in steps if kind != "equal")


RACY = [name for name in NAMES if "race" in faulty(name).expectations.values()]
REFUSED = [
    name
    for name in NAMES
    if any(what.startswith("LaunchError") for what in faulty(name).expectations.values())
]
MISPLACED = [name for name in NAMES if "fragment" in faulty(name).expectations.values()]
STOPPED = [name for name in NAMES if name not in (*RACY, *REFUSED, *MISPLACED)]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", RACY)
def test_a_race_is_reported_on_its_lines_and_nowhere_else(name, seed):
    program = faulty(name)
    marked = set(program.expectations)
    t, _, _ = program.run(seed)
    sets = [{race.first.line, race.second.line} for race in t.races]
    assert marked in sets, t.races
    assert all(lines <= marked for lines in sets), t.races


@pytest.mark.parametrize("name", RACY)
def test_a_race_names_two_threads_that_are_where_it_says(name):
    program = faulty(name)
    t, _, _ = program.run(SEEDS[0])
    for race in t.races:
        sides = (race.first, race.second)
        assert {race.scope} == {scope_of(*sides, t.block)} <= program.scopes
        assert race.first.writes or race.second.writes
        assert not (race.first.atomic and race.second.atomic)
        assert race.block == race.second.block
        for side in sides:
            assert side.text and program.lines[side.line - 1].strip().startswith(side.text)
            assert side.place.endswith(f"{program.path.name}:{side.line}")
            assert f"  at {side.place}\n    {side.text}\n" in str(race)
            assert f"thread {side.thread} " in str(race) and str(side.block) in str(race)
        assert str(race).startswith(f"race on {race.array}[")
        assert race.try_this and race.try_this in str(race)


def scope_of(first, second, block: tuple[int, int, int]) -> str:
    """Return where two threads are: in one warp, in one block, or in two blocks."""
    assert (first.block, first.thread) != (second.block, second.thread)
    if first.block != second.block:
        return "grid"
    warps = {(x + block[0] * (y + block[1] * z)) // 32 for x, y, z in (first.thread, second.thread)}
    return "warp" if len(warps) == 1 else "block"


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", STOPPED)
def test_a_mistake_stops_the_kernel_with_its_line_block_and_thread(name, seed):
    program = faulty(name)
    assert len(program.expectations) == 1, "one line ends with # expect:, the one to be named"
    ((line, kind),) = program.expectations.items()
    with pytest.raises(errors.KernelError) as caught:
        program.run(seed)
    error = caught.value
    assert type(error).__name__ == kind, error
    assert error.where.line == line, error
    assert error.where.text and program.lines[line - 1].strip().startswith(error.where.text)
    assert f"block {error.where.block}, thread {error.where.thread}\n    {error.where.text}" in str(
        error
    )
    assert error.where.file.endswith(program.path.name)
    assert error.what and error.try_this


@pytest.mark.parametrize("name", MISPLACED)
def test_a_fragment_in_another_order_is_named_with_the_line_of_its_product(name):
    program = faulty(name)
    ((line, _),) = program.expectations.items()
    kernel, *launch, args = program.module.launch(np.random.default_rng(SEEDS[0]))
    found = misplaced(as_kernel(kernel), *launch, args)
    assert found is not None and found.line == line
    assert f"the product on line {line} has " in found.seen and found.causes
    assert program.run(SEEDS[0])[0].races == ()


@pytest.mark.parametrize("name", MISPLACED)
def test_its_twin_has_all_fragments_in_order(name):
    kernel, *launch, args = correct(name).module.launch(np.random.default_rng(SEEDS[0]))
    assert misplaced(as_kernel(kernel), *launch, args) is None


@pytest.mark.parametrize("name", REFUSED)
def test_a_launch_is_refused_before_it_changes_anything(name):
    program = faulty(name)
    ((line, says),) = program.expectations.items()
    assert program.lines[line - 1].startswith("def launch")
    kernel, blocks, threads, args, *options = program.module.launch(np.random.default_rng(SEEDS[0]))
    before = [a.copy() for a in args if isinstance(a, np.ndarray)]
    with pytest.raises(errors.LaunchError) as caught:
        trace(kernel, blocks, threads, *args, **(options[0] if options else {}))
    assert says.removeprefix("LaunchError ") in str(caught.value)
    assert all(
        np.array_equal(a, b)
        for a, b in zip(before, (a for a in args if isinstance(a, np.ndarray)), strict=True)
    )


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", NAMES)
def test_the_correct_twin_is_left_alone_and_right(name, seed):
    program = correct(name)
    t, before, after = program.run(seed)
    assert t.races == ()
    result = [a for a in after if isinstance(a, (np.ndarray, DeviceArray))][-1]
    np.testing.assert_allclose(result, program.module.expected(*before), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_a_twin_differs_from_its_mistake_by_few_lines(name):
    wrong, right = faulty(name), correct(name)
    assert 1 <= changed_lines(statements(wrong), statements(right)) <= MOST_CHANGED_LINES
    assert not right.expectations and wrong.expectations
    assert ast.get_docstring(ast.parse(wrong.text)) != pair(FOLDER, name).reason


@pytest.mark.parametrize("name", NAMES)
def test_what_a_faulty_program_expects_makes_sense(name):
    program = faulty(name)
    kinds = {what.split()[0] for what in program.expectations.values()}
    assert len(kinds) == 1
    if kinds == {"race"}:
        assert len(program.expectations) <= 2
        assert program.scopes and program.scopes <= {"warp", "block", "grid"}, (
            "say where two threads that race may be: # scope: warp, block, grid, or several"
        )
    elif kinds != {"fragment"}:
        assert len(program.expectations) == 1 and not program.scopes
        kind = getattr(errors, kinds.pop(), object)
        assert issubclass(kind, (errors.KernelError, errors.LaunchError)), (
            f"# expect: takes race, fragment, {', '.join(KERNEL_ERRORS)}, or LaunchError and words"
        )


def test_there_are_pairs_of_every_kind_and_nothing_else():
    files = {str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*.py")}
    pairs = [pair(FOLDER, name) for name in NAMES]
    paths = {path for one in pairs for path in (one.faulty, one.correct)}
    assert files == {str(path.relative_to(FOLDER)) for path in paths}
    assert len(NAMES) >= 60
    assert min(Counter(name.partition("/")[0] for name in NAMES).values()) >= 2


def test_a_program_that_mends_several_mistakes_has_a_name_of_its_own():
    times = Counter(pair(FOLDER, name).correct for name in NAMES)
    own = {path for path in times if path.name.endswith("_correct.py")}
    assert all((count == 1) == (path in own) for path, count in times.items())


def test_no_two_mistakes_are_alike():
    texts = Counter("\n".join(statements(faulty(name))) for name in NAMES)
    assert max(texts.values()) == 1
