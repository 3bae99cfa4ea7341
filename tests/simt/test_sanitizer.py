"""Races and unwritten reads of shared memory, found in racy kernels and not in their twins."""

import re

import numpy as np
import pytest
from numba import complex128, cuda
from support.cells import cells

from warpwise import trace
from warpwise.errors import UnwrittenReadError
from warpwise.simt import kernels_in

HEAD = """
import numpy as np
from numba import cuda
T = 64

@cuda.jit
def kernel(x, out):
    s = cuda.shared.array(T, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
"""

# Each pair: a racy body, with "# race" on its two lines (or its one line), and the same with its
# mistake mended.
PAIRS = {
    "no barrier before reading others' elements": (
        """
        s[t] = x[i]  # race
        out[i] = s[T - 1 - t]  # race
        """,
        """
        s[t] = x[i]
        cuda.syncthreads()
        out[i] = s[T - 1 - t]
        """,
    ),
    "tile loop without its first barrier": (
        """
        total = np.float32(0)
        for k in range(4):
            s[t] = x[i] + k  # race
            for j in range(8):
                total += s[j]  # race
            cuda.syncthreads()
        out[i] = total
        """,
        """
        total = np.float32(0)
        for k in range(4):
            s[t] = x[i] + k
            cuda.syncthreads()
            for j in range(8):
                total += s[j]
            cuda.syncthreads()
        out[i] = total
        """,
    ),
    "tile loop without its second barrier": (
        """
        total = np.float32(0)
        for k in range(4):
            s[t] = x[i] + k  # race
            cuda.syncthreads()
            for j in range(8):
                total += s[j]  # race
        out[i] = total
        """,
        """
        total = np.float32(0)
        for k in range(4):
            s[t] = x[i] + k
            cuda.syncthreads()
            for j in range(8):
                total += s[j]
            cuda.syncthreads()
        out[i] = total
        """,
    ),
    "reduction without a barrier in its loop": (
        """
        s[t] = x[i]
        cuda.syncthreads()
        n = T // 2
        while n > 0:
            if t < n:
                s[t] += s[t + n]  # race
            n //= 2
        out[i] = x[i]
        """,
        """
        s[t] = x[i]
        cuda.syncthreads()
        n = T // 2
        while n > 0:
            if t < n:
                s[t] += s[t + n]
            cuda.syncthreads()
            n //= 2
        out[i] = x[i]
        """,
    ),
    "two lanes write one element": (
        """
        s[t // 2] = x[i]  # race
        cuda.syncthreads()
        out[i] = s[t // 2]
        """,
        """
        if t % 2 == 0:
            s[t // 2] = x[i]
        cuda.syncthreads()
        out[i] = s[t // 2]
        """,
    ),
    "a neighbour is read while it is overwritten": (
        """
        s[t] = x[i]
        cuda.syncthreads()
        if t > 0:
            s[t] = s[t - 1]  # race
        cuda.syncthreads()
        out[i] = s[t]
        """,
        """
        s[t] = x[i]
        cuda.syncthreads()
        left = s[t - 1] if t > 0 else s[0]
        cuda.syncthreads()
        s[t] = left
        cuda.syncthreads()
        out[i] = s[t]
        """,
    ),
    "a read, then another thread's write": (
        """
        s[t] = x[i]
        cuda.syncthreads()
        if t == 0:
            out[i] = s[5]  # race
        if t == 5:
            s[t] = 1.0  # race
        """,
        """
        s[t] = x[i]
        cuda.syncthreads()
        if t == 5:
            out[i] = s[5]
        if t == 5:
            s[t] = 1.0
        """,
    ),
    "lanes of one warp do not wait for each other either": (
        """
        if t < 32:
            s[t] = x[i]  # race
            out[i] = s[31 - t]  # race
        """,
        """
        if t < 32:
            s[t] = x[i]
            out[i] = s[t]
        """,
    ),
    "an index that collides in one block only": (
        """
        s[t if cuda.blockIdx.x != 2 else 0] = x[i]  # race
        cuda.syncthreads()
        out[i] = s[0]
        """,
        """
        s[(t + cuda.blockIdx.x) % T] = x[i]
        cuda.syncthreads()
        out[i] = s[0]
        """,
    ),
    "a barrier that one block passes by": (
        """
        s[t] = x[i]  # race
        if cuda.blockIdx.x != 1:
            cuda.syncthreads()
        out[i] = s[T - 1 - t]  # race
        """,
        """
        s[t] = x[i]
        for k in range(cuda.blockIdx.x + 1):
            cuda.syncthreads()
        out[i] = s[T - 1 - t]
        """,
    ),
    "a barrier that one block passes by, between reading and writing": (
        """
        s[t] = x[i]
        cuda.syncthreads()
        v = s[T - 1 - t]  # race
        if cuda.blockIdx.x != 1:
            cuda.syncthreads()
        s[t] = v  # race
        """,
        """
        s[t] = x[i]
        cuda.syncthreads()
        v = s[T - 1 - t]
        if cuda.blockIdx.x != 1:
            cuda.syncthreads()
            s[t] = v
        """,
    ),
    "two lanes read what one of them overwrites": (
        """
        s[t] = x[i]
        cuda.syncthreads()
        v = s[t | 1]  # race
        if t % 2:
            s[t] = 2 * v  # race
        """,
        """
        s[t] = x[i]
        cuda.syncthreads()
        v = s[t | 1]
        cuda.syncthreads()
        if t % 2:
            s[t] = 2 * v
        """,
    ),
    "the threads that are left, after others returned": (
        """
        if t >= 32:
            return
        s[t] = x[i]  # race
        out[i] = s[31 - t]  # race
        """,
        """
        if t >= 32:
            return
        s[t] = x[i]
        cuda.syncthreads()
        out[i] = s[31 - t]
        """,
    ),
}


