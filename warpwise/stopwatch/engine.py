"""One SM, clock by clock: resident warps on four schedulers, a scoreboard, pipes and memories.

Each scheduler issues one instruction in a clock, of the warp that issued last if that can go on,
else of the next in turn. An instruction waits for its registers, for the banks that they lie in
(``register_reads``) and for a free pipe. Loads and stores pass one queue of load/store units; what
misses L1 goes on to this SM's share of L2 and DRAM, servers with a rate and a latency. A block that
ends gives its place to the next one.

The loop is compiled by Numba, and cached where a folder can be written. Without Numba, as on a
page, it runs as it is, and slowly."""

from __future__ import annotations

from typing import Any

import numpy as np

try:
    from numba import njit
except ImportError:  # on a page ``numba`` is this package's own, with ``cuda`` alone
    njit = None  # type: ignore[assignment]

# mypy: allow-untyped-defs
FP32, IMAD, ALU, SPECIAL, FP64, LSU, BARRIER, CONTROL, UNIFORM, TENSOR = range(10)
PARTS = 4  #: schedulers, each with a quarter of the arithmetic lanes
#: Reasons for waiting, in the order of CAUSES in ``estimate``.
WAIT, LONG, SHORT, AT_BARRIER, MATH, LG, MIO, BRANCH, NOT_SELECTED, START = range(10)
REASONS = 10
ISSUES, ABSENT = 10, 11  #: what a warp does in a clock, beside waiting for one of the reasons
REGISTERS = 528  #: as ``sass`` numbers them
#: Clocks, assumed: a warp's next instruction after a branch, and after its barrier opens.
BRANCH_CLOCKS, BARRIER_CLOCKS = 8.0, 20.0
#: Clocks within which an instruction has its operands from the registers (``register_reads``).
READING_CLOCKS = 3.0
QUEUE_CLOCKS = 24.0  #: work that waits before the load/store units; assumed
MISSES_CLOCKS = 3000.0  #: work that waits before L2 or DRAM; assumed
LOAD_CLOCKS = 2000.0  #: over which DRAM's load is a mean, on which its latency depends; assumed
NEVER = 1e18  #: a clock after all others
LIMIT = 5e7  #: clocks after which a run is given up


def compiled(function: Any) -> Any:
    """Compile a function where there is Numba, and cache it unless no folder can be written."""
    if njit is None:
        return function
    try:
        return njit(cache=True)(function)
    except RuntimeError:
        return njit(function)


@compiled
def _operands_at(ready, why, sources, i, w):
    """Return when a warp's operands are there, and the reason for the last of them."""
    at, reason = 0.0, WAIT
    for q in range(sources.shape[1]):
        r = sources[i, q]
        if r < 0:
            break
        if ready[w, r] > at:
            at, reason = ready[w, r], why[w, r]
    return at, reason


@compiled
def _pipe_at(kind, part, free, now):
    """Return the column of the pipe that an instruction takes, and when it is free."""
    column = kind
    if kind <= IMAD:
        column = 0
        if kind == FP32 and free[part, 1] < free[part, 0]:
            column = 1
    return column, free[part, column]


@compiled
def _banks_at(i, part, reads, banks):
    """Return when the banks of a scheduler's registers give an instruction its operands in time."""
    at = 0.0
    for b in range(reads.shape[1]):
        if reads[i, b] > 0:
            at = max(at, banks[part, b] + reads[i, b] - READING_CLOCKS)
    return at


@compiled
def _read(now, i, part, reads, banks):
    """Let an instruction read its operands."""
    for b in range(reads.shape[1]):
        if reads[i, b] > 0:
            banks[part, b] = max(banks[part, b], now) + reads[i, b]


@compiled
def _memory(now, i, server, lsu, sectors, dram, waits, latency, rates):
    """Send an access on its way, and return when its result is there, on average.

    It waits for DRAM's own latency by its share: the other requests find in L2 what one of them
    has fetched, once they are through the line that stands before it.

    ``server``: when the load/store units, L2 and DRAM are free, DRAM's load, and when that was.
    ``latency``: of shared memory, L1, L2 and DRAM, and what DRAM's load adds to it at most;
    ``rates``: clocks for a sector of L2 and of DRAM."""
    begin = max(server[0], now)
    server[0] = begin + lsu[i]
    if sectors[i] < 0:
        return server[0] + latency[0]
    there = server[0] + latency[1]
    if sectors[i] > 0:
        server[1] = max(server[1], server[0]) + sectors[i] * rates[0]
        there = server[1] + latency[2]
        if dram[i] > 0:
            taken = dram[i] * rates[1]
            server[2] = max(server[2], server[0]) + taken
            server[3] = server[3] * np.exp((server[4] - now) / LOAD_CLOCKS) + taken / LOAD_CLOCKS
            server[4] = now
            # what others let it wait for, or the queue here, which is a part of that
            waited = max(server[2], server[0] + latency[4] * min(1.0, server[3]))
            there = max(there, server[2] + latency[2])  # an SM's requests stand in one line
            there += waits[i] * max(0.0, waited + latency[3] - there)
    return there


