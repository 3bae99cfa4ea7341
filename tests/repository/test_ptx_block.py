"""``tools/ptx_block.py``: a small kernel in PTX gives what NumPy gives."""

from __future__ import annotations

import numpy as np
import pytest
from ptx_block import Block, from_bfloat16, to_bfloat16

#: One warp: A @ A[:, :8] for a tile A of 16 x 16, whose rows of 32 bytes lanes copy in halves, and
#: then each lane's sums of its row over the four lanes that share it
PRODUCT = """
.visible .entry product(.param .b64 product_param_0)
{
    .reg .b32 %r<40>;
    ld.param.b64 %rd1, [product_param_0];
    mov.u32 %r1, %tid.x; // a lane
    mul.wide.u32 %rd2, %r1, 16;
    add.s64 %rd3, %rd1, %rd2;
    shl.b32 %r2, %r1, 4;
    cp.async.cg.shared.global [%r2], [%rd3], 16, 16;
    cp.async.commit_group;
    cp.async.wait_group 0;
    bar.sync 0;
    and.b32 %r3, %r1, 15;
    shl.b32 %r4, %r3, 5;
    and.b32 %r5, %r1, 16;
    add.s32 %r6, %r4, %r5;
    ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r7, %r8, %r9, %r10}, [%r6];
    ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r11, %r12, %r13, %r14}, [%r6];
    mov.b32 %r15, 0f00000000;
    mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
        {%r20, %r21, %r22, %r23}, {%r7, %r8, %r9, %r10},
        {%r11, %r12}, {%r15, %r15, %r15, %r15};
    st.global.b32 [%rd3+512], %r20;
    st.global.b32 [%rd3+516], %r21;
    st.global.b32 [%rd3+520], %r22;
    st.global.b32 [%rd3+524], %r23;
    add.f32 %r24, %r20, %r21;
    shfl.sync.bfly.b32 %r25, %r24, 1, 31, -1;
    add.f32 %r26, %r24, %r25;
    shfl.sync.bfly.b32 %r27, %r26, 2, 31, -1;
    add.f32 %r28, %r26, %r27;
    st.global.b32 [%rd3+1024], %r28;
    ret;
}
"""
COUNT = """
.visible .entry count(.param .b64 count_param_0)
{
    ld.param.b64 %rd1, [count_param_0];
    mov.b32 %r1, 0;
$L_1:
    add.s32 %r1, %r1, 1;
    setp.ne.b32 %p1, %r1, LAST;
    @%p1 bra $L_1;
    st.global.b32 [%rd1], %r1;
    ret;
}
"""


def test_a_product_of_fragments_and_a_sum_over_four_lanes():
    a = np.random.default_rng(2).integers(-4, 5, (16, 16)).astype(np.float32)
    memory = np.zeros(1536, np.uint8)
    memory[:512] = to_bfloat16(a).astype(np.uint16).ravel().view(np.uint8)
    Block(PRODUCT, 32, 0, [np.uint64(0)], memory).run()
    c = a @ a[:, :8]
    held = memory[512:1024].view(np.float32).reshape(8, 4, 4)  # g, t, register: PTX ISA, 9.7.14
    assert np.array_equal(held[:, :, :2].reshape(8, 8), c[:8])
    assert np.array_equal(held[:, :, 2:].reshape(8, 8), c[8:])
    sums = memory[1024:].view(np.float32).reshape(8, 4, 4)[:, :, 0]
    assert np.array_equal(sums, np.repeat(c[:8].sum(axis=1)[:, None], 4, axis=1))


def test_a_loop_ends_and_what_divides_lanes_is_refused():
    memory = np.zeros(4, np.uint8)
    Block(COUNT.replace("LAST", "3"), 32, 0, [np.uint64(0)], memory).run()
    assert memory.view(np.uint32) == [3]
    with pytest.raises(ValueError, match="too many values"):
        Block(COUNT.replace("LAST", "%tid.x"), 32, 0, [np.uint64(0)], memory).run()


def test_bfloat16_is_rounded_to_nearest_with_ties_to_even():
    x = np.array([1, 1 + 2**-8, 1 + 3 * 2**-8, 1 + 2**-8 + 2**-20], np.float32)
    assert from_bfloat16(to_bfloat16(x)).tolist() == [1, 1, 1 + 2**-6, 1 + 2**-7]


def test_an_instruction_that_it_does_not_know_is_named():
    with pytest.raises(NotImplementedError, match=r"cos\.approx\.f32"):
        Block("\n{ cos.approx.f32 %r1, %r2; ret; }", 32, 0, [], np.zeros(4, np.uint8)).run()
