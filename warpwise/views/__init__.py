"""Pictures that move: one module and one plain ES module per widget, drawn from a trace or from a closed form.

Each widget has two front ends over one script: self-contained HTML for a page of the book, which needs no kernel and no network,
and an anywidget class for labs. A widget's module makes a ``View``: the name of its script, its data and its controls. ``show`` of the
script turns data and values into a picture and a sentence, with the shapes of ``draw.js``; ``form.js`` and ``explore.js`` move it in a
browser, and QuickJS runs it where there is none. ``core.js`` and ``core.css`` are what all widgets share; ``html`` joins them with a
widget's own script. Views read traces and never make them.
"""
