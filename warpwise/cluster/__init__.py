"""A cluster of simulated GPUs that one can trace: ranks that launch kernels and send arrays.

``record = run(program, ranks)`` runs ``program(dist, ...)`` for each rank, in this process and the
same each time. ``dist`` has the names of ``torch.distributed``. Collectives are written out of
copies, and each copy costs what the links on its way take, by the alpha-beta model. The record has
bytes by link, time, overlap and idle by rank, kernels' counters and one timeline; mistakes among
ranks are errors that name the ranks and their lines. ``run(..., engine="mpi")`` runs the same
program on real processes."""

from warpwise.cluster.communicator import Communicator
from warpwise.cluster.engines.outcome import Outcome
from warpwise.cluster.groups import Group
from warpwise.cluster.record import Record
from warpwise.cluster.reductions import ReduceOp
from warpwise.cluster.runner import run
from warpwise.cluster.topology import Link, Topology, nodes, nvlink_island, switch, torus

__all__ = [
    "Communicator",
    "Group",
    "Link",
    "Outcome",
    "Record",
    "ReduceOp",
    "Topology",
    "nodes",
    "nvlink_island",
    "run",
    "switch",
    "torus",
]
