"""One kernel through Numba and ptxas: PTX, machine code, and what it takes of registers and memory."""

from __future__ import annotations

import re
import struct
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import SimpleNamespace

from numba.cuda import dispatcher
from numba.cuda.core.compiler_lock import global_compiler_lock
from numba.cuda.cudadrv import error as driver_errors

from warpwise.cuda import numbas
from warpwise.devices import DEVICES, Device
from warpwise.errors import LaunchError, ToolchainError
from warpwise.model import Occupancy, occupancy
from warpwise.simt.text.source import Kernel, as_kernel
from warpwise.toolchain.argument_types import argument_types
from warpwise.toolchain.machine_code import Instruction, disassembled
from warpwise.toolchain.refusals import one_line
from warpwise.toolchain.tools import require, run
from warpwise.toolchain.translate import for_numba, options_of

UNKNOWN_CC = "compute capability {}.{} is not one that this compiler knows"
OF_NUMBA = ("fastmath", "opt", "launch_bounds")
KNOWN_TO_PTXAS = {"vprintf", "__assertfail", "malloc", "free"}  # a GPU's own functions
_EXTERN = re.compile(r"\.extern \.func\s+(?:\([^)]*\)\s*)?(\w+)")
_ENTRY = re.compile(r"\.visible \.entry (\w+)")
_SPILLS = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")


@dataclass(frozen=True)
class Compiled:
    """What the compiler made of one kernel for one compute capability. Registers are per thread; memory is in bytes.

    ``shared_bytes`` is static, per block. ``stack_bytes``, per thread, is local memory: arrays that found no registers, and spills.
    ``constant_bytes`` is all constant memory, the kernel's parameters included. ``unlinked`` names library functions that the kernel
    calls and that are linked in later: what these take is not counted. Numba does float16 arithmetic and grid barriers so.
    """

    kernel: str
    signature: str
    file: str
    line: int
    cc: tuple[int, int]
    registers: int
    spill_load_bytes: int
    spill_store_bytes: int
    shared_bytes: int
    stack_bytes: int
    constant_bytes: int
    unlinked: tuple[str, ...]
    ptx: str = field(repr=False)
    cubin: bytes = field(repr=False)

    @property
    def device(self) -> Device | None:
        """The first GPU of this compute capability that ``devices`` knows."""
        return next((device for device in DEVICES if device.compute_capability == self.cc), None)

    def occupancy(self, threads: int) -> Occupancy | None:
        """How full blocks of so many threads can make an SM of ``device``; None where no such GPU is known."""
        try:
            return self.device and occupancy(self.device, threads, self.registers, self.shared_bytes)
        except LaunchError as error:
            raise ToolchainError(f"no occupancy for blocks of {threads} threads: {error}") from error

    @cached_property
    def machine_code(self) -> tuple[Instruction, ...]:
        """The instructions, each with its source line: nvdisasm is asked when they are first wanted."""
        return disassembled(self.cubin)


def compile_kernel(kernel, types=None, cc: tuple[int, int] = (9, 0)) -> Compiled:
    """Compile a kernel for GPUs of one compute capability. No GPU is needed, and the kernel does not run.

    ``kernel``: made by ``warpwise.cuda.jit`` or ``numba.cuda.jit``, or a plain function. ``types``: see ``argument_types``; by default
    those of its signature or of its first launch. Raises ToolchainError: no compiler here, types not known, or a kernel refused.
    """
    require()
    read = as_kernel(kernel)
    options = options_of(kernel if hasattr(kernel, "targetoptions") else read)
    arguments = argument_types(kernel, types)
    ptx = _ptx(read, arguments, cc, {name: options[name] for name in OF_NUMBA if options.get(name) is not None})
    unlinked = tuple(sorted(set(_EXTERN.findall(ptx)) - KNOWN_TO_PTXAS))
    limits = ["--maxrregcount", str(options["max_registers"])] if options.get("max_registers") else []
    cubin, told = _assembled(read, ptx, cc, [*limits, *(["--compile-only"] if unlinked else [])])
    return Compiled(
        kernel=read.name, signature=f"{read.name}({', '.join(map(_written, arguments))})",
        file=read.function.__code__.co_filename, line=read.tree.lineno, cc=cc, unlinked=unlinked, ptx=ptx, cubin=cubin,
        constant_bytes=sum(size for name, size in _sections(cubin) if re.match(r"\.nv\.constant\d", name)), **_used(told),
    )  # fmt: skip


