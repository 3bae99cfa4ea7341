"""Messages as data: a template, and values that each say what they are.

A message has two renderings. ``open`` is for whoever owns the data: a learner at a notebook.
``hidden`` is for a student whose kernel was judged on a hidden case, and holds nothing that follows
from that case's data or sizes. One rule makes it:

- a public value reads as in the open rendering: names, types and lines of the text, limits;
- a private value reads as the generic words of its kind: "an index", "some threads";
- a part of the template in double brackets, ``[[with {size}|instead]]``, gives way to what stands
  after the bar, or to nothing, if it holds a private value.

So a template's author decides how a sentence reads, and the kind of each value what it may tell.
Left out: translations, for which a template is the key."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from string import Formatter
from typing import ClassVar, Protocol

DIMENSIONS = ("no dimension", "one dimension", "two dimensions", "three dimensions")


class Part(Protocol):
    """What a placeholder stands for: one of the kinds below, a message, or a place."""

    @property
    def private(self) -> bool: ...

    def open(self, spec: str = "") -> str: ...

    def hidden(self, spec: str = "") -> str: ...


@dataclass(frozen=True)
class Message:
    """A sentence or more: ``template`` with ``{placeholders}``, and their values by name."""

    template: str
    values: Mapping[str, Part] = field(default_factory=dict)

    @property
    def private(self) -> bool:
        """True if the hidden rendering leaves something out."""
        return any(value.private for value in self.values.values())

    def open(self, spec: str = "") -> str:
        """Return the whole message."""
        return "".join(self._with(part, hide=False) for part, _ in _parts(self.template))

    def hidden(self, spec: str = "") -> str:
        """Return the message without what derives from private values."""
        return "".join(
            self._with(part if instead is None or not self._tells(part) else instead, hide=True)
            for part, instead in _parts(self.template)
        )

    def _tells(self, part: str) -> bool:
        return any(self.values[name].private for _, name, _ in _placeholders(part) if name)

    def _with(self, part: str, hide: bool) -> str:
        said = []
        for text, name, spec in _placeholders(part):
            said.append(text)
            if name:
                value = self.values[name]
                said.append(value.hidden(spec) if hide else value.open(spec))
        return "".join(said)


def message(template: str, **values: Part) -> Message:
    """Return a message of a template, which is a constant of the package, and its values."""
    return Message(template, values)


def plain(text: str) -> Message:
    """Return a text of no private value as a message."""
    return Message("{text}", {"text": Words(text)}) if text else NOTHING


def as_message(what: str | Message) -> Message:
    """Return a message as it is, and a string as one without private values."""
    return what if isinstance(what, Message) else plain(what)


NOTHING = Message("")


def _parts(template: str) -> Iterator[tuple[str, str | None]]:
    """Yield the parts of a template, each with what stands instead of it, None outside brackets."""
    outside, *rest = template.split("[[")
    yield outside, None
    for piece in rest:
        inside, _, outside = piece.partition("]]")
        part, _, instead = inside.partition("|")
        yield part, instead
        yield outside, None


def _placeholders(part: str) -> Iterator[tuple[str, str, str]]:
    """Yield (text, name, format) of each placeholder; the name of what follows the last is ""."""
    for text, name, spec, _ in Formatter().parse(part):
        yield text, name or "", spec or ""


# What everybody may read: it follows from the text, the types of arguments or the device.


@dataclass(frozen=True)
class Public:
    """The base of public values."""

    value: object
    private: ClassVar[bool] = False

    def open(self, spec: str = "") -> str:
        return format(self.value, spec)

    def hidden(self, spec: str = "") -> str:
        return self.open(spec)


class Name(Public):
    """A name in the student's text, or that of a counter."""


class Source(Public):
    """Some of the student's text."""


class Line(Public):
    """The number of a line of the text."""


class TypeName(Public):
    """The type of a value, or of an array's elements."""


class Limit(Public):
    """A number of the device or of the simulator, such as a budget of steps."""


class Constant(Public):
    """A number that follows from the text and the types: the items of a tuple, static bytes."""


class Words(Public):
    """Words of our own, chosen by the text or the types alone."""


# What only the owner of the data may read.


