"""A function that was renamed in a live notebook is not judged by what its old name stands for."""

from __future__ import annotations

import itertools

import pytest
from jupyter_client.manager import start_new_kernel

from warpwise.labs.cells_run import RUN_ABOVE
from warpwise.labs.fold import headed

DEFINES = """
def {name}(n):
    return {value}"""
BEGINS = """
from warpwise.labs import Call, check
CASES = [Call("three", (3,), 9)]"""
CHECKS = "check('square', CASES)"
RIGHT = DEFINES.format(name="square", value="n * n")
RENAMED = DEFINES.format(name="my_square", value="n + n")
MENDED = DEFINES.format(name="square", value="n + n")
PASSED = "square: passed"
GONE = "square: name not defined"
TOLD = "the cell that defined square now defines my_square; square is still the one from before"


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    """A client of one kernel for all tests, and numbers that tell them apart in it."""
    folder = str(tmp_path_factory.mktemp("kernel"))
    manager, client = start_new_kernel(kernel_name="python3", cwd=folder)
    yield client, itertools.count()
    client.stop_channels()
    manager.shutdown_kernel(now=True)


@pytest.fixture
def run(kernel):
    """Run cells one after the other, (id, text), and return what the last one showed.

    Each test has a function and cells of its own."""
    client, numbers = kernel
    own = f"square_{next(numbers)}"

    def ran(*cells: tuple[str | None, str]) -> str:
        for cell, text in (("begins", BEGINS), *cells):
            content = {"code": text.replace("square", own), "silent": False, "store_history": True}
            metadata = {"cellId": f"{own}-{cell}"} if cell else {}
            sent = client.session.msg("execute_request", content, metadata=metadata)
            client.shell_channel.send(sent)
            said, state = [], ""
            while state != "idle":
                message = client.get_iopub_msg(timeout=600)
                if message["parent_header"].get("msg_id") != sent["header"]["msg_id"]:
                    continue
                state = message["content"].get("execution_state", "")
                said.append(message["content"].get("data", {}).get("text/plain", ""))
                said.append(message["content"].get("evalue", ""))
                said.append(message["content"].get("text", ""))
        return "\n".join(said).replace(own, "square")

    return ran


@pytest.mark.slow
def test_a_check_without_the_cells_above_it_says_to_run_them(run):
    check = headed("check('square', [Call('n', (N,), N * N)])", "square", [("square",)])
    said = run(("a1", RIGHT), ("a2", check))
    assert "name 'N' is not defined" in said and RUN_ABOVE in said
    said = run(("a1", RIGHT), ("a2", f"N = 3\n{check}"))
    assert PASSED in said and RUN_ABOVE not in said
    said = run(("a3", "missing"))
    assert "name 'missing' is not defined" in said and RUN_ABOVE not in said


@pytest.mark.slow
def test_a_renamed_function_is_not_judged_by_its_old_definition(run):
    said = run(("a1", RIGHT), ("a2", CHECKS), ("a1", RENAMED), ("a2", CHECKS))
    assert GONE in said and TOLD in said and "leave the function's name as it was" in said
    assert PASSED in run(("a1", RIGHT), ("a2", CHECKS))
    assert GONE in run(("a1", "n = 3"), ("a2", CHECKS))


@pytest.mark.slow
@pytest.mark.parametrize(
    "cells",
    [
        [("a1", RIGHT), ("a2", RENAMED)],  # a cell of its own
        [("a1", RIGHT), ("a1", RENAMED), ("a2", RIGHT)],  # moved to another
        [("a1", RIGHT), ("a1", f"{RENAMED}\nsquare = lambda n: n * n")],
        [("a1", RIGHT), ("a1", "%time my_square = square = lambda n: n * n")],
        [(None, RIGHT), (None, RENAMED)],  # a front end without ids
    ],
)
def test_a_name_that_a_cell_still_defines_is_judged(run, cells):
    assert PASSED in run(*cells, ("check", CHECKS))


@pytest.mark.slow
def test_the_mended_function_is_judged_anew(run):
    cells = (("b1", RIGHT), ("b1", RENAMED), ("b1", MENDED), ("b2", CHECKS))
    assert "square: wrong result" in run(*cells)
