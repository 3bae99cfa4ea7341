"""``check`` and ``picture``: what they draw, and where they draw nothing."""

from __future__ import annotations

import numpy as np
import pytest

from warpwise import cuda, trace
from warpwise.labs import picture
from warpwise.traces import Trace
from warpwise.views import burst
from warpwise.views.view import View


@cuda.jit
def negated(x, y):
    i = cuda.grid(1)
    y[i] = -x[i]


class Counted:
    """The usual view, counting how often it is drawn."""

    def __init__(self):
        self.drawn = 0

    def of_trace(self, traced: Trace) -> View:
        self.drawn += 1
        return burst.of_trace(traced)


@pytest.mark.parametrize(("pictures", "drawn"), [("none", 0), ("", 1)])
def test_nothing_is_drawn_where_nobody_looks(monkeypatch, capsys, pictures: str, drawn: int):
    monkeypatch.setenv("WARPWISE_PICTURES", pictures)
    view = Counted()
    picture(trace(negated, 1, 32, np.ones(32, np.float32), np.zeros(32, np.float32)), view=view)
    assert view.drawn == drawn
    assert ("(picture)" in capsys.readouterr().out) == (not drawn)
