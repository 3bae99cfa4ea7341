"""Published times, replayed: the stored machine code, the points, and the errors in the package."""

from __future__ import annotations

import csv
from collections import Counter

import pytest
import stopwatch
from published.launches import twin_of
from published.machine_code import CCS, stored
from support.paths import ROOT

from warpwise.stopwatch import find
from warpwise.stopwatch.families import (
    COVERED,
    ENOUGH,
    POINTS,
    Point,
    coverage,
    families,
    nearest,
    points,
)

with open(POINTS, newline="", encoding="utf-8") as file:
    ROWS = list(csv.DictReader(file))
#: Pairs that are known to be predicted in the wrong order.
WRONG = {
    ("norm_shared", "32", "norm_shared_once", "1024"),
    ("norm_shared", "64", "norm_shared_once", "256"),
}
PAGE = ROOT / "chapters/stopwatch.md"
KERNELS = sorted({row["kernel"] for row in ROWS})


def test_there_are_enough_points_with_sources():
    assert len(ROWS) >= 300
    assert len({row["device"] for row in ROWS}) >= 8 and len({row["family"] for row in ROWS}) >= 8
    assert all(row["source"] and find(row["device"]) for row in ROWS)
    keys = Counter((row["ladder"], row["device"], row["kernel"], row["size"]) for row in ROWS)
    assert max(keys.values()) == 1


@pytest.mark.parametrize("kernel", KERNELS)
def test_each_kernel_has_a_twin_with_its_lines_and_machine_code(kernel: str):
    tags = stopwatch.lines_in(twin_of(kernel))
    for cc in CCS:
        code = stored(cc)[kernel]
        assert code.registers > 0 and len(code.instructions) > 10
        used = {tags[i.line] for i in code.instructions if i.line in tags}
        assert used == set(tags.values()), f"{cc}: {sorted(set(tags.values()) - used)}"


def test_the_points_in_the_package_are_these():
    kept = [(p.device, p.kernel, str(p.size), p.published, p.source) for p in points()]
    assert kept == [
        (r["device"], r["kernel"], r["size"], float(r["published"]), r["source"]) for r in ROWS
    ]
    assert {name: family.points for name, family in families().items()} == Counter(
        row["family"] for row in ROWS
    )
    assert all(0 < family.mean <= abs(family.worst) for family in families().values())


@pytest.mark.parametrize("binds", ["DRAM", "latency", "shared memory", "float32 arithmetic"])
def test_a_kernel_gets_a_range_in_which_most_times_lie_that_the_same_thing_binds(binds: str):
    kind = nearest(binds)
    assert kind.points >= ENOUGH and 0 < kind.within < 0.6
    alike = [p for p in points() if nearest(p.binds) == kind]
    inside = sum(abs(p.longer) <= kind.within for p in alike)
    assert kind.points == len(alike) and COVERED <= inside / len(alike) < COVERED + 0.1


def test_a_kernel_that_nothing_like_it_was_published_for_gets_none():
    assert nearest("special functions") is None


def test_ranges_hold_for_ladders_that_they_were_not_made_of():
    assert coverage() >= 0.7


@pytest.mark.slow
@pytest.mark.parametrize("only", ["sgemm_shared", "reduce_two_loads", "Liu", "yencal", "simveit"])
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
    assert max(abs(p.error) for p in points()) <= 0.35
    ladders = [p for p in points() if p.family not in ("streams", "stencils")]
    wrong = stopwatch.misordered(ladders)
    named = {(a.kernel, str(a.size), b.kernel, str(b.size)) for a, b in wrong}
    assert named <= WRONG, "a pair that was in order is so no more"


def test_the_page_names_the_pairs_in_the_wrong_order():
    (said,) = (line for line in PAGE.read_text("utf-8").splitlines() if "The wrong order" in line)
    wrong = stopwatch.misordered(list(points()))
    assert len(wrong) == 3 and "three are predicted in the wrong order" in said
    for pair in wrong:
        assert all(f"`{p.kernel}`" in said and f"{int(p.size):,}" in said for p in pair)


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
