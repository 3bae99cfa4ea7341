"""Machine code by source line: ``nvdisasm``'s listing as instructions, counted by kind.

The kind follows from an instruction's name alone. The compiler reorders, merges and hoists, so a
line's instructions are those that it says come from there; an address computed once for two lines
counts for one of them."""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from warpwise.errors import ToolchainError
from warpwise.toolchain.tools import run

KINDS = ("load", "store", "atomic", "fma", "float", "integer", "branch", "other")
# Opcodes up to their first dot. Those of integers may begin with a U too: the same on values that a
# warp shares.
_OPCODES = {
    "load": "LD LDG LDS LDL LDSM LDGSTS TEX TLD",
    "store": "ST STG STS STL STSM",
    "atomic": "ATOM ATOMG ATOMS RED REDG CCTL",
    "fma": "FFMA FFMA2 DFMA HFMA2 HMMA DMMA IMMA HGMMA",
    "float": "FADD FADD2 FMUL FMUL2 DADD DMUL HADD2 HMUL2 FSET FSETP DSETP HSET2 HSETP2 FMNMX "
    "DMNMX HMNMX2 FSEL FCHK FRND MUFU F2F F2FP F2I I2F I2FP FSWZADD",
    "integer": "IADD IADD3 IMAD IMUL ISCADD LEA LOP LOP3 SHF SHL SHR ISETP IMNMX VIADD VIMNMX "
    "VIMNMX3 VIADDMNMX IABS I2I FLO POPC BREV PRMT SGXT BMSK SEL IDP XMAD VABSDIFF",
    "branch": "BRA BRX BRXU JMP JMX JMXU CALL RET EXIT BSSY BSYNC BREAK",
}
_KIND = {opcode: kind for kind, opcodes in _OPCODES.items() for opcode in opcodes.split()}
# moves that the compiler writes so to use another unit
_MOVES = re.compile(r"IMAD\.MOV|HFMA2(\.MMA)? \w+, -RZ, RZ")
_PLACE = re.compile(r'//## File "(?P<file>.*?)", line (?P<line>\d+)')
_INSTRUCTION = re.compile(r"/\*(?P<address>[0-9a-f]{4,})\*/\s+(?P<text>.*?)\s*;")
_BRANCH = re.compile(r"\bBRA\b.*`\((?P<label>\.L_x_\d+)\)")
_INDIRECT = re.compile(r"\b(BRX|JMX)")
_TARGET = re.compile(r"`\((.*?)\)")
# of a branch's target, or of a function that the compiler adds, as for the rare cases of a division
_LABEL = re.compile(r"(?P<name>\.L_x_\d+|\$[\w$.]+):")


@dataclass(frozen=True)
class Instruction:
    """One machine instruction: its address in bytes, its text, and the source line it comes from.

    ``line`` is 0 if the compiler does not say. ``label``: its name as the target of a branch, such
    as ``.L_x_2``, or of a call."""

    address: int
    text: str
    file: str = ""
    line: int = 0
    label: str = ""

    @property
    def opcode(self) -> str:
        """Its name without predicate and operands, such as ``LDG.E.64``."""
        words = self.text.split()
        return words[1] if words[0].startswith("@") and len(words) > 1 else words[0]

    @property
    def kind(self) -> str:
        """One of KINDS."""
        if _MOVES.search(self.text):
            return "other"
        name = self.opcode.partition(".")[0]
        return _KIND.get(name) or (
            "integer" if name[:1] == "U" and _KIND.get(name[1:]) == "integer" else "other"
        )


@dataclass(frozen=True)
class Line:
    """The instructions that one source line became."""

    file: str
    line: int
    instructions: tuple[Instruction, ...]

    @property
    def counts(self) -> dict[str, int]:
        """Instructions by kind, in the order of KINDS."""
        found = Counter(instruction.kind for instruction in self.instructions)
        return {kind: found[kind] for kind in KINDS}


def disassembled(cubin: bytes) -> tuple[Instruction, ...]:
    """Return the instructions of a cubin with line information, without the padding at its end."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.cubin"
        path.write_bytes(cubin)
        # What follows the data flow takes its time, and says only where an indirect branch can go.
        done, listing = run("nvdisasm", "-c", "-g", "-ndf", str(path))
        if not done or _INDIRECT.search(listing):
            done, listing = run("nvdisasm", "-c", "-g", str(path))
    if not done:
        raise ToolchainError(f"nvdisasm: {listing.strip()}")
    return instructions_in(listing)


def instructions_in(listing: str) -> tuple[Instruction, ...]:
    """Read the instructions of a listing as ``nvdisasm -c -g`` prints it.

    Padding is left out: NOPs and a jump to itself. A label of a NOP goes to the next instruction,
    and of several labels of one instruction all branches name the first."""
    found: list[Instruction] = []
    first: dict[str, str] = {}
    file, line, labels = "", 0, list[str]()
    for text in listing.splitlines():
        if place := _PLACE.search(text):
            file, line = place["file"], int(place["line"])
        elif name := _LABEL.match(text):
            labels.append(name["name"])
        elif (code := _INSTRUCTION.search(text)) and code["text"] != "NOP":
            address, label = int(code["address"], 16), labels[0] if labels else ""
            first |= dict.fromkeys(labels[1:], label)
            if code["text"] not in [f"BRA `({own})" for own in labels]:
                found.append(Instruction(address, code["text"], file, line, label))
            labels = []
    return tuple(replace(one, text=_renamed(one.text, first)) for one in found)


def _renamed(text: str, labels: Mapping[str, str]) -> str:
    """Return a branch or call with another name of its target, where it has one."""
    target = _TARGET.search(text)
    name = labels.get(target[1]) if target else None
    return text.replace(f"`({target[1]})", f"`({name})") if target and name else text


def loops(instructions: Iterable[Instruction]) -> tuple[tuple[Instruction, ...], ...]:
    """Return every loop: from the target of a branch that goes back, to that branch.

    A loop within another one is part of it, and comes by itself too."""
    code = tuple(instructions)
    places = {i.label: i.address for i in code if i.label}
    targets = ((i.address, _BRANCH.search(i.text)) for i in code)
    jumps = [(places.get(found[1], at + 1), at) for at, found in targets if found]
    return tuple(
        tuple(i for i in code if first <= i.address <= last)
        for first, last in jumps
        if first <= last
    )


def by_line(instructions: Iterable[Instruction]) -> tuple[Line, ...]:
    """Gather instructions by the source line that they come from, in the order of files and lines.

    Within a line they stay in order."""
    lines: dict[tuple[str, int], list[Instruction]] = {}
    for instruction in instructions:
        lines.setdefault((instruction.file, instruction.line), []).append(instruction)
    return tuple(Line(*place, tuple(lines[place])) for place in sorted(lines))
