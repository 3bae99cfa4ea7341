"""Hostile notebooks: each function takes the solved notebook of lab 1 and returns what is handed in, as a notebook, text or bytes.

The first line of its docstring says what must come of it: ``full`` points, ``none``, a ``problem`` with a part of its text, or the
exercises that must fail, each with its reason.
"""

from __future__ import annotations

import json
from copy import deepcopy

WRONG = "from warpwise import cuda\n\n\n@cuda.jit\ndef square(x, out):\n    i = cuda.grid(1)\n    if i < x.size:\n        out[i] = 0\n"


def exercise(notebook: dict, id: str) -> dict:
    return next(cell for cell in notebook["cells"] if cell["metadata"].get("warpwise", {}).get("id") == id)


def code(text: str) -> dict:
    return {"cell_type": "code", "metadata": {"tags": ["given"]}, "source": text, "outputs": [], "execution_count": None}


def above_a_wrong_answer(notebook: dict, text: str) -> dict:
    """A wrong ``square``, with ``text`` in the same cell and, for graders that run what is handed in, in a cell at the top and the end."""
    exercise(notebook, "square")["source"] = f"{text}\n\n{WRONG}"
    notebook["cells"] = [code(text), *notebook["cells"], code(text)]
    return notebook


# Metadata, outputs and the order of cells.


def tagged_to_be_skipped(notebook: dict) -> dict:
    """square: not done yet: a stub that is tagged to be skipped, to raise, to be given, and worth a thousand points."""
    exercise(notebook, "square")["source"] = "@cuda.jit\ndef square(x, out):\n    ...\n"
    for cell in notebook["cells"]:
        cell["metadata"]["tags"] = ["nbval-skip", "raises-exception", "given", "remove-cell"]
        if "warpwise" in cell["metadata"]:
            cell["metadata"]["warpwise"] |= {"points": 1000, "passed": True, "kind": "given"}
    notebook["metadata"]["warpwise"] |= {"points": 1000, "passed": True, "version": "'; drop table"}
    return notebook


def another_kernel(notebook: dict) -> dict:
    """full: the kernel is one of Ruby, of another minor version, with a language that there is not."""
    notebook["metadata"] |= {"kernelspec": {"name": "../../bin/sh", "display_name": "Ruby", "language": "ruby"}, "language_info": {"name": 3}}
    return notebook | {"nbformat_minor": 99}


def a_kernel_that_is_a_command(notebook: dict) -> dict:
    """full: the kernel's entry holds a command to start it with."""
    notebook["metadata"]["kernelspec"] = {"argv": ["sh", "-c", "touch /tmp/pwned"], "env": {"PATH": "/tmp"}, "name": "x" * 10_000}
    return notebook


def deleted(notebook: dict) -> dict:
    """square: no answer: its cell and its check are deleted."""
    gone = [c for c in notebook["cells"] if "square" in c["metadata"].get("warpwise", {}).values()]
    return notebook | {"cells": [c for c in notebook["cells"] if c not in gone]}


def deleted_given_cells(notebook: dict) -> dict:
    """full: only the exercises are left."""
    return notebook | {"cells": [c for c in notebook["cells"] if "id" in c["metadata"].get("warpwise", {})]}


def wrong_copy_below(notebook: dict) -> dict:
    """square: wrong result: a wrong copy stands below the right one, and counts, as it does when a notebook runs."""
    return notebook | {"cells": [*notebook["cells"], exercise(notebook, "square") | {"source": WRONG}]}


def hundreds_of_copies(notebook: dict) -> dict:
    """full: five hundred wrong copies stand above the right one."""
    return notebook | {"cells": [exercise(notebook, "square") | {"source": WRONG} for _ in range(500)] + notebook["cells"]}


def retyped(notebook: dict) -> dict:
    """square: no answer: its cell is a raw one."""
    exercise(notebook, "square")["cell_type"] = "raw"
    return notebook


def reordered(notebook: dict) -> dict:
    """full: all cells in reverse."""
    return notebook | {"cells": notebook["cells"][::-1]}


