"""The fusion widget's Python side: its arguments, and a chapter's own traces."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from support import elementwise

from warpwise import cuda, trace
from warpwise.errors import LaunchError
from warpwise.views import fusion
from warpwise.views.view import shown


@cuda.jit
def nothing(x):
    cuda.syncthreads()


def moved(sentence: str) -> list[int]:
    """Return four numbers of bytes: unfused so far and in all, fused so far and in all."""
    words = [word.strip(";.") for word in sentence.replace(",", "").split()]
    return [
        int(words[i + step]) for i, word in enumerate(words) if word == "moved" for step in (1, 3)
    ]


@pytest.mark.parametrize("operations", fusion.LABELS)
@pytest.mark.parametrize("dtype", fusion.ITEMSIZES)
def test_bytes_are_those_of_traced_kernels_after_each_of_them(operations: str, dtype: str):
    n = 1030
    apart, fused = elementwise.launches(operations, n, dtype, length=3)
    for step in range(len(apart) + 1):
        view = fusion.explorer(operations, 3, n, dtype, step)
        one = elementwise.moved([fused])
        assert moved(view.sentence) == [
            elementwise.moved(apart[:step]),
            elementwise.moved(apart),
            one if step else 0,
            one,
        ]


def test_own_traces_are_counted_as_they_are():
    apart, fused = elementwise.launches("trig", 500)
    view = fusion.of_traces(apart, fused)
    assert moved(view.sentence) == [22000, 22000, 4000, 4000]
    assert "at most 5.5 times as fast" in view.sentence
    names = [kernel["names"][0] for way in view.data["traced"] for kernel in way]
    assert names == ["sine", "cosine", "square", "square", "add", "trig_fused"]


def test_a_fused_kernel_that_loads_twice_gains_less():
    apart, _ = elementwise.launches("trig", 128)
    assert "at most 3.67 times as fast" in fusion.of_traces(apart, loading_twice(128)).sentence


def test_more_bytes_after_fusion_than_before_are_said():
    _, fused = elementwise.launches("trig", 128)
    view = fusion.of_traces([fused], loading_twice(128))
    assert "at most 0.67 times as fast" in view.sentence
    assert moved(view.sentence) == [1024, 1024, 1536, 1536]


def test_long_names_are_cut():
    view = fusion.of_traces([loading_twice(64)], loading_twice(64))
    assert view.data["traced"][0][0]["names"] == ["trig_fused_loa…"]


def loading_twice(n: int):
    x = np.ones(n, np.float32)
    return trace(elementwise.trig_fused_loading_twice, n // 64, 64, x, np.zeros_like(x), record=())


def test_the_bound_is_the_ratio_of_accesses():
    for name, bound in {"trig": "5.5", "silu": "2.5", "axpy": "1.67"}.items():
        assert f"at most {bound} times as fast" in fusion.explorer(name).sentence
    for length in range(2, 9):
        assert f"at most {length} times as fast" in fusion.explorer("chain", length).sentence
    assert "fusion gains nothing" in fusion.explorer("chain", 1).sentence


def test_it_begins_with_exactly_the_elements_that_were_asked_for():
    sizes = fusion.explorer(n=1_000_000).data["sizes"]
    assert sizes[20] == 1_000_000 and sizes[19] == 2**19
    for n in (1025, 1500, 3 * 2**20, 2**26 - 1):
        assert all(
            low < high for low, high in pairwise(fusion.explorer(n=n).data["sizes"].values())
        )


@pytest.mark.parametrize("step", [0, 1])
def test_one_kernel_and_no_kernel_are_said_in_good_english(step: int):
    view = fusion.explorer("chain", 1, step=step)
    assert f"{step} of 1 unfused kernel {('have', 'has')[step]} run" in view.sentence


@pytest.mark.parametrize("width", [280, 320, 560, 561, 760])
def test_the_picture_keeps_to_its_width(width: int):
    view = fusion.explorer("chain", 8)
    assert f'width="{width}"' in shown("fusion", view.data, view.values, width)["picture"][:120]


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"operations": "tan"}, "trig, silu, axpy, chain"),
        ({"dtype": "int8"}, "float16, float32, float64"),
        ({"length": 9}, "1 to 8"),
        ({"n": 100}, "1024"),
        ({"n": 2**26 + 1}, "67,108,864"),
        ({"n": 2048.5}, "whole number"),
        ({"step": 6}, "0 to 5"),
        ({"operations": "chain", "length": 2, "step": 3}, "0 to 2"),
    ],
)
def test_what_cannot_be_is_named(wrong: dict, says: str):
    with pytest.raises(LaunchError, match=says):
        fusion.explorer(**wrong)


def test_launches_that_cannot_be_shown_are_named():
    apart, fused = elementwise.launches("axpy", 64)
    with pytest.raises(LaunchError, match="number of unfused launches is 0"):
        fusion.of_traces([], fused)
    with pytest.raises(LaunchError, match="1 to 8"):
        fusion.of_traces([apart[0]] * 9, fused)
    with pytest.raises(LaunchError, match="move nothing"):
        fusion.of_traces(apart, trace(nothing, 1, 32, np.zeros(32)))
