"""Mutated notebooks: real submissions with changes in a cell, in the structure, or in the bytes.

    from support.mutate import mutants
    for content in mutants(seed=1, count=500, originals=[...]): ...

The same seed makes the same mutants. Each meets one to three mutations, drawn from the three tables
below."""

from __future__ import annotations

import copy
import json
import random
import re
from collections.abc import Callable, Iterator, Sequence

TOKEN = re.compile(r"\w+|[ \t]+|\n|[^\w\s]+|\s")
KEYWORDS = (
    "and as assert async await break class continue def del elif else except finally for from "
    "global if import in is lambda match nonlocal not or pass raise return try type while with "
    "yield case None True False self cuda np range len print"
)
OPERATORS = (
    "+ - * / // % ** @ & | ^ << >> ~ < > <= >= == != = += -= := -> : ; , . ... ( ) [ ] { } "
    "? ! $ ` \\ ' \" ''' #"
)
VALUES = (
    "0 -1 1e400 -0.0 1j 0x_ff 1_0 2**64 10**10**8 1<<10**7 'a'*10**9 None True ... () "
    "[] {} '' b'' f'{1}' __import__('os') lambda:0"
)
STATEMENTS = r"""global x
nonlocal x
del x
del x, out[0]
import os
from math import *
raise ValueError("no")
raise
assert False, x
yield 1
await x
return 1
return
return x, out
break
continue
x: float = 3
x: int
(x := 3)
x = y = z = 0
x, *y = 1, 2, 3
print(f"{f'{x!r:>{10}}'}")
print(x, sep="")
with x as y: pass
try: pass
while True: pass
while 1: out[0] = 1
for i in range(10**9): pass
for i in x: pass
for x in range(3): break
if x: pass
class C: pass
def inner(): return 1
inner = lambda: 1
x = [i for i in range(3)]
x = {i: i for i in range(3)}
x = (yield)
x = x if x else x
x = not x
x = x < 1 < 2 in (3,)
x = x[..., None, ::2]
x = x @ x
x = "text"
x = b"bytes"
x = 10 ** 5000
x = 1 << 100000
x = -7 // 0
x = 1.0 % 0.0
x = [[0] * 10 ** 6] * 10 ** 6
x = float("nan")
x = eval("1")
x = __import__("os").system("true")
x = x.__class__.__base__.__subclasses__()
x = np.float32(1) + np.float64(2)
x = np.array([1, 2, 3])
x = np.zeros(10 ** 12)
x = cuda.grid(4)
x = cuda.grid("x")
x = cuda.shared.array(0, np.float32)
x = cuda.shared.array((10 ** 6, 10 ** 6), np.float64)
x = cuda.shared.array(x, x)
x = cuda.local.array(-1, np.int8)
x = cuda.threadIdx.w
x = cuda.nothing
cuda.syncthreads()
cuda.syncthreads(1, 2)
cuda.atomic.add(out, 0, 1)
cuda.atomic.add(out, (0, 0, 0), "1")
cuda.shfl_sync(0, 1, 99)
cuda.threadIdx = 3
out = None
out[0] = out
out[10 ** 18] = 1
out[-1] = 1
out[0.5] = 1
out.shape = 3
out[0][0][0] = 1
x = x()
x = out(1)(2)
type X = int
match x:\n        case 1: pass
match x:\n        case [1, *rest] if rest: pass
match = type = case = 1
try:\n        pass\n    except* ValueError:\n        pass
if x:\n        y = 1\n    y = y
@cuda.jit\n    def inner(a): a[0] = 1""".split("\n")
DECORATORS = r"""@staticmethod
@cuda.jit(device=True)
@cuda.jit()
@cuda.jit("void(float32[:], float32[:])")
@cuda.jit("nonsense((")
@cuda.jit(nothing=1)
@cuda.jit(*[1], **{})
@cuda.jit(cuda.jit)
@functools.cache
@(lambda f: f)
@1 + 1
@cuda
@jit
@numba.cuda.jit
@cuda.jit\n@cuda.jit""".split("\n")
WRAPPERS = r"""if True:
if 0:
class C:
async def outer():
def outer():
try:
with open("x") as f:
while True:
for i in range(3):
match 1:\n  case 1:
if True:\n  if True:\n   if True:""".split("\n")
WHOLE = [
    "",
    " ",
    "\n",
    "#",
    "...",
    "pass",
    "?",
    "!ls",
    "%%bash\nrm -rf /",
    "def f(:",
    "x",
    "\\",
    '"""',
    "'",
    "(",
    ")",
    "\x00",
    "\ufeff",
    "@cuda.jit",
]
WHOLE += [
    "from __future__ import annotations",
    "# -*- coding: utf-7 -*-",
    "\t\tx = 1\n  y = 2",
    "0" * 5000,
    "x" * 90_000,
    "\n" * 90_000,
    "# " + "é" * 40_000,
]
LETTERS = "\x00\x0b\x0c\r\x1b\x85\xa0\xad\u200b\u2028\u202e\ud800\udfff\ufeff\uff41µİǅ\U0001d431🎉"
RUBBISH = [
    None,
    True,
    0,
    -1,
    4.0,
    1e308,
    10**400,
    "",
    "x",
    "\ud800",
    "\x00",
    [],
    {},
    [[]],
    [None],
    {"": {}},
    {"cells": []},
    float("nan"),
    float("-inf"),
]


