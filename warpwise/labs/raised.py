"""Advice on the errors that Python and NumPy raise in a host function.

Their texts say what went wrong, in the words of whoever wrote NumPy. What to write instead is found
by a part of the text, and, where one error has several causes, by the line that raised it. Left
out: errors that a function raises on purpose, and those whose text already says what to do."""

from __future__ import annotations

import re
from collections.abc import Iterator

NAMED_AXES = (
    "print the shapes of both sides: NumPy lines them up at their last axis, where lengths must be "
    "equal, or one of them 1. keepdims=True or [:, None] keeps an axis of 1"
)
LARGER_OF_EACH = (
    "Python's {word} compares arrays as a whole: np.{whole}(a, b) takes the {more} number of each "
    "pair, and a.{word}(axis=...) the {most} along an axis"
)
EACH_ITS_OWN = (
    "a comparison of arrays has an answer for each element, and {word} needs a single one: "
    "np.where(condition, a, b) chooses for each element, and np.maximum(a, b) takes the larger of "
    "each pair"
)
JOINED = (
    "and, or and not need a single answer, and a comparison of arrays has one for each element: "
    "write (a > 0) & (a < 9), with & for and, | for or, ~ for not, and brackets round each part"
)
ONE_ANSWER = (
    "a comparison of arrays has an answer for each element, and Python needs a single one here: "
    "np.where chooses for each element, np.maximum and np.minimum stand for max and min, and "
    ".any() or .all() makes one answer of all"
)
OF_MATH = (
    "float, int and the functions of math take a single number, and get an array here: use "
    "NumPy's, such as np.exp, np.log and np.ceil, or .astype(...)"
)
IN_ONE_LIST = "put the arrays into one list: np.{word}([a, b])"
ONE_WHOLE_NUMBER = (
    "a single whole number is needed here, as in range(n) or as the index of a list, and an array "
    "is given: is its length meant, len(a), or one of its elements?"
)
WHOLE_NUMBER = (
    "a whole number is needed here, and this is a float: is it a value, where its index is meant, "
    "or a quotient? // gives whole numbers, int(...) makes one, .astype(np.int64) an array of them"
)
LAST_INDEX = (
    "the last element has the number length - 1: where does the index begin, and where does it end?"
)
FEWER_AXES = (
    "print the array's shape: it has fewer axes than are asked for here. Axes count from 0, and a "
    "sum or a maximum takes one away unless keepdims=True"
)
INTO_INTEGERS = (
    "an array of whole numbers cannot take floats in place: let it begin as floats, as np.zeros(n) "
    "does, or write a = a + b in place of a += b"
)
LARGE_EXP = (
    "math.exp ends at about 709, where its result leaves the range of a float: subtract the "
    "maximum before exp"
)
DOMAIN = (
    "a logarithm needs a number above 0, and a square root one that is not below 0: what is it "
    "taken of here, and what should the result be then?"
)
DIVISOR = "the divisor is 0 here: what should the result be then? Test for it before dividing"
IN_SETS = (
    "a set, or the key of a dictionary, holds numbers and tuples, but no arrays: a.tolist() makes "
    "a list of numbers, and tuple(a.tolist()) one key"
)
ONE_NUMBER = (
    "here is a single number, where several are expected: was an index, or a sum, taken once too "
    "often?"
)
UNPACKED = "count the names on the left of =, and the values on the right: they must be as many"
CALLED = (
    "round brackets call a function, and this is none: write x[i] for an element, * for a product, "
    "and give no variable the name of a function that you call later"
)
SHAPE = "a shape stands in brackets of its own: np.zeros((3, 4))"
RESHAPED = "a new shape must hold as many elements: multiply its lengths, and those of the old one"
ONE_PLACE = (
    "a single place gets several numbers here: is an index missing on the left, or a sum on the "
    "right? The rows of a matrix must all have one length"
)
NOTHING_THERE = (
    "there are no elements here to take that of: what should the result be then? Test for it "
    "first, or write initial=..., or default=... for Python's max and min"
)
MASK_LENGTH = "a mask must be as long as the axis that it chooses from: print both shapes"
NONE = (
    "None stands here: a function without return gives None, and so do list.append, list.sort and "
    "others that change what they are called on"
)
AN_ARRAY = "a list has no arithmetic of its own: make an array of it first, np.array(...)"
NUMPYS = "most functions of NumPy stand in front: np.exp(a), not a.exp()"
NO_SUCH = "NumPy has no function of that name: compare its spelling with the exercise's hints"
TOO_LARGE = (
    "the number does not fit into that type: work with Python's whole numbers or a wider type, and "
    "convert at the end"
)
BITS = "&, |, ^, << and >> need whole numbers on both sides: convert with .astype(np.uint32) first"
TOGETHER = "print the shapes: arrays that are put together have as many axes, and equal lengths"
NOT_YET = "no line that gives it a value has run here: give it one before the loop or the if"
ENDLESS = "a function that calls itself needs a case in which it does not"

