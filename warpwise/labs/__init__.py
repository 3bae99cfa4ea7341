"""Labs: a student's notebook from one text source, its checks, and the judge behind them."""

from warpwise.labs.check import check, passed, picture
from warpwise.labs.exercise import Call, InOut, Launch, Out, Program, Verdict
from warpwise.labs.ladder import Attempts, Ladder
from warpwise.labs.rates import Rates

__all__ = [
    "Attempts",
    "Call",
    "InOut",
    "Ladder",
    "Launch",
    "Out",
    "Program",
    "Rates",
    "Verdict",
    "check",
    "passed",
    "picture",
]
