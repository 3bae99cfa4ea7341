"""Run a kernel's PTX for one block, all lanes in lockstep, with NumPy and no GPU.

Knows the instructions that chapter 16's program in CuTe DSL is compiled to. Branches must be the
same for all lanes, and copies are made at once, so a missing wait or barrier is not found."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint32]
U32, U64, F32 = np.uint32, np.uint64, np.float32

#: By instruction: a function of its operands' values, in the type on which its name ends
PLAIN = {
    "mov.b32": lambda a: a,
    "mov.u32": lambda a: a,
    "add.s32": lambda a, b: a + b,
    "sub.s32": lambda a, b: a - b,
    "add.s64": lambda a, b: a + b,
    "mul.wide.u32": lambda a, b: a.astype(U64) * b,
    "and.b32": lambda a, b: a & b,
    "or.b32": lambda a, b: a | b,
    "xor.b32": lambda a, b: a ^ b,
    "shl.b32": lambda a, b: a << b,
    "shr.u32": lambda a, b: a >> b,
    "setp.eq.b32": lambda a, b: a == b,
    "setp.ne.b32": lambda a, b: a != b,
    "mul.f32": lambda a, b: a * b,
    "add.f32": lambda a, b: a + b,
    "sub.f32": lambda a, b: a - b,
    "max.f32": np.fmax,
    "div.rn.f32": lambda a, b: a / b,
    "fma.rn.f32": lambda a, b, c: (a.astype(np.float64) * b + c).astype(F32),
    "ex2.approx.f32": np.exp2,
    "cvt.rn.bf16x2.f32": lambda a, b: to_bfloat16(a) << U32(16) | to_bfloat16(b),
}
ORDER_ALONE = ("bar.sync", "cp.async.commit_group", "cp.async.wait_group")
LANE = np.arange(32, dtype=np.int64)
#: Of a fragment's registers in mma.m16n8k16: the row and column of its first element, for each lane
A_PLACES = [(LANE // 4 + 8 * (i % 2), 2 * (LANE % 4) + 8 * (i // 2)) for i in range(4)]
B_PLACES = [(2 * (LANE % 4) + 8 * i, LANE // 4) for i in range(2)]
C_PLACES = [(LANE // 4 + 8 * (i // 2), 2 * (LANE % 4) + i % 2) for i in range(4)]


def to_bfloat16(x: NDArray[np.float32]) -> Words:
    """Round to the nearest, ties to even; the bits, in the lower half of a word."""
    bits = np.ascontiguousarray(x).view(U32)
    return (bits + U32(0x7FFF) + ((bits >> U32(16)) & U32(1))) >> U32(16)


def from_bfloat16(bits: NDArray[np.unsignedinteger]) -> NDArray[np.float32]:
    return (bits.astype(U32) << U32(16)).view(F32)


def statements(ptx: str) -> tuple[list[str], dict[str, int]]:
    """Return a kernel's instructions, and where its labels stand among them."""
    body = re.sub(r"//.*", "", ptx)
    body = body[body.index("\n{") + 2 : body.rindex("}")]
    found: list[str] = []
    labels: dict[str, int] = {}
    for line in (" ".join(part.split()) for part in body.split(";")):
        while line.startswith("$"):
            name, _, line = (part.strip() for part in line.partition(":"))
            labels[name] = len(found)
        if line and not line.startswith("."):
            found.append(line)
    return found, labels


