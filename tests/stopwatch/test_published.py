"""Published times, replayed: the stored machine code, the points, and the errors in the package."""

from __future__ import annotations

import csv
from collections import Counter

import pytest
import stopwatch
from published import twins

from warpwise.stopwatch import find
from warpwise.stopwatch.families import FAMILY_OF, POINTS, Point, families, nearest, points

with open(POINTS, newline="", encoding="utf-8") as file:
    ROWS = list(csv.DictReader(file))
KERNELS = sorted({row["kernel"] for row in ROWS})


def test_there_are_enough_points_with_sources():
    assert len(ROWS) >= 150
    assert len({row["device"] for row in ROWS}) >= 8 and len({row["family"] for row in ROWS}) >= 5
    assert all(row["source"] and find(row["device"]) for row in ROWS)
    keys = Counter((row["ladder"], row["device"], row["kernel"], row["size"]) for row in ROWS)
    assert max(keys.values()) == 1


@pytest.mark.parametrize("kernel", KERNELS)
def test_each_kernel_has_a_twin_with_its_lines_and_machine_code(kernel: str):
    tags = stopwatch.lines_in(getattr(twins, kernel))
    for cc in stopwatch.CCS:
        code = stopwatch.stored(cc)[kernel]
        assert code.registers > 0 and len(code.instructions) > 10
        used = {i.line for i in code.instructions} & tags.keys()
        assert used == tags.keys(), f"{cc}: {sorted(tags.keys() - used)}"


def test_the_points_in_the_package_are_these():
    kept = [(p.device, p.kernel, str(p.size), p.published, p.source) for p in points()]
    assert kept == [
        (r["device"], r["kernel"], r["size"], float(r["published"]), r["source"]) for r in ROWS
    ]
    assert {name: family.points for name, family in families().items()} == Counter(
        row["family"] for row in ROWS
    )
    assert all(0 < family.mean <= abs(family.worst) for family in families().values())


def test_a_kernel_gets_the_range_of_what_binds_it():
    assert {nearest(binds).name for binds in FAMILY_OF} <= families().keys()
    assert nearest("special functions") is None


@pytest.mark.slow
@pytest.mark.parametrize("only", ["sgemm_shared", "reduce_two_loads", "Liu"])
def test_a_few_points_are_predicted_as_they_are_kept(only: str):
    """`make stopwatch` predicts them all."""
    kept = {(p.device, p.kernel, p.size, p.ladder): p.predicted for p in points()}
    found = list(stopwatch.points(only))
    assert found
    for p in found:
        assert p.predicted == pytest.approx(kept[p.device, p.kernel, p.size, p.ladder], rel=0.01)


def test_the_model_keeps_to_its_goals():
    assert sum(abs(p.error) for p in points()) / len(points()) <= 0.1
    assert all(family.mean <= 0.15 for family in families().values())
    products = [p for p in points() if p.family in ("matrix products", "reductions")]
    assert stopwatch.misordered(products) == []


def test_errors_are_of_times_whatever_the_unit():
    made = ("f", "l", "T4", "k", 1)
    assert Point(*made, "us", 100.0, 110.0, "").error == pytest.approx(0.1)
    assert Point(*made, "GB/s", 110.0, 100.0, "").error == pytest.approx(0.1)


def test_a_pair_in_the_wrong_order_is_found():
    ladder = [
        Point("f", "l", "T4", name, 1, "GB/s", published, predicted, "")
        for name, published, predicted in (("a", 100, 100), ("b", 200, 90), ("c", 205, 210))
    ]
    assert [(a.kernel, b.kernel) for a, b in stopwatch.misordered(ladder)] == [("a", "b")]
