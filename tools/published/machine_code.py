"""The machine code of the published shapes: compiled by NVRTC and ptxas, and kept as text.

One text for each compute capability has all kernels of the files in SOURCES, whose lines count on
from file to file."""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from warpwise.toolchain import Instruction

HERE = Path(__file__).parent
SOURCES = ("kernels.cu", "memory.cu")
CCS = ((7, 5), (8, 0), (8, 6), (8, 9), (9, 0))


@dataclass(frozen=True)
class Code:
    """A kernel's machine code: registers of a thread, static bytes of shared memory of a block."""

    registers: int
    shared_bytes: int
    instructions: tuple[Instruction, ...]


def source() -> str:
    """Return the kernels' CUDA C++, one file after another."""
    return "".join((HERE / name).read_text() for name in SOURCES)


def compiled() -> None:
    """Compile the kernels for every compute capability, and store their machine code."""
    for cc in CCS:
        found = _assembled(_ptx(cc), cc)
        path = HERE / "sass" / f"sm_{cc[0]}{cc[1]}.txt"
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(_written(name, code) for name, code in sorted(found.items())))


def _ptx(cc: tuple[int, int]) -> str:
    from cuda.bindings import nvrtc

    _, program = nvrtc.nvrtcCreateProgram(source().encode(), b"kernels.cu", 0, [], [])
    options = [f"--gpu-architecture=compute_{cc[0]}{cc[1]}".encode(), b"-lineinfo"]
    (error,) = nvrtc.nvrtcCompileProgram(program, len(options), options)
    if error != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        _, size = nvrtc.nvrtcGetProgramLogSize(program)
        log = b" " * size
        nvrtc.nvrtcGetProgramLog(program, log)
        raise SystemExit(log.decode())
    _, size = nvrtc.nvrtcGetPTXSize(program)
    ptx = b" " * size
    nvrtc.nvrtcGetPTX(program, ptx)
    return ptx.decode().rstrip("\0 ")


def _assembled(ptx: str, cc: tuple[int, int]) -> dict[str, Code]:
    """Return each kernel's machine code."""
    from warpwise.toolchain.machine_code import instructions_in
    from warpwise.toolchain.tools import run

    with tempfile.TemporaryDirectory() as folder:
        cubin = str(Path(folder) / "kernels.cubin")
        flags = ["-v", "--generate-line-info", f"-arch=sm_{cc[0]}{cc[1]}"]
        done, log = run("ptxas", *flags, "-", "-o", cubin, text=ptx)
        if not done:
            raise SystemExit(log)
        _, listing = run("nvdisasm", "-c", "-g", cubin)
    parts = re.split(r"^\.text\.(\w+):$", listing, flags=re.MULTILINE)[1:]
    used = {
        name: (int(registers), int(shared or 0))
        for name, registers, shared in re.findall(
            r"Compiling entry function '(\w+)'.*?Used (\d+) registers(?:[^\n]*?(\d+) bytes smem)?",
            log,
            re.DOTALL,
        )
    }
    return {
        name: Code(*used[name], instructions_in(text))
        for name, text in zip(parts[::2], parts[1::2], strict=True)
    }


def _written(name: str, code: Code) -> str:
    head = f"== {name} {code.registers} {code.shared_bytes}\n"
    return head + "".join(
        f"{i.address:x}\t{i.line}\t{i.label}\t{i.text}\n" for i in code.instructions
    )


@cache
def stored(cc: tuple[int, int]) -> dict[str, Code]:
    """Read the stored machine code for a compute capability."""
    found = {}
    for part in (HERE / "sass" / f"sm_{cc[0]}{cc[1]}.txt").read_text().split("== ")[1:]:
        head, *lines = part.splitlines()
        name, registers, shared = head.split()
        fields = (line.split("\t") for line in lines)
        code = tuple(
            Instruction(int(a, 16), text, "", int(n), label) for a, n, label, text in fields
        )
        found[name] = Code(int(registers), int(shared), code)
    return found
