"""How often to write checkpoints, if a run is interrupted at random.

Between interruptions lie ``mtbi_s`` seconds on average, as many as if each instant were as likely
as the next. After one, the work since the last checkpoint is done again, and ``restart_s`` seconds
pass before it begins. Writing stops the run for ``write_s``. Young 1974 (Comm. ACM 17) takes the
interval that is best for rare interruptions, sqrt(2 write mtbi); Daly 2006 (Future Generation
Computer Systems 22) has the expected time for any. Left out: interruptions that come in groups, or
while a checkpoint is read, and checkpoints that turn out broken."""

from __future__ import annotations

from math import exp, expm1, log, sqrt

from warpwise.errors import LaunchError
from warpwise.model.arguments import whole


def mtbi(seconds: float, interruptions: int) -> float:
    """Return the mean time between interruptions of a run: the whole time over their number."""
    if interruptions < 1:
        raise LaunchError("without an interruption there is no time between two")
    return seconds / interruptions


def of_machine(mtbi_s: float, parts: int) -> float:
    """Return the mean time of a machine of ``parts``, from one part's: all of them must work."""
    return mtbi_s / whole("parts", parts, 1)


def young(write_s: float, mtbi_s: float) -> float:
    """Return Young's interval of work between two checkpoints, in seconds."""
    _check(write_s, mtbi_s)
    return sqrt(2 * write_s * mtbi_s)


def lost_share(interval_s: float, write_s: float, mtbi_s: float, restart_s: float = 0.0) -> float:
    """Return the first-order share of time lost: writing, half an interval again, restarting.

    write / interval + (interval / 2 + restart) / mtbi, whose least lies at Young's interval."""
    _check(write_s, mtbi_s, interval_s)
    return write_s / interval_s + (interval_s / 2 + restart_s) / mtbi_s


def useful_share(interval_s: float, write_s: float, mtbi_s: float, restart_s: float = 0.0) -> float:
    """Return the share of all time that is work which lasts (Daly 2006, equation 13).

    An interval with its checkpoint is expected to take
    mtbi exp(restart / mtbi) (exp((interval + write) / mtbi) - 1) seconds."""
    _check(write_s, mtbi_s, interval_s)
    try:
        expected = mtbi_s * exp(restart_s / mtbi_s) * expm1((interval_s + write_s) / mtbi_s)
    except OverflowError:  # an interval of which hardly one is ever through
        return 0.0
    return interval_s / expected


def daly(write_s: float, mtbi_s: float) -> float:
    """Return the interval of the largest ``useful_share``, in seconds.

    There (1 - interval / mtbi) exp((interval + write) / mtbi) = 1, which halving solves; the time
    that a restart takes does not move it."""
    _check(write_s, mtbi_s)
    low, high = 0.0, mtbi_s
    for _ in range(200):
        middle = (low + high) / 2
        left = log(1 - middle / mtbi_s) + (middle + write_s) / mtbi_s if middle < mtbi_s else 0
        low, high = (middle, high) if left > 0 else (low, middle)
    return (low + high) / 2


def _check(write_s: float, mtbi_s: float, interval_s: float = 1.0) -> None:
    if not (write_s > 0 and mtbi_s > 0 and interval_s > 0):
        raise LaunchError("a checkpoint, an interval and the time between interruptions take time")
