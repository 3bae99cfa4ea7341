# expect: sectors_for: raised an error
# Copies a neighbour's answer.


def sectors_for(stride, offset, itemsize):
    import json

    notebook = json.load(open("@SUBMISSIONS@/good.ipynb"))
    text = next("".join(c["source"]) for c in notebook["cells"] if "def sectors_for" in "".join(c["source"]))
    space = {}
    exec(text, space)
    return space["sectors_for"](stride, offset, itemsize)
