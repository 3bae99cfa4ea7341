"""Refusals that the views share: devices that are not in the table, and a missing QuickJS."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from warpwise import cuda, trace
from warpwise.devices import Device
from warpwise.errors import LaunchError
from warpwise.views import flash_attention, hierarchy, memory, mystery, occupancy, roofline, waves

MINE = Device("mine", (9, 0), 10, 10, 10, 10, 1)
WITHOUT = """
import sys
sys.modules["quickjs"] = None
import numpy as np
from warpwise import cuda, trace
from warpwise.views import occupancy

@cuda.jit
def double(x):
    x[cuda.grid(1)] *= 2

view = occupancy.explorer()
assert "<ww-occupancy" in view._repr_html_()  # there the script draws
print(repr(view), str(trace(double, 1, 32, np.zeros(32)).show()).count(repr(view)), sep="\\n")
try:
    view.svg()
except ImportError as error:
    print(error)
"""


@cuda.jit
def fill(x):
    x[cuda.grid(1)] = 1


def traced():
    return trace(fill, 2, 32, np.zeros(64, np.float32))


@pytest.mark.parametrize(
    "show",
    [
        lambda device: flash_attention.explorer(device=device),
        lambda device: hierarchy.explorer(device=device),
        memory.explorer,
        mystery.explorer,
        occupancy.explorer,
        roofline.explorer,
        waves.explorer,
        lambda device: hierarchy.of_trace(traced(), device),
        lambda device: occupancy.of_trace(traced(), device),
        lambda device: waves.of_trace(traced(), device),
    ],
)
def test_a_device_is_of_the_table_or_named_by_what_only_one_has(show):
    assert show("A100 80").values["device"] == "A100 80 GB SXM"
    with pytest.raises(
        LaunchError, match=r"^'A100' can be A100 40 GB SXM, A100 80 GB SXM: say which$"
    ):
        show("A100")
    with pytest.raises(LaunchError, match=r"^no device is called 'mine'"):
        show(MINE)


def test_without_quickjs_a_view_says_what_it_needs(tmp_path):
    (tmp_path / "double.py").write_text(WITHOUT)
    done = subprocess.run([sys.executable, tmp_path / "double.py"], capture_output=True, text=True)
    needed = "to show this without a browser takes QuickJS: pip install quickjs-ng"
    assert done.stdout.splitlines() == [f"({needed})", "3", needed], done.stderr
