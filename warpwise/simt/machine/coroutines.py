"""Coroutines: functions that pause and go on later, each in a thread of its own.

Exactly one of them, or their caller, runs at a time. A compiled kernel is closures within closures,
so that a warp can stop in the middle of a loop only on a stack of its own. The caller alone chooses
who runs next: results do not depend on the system's scheduler. Left out: parallelism."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


class Stopped(BaseException):
    """Ends a coroutine that nobody will resume."""


class Coroutine:
    """A ``function()`` that runs while the caller is in ``resume``; ``pause`` goes back there."""

    def __init__(self, function: Callable[[], object]):
        from threading import Lock, Thread  # no other kernel needs them

        self.ended, self._stopping = False, False
        self._error: BaseException | None = None
        self._own, self._callers = Lock(), Lock()  # whoever may run has acquired theirs
        self._own.acquire()
        self._callers.acquire()
        self._thread = Thread(target=self._run, args=(function,), daemon=True)

    def start(self) -> None:
        """Get ready to run. Raises RuntimeError where the system gives no thread."""
        self._thread.start()

    def resume(self) -> None:
        """Let it run until it pauses or ends; what it raises is raised here."""
        self._own.release()
        self._callers.acquire()
        if self.ended:
            self._thread.join()
            if self._error is not None:
                raise self._error

    def pause(self) -> None:
        """Go back to the caller, from within it."""
        self._callers.release()
        self._own.acquire()
        self.check()

    def check(self) -> None:
        """End here if ``stop`` was called; to be called within it, now and then."""
        if self._stopping:
            raise Stopped

    def stop(self) -> None:
        """End it wherever it is, and wait until its thread is gone."""
        self._stopping = True
        if self._own.locked():
            self._own.release()
        self._thread.join()

    def interrupt(self) -> None:
        """Raise ``Stopped`` in it, between two of Python's steps: for one that may never pause."""
        import ctypes

        ident = ctypes.c_ulong(self._thread.ident or 0)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ident, ctypes.py_object(Stopped))

    @property
    def gone(self) -> bool:
        return not self._thread.is_alive()

    def _run(self, function: Callable[[], object]) -> None:
        self._own.acquire()
        try:
            self.check()
            with np.errstate(all="ignore"):  # which a thread does not inherit
                function()
        except Stopped:
            pass
        except BaseException as error:
            self._error = error
        finally:
            self.ended = True
            if self._callers.locked():
                self._callers.release()
