"""Sites: the places in a kernel's text at which things happen."""

from __future__ import annotations

from dataclasses import dataclass

from warpwise.errors import Location
from warpwise.simt.lanes.masks import Mask
from warpwise.traces import line_in_words


@dataclass(frozen=True)
class Site:
    """A place in a kernel's text: the number that its line is counted under, and its location."""

    line: int
    shown: int  #: the line's number in its own file: see ``frontend.kernel.Numbering``
    file: str
    text: str
    function: str
    #: by axis: how the indices of a request are written, see ``wraps``
    indices: tuple[str, ...] = ()
    endless: bool = False  #: a loop that is known never to end: see ``frontend.endless``

    def index(self, axis: int) -> str:
        return self.indices[axis] if axis < len(self.indices) else ""

    @property
    def elsewhere(self) -> str:
        """The line in words where it is of another file or cell than the kernel, else ""."""
        own = self.line == self.shown > 0
        return "" if own else line_in_words(self.shown, self.function)

    @property
    def there(self) -> str:
        """The line in words."""
        return self.elsewhere or f"line {self.line}"

    def where(
        self,
        block: tuple[int, int, int] | None = None,
        thread: tuple[int, int, int] | None = None,
    ) -> Location:
        return Location(self.file, self.shown, self.text, block, thread, self.function)

    def where_first(self, mask: Mask) -> Location:
        """Return the location, with the first of the active threads."""
        return self.where(**mask.group.first_of(mask.grid()))
