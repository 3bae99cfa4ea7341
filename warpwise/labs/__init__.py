"""Labs: from one text source to the notebook a student opens, the checks inside it, and the judge that decides."""

from warpwise.labs.check import check, picture
from warpwise.labs.exercise import Call, InOut, Launch, Out, Verdict

__all__ = ["Call", "InOut", "Launch", "Out", "Verdict", "check", "picture"]
