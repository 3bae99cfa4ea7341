"""The language of kernels, as one table: every statement, expression, function and word of CUDA.

An entry says how it is shown, which handler compiles it, and an example that the tests run. From
it come the compiler's dispatch, the spellings and the advice in messages, the names that
``warpwise.cuda`` offers, and the book's page of the kernel language. What is new in the language is
one entry: in ``syntax``, ``functions``, ``cuda_words``, ``hopper_words`` or ``instructions``, or
for what a kernel cannot use in ``refused``. A function of numbers is an entry in a table of
``builtins``, from which its entry here is made."""

from __future__ import annotations

from warpwise.simt.compiler.context import Language
from warpwise.simt.compiler.entries import Vocabulary
from warpwise.simt.compiler.language.cuda_words import CALLED, READ
from warpwise.simt.compiler.language.functions import FUNCTIONS
from warpwise.simt.compiler.language.hopper_words import HOPPER
from warpwise.simt.compiler.language.instructions import INSTRUCTIONS
from warpwise.simt.compiler.language.refused import REFUSED_CUDA, REFUSED_SYNTAX
from warpwise.simt.compiler.language.syntax import SYNTAX
from warpwise.simt.compiler.vectors import VECTORS

LANGUAGE = Language(
    statements={kind: handler for part in SYNTAX for kind, handler in part.statements.items()},
    expressions={kind: handler for part in SYNTAX for kind, handler in part.expressions.items()},
    iterables={called: handler for part in SYNTAX for called, handler in part.iterables.items()},
    attributes={name: handler for part in SYNTAX for name, handler in part.attributes.items()},
    methods={name: handler for part in SYNTAX for name, handler in part.methods.items()},
    functions={function: entry.handler for function, entry in FUNCTIONS.items()},
    words={word.name: word.handler for word in (*CALLED, *HOPPER, *INSTRUCTIONS)},
    values={word.name: word.handler for word in READ},
    refused=REFUSED_SYNTAX,
    vocabulary=Vocabulary(
        called={word.name: word.shown for word in (*CALLED, *HOPPER)},
        read=tuple(word.name for word in READ),
        vectors=VECTORS,
        refused=REFUSED_CUDA,
        functions=FUNCTIONS,
    ),
)