class Block:
    """One block's registers by name, a value for each lane, and its shared memory."""

    def __init__(self, ptx: str, threads: int, index: int, parameters: list, memory: NDArray):
        self.lines, self.labels = statements(ptx)
        self.threads, self.warps = threads, threads // 32
        self.parameters, self.memory = parameters, memory
        self.shared = np.zeros(1 << 16, np.uint8)
        lane = np.arange(threads, dtype=U32)
        self.values = {"%tid.x": lane, "%ctaid.x": np.full_like(lane, index)}

    def run(self) -> None:
        at = 0
        while (line := self.lines[at]) != "ret":
            at += 1
            guard, name, rest = re.fullmatch(r"(?:@(%p\d+) )?(\S+) ?(.*)", line).groups()
            operands = re.findall(r"\{[^}]*\}|[^,\s][^,]*", rest)
            if name == "bra":
                (taken,) = {*self.values[guard].tolist()}  # the same for all lanes
                at = self.labels[operands[0]] if taken else at
            else:
                self.step(name, operands)

    def step(self, name: str, operands: list[str]) -> None:
        """Carry out an instruction that does not branch."""
        if name in PLAIN:
            kind = name.rsplit(".", 1)[1]
            with np.errstate(over="ignore"):
                made = PLAIN[name](*(self.value(one, kind) for one in operands[1:]))
            self.values[operands[0]] = made.view(U32) if made.dtype == F32 else made
        elif name.startswith("ld.param"):
            number = int(re.search(r"param_(\d+)\]", operands[1])[1])
            self.values[operands[0]] = np.full(self.threads, self.parameters[number])
        elif name == "mov.pred":
            set_to = self.values.get(operands[1])
            new = np.full(self.threads, operands[1] == "-1") if set_to is None else set_to
            self.values[operands[0]] = new
        elif name == "selp.b32":
            yes, no = (self.value(one, "b32") for one in operands[1:3])
            self.values[operands[0]] = np.where(self.values[operands[3]], yes, no)
        elif not name.startswith(ORDER_ALONE):
            self.together(name, operands)

    def together(self, name: str, operands: list[str]) -> None:
        """Carry out an instruction in which lanes exchange or move data."""
        if name.startswith("shfl.sync"):
            asked = self.value(operands[2], "b32")
            own = np.arange(self.threads)
            source = own ^ asked if "bfly" in name else own // 32 * 32 + asked
            self.values[operands[0]] = self.value(operands[1], "b32")[source]
        elif name.startswith("cp.async.cg"):
            to, start = (self.places(one, 16) for one in operands[:2])
            self.shared[to] = self.memory[start]
        elif name.startswith("st.global.b32"):
            words = self.value(operands[1], "b32")
            self.memory[self.places(operands[0], 4)] = words[:, None].view(np.uint8)
        elif name.startswith("ldmatrix.sync.aligned.m8n8.x4"):
            self.load_matrices(operands, "trans" in name)
        elif name.startswith("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"):
            self.multiply(*map(names, operands))
        else:
            raise NotImplementedError(name)

    def value(self, operand: str, kind: str) -> NDArray:
        """Return an operand's value for each lane: of a register, or a literal."""
        if operand in self.values:
            found = self.values[operand]
        elif operand.startswith("0f"):
            found = np.full(self.threads, int(operand[2:], 16), U32)
        elif operand.startswith("__"):  # where shared memory begins
            found = np.zeros(self.threads, U32)
        else:
            found = np.full(self.threads, int(operand) % 2 ** (64 if kind == "s64" else 32))
        return (
            found.astype(U64)
            if kind == "s64"
            else found.astype(U32).view(F32 if kind == "f32" else U32)
        )

    def places(self, operand: str, size: int) -> NDArray[np.int64]:
        """Return the bytes that ``[%r + 16]`` names, a row for each lane."""
        base, _, offset = operand.strip("[]").partition("+")
        return self.values[base].astype(np.int64)[:, None] + int(offset or 0) + np.arange(size)

    def load_matrices(self, operands: list[str], turned: bool) -> None:
        """Lanes 8 q to 8 q + 7 of a warp name the rows of matrix q, and each gets two elements."""
        rows = self.shared[self.places(operands[1], 16)].view(np.uint16)
        matrices = rows.reshape(self.warps, 4, 8, 8)
        if turned:
            matrices = matrices.swapaxes(2, 3)
        pairs = np.ascontiguousarray(matrices).view(U32).reshape(self.warps, 4, 32)
        for q, register in enumerate(names(operands[0])):
            self.values[register] = pairs[:, q].ravel()

    def multiply(self, d: list[str], a: list[str], b: list[str], c: list[str]) -> None:
        """Multiply 16 x 16 by 16 x 8 in each warp, and add."""
        left = np.zeros((self.warps, 16, 16), F32)
        right = np.zeros((self.warps, 16, 8), F32)
        sums = np.zeros((self.warps, 16, 8), F32)
        for i in range(2):  # the lower and the upper half of a word
            for register, (row, column) in zip(a, A_PLACES, strict=True):
                left[:, row, column + i] = self.half(register, i)
            for register, (row, column) in zip(b, B_PLACES, strict=True):
                right[:, row + i, column] = self.half(register, i)
        for register, (row, column) in zip(c, C_PLACES, strict=True):
            sums[:, row, column] = self.value(register, "f32").reshape(self.warps, 32)
        made = (left.astype(np.float64) @ right + sums).astype(F32)
        for register, (row, column) in zip(d, C_PLACES, strict=True):
            self.values[register] = made[:, row, column].ravel().view(U32)

    def half(self, register: str, upper: int) -> NDArray[np.float32]:
        words = self.value(register, "b32").reshape(self.warps, 32)
        return from_bfloat16(words >> U32(16) if upper else words & U32(0xFFFF))


def names(operand: str) -> list[str]:
    """Return the registers of ``{%r1, %r2}``."""
    return operand.strip("{} ").replace(" ", "").split(",")
