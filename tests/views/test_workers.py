"""The workers widget without a browser: its numbers against a plain queue; and refusals."""

from __future__ import annotations

import heapq

import pytest

from warpwise.errors import LaunchError
from warpwise.views import workers
from warpwise.views.view import shown


def ends(tasks: int, count: int, seconds: int) -> list[int]:
    """Return when each task ends: it goes to the worker that is free first."""
    free, found = [0] * count, []
    for _ in range(tasks):
        found.append(heapq.heappop(free) + seconds)
        heapq.heappush(free, found[-1])
    return found


@pytest.mark.parametrize("slower", range(1, 5))
def test_its_numbers_are_those_of_a_queue(slower):
    opened = workers.explorer(slower=slower)
    for tasks in (1, 7, 8, 9, 16, 64, 65, 128):
        made = shown("workers", opened.data, {"tasks": tasks, "slower": slower})
        slow, fast = ends(tasks, slower**3, slower), ends(tasks, 1, 1)
        first, whole, _ = made["rows"]
        assert first[1:] == [f"{slow[0]} s", f"the fast worker's after {fast[0]} s"]
        assert whole[1:] == [f"{slow[-1]} s", f"the fast worker's after {fast[-1]} s"]
        assert made["picture"].count('class="two"') == tasks == made["picture"].count('class="one"')


def test_it_says_who_is_done_first():
    said = [workers.explorer(tasks, 4).shown["rows"][2][1] for tasks in (1, 4, 5)]
    assert said == ["the fast one", "both at once", "the slow ones"]


def test_its_sentence_has_the_times():
    assert workers.explorer(64, 4).sentence.startswith(
        "64 tasks: the fast worker is done after 64 s, 64 workers 4 times slower after 4 s."
    )


@pytest.mark.parametrize("given", [{"tasks": 0}, {"tasks": 129}, {"slower": 0}, {"slower": 5}])
def test_what_it_refuses(given):
    with pytest.raises(LaunchError):
        workers.explorer(**given)
