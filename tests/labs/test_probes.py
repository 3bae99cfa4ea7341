"""What is found out about the inputs of a wrong result, with time enough, and what is let be."""

from __future__ import annotations

import time

import numpy as np
import pytest

from warpwise import cuda
from warpwise.labs import Call, InOut, Launch, Out
from warpwise.labs.differences import EXTRA, MISSING, UNTRIED, UNUSED, USED, Difference
from warpwise.labs.probes import difference

ENOUGH = 1000  #: seconds that no search here comes near
RNG = np.random.default_rng(21)


def product(a, b):
    return (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float32)


def product_launch(m: int, k: int, n: int, side: int = 4, **changes) -> Launch:
    a, b = RNG.random((m, k), dtype=np.float32), RNG.random((k, n), dtype=np.float32)
    fields = {
        "label": f"{m}, {k}, {n}",
        "blocks": (-(-n // side), -(-m // side)),
        "threads": (side, side),
        "args": (a, b, Out((m, n))),
        "want": (product(a, b),),
        "rtol": 1e-5,
        "reference": product,
    }
    return Launch(**fields | changes)


def vector_launch(reference, *inputs, n: int = 12, **changes) -> Launch:
    """Return a launch of a kernel that takes these inputs, and then an output of n floats."""
    fields = {
        "label": "a vector",
        "blocks": 1,
        "threads": 32,
        "args": (*inputs, Out(n)),
        "want": (reference(*inputs),),
        "rtol": 1e-5,
        "reference": reference,
    }
    return Launch(**fields | changes)


def said(target, case) -> str:
    found = difference(target, case, ENOUGH)
    return found.say() if found else ""


@cuda.jit
def last_step_forgotten(a, b, c):
    col, row = cuda.grid(2)
    if row < c.shape[0] and col < c.shape[1]:
        total = np.float32(0)
        for k in range(a.shape[1] - 1):
            total += a[row, k] * b[k, col]
        c[row, col] = total


def test_a_forgotten_last_step_is_named_on_both_sides_of_the_product():
    found = difference(last_step_forgotten, product_launch(6, 9, 7), ENOUGH)
    assert found.say() == "c[0, 0] should depend on a[0, 8] and does not (nor on b[8, 0])"
    assert (found.cells["a"][0] == [USED] * 8 + [MISSING]).all()
    assert (found.cells["a"][1:] == UNUSED).all() and (found.cells["b"][:, 1:] == UNUSED).all()
    assert found.wrong


@cuda.jit
def read_transposed(a, b, c):
    col, row = cuda.grid(2)
    total = np.float32(0)
    for k in range(a.shape[1]):
        total += a[k, row] * b[k, col]
    c[row, col] = total


def test_a_transposed_read_misses_a_row_and_has_a_column_too_many():
    found = difference(read_transposed, product_launch(8, 8, 8), ENOUGH)
    assert found.say() == (
        "c[0, 0] should depend on a[0, 1] and does not (nor on others: a[0, 2] to a[0, 7]); "
        "it depends on a[1, 0], and should not (nor on others: a[2, 0] to a[7, 0])"
    )
    assert (found.cells["a"][1:, 0] == EXTRA).all() and found.cells["a"][0, 0] == USED


@cuda.jit
def whole_tiles_only(a, b, c):
    tile_a = cuda.shared.array((4, 4), np.float32)
    tile_b = cuda.shared.array((4, 4), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    total = np.float32(0)
    for start in range(0, a.shape[1] // 4 * 4, 4):
        tile_a[y, x] = a[row, start + x]
        tile_b[y, x] = b[start + y, col]
        cuda.syncthreads()
        for k in range(4):
            total += tile_a[y, k] * tile_b[k, x]
        cuda.syncthreads()
    c[row, col] = total


def test_whole_tiles_only_miss_what_is_behind_the_last_whole_one():
    assert said(whole_tiles_only, product_launch(8, 11, 4)) == (
        "c[0, 0] should depend on a[0, 8] and does not "
        "(nor on others: a[0, 9] to a[0, 10], b[8, 0] to b[10, 0])"
    )


def sums_before(k):
    """Element i is the sum of k[: i + 1]."""
    return np.cumsum(k, dtype=np.float64).astype(np.float32)


@cuda.jit
def mask_off_by_one(k, o):
    i = cuda.grid(1)
    if i < k.size:
        total = np.float32(0)
        for j in range(k.size):
            if j <= i + 1:
                total += k[j]
        o[i] = total


@cuda.jit
def mask_hides_itself(k, o):
    i = cuda.grid(1)
    if i < k.size:
        total = np.float32(0)
        for j in range(i):
            total += k[j]
        o[i] = total


def test_a_mask_off_by_one_is_told_from_either_side():
    launch = vector_launch(sums_before, RNG.normal(size=12).astype(np.float32))
    assert said(mask_off_by_one, launch) == "o[0] depends on k[1], and should not"
    assert said(mask_hides_itself, launch) == "o[0] should depend on k[0] and does not"


@cuda.jit
def second_input_forgotten(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        total = np.float32(0)
        for j in range(x.size):
            total += x[j]
        out[i] = total


def with_all(x, y):
    return np.full(12, x.sum() + y.sum(), np.float32)


def test_an_input_that_is_not_used_at_all_is_told_with_how_much_of_it_should_be():
    x, y = RNG.random((2, 12), dtype=np.float32)
    told = said(second_input_forgotten, vector_launch(with_all, x, y))
    assert told == "out[0] should depend on 12 elements of y and depends on none"


def test_without_a_reference_only_arrays_without_any_effect_are_told():
    x, y = RNG.random((2, 12), dtype=np.float32)
    launch = vector_launch(with_all, x, y)
    alone = Launch(**{**vars(launch), "reference": None})
    found = difference(second_input_forgotten, alone, ENOUGH)
    assert found.say() == "out does not depend on y at all" and not found.wrong
    assert difference(last_step_forgotten, product_launch(6, 9, 7, reference=None), ENOUGH) is None


@cuda.jit
def twice_the_product(a, b, c):
    col, row = cuda.grid(2)
    total = np.float32(0)
    for k in range(a.shape[1]):
        total += a[row, k] * b[k, col]
    c[row, col] = total + total


def test_wrong_arithmetic_on_the_right_inputs_is_said_to_be_that():
    found = difference(twice_the_product, product_launch(4, 6, 4), ENOUGH)
    assert found.say().startswith("c[0, 0] depends on exactly the inputs that it should: look at")
    assert not found.wrong and len(found.all(USED)) == 12 and not found.all(UNTRIED)


@cuda.jit
def scaled_gather(x, index, offsets, n, scale, out):
    i = cuda.grid(1)
    if i < n:
        out[i] = x[index[i]] + offsets[i]


def test_indices_offsets_and_lengths_are_left_alone_and_a_scale_is_not():
    """Changed by as little as one, each of the first three would leave its array."""
    index, offsets = np.array([11, 3, 7, 0], np.int32), np.array([0, 1, 1, 4], np.int32)

    def gathered(x, index, offsets, n, scale):
        assert index.tolist() == [11, 3, 7, 0] and offsets.tolist() == [0, 1, 1, 4] and n == 4
        return (scale * x[index] + offsets).astype(np.float32)

    x = RNG.random(12, dtype=np.float32)
    inputs = (x, index, offsets, 4, np.float32(3))
    found = difference(scaled_gather, vector_launch(gathered, *inputs, n=4), ENOUGH)
    assert found.say() == "out[0] should depend on scale and does not"
    assert found.cells.keys() == {"x", "scale"} and found.all(USED) == [("x", (11,))]


@cuda.jit
def counts_too_far(x, out):
    i = cuda.grid(1)
    if i < out.size:
        total = 0
        for j in range(x.size):
            if x[j] <= i:
                total += 1
        out[i] = total


def test_whole_numbers_become_others_of_their_range():
    """A value of 4 or more, or a negative one, would be an error of the reference."""
    x = np.array([0, 3, 1, 1, 0, 2, 3, 2, 2], np.int32)

    def histogram(x):
        if x.min() < 0 or x.max() > 3:
            raise AssertionError("not a value of this array")
        return np.bincount(x, minlength=4).astype(np.int32)

    launch = vector_launch(histogram, x, args=(x, Out(4, "int32")))
    found = difference(counts_too_far, launch, ENOUGH)
    assert found.element == "out[1]" and not found.all(UNTRIED)


@cuda.jit
def sum_but_the_last(x, out):
    if cuda.grid(1) == 0:
        total = 0
        for j in range(x.size - 1):
            total += x[j]
        out[0] = total


def test_changes_of_whole_numbers_that_cancel_out_hide_nothing():
    """Of zeros and ones every other number is the only other one: two changes often cancel."""
    x = np.array([0, 1, 0, 1, 1, 0, 0, 1], np.int32)
    total = lambda x: np.array([x.sum()], np.int32)  # noqa: E731
    launch = vector_launch(total, x, args=(x, Out(1, "int32")))
    found = difference(sum_but_the_last, launch, ENOUGH)
    assert found.say() == "out[0] should depend on x[7] and does not"
    assert found.cells["x"].tolist() == [USED] * 7 + [MISSING]


def picky(x):
    if x[2] != 0.5:
        raise ValueError("this one has to stay")
    return x[1:].sum()


def averaged(x, v):
    return np.float32([undivided(x, v)[0] / np.exp(x).sum()])


def undivided(x, v):
    return np.float32([np.exp(x) @ v])


def test_a_weight_that_changes_nothing_here_is_not_one_too_many():
    """The element that is the average itself moves no average, and yet counts."""
    x = RNG.normal(size=12)
    v = RNG.normal(size=12)
    v[5] = np.delete(np.exp(x) * v, 5).sum() / np.delete(np.exp(x), 5).sum()
    call = Call("twelve", (x, v), averaged(x, v), rtol=1e-5, reference=averaged)
    found = difference(undivided, call, ENOUGH)
    assert found is None or not found.wrong, found.say()


def shares(x):
    return (np.exp(x) / np.exp(x).sum()).astype(np.float32)


def tiny_shares(x):
    return shares(x) / np.float32(1e7)


def test_an_element_far_too_small_still_depends_on_its_inputs():
    x = RNG.normal(size=12)
    call = Call("twelve", (x,), shares(x), rtol=1e-5, reference=shares)
    found = difference(tiny_shares, call, ENOUGH)
    assert found is None or not found.wrong, found.say()


def test_inputs_whose_change_raises_are_skipped():
    x = np.array([-1.5, -1, 0.5, 1], np.float32)
    call = Call("four numbers", (x,), float(x.sum()), rtol=1e-5, reference=lambda x: x.sum())
    found = difference(picky, call, ENOUGH)
    assert found.say() == "picky(...) should depend on x[0] and does not"
    assert found.cells["x"].tolist() == [MISSING, USED, UNTRIED, USED]


def running(x, scale):
    print("called")
    return np.cumsum(x[:-1]), scale * x


def test_a_function_is_called_again_in_silence(capsys):
    x = RNG.normal(size=5)
    reference = lambda x, scale: (np.cumsum(x)[:4] + x[4], scale * x)  # noqa: E731
    call = Call("five", (x, 2.0), reference(x, 2.0), rtol=1e-9, reference=reference)
    assert said(running, call) == "running(...)[0][0] should depend on x[4] and does not"
    assert capsys.readouterr().out == ""


@cuda.jit
def overwritten(y, g):
    i = cuda.grid(1)
    if i < y.size:
        y[i] = g[i]


def test_what_an_output_held_before_is_an_input():
    y, g = RNG.normal(size=(2, 12)).astype(np.float32)
    launch = vector_launch(np.add, y, g, args=(InOut(y), g))
    assert said(overwritten, launch) == "y[0] should depend on y[0] and does not"


@cuda.jit
def largest_of_all_but_the_last(x, out):
    i = cuda.grid(1)
    if i < out.size:
        best = x[0]
        for j in range(x.size - 1):
            best = max(best, x[j])
        out[i] = best


def test_a_maximum_depends_on_every_element_that_could_be_it():
    x = np.arange(9, dtype=np.float32)
    largest = lambda x: np.full(3, x.max(), np.float32)  # noqa: E731
    found = difference(largest_of_all_but_the_last, vector_launch(largest, x, n=3), ENOUGH)
    assert found.say() == "out[0] should depend on x[8] and does not"


@pytest.mark.parametrize("seconds", [0, 1e-6])
def test_nothing_is_said_when_the_time_is_used_up(seconds: float):
    assert difference(last_step_forgotten, product_launch(6, 9, 7), seconds) is None


def sleepless(x):
    end = time.process_time() + 60
    while x[0] != X0 and time.process_time() < end:
        pass
    return x[1:].sum()


X0 = np.float32(0.25)


def test_a_function_that_does_not_come_back_is_stopped():
    x = np.array([X0, 1, 2], np.float32)
    call = Call("three", (x,), float(x.sum()), rtol=1e-5, reference=lambda x: x.sum())
    began = time.process_time()
    difference(sleepless, call, seconds=0.2)
    assert time.process_time() - began < 30  # of sixty, for each call


def test_a_right_result_and_one_that_cannot_be_had_again_say_nothing():
    launch = product_launch(4, 6, 4)
    right = Launch(**{**vars(launch), "reference": product})
    assert difference(last_step_forgotten, Launch(**{**vars(right), "rtol": 1e9}), ENOUGH) is None
    other = Launch(**{**vars(launch), "reference": lambda a, b: product(a, b) + 1})
    assert difference(last_step_forgotten, other, ENOUGH) is None


@pytest.mark.parametrize(
    ("missing", "words"),
    [
        ([], ""),
        ([(0, 0)], "e should depend on a[0, 0] and does not"),
        ([(0, 0), (2, 1)], "e should depend on a[0, 0] and does not (nor on a[2, 1])"),
        (
            [(0, 0), (0, 1), (0, 3), (1, 3), (2, 3), (2, 2)],
            "e should depend on a[0, 0] and does not "
            "(nor on others: a[0, 1], a[0, 3] to a[1, 3], ...)",
        ),
    ],
)
def test_ranges_are_named_by_their_ends(missing: list, words: str):
    uses = np.full((3, 4), UNTRIED, "U7")
    for place in missing:
        uses[place] = MISSING
    assert Difference("e", {"a": uses}).say() == words


def test_what_may_stay_the_same_by_chance_is_not_called_unused():
    """The greatest of numbers that all grow is where it was, and 0 hides what it multiplies."""
    x = np.array([1.0, 5.0, 2.0])
    call = Call("three", (x,), 0)
    assert difference(lambda x: int(np.argmax(x)), call, ENOUGH) is None
    nothing = Call("nothing", (x, np.zeros(3)), x)
    assert difference(lambda x, d: x + np.where(d == 0, 1, d), nothing, ENOUGH) is None


def test_two_outputs_do_not_depend():
    unread = {"d": np.full(2, "unused")}
    assert Difference("o and L", unread, False).say() == "o and L do not depend on d at all"
    assert Difference("o", unread, False).say() == "o does not depend on d at all"