@dataclass(frozen=True)
class Private:
    """The base of private values.

    ``generic`` is what the hidden rendering says of the kind; ``prefix`` begins the open one."""

    value: object
    private: ClassVar[bool] = True
    generic: ClassVar[str] = ""
    prefix: ClassVar[str] = ""

    def open(self, spec: str = "") -> str:
        value = format(self.value, spec)
        return f"{self.prefix} {value}" if self.prefix else value

    def hidden(self, spec: str = "") -> str:
        return self.generic


class Size(Private):
    """A length of an axis, or a number of elements, of threads or of bytes."""

    generic = "its size"


class Datum(Private):
    """A value of the data, or one computed from it, such as a counter."""

    generic = "a number"


class Chosen(Private):
    """Words of our own that the data chose: telling them apart would tell of the data."""


class LaneMask(Private):
    """The lanes that a warp-level operation names, as bits."""

    generic = "the mask"


@dataclass(frozen=True)
class Index(Private):
    """An index, and the axis that it is for; None for a vector."""

    value: int
    axis: int | None = None
    generic: ClassVar[str] = "an index"

    def open(self, spec: str = "") -> str:
        return f"index {self.value}" + ("" if self.axis is None else f" of axis {self.axis}")


@dataclass(frozen=True)
class Within(Private):
    """The range that an index must keep to: below the size, or from 0 on."""

    value: str
    generic: ClassVar[str] = "within the array"


@dataclass(frozen=True)
class Lengths(Private):
    """The lengths of an array's axes; that there are so many is known."""

    value: tuple[int, ...]

    def hidden(self, spec: str = "") -> str:
        ndim = len(self.value)
        return DIMENSIONS[ndim] if ndim < len(DIMENSIONS) else f"{ndim} dimensions"


@dataclass(frozen=True)
class Element:
    """An element: the name of its array, which is public, and its index.

    An array may have words for a name, such as "the first result of f"."""

    array: Part
    index: tuple[int, ...]
    private: ClassVar[bool] = True

    def open(self, spec: str = "") -> str:
        array, index = self.array.open(), f"[{', '.join(map(str, self.index))}]"
        if not self.index:
            return array
        return f"element {index} of {array}" if " result of " in array else array + index

    def hidden(self, spec: str = "") -> str:
        return f"an element of {self.array.hidden()}"


@dataclass(frozen=True)
class Count(Private):
    """A number of things with its verb: "1 thread waits", "1,024 threads wait"."""

    value: int
    noun: str
    one: str
    several: str

    def open(self, spec: str = "") -> str:
        if self.value > 1:
            return f"{self.value:,} {self.noun}s {self.several}"
        return f"{self.value:,} {self.noun} {self.one}"

    def hidden(self, spec: str = "") -> str:
        return f"some {self.noun}s {self.several}"


class Lane(Private):
    """A lane of a warp."""

    generic, prefix = "a lane", "lane"


class LaneNumbers(Private):
    """Several lanes of a warp, in words: "lanes 0-15, 20"."""

    generic = "the lanes of the mask"


class Thread(Private):
    """A thread, by its index in the block."""

    generic, prefix = "a thread", "thread"


class Block(Private):
    """A block, by its index in the grid."""

    generic, prefix = "a block", "block"


class Rank(Private):
    """A rank of a cluster."""

    generic, prefix = "a rank", "rank"


class Address(Private):
    """A place in memory, in bytes."""

    generic = "an address that does not fit"

    def open(self, spec: str = "") -> str:
        return f"address {self.value:#x}"


@dataclass(frozen=True)
class Later:
    """Words that the data chose and that take time to find: found when somebody reads them."""

    find: Callable[[], str]
    private: ClassVar[bool] = True

    def open(self, spec: str = "") -> str:
        return self.find()

    def hidden(self, spec: str = "") -> str:
        return ""


@dataclass(frozen=True)
class Elsewhere:
    """A message that has another place in what a student is shown, and none here: the advice."""

    message: Message
    private: ClassVar[bool] = True

    def open(self, spec: str = "") -> str:
        return self.message.open()

    def hidden(self, spec: str = "") -> str:
        return ""


@dataclass(frozen=True)
class Joined:
    """Several messages one after the other, with a text between them."""

    messages: tuple[Message, ...]
    between: str = ""

    @property
    def private(self) -> bool:
        return any(message.private for message in self.messages)

    def open(self, spec: str = "") -> str:
        return self.between.join(message.open() for message in self.messages)

    def hidden(self, spec: str = "") -> str:
        return self.between.join(message.hidden() for message in self.messages)
