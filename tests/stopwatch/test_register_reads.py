"""Reads of the two banks of registers, counted by hand."""

from __future__ import annotations

import pytest

from warpwise.stopwatch.flow import flow_of
from warpwise.stopwatch.register_reads import register_reads
from warpwise.stopwatch.sass import read
from warpwise.toolchain import Instruction


def reads(*texts: str) -> list[list[float]]:
    flow = flow_of([read(Instruction(n, text)) for n, text in enumerate(texts)])
    found: list[list[float]] = register_reads(flow).tolist()
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("FFMA R17, R9, R14, -R6", [2, 1]),
        ("FFMA R2, R4, R6, R8", [3, 0]),
        ("FADD R2, R3, R3", [0, 1]),  # one register, wanted twice
        ("FMUL R2, R4, c[0x0][0x160]", [1, 0]),
        ("IADD3 R4, P1, P2, R5, UR6, RZ", [0, 1]),
        ("@P0 FADD R2, R2, 1", [1, 0]),
        ("LDG.E R3, [R2.64]", [0, 0]),  # it fetches its operands by itself
        ("MUFU.EX2 R3, R3", [0, 0]),
    ],
)
def test_one_instruction(text: str, expected: list):
    assert reads(text) == [expected]


def test_an_operand_that_is_kept_is_not_read_again():
    first, second, third = reads(
        "FFMA R10, R4.reuse, R7, R10", "FFMA R12, R4, R9, R12", "FFMA R14, R4, R11, R14"
    )
    assert (first, second, third) == ([2, 1], [1, 1], [2, 1])


def test_it_is_kept_for_its_place_alone():
    assert reads("FFMA R10, R4.reuse, R7, R10", "FFMA R12, R9, R4, R12")[1] == [2, 1]


def test_another_reader_of_its_bank_takes_the_place():
    assert reads("FADD R10, R4.reuse, R7", "FADD R11, R6, R7", "FADD R12, R4, R7")[2] == [1, 1]


def test_nothing_is_kept_beyond_a_branch():
    assert reads("FADD R10, R4.reuse, R7", "@P0 BRA `(.L_x_1)", "FADD R12, R4, R7")[2] == [1, 1]
