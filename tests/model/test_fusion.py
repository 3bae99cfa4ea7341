"""Values that travel between kernels: small graphs, random graphs counted otherwise, and traces."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import elementwise, sigmoids

from warpwise.model.fusion import READ, WRITE, Access, Operation, kernels, unfused
from warpwise.views import fusion, recomputation

A, B, C = (
    Operation("a", "f", ("x",)),
    Operation("b", "g", ("a", "x")),
    Operation("c", "h", ("b", "b")),
)


def travelling(found) -> list[tuple]:
    return [(kernel.reads, kernel.writes) for kernel in found]


def test_a_kernel_each_reads_all_operands_and_writes_its_value():
    assert travelling(unfused([A, B, C], ["c"])) == [
        (("x",), ("a",)),
        (("a", "x"), ("b",)),
        (("b",), ("c",)),
    ]


def test_one_kernel_reads_once_and_writes_what_is_wanted():
    assert travelling(kernels([[A, B, C]], ["c"])) == [(("x",), ("c",))]
    assert travelling(kernels([[A, B, C]], ["a", "c"])) == [(("x",), ("a", "c"))]


def test_what_a_later_kernel_reads_is_written_and_what_it_makes_again_is_not():
    assert travelling(kernels([[A], [B, C]], ["c"])) == [(("x",), ("a",)), (("a", "x"), ("c",))]
    assert travelling(kernels([[A], [A, B, C]], ["c"])) == [(("x",), ()), (("x",), ("c",))]


def test_a_result_made_twice_is_written_once():
    assert travelling(kernels([[A], [A, B]], ["a", "b"])) == [(("x",), ("a",)), (("x",), ("b",))]


def test_accesses_come_when_they_have_to():
    first, second = Operation("a", "f", ("x",)), Operation("b", "g", ("a", "z"))
    (kernel,) = kernels([[first, second]], ["a", "b"])
    assert kernel.accesses == (
        Access(READ, "x", 0),
        Access(WRITE, "a", 0),
        Access(READ, "z", 1),
        Access(WRITE, "b", 1),
    )


def test_work_is_flops_and_special_functions():
    (kernel,) = kernels(
        [[Operation("a", "f", ("x",), 2, 1), Operation("b", "g", ("a",), 3)]], ["b"]
    )
    assert (kernel.flops, kernel.work) == (5, 6)


@st.composite
def graphs(draw):
    """Draw operations on up to two earlier values, cut into kernels, and the wanted results."""
    count = draw(st.integers(1, 8))
    operations = [
        Operation(
            f"v{i}",
            "f",
            tuple(
                draw(
                    st.lists(
                        st.sampled_from(["x", "z", *(f"v{j}" for j in range(i))]),
                        min_size=1,
                        max_size=2,
                    )
                )
            ),
        )
        for i in range(count)
    ]
    cuts = sorted(draw(st.sets(st.integers(1, count))) | {0, count})
    groups = [operations[i:j] for i, j in pairwise(cuts)]
    return groups, {
        f"v{count - 1}",
        *draw(st.sets(st.sampled_from([one.made for one in operations]))),
    }


@settings(max_examples=150, deadline=None)
@given(graphs())
def test_reads_and_writes_are_the_edges_that_cross_kernels(graph):
    """Without recomputation, each crossing of a value counts once for each kernel.

    A kernel reads each value that it uses but does not make; a value that leaves is written."""
    groups, results = graph
    home = {one.made: i for i, group in enumerate(groups) for one in group}
    crossing = {
        (value, i)
        for i, group in enumerate(groups)
        for one in group
        for value in one.of
        if home.get(value) != i
    }
    found = kernels(groups, results)
    assert {(value, i) for i, kernel in enumerate(found) for value in kernel.reads} == crossing
    assert sum(len(kernel.reads) for kernel in found) == len(crossing)
    leaving = {value for value, _ in crossing if value in home} | results
    assert {value: i for i, kernel in enumerate(found) for value in kernel.writes} == {
        value: home[value] for value in leaving
    }


@settings(max_examples=50, deadline=None)
@given(graphs())
def test_running_the_kernels_finds_every_value_where_the_rule_says(graph):
    """A kernel has what it read and made, and memory has what was written.

    No operation may miss a value, and all results are there."""
    groups, results = graph
    memory = {"x", "z"}
    for kernel in kernels(groups, results):
        registers = set()
        for place, operation in enumerate(kernel.operations):
            arriving = {
                one.value for one in kernel.accesses if one.kind == READ and one.operation == place
            }
            assert arriving <= memory
            registers |= arriving
            assert set(operation.of) <= registers
            registers.add(operation.made)
        memory |= set(kernel.writes)
    assert results <= memory


@pytest.mark.parametrize("dtype", fusion.ITEMSIZES)
@pytest.mark.parametrize("operations", fusion.PROGRAMS)
def test_traced_kernels_move_and_do_what_the_rule_says(operations: str, dtype: str):
    n, program = 200, fusion.PROGRAMS[operations]
    apart, fused = elementwise.launches(operations, n, dtype)
    _same(unfused(program, ["y"]), apart, n, fusion.explorer().data["items"][dtype])
    _same(kernels([program], ["y"]), [fused], n, fusion.explorer().data["items"][dtype])


@pytest.mark.parametrize("length", [1, 2, 5, 8])
def test_traced_chains_do_too(length: int):
    apart, fused = elementwise.launches("chain", 70, length=length)
    _same(unfused(fusion.chain(length), ["y"]), apart, 70, 4)
    _same(kernels([fusion.chain(length)], ["y"]), [fused], 70, 4)


def _same(modelled, traces, n: int, item: int) -> None:
    """Compare bytes read, bytes written and operations, kernel by kernel."""
    assert len(modelled) == len(traces)
    for kernel, one in zip(modelled, traces, strict=True):
        assert one.metrics.global_load_bytes == len(kernel.reads) * n * item
        assert one.metrics.global_store_bytes == len(kernel.writes) * n * item
        assert elementwise.work([one]) == kernel.work * n


def test_sine_and_cosine_squared_move_eleven_values_or_two():
    assert [
        sum(len(kernel.accesses) for kernel in way)
        for way in (
            unfused(fusion.PROGRAMS["trig"], ["y"]),
            kernels([fusion.PROGRAMS["trig"]], ["y"]),
        )
    ] == [11, 2]


@pytest.mark.parametrize(
    ("variant", "accesses"), [("eager", 15), ("stored", 9), ("out", 8), ("all", 5)]
)
def test_three_sigmoids_in_each_variant_are_what_traced_kernels_count(variant: str, accesses: int):
    plan = recomputation.plan(variant)
    traces, counts = sigmoids.launch(variant)
    assert counts.accesses == sum(len(kernel.accesses) for kernel in plan) == accesses
    assert counts.bytes == 4 * accesses
    assert counts.flops == sum(one.flops for kernel in plan for one in kernel.operations)
    assert counts.special == sum(one.special for kernel in plan for one in kernel.operations)
    assert [t.metrics.global_load_bytes // 1024 for t in traces] == [
        len(kernel.reads) for kernel in plan
    ]
    assert [t.metrics.global_store_bytes // 1024 for t in traces] == [
        len(kernel.writes) for kernel in plan
    ]
