"""Sums, shares and bounds of counters written by hand."""

from __future__ import annotations

from math import inf

import pytest

from warpwise.metrics import (
    ABOUT,
    DISTINCT,
    FIELDS,
    MORE_IS_BETTER,
    NUMBERS,
    OPERATIONS,
    RATIOS,
    Metrics,
)


def lanes(**warps: int) -> tuple[int, ...]:
    """Count by lanes: ``lanes(k32=3, k1=2)`` is 3 instructions of 32 lanes and 2 of one."""
    return tuple(warps.get(f"k{k}", 0) for k in range(33))


def test_a_sum_adds_every_counter_and_every_entry():
    numbers = {name: n for n, name in enumerate(FIELDS, start=1) if name != "lanes_active"}
    left, right = (
        Metrics(**numbers, lanes_active=lanes(k32=3, k1=2)),
        Metrics(**numbers, lanes_active=lanes(k32=4, k7=1)),
    )
    total = left + right
    assert {name: getattr(total, name) for name in numbers} == {
        name: 2 * n for name, n in numbers.items()
    }
    assert total.lanes_active == lanes(k32=7, k7=1, k1=2)


def test_nothing_added_changes_nothing():
    m = Metrics(warp_instructions=3, lanes_active=lanes(k32=3))
    assert sum([m], Metrics()) == m


@pytest.mark.parametrize("none", [0, (), [], [0] * 33])
def test_no_lanes_are_33_zeros_however_they_are_given(none):
    assert Metrics(lanes_active=none) == Metrics()
    assert Metrics().lanes_active == (0,) * 33


def test_lanes_from_a_file_are_a_tuple_again():
    m = Metrics(lanes_active=list(lanes(k32=1)))
    assert (
        m == Metrics(lanes_active=lanes(k32=1))
        and len({m, Metrics(lanes_active=lanes(k32=1))}) == 1
    )


def test_counters_made_at_once_are_those_made_field_by_field():
    counts = {"warp_instructions": 3, "lanes_active": [1, 2] + [0] * 31, "op_fp32": 7}
    made = Metrics.of(counts)
    assert made == Metrics(**counts)
    assert vars(made) == vars(Metrics(**counts))
    assert Metrics.of({}) == Metrics()


def test_the_instruction_mix_is_shares_of_the_operations():
    mix = Metrics(op_fp32=6, op_memory=3, op_control=1).instruction_mix
    assert tuple(mix) == OPERATIONS and sum(mix.values()) == pytest.approx(1)
    assert {name: share for name, share in mix.items() if share} == {
        "fp32": 0.6,
        "memory": 0.3,
        "control": 0.1,
    }
    assert set(Metrics().instruction_mix.values()) == {0}


def test_every_operation_has_its_counter():
    assert {f"op_{name}" for name in OPERATIONS} == {
        name for name in FIELDS if name.startswith("op_")
    }


def test_flops_are_those_of_all_widths():
    m = Metrics(flops_fp16=1, flops_fp32=4, flops_fp64=5)
    assert (m.flops, m.fp64_share) == (10, 0.5)
    assert Metrics().fp64_share == 0


def test_serialisation_is_passes_per_atomic_request():
    m = Metrics(global_atomic_requests=3, shared_atomic_requests=1, atomic_passes=100)
    assert (m.atomic_requests, m.atomic_serialisation) == (4, 25)
    assert Metrics().atomic_serialisation == 0


def test_bytes_of_each_level_by_hand():
    m = Metrics(
        global_load_sectors=10,
        global_load_sectors_distinct=4,
        global_store_sectors=3,
        global_store_sectors_distinct=2,
        global_atomic_sectors=5,
        shared_load_bytes=100,
        shared_store_bytes=28,
        global_bytes_distinct=150,
    )
    assert m.global_bytes_moved == 32 * 18
    assert m.l1_bytes_moved == 32 * 13  # atomics go past L1
    assert m.l2_bytes_moved == (32 * (4 + 2 + 5), 32 * 18)
    # An atomic's sector comes and goes back.
    assert Metrics(global_atomic_sectors=1).dram_bytes_moved[1] == 2 * 32
    assert m.dram_bytes_moved == (32 * (4 + 2), 32 * (18 + 5))
    assert m.shared_bytes_moved == 128


def test_the_least_is_never_below_the_distinct_bytes():
    """Atomics count no distinct sectors, but the bytes they touch come from somewhere."""
    m = Metrics(global_atomic_sectors=8, global_bytes_distinct=1024)
    assert m.dram_bytes_moved[0] == 1024


def test_intensity_is_that_of_the_most_and_of_the_least_bytes():
    m = Metrics(flops_fp32=64, global_load_sectors=4, global_load_sectors_distinct=1)
    assert m.flops_per_byte == (64 / 128, 64 / 32)
    assert Metrics(flops_fp32=64).flops_per_byte == (inf, inf)
    assert Metrics(global_load_sectors=4).flops_per_byte == (0, 0)
    assert Metrics().flops_per_byte == (0, 0)


def test_what_a_budget_can_name_is_a_number():
    others = {
        "lanes_active",
        "instruction_mix",
        "l2_bytes_moved",
        "dram_bytes_moved",
        "flops_per_byte",
    }
    assert set(FIELDS + RATIOS) - set(NUMBERS) == others
    assert all(isinstance(getattr(Metrics(), name), int | float) for name in NUMBERS)


def test_distinct_counters_belong_to_a_launch():
    assert DISTINCT == (
        "global_load_sectors_distinct",
        "global_store_sectors_distinct",
        "global_bytes_distinct",
    )


def test_every_metric_is_described():
    assert tuple(ABOUT) == FIELDS + RATIOS
    for name, about in ABOUT.items():
        assert about.meaning and about.unit and not about.note.endswith("."), name
        assert (about.group == "derived") == bool(about.formula) == (name in RATIOS), name


def test_what_a_gpu_has_to_count_too_has_its_name_there():
    assert [name for name, about in ABOUT.items() if about.agrees and not about.nsight] == []


def test_no_two_metrics_have_one_counterpart():
    names = [about.nsight for about in ABOUT.values() if about.nsight]
    assert len(set(names)) == len(names)


def test_a_budget_gives_the_least_of_efficiency_and_of_work_in_an_instruction():
    assert MORE_IS_BETTER == ("warp_efficiency", "flops_per_issue_slot")
