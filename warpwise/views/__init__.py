"""Pictures that move: one module and one plain ES module per widget, drawn from a trace or from a closed form.

Each widget has two front ends over one script: self-contained HTML for a page of the book, which needs no kernel and no network,
and an anywidget class for labs. ``core.js`` and ``core.css`` are what all widgets share; ``html`` joins them with a widget's own
script. Views read traces and never make them.
"""