def run(body: str, blocks: int = 3, threads: int = 64):
    kernel = kernels_in(HEAD + re.sub("^    ", "", body.strip("\n"), flags=re.MULTILINE))["kernel"]
    x = np.arange(blocks * threads, dtype=np.float32)
    return trace(kernel, blocks, threads, x, np.zeros_like(x))


def marked_lines(t) -> set[int]:
    return {line for line, text in t.source.items() if text.endswith("# race")}


@pytest.mark.parametrize("name", PAIRS)
def test_a_race_is_found_on_its_lines(name):
    t = run(PAIRS[name][0])
    assert t.races
    race = t.races[0]
    assert {race.first.line, race.second.line} == marked_lines(t)
    assert race.first.thread != race.second.thread
    assert race.first.writes or race.second.writes
    assert race.array == "s" and race.space == "shared"


@pytest.mark.parametrize("name", PAIRS)
def test_the_correct_twin_is_left_alone(name):
    assert run(PAIRS[name][1]).races == ()


def test_a_race_names_both_threads_both_lines_their_text_and_what_to_try():
    (race,) = run(PAIRS["no barrier before reading others' elements"][0]).races
    assert str(race) == (
        "race on s[63] in shared memory: thread (63, 0, 0) of block (0, 0, 0) writes it on line "
        "10, thread (0, 0, 0) of the same block reads it on line 11, and nothing orders the two\n"
        "  at line 10 of the cell that defines kernel\n"
        "    s[t] = x[i]  # race\n"
        "  at line 11 of the cell that defines kernel\n"
        "    out[i] = s[T - 1 - t]  # race\n"
        "  Try: cuda.syncthreads() between the two, where all threads of the block pass"
    )


@pytest.mark.parametrize(
    ("name", "block"),
    [("an index that collides in one block only", 2), ("a barrier that one block passes by", 1)],
)
def test_a_race_names_its_block(name, block):
    assert {race.block for race in run(PAIRS[name][0]).races} == {(block, 0, 0)}


def test_a_race_of_a_two_dimensional_array_has_two_indices():
    text = """
from numba import cuda, float32
@cuda.jit
def kernel(x):
    tile = cuda.shared.array((8, 9), float32)
    tile[cuda.threadIdx.y, cuda.threadIdx.x] = 1
    x[cuda.threadIdx.y, cuda.threadIdx.x] = tile[cuda.threadIdx.x, cuda.threadIdx.y]
"""
    (race,) = trace(kernels_in(text)["kernel"], 1, (8, 8), np.zeros((8, 8), np.float32)).races
    assert race.index == (4, 0)  # the first race between two warps
    assert {race.first.thread, race.second.thread} == {(0, 4, 0), (4, 0, 0)}


def test_one_store_races_with_those_of_both_sides_of_a_branch():
    t = run("""
        if t < 32:
            s[t] = 1  # race
        else:
            s[t] = 2  # race
        s[(t + 32) % 64] = 3  # race
        out[i] = 0
        """)
    assert {race.first.line for race in t.races} | {t.races[0].second.line} == marked_lines(t)
    assert len(t.races) == 2 and len({race.second.line for race in t.races}) == 1


WITHIN = """
    s[t] = x[i]
    out[i] = s[t ^ 1]
"""
READ_BY_ALL = """
    s[t] = x[i]
    cuda.syncthreads()
    total = np.float32(0)
    for k in range(T):
        total += s[k]
    if t == 40:
        s[t] = total
    out[i] = total
"""


