"""The line about time below a card: where it is, and where it is not."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import jupyter_client
import numpy as np
import pytest

from warpwise import cuda, trace
from warpwise.labs.modelled_time import DEVICE, NOTE, of_interest
from warpwise.report.modelled_time import sentence
from warpwise.toolchain import missing

LINE = re.compile(
    r"65,536 such blocks: about [\d.]+ [mu]s on an RTX A6000, bound by DRAM, "
    r"with \d+ registers a thread and no spills \(modelled, not graded\)"
)
CELL = """
import numpy as np
from warpwise import cuda
from warpwise.labs import Launch, Out, check

@cuda.jit
def double(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = 2 * x[i]

x = np.ones(100, np.float32)
check("double", [Launch("100", 2, 64, (x, Out((100,))), (2 * x,))])
"""


@cuda.jit
def double(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = 2 * x[i]


@pytest.fixture(scope="module")
def doubled():
    return trace(double, 4, 256, *np.ones((2, 1024), np.float32))


@pytest.mark.skipif(bool(missing()), reason="no compiler")
def test_the_line_says_blocks_time_device_and_that_it_is_modelled(doubled):
    assert LINE.fullmatch(sentence(doubled, DEVICE, NOTE))


def test_without_a_kernel_to_compile_there_is_none(doubled):
    assert sentence(replace(doubled, launched=None), DEVICE, NOTE) == ""


def test_nobody_who_looks_gets_none(doubled):
    assert of_interest(doubled) == ""


@pytest.mark.slow
@pytest.mark.skipif(bool(missing()), reason="no compiler")
@pytest.mark.parametrize("person", [True, False])
def test_a_person_sees_it_below_the_card_and_a_program_does_not(person: bool, tmp_path: Path):
    """``allow_stdin`` is what tells the two apart in a real kernel."""
    told: list[str] = []

    def take(message):
        content = message["content"]
        told.extend([str(content.get("data", {}).get("text/plain")), str(content.get("text", ""))])

    manager, client = jupyter_client.manager.start_new_kernel(cwd=str(tmp_path))
    try:
        reply = client.execute_interactive(
            CELL, allow_stdin=person, output_hook=take, stdin_hook=print, timeout=120
        )
        assert reply["content"]["status"] == "ok", told
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    shown = "\n".join(told)
    assert "double: passed" in shown
    assert bool(LINE.search(shown)) is person