def renamed(notebook: dict) -> dict:
    """square: name not defined: the kernel has another name."""
    cell = exercise(notebook, "square")
    cell["source"] = cell["source"].replace("def square", "def cube")
    return notebook


def ids_exchanged(notebook: dict) -> dict:
    """full: two exercises claim to be each other."""
    one, other = (exercise(notebook, id)["metadata"] for id in ("square", "add"))
    one["warpwise"], other["warpwise"] = other["warpwise"], one["warpwise"]
    return notebook


def another_lab(notebook: dict) -> dict:
    """full: it says that it is another lab, of another course, in another folder."""
    notebook["metadata"]["warpwise"] = {"lab": "../../19_capstone", "course": "/tmp"}
    return notebook


def forged_outputs(notebook: dict) -> dict:
    """square: wrong result: every output says that all is well, and runs a script in a browser."""
    for cell in above_a_wrong_answer(notebook, "")["cells"]:
        if cell["cell_type"] == "code":
            html = "<script>alert('square: passed')</script>"
            cell["outputs"] = [
                {"output_type": "stream", "name": "stdout", "text": "square: passed\n"},
                {"output_type": "display_data", "data": {"text/html": html, "application/javascript": "alert(1)"}, "metadata": {}},
            ]
    return notebook


def an_answer_too_long(notebook: dict) -> dict:
    """square: no answer: more than a hundred thousand characters."""
    exercise(notebook, "square")["source"] += "#" * 100_000
    return notebook


def sources_of_every_type(notebook: dict) -> dict:
    """full: cells whose source, metadata and id are of every type."""
    odd = (None, 3, 1e400, True, [], {}, [[]], ["a", None, {"b": 1}], "\ud800", "\0")
    cells = [{"cell_type": "code", "source": one, "metadata": other, "id": one} for one in odd for other in odd]
    return notebook | {"cells": [*cells, *odd, *notebook["cells"], *odd]}


# Files.


def format_3(notebook: dict) -> dict:
    """problem: format 3: an old notebook, with worksheets."""
    return {"nbformat": 3, "metadata": {}, "worksheets": [{"cells": notebook["cells"]}]}


def formats_of_both(notebook: dict) -> str:
    """full: the format twice; the last one counts."""
    return '{"nbformat": 3, "cells": [], ' + json.dumps(notebook)[1:]


def a_format_without_end(notebook: dict) -> str:
    """problem: format: a format of four thousand digits."""
    return json.dumps(notebook | {"nbformat": "@"}).replace('"@"', "9" * 4000)


def empty(notebook: dict) -> str:
    """problem: empty: nothing but blanks."""
    return " \n\t" * 1000


def truncated(notebook: dict) -> str:
    """problem: JSON breaks off: an upload that ended early."""
    return json.dumps(notebook)[:-200]


def not_utf_8(notebook: dict) -> bytes:
    """problem: not UTF-8: another encoding."""
    return json.dumps(notebook).encode("utf-16")


def a_pickle(notebook: dict) -> bytes:
    """problem: : a pickle that runs a command when it is read."""
    return b"cos\nsystem\n(S'touch /tmp/pwned'\ntR."


def numbers_that_are_none(notebook: dict) -> str:
    """full: metadata of NaN and infinities, which is no JSON."""
    notebook["metadata"]["numbers"] = [float("nan"), float("inf"), -float("inf")]
    return json.dumps(notebook)


def ten_megabytes_of_brackets(notebook: dict) -> str:
    """problem: no list of cells: millions of empty lists, which take thirty times their text in memory."""
    return '{"nbformat": 4, "cells": {"": [' + "[]," * 3_300_000 + "[]]}}"


def too_many_cells(notebook: dict) -> dict:
    """problem: more than 1,000 code cells: each of which would be read."""
    return notebook | {"cells": [*notebook["cells"], *[code("x = 1")] * 1000]}


def ten_megabytes_of_cells(notebook: dict) -> str:
    """full: a million cells that are none."""
    return json.dumps(notebook | {"cells": ["@", *notebook["cells"]]}).replace('"@"', ",".join(["{}"] * 1_000_000), 1)


