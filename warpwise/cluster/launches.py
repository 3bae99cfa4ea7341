"""Launches of a rank: kernels run in the simulator, and take the least time of their counters.

That is a lower bound by the device's peaks (``model.bound``), without what a launch costs."""

from __future__ import annotations

import warnings

import numpy as np

from warpwise.cluster.log import Spent
from warpwise.cuda import RaceWarning
from warpwise.cuda.redirected import Asked
from warpwise.devices import Device
from warpwise.model.bound import bound
from warpwise.simt.launch import trace
from warpwise.simt.machine.device_memory import device_values


def arrays_of(asked: Asked) -> list[np.ndarray]:
    """Return the arrays that a launch gets, in the memory where they lie."""
    found = ((one, device_values(one)) for one in asked.arguments)
    arrays = (given if values is None else values for given, values in found)
    return [one for one in arrays if isinstance(one, np.ndarray)]


def launched(asked: Asked, device: Device, site: str) -> Spent:
    """Run a launch; return its counters and its time. Raises what ``warpwise.trace`` raises."""
    run = trace(
        asked.kernel,
        asked.grid,
        asked.block,
        *asked.arguments,
        record=(),
        shared_bytes=asked.shared_bytes,
        device=device,
    )
    for race in run.races:
        warnings.warn(f"{run.kernel}: {race}", RaceWarning, stacklevel=5)
    return Spent(bound(run, device).seconds, run.kernel, site, run.metrics)
