"""Products of a warpgroup, from shared memory into its registers: wgmma.

Each warp of four computes 16 of the 64 rows. A product reads shared memory and works on its
accumulators until a wait of its group; the accumulators have to be handed to it, and back, by
``wgmma_fence`` (PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions")."""

from __future__ import annotations

from dataclasses import dataclass

from warpwise.errors import WarpMaskError
from warpwise.messages import Name, Size, Words, message
from warpwise.simt.hopper.groups import Groups, Reading
from warpwise.simt.hopper.shadow import Shadow, Use
from warpwise.simt.lanes.lane_group import LaneGroup
from warpwise.simt.machine.memory import Memory
from warpwise.simt.machine.site import Site

_WAIT = "hopper.wgmma_commit_group(), then hopper.wgmma_wait_group(0), before the accumulators"
_FENCE = "hopper.wgmma_fence() before the first product, and after accumulators are written"


@dataclass(frozen=True)
class Product(Reading):
    """A product that is under way, on the accumulators of a local array."""

    sums: Memory | None = None


class Products:
    """The wgmma groups of a block's warps, and the state of their accumulators."""

    def __init__(self, warps: int, shadow: Shadow):
        self.shadow, self.groups = shadow, [Groups() for _ in range(warps)]
        shadow.history.groups["wgmma"] = self.groups
        self.fenced = [False] * warps
        self.unfenced: set[tuple[int, Memory]] = set()  #: used since the last fence of the warp
        self.known: set[tuple[int, Memory]] = set()  #: accumulators with a value
        self.issued: list[list[Site]] = [[] for _ in range(warps)]
        self.free_from = [0] * 4  #: ticks from which the SM's tensor cores are free

    def fence(self, warp: int) -> None:
        self.fenced[warp] = True
        self.unfenced = {one for one in self.unfenced if one[0] != warp}

    def written(self, warp: int, sums: Memory) -> None:
        """Note accumulators that threads have written."""
        self.known.add((warp, sums))
        self.unfenced.add((warp, sums))

    def need_ended(self, use: Use, sums: Memory) -> None:
        """Raise AsyncCopyError for accumulators that a product still works on."""
        if not self.issued[use.warp]:
            return
        groups = self.groups[use.warp]
        for one in groups.under_way:
            if isinstance(one, Product) and one.sums is sums:
                lost = any(one is other for other in groups.open)
                what = message(
                    "{array} is {used} before the product of {line} has ended{why}",
                    **use.parts(one.site),
                    why=Words(": its group is not committed" if lost else ""),
                )
                raise use.error(what, _WAIT)

    def need_fence(self, use: Use, sums: Memory) -> None:
        """Raise AsyncCopyError for accumulators that no fence has handed to a product."""
        if self.fenced[use.warp] and (use.warp, sums) not in self.unfenced:
            return
        what = message(
            "this product may use {array} as it was before: no wgmma_fence lies between the "
            "threads' own use of these registers and the product",
            array=Name(use.array),
        )
        raise use.error(what, _FENCE)

    def read(self, use: Use, product: Product) -> None:
        """A product reads chunks of one array."""
        self.shadow.read_until_waited(use, product.chunks)
        self.groups[use.warp].open.append(product)

    def wait(self, warp: int, newest: int, site: Site) -> int:
        """Wait for all but the newest groups; return the tick of their end."""
        return self.shadow.wait(warp, self.groups[warp], newest, site)

    def need_all_ended(self, group: LaneGroup) -> None:
        """Raise WarpMaskError unless the warps of each warpgroup have issued the same products."""
        for first in range(0, len(self.issued), 4):
            four = self.issued[first : first + 4]
            most = max(four, key=len)
            fewer = next((i for i, sites in enumerate(four) if len(sites) < len(most)), None)
            if fewer is None:
                continue
            what = message(
                "[[warp {warp} takes part in {some} of its warpgroup's {all} products|a warp of "
                "a warpgroup takes part in fewer products than others]]: all four have to",
                warp=Size(first + fewer),
                some=Size(len(four[fewer])),
                all=Size(len(most)),
            )
            where = most[len(four[fewer])].where(block=group.block_of(0))
            try_this = "branch by warpgroup: if cuda.threadIdx.x // 128 == 0"
            raise WarpMaskError(what, where, try_this)