def long_cells(notebook: dict) -> dict:
    """full: beside the answers as much Python as in twenty labs, which has to be read."""
    return notebook | {"cells": [*notebook["cells"], *[code("x = 1\n" * 15_000) for _ in range(2)]]}


def two_hundred_megabytes(notebook: dict) -> int:
    """problem: 10 MB: a file of 200 MB, most of which is a hole."""
    return 200 << 20


# Cells that attack what runs them. Only what is shown may change, never a point.


def input_transformer(notebook: dict) -> dict:
    """square: wrong result: IPython is told to turn each later cell into pass."""
    text = "get_ipython().input_transformers_post.append(lambda lines: ['pass\\n'])\n"
    return above_a_wrong_answer(notebook, text + "get_ipython().ast_transformers.append(type('T', (), {'visit': lambda s, n: None})())")


def patched_judges(notebook: dict) -> dict:
    """square: wrong result: the check, the judge, NumPy's comparisons, pytest and nbval are replaced by ones that are content."""
    return above_a_wrong_answer(notebook, PATCHES)


PATCHES = """
import builtins, sys
import numpy.testing, pytest
import warpwise.labs, warpwise.labs.judge, warpwise.labs.check, warpwise.traces, warpwise.simt
content = lambda *args, **kwargs: warpwise.labs.Verdict(True, "passed")
for module in list(sys.modules.values()):
    for name in ("check", "judge", "judge_launch", "judge_call", "judge_value", "compare", "assert_allclose", "array_equal", "allclose"):
        if hasattr(module, name):
            try:
                setattr(module, name, content)
            except Exception:
                pass
builtins.AssertionError = type("None", (BaseException,), {})
"""


def files_for_the_next(notebook: dict) -> dict:
    """square: wrong result: conftest.py, sitecustomize.py, pytest.ini, start-up files and modules, wherever they can be written."""
    return above_a_wrong_answer(notebook, FILES)


FILES = """
import os
from pathlib import Path
folders = [".", "..", "/tmp", "~", "~/.ipython/profile_default/startup", "~/.jupyter", "~/.local/lib/python3.11/site-packages", "/inside", "/site",
           "/site/warpwise", "@ROOT@", "@ROOT@/tests", "@COURSE@", "@SUBMISSIONS@", "@HOME@", "/dev/shm", "/var/tmp"]
for folder in folders:
    for name in ("conftest.py", "sitecustomize.py", "usercustomize.py", "pytest.ini", "numpy.py", "00_pwned.py", "pwned", "jupyter_config.py"):
        try:
            path = Path(folder).expanduser()
            path.mkdir(parents=True, exist_ok=True)
            (path / name).write_text("import os\\nos._exit(0)\\n")
        except OSError:
            pass
"""


def display_hooks(notebook: dict) -> dict:
    """square: wrong result: hooks that show what the reference shows, whatever a cell gives."""
    return above_a_wrong_answer(notebook, HOOKS)


HOOKS = """
import sys
shell = get_ipython()
sys.displayhook = shell.displayhook.__class__.__call__ = lambda *args: print("square: passed")
shell.display_pub.publish = lambda *args, **kwargs: None
shell.events.register("post_run_cell", lambda result: setattr(result, "error_in_exec", None))
shell.showtraceback = shell.showsyntaxerror = lambda *args, **kwargs: None
"""


def comms_and_forged_messages(notebook: dict) -> dict:
    """square: wrong result: messages of the kernel that it sends itself, and comms that are opened without end."""
    return above_a_wrong_answer(notebook, MESSAGES)


MESSAGES = """
kernel = get_ipython().kernel
for kind, content in (("execute_reply", {"status": "ok", "execution_count": 1}), ("status", {"execution_state": "idle"}),
                      ("stream", {"name": "stdout", "text": "square: passed"}), ("comm_open", {"comm_id": "x", "target_name": "y", "data": {}})):
    for parent in ({}, kernel.get_parent()):
        try:
            kernel.session.send(kernel.iopub_socket, kind, content, parent=parent)
            kernel.session.send(kernel.shell_stream, kind, content, parent=parent)
        except Exception:
            pass
try:
    from comm import create_comm
    comms = [create_comm(target_name="pwned", data={"x": "y" * 1000}) for _ in range(200)]
except Exception:
    pass
"""


