"""Messages: the rule by which the hidden rendering leaves out what is private, and its kinds.

The package is read as syntax too, so that no template is put together from values and no error of a
running kernel is a text with numbers in it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest
from support.paths import ROOT

from warpwise import errors, messages
from warpwise.errors import KernelError, LabError, LaunchError, Location
from warpwise.messages import (
    Address,
    Chosen,
    Count,
    Datum,
    Element,
    Elsewhere,
    Index,
    Joined,
    Lane,
    LaneMask,
    Lengths,
    Limit,
    Name,
    Public,
    Size,
    Thread,
    message,
    plain,
)

X = Name("x")


@pytest.mark.parametrize(
    ("template", "open", "hidden"),
    [
        ("{size} of {name}", "7 of x", "its size of x"),
        ("in {name}[[, {size} long]].", "in x, 7 long.", "in x."),
        ("[[{size} threads|some threads]] of {name}", "7 threads of x", "some threads of x"),
        ("[[all of {name}|nothing]]", "all of x", "all of x"),
        ("[[{size}|of {name}]] and [[{name}|{size}]]", "7 and x", "of x and x"),
        ("{size:#04x}, {most:,}", "0x07, 1,024", "its size, 1,024"),
        ("[[{inner}|short]]; {inner}", "7 of x; 7 of x", "short; its size of x"),
        ("no value", "no value", "no value"),
    ],
)
def test_the_hidden_rendering_leaves_private_values_out(template, open, hidden):
    inner = message("{size} of {name}", size=Size(7), name=X)
    told = message(template, size=Size(7), name=X, most=Limit(1024), inner=inner)
    assert (told.open(), told.hidden()) == (open, hidden)


KINDS = [
    (Index(-3), "index -3", "an index"),
    (Index(3, 1), "index 3 of axis 1", "an index"),
    (Size(4), "4", "its size"),
    (Datum(2.5), "2.5", "a number"),
    (messages.Within("below 4"), "below 4", "within the array"),
    (Lengths((3, 4)), "(3, 4)", "two dimensions"),
    (Lengths((1, 2, 3, 4)), "(1, 2, 3, 4)", "4 dimensions"),
    (Element(X, (3, 4)), "x[3, 4]", "an element of x"),
    (Element(X, ()), "x", "an element of x"),
    (Count(1, "thread", "waits", "wait"), "1 thread waits", "some threads wait"),
    (Count(1024, "thread", "waits", "wait"), "1,024 threads wait", "some threads wait"),
    (Lane(5), "lane 5", "a lane"),
    (messages.LaneNumbers("lanes 0-4"), "lanes 0-4", "the lanes of the mask"),
    (Thread((1, 0, 0)), "thread (1, 0, 0)", "a thread"),
    (messages.Block((1, 0, 0)), "block (1, 0, 0)", "a block"),
    (messages.Rank(3), "rank 3", "a rank"),
    (Address(260), "address 0x104", "an address that does not fit"),
    (LaneMask(255), "255", "the mask"),
    (Chosen("one way"), "one way", ""),
    (messages.Later(lambda: "found"), "found", ""),
    (Elsewhere(plain("try")), "try", ""),
    (Joined((plain("a"), message("{n}", n=Size(3))), ", "), "a, 3", "a, its size"),
]


@pytest.mark.parametrize(("value", "open", "hidden"), KINDS)
def test_a_private_kind_is_told_in_generic_words(value, open, hidden):
    assert (value.private, value.open(), value.hidden()) == (True, open, hidden)


PUBLIC = {"Name", "Source", "Line", "TypeName", "Limit", "Constant", "Words"}


def kinds_of(base: type) -> set[str]:
    return {kind.__name__ for kind in base.__subclasses__()}


def test_every_kind_is_known_to_be_public_or_private():
    assert kinds_of(Public) == PUBLIC
    tested = {type(value).__name__ for value, *_ in KINDS}
    assert kinds_of(messages.Private) | {"Element", "Elsewhere", "Joined", "Later"} == tested
    for name in PUBLIC:
        value = getattr(messages, name)("one")
        assert (value.private, value.open(), value.hidden()) == (False, "one", "one")


def test_an_error_keeps_its_open_rendering_and_hides_thread_and_advice():
    where = Location("a.py", 5, "x[i] = 1", (0, 0, 0), (7, 0, 0))
    what = message("{index} is outside {array}", index=Index(9), array=X)
    error = KernelError(what, where, message("below {size}", size=Size(8)))
    assert (error.what, error.try_this) == ("index 9 is outside x", "below 8")
    assert str(error) == (
        "index 9 is outside x\n  at a.py:5, block (0, 0, 0), thread (7, 0, 0)\n    x[i] = 1\n"
        "  Try: below 8"
    )
    assert error.told.hidden() == "an index is outside x\n  at a.py:5\n    x[i] = 1"
    assert error.remedy.hidden() == "below its size"


def test_a_text_is_public_and_other_errors_are_private_as_a_whole():
    assert KernelError("{braces} [[and brackets]]").told.hidden() == "{braces} [[and brackets]]"
    assert LaunchError("too many").told.hidden() == "too many"
    assert isinstance(LaunchError("x"), ValueError)
    assert (LabError("n is 7").told.open(), LabError("n is 7").told.hidden()) == ("n is 7", "")


# The package as syntax.

FILES = sorted((ROOT / "warpwise").rglob("*.py"))
USING = [path for path in FILES if "warpwise.messages import" in path.read_text("utf-8")]
#: where errors are raised while a kernel runs, or is launched: their numbers are those of a case
RUNNING = ("simt/machine", "simt/sanitizer", "simt/lanes", "simt/builtins")
LAUNCHING = ("simt/launch.py", "simt/arguments.py")
JUDGES = ("judge", "results", "calls", "values", "described", "compare", "causes")
JUDGING = (*(f"labs/{name}.py" for name in JUDGES), "races.py")
WRITTEN = re.compile(r"^\w*(Error|Fault)$")
ERRORS = {name for name in vars(errors) if WRITTEN.match(name)} - {"TraceError", "LabError"}


def calls(tree: ast.AST, *names: str) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in names:
            yield node


def relative(path: Path) -> str:
    return path.relative_to(ROOT / "warpwise").as_posix()


def test_a_template_is_a_constant_and_names_the_values_that_are_given():
    found = 0
    for path in USING:
        for call in calls(ast.parse(path.read_text("utf-8")), "message"):
            where = f"{relative(path)}:{call.lineno}"
            assert len(call.args) == 1 and isinstance(call.args[0], ast.Constant), where
            template = call.args[0].value
            assert template.count("[[") == template.count("]]"), where
            bare = template.replace("[[", "").replace("]]", "")
            asked = {name for _, name, _, _ in Formatter().parse(bare) if name}
            given = {keyword.arg for keyword in call.keywords}
            assert asked <= given or None in given, (where, asked - given)
            assert None in given or given <= asked, (where, given - asked)
            found += 1
    assert found > 80


def test_messages_are_made_by_the_function_that_is_checked():
    direct = [
        relative(path)
        for path in FILES
        if any(calls(ast.parse(path.read_text("utf-8")), "Message"))
    ]
    assert direct == ["errors.py", "messages.py"]


#: public kinds that must not be put together from anything: what is in them cannot be told
BARE = {"Name", "Words", "Line", "Limit", "Constant", "plain"}


def test_no_public_value_is_a_text_put_together_on_the_way():
    """A text of the package's own with numbers in it would pass as public."""
    for path in FILES:
        name = relative(path)
        if name.startswith((*RUNNING, *LAUNCHING, *JUDGING)):
            for call in calls(ast.parse(path.read_text("utf-8")), *BARE):
                made = [n for n in ast.walk(call) if isinstance(n, ast.JoinedStr)]
                assert not made, f"{name}:{call.lineno}"


