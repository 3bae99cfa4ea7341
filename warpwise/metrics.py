"""Metrics: the counters of a trace, as one frozen record for a launch or for one source line.

Field names follow Nsight Compute where it has a counterpart; each field's comment names it and says
where the two differ. The counting rules are those of the CUDA C++ Programming Guide and Best
Practices Guide for compute capability 6.0 and later. Counters are *modelled* from the kernel's
source; they do not depend on a cache, a clock or a compiler."""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import inf
from operator import add
from typing import Any

WARP_SIZE = 32
SECTOR_BYTES = 32
BANKS = 32
BANK_BYTES = 4
NO_WARPS = (0,) * (WARP_SIZE + 1)  # of each number of active lanes, 0 to 32
OPERATIONS = tuple("fp16 fp32 fp64 integer special conversion memory control communication".split())


@dataclass(frozen=True)
class Metrics:
    """Counters of one launch, or of one source line of it.

    All are integers except where a property says otherwise."""

    #: Operations issued by warps: one per arithmetic operation, comparison, load, store, branch or
    #: barrier of the source. Nsight Compute: ``smsp__inst_executed.sum``, which counts machine
    #: instructions and so is larger (address arithmetic, conversions) or smaller (what the compiler
    #: folded or fused).
    warp_instructions: int = 0
    #: The same operations counted once per active lane. Nsight Compute:
    #: ``smsp__thread_inst_executed.sum``.
    thread_instructions: int = 0
    #: Warp instructions by number of active lanes: entry k counts those with k lanes, k from 0 to
    #: 32, so 33 numbers. They add up to ``warp_instructions``. No counterpart in Nsight Compute,
    #: which has only their mean: ``smsp__thread_inst_executed_per_inst_executed.ratio``.
    lanes_active: tuple[int, ...] = NO_WARPS
    #: Instruction mix: operations of active lanes on float16. The nine ``op_`` counters add up to
    #: ``thread_instructions``. Nsight Compute:
    #: ``smsp__sass_thread_inst_executed_op_fp16_pred_on.sum``, in which one instruction can hold a
    #: pair of float16.
    op_fp16: int = 0
    #: Instruction mix: float32 arithmetic and comparisons. Nsight Compute:
    #: ``smsp__sass_thread_inst_executed_op_fp32_pred_on.sum``, larger by what a division or a
    #: function of ``math`` expands to, smaller by what is fused into multiply-adds.
    op_fp32: int = 0
    #: Instruction mix: float64 arithmetic and comparisons. Nsight Compute:
    #: ``smsp__sass_thread_inst_executed_op_fp64_pred_on.sum``, with the same differences.
    op_fp64: int = 0
    #: Instruction mix: arithmetic, logic and comparisons on integers and bools that the source
    #: writes. Nsight Compute: ``smsp__sass_thread_inst_executed_op_integer_pred_on.sum``, larger by
    #: the address arithmetic of every index.
    op_integer: int = 0
    #: Instruction mix: functions such as ``exp``, ``sin``, ``sqrt`` and ``rsqrt``, one each,
    #: whatever they expand to. Nsight Compute: ``smsp__inst_executed_pipe_xu.sum`` is nearest; it
    #: counts warps, and conversions too.
    op_special: int = 0
    #: Instruction mix: conversions between types, such as ``float32(i)``, also those that Numba's
    #: typing implies. Nsight Compute:
    #: ``smsp__sass_thread_inst_executed_op_conversion_pred_on.sum``, without those that a compiler
    #: removes.
    op_conversion: int = 0
    #: Instruction mix: loads, stores and atomics in every memory space.
    #: Nsight Compute: ``smsp__sass_thread_inst_executed_op_memory_pred_on.sum``,
    #: smaller where a value stays in a register, larger where registers spill.
    op_memory: int = 0
    #: Instruction mix: branches, loop tests, barriers, fences. Nsight Compute:
    #: ``smsp__sass_thread_inst_executed_op_control_pred_on.sum``, smaller where a loop is unrolled
    #: or a branch predicated.
    op_control: int = 0
    #: Instruction mix: shuffles, votes and matches between the lanes of a warp. Nsight Compute:
    #: ``smsp__sass_thread_inst_executed_op_inter_thread_communication_pred_on.sum``.
    op_communication: int = 0
    #: Warp-level loads from global memory with at least one active lane.
    #: Nsight Compute: ``l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum``.
    global_load_requests: int = 0
    #: 32-byte sectors that those loads touch, each counted once per request.
    #: Nsight Compute: ``l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum``.
    global_load_sectors: int = 0
    #: Different sectors among them, over the whole launch: what has to come from DRAM at least,
    #: with caches cold. Lines that read the same sectors share them, so this is not the sum over
    #: lines. No counterpart in Nsight Compute; ``dram__sectors_read.sum`` lies between this and
    #: ``global_load_sectors`` where caches begin cold.
    global_load_sectors_distinct: int = 0
    #: Bytes that active lanes asked for, a byte asked for by two lanes counted twice.
    global_load_bytes: int = 0
    #: Warp-level stores. Nsight Compute: ``l1tex__t_requests_pipe_lsu_mem_global_op_st.sum``.
    global_store_requests: int = 0
    #: Sectors touched by stores. Nsight Compute:
    #: ``l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum``.
    global_store_sectors: int = 0
    #: Different sectors among them, over the whole launch; not the sum over lines. No counterpart
    #: in Nsight Compute; ``dram__sectors_write.sum`` is lower where written sectors are still in L2
    #: at the end of the launch.
    global_store_sectors_distinct: int = 0
    #: Bytes that active lanes wrote.
    global_store_bytes: int = 0
    #: Warp-level atomic operations on global memory; loads and stores do not count them. Nsight
    #: Compute: ``l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum`` and ``_op_red.sum`` together:
    #: ``red`` is an atomic whose old value nobody uses.
    global_atomic_requests: int = 0
    #: 32-byte sectors that those atomics touch, each counted once per request. Nsight Compute:
    #: ``l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum`` and ``_op_red.sum`` together.
    global_atomic_sectors: int = 0
    #: Shared-memory load requests of warps.
    shared_load_requests: int = 0
    #: Bytes that active lanes asked for in shared memory, a byte asked for by two lanes counted
    #: twice. Nsight Compute: ``smsp__sass_data_bytes_mem_shared_op_ld.sum``.
    shared_load_bytes: int = 0
    #: Passes over the 32 banks that those loads need. Nsight Compute:
    #: ``l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum``.
    shared_load_wavefronts: int = 0
    #: Passes beyond the fewest possible for the element width.
    #: Nsight Compute: ``l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum``.
    shared_load_bank_conflicts: int = 0
    #: Shared-memory store requests of warps.
    shared_store_requests: int = 0
    #: Bytes that active lanes wrote to shared memory. Nsight Compute:
    #: ``smsp__sass_data_bytes_mem_shared_op_st.sum``.
    shared_store_bytes: int = 0
    #: Passes of stores. Nsight Compute: ``l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum``.
    shared_store_wavefronts: int = 0
    #: Passes of stores beyond the fewest possible.
    #: Nsight Compute: ``l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum``.
    shared_store_bank_conflicts: int = 0
    #: Warp-level atomic operations on shared memory; loads and stores do not count them. Nsight
    #: Compute: ``smsp__inst_executed_op_shared_atom.sum``, larger where a type has no atomic of its
    #: own and a loop of compare-and-swap stands in.
    shared_atomic_requests: int = 0
    #: Atomic operations of active lanes.
    atomics: int = 0
    #: The most active lanes of a warp that name one address, summed over atomic requests on global
    #: and shared memory: atomics on one address are served one after another. Nsight Compute:
    #: ``l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum`` is nearest, for shared memory
    #: only; it also counts bank conflicts, and a compiler that adds up a warp's values first makes
    #: it smaller.
    atomic_passes: int = 0
    #: Barriers passed, counted once per warp. Nsight Compute:
    #: ``smsp__inst_executed_op_barrier.sum`` (where it exists).
    barriers: int = 0
    #: Conditional branches that warps met (``if``, ``while``, loops whose length differs between
    #: lanes). Nsight Compute: ``smsp__sass_branch_targets.sum``, lower where the compiler
    #: predicates a short branch.
    branches: int = 0
    #: Branches at which the active lanes of a warp went both ways.
    #: Nsight Compute: ``smsp__sass_branch_targets_threads_divergent.sum``.
    divergent_branches: int = 0
    #: Additions, subtractions, multiplications, divisions and square roots on float16, per active
    #: lane; a fused multiply-add counts as two. Nsight Compute:
    #: ``smsp__sass_thread_inst_executed_op_hadd_pred_on.sum`` and ``hmul``, twice ``hfma``.
    flops_fp16: int = 0
    #: Additions, subtractions, multiplications, divisions and square roots on float32, per active
    #: lane. A fused multiply-add counts as two. Nsight Compute:
    #: ``smsp__sass_thread_inst_executed_op_fadd_pred_on.sum`` and ``fmul``, twice ``ffma``.
    flops_fp32: int = 0
    #: The same on float64 (``dadd``, ``dmul``, ``dfma``). A bare literal such as ``0.5`` is float64
    #: in Numba.
    flops_fp64: int = 0
    #: Distinct bytes of global memory that the launch touched: the least that must move between
    #: DRAM and the chip. For a line, the distinct bytes that this line touched. No counterpart in
    #: Nsight Compute.
    global_bytes_distinct: int = 0

    def __post_init__(self) -> None:
        """Make ``lanes_active`` a tuple of 33: from a file it is a list; empty or 0 is no warps."""
        object.__setattr__(
            self, "lanes_active", tuple(self.lanes_active) if self.lanes_active else NO_WARPS
        )

    @property
    def warp_efficiency(self) -> float:
        """Active lanes per issued lane slot, 0 to 1.

        Nsight Compute: ``smsp__thread_inst_executed_per_inst_executed.ratio`` / 32."""
        return _ratio(self.thread_instructions, WARP_SIZE * self.warp_instructions)

    @property
    def sectors_per_request_load(self) -> float:
        """Sectors per global load request, 0 without loads.

        4 is ideal for a full warp of 4-byte elements, 32 the worst."""
        return _ratio(self.global_load_sectors, self.global_load_requests)

    @property
    def sectors_per_request_store(self) -> float:
        """Sectors per global store request, 0 without stores."""
        return _ratio(self.global_store_sectors, self.global_store_requests)

    @property
    def shared_bank_conflicts(self) -> int:
        """Bank conflicts of shared loads and stores together."""
        return self.shared_load_bank_conflicts + self.shared_store_bank_conflicts

    @property
    def atomic_requests(self) -> int:
        """Warp-level atomic operations on global and shared memory together."""
        return self.global_atomic_requests + self.shared_atomic_requests

    @property
    def atomic_serialisation(self) -> float:
        """Passes per atomic request, 0 without atomics.

        1 where the lanes of a warp name different addresses, 32 where all name one."""
        return _ratio(self.atomic_passes, self.atomic_requests)

    @property
    def flops(self) -> int:
        """Floating-point operations of all three widths."""
        return self.flops_fp16 + self.flops_fp32 + self.flops_fp64

    @property
    def fp64_share(self) -> float:
        """Share of ``flops`` that are float64, 0 to 1; 0 without flops."""
        return _ratio(self.flops_fp64, self.flops)

    @property
    def instruction_mix(self) -> dict[str, float]:
        """Share of thread instructions, 0 to 1, by class of operation.

        The ``op_`` counters over their sum."""
        counts = {name: getattr(self, f"op_{name}") for name in OPERATIONS}
        return {name: _ratio(count, sum(counts.values())) for name, count in counts.items()}

    @property
    def global_bytes_moved(self) -> int:
        """Bytes in all touched sectors, which move if no cache keeps one for a second request."""
        return self.l1_bytes_moved + SECTOR_BYTES * self.global_atomic_sectors

    @property
    def l1_bytes_moved(self) -> int:
        """Bytes in the sectors that loads and stores request from L1; atomics go past it to L2."""
        return SECTOR_BYTES * (self.global_load_sectors + self.global_store_sectors)

    @property
    def l2_bytes_moved(self) -> tuple[int, int]:
        """(least, most) bytes between L1 and L2.

        Each sector moves once if L1 keeps all of them, for every request if it keeps none."""
        least = self._distinct_sectors + self.global_atomic_sectors
        return max(SECTOR_BYTES * least, self.global_bytes_distinct), self.global_bytes_moved

    @property
    def dram_bytes_moved(self) -> tuple[int, int]:
        """(least, most) bytes between L2 and DRAM; an atomic reads and writes.

        Caches are cold at first and written back at last."""
        most = self.global_bytes_moved + SECTOR_BYTES * self.global_atomic_sectors
        return max(SECTOR_BYTES * self._distinct_sectors, self.global_bytes_distinct), most

    @property
    def shared_bytes_moved(self) -> int:
        """Bytes that active lanes read from and wrote to shared memory, without atomics."""
        return self.shared_load_bytes + self.shared_store_bytes

    @property
    def flops_per_byte(self) -> tuple[float, float]:
        """(least, most) arithmetic intensity: ``flops`` per byte of DRAM traffic.

        The least if the most bytes move, and the most if the least do; infinite if none do."""
        least, most = (
            self.flops / n if n else inf if self.flops else 0.0
            for n in reversed(self.dram_bytes_moved)
        )
        return least, most

    @property
    def _distinct_sectors(self) -> int:
        return self.global_load_sectors_distinct + self.global_store_sectors_distinct

    def __add__(self, other: Metrics) -> Metrics:
        """Add counter by counter, and ``lanes_active`` entry by entry.

        Right for lines, except for the distinct counters, which lines share."""
        return Metrics(*(_sum(getattr(self, name), getattr(other, name)) for name in FIELDS))


def _sum(a: Any, b: Any) -> Any:
    """The sum of two counters: integers, or tuples of them."""
    return tuple(map(add, a, b)) if isinstance(a, tuple) else a + b


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


FIELDS = tuple(f.name for f in fields(Metrics))
# of a launch; not the sum of its lines
DISTINCT = tuple(name for name in FIELDS if name.endswith("_distinct"))
RATIOS = tuple(
    "warp_efficiency sectors_per_request_load sectors_per_request_store shared_bank_conflicts "
    "atomic_requests atomic_serialisation flops fp64_share instruction_mix global_bytes_moved "
    "l1_bytes_moved l2_bytes_moved dram_bytes_moved shared_bytes_moved flops_per_byte".split()
)
# the names that a budget can use
NUMBERS = tuple(
    name for name in FIELDS + RATIOS if isinstance(getattr(Metrics(), name), int | float)
)
