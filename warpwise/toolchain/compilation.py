"""One kernel through Numba and ptxas: PTX, machine code, registers and memory."""

from __future__ import annotations

import re
import struct
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import FunctionType, SimpleNamespace
from typing import Any

from warpwise.cuda import numba_backend
from warpwise.devices import DEVICES, Device
from warpwise.errors import LaunchError, ToolchainError
from warpwise.model import Occupancy, occupancy
from warpwise.simt.frontend.kernel import Kernel
from warpwise.simt.frontend.source import as_kernel
from warpwise.toolchain.argument_types import Types, argument_types
from warpwise.toolchain.machine_code import Instruction, disassembled
from warpwise.toolchain.refusals import one_line
from warpwise.toolchain.tools import require, run
from warpwise.toolchain.translate import Options, for_numba, options_of

UNKNOWN_CC = "this compiler does not know compute capability {}.{}"
OF_NUMBA = ("fastmath", "opt", "launch_bounds")
KNOWN_TO_PTXAS = {"vprintf", "__assertfail", "malloc", "free"}  # a GPU's own functions
_EXTERN = re.compile(r"\.extern \.func\s+(?:\([^)]*\)\s*)?(\w+)")
_ENTRY = re.compile(r"\.visible \.entry (\w+)")
_SPILLS = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")


@dataclass(frozen=True)
class Compiled:
    """One kernel compiled for one compute capability.

    Registers are per thread; memory is in bytes. ``shared_bytes`` is static, per block.
    ``stack_bytes``, per thread, is local memory: arrays that found no registers, and spills.
    ``constant_bytes`` is all constant memory, the kernel's parameters included. ``unlinked`` names
    library functions that the kernel calls and that are linked in later, as Numba does for float16
    arithmetic and grid barriers: their registers and memory are not counted."""

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
        """Return the occupancy of ``device`` with blocks of so many threads; None without one."""
        if self.device is None:
            return None
        try:
            return occupancy(self.device, threads, self.registers, self.shared_bytes)
        except LaunchError as error:
            raise ToolchainError(
                f"no occupancy for blocks of {threads} threads: {error}"
            ) from error

    @cached_property
    def machine_code(self) -> tuple[Instruction, ...]:
        """The instructions, each with its source line; nvdisasm runs when they are first read."""
        return disassembled(self.cubin)


def compile_kernel(kernel: object, types: object = None, cc: tuple[int, int] = (9, 0)) -> Compiled:
    """Compile a kernel for GPUs of one compute capability, without a GPU and without running it.

    ``kernel``: made by ``warpwise.cuda.jit`` or ``numba.cuda.jit``, or a plain function. ``types``:
    see ``argument_types``; by default those of its signature or of its first launch. Raises
    ToolchainError: no compiler here, types not known, or a kernel refused."""
    require()
    read = as_kernel(kernel)
    function = for_numba(read)
    options = options_of(kernel if hasattr(kernel, "targetoptions") else read)
    return compiled_function(read, function, argument_types(kernel, types), cc, options)


def compiled_function(
    kernel: Kernel,
    function: FunctionType,
    arguments: Types,
    cc: tuple[int, int],
    options: Options,
) -> Compiled:
    """Compile the function that stands for a kernel, with the options of its decorator."""
    passed = {name: options[name] for name in OF_NUMBA if options.get(name) is not None}
    ptx = _ptx(kernel, function, arguments, cc, passed)
    unlinked = tuple(sorted(set(_EXTERN.findall(ptx)) - KNOWN_TO_PTXAS))
    flags = ["--compile-only"] if unlinked else []
    if options.get("max_registers"):
        flags += ["--maxrregcount", str(options["max_registers"])]
    cubin, log = _assembled(kernel, ptx, cc, flags)
    constants = (size for name, size in _sections(cubin) if re.match(r"\.nv\.constant\d", name))
    return Compiled(
        kernel=kernel.name,
        signature=f"{kernel.name}({', '.join(map(_written, arguments))})",
        file=function.__code__.co_filename,
        line=kernel.tree.lineno,
        cc=cc,
        unlinked=unlinked,
        ptx=ptx,
        cubin=cubin,
        constant_bytes=sum(constants),
        **_used(log),
    )


