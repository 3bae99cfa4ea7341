"""How many of a lab's exercises are done, and which is next, as far as this session knows.

Checks run in the student's kernel, which forgets when it is restarted. What a lab's exercises are
says the check cell itself (``fold``); without that list nothing is said."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from warpwise.labs.fold import OR, Unit


class Session:
    """The exercises that passed when they were checked last, and those that did not."""

    def __init__(self) -> None:
        self.passed: set[str] = set()
        self.failed: set[str] = set()

    def told(self, name: str, passed: bool) -> None:
        """Keep what a check found."""
        now, before = (self.passed, self.failed) if passed else (self.failed, self.passed)
        now.add(name)
        before.discard(name)


def sentence(units: Sequence[Unit], passed: Collection[str], name: str) -> str:
    """Say how many exercises are done; after one that passed, ``name``, also which is next.

    "" where the lab has only one, or ``name`` is none of them."""
    here = next((i for i, unit in enumerate(units) if name in unit), None)
    if here is None or len(units) < 2:
        return ""
    open_ones = [i for i, unit in enumerate(units) if not {*unit} & {*passed}]
    if not open_ones:
        return f"All {len(units)} exercises done in this session."
    done = f"{len(units) - len(open_ones)} of {len(units)} exercises done in this session."
    if here in open_ones:
        return done
    following = next((i for i in open_ones if i > here), open_ones[0])
    return f"{done} Next: {OR.join(units[following])}"
