"""The programs of ranks as tasks that take turns: a rank runs until it waits.

A program is a plain function, and each rank's runs on a stack of its own (``Coroutine``, a thread
of which only one runs at a time): it may call what it likes, and any call of it may wait. Where
Python has no threads, as in a browser, it is rewritten as a generator (``rewritten``). A program
may also be a generator itself: it says ``yield dist.recv(...)``, and ``yield from`` its own
functions that wait. All leave the same log. The caller alone chooses who is next, so a run does not
depend on the system's scheduler."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from warpwise.cluster.sites import place_of
from warpwise.cuda.redirected import Asked, redirected
from warpwise.errors import ClusterError
from warpwise.simt.machine.coroutines import Coroutine


class Awaitable(Protocol):
    """What a program can wait for."""

    @property
    def ready(self) -> bool: ...

    def finish(self, site: str) -> None: ...


@dataclass(frozen=True)
class Waiting:
    """What a call returns in a rewritten program, to be waited for before that goes on."""

    work: Awaitable


class Task(Protocol):
    """A rank's program between turns."""

    advice: str  #: on a work that was not waited for
    result: Any
    blocked: list[Awaitable]  #: what it waits for
    site: str  #: where it waits

    @property
    def ended(self) -> bool: ...

    def resume(self) -> None:
        """Let it go on until it waits again or ends."""

    def wait(self, work: Awaitable, site: str) -> object:
        """Wait within the program; a generator gets back what it has to yield."""

    def stop(self) -> None:
        """End it wherever it is."""


class Stacked:
    """A plain function, on a stack of its own. Raises RuntimeError without threads."""

    advice = ".wait() on what it returns"

    def __init__(self, program: Callable[[], Any], take: Callable[[Asked], None]):
        self.result: Any = None
        self.blocked: list[Awaitable] = []
        self.site = ""

        def run() -> None:
            with redirected(take):
                self.result = program()

        self.runs = False
        self.coroutine = Coroutine(run)
        self.coroutine.start()

    @property
    def ended(self) -> bool:
        return self.coroutine.ended

    def resume(self) -> None:
        self.runs = True
        self.coroutine.resume()
        self.runs = False

    def wait(self, work: Awaitable, site: str) -> None:
        self.blocked, self.site = [work], site
        self.coroutine.pause()
        self.blocked = []
        work.finish(site)

    def stop(self) -> None:
        if self.coroutine.gone:
            return
        if self.runs:  # the caller was interrupted while it waited for this turn to end
            self.coroutine.interrupt()
        self.coroutine.stop()


class Yielding:
    """A generator, which yields what it waits for: a work, or several."""

    advice = "`yield` it"

    def __init__(self, generator: Generator[object, None, Any], take: Callable[[Asked], None]):
        self.generator: Generator[object, None, Any] = generator
        self.take, self.ended, self.result = take, False, None
        self.blocked: list[Awaitable] = []
        self.site = ""

    def resume(self) -> None:
        for work in self.blocked:
            work.finish(self.site)
        try:
            with redirected(self.take):
                yielded = next(self.generator)
        except StopIteration as end:
            self.ended, self.result, self.blocked = True, end.value, []
        else:
            self.site = self._place()
            self.blocked = self._works(yielded)

    def wait(self, work: Awaitable, site: str) -> object:
        return work

    def stop(self) -> None:
        self.generator.close()

    def _works(self, yielded: object) -> list[Awaitable]:
        found: list[Any] = list(yielded) if isinstance(yielded, Iterable) else [yielded]
        if not all(hasattr(work, "finish") for work in found):
            kinds = ", ".join(dict.fromkeys(type(work).__name__ for work in found))
            raise ClusterError(
                f"the program yields {kinds} at {self.site}: it yields calls that wait, such as "
                "`yield dist.recv(x, 0)`, and `yield from` its own functions"
            )
        return found

    def _place(self) -> str:
        inner: Any = self.generator
        while isinstance(inner.gi_yieldfrom, Generator):
            inner = inner.gi_yieldfrom
        return place_of(inner.gi_code, inner.gi_frame.f_lineno)


class Rewritten(Yielding):
    """A plain function that was rewritten as a generator."""

    advice = (
        ".wait() on what it returns, and as this Python has no threads not within a lambda or a "
        "comprehension"
    )

    def wait(self, work: Awaitable, site: str) -> object:
        self.waits_at = site
        return Waiting(work)

    def _place(self) -> str:
        return self.waits_at