def ends_what_runs_it(notebook: dict) -> dict:
    """square: wrong result: it kills its parent, whatever shares its group, and itself."""
    text = "import os, signal\nfor pid in (os.getppid(), 1, 0, -1, os.getpid()):\n    try:\n        os.kill(pid, signal.SIGKILL)\n"
    return above_a_wrong_answer(notebook, text + "    except OSError:\n        pass")


def forged_report(notebook: dict) -> dict:
    """square: wrong result: it writes what the sandbox would report of a sound notebook into every pipe that it can open."""
    return above_a_wrong_answer(notebook, REPORT)


REPORT = r"""
import glob, json, os
line = json.dumps({"cell": 1, "about": {"check": "square"}, "passed": True, "why": "<script>alert(1)</script>\x1b[2J=cmd"}).encode() + b"\n"
for number in range(3, 64):
    try:
        if not os.isatty(number) and "pipe" in os.readlink(f"/proc/self/fd/{number}"):
            os.write(number, line)
    except OSError:
        pass
for path in glob.glob("/proc/[0-9]*/fd/*"):
    try:
        os.write(os.open(path, os.O_WRONLY | os.O_NONBLOCK), line)
    except OSError:
        pass
"""


def handlers_and_threads(notebook: dict) -> dict:
    """square: wrong result: handlers of exits and signals, threads, forks and timers that would go on for ever."""
    return above_a_wrong_answer(notebook, HANDLERS)


HANDLERS = """
import atexit, os, signal, threading, time
atexit.register(lambda: time.sleep(3600))
for number in range(1, 32):
    try:
        signal.signal(number, lambda *args: time.sleep(3600))
    except (OSError, ValueError):
        pass
threading.Thread(target=time.sleep, args=(3600,)).start()
for _ in range(5):
    try:
        if os.fork() == 0:
            os.setsid()
            time.sleep(3600)
    except OSError:
        break
"""


def floods(notebook: dict) -> dict:
    """square: wrong result: tens of megabytes of output, as text and as markup."""
    text = "for k in range(20):\n    print('x' * 1_000_000)\nfrom IPython.display import HTML, display\ndisplay(HTML('<b>' * 3_000_000))"
    return above_a_wrong_answer(notebook, text)


def reads_the_notebook(notebook: dict) -> dict:
    """square: wrong result: it searches files, processes and variables for a secret and for the solution, and shows them."""
    return above_a_wrong_answer(notebook, READS)


READS = """
import glob, os
seen = [str(dict(os.environ))]
roots = ["@COURSE@", "@SUBMISSIONS@", "@HOME@", "@ROOT@/tests", "@ROOT@/solutions", "/tmp", "/inside", "/home", "/root", "/mnt"]
paths = [os.path.join(here, file) for root in roots for here, _, files in os.walk(root) for file in files]
for path in paths + glob.glob("/proc/[0-9]*/environ") + glob.glob("/proc/[0-9]*/cmdline"):
    try:
        seen.append(open(path, "rb").read(1_000_000).decode("utf-8", "replace"))
    except OSError:
        pass
found = [text for text in seen if "canary" + "-is-" in text]
if found:
    raise ValueError(found[0][found[0].index("canary" + "-is-"):])
"""


def made(solved: dict) -> dict[str, tuple[dict | str | bytes | int, str]]:
    """By name: what is handed in, and what must come of it."""
    functions = {name: f for name, f in globals().items() if callable(f) and (f.__doc__ or "").count(":") and f.__module__ == __name__}
    chosen = {name: f for name, f in functions.items() if name not in ("made", "above_a_wrong_answer", "exercise", "code")}
    return {name: (f(deepcopy(solved)), f.__doc__) for name, f in chosen.items()}
