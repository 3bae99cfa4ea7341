"""Attention in CuTe DSL, forward, for one head: softmax(Q K^T scale) V in powers of 2.

``q``, ``k``, ``v``, ``o``: n x D in bfloat16, n a multiple of ROWS and KEYS; ``scale`` includes
log2(e). Four warps own 16 queries each. A launch needs a GPU; without one, its PTX was run in an
interpreter."""

from operator import add

import cutlass
import cutlass.cute as cute
from cutlass import range_constexpr
from cutlass.cute.nvgpu import cpasync, warp

WARPS, ROWS, KEYS, D = 4, 64, 64, 64
BF16, F32 = cutlass.BFloat16, cutlass.Float32


@cute.jit
def over_row(x: F32, both: cutlass.Constexpr) -> F32:
    """Combine the x of the four lanes that share a row."""
    for step in range_constexpr(2):
        x = both(x, cute.arch.shuffle_sync_bfly(x, offset=1 << step))
    return x


@cute.kernel
def attend(q, k, v, o, scale: F32, tile, fetch, mma):
    t, _, _ = cute.arch.thread_idx()
    block, _, _ = cute.arch.block_idx()
    smem = cutlass.utils.SmemAllocator()
    qs = smem.allocate_tensor(BF16, tile, 128)
    ks = smem.allocate_tensor(BF16, tile, 128)
    vs = smem.allocate_tensor(BF16, tile, 128)
    across = cute.make_layout((D, KEYS), stride=(KEYS, 1))
    turned = cute.composition(vs, across)

    # which bytes this thread copies, 16 at a time
    part = fetch.get_slice(t)
    to_q, to_k, to_v = (part.partition_D(s) for s in (qs, ks, vs))
    k_tiles = cute.local_tile(k, (KEYS, D), (None, 0))
    v_tiles = cute.local_tile(v, (KEYS, D), (None, 0))
    of_k, of_v = part.partition_S(k_tiles), part.partition_S(v_tiles)
    mine = cute.local_tile(q, (ROWS, D), (block, 0))
    cute.copy(fetch, part.partition_S(mine), to_q)

    # which numbers this lane holds, and ldmatrix to bring them
    lane = mma.get_slice(t)
    rq = mma.make_fragment_A(lane.partition_A(qs))
    rk = mma.make_fragment_B(lane.partition_B(ks))
    rv = mma.make_fragment_B(lane.partition_B(turned))
    plain = warp.LdMatrix8x8x16bOp(transpose=False, num_matrices=4)
    trans = warp.LdMatrix8x8x16bOp(transpose=True, num_matrices=4)
    plain = cute.make_copy_atom(plain, BF16)
    trans = cute.make_copy_atom(trans, BF16)
    load_q = cute.make_tiled_copy_A(plain, mma)
    load_k = cute.make_tiled_copy_B(plain, mma)
    load_v = cute.make_tiled_copy_B(trans, mma)
    s = cute.make_rmem_tensor(mma.partition_shape_C((ROWS, KEYS)), F32)
    acc = cute.make_rmem_tensor(mma.partition_shape_C((ROWS, D)), F32)
    p = cute.make_rmem_tensor(mma.partition_shape_A((ROWS, KEYS)), BF16)
    top = cute.make_rmem_tensor((2,), F32)  # of this lane's two rows
    total = cute.make_rmem_tensor((2,), F32)
    acc.fill(0.0)
    total.fill(0.0)
    top.fill(-F32.inf)

    for j in cutlass.range(cute.size(of_k, mode=[3])):
        cute.copy(fetch, of_k[None, None, None, j], to_k)
        cute.arch.cp_async_commit_group()
        cute.copy(fetch, of_v[None, None, None, j], to_v)
        cute.arch.cp_async_commit_group()
        cute.arch.cp_async_wait_group(1)  # K, and at first Q, are there
        cute.arch.sync_threads()
        for tiled, held, frag in ((load_q, qs, rq), (load_k, ks, rk)):
            me = tiled.get_slice(t)
            cute.copy(tiled, me.partition_S(held), me.retile(frag))
        s.fill(0.0)
        cute.gemm(mma, s, rq, rk, s)

        for r in range_constexpr(2):
            high = top[r]
            for n in range_constexpr(KEYS // 8):
                for c in range_constexpr(2):
                    s[(c, r), 0, n] = s[(c, r), 0, n] * scale
                    high = cute.arch.fmax(high, s[(c, r), 0, n])
            high = over_row(high, cute.arch.fmax)
            f = cute.math.exp2(top[r] - high)
            top[r] = high
            total[r] = total[r] * f
            for n in range_constexpr(D // 8):
                for c in range_constexpr(2):
                    acc[(c, r), 0, n] = acc[(c, r), 0, n] * f
            # two tiles of scores are one factor, in registers
            for n in range_constexpr(KEYS // 8):
                for c in range_constexpr(2):
                    w = cute.math.exp2(s[(c, r), 0, n] - high)
                    total[r] = total[r] + w
                    p[(c, r, n % 2), 0, n // 2] = w.to(BF16)

        cute.arch.cp_async_wait_group(0)  # V is there
        cute.arch.sync_threads()
        me = load_v.get_slice(t)
        cute.copy(load_v, me.partition_S(turned), me.retile(rv))
        cute.gemm(mma, acc, p, rv, acc)
        cute.arch.sync_threads()  # before K and V are overwritten

    out = lane.partition_C(cute.local_tile(o, (ROWS, D), (block, 0)))
    for r in range_constexpr(2):
        whole = over_row(total[r], add)
        for n in range_constexpr(D // 8):
            for c in range_constexpr(2):
                out[(c, r), 0, n] = (acc[(c, r), 0, n] / whole).to(BF16)


@cute.jit
def launch(q, k, v, o, scale: F32):
    """Lay out tiles, copies and products; a block has ROWS queries."""
    row = cute.make_layout((8, 64), stride=(64, 1))
    atom = cute.make_composed_layout(cute.make_swizzle(3, 3, 3), 0, row)
    tile = cute.tile_to_shape(atom, (ROWS, D), (0, 1))
    past_l1 = cpasync.CopyG2SOp(cpasync.LoadCacheMode.GLOBAL)
    wide = cute.make_copy_atom(past_l1, BF16, num_bits_per_copy=128)
    threads = cute.make_layout((4 * WARPS, 8), stride=(8, 1))
    eight = cute.make_layout((1, 8))
    fetch = cute.make_tiled_copy_tv(wide, threads, eight)
    mma = cute.make_tiled_mma(
        warp.MmaF16BF16Op(BF16, F32, (16, 8, 16)),
        (WARPS, 1, 1),
        permutation_mnk=(16 * WARPS, 16, 16),
    )
    attend(q, k, v, o, scale, tile, fetch, mma).launch(
        grid=[q.shape[0] // ROWS, 1, 1], block=[32 * WARPS, 1, 1]
    )
