"""Budgets for NVIDIA's compiler in the grader: kept, not kept, forged, and without a compiler."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest
from support import tiny_course

from warpwise import doctor
from warpwise.grading import compiling, decisions, grade, store
from warpwise.grading.inside.compiler import FRAME
from warpwise.grading.notebook import Answer
from warpwise.grading.record import NO_COMPILER, Result
from warpwise.grading.sandbox import isolation
from warpwise.labs.exercise import Reason
from warpwise.metrics.compiler_figures import CompilerFigures

BUDGET = (
    '(2 * x,), compiled={"registers_per_thread": 64, "spilled_bytes": 0, "local_memory_bytes": 0})'
)
RIGHT = tiny_course.DOUBLE.format(2)
HEAD = "def double(x, y):"
# which place is stored to depends on x.size, which the compiler does not know
IN_MEMORY = """@cuda.jit
def double(x, y):
    i = cuda.grid(1)
    kept = cuda.local.array(32, np.float32)
    if i < x.size:
        for j in range(32):
            kept[(j + x.size) % 32] = x[i] * np.float32(j)
        y[i] = kept[(2 + x.size) % 32]
"""
# finds its own element among all, whose places it takes apart by a number
SEARCHED = """@cuda.jit
def double(x, y):
    i = cuda.grid(1)
    if i < x.size:
        total = x[i]
        for k in range(x.size):
            e = k // {0} * {0} + k % {0}
            if e == i:
                total += x[e]
        y[i] = total