def running_functions(path: Path) -> Iterator[ast.FunctionDef]:
    """Yield what runs while a kernel does: whole modules, or a compiler's closures over masks."""
    name = relative(path)
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef):
            of_compiler = name.startswith(("simt/compiler", "simt/frontend"))
            closure = of_compiler and "mask" in {argument.arg for argument in node.args.args}
            if closure or name.startswith((*RUNNING, *LAUNCHING)):
                yield node


def is_formatted(node: ast.AST) -> bool:
    """True for a text made from values, outside of a message."""
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "message":
        return False
    made = isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("format", "join")
    )
    return made or any(map(is_formatted, ast.iter_child_nodes(node)))


def test_no_error_of_a_running_kernel_is_a_formatted_text():
    found = 0
    for path in FILES:
        for function in running_functions(path):
            texts: dict[str, list[ast.expr]] = {}
            for node in ast.walk(function):
                for target in getattr(node, "targets", ()):
                    if isinstance(target, ast.Name):
                        texts.setdefault(target.id, []).append(node.value)
            for call in calls(function, *ERRORS):
                found += 1
                for argument in (*call.args, *(keyword.value for keyword in call.keywords)):
                    for value in texts.get(getattr(argument, "id", ""), [argument]):
                        assert not is_formatted(value), f"{relative(path)}:{call.lineno}"
    assert found > 25
