"""One machine instruction, read: its unit, the registers it writes and reads, and its access.

The text is that of ``nvdisasm``. Which operands are results, and how many registers each takes,
follows from the opcode and its modifiers: CUDA Binary Utilities, "Instruction Set Reference", and,
for the shapes of products on tensor cores, PTX ISA, "Matrix Fragments"."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from warpwise.stopwatch.opcodes import (
    ATOMICS,
    LOADS,
    NO_RESULT,
    STORES,
    TENSOR_REGISTERS,
    TWO_RESULTS,
    pipe_of,
)
from warpwise.toolchain import Instruction
from warpwise.toolchain.inner_loop import flops_of

#: Numbers of registers: R, the uniform ones, predicates and uniform predicates in turn.
BASES = {"R": 0, "UR": 256, "P": 512, "UP": 520}
REGISTERS = 528
_REGISTER = re.compile(r"\b(?P<kind>UR|UP|R|P)(?P<number>\d+)(?P<wide>\.64)?\b")
_PREDICATE = re.compile(r"!?U?P(T|\d)")
_TARGET = re.compile(r"`\((?P<label>[^)]+)\)")
_TYPE = re.compile(r"[FSU](?P<bits>8|16|32|64)")
_SPACES = {"G": "global", "S": "shared", "L": "local"}
_ACCESS = {
    name: kind
    for kind, names in (("load", LOADS), ("store", STORES), ("atomic", ATOMICS))
    for name in names.split()
}
NEVER = ("@!PT", "@!UPT")  #: guards of an instruction that does nothing


@dataclass(frozen=True)
class Op:
    """A machine instruction as the engine needs it.

    ``results`` and ``operands`` are numbers of registers, as in BASES. ``width``: bytes of each
    lane's access. ``guard``: its predicate, "" if it always runs. ``flops``: of each lane.
    ``places``: of each register of a thread's own that it reads, which operand it is, its number,
    and whether the next instruction is to have it again (``.reuse``)."""

    text: str
    file: str
    line: int
    label: str
    name: str  #: the opcode up to its first dot
    pipe: str | None  #: None if the opcode is unknown
    guard: str
    results: tuple[int, ...]
    operands: tuple[int, ...]
    space: str = ""  #: "global", "shared", "local", "" for no access
    access: str = ""  #: "load", "store", "atomic", "copy" (global to shared), "shuffle"
    width: int = 0
    flops: int = 0
    target: str = ""  #: label of a branch or call
    places: tuple[tuple[int, int, bool], ...] = ()

    @property
    def conditional(self) -> bool:
        """True for a branch that may fall through."""
        parted = ".DIV" in self.text or ".CONV" in self.text  # only where lanes have parted
        return parted or bool(self.guard) or bool(_condition(self.text))


def read(instruction: Instruction) -> Op:
    """Read one instruction."""
    guard, text = _split(instruction.text)
    opcode, _, rest = text.partition(" ")
    name, operands = opcode.partition(".")[0], _operands(rest)
    results, reads = _registers(opcode, name, operands)
    sources = operands[_count(name, operands) :]
    space, access = _memory(name) if guard not in NEVER else ("", "")
    target = _TARGET.search(rest)
    return Op(
        text=instruction.text,
        file=instruction.file,
        line=instruction.line,
        label=instruction.label,
        name=name,
        pipe=pipe_of(opcode),
        guard="" if guard in ("", "@PT", "@UPT") else guard,
        results=results,
        operands=(*_ids(guard), *reads),
        space=space,
        access=access,
        width=_bytes(opcode, name) if access else 0,
        flops=flops_of(instruction),
        target=target["label"] if target else "",
        places=tuple(
            (place, number, ".reuse" in operand)
            for place, operand in enumerate(sources)
            for number in _ids(operand)
            if number < BASES["UR"]
        ),
    )


def unknown(ops: Iterable[Op]) -> tuple[str, ...]:
    """Return the names of opcodes that the table does not have, sorted: none if all are known."""
    return tuple(sorted({op.name for op in ops if op.pipe is None}))


def _split(text: str) -> tuple[str, str]:
    if not text.startswith("@"):
        return "", text
    guard, _, rest = text.partition(" ")
    return guard, rest.strip()


def _condition(text: str) -> str:
    """Return the condition of a branch that is an operand, as in ``BRA.U !UP0, `(.L_x_1)``."""
    _, text = _split(text)
    first = _operands(text.partition(" ")[2])[:1]
    return first[0] if first and _PREDICATE.fullmatch(first[0]) else ""


def _operands(rest: str) -> list[str]:
    return [part.strip() for part in rest.split(",")] if rest.strip() else []


def _memory(name: str) -> tuple[str, str]:
    """Return the space and the kind of access of an opcode, "" and "" if it has none."""
    if name == "SHFL":
        return "shared", "shuffle"
    if name == "LDGSTS":
        return "global", "copy"
    if name not in _ACCESS:
        return "", ""
    stem = name.removesuffix("M") if name in ("LDSM", "STSM") else name
    space = "global" if name in ("RED", "REDG") else _SPACES.get(stem[-1], "global")
    return space, _ACCESS[name]


def _bytes(opcode: str, name: str) -> int:
    """Return the bytes of each lane's access; of ``LDSM`` each lane gets 4 for every matrix."""
    parts = opcode.split(".")
    if name in ("LDSM", "STSM"):
        return 4 * next((int(part) for part in parts if part in ("2", "4")), 1)
    sizes = {"128": 16, "64": 8, "U8": 1, "S8": 1, "U16": 2, "S16": 2}
    return next((sizes[part] for part in parts if part in sizes), 4)


def _ids(operand: str, count: int = 1) -> tuple[int, ...]:
    """Return the numbers of the registers in an operand; a plain one stands for ``count``."""
    found: list[int] = []
    for match in _REGISTER.finditer(operand):
        many = count if match["kind"] in ("R", "UR") else 1
        many = max(many, 2) if match["wide"] or "desc[" + match[0] in operand else many
        first = BASES[match["kind"]] + int(match["number"])
        found += range(first, first + many)
    return tuple(number for number in found if number < REGISTERS)


def _registers(opcode: str, name: str, operands: list[str]) -> tuple[tuple[int, ...], ...]:
    """Return the registers that an instruction writes, and those that it reads."""
    if name in ("R2P", "P2R"):
        predicates = tuple(range(BASES["P"], BASES["P"] + 7))
        others = tuple(n for operand in operands for n in _ids(operand))
        return (predicates, others) if name == "R2P" else (others[:1], (*others[1:], *predicates))
    count = _count(name, operands)
    widths = _widths(opcode, name, len(operands), count)
    if ".E" in opcode and ".SYS" in opcode:  # compute capability 7.5
        widths = [2 if o.startswith("[R") else w for o, w in zip(operands, widths, strict=True)]
    ids = [_ids(operand, width) for operand, width in zip(operands, widths, strict=True)]
    results = tuple(n for part in ids[:count] for n in part)
    return results, tuple(n for part in ids[count:] for n in part)


def _count(name: str, operands: list[str]) -> int:
    """Return the number of leading operands that are results."""
    return 0 if name in NO_RESULT else _results(name, operands)


def _results(name: str, operands: list[str]) -> int:
    if not operands:
        return 0
    first_is_predicate = bool(_PREDICATE.fullmatch(operands[0]))
    if name in TWO_RESULTS and (first_is_predicate or name == "VOTE"):
        return min(2, len(operands))
    if name.startswith("VOTE"):
        return 1 if first_is_predicate else 2
    most = 1
    if name.removeprefix("U") in ("IADD3", "LEA", "IADD", "IMAD", "SHF"):
        while most < min(3, len(operands) - 1) and re.fullmatch(r"U?P(T|\d)", operands[most]):
            most += 1
    return most


def _widths(opcode: str, name: str, total: int, results: int) -> list[int]:
    """Return how many registers each operand takes."""
    widths = [1] * total
    if name in _ACCESS or name in ("LDC", "ULDC", "LDCU"):
        _memory_widths(widths, opcode, name, results)
    elif name.removeprefix("U") == "IMAD" and ".WIDE" in opcode:
        widths[0], widths[-1] = 2, 2
    elif name in ("DADD", "DMUL", "DFMA", "FFMA2", "FADD2", "FMUL2", "DMNMX"):
        widths = [2] * total
    elif name == "DSETP":
        widths[results:] = [2] * (total - results)
    elif name == "CS2R":
        widths[0] = 1 if ".32" in opcode else 2
    elif name in ("F2F", "F2I", "I2F", "FRND"):
        widths[0], widths[-1] = _converted(opcode, name)
    elif name in ("HMMA", "IMMA", "BMMA", "DMMA"):
        _tensor_widths(widths, opcode)
    return widths


def _memory_widths(widths: list[int], opcode: str, name: str, results: int) -> None:
    """Set the width of what is loaded or stored; addresses say ".64" themselves, but on 7.5."""
    wide = max(1, _bytes(opcode, name) // 4)
    if name in NO_RESULT:
        widths[-1] = wide
        return
    widths[results - 1] = wide
    if _ACCESS.get(name) == "atomic":
        widths[results + 1 :] = [wide] * (len(widths) - results - 1)


def _converted(opcode: str, name: str) -> tuple[int, int]:
    """Return the registers of a conversion's result and operand, from the types in its name."""
    bits = [match for part in opcode.split(".")[1:] if (match := _TYPE.fullmatch(part))]
    sizes = [2 if match["bits"] == "64" else 1 for match in bits]
    if len(sizes) >= 2:
        return sizes[0], sizes[1]
    if not sizes:
        return 1, 1
    of_result = (bits[0][0][0] == "F") == (name == "I2F")
    return (sizes[0], 1) if of_result else (1, sizes[0])


def _tensor_widths(widths: list[int], opcode: str) -> None:
    """Set the registers of D, A, B and C of a product of 16 x 8 elements or fewer."""
    parts = opcode.split(".")
    of_a, of_b = TENSOR_REGISTERS.get(parts[1] if len(parts) > 1 else "", (2, 1))
    if "TF32" in parts and "1688" in parts:
        of_a, of_b = 4, 2
    of_c = 2 if "F16" in parts[2:3] or (parts[0] == "IMMA" and parts[1].startswith("88")) else 4
    for place, width in zip(range(len(widths)), (of_c, of_a, of_b, of_c), strict=False):
        widths[place] = width
