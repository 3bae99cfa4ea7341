"""Published times, replayed: the stored machine code, the points, and the errors in the package."""

from __future__ import annotations

import csv
import subprocess
import sys
from collections import Counter

import predict_again
import pytest
import stopwatch
from published.launches import twin_of
from published.machine_code import CCS, stored
from support.paths import ROOT

from warpwise.benchmark_records import PREDICTED, predicted_rows
from warpwise.stopwatch import find
from warpwise.stopwatch.blind_test import AGAIN, pairs
from warpwise.stopwatch.families import (
    COVERED,
    ENOUGH,
    MEASURED,
    POINTS,
    Point,
    coverage,
    coverages,
    families,
    kind_of,
    nearest,
    points,
    replayed,
    timed,
    width,
)

with open(POINTS, newline="", encoding="utf-8") as file:
    ROWS = list(csv.DictReader(file))
AGAIN_FILE = ROOT / "measurements" / PREDICTED / AGAIN / "h200-sxm.json"
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
    groups = [[p for p in every if nearest(p.binds) == kind] for every in (points(), timed())]
    assert [len(group) for group in groups] == [kind.points, kind.measured]
    inside = []
    for group in groups:
        of = Counter(p.family for p in group)
        for weights in ([1] * len(group), [1 / of[p.family] for p in group]):
            held = [w for p, w in zip(group, weights, strict=True) if abs(p.longer) <= kind.within]
            inside.append(sum(held) / sum(weights))
    assert min(inside) >= COVERED - 1e-9
    assert min(inside) < COVERED + 0.1, "no wider than one of them needs"


def test_many_points_of_one_family_do_not_decide_a_range():
    def of(family: str, longer: float) -> Point:
        return Point(family, "l", "T4", "k", 1, "us", 100 * (1 + longer), 100.0, "")

    many = [of("a", 0.01)] * 100
    assert width(many) == pytest.approx(0.01)
    assert width([*many, of("b", 0.3)]) == pytest.approx(0.3)
    assert width(many, [of("b", 0.2)] * 4 + [of("b", 0.9)]) == pytest.approx(0.2)


def test_measured_times_are_those_of_the_records():
    assert [*csv.reader(MEASURED.open(newline="", encoding="utf-8"))] == [
        [str(field) for field in row]
        for row in predict_again.kept(pairs(), predicted_rows(AGAIN_FILE))
    ]
    assert {t.suite for t in timed() if kind_of(t.binds) == "latency"} >= {"copy", "reduction"}


def test_the_promise_holds_for_each_thing_that_binds():
    for c in coverages():
        for inside, of in (c.published, c.measured):
            assert inside >= COVERED * of - 1e-9, c.kind
        inside, asked = c.others
        assert inside / asked >= 0.7, f"{c.kind}: as ranges of other benchmarks say"


def test_a_kernel_that_nothing_like_it_was_published_for_gets_none():
    assert nearest("special functions") is None


def test_ranges_hold_for_ladders_that_they_were_not_made_of():
    assert coverage() >= 0.7


@pytest.mark.parametrize("kept", replayed(), ids=lambda p: f"{p.kernel}-{p.device}-{p.size}")
def test_a_sample_of_each_family_is_predicted_as_it_is_kept(kept: Point):
    found = stopwatch.predict(kept)
    assert found.predicted == pytest.approx(kept.predicted, rel=0.01)
    assert found.binds == kept.binds


def test_the_sample_is_drawn_from_every_family_but_products():
    drawn = Counter(point.family for point in replayed())
    assert drawn.keys() == families().keys() - {"matrix products"} and set(drawn.values()) == {2}
    assert replayed() == replayed(), "it is the same in every run"


@pytest.mark.slow
@pytest.mark.parametrize("only", ["sgemm_shared", "reduce_two_loads", "Liu", "yencal", "simveit"])
def test_a_few_points_are_predicted_as_they_are_kept(only: str):
    """`make stopwatch` predicts them all."""
    kept = {(p.device, p.kernel, p.size, p.ladder): p.predicted for p in points()}
    found = list(stopwatch.points(only))
    assert found
    for p in found:
        assert p.predicted == pytest.approx(kept[p.device, p.kernel, p.size, p.ladder], rel=0.01)


def test_a_name_that_no_point_has_is_refused_in_one_line():
    command = [sys.executable, "tools/stopwatch.py", "--only", "nonsense"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert found.returncode == 2 and not found.stdout
    said = found.stderr.splitlines()[-1]
    assert said.endswith("no family, ladder, kernel or device is named 'nonsense'")
    assert "nan" not in found.stderr and "Warning" not in found.stderr


def test_the_model_keeps_to_its_goals():
    assert sum(abs(p.error) for p in points()) / len(points()) <= 0.1
    assert all(family.mean <= 0.15 for family in families().values())
    assert max(abs(p.error) for p in points()) <= 0.35
    ladders = [p for p in points() if p.family not in ("streams", "stencils")]
    assert not stopwatch.misordered(ladders), "a pair that was in order is so no more"


def test_the_page_names_the_pair_in_the_wrong_order():
    (said,) = (line for line in PAGE.read_text("utf-8").splitlines() if "The wrong order" in line)
    (pair,) = stopwatch.misordered(list(points()))
    assert "one is predicted in the wrong order" in said
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
