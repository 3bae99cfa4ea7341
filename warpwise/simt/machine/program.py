"""What the machine asks of a compiled kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from warpwise.simt.frontend.kernel import Kernel
from warpwise.simt.lanes.masks import Mask
from warpwise.simt.machine.batch import Batch
from warpwise.simt.machine.frame import Frame
from warpwise.simt.types import Value


class Program(Protocol):
    """A kernel compiled for the types of its arguments."""

    @property
    def kernel(self) -> Kernel: ...
    @property
    def run(self) -> Callable[[Frame, Mask], object]:
        """Return the function that runs the kernel for the active lanes of a frame."""

    @property
    def waits(self) -> bool:
        """Return True if a loop may wait for other threads."""

    @property
    def grid_syncs(self) -> int:
        """Return the number of places where all threads of the grid meet."""

    def frame(self, batch: Batch, arguments: tuple[Value, ...], mask: Mask) -> Frame:
        """Return the variables of the kernel with the arguments of its launch."""


def run_batch(program: Program, batch: Batch, arguments: tuple[Value, ...]) -> None:
    """Run a kernel over the blocks of a batch from its beginning to its end."""
    batch.begin()
    program.run(program.frame(batch, arguments, batch.full), batch.full)
    batch.end()
