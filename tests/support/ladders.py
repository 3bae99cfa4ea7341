"""The ladders of reference kernels: those modules of ``warpwise.kernels`` that have steps."""

from __future__ import annotations

import importlib
import pkgutil

import warpwise.kernels
from warpwise.kernels.step import Step

_MODULES = {
    found.name: importlib.import_module(f"warpwise.kernels.{found.name}")
    for found in pkgutil.iter_modules(warpwise.kernels.__path__)
}
#: Steps by the name of their module.
LADDERS: dict[str, tuple[Step, ...]] = {
    name: module.STEPS for name, module in _MODULES.items() if hasattr(module, "STEPS")
}
STEPS = [step for ladder in LADDERS.values() for step in ladder]