def mutants(seed: int, count: int, originals: Sequence[dict]) -> Iterator[bytes]:
    """Yield ``count`` mutants of notebooks, as the bytes of their files."""
    for number in range(count):
        rng = random.Random(f"{seed}/{number}")
        yield mutant(rng, copy.deepcopy(rng.choice(originals)))


def mutant(rng: random.Random, notebook: dict) -> bytes:
    for _ in range(rng.choice((1, 1, 2, 3))):
        if rng.random() < 0.7:
            cell = _code_cell(rng, notebook)
            if cell is not None:
                cell["source"] = mutated_text(rng, cell["source"])
        else:
            rng.choice(STRUCTURE)(rng, notebook)
    content = json.dumps(notebook, indent=rng.choice((None, 1))).encode("utf-8", "surrogatepass")
    return rng.choice(BYTES)(rng, content) if rng.random() < 0.15 else content


def mutated_text(rng: random.Random, text: str) -> str:
    """Mutate a cell's text one to three times, whether or not it stays Python."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        text = rng.choice(TEXT)(rng, text)
    return text[:99_000]


# Mutations of a cell's text: (rng, text) -> text.


def _tokens(rng: random.Random, text: str) -> str:
    """Delete, double, exchange or replace a token."""
    tokens = TOKEN.findall(text) or [""]
    i, j = (rng.randrange(len(tokens)) for _ in range(2))
    kind = rng.randrange(5)
    if kind == 0:
        del tokens[i]
    elif kind == 1:
        tokens.insert(j, tokens[i])
    elif kind == 2:
        tokens[i], tokens[j] = tokens[j], tokens[i]
    else:
        tokens[i] = rng.choice(rng.choice((KEYWORDS, OPERATORS, VALUES)).split() + tokens)
    return "".join(tokens)


def _name(rng: random.Random, text: str) -> str:
    """Replace a name everywhere, by another of the cell, a keyword, or odd letters."""
    names = sorted(set(re.findall(r"[^\W\d]\w*", text))) or ["x"]
    new = rng.choice(
        [
            *names,
            *KEYWORDS.split(),
            "\uff4f\uff55\uff54",
            "\ufb01",
            "été",
            "__class__",
            "_" * 300,
            "x1" * 2000,
        ]
    )
    return re.sub(rf"\b{rng.choice(names)}\b", new, text)


def _number(rng: random.Random, text: str) -> str:
    return _one_of(rng, text, r"\b\d+\b", VALUES.split())


def _operator(rng: random.Random, text: str) -> str:
    return _one_of(rng, text, r"[-+*/%<>=&|^]+", OPERATORS.split())


def _one_of(rng: random.Random, text: str, pattern: str, news: Sequence[str]) -> str:
    found = list(re.finditer(pattern, text))
    if not found:
        return text
    at = rng.choice(found)
    return text[: at.start()] + rng.choice(news) + text[at.end() :]


def _lines(rng: random.Random, text: str) -> str:
    """Delete, double, exchange or reindent a line, or join it to the next."""
    lines = text.split("\n")
    i, j = (rng.randrange(len(lines)) for _ in range(2))
    kind = rng.randrange(6)
    if kind == 0:
        del lines[i]
    elif kind == 1:
        lines.insert(j, lines[i])
    elif kind == 2:
        lines[i], lines[j] = lines[j], lines[i]
    elif kind == 3:
        lines[i] = rng.choice((" ", "\t", "    ", "\x0c", " " * 500)) + lines[i]
    elif kind == 4:
        lines[i] = lines[i].lstrip()
    else:
        lines[i] += rng.choice((" \\", ";", "; x = 1", " # type: ignore", "\r"))
    return "\n".join(lines)


def _letter(rng: random.Random, text: str) -> str:
    at = rng.randrange(len(text) + 1)
    return text[:at] + rng.choice(LETTERS) + text[at:]


def _statement(rng: random.Random, text: str) -> str:
    """Put a statement into a function, at its line's indentation."""
    lines = text.split("\n")
    inside = [i for i, line in enumerate(lines) if line.startswith("    ")] or [0]
    at = rng.choice(inside)
    indent = re.match(r"\s*", lines[at])[0]
    names = re.findall(r"[^\W\d]\w*", text) or ["x"]
    new = rng.choice(STATEMENTS).replace("\\n", "\n").replace("\n    ", "\n" + indent)
    new = re.sub(r"\bx\b", rng.choice(names), new) if rng.random() < 0.6 else new
    return "\n".join([*lines[:at], indent + new, *lines[at:]])


