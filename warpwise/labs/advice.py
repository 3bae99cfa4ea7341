"""Advice that verdicts give, beside that of errors. It never shows a value of the case."""

from __future__ import annotations

import ast

from warpwise.labs.budgets import counter_value, within
from warpwise.labs.exercise import Launch
from warpwise.labs.first_float64 import first_float64
from warpwise.labs.kept_in_memory import kept_in_memory
from warpwise.labs.lookup import names_of_arguments
from warpwise.messages import Chosen, Message, Words, message, plain
from warpwise.metrics import ABOUT
from warpwise.simt import Kernel
from warpwise.traces import Trace

AN_ARRAY = "return an array: np.array([...])"
A_NUMBER = "return one number"
INTEGERS = "whole numbers are asked for: use //, len() or int()"
INTEGER_ARRAY = (
    "an array of whole numbers is asked for: give it the dtype that the exercise names, where it "
    "begins or with .astype(...) at the end; an empty array needs it too"
)
OF_LABEL = (
    "the exercise asks which one it is, a whole number, and not how much: np.argmin gives the "
    "index of the least, np.min its value"
)
SEVERAL = "return {} values, with a comma between them"
TUPLE_AND_NO_LIST = "return a tuple in place of the list: leave out its [ ], or write tuple(...)"
NOTHING_RETURNED = (
    "end the function with return; if it does, what it returns was never set to anything but None: "
    "print what that depends on"
)
SEVERAL_AND_NOT_NONE = f"{SEVERAL}; {NOTHING_RETURNED}"
SWAPPED = "the results stand in another order than is asked for: exchange them in the return"
SWAPPED_OR_EQUAL = f"{SWAPPED}; or, of two that are equally good, the other one is taken"
BY_HAND = "work this element out by hand, step by step as the exercise states it"
SMALL_CASE = "work a small case out by hand, step by step as the exercise states it"
FOLLOW_IT = "follow by hand what your function works out for the result that it returns"
OTHER_SHAPE = "look again at the shape that the exercise asks for"
OF_TYPE = (
    "{0} is asked for: name it where the array begins, as in np.zeros(3, np.{0}), "
    "or convert at the end, with .astype(np.{0})"
)
ONE_TILE = "make one tile of the large array at a time, and let go of it before the next"
EQUALS = (
    "what is done where two numbers are equal, as where a maximum comes twice: does each of them "
    "count, and is it < or <=?"
)
INDICES = (
    "look at the indices with which {names} are read, and at masks and edges: elements that should "
    "count do not, or others do"
)
ENDLESS = "change, in every trip of that loop, something that its condition reads"
TOO_SLOW = (
    "count how often each loop runs for these arguments; "
    "one whose condition never becomes false looks the same"
)
TIMED_OUT = "only compute: do not wait, sleep or ask for input"

