"""A program out of the cells of a page: it holds what one cell needs, and runs alone."""

from __future__ import annotations

import pytest
from support.editors import pages
from support.share import share_of_kinds

from warpwise.playground import play, program

CELLS = [
    "import numpy as np\nimport json\n\nfrom warpwise import cuda, trace",
    "# how many\nN = 64\nM = 65  # unused\n\n\n@cuda.jit\ndef fill(x):\n    x[cuda.grid(1)] = N",
    "y = json.dumps(3)",
]
TEXT = "x = np.zeros(N)\n# launched here\ntrace(fill, 2, 32, x)"


def test_it_holds_what_the_cell_needs_as_it_is_written():
    made = program({"cells": CELLS, "text": TEXT, "then": ""})
    assert made["launch"] == TEXT + "\n"
    assert made["kernel"] == (
        "import numpy as np\nfrom warpwise import cuda, trace\n\nN = 64\n\n\n"
        "@cuda.jit\ndef fill(x):\n    x[cuda.grid(1)] = N\n"
    )


def test_a_cell_that_defines_a_kernel_has_what_follows_as_its_launch():
    made = program(
        {"cells": CELLS[:1], "text": CELLS[1], "then": "trace(fill, 2, 32, np.ones(64))"}
    )
    assert made["kernel"].endswith("= N\n")
    assert made["launch"] == "trace(fill, 2, 32, np.ones(64))\n"


def test_a_text_that_is_no_python_comes_whole_with_all_before_it():
    made = program({"cells": CELLS[:1], "text": "x = (", "then": "x"})
    assert made == {"kernel": f"{CELLS[0]}\n\nx = (", "launch": "x"}


@pytest.mark.slow
def test_every_editable_cell_of_the_book_becomes_a_program_that_runs():
    """In an ordinary run one of each page, and some."""
    every = [(name, page, cell) for name, page in pages() for cell in page.editable]
    wrong = []
    for name, page, cell in share_of_kinds(every, lambda one: one[0], 4):
        texts = list(page.texts[: cell.at])
        made = program({"cells": texts, "text": cell.text, "then": cell.then})
        (shown,) = play(made)["kernels"]
        if shown["error"]:
            wrong.append((name, cell.at, shown["error"]))
    assert wrong == []
