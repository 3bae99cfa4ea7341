"""Counters: what a launch, or one source line of it, is counted by.

Names follow Nsight Compute where it has a counterpart; each field names it, and says where the two
differ. Its names: Nsight Compute's documentation, "Metrics Reference" and its table of nvprof's
metrics. The counting rules are those of the CUDA C++ Programming Guide and Best Practices Guide for
compute capability 6.0 and later. Counters are *modelled* from the kernel's source; they do not
depend on a cache, a clock or a compiler."""

from __future__ import annotations

from dataclasses import dataclass

from warpwise.metrics.about import counter

WARP_SIZE = 32
SECTOR_BYTES = 32
BANKS = 32
BANK_BYTES = 4
NO_WARPS = (0,) * (WARP_SIZE + 1)  # of each number of active lanes, 0 to 32


@dataclass(frozen=True)
class Counters:
    """What is counted. All are integers, but ``lanes_active``."""

    warp_instructions: int = counter(
        "Operations issued by warps: one per arithmetic operation, comparison, load, store, "
        "branch or barrier of the source.",
        unit="instructions of warps",
        group="instructions",
        nsight="smsp__inst_executed.sum",
        note="which counts machine instructions and so is larger (address arithmetic, "
        "conversions) or smaller (what the compiler folded or fused)",
    )
    thread_instructions: int = counter(
        "The same operations counted once per active lane.",
        unit="instructions of threads",
        group="instructions",
        nsight="smsp__thread_inst_executed.sum",
    )
    lanes_active: tuple[int, ...] = counter(
        "Warp instructions by number of active lanes: entry k counts those with k lanes, k from 0 "
        "to 32, so 33 numbers. They add up to ``warp_instructions``.",
        unit="instructions of warps",
        group="instructions",
        note="only their mean, ``smsp__thread_inst_executed_per_inst_executed.ratio``",
        default=NO_WARPS,
    )
    op_fp16: int = counter(
        "Instruction mix: operations of active lanes on float16. The ten ``op_`` counters add up "
        "to ``thread_instructions``.",
        unit="instructions of threads",
        group="mix",
        nsight="smsp__sass_thread_inst_executed_op_fp16_pred_on.sum",
        note="in which one instruction can hold a pair of float16",
    )
    op_fp32: int = counter(
        "Instruction mix: float32 arithmetic and comparisons.",
        unit="instructions of threads",
        group="mix",
        nsight="smsp__sass_thread_inst_executed_op_fp32_pred_on.sum",
        note="larger by what a division or a function of ``math`` expands to, smaller by what is "
        "fused into multiply-adds",
    )
    op_fp64: int = counter(
        "Instruction mix: float64 arithmetic and comparisons.",
        unit="instructions of threads",
        group="mix",
        nsight="smsp__sass_thread_inst_executed_op_fp64_pred_on.sum",
        note="with the same differences",
    )
    op_integer: int = counter(
        "Instruction mix: arithmetic, logic and comparisons on integers and bools that the source "
        "writes.",
        unit="instructions of threads",
        group="mix",
        nsight="smsp__sass_thread_inst_executed_op_integer_pred_on.sum",
        note="larger by the address arithmetic of every index",
    )
    op_special: int = counter(
        "Instruction mix: functions such as ``exp``, ``sin``, ``sqrt`` and ``rsqrt``, one each, "
        "whatever they expand to; ``**`` with a float for its exponent, too.",
        unit="instructions of threads",
        group="mix",
        note="``smsp__inst_executed_pipe_xu.sum`` is nearest; it counts warps, and conversions too",
    )
    op_conversion: int = counter(
        "Instruction mix: conversions between types, such as ``float32(i)``, also those that "
        "Numba's typing implies.",
        unit="instructions of threads",
        group="mix",
        nsight="smsp__sass_thread_inst_executed_op_conversion_pred_on.sum",
        note="without those that a compiler removes",
    )
    op_memory: int = counter(
        "Instruction mix: loads, stores and atomics in every memory space.",
        unit="instructions of threads",
        group="mix",
        nsight="smsp__sass_thread_inst_executed_op_memory_pred_on.sum",
        note="smaller where a value stays in a register, larger where registers spill",
    )
    op_control: int = counter(
        "Instruction mix: branches, loop tests, barriers, fences.",
        unit="instructions of threads",
        group="mix",
        nsight="smsp__sass_thread_inst_executed_op_control_pred_on.sum",
        note="smaller where a loop is unrolled or a branch predicated",
    )
    op_communication: int = counter(
        "Instruction mix: shuffles, votes and matches between the lanes of a warp.",
        unit="instructions of threads",
        group="mix",
        nsight="smsp__sass_thread_inst_executed_op_inter_thread_communication_pred_on.sum",
    )
    op_tensor: int = counter(
        "Instruction mix: products of small matrices on tensor cores, one for each lane of the "
        "warp that makes one.",
        unit="instructions of threads",
        group="mix",
        note="``smsp__inst_executed_pipe_tensor.sum`` is nearest; it counts warps",
    )
    global_load_requests: int = counter(
        "Warp-level loads from global memory with at least one active lane.",
        unit="requests of warps",
        group="global",
        label="loads",
        nsight="l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
        agrees=True,
    )
    global_load_sectors: int = counter(
        "32-byte sectors that those loads touch, each counted once per request.",
        unit="sectors",
        group="global",
        nsight="l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
        agrees=True,
    )
    global_load_sectors_distinct: int = counter(
        "Different sectors among them and those of TMA copies, over the whole launch: what has to "
        "come from DRAM at least, with caches cold. Lines that read the same sectors share them, "
        "so this is not the sum over lines.",
        unit="sectors",
        group="global",
        note="none; ``dram__sectors_read.sum`` lies between this and "
        "``global_load_sectors`` where caches begin cold",
        of_launch=True,
    )
    global_load_bytes: int = counter(
        "Bytes that active lanes asked for, a byte asked for by two lanes counted twice.",
        unit="bytes",
        group="global",
    )
    global_store_requests: int = counter(
        "Warp-level stores.",
        unit="requests of warps",
        group="global",
        label="stores",
        nsight="l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
        agrees=True,
    )
    global_store_sectors: int = counter(
        "Sectors touched by stores.",
        unit="sectors",
        group="global",
        nsight="l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
        agrees=True,
    )
    global_store_sectors_distinct: int = counter(
        "Different sectors among them and those of TMA copies, over the whole launch; not the sum "
        "over lines.",
        unit="sectors",
        group="global",
        note="none; ``dram__sectors_write.sum`` is lower where written sectors are "
        "still in L2 at the end of the launch",
        of_launch=True,
    )
    global_store_bytes: int = counter(
        "Bytes that active lanes wrote.",
        unit="bytes",
        group="global",
    )
    tma_load_bytes: int = counter(
        "Bytes that TMA copies from global to shared memory. What a box has beyond the array "
        "is zeros and does not move; ``global_load_`` counters do not count these copies.",
        unit="bytes",
        group="global",
        note="none of the LSU's; they are among ``lts__t_bytes.sum``, what L2 moves for all",
    )
    tma_load_sectors: int = counter(
        "32-byte sectors that those copies touch, each counted once per box.",
        unit="sectors",
        group="global",
        note="none of the LSU's; they are among ``lts__t_sectors_op_read.sum``",
    )
    tma_store_bytes: int = counter(
        "Bytes that TMA copies from shared to global memory.",
        unit="bytes",
        group="global",
        note="none of the LSU's; they are among ``lts__t_bytes.sum``",
    )
    tma_store_sectors: int = counter(
        "Sectors that those copies touch, each counted once per box.",
        unit="sectors",
        group="global",
        note="none of the LSU's; they are among ``lts__t_sectors_op_write.sum``",
    )
    global_atomic_requests: int = counter(
        "Warp-level atomic operations on global memory; loads and stores do not count them.",
        unit="requests of warps",
        group="atomics",
        nsight="l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum",
        note="and ``_op_red.sum`` where that counts atomics whose old value nobody uses",
        agrees=True,
    )
    global_atomic_sectors: int = counter(
        "32-byte sectors that those atomics touch. Lanes of one address take turns, so a sector "
        "counts as often as its most named address.",
        unit="sectors",
        group="atomics",
        nsight="l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum",
        note="and ``_op_red.sum`` likewise",
        agrees=True,
    )
    global_atomic_bytes: int = counter(
        "Bytes of the elements that active lanes update there, a byte named by two lanes counted "
        "twice.",
        unit="bytes",
        group="atomics",
    )
    shared_load_requests: int = counter(
        "Shared-memory load requests of warps.",
        unit="requests of warps",
        group="shared",
        nsight="smsp__inst_executed_op_shared_ld.sum",
        everywhere=False,
        note="and ``_op_ldsm.sum`` for ``ldmatrix``; larger by loads whose lanes are all "
        "predicated off",
        agrees=True,
    )
    shared_load_bytes: int = counter(
        "Bytes that active lanes asked for in shared memory, a byte asked for by two lanes "
        "counted twice.",
        unit="bytes",
        group="shared",
        note="``smsp__sass_data_bytes_mem_shared_op_ld.sum`` counts a byte once that lanes share",
    )
    shared_load_wavefronts: int = counter(
        "Passes over the 32 banks that those loads need.",
        unit="wavefronts",
        group="shared",
        nsight="l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
        agrees=True,
    )
    shared_load_bank_conflicts: int = counter(
        "Passes beyond the fewest possible for the element width.",
        unit="wavefronts",
        group="shared",
        nsight="l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
        agrees=True,
    )
    shared_store_requests: int = counter(
        "Shared-memory store requests of warps.",
        unit="requests of warps",
        group="shared",
        nsight="smsp__inst_executed_op_shared_st.sum",
        everywhere=False,
        note="larger by stores whose lanes are all predicated off; without ``cp.async``",
        agrees=True,
    )
    shared_store_bytes: int = counter(
        "Bytes that active lanes wrote to shared memory.",
        unit="bytes",
        group="shared",
        nsight="smsp__sass_data_bytes_mem_shared_op_st.sum",
    )
    shared_store_wavefronts: int = counter(
        "Passes of stores.",
        unit="wavefronts",
        group="shared",
        nsight="l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
        agrees=True,
    )
    shared_store_bank_conflicts: int = counter(
        "Passes of stores beyond the fewest possible.",
        unit="wavefronts",
        group="shared",
        nsight="l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
        agrees=True,
    )
    shared_atomic_requests: int = counter(
        "Warp-level atomic operations on shared memory; loads and stores do not count them.",
        unit="requests of warps",
        group="atomics",
        nsight="smsp__inst_executed_op_shared_atom.sum",
        note="larger where a type has no atomic of its own and a loop of compare-and-swap stands "
        "in",
    )
    shared_atomic_bytes: int = counter(
        "Bytes of the elements that active lanes update there, a byte named by two lanes counted "
        "twice.",
        unit="bytes",
        group="atomics",
    )
    shared_atomic_wavefronts: int = counter(
        "Passes over the 32 banks that those atomics would need as loads: lanes that name one "
        "address count once here, and their turns in ``atomic_passes``.",
        unit="wavefronts",
        group="atomics",
        note="``l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum`` is nearest; it counts "
        "those turns, too",
    )
    shared_atomic_bank_conflicts: int = counter(
        "Passes among them beyond the fewest possible for the element width.",
        unit="wavefronts",
        group="atomics",
        note="``l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom.sum`` is nearest",
    )
    atomics: int = counter(
        "Atomic operations of active lanes.",
        unit="operations of threads",
        group="atomics",
        label="atomics",
    )
    atomic_passes: int = counter(
        "The most active lanes of a warp that name one address, summed over atomic requests on "
        "global and shared memory: atomics on one address are served one after another.",
        unit="passes",
        group="atomics",
        note="``l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum`` is nearest, for shared "
        "memory only; it also counts bank conflicts, and a compiler that adds up a warp's "
        "values first makes it smaller",
    )
    barriers: int = counter(
        "Barriers passed, counted once per warp.",
        unit="barriers of warps",
        group="control",
        nsight="smsp__inst_executed_op_barrier.sum",
        everywhere=False,
    )
    branches: int = counter(
        "Conditional branches that warps met (``if``, ``while``, loops whose length differs "
        "between lanes).",
        unit="branches of warps",
        group="control",
        nsight="smsp__sass_branch_targets.sum",
        note="lower where the compiler predicates a short branch",
    )
    divergent_branches: int = counter(
        "Branches at which the active lanes of a warp went both ways.",
        unit="branches of warps",
        group="control",
        nsight="smsp__sass_branch_targets_threads_divergent.sum",
    )
    flops_fp16: int = counter(
        "Additions, subtractions, multiplications, divisions and square roots on float16, per "
        "active lane. A fused multiply-add counts as two; a comparison or another function, none.",
        unit="floating-point operations",
        group="arithmetic",
        note="``smsp__sass_thread_inst_executed_op_hadd_pred_on.sum`` and ``hmul``, twice ``hfma``",
    )
    flops_fp32: int = counter(
        "Additions, subtractions, multiplications, divisions and square roots on float32, per "
        "active lane. A fused multiply-add counts as two; a comparison, and any other function "
        "such as ``exp``, none.",
        unit="floating-point operations",
        group="arithmetic",
        note="``smsp__sass_thread_inst_executed_op_fadd_pred_on.sum`` and ``fmul``, twice ``ffma``",
    )
    flops_fp64: int = counter(
        "The same on float64 (``dadd``, ``dmul``, ``dfma``). A bare literal such as ``0.5`` is "
        "float64 in Numba.",
        unit="floating-point operations",
        group="arithmetic",
    )
    flops_tensor: int = counter(
        "Additions and multiplications on tensor cores: a product of 16 x 8 x 16 has 4,096, which "
        "the 32 lanes share.",
        unit="floating-point operations",
        group="arithmetic",
        note="``sm__ops_path_tensor_src_bf16_dst_fp32.sum`` and its kin, by type",
    )
    special_fp64: int = counter(
        "Those of ``op_special`` whose argument is float64: a GPU expands each into many float64 "
        "operations. Budgets on float64 arithmetic count them as such.",
        unit="instructions of threads",
        group="arithmetic",
        note="none",
    )
    global_bytes_distinct: int = counter(
        "Distinct bytes of global memory that the launch touched: the least that must move "
        "between DRAM and the chip. For a line, the distinct bytes that this line touched.",
        unit="bytes",
        group="global",
        note="none",
        of_launch=True,
    )

    def __post_init__(self) -> None:
        """Make ``lanes_active`` a tuple of 33: from a file it is a list; empty or 0 is no warps."""
        object.__setattr__(
            self, "lanes_active", tuple(self.lanes_active) if self.lanes_active else NO_WARPS
        )