NEIGHBOURS = (
    "neighbouring lanes should access neighbouring elements: "
    "which of the indices does threadIdx.x move?"
)
FLOAT64 = (
    "a literal such as 2.0 is a float64, and a float32 combined with a whole number becomes one, "
    "here or on a line above: write np.float32(2), np.float32(n)"
)
OVER_BUDGET = {
    "sectors_per_request_load": NEIGHBOURS,
    "sectors_per_request_store": NEIGHBOURS,
    "global_load_sectors": NEIGHBOURS,
    "global_store_sectors": NEIGHBOURS,
    "global_load_bytes": "load each value once, into a variable, before the loop that uses it, "
    "and nothing that no thread needs",
    "global_store_bytes": "write each result once, when it is finished, "
    "and store nothing that is easily computed again where it is needed",
    "global_load_requests": "lanes that load together share one request: "
    "let neighbouring threads load neighbours, and load each once",
    "global_store_requests": "lanes that store together share one request: "
    "let neighbouring threads store neighbours, and store each once",
    "global_atomic_requests": "atomics on shared memory stay on the chip: "
    "gather there first, and add to global memory once, at the end",
    "atomics": "fewer atomics: add up within a thread, a warp or a block first, and let one thread "
    "add the sum",
    "global_bytes_distinct": "more of global memory is touched than the answer needs: "
    "which array need not be read or written at all?",
    "global_bytes_moved": "more is moved than is needed: is each element touched once, "
    "by a warp whose neighbouring lanes touch neighbouring elements?",
    "shared_load_requests": "load a value of shared memory once, into a variable, "
    "and use it several times",
    "shared_store_requests": "write to shared memory only what other threads will read",
    "shared_bank_conflicts": "word w lies in bank w % 32; tile[i, j] is word i * columns + j, and "
    "tile[w] of a flat tile word w: write down the banks of lanes 0, 1 and 2 there",
    "shared_bytes_per_block": "shared memory should hold the tiles that one step needs, not more",
    "local_bytes_per_thread": "an array of one thread should hold one row or one tile of numbers, "
    "however long the whole is",
    "most_bytes_loaded_by_a_warp": "a warp loads more than its share: "
    "all warps of all blocks should take part, each with its own elements",
    "most_bytes_stored_by_a_warp": "a warp stores more than its share: "
    "each thread of each block should write its own part of the result, and each element once",
    "loads_stored_at_once": "a store to shared memory waits for the load that brings its value: "
    "load early, into variables or a local array, compute, and store only then",
    "warp_efficiency": "lanes of one warp should take the same path, "
    "and every warp should be full of work",
    "divergent_branches": "a condition that differs between the lanes of a warp makes it take both "
    "paths: test something that is the same for all its lanes",
    "branches": "each if and each iteration of a loop is a branch: "
    "can one expression, such as min or max, take its place?",
    "barriers": "a barrier is needed between writing a tile and reading it, "
    "and before it is overwritten: which others are there, or does the loop make a trip too many?",
    "op_special": "compute each exp, tanh or square root once and keep it, or share it, as slopes "
    "often follow from the result; or does a loop go on to elements that nobody needs?",
    "flops_fp32": "compute each number once, in one thread, and only where it is used: "
    "is something computed and thrown away? Or can the formula be written with fewer operations, "
    "as without powers?",
    "op_fp32": "** and comparisons count too, and so does each step that is done twice",
    "op_fp64": FLOAT64,
    "flops_fp64": FLOAT64,
}
FLOAT64_COUNTERS = ("op_fp64", "flops_fp64", "fp64_share")
INSTRUCTIONS = (
    "every warp is charged for each instruction that one of its lanes runs: take out of loops what "
    "stays the same there, and let the lanes of a warp go the same way"
)
FEW_LANES = 0.75  # share of the lanes that are active, below which warps part
APART = (
    "the lanes of its warps go different ways, and a warp is charged for both: let those that do "
    "the same work sit in one warp"
)
#: by the counter of a kind of work: what to do about it where it is most of all
OF_A_KIND = {
    "op_integer": "most of the work is arithmetic of whole numbers, such as indices: work out what "
    "stays the same once, before the loop",
    "op_control": "most of the work is branches and the ends of loops: let a trip do more, or let "
    "one expression, such as min or max, take the place of an if",
    "op_memory": "most of the work is loads and stores: load a value once, into a variable",
    "op_fp32": "most of the work is float32 arithmetic: is something computed twice, or computed "
    "and thrown away?",
    "op_conversion": "most of the work is conversions of types: convert once, before the loop",
    "op_communication": "most of the work is shuffles and votes of warps: is each step needed?",
    "op_special": "most of the work is exp, sqrt and the like: compute each once and keep it",
}
#: counters of what global memory is asked for, which tiles in shared memory bring down
OF_LOADS = (
    "global_load_requests",
    "global_load_bytes",
    "global_load_sectors",
    "global_bytes_moved",
)
NOT_SHARED = (
    "the threads of a block load the same values, each for itself: let the block load a tile of "
    "them into shared memory once, and let its threads read them there"
)
REPEATED = (
    "the same sectors are loaded more than once: load each element once, into a variable, before "
    "the loop that uses it, or once for a block"
)
FEW_LANES_ADD = (
    "on average a request adds for two lanes at most: let 32 lanes add neighbouring elements in "
    "one request"
)
FEW_BYTES = 8  # that the atomics of two lanes touch, of numbers of four bytes
FEW_SECTORS = 9.0  # of a request, for numbers of eight bytes that lie side by side
BEST_SECTORS = 4.0  # of a request, for numbers of four bytes
SECOND_TILE = (
    "the budget of shared memory has room for twice as much: a tile that goes where nobody reads "
    "needs no barrier before it is stored"
)
WIDE_SHARED = (
    "are elements of shared memory float64? Those of float32 take half the room. If they have to "
    "be: "
)
#: for exercises in which a value says what is done with it, wherever it lies
GIVEN_ORDER = (
    "which elements lie side by side is given here, so no order of the threads helps: let each "
    "lane choose a number before one loop, and do in a round only what differs from the one before"
)
#: for exercises on attention, whose budgets count the tiles that some query sees
HIDDEN_TILES = (
    "a tile that the mask hides from every query of the block need be neither loaded nor computed: "
    "where should the loop over tiles begin, and where end? What is needed is loaded once"
)


