"""CUDA graphs of launches: captured once on a stream of its own, by CuPy, and replayed.

Numba-CUDA has no public words for graphs. But it launches on any stream, CuPy's too, and CuPy
captures what comes on one: so our kernels are in CuPy's graph.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from warpwise.measure.place import Place


def replayed(
    place: Place, work: Callable[[Any], object], ready: Callable[[], object]
) -> Callable[[], None]:
    """Return the replay of a graph of all launches of ``work``, on the default stream.

    ``work`` takes a stream of Numba's; CuPy finds the current one by itself. It runs once before
    the capture, which compiles it; then ``ready`` wipes what it has left, so that results are the
    graph's. The stream is a non-blocking one: another waits for the default one, and while that one
    works it cannot be captured.
    """

    @cache
    def captured() -> Any:
        from numba import cuda

        work(0)
        place.xp.cuda.Device().synchronize()
        stream = place.xp.cuda.Stream(non_blocking=True)
        with stream:
            stream.begin_capture()
            work(cuda.external_stream(stream.ptr))
            graph = stream.end_capture()
        ready()
        return graph

    def replay() -> None:
        captured().launch()

    return replay
