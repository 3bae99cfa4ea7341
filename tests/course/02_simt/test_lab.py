"""What lab 2 says of the machine code: of two loops the compiler makes no single one."""

from __future__ import annotations

import pytest
from support.lab_cases import names_of

from warpwise.toolchain import compile_kernel, missing
from warpwise.toolchain.machine_code import loops

pytestmark = pytest.mark.skipif(bool(missing()), reason="NVIDIA's compiler is not installed")
TYPES = "float32[::1], float32[::1], float32, float32, int64"


def test_the_compiler_keeps_both_loops_and_one_loop_is_half_of_them():
    slow, one = (
        compile_kernel(names_of("02_simt")[name], TYPES).machine_code
        for name in ("settle_slow", "settle")
    )
    assert len(loops(slow)) == 2 * len(loops(one)) > 0