def less_of(kernel: Kernel, launch: Launch, counter: str, t: Trace) -> Message:
    """Suggest how to keep the budget of a counter, by the exercise's own advice if it has some.

    What it says follows from the exercise, the counter, the kernel's text and the types of its
    arguments alone; but the owner reads what most warp instructions do, and what counts tell."""
    if counter in FLOAT64_COUNTERS and (begins := _first_float64(kernel, launch, t)):
        return plain(begins)
    if _of_memory(counter) and (kept := kept_in_memory(kernel, counter)):
        return plain(kept)
    if counter in launch.advice:
        return plain(launch.advice[counter])
    if counter in OF_LOADS and _asks_for_tiles(launch) and not _shares(t):
        return plain(NOT_SHARED)
    if counter in OVER_BUDGET:
        by_counts = Chosen(_by_counts(kernel, launch, counter, t))
        return message("[[{found}|{any}]]", found=by_counts, any=Words(OVER_BUDGET[counter]))
    if counter == "warp_instructions":
        mostly = Chosen(_mostly(t))
        return message("[[{mostly}|{any}]]", mostly=mostly, any=Words(INSTRUCTIONS))
    return plain(f"{counter}: {ABOUT[counter].meaning}")


def _by_counts(kernel: Kernel, launch: Launch, counter: str, t: Trace) -> str:
    """Return what other counters tell of one over its budget, or else the usual advice."""
    usual = OVER_BUDGET[counter]
    if counter == "global_load_sectors":
        best = launch.budget.get("sectors_per_request_load", BEST_SECTORS)
        again = t.metrics.global_load_sectors > t.metrics.global_load_sectors_distinct
        return REPEATED if again and t.metrics.sectors_per_request_load <= best else usual
    if counter == "barriers":
        used, most = (
            counter_value(t, "shared_bytes_per_block"),
            launch.budget.get("shared_bytes_per_block", 0.0),
        )
        return SECOND_TILE if 0 < 2 * used <= most else usual
    if counter == "global_bytes_moved":
        kinds = ("load", "store")
        apart = any(getattr(t.metrics, f"sectors_per_request_{k}") > FEW_SECTORS for k in kinds)
        return NEIGHBOURS if apart else usual
    if counter == "global_atomic_requests":
        m = t.metrics
        few = m.global_atomic_bytes <= FEW_BYTES * m.global_atomic_requests
        return FEW_LANES_ADD if few else usual
    if counter == "shared_bytes_per_block":
        half = counter_value(t, counter) / 2
        half_would_do = within(counter, half, launch.budget.get(counter, half))
        return WIDE_SHARED + usual if half_would_do and _shares_float64(kernel) else usual
    return usual


def _shares_float64(kernel: Kernel) -> bool:
    """True if the text makes an array of float64 in shared memory."""
    calls = (node for node in ast.walk(kernel.tree) if isinstance(node, ast.Call))
    made = (ast.unparse(call) for call in calls if "shared.array" in ast.unparse(call.func))
    return any("float64" in text for text in made)


def _of_memory(counter: str) -> bool:
    return counter.startswith(("global_", "shared_", "sectors_per", "most_bytes"))


def _first_float64(kernel: Kernel, launch: Launch, t: Trace) -> str:
    names = names_of_arguments(kernel.parameters, len(launch.args))
    return first_float64(kernel, dict(zip(names, launch.args, strict=True)), t)


def _mostly(t: Trace) -> str:
    """Say which kind of work most of a launch's instructions are."""
    if t.metrics.warp_efficiency < FEW_LANES:
        return APART
    kind = max(OF_A_KIND, key=lambda name: getattr(t.metrics, name))
    return OF_A_KIND[kind]


def _asks_for_tiles(launch: Launch) -> bool:
    """True if the budget leaves room for shared memory, as it does where that is to be used."""
    return any(limit > 0 for name, limit in launch.budget.items() if name.startswith("shared_"))


def _shares(t: Trace) -> bool:
    """True if the kernel's text makes an array in shared memory."""
    return any("shared.array" in line for line in t.source.values())


#: by reason or counter, of a program that runs on the ranks of a cluster
OF_RUNS = {
    "deadlock": "follow each rank, call by call: which one waits, and which other rank should do "
    "its part then? Ranks that all send first, or all receive first, wait for one another",
    "ranks do not agree": "both ends of a transfer name the same shape and type, and all ranks the "
    "same collective",
    "array still in use": "an array belongs to a transfer until the wait for it: wait first, or "
    "work on a copy",
    "mistake among ranks": "does the call get arrays, for one number np.array([x]), and ranks that "
    "exist? And is whatever was started waited for?",
    "most_bytes_sent_by_a_rank": "does a rank send a whole array where a piece would do, or the "
    "same piece twice?",
    "most_bytes_over_a_link": "which link carries more than the others? Share the bytes out",
    "most_bytes_in_a_collective": "a collective of all arrays together can begin only when the "
    "last one is there: start one for each bucket",
    "collectives": "which collectives are needed? The exercise may ask for sends and receives "
    "alone",
    "microseconds": "does a rank do work that others do too, or wait where it could go on?",
    "microseconds_not_hidden": "what travels while no rank computes? Start it as soon as its "
    "numbers are there, go on computing, and wait only before the result is used",
    "rounds": "which messages wait for others that they do not need? Let all ranks send at once",
}