@compiled
def _begin(block, warps, now, start, alive, pc, next_at, operands, mark, reason, ready):
    """Put a new block into a place: its warps start after a while, with registers that are free."""
    for w in range(block * warps, (block + 1) * warps):
        alive[w], pc[w], next_at[w], operands[w] = True, 0, now + start, 0.0
        mark[w], reason[w] = now, START
        for r in range(REGISTERS):
            ready[w, r] = 0.0


@compiled
def _open(block, warps, now, waiting, next_at, wake):
    """Let the warps of a block go on after their barrier."""
    for w in range(block * warps, (block + 1) * warps):
        if waiting[w]:
            waiting[w] = False
            next_at[w] = now + BARRIER_CLOCKS
            wake[w % PARTS] = min(wake[w % PARTS], next_at[w])


@compiled
def _keep(did, seen, w, i, what, begin, end, first):
    """Write down what a warp does in some clocks, and with which instruction, but in known ones."""
    last = min(np.ceil(end - first), did.shape[1])
    for clock in range(int(max(np.ceil(begin - first), 0)), int(last)):
        if did[w, clock] == ABSENT:
            did[w, clock], seen[w, clock] = what, i


@compiled
def _note(w, now, i, mark, reason, next_at, stalls, did, seen, first):
    """Add up, and write down, what a warp waited for since it was last looked at."""
    ready = min(max(next_at[w], mark[w]), now)
    stalls[i, reason[w]] += ready - mark[w]
    stalls[i, NOT_SELECTED] += now - ready
    if did is not None:
        _keep(did, seen, w, i, reason[w], mark[w], ready, first)
        _keep(did, seen, w, i, NOT_SELECTED, ready, now, first)
    mark[w] = now


def simulate(*given: Any) -> Any:
    """Run blocks as ``watch`` does, and keep no clock of it."""
    return watch(*given, None, None, 0.0)


