"""What a metric is, said where it is defined: its meaning, unit, group and Nsight Compute's name.

``counter`` makes a field of ``Counters``, ``derived`` a property of ``Metrics``. The reference
page, tables of source lines, budgets and the comparison with a GPU read it from there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from inspect import cleandoc
from typing import Any, Generic, Literal, Self, TypeVar, get_args, overload

Value = TypeVar("Value")

#: The groups of the reference page; what is no counter is "derived".
Group = Literal[
    "atomics", "global", "shared", "mix", "arithmetic", "control", "instructions", "derived"
]
GROUPS: tuple[Group, ...] = get_args(Group)


@dataclass(frozen=True)
class About:
    """The description of one metric.

    ``nsight`` is the one counter of Nsight Compute that counts this, or "" if there is none; ours
    is that counter over ``divisor``. ``note``, without a full stop, says where the two differ, or
    which counters are near or add up to ours."""

    meaning: str
    unit: str
    group: Group
    label: str = ""  #: heading of its column in a table of source lines, if it has one
    nsight: str = ""
    divisor: int = 1
    everywhere: bool = True  #: False if some versions of Nsight Compute lack the name
    note: str = ""
    agrees: bool = False  #: a GPU has to count the same where the compiler changes nothing
    of_launch: bool = False  #: lines of a launch share what it counts, so it is not their sum
    more_is_better: bool = False  #: a budget gives the least, not the most
    formula: str = ""  #: over counters, as Python; a ratio over nothing is 0

    @property
    def counterpart(self) -> str:
        """The sentence on Nsight Compute, without its full stop; "" if there is nothing to say."""
        if not self.nsight:
            return self.note
        name = f"``{self.nsight}``" + (f" / {self.divisor}" if self.divisor > 1 else "")
        where = "" if self.everywhere else "where it exists"
        return ", ".join(filter(None, (name, where, self.note)))


def counter(meaning: str, *, unit: str, group: Group, default: Any = 0, **more: Any) -> Any:
    """Return a field of ``Counters``; ``more`` are fields of ``About``."""
    return field(default=default, metadata={"about": About(meaning, unit, group, **more)})


class Derived(Generic[Value]):
    """A property worked out of counters, with its description and the type that it returns."""

    def __init__(self, compute: Callable[[Any], Value], **more: Any) -> None:
        self.compute = compute
        self.__doc__ = compute.__doc__
        self.about = About(cleandoc(compute.__doc__ or ""), group="derived", **more)
        self.type: str = compute.__annotations__["return"]

    @overload
    def __get__(self, metrics: None, owner: type) -> Self: ...
    @overload
    def __get__(self, metrics: object, owner: type) -> Value: ...
    def __get__(self, metrics: object, owner: type) -> Self | Value:
        return self if metrics is None else self.compute(metrics)


def derived(
    formula: str, *, unit: str, **more: Any
) -> Callable[[Callable[[Any], Value]], Derived[Value]]:
    """Make a method a property with this formula; its docstring is the meaning.

    ``more`` are fields of ``About``. A test compares the formula with what the method computes."""
    return lambda compute: Derived(compute, formula=formula, unit=unit, **more)
