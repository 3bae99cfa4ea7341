"""Races: two accesses to one element that nothing orders, and what to try against each."""

from __future__ import annotations

from dataclasses import dataclass

from warpwise.messages import (
    Block,
    Chosen,
    Element,
    Message,
    Name,
    Thread,
    Words,
    message,
)
from warpwise.race_advice import (
    ANY_ORDER,
    BY_ATOMIC,
    COPY_TOO_EARLY,
    IN_A_LOOP,
    OF_A_BLOCK,
    OF_TWO_BLOCKS,
    ORDER,
    OTHER_PART,
    OWN_COPIES,
    REPEAT,
    SAME_ROUND,
    TAKE_TURNS,
    TWO_STORES,
    WHOSE,
    as_atomic,
    joined,
    part_of_several,
    reads_beside,
    without_atomics,
)

# What an index is made of, besides the axes "x", "y" and "z" of the thread's own.
BLOCK, LANE = "block", "lane"
VARIABLE, CUT = "variable", "cut"  # names that the text binds; // and its like, which repeat
LOOP = "loop"  # the variable of a loop over a range
UNKNOWN = "?"


@dataclass(frozen=True)
class Access:
    """One side of a race: the thread, its line, and the kind of access.

    An ``atomic`` access both reads and writes."""

    block: tuple[int, int, int]
    thread: tuple[int, int, int]
    line: int
    writes: bool
    atomic: bool = False
    place: str = ""  #: file and line, as errors name them
    text: str = ""  #: of the line
    #: the line in words where it is of another file or cell than the kernel: "line 4 of load_tile"
    elsewhere: str = ""
    #: in a device function: the lines of the kernel from which it is reached
    reached_from: tuple[int, ...] = ()
    index_from: str = UNKNOWN  #: of a store: what its index is made of, the words above
    copies: bool = False  #: an asynchronous copy, which may write at any time until its wait

    @property
    def there(self) -> str:
        """The line in words."""
        return self.elsewhere or f"line {self.line}"

    @property
    def on(self) -> str:
        """The line in words, with its preposition; some have only the name of their function."""
        return f"{'on' if self.there.startswith('line ') else 'in'} {self.there}"

    def precedes(self, other: Access) -> bool:
        """True if its line stands before that of another access, wherever both are reached from.

        Of two lines in device functions that are called on the same lines, these decide."""
        mine, others = self.reached_from or (self.line,), other.reached_from or (other.line,)
        if mine == others:
            return self.line < other.line
        return mine[-1] < others[0]

    @property
    def verb(self) -> str:
        if self.atomic:
            return "updates it atomically"
        if self.copies:
            return "starts a copy to it"
        return "writes it" if self.writes else "reads it"


