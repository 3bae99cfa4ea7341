"""What a trace counts: one frozen record of integers, for a launch or for one source line.

Field names follow Nsight Compute where it has a counterpart; each field's comment names it and says where the two differ.
The counting rules are those of the CUDA C++ Programming Guide and Best Practices Guide for compute capability 6.0 and later.
Counters are *modelled* from the kernel's source; they do not depend on a cache, a clock or a compiler.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

WARP_SIZE = 32
SECTOR_BYTES = 32
BANKS = 32
BANK_BYTES = 4


@dataclass(frozen=True)
class Metrics:
    """Counters of one launch, or of one source line of it. All are integers except where a property says otherwise."""

    #: Operations issued by warps: one per arithmetic operation, comparison, load, store, branch or barrier of the source.
    #: Nsight Compute: ``smsp__inst_executed.sum``, which counts machine instructions and so is larger (address arithmetic,
    #: conversions) or smaller (what the compiler folded or fused).
    warp_instructions: int = 0
    #: The same operations counted once per active lane. Nsight Compute: ``smsp__thread_inst_executed.sum``.
    thread_instructions: int = 0
    #: Warp-level loads from global memory with at least one active lane.
    #: Nsight Compute: ``l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum``.
    global_load_requests: int = 0
    #: 32-byte sectors that those loads touch, each counted once per request.
    #: Nsight Compute: ``l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum``.
    global_load_sectors: int = 0
    #: Bytes that active lanes asked for, a byte asked for by two lanes counted twice.
    global_load_bytes: int = 0
    #: Warp-level stores. Nsight Compute: ``l1tex__t_requests_pipe_lsu_mem_global_op_st.sum``.
    global_store_requests: int = 0
    #: Sectors touched by stores. Nsight Compute: ``l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum``.
    global_store_sectors: int = 0
    #: Bytes that active lanes wrote.
    global_store_bytes: int = 0
    #: Shared-memory load requests of warps.
    shared_load_requests: int = 0
    #: Passes over the 32 banks that those loads need. Nsight Compute: ``l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum``.
    shared_load_wavefronts: int = 0
    #: Passes beyond the fewest possible for the element width.
    #: Nsight Compute: ``l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum``.
    shared_load_bank_conflicts: int = 0
    #: Shared-memory store requests of warps.
    shared_store_requests: int = 0
    #: Passes of stores. Nsight Compute: ``l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum``.
    shared_store_wavefronts: int = 0
    #: Passes of stores beyond the fewest possible.
    #: Nsight Compute: ``l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum``.
    shared_store_bank_conflicts: int = 0
    #: Atomic operations of active lanes.
    atomics: int = 0
    #: Barriers passed, counted once per warp. Nsight Compute: ``smsp__inst_executed_op_barrier.sum`` (where it exists).
    barriers: int = 0
    #: Conditional branches that warps met (``if``, ``while``, loops whose length differs between lanes).
    #: Nsight Compute: ``smsp__sass_branch_targets.sum``, lower where the compiler predicates a short branch.
    branches: int = 0
    #: Branches at which the active lanes of a warp went both ways.
    #: Nsight Compute: ``smsp__sass_branch_targets_threads_divergent.sum``.
    divergent_branches: int = 0
    #: Additions, subtractions, multiplications, divisions and square roots on float32, per active lane. A fused
    #: multiply-add counts as two. Nsight Compute: ``smsp__sass_thread_inst_executed_op_fadd_pred_on.sum`` and ``fmul``, twice ``ffma``.
    flops_fp32: int = 0
    #: The same on float64 (``dadd``, ``dmul``, ``dfma``). A bare literal such as ``0.5`` is float64 in Numba.
    flops_fp64: int = 0
    #: Distinct bytes of global memory that the launch touched: the least that must move between DRAM and the chip.
    #: For a line, the distinct bytes that this line touched. No counterpart in Nsight Compute.
    global_bytes_distinct: int = 0

    @property
    def warp_efficiency(self) -> float:
        """Active lanes per issued lane slot, 0 to 1. Nsight Compute: ``smsp__thread_inst_executed_per_inst_executed.ratio`` / 32."""
        return _ratio(self.thread_instructions, WARP_SIZE * self.warp_instructions)

    @property
    def sectors_per_request_load(self) -> float:
        """Sectors per global load request: 4 is ideal for a full warp of 4-byte elements, 32 the worst. 0 without loads."""
        return _ratio(self.global_load_sectors, self.global_load_requests)

    @property
    def sectors_per_request_store(self) -> float:
        """Sectors per global store request. 0 without stores."""
        return _ratio(self.global_store_sectors, self.global_store_requests)

    @property
    def shared_bank_conflicts(self) -> int:
        """Bank conflicts of shared loads and stores together."""
        return self.shared_load_bank_conflicts + self.shared_store_bank_conflicts

    @property
    def global_bytes_moved(self) -> int:
        """Bytes in all touched sectors: what moves if no cache keeps a sector for a second request."""
        return SECTOR_BYTES * (self.global_load_sectors + self.global_store_sectors)

    def __add__(self, other: Metrics) -> Metrics:
        return Metrics(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(Metrics)))


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


FIELDS = tuple(f.name for f in fields(Metrics))
RATIOS = ("warp_efficiency", "sectors_per_request_load", "sectors_per_request_store", "shared_bank_conflicts", "global_bytes_moved")
