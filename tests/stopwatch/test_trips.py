"""Control flow, and how often a warp runs each part of it: found from what a line counted."""

from __future__ import annotations

from collections import Counter

import pytest

from warpwise.stopwatch.flow import END, ENTRY, Edge, Flow, flow_of
from warpwise.stopwatch.sass import read
from warpwise.stopwatch.trips import trips_of, work_of
from warpwise.stopwatch.walk import blocks_in_turn, long_loop, stream, with_passes
from warpwise.toolchain import Instruction

LOAD, OTHER, STORE, MEET = 1, 2, 3, 4  # source lines


def flow(text: str) -> tuple[Flow, list[int]]:
    """Read lines such as ``.L_x_1: 2| FADD R1, R2, R3``: a label and a line if there are any."""
    found = []
    for address, row in enumerate(text.strip().splitlines()):
        label, _, rest = row.strip().rpartition(": ")
        line, _, code = rest.rpartition("| ")
        found.append(Instruction(address, code, "", int(line or 0), label))
    ops = [read(one) for one in found]
    return flow_of(ops), [op.line for op in ops]


def walked(text: str, counts: dict) -> list[int]:
    """Return how often each instruction runs."""
    made, lines = flow(text)
    trips = trips_of(made, work_of(made, lines), counts)
    numbers = Counter(stream(made, trips, blocks_in_turn(made, trips)).tolist())
    return [numbers[i] for i in range(len(made.ops))]


UNROLLED = """
    MOV R1, RZ
    @P0 BRA `(.L_x_2)
.L_x_1: 1| LDG.E R2, [R4.64]
    1| LDG.E R3, [R4.64+0x4]
    1| LDG.E R2, [R4.64+0x8]
    1| LDG.E R3, [R4.64+0xc]
    @P1 BRA `(.L_x_1)
.L_x_2: @P2 BRA `(.L_x_4)
.L_x_3: 1| LDG.E R2, [R4.64]
    @P3 BRA `(.L_x_3)
.L_x_4: 3| STG.E [R6.64], R2
    EXIT
"""


@pytest.mark.parametrize("trips", [1, 3, 4, 5, 8, 10, 403])
def test_an_unrolled_loop_runs_as_often_as_it_can(trips: int):
    """Four loads in each trip of one loop, and one in each of the remainder's."""
    counts = {(LOAD, "global load"): 4.0 * trips, (STORE, "global store"): 4.0}
    main, rest = divmod(trips, 4)
    found = walked(UNROLLED, counts)
    assert found[2:9] == [main] * 5 + [1] + [rest]
    assert found[-2:] == [1, 1]


def test_merged_loads_count_by_their_bytes():
    code = """
.L_x_1: 1| LDS.128 R4, [R2]
    @P1 BRA `(.L_x_1)
    EXIT
"""
    assert walked(code, {(LOAD, "shared load"): 4.0 * 32}) == [8, 8, 1]


NESTED = """
.L_x_1: 1| LDG.E R2, [R4.64]
.L_x_2: 2| FFMA R2, R3, R4, R2
    2| FFMA R2, R3, R4, R2
    @P1 BRA `(.L_x_2)
    4| BAR.SYNC 0x0
    @P2 BRA `(.L_x_1)
    EXIT
"""


def test_an_inner_loop_is_walked_in_every_trip_of_the_outer_one():
    made, lines = flow(NESTED)
    counts = {(LOAD, "global load"): 12.0, (OTHER, "flops fp32"): 24.0, (MEET, "barrier"): 3.0}
    trips = trips_of(made, work_of(made, lines), counts)
    assert trips.worst == pytest.approx(0)
    assert blocks_in_turn(made, trips) == [0, 1, 1, 2, 0, 1, 1, 2, 0, 1, 1, 2, 3]


def test_nobody_goes_round_a_loop_that_was_not_entered():
    """Ten thousand loads that only the second loop could explain, behind a way that has to be
    taken."""
    found = walked(UNROLLED, {(LOAD, "global load"): 40_000.0, (STORE, "global store"): 4.0})
    assert found[2] == 2500 and found[1] == 1