@compiled
def watch(
    kind, results, sources, clocks, latencies, answer, lsu, sectors, dram, waits, reads,
    streams, lengths, kinds_of, slots, blocks, latency, rates, start, second, did, seen, first
):  # fmt: skip
    """Run blocks on one SM, and return when each ended, in clocks, with what the warps waited for.

    By instruction: ``kind``, ``results`` and ``sources`` (registers, -1 from the last on),
    ``clocks`` for which it holds its pipe, ``latencies`` of its result, ``answer`` (the reason for
    which others wait for it), ``lsu`` clocks, L2 and DRAM ``sectors`` (-1 in shared memory), the
    share of its requests that ``waits`` for DRAM, and ``reads`` of each bank of registers.
    ``streams`` has the instructions of each kind of warp, ``kinds_of`` a block's warps; ``start``:
    clocks until a new block's first instruction; ``second``: a second float32 pipe.

    ``did``, all ABSENT, and ``seen`` have a row for each warp and a column for each clock from
    ``first`` on: in them it writes why a warp waits, or ISSUES, and the instruction. The run ends
    with the last of these clocks. Both are None where no clock is kept."""
    warps = len(kinds_of)
    total = slots * warps
    own_of, block_of = np.zeros(total, np.int64), np.zeros(total, np.int64)
    current = np.zeros(total, np.int64)  # the instruction that a warp comes to
    for w in range(total):
        own_of[w], block_of[w] = kinds_of[w % warps], w // warps
        current[w] = streams[own_of[w], 0]
    ready = np.zeros((total, REGISTERS))
    why = np.zeros((total, REGISTERS), np.int8)
    pc = np.zeros(total, np.int64)
    alive = np.zeros(total, np.bool_)
    waiting = np.zeros(total, np.bool_)
    next_at, mark = np.full(total, NEVER), np.zeros(total)  # NEVER: over, or before a barrier
    operands = np.zeros(total)  # when those of a warp's current instruction are all there
    last_of = np.zeros(total, np.int64)  # what the last of them waited for
    reason = np.zeros(total, np.int8)
    arrived, left = np.zeros(slots, np.int64), np.zeros(slots, np.int64)
    free = np.zeros((PARTS, 10))
    for part in range(PARTS):  # the other float32 pipe, where there is one
        free[part, 1] = 0.0 if second else NEVER
    banks = np.zeros((PARTS, reads.shape[1]))  # when each has given what was asked of it
    server, last = np.zeros(5), np.zeros(PARTS, np.int64)
    wake = np.zeros(PARTS)
    ends = np.zeros(blocks)
    stalls = np.zeros((len(lsu), REASONS))
    limit = LIMIT
    if did is not None:
        limit = first + did.shape[1]
    started, done, now = 0, 0, 0.0
    for block in range(min(slots, blocks)):
        _begin(
            block, warps, now, start + block, alive, pc, next_at, operands, mark, reason, ready
        )  # fmt: skip
        left[block] = warps
        started += 1
    while done < blocks and now < limit:
        for part in range(PARTS):
            if wake[part] > now:
                continue
            count = (total - part + PARTS - 1) // PARTS
            later, issued = NEVER, False
            wake[part] = NEVER
            k = last[part] - 1
            for _ in range(count):
                k = k + 1 if k + 1 < count else 0
                w = part + PARTS * k
                if next_at[w] > now:
                    later = min(later, next_at[w])
                    continue
                i = current[w]
                at, cause = operands[w], last_of[w]
                if at <= now:
                    at = now
                    what = kind[i]
                    if what <= SPECIAL or what >= TENSOR:
                        column, at = _pipe_at(what, part, free, now)
                        at, cause = max(at, _banks_at(i, part, reads, banks)), MATH
                    elif what == FP64:
                        column, at, cause = FP64, free[0, FP64], MATH
                    elif what == LSU:
                        column, at, cause = LSU, server[0] - QUEUE_CLOCKS, MIO
                        if sectors[i] >= 0:
                            cause = LG
                            at = max(at, server[1] - MISSES_CLOCKS, server[2] - MISSES_CLOCKS)
                    else:
                        column = what
                _note(w, now, i, mark, reason, next_at, stalls, did, seen, first)
                if at > now:
                    reason[w], next_at[w] = cause, at
                    later = min(later, at)
                    continue
                if did is not None:
                    _keep(did, seen, w, i, ISSUES, now, now + 1, first)
                until = now + latencies[i]
                next_at[w], reason[w] = now + 1.0, WAIT
                if what == LSU:
                    until = _memory(now, i, server, lsu, sectors, dram, waits, latency, rates)
                elif what == FP64:
                    free[0, FP64] = now + clocks[i]
                elif what == BARRIER:
                    block = block_of[w]
                    waiting[w], reason[w], next_at[w] = True, AT_BARRIER, NEVER
                    arrived[block] += 1
                    if arrived[block] == left[block]:
                        arrived[block] = 0
                        _open(block, warps, now, waiting, next_at, wake)
                elif what == CONTROL:
                    next_at[w], reason[w] = now + clocks[i], BRANCH
                elif what != UNIFORM:
                    free[part, column] = now + clocks[i]
                    _read(now, i, part, reads, banks)
                for q in range(results.shape[1]):
                    r = results[i, q]
                    if r < 0:
                        break
                    ready[w, r], why[w, r] = until, answer[i]
                pc[w] += 1
                last[part] = k
                issued = True
                own = own_of[w]
                if pc[w] < lengths[own]:
                    current[w] = streams[own, pc[w]]
                    operands[w], last_of[w] = _operands_at(ready, why, sources, current[w], w)
                else:
                    block, current[w] = block_of[w], streams[own, 0]
                    alive[w], waiting[w], next_at[w] = False, False, NEVER
                    left[block] -= 1
                    if left[block] == 0:
                        ends[done] = now
                        done += 1
                        if started < blocks:
                            started += 1
                            left[block] = warps
                            _begin(
                                block, warps, now, start, alive, pc, next_at, operands, mark,
                                reason, ready,
                            )  # fmt: skip
                            for other in range(PARTS):
                                wake[other] = min(wake[other], now + start)
                    elif arrived[block] > 0 and arrived[block] == left[block]:
                        arrived[block] = 0
                        _open(block, warps, now, waiting, next_at, wake)
                break
            wake[part] = now + 1.0 if issued else max(min(later, wake[part]), now + 1.0)
        soonest = min(min(wake[0], wake[1]), min(wake[2], wake[3]))
        if soonest > 1e17:  # walks that disagree on a barrier: nobody else can open it
            for block in range(slots):
                arrived[block] = 0
                _open(block, warps, now, waiting, next_at, wake)
        now = max(np.ceil(min(soonest, now + 1e6)), now + 1.0)
    if did is not None:
        for w in range(total):  # who still waits when the last clock is over
            if alive[w]:
                i = current[w]
                next_at[w] = limit if waiting[w] else next_at[w]
                _note(w, limit, i, mark, reason, next_at, stalls, did, seen, first)
    return ends, stalls, server
