"""Shared by the grader's tests: one sandbox for the notebooks of many runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from itertools import chain

import pytest

from warpwise.grading import parts, sandbox
from warpwise.grading.warm import Warm


@pytest.fixture(scope="module")
def kept_sandboxes() -> Iterator[None]:
    """Let runs of the grader in one module take over the sandbox that an earlier run started for
    its notebooks: that start takes longer than grading one."""
    idle: dict[str, list[Warm]] = defaultdict(list)

    def warm(part: parts.Part, mode: str) -> Warm:
        kept = idle[repr((part, mode, parts.ENVIRONMENT))]
        while kept:
            found = kept.pop()
            if not found.broken and found.process.poll() is None:
                return found
            Warm.close(found)
        found = start(part, mode)
        found.close = partial(kept.append, found)
        return found

    start = sandbox.warm
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sandbox, "warm", warm)
        yield
    for kept in chain.from_iterable(idle.values()):
        Warm.close(kept)