def _ptx(kernel: Kernel, types: tuple, cc: tuple[int, int], options: dict) -> str:
    function = for_numba(kernel)
    try:
        with _told_of(cc), warnings.catch_warnings(action="ignore"):
            ptx, _ = numbas.load().compile_ptx(function, types, cc=cc, lineinfo=True, **options)
    except driver_errors.CCSupportError as error:
        raise ToolchainError(UNKNOWN_CC.format(*cc)) from error
    except Exception as error:  # the compiler has a dozen kinds, and its bugs raise others
        raise ToolchainError(one_line(kernel, error)) from error
    if f".target sm_{cc[0]}{cc[1]}" not in ptx:  # for one that it does not know, it takes the next lower one
        raise ToolchainError(UNKNOWN_CC.format(*cc))
    return ptx


@contextmanager
def _told_of(cc: tuple[int, int]) -> Iterator[None]:
    """For the time of a compilation, Numba takes ``cc`` for the GPU's.

    It compiles device functions, and library functions written in Python, for the GPU of this machine, and there may be none. It has
    no option for that, so the one name that it asks is bound anew, under its own lock, which no other compilation can pass.
    """
    with global_compiler_lock:
        asked = dispatcher.get_current_device
        dispatcher.get_current_device = lambda: SimpleNamespace(compute_capability=cc)
        try:
            yield
        finally:
            dispatcher.get_current_device = asked


def _assembled(kernel: Kernel, ptx: str, cc: tuple[int, int], options: list[str]) -> tuple[bytes, str]:
    """The machine code, and what ptxas says about it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.cubin"
        done, told = run("ptxas", "-v", "--generate-line-info", f"-arch=sm_{cc[0]}{cc[1]}", *options, "-", "-o", str(path), text=ptx)
        if not done:
            named = told.replace(_ENTRY.search(ptx)[1], kernel.name)
            errors = [line.partition(":")[2].strip() for line in named.splitlines() if " error" in line or " fatal" in line]
            raise ToolchainError(f"{kernel.where(kernel.tree).place}: ptxas: {errors[0] if errors else named.strip()}")
        return path.read_bytes(), told


def _used(told: str) -> dict[str, int]:
    """Registers, spills, stack and shared memory, from what ``ptxas -v`` printed. Functions that were not inlined have spills too."""
    spills = [tuple(map(int, found)) for found in _SPILLS.findall(told)]
    return {
        "registers": _number(r"Used (\d+) registers", told),
        "spill_load_bytes": sum(loads for _, _, loads in spills),
        "spill_store_bytes": sum(stores for _, stores, _ in spills),
        "shared_bytes": _number(r"(\d+) bytes smem", told),
        "stack_bytes": _number(r"(\d+) bytes cumulative stack size", told) or max((frame for frame, _, _ in spills), default=0),
    }


def _number(pattern: str, text: str) -> int:
    found = re.search(pattern, text)
    return int(found[1]) if found else 0


def _sections(elf: bytes) -> Iterator[tuple[str, int]]:
    """Name and size of each section of a cubin, an ELF file of 64 bits: ptxas reports constant memory for older GPUs only."""
    (table,) = struct.unpack_from("<Q", elf, 40)
    size, count, names = struct.unpack_from("<HHH", elf, 58)
    heads = [struct.unpack_from("<IIQQQQ", elf, table + i * size) for i in range(count)]
    for name, _, _, _, _, length in heads:
        start = heads[names][4] + name
        yield elf[start : elf.index(b"\0", start)].decode(), length


def _written(t) -> str:
    """A type as one writes it in a signature: ``float32[:, ::1]`` for a matrix in C order."""
    if not hasattr(t, "layout"):
        return str(t)
    order = {"C": [":"] * (t.ndim - 1) + ["::1"], "F": ["::1"] + [":"] * (t.ndim - 1)}
    return f"{t.dtype}[{', '.join(order.get(t.layout, [':'] * t.ndim))}]"