def test_a_guarded_access_is_run_only_as_often_as_it_was_counted():
    code = """
.L_x_1: @P0 LDS R2, [R4]
    @P1 BRA `(.L_x_1)
    EXIT
""".replace("@P0 LDS", "1| @P0 LDS").replace("@P1 BRA", "4| BAR.SYNC 0x0\n    @P1 BRA")
    made, lines = flow(code)
    counts = {(LOAD, "shared load"): 12.0, (MEET, "barrier"): 8.0}
    trips = trips_of(made, work_of(made, lines), counts)
    numbers = Counter(stream(made, trips, blocks_in_turn(made, trips)).tolist())
    assert (numbers[0], numbers[0 + len(made.ops)]) == (3, 5)


def test_lanes_that_part_run_both_sides():
    code = """
    @P0 BRA `(.L_x_1)
    1| LDG.E R2, [R4.64]
    BRA `(.L_x_2)
.L_x_1: 2| LDG.E R2, [R6.64]
.L_x_2: 3| STG.E [R6.64], R2
    EXIT
"""
    both = {(1, "global load"): 4.0, (2, "global load"): 4.0, (3, "global store"): 4.0}
    assert walked(code, both) == [1, 1, 1, 1, 1, 1]
    assert walked(code, both | {(2, "global load"): 0.0}) == [1, 1, 1, 0, 1, 1]


def test_a_guarded_exit_ends_the_warp_or_does_not():
    code = """
    @P0 EXIT
    1| LDG.E R2, [R4.64]
    EXIT
"""
    assert walked(code, {(LOAD, "global load"): 4.0}) == [1, 1, 1]
    assert walked(code, {(LOAD, "global load"): 0.0}) == [1, 0, 0]


def test_edges_lead_where_branches_say():
    made, _ = flow(NESTED)
    ways = {(e.start, e.end) for e in made.edges if not e.parted}
    assert ways == {(ENTRY, 0), (0, 1), (1, 1), (1, 2), (2, 0), (2, 3), (3, END)}
    assert made.loops() == ((0, 2), (1, 1))
    assert Edge(2, 0).back and not Edge(ENTRY, 0).back


def test_a_long_walk_is_cut_at_the_loop_that_repeats():
    order = [0] + [1, 2] * 30_000 + [3]
    assert long_loop([order], [1, 1, 1, 1]) == 1
    assert long_loop([order[:20]], [1, 1, 1, 1]) is None
    assert with_passes(order, 1, 6) == [0] + [1, 2] * 6 + [3]


def test_a_walk_gets_more_rounds_of_the_loop_than_it_has():
    order = [0] + [1, 2] * 20 + [3]
    assert with_passes(order, 1, 25) == [0] + [1, 2] * 25 + [3]
    assert with_passes(order, 1, 20) == order


def test_a_loop_that_ends_in_its_middle_is_counted_where_its_work_is():
    """Block 1 runs in every round, and block 2, which leads back, in all but the last."""
    order = [0] + [1, 2] * 15 + [1, 3]
    assert long_loop([order], [5, 90, 1, 5], always=True) == 1
    assert long_loop([order], [5, 1, 90, 5], always=True) == 2
    assert with_passes(order, 1, 18) == [0] + [1, 2] * 17 + [1, 3]


def test_a_predicate_that_is_computed_anew_guards_by_itself():
    """The first load runs in one trip of four, the second in three."""
    code = """
.L_x_1: ISETP.NE.AND P0, PT, R1, RZ, PT
    1| @P0 LDS R2, [R4]
    ISETP.NE.AND P0, PT, R3, RZ, PT
    2| @P0 LDS R2, [R6]
    4| BAR.SYNC 0x0
    @P1 BRA `(.L_x_1)
    EXIT
"""
    made, lines = flow(code)
    assert made.guards[:4] == ("", "@P0 2", "", "@P0 3")
    counts = {(1, "shared load"): 4.0, (2, "shared load"): 12.0, (MEET, "barrier"): 4.0}
    trips = trips_of(made, work_of(made, lines), counts)
    assert trips.worst == pytest.approx(0)
    numbers = Counter(stream(made, trips, blocks_in_turn(made, trips)).tolist())
    assert (numbers[1], numbers[3]) == (1, 3)


