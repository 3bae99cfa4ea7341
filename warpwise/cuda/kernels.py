"""Simulated kernels on the host's side: ``@cuda.jit``, and what a kernel is asked for."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from warpwise.cuda import options as jit_options
from warpwise.cuda.launches import Configured, ForAll, RaceWarning, configured, missing
from warpwise.cuda.overloads import BySignature, Overload, Overloads
from warpwise.cuda.pickling import by_value, name_of
from warpwise.errors import LaunchError, LaunchStateError, LaunchTypeError, UnsupportedError
from warpwise.simt.arguments import signature_of
from warpwise.simt.compiler.function_compiler import compile_function
from warpwise.simt.frontend.kernel import Kernel
from warpwise.simt.frontend.signatures import (
    BadSignature,
    Kind,
    Signature,
    is_signature,
    kind_of,
    signatures_of,
    types_of,
)
from warpwise.simt.frontend.source import from_function
from warpwise.simt.types import NONE

__all__ = ["Configured", "RaceWarning", "SimulatedKernel", "jit"]


class SimulatedKernel(Kernel):
    """A kernel for the simulator: ``kernel[blocks, threads](*args)``."""

    specialized = False  #: compiled for one signature, and for no other

    def __getitem__(self, config: object) -> Configured:
        config = config if isinstance(config, tuple) else (config,)
        if not 2 <= len(config) <= 4:
            raise LaunchError(
                f"{self.name}[blocks, threads], [blocks, threads, stream] or [blocks, threads, "
                "stream, shared_bytes] is the launch configuration; "
                f"{len(config)} parts were given"
            )
        return self.configure(*config)

    def configure(
        self, griddim: object, blockdim: object, stream: object = 0, sharedmem: int = 0
    ) -> Configured:
        """Return the launch for a configuration.

        ``sharedmem``: bytes of dynamic shared memory of each block. Raises LaunchError, or
        LaunchTypeError, for a configuration that is not of one to three integers."""
        return configured(self, griddim, blockdim, stream, sharedmem)

    def forall(self, ntasks: int, tpb: int = 0, stream: object = 0, sharedmem: int = 0) -> ForAll:
        """Return a one-dimensional launch of at least ``ntasks`` threads, in blocks of ``tpb``.

        Without tasks nothing is launched. Raises LaunchError for a negative number."""
        return ForAll(self, ntasks, tpb, stream, sharedmem)

    def __call__(self, *args: Any, **named: Any) -> NoReturn:
        if self.device:
            plain = "if it is meant to be plain Python, take the decorator away"
            raise LaunchError(
                f"{self.name} is a device function: only a kernel can call it; {plain}"
            )
        raise LaunchError(missing(self))

    # --- what Numba's kernels keep ---

    @property
    def py_func(self) -> Any:
        """The Python function."""
        return self.function

    @property
    def targetoptions(self) -> dict[str, object]:
        """The options of ``cuda.jit``."""
        return {**self.options, "device": self.device}

    @functools.cached_property
    def extensions(self) -> list[Any]:
        """Objects whose ``prepare_args`` replaces arguments before a launch, as with Numba."""
        given: Any = self.options.get("extensions")
        return list(given or ())

    @property
    def overloads(self) -> Overloads:
        """What the kernel was compiled for, by signature."""
        return Overloads(self)

    @property
    def signatures(self) -> list[tuple[Kind, ...]]:
        """The argument types that the kernel was compiled for."""
        return list(self.overloads)

    def compile(self, sig: Any) -> Overload:
        """Compile the kernel for a signature.

        Raises LaunchStateError where its decorator has signatures, and KernelError where the
        kernel has a mistake."""
        if self.signed:
            raise LaunchStateError(f"{self.name} is compiled for the signatures of its decorator")
        self._compile(_read(self, sig))
        return self.overloads[sig]

    def _compile(self, signatures: tuple[Signature, ...]) -> None:
        for signature in signatures:
            types = types_of(signature)
            if types is not None and len(types) == len(self.parameters):
                compile_function(self, types)

    @functools.cached_property
    def specializations(self) -> dict[tuple[Kind, ...], SimulatedKernel]:
        """What ``specialize`` made, by argument types."""
        return {}

    def specialize(self, *args: Any) -> SimulatedKernel:
        """Return the kernel compiled for the types of these arguments, or for these types.

        Raises LaunchStateError for a kernel that is specialized already."""
        if self.specialized:
            raise LaunchStateError(f"{self.name}: Dispatcher already specialized")
        kinds = tuple(_kind_of(self, arg) for arg in args)
        if kinds not in self.specializations:
            self.specializations[kinds] = _made(self.function, self.device, self.options, kinds)
        return self.specializations[kinds]

    # --- what it needs of a GPU ---

    def get_regs_per_thread(self, signature: Any = None) -> Any:
        """Return an estimate of a thread's registers; ``warpwise compile`` counts them.

        As the next four: of a specialized kernel or for a signature one number, or else a
        dictionary of numbers by signature."""
        return self._asked(lambda overload: overload.regs_per_thread, signature)

    def get_shared_mem_per_block(self, signature: Any = None) -> Any:
        """Return the bytes of a block's static shared arrays."""
        return self._asked(lambda overload: overload.shared_mem_per_block, signature)

    def get_local_mem_per_thread(self, signature: Any = None) -> Any:
        """Return the bytes of a thread's local arrays; a compiler may keep some in registers."""
        return self._asked(lambda overload: overload.local_mem_per_thread, signature)

    def get_const_mem_size(self, signature: Any = None) -> Any:
        """Return the bytes of constant arrays; a compiler may add constants of its own."""
        return self._asked(lambda overload: overload.const_mem_size, signature)

    def get_max_threads_per_block(self, signature: Any = None) -> Any:
        """Return the most threads of a block: the device's limit, or ``launch_bounds``."""
        return self._asked(lambda overload: overload.max_threads_per_block, signature)

    def _asked(self, number: Callable[[Overload], int], signature: Any) -> Any:
        if signature is not None:
            return number(self.overloads[signature])
        if self.specialized:
            return number(next(iter(self.overloads.values())))
        return BySignature((kinds, number(one)) for kinds, one in self.overloads.items())

    def __reduce__(self) -> str | tuple[Any, ...]:
        return name_of(self) or self.by_value()

    def by_value(self) -> tuple[Any, ...]:
        """Return what makes it again where its module is missing, or is another."""
        given = self.device, dict(self.options), self.signed, self.specialized
        return by_value(self, _rebuilt, *given)

    # --- what only a compiler has ---

    def _no_compiler(self, *_args: object, **_named: object) -> NoReturn:
        what = f"{self.name}: the simulator makes no machine code, and so there is none to show"
        try_this = f"warpwise compile FILE {self.name} shows what NVIDIA's compiler makes of it"
        raise UnsupportedError(what, try_this=try_this)

    inspect_llvm = inspect_asm = inspect_sass = inspect_sass_cfg = _no_compiler
    inspect_lto_ptx = inspect_types = _no_compiler


