"""What stands around a widget's picture: its title, the question to try it with, and the controls
that the question takes. The others wait behind "More"."""

from __future__ import annotations

from dataclasses import dataclass

from warpwise.views.controls import Control, Hidden, Player, Stepper, form

ALWAYS = (Hidden, Player, Stepper)  #: what moves a picture on, and what nobody sees


@dataclass(frozen=True)
class Frame:
    """A title, a question, and the names of the controls that answer it. All are HTML."""

    title: str
    question: str
    main: tuple[str, ...]

    @property
    def head(self) -> str:
        return f'<p class="asks"><b>{self.title}</b> {self.question}</p>'


def framed(controls: tuple[Control, ...], above: str, frame: Frame | None) -> str:
    """Return what stands above the picture; without a frame, all controls are in sight."""
    if frame is None:
        return above + form(controls)
    always = tuple(one for one in controls if isinstance(one, ALWAYS))
    main = tuple(one for one in controls if one.name in frame.main and one not in always)
    others = tuple(one for one in controls if one not in (*always, *main))
    return frame.head + above + form(main, others, always)