#: a pattern of an error's text -> what to try
ADVICE: tuple[tuple[str, str], ...] = (
    ("convert.* to Python scalars|only (length|size)-1 arrays", OF_MATH),
    ("integer scalar array", ONE_WHOLE_NUMBER),
    (
        "as an integer|only integers, slices|indices must be integers|must be of integer",
        WHOLE_NUMBER,
    ),
    ("non-int of type|sequence of integers|to dtype.'int64'.* rule 'safe'", WHOLE_NUMBER),
    ("out of bounds for axis|index out of range", LAST_INDEX),
    ("for array of dimension|too many indices", FEWER_AXES),
    ("Cannot cast ufunc", INTO_INTEGERS),
    ("math range error", LARGE_EXP),
    ("math domain error|expected a (positive|nonnegative) input", DOMAIN),
    ("division by zero|modulo by zero|division or modulo", DIVISOR),
    ("unhashable type", IN_SETS),
    ("NoneType", NONE),
    ("object is not iterable|non-iterable|is not subscriptable|has no len", ONE_NUMBER),
    ("values to unpack", UNPACKED),
    ("is not callable", CALLED),
    ("Cannot interpret .* as a data type", SHAPE),
    ("cannot reshape", RESHAPED),
    ("array element with a sequence", ONE_PLACE),
    ("zero-size array|empty sequence|is empty", NOTHING_THERE),
    ("boolean index did not match", MASK_LENGTH),
    ("broadcast|matmul|not aligned", NAMED_AXES),
    ("all the input array|all input arrays", TOGETHER),
    ("'list' object has no attribute|operand type.*'(list|tuple)'", AN_ARRAY),
    ("'numpy.ndarray' object has no attribute", NUMPYS),
    ("module 'numpy' has no attribute", NO_SUCH),
    ("out of bounds for u?int|too large to convert", TOO_LARGE),
    ("not supported for the input types", BITS),
    ("cannot access local variable|before assignment", NOT_YET),
    ("maximum recursion", ENDLESS),
)
OF_MAX = {
    "max": LARGER_OF_EACH.format(word="max", whole="maximum", more="larger", most="largest"),
    "min": LARGER_OF_EACH.format(word="min", whole="minimum", more="smaller", most="smallest"),
}


def advice_on(error: BaseException, line: str) -> str:
    """Say what to try after an error that a line raised; "" where nothing general helps."""
    text = str(error)
    if "truth value of an array" in text:
        return _of_answers(line)
    word = re.search(r"\b(concatenate|stack|hstack|vstack)\(", line)
    if word and "integer scalar array" in text:
        return IN_ONE_LIST.format(word=word[1])
    return next((advice for pattern, advice in ADVICE if re.search(pattern, text)), "")


def _of_answers(line: str) -> str:
    """Say what to write where Python asks an array for one answer."""
    return next(_meant(line), ONE_ANSWER)


def _meant(line: str) -> Iterator[str]:
    """Yield what a line asks one answer for: a maximum, a condition, conditions joined."""
    for word, advice in OF_MAX.items():
        if re.search(rf"(?<![.\w]){word}\(", line):
            yield advice
    if re.search(r"\b(and|or|not)\b", line):
        yield JOINED
    for word in ("while", "if", "elif"):
        if re.search(rf"\b{word}\b", line):
            yield EACH_ITS_OWN.format(word=word)