@pytest.mark.parametrize(("second", "missed"), [(2, 0.0), (9, 0.5)])
def test_neighbouring_lines_that_a_compiler_confuses_cancel_out(second: int, missed: float):
    """Of three stores it says that two are of line 1, of which the trace has one."""
    made, lines = flow(f"""
    1| STS [R2], R4
    1| STS [R2+0x4], R5
    {second}| STS [R2+0x8], R5
    EXIT
""")
    counts = {(1, "shared store"): 4.0, (second, "shared store"): 8.0}
    assert trips_of(made, work_of(made, lines), counts).worst == pytest.approx(missed)


def test_loads_of_values_that_the_compiler_has_are_not_missed():
    code = """
    1| LDS R2, [R4]
    1| FFMA R2, R3, R4, R2
    1| STS [R6], R2
    EXIT
"""
    made, lines = flow(code)
    counts = {(1, "shared load"): 8.0, (1, "flops fp32"): 2.0, (1, "shared store"): 4.0}
    assert trips_of(made, work_of(made, lines), counts).worst == pytest.approx(0)


def test_a_line_whose_loads_the_compiler_names_by_its_neighbour_is_not_missed():
    """Of eight numbers two lines add up, all loaded at once, and one line has no instruction."""
    code = """
    2| LDS.128 R4, [R2]
    2| LDS.128 R8, [R2+0x10]
    EXIT
"""
    made, lines = flow(code)
    counts = {(1, "shared load"): 4.0, (2, "shared load"): 28.0}
    assert trips_of(made, work_of(made, lines), counts).worst == pytest.approx(0)


def test_a_loop_within_a_short_one_is_not_what_a_walk_repeats():
    """Its passes come sixteen at a time, with another loop's between."""
    order = [0] + ([1] * 16 + [2] * 16) * 8 + [3]
    assert long_loop([order], [5, 300, 300, 5]) is None
    assert long_loop([order], [5, 3000, 3000, 5]) is not None  # too long to be run whole


#: Eight loads before each barrier: by one alone, and by a loop of two at a time, or by either.
BY_TWO_WAYS = """
    MOV R1, RZ
.L_x_1: @P0 BRA `(.L_x_2)
    1| LDG.E R2, [R4.64]
.L_x_2: @P1 BRA `(.L_x_4)
.L_x_3: 1| LDG.E R2, [R4.64]
    1| LDG.E R3, [R4.64+0x4]
    MOV R5, R2
    MOV R6, R3
    @P2 BRA `(.L_x_3)
.L_x_4: 4| BAR.SYNC.DEFER_BLOCKING 0x0
    @P3 BRA `(.L_x_1)
    EXIT
"""


def loads_between_barriers(between: dict) -> list[int]:
    """Return how many loads a walk has before each of 16 barriers."""
    made, lines = flow(BY_TWO_WAYS)
    counts = {(LOAD, "global load"): 4.0 * 8 * 16, (MEET, "barrier"): 16.0}
    trips = trips_of(made, work_of(made, lines), counts, between)
    names = [made.ops[i].name for i in stream(made, trips, blocks_in_turn(made, trips))]
    return [part.split().count("LDG") for part in " ".join(names).split("BAR")[:-1]]


def test_a_loop_goes_round_no_more_often_than_is_counted_between_two_barriers():
    """Without that, all its rounds could be before one of the barriers."""
    assert max(loads_between_barriers({})) > 50
    found = loads_between_barriers({(LOAD, "global load"): 4.0 * 8})
    assert sum(found) == 8 * 16 and len(found) == 16 and max(found) <= 9


def test_a_loop_that_is_to_be_longer_is_the_one_that_takes_most_of_the_walk():
    """Four rounds of it, each with eight of another one within; or a short one before it."""
    lengths = [10, 20, 30, 10, 5]
    rounds = [1, *[2] * 8, 3] * 4
    assert long_loop([[0, *rounds, 4]], lengths, always=True) == 1
    assert long_loop([[0, *rounds, 4]], lengths) is None
    assert long_loop([[*[0] * 3, *[2] * 40, 4]], lengths, always=True) == 2