def _deep(rng: random.Random, text: str) -> str:
    """Put a deeply nested or very long expression for a number, or after the text."""
    n = rng.choice((5, 60, 90, 150, 400, 3000, 20_000))
    made = [
        "(" * n + "1" + ")" * n,
        "[" * n + "]" * n,
        "-" * n + "1",
        "not " * n + "1",
        " + ".join("1" * n),
        "**".join("2" * n),
        " < ".join("1" * n),
        " and ".join("1" * n),
        " if 1 else ".join("1" * n),
        "x" + ".x" * n,
        "x" + "[0]" * n,
        "x" + "()" * n,
        "lambda:" * n + "1",
        "(" + "1," * n + ")",
        "'" + "a" * n + "'",
        "f'{" * min(n, 90) + "1" + "}'" * min(n, 90),
        "{1:" * n + "1" + "}" * n,
        "1" * n,
        "0." + "1" * n,
        "'a' " * n,
        "abs(" * n + "1" + ")" * n,
    ]
    new = rng.choice(made)
    return (
        _one_of(rng, text, r"\b\d+\b|\bout\b", [new])
        if rng.random() < 0.7
        else f"{text}\nx = {new}\n"
    )


def _blocks(rng: random.Random, text: str) -> str:
    """Nest statements deeply: ``if 1:`` in ``if 1:``, or one ``elif`` after another."""
    n = rng.choice((15, 50, 99, 110, 600))
    if rng.random() < 0.5:
        made = "".join(" " * i + "if 1:\n" for i in range(n)) + " " * n + "pass"
    else:
        made = "if 1: pass\n" + "elif 1: pass\n" * n
    indent = rng.choice(("", "    "))
    return text + "\n" + "\n".join(indent + line for line in made.split("\n"))


def _decorator(rng: random.Random, text: str) -> str:
    if rng.random() < 0.2:
        return re.sub(r"^@.*\n", "", text, flags=re.M)
    new = rng.choice(DECORATORS).replace("\\n", "\n")
    return re.sub(
        r"^(async )?def ",
        lambda found: f"{new}\n{found[0]}",
        text,
        count=rng.choice((0, 1)),
        flags=re.M,
    )


def _wrapped(rng: random.Random, text: str) -> str:
    """Put the whole cell inside a block."""
    return (
        rng.choice(WRAPPERS).replace("\\n", "\n")
        + "\n"
        + "\n".join("    " + line for line in text.split("\n"))
    )