@dataclass(frozen=True)
class Race:
    """Two unordered accesses to one element by two threads, at least one of them a write.

    A GPU may do either first. ``scope`` says where the two threads are: in one "warp", in one
    "block", or in two blocks of the "grid". ``same``: both are plain writes, and in this launch the
    racing threads of these two lines wrote the same values. Memory ends up the same in any order
    then, and yet it is a race: CUDA promises no result. ``crosses``: this launch has a race on the
    array, this one or another, between threads of two warps, which no ``syncwarp`` orders.
    ``axes``: the dimensions of the launch."""

    array: str
    space: str
    index: tuple[int, ...]
    first: Access
    second: Access
    scope: str
    same: bool = False
    crosses: bool = False
    axes: int = 1

    @property
    def block(self) -> tuple[int, int, int]:
        """The block of the second access."""
        return self.second.block

    @property
    def what(self) -> str:
        """The race on one line, without the places."""
        return self.message.open()

    @property
    def message(self) -> Message:
        """The race on one line, whose hidden rendering tells no threads, lines or scope."""
        a, b = self.first, self.second
        beside = {"warp": "of the same warp", "block": "of the same block"}
        return message(
            "race on {element} in {space} memory: [[{one} of {block} {does} {on}, "
            "{other} {beside} {also} {also_on}, and nothing orders the two{same}"
            "|two threads use it, at least one of them writes, and nothing orders the two]]",
            element=Element(Name(self.array), self.index),
            space=Words(self.space),
            one=Thread(a.thread),
            block=Block(a.block),
            does=Chosen(a.verb),
            on=Words(a.on),
            other=Thread(b.thread),
            beside=Chosen(beside.get(self.scope, f"of block {b.block}")),
            also=Chosen(b.verb),
            also_on=Words(b.on),
            same=Chosen("; both write the same value" if self.same else ""),
        )

    def told(self, uses: str) -> Message:
        """The race and its places.

        The pair of lines that meets first can depend on the data; ``uses``, all lines of the text
        that use the array, stands instead in the hidden rendering."""
        places, uses = (f"\n{text}" if text else "" for text in (self.places, uses))
        return message(
            "{race}[[{places}|{uses}]]", race=self.message, places=Chosen(places), uses=Words(uses)
        )

    @property
    def remedy(self) -> Message:
        """The first remedy to try; the hidden rendering knows only the memory's space."""
        return self._remedy(self.try_this, self._any_order)

    @property
    def remedy_without_atomics(self) -> Message:
        """The same for a launch that is to have no atomics."""
        tried = self._whose or self.try_this
        return self._remedy(without_atomics(tried), without_atomics(self._any_order))

    @property
    def _any_order(self) -> str:
        return ANY_ORDER.get(self.space, ANY_ORDER["global"])

    def _remedy(self, try_this: str, order: str) -> Message:
        return message("[[{try_this}|{order}]]", try_this=Chosen(try_this), order=Words(order))

    @property
    def places(self) -> str:
        """The lines of both accesses, with their places; a line that makes both is named once."""
        sides = dict.fromkeys(
            (side.place, side.text) for side in (self.first, self.second) if side.place
        )
        return "\n".join(f"  at {place}\n    {text}" for place, text in sides)

    @property
    def try_this(self) -> str:
        """The first remedy to try."""
        a, b = self.first, self.second
        if self.same and not as_atomic(b.text):
            promise = "memory ends up the same in any order here, but CUDA promises no result"
            return joined(self._ask, self._let_one, f"{promise} where threads race")
        if a.line == b.line:
            return self._try_on_one_line()
        order = self._order
        if a.copies or b.copies:
            return COPY_TOO_EARLY.format(copy=b.there) if b.copies else OWN_COPIES
        if self.space == "global" and a.writes and b.writes and not (a.atomic or b.atomic):
            return joined(TWO_STORES.format(array=self.array), f"if it is meant so, {order}")
        if part := part_of_several(self.array, a.text, b.text):
            return joined(OTHER_PART.format(part=part, array=self.array), f"otherwise {order}")
        if self._repeats:
            return joined(f"{REPEAT}, as {self._grid} does?", f"if it is meant so, {order}")
        if b.precedes(a) and self.scope != "grid":
            order += f"; if {b.there} is in the next trip of a loop, at the end of that loop"
            if self.space == "shared" and b.writes and not a.writes:
                order += f", or write to a second array while {self.array} is read"
        elif self.space == "shared" and self.scope == "block" and b.writes and not a.writes:
            order += TAKE_TURNS.format(array=self.array, read=a.there, write=b.there)
        return f"{order}; or let both be atomic" if a.atomic or b.atomic else order

    @property
    def _repeats(self) -> bool:
        """True if an index of a store in global memory has a thread's number, and no block's."""
        words = [set(side.index_from.split()) for side in (self.first, self.second) if side.writes]
        return (self.space, self.scope) == ("global", "grid") and any(
            of_store.isdisjoint({BLOCK, UNKNOWN}) and not of_store.isdisjoint({"x", "y", "z", LANE})
            for of_store in words
        )

    @property
    def _order(self) -> str:
        return ORDER["block" if self.scope == "warp" and self.crosses else self.scope]

    def _try_on_one_line(self) -> str:
        a, b, order = self.first, self.second, self._order
        if reads_beside(a.text):
            return f"{order}; {SAME_ROUND}"
        if a.text == b.text and (atomic := as_atomic(a.text)):
            return (
                f"{atomic}: several threads update one element here, "
                "and each must see what the others wrote"
            )
        if a.writes and b.writes and not (a.atomic or b.atomic):
            only = f"let only one thread write each element of {self.array}; t{BY_ATOMIC}"
            return joined(self._ask, f"if they are to share it, {only}") if self._ask else only
        apart = f"otherwise {order}"
        if self.scope == "grid":
            apart = "if they read what others write, write to another array"
        return (
            f"cuda.atomic.add({self.array}, index, value) "
            f"if several threads add to one element; {apart}"
        )

    @property
    def _whose(self) -> str:
        """What to ask about one line's update of one element; "" of any other race."""
        a, b = self.first, self.second
        if a.line != b.line or (a.writes and b.writes) or reads_beside(a.text):
            return ""
        part = "row" if len(self.index) > 1 and self.scope == "grid" else "element"
        scope = "block" if self.scope == "warp" and self.crosses else self.scope
        return WHOSE[scope].format(part=part, array=self.array)

    @property
    def _index_from(self) -> frozenset[str]:
        return frozenset(f"{self.first.index_from} {self.second.index_from}".split())

    @property
    def _left_out(self) -> list[str]:
        """The axes in which the two threads differ and which the index does not use."""
        pairs = zip("xyz", self.first.thread, self.second.thread, strict=True)
        apart = [axis for axis, one, other in pairs if one != other]
        lanes = {"x"} if LANE in self._index_from else set()
        return [axis for axis in apart if axis not in self._index_from | lanes]

    @property
    def _ask(self) -> str:
        """What to ask about an index that two threads have in common; "" if it is one number."""
        used = self._index_from
        if UNKNOWN in used:
            return "is the index another one for each thread that stores?"
        if used.isdisjoint({"x", "y", "z", LANE, BLOCK}):
            holds = "every thread takes these elements, for the index holds no thread's number"
            return f"{holds}: should it begin with {self._grid}?" if VARIABLE in used else ""
        if self.scope == "grid" and BLOCK not in used:
            return f"{REPEAT}, as {self._grid} does?"
        if self.scope != "grid" and self._left_out and not used.isdisjoint({"x", "y", "z", LANE}):
            differ = f"the two threads differ in threadIdx.{self._left_out[0]}"
            return f"{differ}, which the index does not use: should it?"
        apart = self.scope == "block" or (self.scope == "warp" and not self.same)
        if apart and BLOCK in used and used.isdisjoint({"x", "y", "z", LANE}):
            return OF_A_BLOCK.format(grid=self._grid)
        if self.scope != "grid" and self._let_one and used.isdisjoint({"x", "y", "z"}):
            return ""
        if LOOP in used:
            return OF_TWO_BLOCKS if self.scope == "grid" else IN_A_LOOP
        return (
            "several threads come to the same index here: should each have an index of its own, "
            "or only one of them store?"
        )

    @property
    def _grid(self) -> str:
        return f"cuda.grid({self.axes})"

    @property
    def _let_one(self) -> str:
        """Which thread could write alone; "" where the index is meant to tell threads apart."""
        used = self._index_from
        if self.scope == "grid":
            if not used.isdisjoint({"x", "y", "z", LANE, BLOCK, VARIABLE, UNKNOWN}):
                return ""
            one = "cuda.grid(1) == 0" if self.axes == 1 else f"all of {self._grid} are 0"
        elif self._left_out:
            one = " and ".join(f"cuda.threadIdx.{axis} == 0" for axis in self._spare)
        elif self.scope == "warp" and CUT in used:
            one = "cuda.laneid == 0"
        else:
            return ""
        return f"if one element is meant for all of them, let one thread write it, where {one}"

    @property
    def _spare(self) -> list[str]:
        """The axes of the launch that the index does not use."""
        axes = max(self.axes, *("xyz".index(axis) + 1 for axis in self._left_out), 1)
        return [axis for axis in "xyz"[:axes] if axis not in self._index_from]

    def __str__(self) -> str:
        parts = self.what, self.places, f"  Try: {self.try_this}"
        return "\n".join(part for part in parts if part)
