"""Machine instructions as the stopwatch reads them: pipes, registers and accesses."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.paths import ROOT

from warpwise.stopwatch.sass import BASES, Op, read, unknown
from warpwise.toolchain import Instruction

#: One of each opcode with its modifiers in the reference kernels and the labs' solutions, compiled
#: for 7.5, 8.0, 8.6 and 9.0, and what else was met in other kernels and on 10.0.
MET = (Path(__file__).parent / "instructions.txt").read_text().splitlines()
UR, P = BASES["UR"], BASES["P"]


def op(text: str) -> Op:
    return read(Instruction(0, text))


@pytest.mark.parametrize(
    ("text", "pipe", "results", "operands"),
    [
        ("FFMA R2, R12, R13, -R15", "fp32", (2,), (12, 13, 15)),
        ("IMAD.WIDE.U32 R8, R3, 0x4, R10", "imad", (8, 9), (3, 10, 11)),
        ("IADD3 R4, P1, P2, R5, R6, RZ", "alu", (4, P + 1, P + 2), (5, 6)),
        ("IADD3.X R9, RZ, R5, RZ, P1, !PT", "alu", (9,), (5, P + 1)),
        ("ISETP.GE.OR.EX P0, PT, R5, UR9, P1, P0", "alu", (P,), (5, UR + 9, P + 1, P)),
        ("SEL R14, R3, RZ, P2", "alu", (14,), (3, P + 2)),
        ("LOP3.LUT P0, RZ, R2, 0x1, RZ, 0xc0, !PT", "alu", (P,), (2,)),
        ("DFMA R6, R2, 0.75, R4", "fp64", (6, 7), (2, 3, 4, 5)),
        ("F2F.F32.F64 R9, R6", "special", (9,), (6, 7)),
        ("I2F.F64.S64 R6, R8", "special", (6, 7), (8, 9)),
        ("I2F.U64 R7, R8", "special", (7,), (8, 9)),
        ("F2I.U64.TRUNC R8, R5", "special", (8, 9), (5,)),
        ("LDG.E.128 R4, desc[UR4][R2.64]", "lsu", (4, 5, 6, 7), (UR + 4, UR + 5, 2, 3)),
        ("LDG.E.SYS R12, [R12]", "lsu", (12,), (12, 13)),
        ("@!P0 STS.64 [R5], R10", "lsu", (), (P, 5, 10, 11)),
        ("SHFL.BFLY PT, R0, R23, 0x10, 0x1f", "lsu", (0,), (23,)),
        ("ATOMG.E.CAS.STRONG.GPU PT, R2, [R2.64], R4, R5", "lsu", (2,), (2, 3, 4, 5)),
        (
            "HMMA.16816.F32.BF16 R56, R32, R60, R56",
            "tensor",
            (56, 57, 58, 59),
            (32, 33, 34, 35, 60, 61, 56, 57, 58, 59),
        ),
        ("@P0 EXIT", "control", (), (P,)),
    ],
)
def test_registers_are_read(text: str, pipe: str, results: tuple, operands: tuple):
    found = op(text)
    assert (found.pipe, found.results, found.operands) == (pipe, results, operands)


@pytest.mark.parametrize(
    ("text", "access"),
    [
        ("LDS.128 R44, [R162]", ("shared", "load", 16)),
        ("STG.E.U16 desc[UR4][R6.64], R0", ("global", "store", 2)),
        ("LDGSTS.E.BYPASS.128 [R15], desc[UR12][R4.64]", ("global", "copy", 16)),
        ("RED.E.ADD.STRONG.GPU [R2], R5", ("global", "atomic", 4)),
        ("LDSM.16.M88.4 R84, [R5]", ("shared", "load", 16)),
        ("LDL R0, [R1+0x4]", ("local", "load", 4)),
        ("FADD R0, R1, R2", ("", "", 0)),
        ("@!PT LDS RZ, [RZ]", ("", "", 0)),
    ],
)
def test_accesses_are_read(text: str, access: tuple[str, str, int]):
    found = op(text)
    assert (found.space, found.access, found.width) == access


def test_every_instruction_of_the_package_is_known():
    assert len(MET) > 200
    assert unknown(map(op, MET)) == ()


def test_published_kernels_are_known():
    for path in (ROOT / "tools/published/sass").glob("*.txt"):
        lines = (line.split("\t") for line in path.read_text().splitlines())
        assert unknown(op(parts[3]) for parts in lines if len(parts) == 4) == (), path.name


def test_an_unknown_opcode_is_named_and_not_guessed():
    ops = [op("FFMA R1, R2, R3, R4"), op("WARBLE.F32 R1, R2"), op("@P0 UTMALDG.2D [UR8], [UR4]")]
    assert [one.pipe for one in ops] == ["fp32", None, None]
    assert unknown(ops) == ("UTMALDG", "WARBLE")


@pytest.mark.parametrize(
    ("text", "conditional"),
    [
        ("BRA `(.L_x_1)", False),
        ("@P0 BRA `(.L_x_1)", True),
        ("@PT BRA `(.L_x_1)", False),
        ("BRA.U !UP0, `(.L_x_1)", True),
        ("BRA.DIV UR4, `(.L_x_1)", True),
    ],
)
def test_branches_say_whether_they_fall_through(text: str, conditional: bool):
    found = op(text)
    assert (found.target, found.conditional) == (".L_x_1", conditional)
