"""The loop of a kernel that computes most, found in listings that are written here."""

from __future__ import annotations

import pytest

from warpwise.metrics.compiler_figures import OTHERS, CompilerFigures
from warpwise.simt import as_kernel, kernels_in
from warpwise.toolchain.inner_loop import inner_loop, with_inner_loop
from warpwise.toolchain.machine_code import Instruction

TEXT = """@cuda.jit
def kernel(x, y):
    for start in range(x.size):
        y[start] = x[start]
        for k in range(8):
            one = x[k]
            for i in range(4):
                y[i] += one
"""
KERNEL = as_kernel(kernels_in(TEXT, before=["from warpwise import cuda"])["kernel"])
BACK = "@P0 BRA `({})"


def listed(*lines: str, file: str = "cell") -> tuple[Instruction, ...]:
    """Read instructions from lines: a source line, perhaps a label, and the text."""
    found = []
    for place, line in enumerate(lines):
        number, _, text = line.partition(" ")
        label, _, text = text.rpartition(": ")
        found.append(Instruction(16 * place, text, file, int(number), label))
    return tuple(found)


FETCH = ("4 .L_x_0: LDG.E R1, [R2]", "4 STS [R3], R1", "4 " + BACK.format(".L_x_0"))
PRODUCTS = (
    "6 .L_x_1: LDS R4, [R5]",
    "8 FFMA R6, R4, R7, R6",
    "8 FFMA R8, R4, R9, R8",
    "5 IADD3 R5, R5, 0x4, RZ",
    "5 IMAD.MOV.U32 R1, RZ, RZ, R2",
    "5 " + BACK.format(".L_x_1"),
)
AROUND = ("3 .L_x_2: IADD3 R2, R2, 0x1, RZ", *FETCH, *PRODUCTS, "3 " + BACK.format(".L_x_2"))


def found_in(*lines: str) -> CompilerFigures:
    return with_inner_loop(CompilerFigures(9), listed(*lines), KERNEL, "/a/cell")


def test_the_loop_inside_is_counted_by_kind_and_named_by_its_line_in_the_source():
    found = found_in(*AROUND, "1 EXIT")
    kinds = {"whole_numbers": 1, "shared_loads": 1, "moves": 1}
    assert found == CompilerFigures(9, line=5, instructions=6, flops=4, ffma=2, **kinds)
    assert found.possible and found.flops_per_issue_slot == pytest.approx(32 * 4 / 6)


def test_a_loop_that_was_unrolled_leaves_the_one_around_it_without_its_remainder():
    unrolled = [*PRODUCTS[:-1] * 4][1:]
    rest = [line.replace("_1", "_3") for line in PRODUCTS]
    whole = (
        "3 .L_x_2: IADD3 R2, R2, 0x1, RZ",
        *FETCH,
        *(n.replace(".L_x_1: ", "") for n in unrolled),
    )
    found = found_in(*whole, "3 " + BACK.format(".L_x_2"), *rest, "1 EXIT")
    assert (found.line, found.ffma, found.global_loads, found.stores) == (3, 8, 1, 1)


def test_of_two_loops_with_as_many_flops_the_longer_is_the_usual_case():
    other = [line.replace("_1", "_3") for line in (*PRODUCTS[:4], *PRODUCTS[5:])]
    code = listed(*other, *PRODUCTS, "1 EXIT")
    assert len(inner_loop(code)) == len(PRODUCTS)


def test_a_loop_that_computes_nothing_is_none():
    found = found_in(*FETCH, "6 FADD R1, R2, R3", "1 EXIT")
    assert (found.line, found.instructions, found.flops) == (0, 5, 1)
    assert found.told.startswith("in the kernel, without a loop, 0 of 5 instructions are FFMA")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("IMAD R1, R2, R3, R4", "whole_numbers"),
        ("ULOP3.LUT UR1, UR2, 0x7, URZ, 0xc0, !UPT", "whole_numbers"),
        ("LDS.128 R4, [R5]", "shared_loads"),
        ("LDG.E.64 R4, [R2]", "global_loads"),
        ("STL [R1], R4", "in_local_memory"),
        ("LDL.64 R4, [R1]", "in_local_memory"),
        ("STS [R3], R1", "stores"),
        ("MOV R1, R2", "moves"),
        ("HFMA2.MMA R1, -RZ, RZ, 0, 0", "moves"),
        ("BAR.SYNC 0x0", ""),
    ],
)
def test_each_kind_of_instruction_has_its_count(text, kind):
    found = found_in("6 " + text)
    assert {name for name in OTHERS if getattr(found, name)} == ({kind} if kind else set())


def test_lines_of_another_file_name_no_loop_of_the_kernel():
    code = listed(*PRODUCTS, "1 EXIT", file="other")
    own = listed("6 LDS R4, [R5]")
    found = with_inner_loop(CompilerFigures(), (code[0], *own, *code[1:]), KERNEL, "cell")
    assert found.ffma == 2