def _signature(rng: random.Random, text: str) -> str:
    news = [
        "*args",
        "**kw",
        "a, /, b",
        "a, *, b",
        "a=1",
        "a: int = []",
        "",
        "a, a",
        "x, out, *, y=0",
        ",".join(f"a{i}" for i in range(300)),
    ]
    return _one_of(rng, text, r"(?<=\()[^()]*(?=\):)", news)


def _as_lambda(rng: random.Random, text: str) -> str:
    name = (re.findall(r"def (\w+)", text) or ["f"])[-1]
    made = [
        "{} = cuda.jit(lambda x, out: None)",
        "{} = lambda *a: 1",
        "{0} = {0}",
        "{} = None",
        "class {}: pass",
        "from numpy import add as {}",
    ]
    return (text + "\n" if rng.random() < 0.5 else "") + rng.choice(
        [*made, "del {}", "async def {}(x): pass", "for {} in []: pass"]
    ).format(name)


def _twice(rng: random.Random, text: str) -> str:
    return text + rng.choice(("", "\n", "\n\n", ";")) + text


def _cut(rng: random.Random, text: str) -> str:
    i, j = sorted(rng.randrange(len(text) + 1) for _ in range(2))
    return rng.choice((text[:i], text[i:], text[i:j], text[:i] + text[j:]))


def _whole(rng: random.Random, text: str) -> str:
    return rng.choice(WHOLE)


Text = Callable[[random.Random, str], str]
TEXT: list[Text] = [
    _tokens,
    _tokens,
    _tokens,
    _name,
    _name,
    _number,
    _number,
    _operator,
    _operator,
    _lines,
    _lines,
    _letter,
    _signature,
]
TEXT += [
    _statement,
    _statement,
    _statement,
    _statement,
    _deep,
    _deep,
    _blocks,
    _decorator,
    _wrapped,
    _as_lambda,
    _twice,
    _cut,
    _whole,
]


# Mutations of a notebook's structure, in place.


def _code_cell(rng: random.Random, notebook: dict) -> dict | None:
    cells = notebook.get("cells")
    cells = (
        [c for c in cells if isinstance(c, dict) and isinstance(c.get("source"), str)]
        if isinstance(cells, list)
        else []
    )
    exercises = [c for c in cells if str(c.get("id", "")).startswith("exercise-")]
    return rng.choice(exercises if exercises and rng.random() < 0.85 else cells) if cells else None


def _places(value: object) -> Iterator[tuple[dict | list, object]]:
    """Return every (holder, key) in nested lists and mappings."""
    for key, inner in (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    ):
        yield value, key
        yield from _places(inner)


def _dropped(rng: random.Random, notebook: dict) -> None:
    holder, key = rng.choice(list(_places(notebook)))
    del holder[key]


def _retyped(rng: random.Random, notebook: dict) -> None:
    holder, key = rng.choice(list(_places(notebook)))
    holder[key] = rng.choice(RUBBISH)


def _moved(rng: random.Random, notebook: dict) -> None:
    """Move a part of the notebook to another's place."""
    places = list(_places(notebook))
    (holder, key), (other, name) = rng.choice(places), rng.choice(places)
    holder[key] = copy.deepcopy(other[name])


def _cells(rng: random.Random, notebook: dict) -> None:
    cells = notebook.get("cells")
    if not isinstance(cells, list) or not cells:
        return
    kind = rng.randrange(6)
    if kind == 0:
        rng.shuffle(cells)
    elif kind == 1:
        cells += copy.deepcopy(cells)
    elif kind == 2:
        cells *= 40
    elif kind == 3:
        del cells[rng.randrange(len(cells)) :]
    elif kind == 4:
        cells.insert(rng.randrange(len(cells)), rng.choice([*RUBBISH, *cells]))
    else:
        cells.reverse()


def _cell_types(rng: random.Random, notebook: dict) -> None:
    for cell in notebook.get("cells") or []:
        if isinstance(cell, dict) and rng.random() < 0.3:
            cell["cell_type"] = rng.choice(
                ["code", "markdown", "raw", "Code", "heading", "", None, 3, ["code"]]
            )


