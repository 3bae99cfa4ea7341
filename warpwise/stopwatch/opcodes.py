"""Opcodes of NVIDIA's machine code, by the unit of an SM that executes them.

Which unit an opcode uses: CUDA Binary Utilities, "Instruction Set Reference", says what an opcode
does; the CUDA C++ Best Practices Guide, "Throughput of Native Arithmetic Instructions", at which
rate. Opcodes are named up to their first dot. One that is not here has no unit: whoever reads
machine code says its name, and does not guess."""

from __future__ import annotations

#: In the order of the numbers that the engine uses.
PIPES = (
    "fp32",
    "imad",
    "alu",
    "special",
    "fp64",
    "lsu",
    "barrier",
    "control",
    "uniform",
    "tensor",
)
#: What a pipe is called where a reader sees it.
PIPE_WORDS = {
    "fp32": "float32 arithmetic",
    "imad": "integer multiply-add and float16",
    "alu": "integer arithmetic",
    "special": "special functions",
    "fp64": "float64 arithmetic",
    "lsu": "load/store units",
    "barrier": "barriers",
    "control": "branches",
    "uniform": "uniform datapath",
    "tensor": "tensor cores",
}

LOADS = "LD LDG LDS LDL LDSM TEX TLD"
STORES = "ST STG STS STL STSM"
ATOMICS = "ATOM ATOMG ATOMS RED REDG"
_OPCODES = {
    "fp32": "FFMA FFMA2 FADD FADD2 FMUL FMUL2 FHADD FHFMA FSWZADD",
    "imad": "IMAD IMUL XMAD IDP HFMA2 HADD2 HMUL2 HMNMX2 HSET2 HSETP2",
    "alu": "IADD IADD3 ISCADD LEA LOP LOP3 SHF SHL SHR ISETP IMNMX VIADD VIADDMNMX VIMNMX VIMNMX3 "
    "VABSDIFF IABS PRMT SGXT BMSK SEL FSEL FSET FSETP FMNMX FMNMX3 FCHK FRND2 PLOP3 PSETP P2R R2P "
    "MOV MOV32I I2FP F2FP F2IP LOP32I IADD32I FADD32I CSET CSETP I2IP",
    "special": "MUFU F2F F2I I2F I2I FRND POPC FLO BREV",
    "fp64": "DADD DMUL DFMA DSETP DMNMX",
    "lsu": f"{LOADS} {STORES} {ATOMICS} LDGSTS SHFL MATCH CCTL CCTLL QSPC",
    "barrier": "BAR",
    "control": "BRA BRX BRXU JMP JMX JMXU CALL RET EXIT BSSY BSYNC BREAK BMOV NOP WARPSYNC YIELD "
    "NANOSLEEP KILL BPT RPCMOV LEPC DEPBAR LDGDEPBAR MEMBAR ERRBAR ARRIVES CCTLT PREEXIT "
    "ENDCOLLECTIVE CGAERRBAR WARPGROUP WARPGROUPSET ACQBULK",
    "uniform": "S2R S2UR CS2R CS2UR R2UR LDC LDCU ULDC VOTE VOTEU REDUX B2R R2B ELECT SETCTAID "
    "SYNCS UCGABAR_ARV UCGABAR_WAIT",
    "tensor": "HMMA IMMA BMMA DMMA HGMMA IGMMA QGMMA MOVM",
}
PIPE_OF = {opcode: pipe for pipe, names in _OPCODES.items() for opcode in names.split()}
#: A prefix U is for values that a warp shares, on a datapath of their own.
_UNIFORM = {"fp32", "alu", "imad", "special"}
#: Opcodes that write no register; of stores and asynchronous copies all operands are read.
NO_RESULT = frozenset(
    f"{STORES} RED REDG LDGSTS BAR CCTL CCTLL CCTLT {_OPCODES['control']} R2B SYNCS".split()
)
#: Opcodes whose results begin with a predicate and a second one.
TWO_RESULTS = frozenset(
    "SHFL ATOM ATOMG LOP3 ULOP3 ISETP FSETP DSETP HSETP2 UISETP PLOP3 UPLOP3 PSETP ELECT MATCH "
    "VOTE".split()
)
#: Registers of products on tensor cores by the shape in their name: A, B (32 bits each).
TENSOR_REGISTERS = {
    "16816": (4, 2),
    "1688": (2, 1),
    "1684": (2, 1),
    "16832": (4, 2),
    "884": (2, 2),
    "16864": (4, 2),
    "168128": (2, 1),
    "168256": (4, 2),
    "8816": (1, 1),
    "8832": (1, 1),
}


def pipe_of(opcode: str) -> str | None:
    """Return the unit of an opcode such as "LDG.E.64", None if the table does not have it."""
    name = opcode.partition(".")[0]
    found = PIPE_OF.get(name)
    if found is None and name[:1] == "U" and PIPE_OF.get(name[1:]) in _UNIFORM:
        found = "uniform"
    return found