def _ptx(
    kernel: Kernel, function: FunctionType, types: Types, cc: tuple[int, int], options: Options
) -> str:
    try:
        backend = numba_backend.load()
        with compiling_for(cc), warnings.catch_warnings(action="ignore"):
            ptx: str
            ptx, _ = backend.compile_ptx(function, types, cc=cc, lineinfo=True, **options)
    except numba_backend.part("cudadrv.error").CCSupportError as error:
        raise ToolchainError(UNKNOWN_CC.format(*cc)) from error
    except Exception as error:  # the compiler raises a dozen kinds, and others by its bugs
        raise ToolchainError(one_line(kernel, error)) from error
    # for a compute capability that it does not know, Numba takes the next lower one
    if f".target sm_{cc[0]}{cc[1]}" not in ptx:
        raise ToolchainError(UNKNOWN_CC.format(*cc))
    return ptx


@contextmanager
def compiling_for(cc: tuple[int, int]) -> Iterator[None]:
    """Make Numba take ``cc`` for the GPU's during a compilation.

    It compiles device functions, and library functions written in Python, for the GPU of this
    machine, and there may be none. It has no option for that, so what it asks is replaced, under
    its own lock, which no other compilation can pass."""
    answer: Any
    if numba_backend.package() == "numba-cuda":
        asked, answer = "get_current_device", lambda: SimpleNamespace(compute_capability=cc)
        module = numba_backend.part("dispatcher")
    else:
        module, asked, answer = import_module("numba_cuda_mlir.tools"), "_cached_cc", cc
    with numba_backend.part("core.compiler_lock").global_compiler_lock:
        own = getattr(module, asked)
        setattr(module, asked, answer)
        try:
            yield
        finally:
            setattr(module, asked, own)


def _assembled(
    kernel: Kernel, ptx: str, cc: tuple[int, int], flags: list[str]
) -> tuple[bytes, str]:
    """Run ptxas, and return the machine code and its log."""
    flags = ["-v", "--generate-line-info", f"-arch=sm_{cc[0]}{cc[1]}", *flags]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.cubin"
        done, log = run("ptxas", *flags, "-", "-o", str(path), text=ptx)
        if not done:
            if entry := _ENTRY.search(ptx):
                log = log.replace(entry[1], kernel.name)
            raise ToolchainError(f"{kernel.where(kernel.tree).place}: ptxas: {_error(log)}")
        return path.read_bytes(), log


def _error(log: str) -> str:
    """Return the first error in the log of ptxas, without the place in the PTX."""
    errors = [line for line in log.splitlines() if " error" in line or " fatal" in line]
    return errors[0].partition(":")[2].strip() if errors else log.strip()


def _used(log: str) -> dict[str, Any]:
    """Read registers, spills, stack and shared memory from the log of ``ptxas -v``.

    Functions that were not inlined have spills too."""
    spills = [tuple(map(int, found)) for found in _SPILLS.findall(log)]
    frame = max((frame for frame, _, _ in spills), default=0)
    return {
        "registers": _number(r"Used (\d+) registers", log),
        "spill_load_bytes": sum(loads for _, _, loads in spills),
        "spill_store_bytes": sum(stores for _, stores, _ in spills),
        "shared_bytes": _number(r"(\d+) bytes smem", log),
        "stack_bytes": _number(r"(\d+) bytes cumulative stack size", log) or frame,
    }


def _number(pattern: str, text: str) -> int:
    found = re.search(pattern, text)
    return int(found[1]) if found else 0


def _sections(elf: bytes) -> Iterator[tuple[str, int]]:
    """Yield name and size of each section of a cubin, a 64-bit ELF file.

    They are needed because ptxas reports constant memory for older GPUs only."""
    (table,) = struct.unpack_from("<Q", elf, 40)
    size, count, names = struct.unpack_from("<HHH", elf, 58)
    heads = [struct.unpack_from("<IIQQQQ", elf, table + i * size) for i in range(count)]
    for name, _, _, _, _, length in heads:
        start = heads[names][4] + name
        yield elf[start : elf.index(b"\0", start)].decode(), length


def _written(t: Any) -> str:
    """Return a type as in a signature: ``float32[:, ::1]`` for a matrix in C order."""
    if not hasattr(t, "layout"):
        return str(t)
    order = {"C": [":"] * (t.ndim - 1) + ["::1"], "F": ["::1"] + [":"] * (t.ndim - 1)}
    return f"{t.dtype}[{', '.join(order.get(t.layout, [':'] * t.ndim))}]"