def _sources(rng: random.Random, notebook: dict) -> None:
    """Turn sources into lists: of lines, of letters, of odd things."""
    for cell in notebook.get("cells") or []:
        if isinstance(cell, dict) and isinstance(cell.get("source"), str):
            lines = cell["source"].splitlines(keepends=True)
            odd = [x for line in lines for x in (line, rng.choice(RUBBISH))]
            cell["source"] = rng.choice(
                [
                    lines,
                    list(cell["source"]),
                    odd,
                    cell["source"].replace("\n", "\r\n"),
                    [lines],
                    {"text": lines},
                ]
            )


def _claims(rng: random.Random, notebook: dict) -> None:
    """Exchange ids and metadata between cells, or make them the same."""
    cells = [cell for cell in notebook.get("cells") or [] if isinstance(cell, dict)]
    for cell in cells:
        key = rng.choice(("id", "metadata"))
        if rng.random() < 0.3:
            cell[key] = copy.deepcopy(rng.choice(cells).get(key))


def _rubbish(rng: random.Random, notebook: dict) -> None:
    """Add attachments, outputs and deeply nested metadata that do not belong."""
    deep: object = 1
    for _ in range(rng.choice((3, 90, 800))):
        deep = {"a": deep} if rng.random() < 0.5 else [deep]
    place = rng.choice([notebook, *[c for c in notebook.get("cells") or [] if isinstance(c, dict)]])
    place[
        rng.choice(
            ("metadata", "attachments", "outputs", "extra", "warpwise", "nbformat_minor", "id")
        )
    ] = rng.choice([deep, "x" * 10**5, *RUBBISH])


def _format(rng: random.Random, notebook: dict) -> None:
    notebook[rng.choice(("nbformat", "nbformat_minor"))] = rng.choice(
        [*RUBBISH, 3, 4, 5, "4", 99, -4]
    )


STRUCTURE = [
    _dropped,
    _dropped,
    _retyped,
    _retyped,
    _moved,
    _cells,
    _cells,
    _cell_types,
    _sources,
    _claims,
    _rubbish,
    _format,
]


# Mutations of a file's bytes: (rng, content) -> content.


def _flipped(rng: random.Random, content: bytes) -> bytes:
    made = bytearray(content)
    for _ in range(rng.choice((1, 1, 3, 50))):
        made[rng.randrange(len(made))] = rng.randrange(256)
    return bytes(made)


def _truncated(rng: random.Random, content: bytes) -> bytes:
    return content[: rng.randrange(len(content))]


def _repeated(rng: random.Random, content: bytes) -> bytes:
    i, j = sorted(rng.randrange(len(content)) for _ in range(2))
    return rng.choice((content[:j] + content[i:], content[:i] + content[j:], content * 2))


def _key_twice(rng: random.Random, content: bytes) -> bytes:
    """Name a key of the JSON again, with another value."""
    key = rng.choice((b"cells", b"nbformat", b"source", b"cell_type", b"metadata", b"id"))
    value = rng.choice(
        (
            b"null",
            b"4",
            b"[]",
            b'"code"',
            b"NaN",
            b"1e999",
            b"-Infinity",
            b"9" * 5000,
            b"[" * 300 + b"]" * 300,
            b'"\\ud800"',
        )
    )
    return content.replace(
        b'"' + key + b'":', b'"' + key + b'": ' + value + b', "' + key + b'":', rng.choice((1, 99))
    )


def _nested(rng: random.Random, content: bytes) -> bytes:
    n = rng.choice((100, 990, 100_000))
    return content.replace(
        b'"metadata": {', b'"metadata": {"deep": ' + b"[" * n + b"]" * n + b", ", 1
    )


def _encoded(rng: random.Random, content: bytes) -> bytes:
    text = content.decode("utf-8", "replace")
    kind = rng.choice(("utf-8-sig", "utf-16", "utf-16-be", "utf-32", "latin-1", "cp1252"))
    return (
        text.encode(kind, "replace") if rng.random() < 0.7 else text.replace("\n", "\r\n").encode()
    )


BYTES = [_flipped, _flipped, _truncated, _repeated, _key_twice, _nested, _encoded]
