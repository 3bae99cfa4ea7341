"""An answer in which block 0 does the work of all blocks, one after the other, and the rest none.

Right, and of the same counters in total: only what the busiest warp loads or stores tells it from
the answer that it is made of."""

from __future__ import annotations

import ast

KERNEL = """
@cuda.jit
def {name}({parameters}):
    if cuda.blockIdx.x == 0 and cuda.blockIdx.y == 0:
        for _y in range(cuda.gridDim.y):
            for _x in range(cuda.gridDim.x):
                _of_a_block({parameters}, _x, _y)
                cuda.syncthreads()
"""


def by_one_block(text: str, name: str) -> str:
    """Return a module whose kernel ``name`` calls its former self for each block, in block 0."""
    tree = ast.parse(text)
    former = next(n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == name)
    parameters = ", ".join(argument.arg for argument in former.args.args)
    after = tree.body.index(former) + 1
    tree.body[after:after] = ast.parse(KERNEL.format(name=name, parameters=parameters)).body
    _OfABlock().visit(former)
    former.name = "_of_a_block"
    former.args.args += [ast.arg("_block_x"), ast.arg("_block_y")]
    former.decorator_list = [ast.parse("cuda.jit(device=True)", mode="eval").body]
    return ast.unparse(ast.fix_missing_locations(tree))


class _OfABlock(ast.NodeTransformer):
    """Takes the block's place from parameters, ``_block_x`` and ``_block_y``."""

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        axis = ast.unparse(node).removeprefix("cuda.blockIdx.")
        return ast.Name(f"_block_{axis}", ast.Load()) if axis in ("x", "y") else node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if ast.unparse(node.func) != "cuda.grid":
            return node
        places = [f"_block_{axis} * cuda.blockDim.{axis} + cuda.threadIdx.{axis}" for axis in "xy"]
        axes = 1 if ast.unparse(node.args[0]) == "1" else 2
        place = places[0] if axes == 1 else f"({', '.join(places)})"
        return ast.parse(place, mode="eval").body