"""
FORGED = "os.write(1, struct.pack('<13q', 8, *12 * [0]))"
HOSTILE = {
    "writes_a_result": f"import os, struct\n{FORGED}\nos._exit(0)\n{IN_MEMORY}",
    "in_a_decorator": "import os, struct\n"
    + IN_MEMORY.replace("@cuda.jit", f"@cuda.jit(max_registers={FORGED})"),
    "in_an_annotation": "import os, struct\n" + IN_MEMORY.replace("(x, y)", f"(x: {FORGED}, y)"),
    "replaces_the_compiler": "import warpwise.toolchain.figures as f\n"
    f"f.figures_of_text = lambda *given: (8, *12 * [0])\n{IN_MEMORY}",
    "replaces_the_frame": "import warpwise.grading.inside.compiler as c\n"
    f"c.numbers = lambda job: (8, *12 * [0])\nc.answer = None\n{IN_MEMORY}",
    "a_budget_of_its_own": "from warpwise.labs import compiler_budget\n"
    f"compiler_budget.budget_of = lambda cases: None\n{IN_MEMORY}",
    "prints_a_result": IN_MEMORY + "        print(8, 0, 0)\n",
    "another_below": f"{IN_MEMORY}\nif False:\n    {RIGHT.replace(chr(10), chr(10) + '    ')}\n",
    "in_a_default": "TWO = 1 + 1\n\n\n@cuda.jit(device=True)\n"
    "def twice(v, by=TWO - 0):\n    return by * v\n\n\n" + RIGHT.replace("2 * x[i]", "twice(x[i])"),
    "never_run": IN_MEMORY.replace(
        "x[i] * np.float32(j)", "x[i] * np.float32(j) if x.size > 0 else 0"
    ),
}


@pytest.fixture(scope="module")
def mode() -> str:
    finding = doctor.bubblewrap()
    if finding.status != doctor.OK:
        pytest.skip(f"needs bubblewrap ({finding.found}): {finding.advice}")
    found = isolation()
    if not compiling.here(found):
        pytest.skip("CUDA's compiler is not here, or does not work in a sandbox")
    return found


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Path:
    made = tiny_course.course(tmp_path_factory.mktemp("course"))
    hidden = made / "tests/course" / tiny_course.STEM / "hidden.py"
    hidden.write_text(hidden.read_text().replace("(2 * x,))", BUDGET))
    return made


def graded(course: Path, folder: Path, **kernels: str) -> dict[str, Result]:
    """Grade a notebook with each kernel, and return the results on it by student."""
    source = tiny_course.handed_in(course, folder / "in", **kernels)
    records = grade(source, folder / "out", seed=5, course=course)
    return {record.student: record.results[0] for record in records}


@pytest.mark.slow
def test_a_kernel_is_held_to_what_the_compiler_gives_it(mode, course, tmp_path):
    found = graded(course, tmp_path, right=RIGHT, memory=IN_MEMORY)
    right, memory = found["right"].finding, found["memory"].finding
    assert right.passed and right.reason == Reason.PASSED
    assert [(c.name, c.over) for c in right.counters] == [
        ("registers_per_thread", False),
        ("spilled_bytes", False),
        ("local_memory_bytes", False),
    ]
    assert not memory.passed and memory.reason == "over budget: local_memory_bytes"
    assert memory.only_over_budget and memory.right == 0 and len(memory.failed) == memory.cases
    assert "kept is there, for on line 7 the compiler does not know the place" in memory.detail
    assert memory.counters[-1].value >= 128
    assert {one.compiler for one in found.values()} == {compiling.GRADED}
    page = " ".join((tmp_path / "out/feedback/memory.txt").read_text().split())
    assert "Local memory bytes" in page and "Compiler: Looked at the machine code" in page
    kept = next(store.load(tmp_path / "out").records.kept())
    assert kept.parts[compiling.PART] == compiling.here(mode) != ""
    assert compiling.PART in decisions.CHANGED


@pytest.mark.slow
def test_nobody_forges_what_the_compiler_says(mode, course, tmp_path):
    found = graded(course, tmp_path, **HOSTILE)
    assert found.keys() == HOSTILE.keys()
    for name, result in found.items():
        assert not result.points, name
    reasons = {name: result.finding.reason for name, result in found.items()}
    assert reasons.pop("in_a_default") == Reason.REFUSED
    assert set(reasons.values()) == {"over budget: local_memory_bytes"}, reasons


POSSIBLE = CompilerFigures(8, 0, 0, 7, 100, 128, 64, 4, 16, 0, 0, 2, 13)


def packed(**changes: int) -> bytes:
    return FRAME.pack(*POSSIBLE._replace(**changes))


@pytest.mark.parametrize(
    "result",
    [
        b"",
        b"8 0 0",
        FRAME.pack(*POSSIBLE)[:-1],
        FRAME.pack(*POSSIBLE) + b"\0",
        packed(registers_per_thread=-8),
        packed(local_memory_bytes=-1),
        packed(spilled_bytes=1 << 50),
        packed(moves=-1),
        packed(instructions=98),  # fewer than there are of all kinds
        packed(flops=127),  # fewer than those of FFMA
        packed(flops=401),  # more than any instruction has
    ],
)
def test_a_result_is_numbers_that_can_be(result):
    for found in (POSSIBLE, CompilerFigures(8), POSSIBLE._replace(flops=400, instructions=99)):
        kept = found if found.possible else None
        assert compiling._numbers(FRAME.pack(*found)) == kept
    assert POSSIBLE.possible and CompilerFigures(8).possible
    assert compiling._numbers(result) is None


@pytest.mark.slow
def test_a_loop_that_divides_is_held_to_its_budget_by_its_line(mode, tmp_path):
    made = tiny_course.course(tmp_path / "course")
    hidden = made / "tests/course" / tiny_course.STEM / "hidden.py"
    slots = BUDGET.replace("{", '{"flops_per_issue_slot": 1, ')
    hidden.write_text(hidden.read_text().replace("(2 * x,))", slots))
    kernels = {"right": SEARCHED.format("4"), "divides": SEARCHED.format("(x.size + 3)")}
    found = graded(made, tmp_path, **kernels)
    right, divides = found["right"].finding, found["divides"].finding
    assert right.passed, right
    assert divides.reason == "over budget: flops_per_issue_slot"
    assert "in the loop on line 6, 0 of " in divides.detail
    assert "mainly arithmetic on whole numbers, as for addresses (" in divides.detail
    page = " ".join((tmp_path / "out/feedback/divides.txt").read_text().split())
    assert "of what is asked for" in page and "write sizes as numbers" in page


@pytest.mark.slow
def test_without_a_compiler_nothing_is_taken_off_and_a_line_says_so(
    sandbox, course, tmp_path, monkeypatch
):
    def missing(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(compiling, "version", missing)
    compiling.here.cache_clear()
    try:
        found = graded(course, tmp_path, memory=IN_MEMORY)["memory"]
    finally:
        compiling.here.cache_clear()
    assert found.finding.passed and found.points == 3 and found.compiler == NO_COMPILER
    assert not found.finding.counters
    page = " ".join((tmp_path / "out/feedback/memory.txt").read_text().split())
    assert "no CUDA compiler, so registers, spills, local memory and FLOPs in an issue slot" in page


def test_a_text_is_compiled_once(monkeypatch):
    compiler, jobs = compiling.Compiler("none"), []
    monkeypatch.setattr(compiling, "_compiled", lambda job, *_: (jobs.append(job), "no")[::1])
    answer = Answer("double", "kernel", "double", RIGHT, ())
    for types in ("float32[::1]", "float32[::1]", "int32[::1]"):
        assert compiler._taken(answer, (), types, lambda: None) == (None, "no")
    assert [job["types"] for job in jobs] == ["float32[::1]", "int32[::1]"]
