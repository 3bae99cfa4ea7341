"""Functions in CUDA C++ or PTX, which a kernel can call on a GPU: here they are only declared.

The simulator reads Python; a kernel that calls one is refused where it does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from warpwise.errors import LaunchTypeError
from warpwise.simt.frontend.signatures import BadSignature, signatures_of


@dataclass
class LinkableCode:
    """Code in another language, to be linked with a kernel on a GPU.

    ``data``: its text or bytes. Callbacks would be called as modules are loaded and unloaded."""

    data: str | bytes
    name: str = ""
    setup_callback: Callable[..., Any] | None = None
    teardown_callback: Callable[..., Any] | None = None
    nrt: bool = False


class CUSource(LinkableCode):
    """CUDA C++."""


class PTXSource(LinkableCode):
    """PTX."""


class Fatbin(LinkableCode):
    """Machine code for several GPUs."""


class Cubin(LinkableCode):
    """Machine code for one GPU."""


class Archive(LinkableCode):
    """A library of objects."""


class Object(LinkableCode):
    """An object file."""


class LTOIR(LinkableCode):
    """Intermediate code, which is optimized when it is linked."""


@dataclass(frozen=True)
class Declared:
    """A function in another language, with its signature as it was given."""

    name: str
    sig: Any
    link: Any


def declare_device(
    name: str, sig: Any, link: Any = None, use_cooperative: bool = False, abi: str = "numba"
) -> Declared:
    """Declare a function in another language, which kernels can call on a GPU only.

    Raises LaunchTypeError for a signature that Numba refuses, or one without a result."""
    try:
        (read,) = signatures_of(sig)
    except (BadSignature, ValueError) as error:
        raise LaunchTypeError(f"the signature of {name} cannot be used: {error}") from error
    if read.result is None:
        raise LaunchTypeError(
            "Return type must be provided for device declarations: "
            f'cuda.declare_device("{name}", "int32(float32)")'
        )
    return Declared(name, sig, link)


HOST: dict[str, object] = {
    "declare_device": declare_device,
    **{
        code.__name__: code
        for code in (LinkableCode, CUSource, PTXSource, Fatbin, Cubin, Archive, Object, LTOIR)
    },
}