@pytest.mark.parametrize(
    ("body", "lines", "scope"),
    [
        (WITHIN, ("s[t] = x[i]", "out[i] = s[t ^ 1]"), "warp"),
        # the last reader of s[40] is of its writer's warp, and others before it are not
        (READ_BY_ALL, ("total += s[k]", "s[t] = total"), "block"),
        # two pairs of lines, of which only the later one crosses warps
        (
            WITHIN + "    s[T - 1 - t] = out[i]\n",
            ("out[i] = s[t ^ 1]", "s[T - 1 - t] = out[i]"),
            "block",
        ),
    ],
)
def test_a_race_is_shown_between_two_warps_if_there_is_one(body, lines, scope):
    """And a syncwarp is advised only where no race on the array is between two warps."""
    kernel = kernels_in(HEAD + body)["kernel"]
    x = np.arange(64, dtype=np.float32)
    races = trace(kernel, 1, 64, x, np.zeros_like(x)).races
    assert (races[0].first.text, races[0].second.text) == lines
    assert races[0].scope == scope
    for race in races:
        assert "cuda.syncthreads()" in race.try_this
        assert ("syncwarp" in race.try_this) == (scope == "warp")


LOAD = """
@cuda.jit(device=True)
def load(tile, x):
    t = cuda.threadIdx.x
    tile[t] = x[t]
"""
CALLS = """
@cuda.jit
def kernel(x, out):
    tile = cuda.shared.array(64, np.float32)
    t = cuda.threadIdx.x
    for _ in range(2):
        load(tile, x)
        {first}
        out[t] = tile[63 - t]
        {second}
"""


@pytest.mark.parametrize(("missing", "next_trip"), [("first", False), ("second", True)])
def test_a_line_of_another_cell_is_named_with_its_function(missing, next_trip):
    barriers = dict.fromkeys(("first", "second"), "cuda.syncthreads()") | {missing: "pass"}
    kernel = cells(LOAD, CALLS.format(**barriers))["kernel"]
    x = np.arange(64, dtype=np.float32)
    (race,) = trace(kernel, 1, 64, x, np.zeros_like(x)).races
    assert "writes it on line 5 of load" in race.what and "reads it on line 9" in race.what
    # it is called before the line that reads, so that a later write is of the next trip
    assert ("line 5 of load is in the next trip of a loop" in race.try_this) == next_trip
    assert "next trip" in race.try_this or not next_trip


def test_a_pair_of_lines_is_told_once():
    assert len(run(PAIRS["tile loop without its second barrier"][0], blocks=20).races) == 1


UNWRITTEN = {
    "the upper part": """
        if t < 40:
            s[t] = x[i]
        cuda.syncthreads()
        out[i] = s[t]  # thread 40, element 40
        """,
    "in one block only": """
        if cuda.blockIdx.x != 1:
            s[t] = x[i]
        cuda.syncthreads()
        out[i] = s[63 - t]  # thread 0, element 63
        """,
    "with +=": """
        s[t] += x[i]  # thread 0, element 0
        """,
}


@pytest.mark.parametrize("name", UNWRITTEN)
def test_an_unwritten_read_names_thread_element_and_line(name):
    body = UNWRITTEN[name]
    thread, element = re.search(r"# thread (\d+), element (\d+)", body).groups()
    with pytest.raises(UnwrittenReadError) as caught:
        run(body)
    assert f"s[{element}] is read, but nothing was written there" in str(caught.value)
    assert caught.value.where.thread == (int(thread), 0, 0)
    assert caught.value.where.block == ((1, 0, 0) if "one block" in name else (0, 0, 0))
    assert "# thread" in caught.value.where.text


def test_a_new_block_starts_unwritten():
    """A block's shared memory is gone for the next, whether blocks run together or in turn."""
    body = """
        if cuda.blockIdx.x == 0:
            s[t] = x[i]
        cuda.syncthreads()
        out[i] = s[t]
        """
    for blocks in (2, 2000):
        with pytest.raises(UnwrittenReadError) as caught:
            run(body, blocks=blocks)
        assert caught.value.where.block == (1, 0, 0)


def test_unwritten_local_memory_is_found_too():
    text = """
from numba import cuda, float32
@cuda.jit
def kernel(out):
    mine = cuda.local.array(4, float32)
    i = cuda.grid(1)
    if i != 5:
        mine[2] = i
    out[i] = mine[2]
"""
    with pytest.raises(UnwrittenReadError, match="mine") as caught:
        trace(kernels_in(text)["kernel"], 1, 8, np.zeros(8, np.float32))
    assert caught.value.where.thread == (5, 0, 0)


@cuda.jit
def halves_of_a_number(a, out, last):
    """``last``: false leaves one imaginary part unwritten."""
    i = cuda.grid(1)
    mine = cuda.local.array(2, complex128)
    mine[0] = a[i]
    mine.real[1] = a.real[i]
    if last:
        mine.imag[1] = a.imag[i]
    out[i] = mine[1] + mine.imag[0]


def test_parts_of_local_numbers_are_written_one_by_one():
    a = np.arange(64) * (1 + 2j)
    out = np.zeros_like(a)
    trace(halves_of_a_number, 2, 32, a, out, True)
    np.testing.assert_array_equal(out, a + a.imag)
    with pytest.raises(UnwrittenReadError, match=r"mine is read"):
        trace(halves_of_a_number, 2, 32, a, out, False)
