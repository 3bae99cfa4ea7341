"""The options of ``cuda.jit``: which there are, and those that Numba refuses or warns of.

Most mean something to a compiler only, and nothing to the simulator."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Mapping
from typing import Any

from warpwise.errors import LaunchError, LaunchTypeError, UnsupportedError

#: Options of ``numba.cuda.jit`` besides ``device``.
OPTIONS = (
    "inline forceinline link debug opt lineinfo cache launch_bounds lto shared_memory_carveout "
    "fastmath max_registers boundscheck nopython extensions chip"
).split()
FORMER = ("argtypes", "restype", "bind")  #: of old versions
CARVEOUTS = ("default", "maxl1", "maxshared")
MOST_BOUNDS = 3


class InvalidConfigWarning(UserWarning):
    """Options of ``cuda.jit`` that do not go together; Numba compiles nevertheless."""


def check(options: Mapping[str, Any], device: bool) -> None:
    """Check the options of one ``cuda.jit``, as Numba does when it is called.

    Raises LaunchError for an option or a value that Numba does not have, UnsupportedError for one
    that the simulator lacks; warns of a combination that Numba warns of."""
    for name in options:
        if name not in OPTIONS:
            raise LaunchError(f"cuda.jit has no option {name!r}; {_instead(name)}")
    if options.get("boundscheck"):
        what = "cuda.jit has no boundscheck=True on a GPU"
        raise UnsupportedError(what, try_this="leave it out: the simulator checks every index")
    if options.get("link"):
        if device:
            raise LaunchError("link= is for kernels, and this is a device function")
        what = "link= takes code in other languages, which the simulator cannot run"
        raise UnsupportedError(what, try_this="write the function in Python, with device=True")
    _check_carveout(options.get("shared_memory_carveout"))
    if options.get("debug"):
        _warn_of_debug(options)


def _instead(name: str) -> str:
    if name in FORMER:
        return 'a signature is its first argument: cuda.jit("void(float32[:])")'
    near = difflib.get_close_matches(name[:40], ("device", *OPTIONS), n=1)
    return f"did you mean {near[0]}?" if near else f"it has {', '.join(OPTIONS)}"


def _check_carveout(value: object) -> None:
    if value is None:
        return
    if not isinstance(value, (str, int)):
        given = type(value).__name__
        raise LaunchTypeError(f"shared_memory_carveout must be str or int, got {given}")
    if isinstance(value, str) and value.lower() not in CARVEOUTS:
        named = ", ".join(CARVEOUTS)
        raise LaunchError(f"Invalid carveout value: {value}. It is -1 to 100 or one of {named}")
    if isinstance(value, int) and not -1 <= value <= 100:
        raise LaunchError(f"shared_memory_carveout must be between -1 and 100, not {value}")


def _warn_of_debug(options: Mapping[str, Any]) -> None:
    opt = options.get("opt")
    if opt or opt is None:
        what = "debug=True goes with opt=False: with optimization a GPU's program may crash"
        warnings.warn(what, InvalidConfigWarning, stacklevel=4)
    if options.get("lineinfo"):
        what = "debug=True and lineinfo=True are mutually exclusive: use one of them"
        warnings.warn(what, InvalidConfigWarning, stacklevel=4)


def bounds_of(options: Mapping[str, Any]) -> tuple[int, ...]:
    """Return ``launch_bounds``: the most threads of a block, the least blocks of an SM, and more.

    Raises LaunchError for more than three."""
    given = options.get("launch_bounds")
    bounds = () if given is None else tuple(given) if isinstance(given, (tuple, list)) else (given,)
    if len(bounds) > MOST_BOUNDS:
        raise LaunchError(
            f"Got {len(bounds)} launch bounds: {bounds}. There are three: the most threads of a "
            "block, the least blocks of a multiprocessor, the most blocks of a cluster"
        )
    return bounds