def jit(func_or_sig: Any = None, *, device: bool = False, **options: Any) -> Any:
    """Make a kernel, or with ``device=True`` a device function.

    ``func_or_sig``: the function, or a signature or a list of them for the function that the result
    is called with. That is compiled when it is decorated. Raises LaunchError for an option or a
    value that Numba does not have, KernelTypeError for a signature that cannot be one, and with a
    signature KernelError for a mistake in the kernel."""
    jit_options.check(options, device)
    if is_signature(func_or_sig) or isinstance(func_or_sig, list):
        return lambda function: _made(function, device, options, func_or_sig)
    if func_or_sig is None:
        return lambda function: _made(function, device, options)
    return _made(func_or_sig, device, options)


def _rebuilt(
    function: Any,
    device: bool,
    options: Mapping[str, Any],
    signed: tuple[Signature, ...] = (),
    specialized: bool = False,
) -> SimulatedKernel:
    """Return the kernel of a function, not compiled as yet."""
    kernel = from_function(function, device, SimulatedKernel)
    update: Any = functools.update_wrapper  # which takes a kernel for no function
    update(kernel, function)
    kernel.options, kernel.signed, kernel.specialized = options, signed, specialized
    return kernel


def _made(
    function: Any, device: bool, options: Mapping[str, Any], given: Any = None
) -> SimulatedKernel:
    """Return the kernel of a function, compiled for the signatures that are given."""
    function = getattr(function, "py_func", function)
    if not hasattr(function, "__code__"):
        raise LaunchTypeError(f"cuda.jit makes a kernel of a function, not of {function!r}")
    kernel = _rebuilt(function, device, options)
    if given is not None:
        kernel.signed = _read(kernel, given)
        kernel.specialized = not isinstance(given, list)
        jit_options.bounds_of(options)
        kernel._compile(kernel.signed)
    return kernel


def _read(kernel: SimulatedKernel, given: Any) -> tuple[Signature, ...]:
    kernel.sign(lambda: signatures_of(given))
    if kernel.refused is not None:
        raise kernel.refused
    for signature in kernel.signed:
        if not kernel.device and signature.result not in (None, NONE):
            raise LaunchTypeError(
                f"{kernel.name}: a CUDA kernel must have void return type: it returns nothing, "
                "and writes its results into arrays"
            )
    return kernel.signed


def _kind_of(kernel: Kernel, value: Any) -> Kind:
    """Return the type of an argument, or the type itself."""
    try:
        return kind_of(value)
    except BadSignature:
        return signature_of(kernel, value)


HOST: dict[str, object] = {"jit": jit}
