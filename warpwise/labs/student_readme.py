"""The README of a handout: how to set up, work and hand in, and which labs there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

README = """# {title}

These are the course's labs{term}, the book, and the package that both need.
All you need beforehand is Python 3.11 or newer.

## Labs

{labs}
{rules}
## Set up

In this folder, on Linux and macOS:

    python3 -m venv .venv
    .venv/bin/python -m pip install -r requirements.txt

On Windows it is `py -m venv .venv`, and `.venv\\Scripts\\` in place of `.venv/bin/` here and below.

## Work

    .venv/bin/jupyter lab labs                            # open the labs
    .venv/bin/warpwise check labs/{first}     # which exercises pass
    .venv/bin/warpwise doctor                             # what is installed, and what is missing

Write your answers into the cells that define a function with `...` in it, and leave the names of
functions and files as they are. Each exercise has hints, and a check below it that says what is
wrong. No GPU is needed.

Chapters are in `chapters/`: in JupyterLab, right-click one, then *Open With*, *Notebook*.{site}

## Hand in

Save the lab, run `warpwise check` on it once more, and hand in the notebook, such as
`labs/{first}`, under its own name. Only the text of your cells counts; outputs and
pictures are made again when it is graded.

## When a lab is replaced

Unpack the new handout into a folder of its own, beside this one, and set it up as above. There

    .venv/bin/warpwise labs update ../OLD-FOLDER

moves your answers into the new labs, and says which exercises have changed. Nothing in the old
folder is touched. With another way of getting the new labs, such as a pull, bring a notebook up to
date where it lies: `warpwise labs update NOTEBOOK --from NEW-FOLDER` keeps the old one beside it.

This is Warpwise {warpwise}.
"""
SITE = " Open `site/index.html` to read them as pages."


@dataclass(frozen=True)
class Plan:
    """What an instructor has set, in words: columns of the table of labs, by stem, and rules.

    Columns come in order, each with its heading."""

    columns: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    rules: Sequence[str] = ()


def readme(
    title: str, versions: Mapping[str, str], plan: Plan, warpwise: str, term: str, site: bool
) -> str:
    """Write the README of a handout with labs of these versions."""
    return README.format(
        title=title,
        term=f" for {term}" if term else "",
        first=f"{next(iter(versions))}.ipynb",
        labs="\n".join(_table(versions, plan)),
        rules="".join(f"\n{rule}\n" for rule in plan.rules),
        warpwise=warpwise,
        site=SITE if site else "",
    )


def _table(versions: Mapping[str, str], plan: Plan) -> list[str]:
    """Return the rows of the table of labs; columns that say nothing of these labs are left out."""
    there = {head: cells for head, cells in plan.columns.items() if set(cells) & set(versions)}
    heads = ["lab", *there, "version"]
    rows = [
        [f"`labs/{stem}.ipynb`", *(cells.get(stem, "") for cells in there.values()), f"`{version}`"]
        for stem, version in versions.items()
    ]
    return [f"| {' | '.join(cells)} |" for cells in (heads, ["---"] * len(heads), *rows)]
