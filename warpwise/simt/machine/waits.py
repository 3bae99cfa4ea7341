"""What a scheduled warp waits for: another value in memory, or the other warps at a barrier."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from warpwise.errors import EndlessError
from warpwise.simt.lanes.masks import Mask
from warpwise.simt.machine.observer import Request
from warpwise.simt.machine.site import Site
from warpwise.simt.types import Lanes, Value


@dataclass(frozen=True)
class Poll:
    """A place in memory to look at again: that of a request.

    The first request of a trip usually reads the value that the loop waits for."""

    request: Request

    @property
    def value(self) -> Value:
        """The value there now."""
        return self.request.array.load(self.request.offset, self.request.mask)


@dataclass(frozen=True)
class Wait:
    """A warp after a trip of a loop that waits.

    ``state``: as long as memory does not change, equal states lead to equal trips. ``left``: lanes
    that were in the loop, and are in it no more. ``stuck``: makes the error of a wait that never
    ends, where the wait itself knows what is missing.
    """

    site: Site
    mask: Mask
    state: tuple[Value, ...]
    poll: Poll | None
    left: Lanes
    stuck: Callable[[], EndlessError] | None = None


@dataclass
class Arrival:
    """A warp at a barrier of its block; ``kind`` and ``agrees`` are of a barrier that votes."""

    site: Site
    mask: Mask
    kind: str = ""
    agrees: Value = None
    result: Value = None
