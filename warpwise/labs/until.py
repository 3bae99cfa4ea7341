"""A launch up to the mistake that ended it, so that there is a picture of what came before."""

from __future__ import annotations

from contextlib import suppress
from math import prod
from typing import Any

from warpwise import trace
from warpwise.errors import KernelError, Location
from warpwise.labs.exercise import Launch, Reason, Verdict, fresh
from warpwise.labs.judge import MAX_STEPS
from warpwise.messages import Message
from warpwise.simt import as_kernel
from warpwise.simt.launch import MAX_RECORDS, dimensions, source_of
from warpwise.simt.observers.counters import Counters
from warpwise.simt.observers.recorder import Recorder
from warpwise.traces import Trace, linear


def location(message: Message) -> Location | None:
    """Return the place in a kernel that a message names, with its thread, if it names one."""
    for value in message.values.values():
        found = location(value) if isinstance(value, Message) else value
        if isinstance(found, Location) and found.thread is not None:
            return found
    return None


def until_mistake(kernel: Any, launch: Launch, verdict: Verdict) -> tuple[Trace, Location] | None:
    """Run a launch again whose verdict is a mistake of one thread, and keep its block's events.

    Returns None where the verdict names no thread, where the launch left no events before, and
    where it took too long already."""
    where = location(verdict.message)
    too_long = verdict.reason in (Reason.ENDLESS, Reason.TOO_SLOW)
    if where is None or where.block is None or too_long:
        return None
    grid, block = dimensions(launch.blocks, "blocks"), dimensions(launch.threads, "threads")
    recorder = Recorder((linear(where.block, grid),), prod(block), MAX_RECORDS)
    counters = Counters()
    with suppress(KernelError):
        trace(
            kernel,
            launch.blocks,
            launch.threads,
            *map(fresh, launch.args),
            max_steps=MAX_STEPS,
            whole_barriers=True,
            record=(),
            observers=(counters, recorder),
        )
    records = recorder.records()
    if not len(records.kind) or recorder.truncated:
        return None
    found = as_kernel(kernel)
    metrics, by_line = counters.metrics()
    return Trace(
        kernel=found.name,
        file=found.file,
        source=source_of(found),
        grid=grid,
        block=block,
        arrays=tuple(recorder.arrays),
        metrics=metrics,
        by_line=by_line,
        records=records,
    ), where
