"""What a rank has not of ``torch.distributed``, and what a program says in its place."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

_STARTED = "cluster.run starts the ranks, and ends them"
_ARRAYS = "only arrays are sent: make one of it, or use all_gather or broadcast with arrays"
_ONE_BY_ONE = "start each with isend or irecv, and wait() for all"
#: a name of ``torch.distributed`` -> what to do here
INSTEAD = {
    "reduce": "all_reduce has the result on every rank",
    "gather": "all_gather has all arrays on every rank",
    "scatter": "send a part to each rank, or broadcast the whole",
    "all_to_all_single": "all_to_all takes lists, such as np.split(x, dist.get_world_size())",
    "batch_isend_irecv": _ONE_BY_ONE,
    "P2POp": _ONE_BY_ONE,
    "init_process_group": _STARTED,
    "destroy_process_group": _STARTED,
    "is_initialized": _STARTED,
    "rank": "call get_rank()",
    "size": "call get_world_size()",
    "world_size": "call get_world_size()",
    "ReduceOp": "it is cluster.ReduceOp",
    "all_gather_object": _ARRAYS,
    "gather_object": _ARRAYS,
    "broadcast_object_list": _ARRAYS,
    "scatter_object_list": _ARRAYS,
    "send_object_list": _ARRAYS,
    "recv_object_list": _ARRAYS,
}


def absent(name: str, there: Iterable[str]) -> AttributeError:
    """Return the error for a name that a rank does not have. ``there``: those that it has."""
    there = sorted(there)
    near = get_close_matches(name, there, 1)
    if name in INSTEAD:
        advice = INSTEAD[name]
    else:
        advice = f"did you mean {near[0]}?" if near else f"it has {', '.join(there)}"
    return AttributeError(f"a rank has no {name}: {advice}", name=name)
