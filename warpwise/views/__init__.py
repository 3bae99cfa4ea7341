"""Pictures that move: per widget a Python module and an ES module, over a trace or a formula.

Each widget has two front ends over one script: self-contained HTML for a page of the book, which
needs no kernel and no network, and an anywidget class for labs. A widget's module makes a ``View``:
the name of its script, its data and its controls. ``show`` of the script turns data and values into
a picture and a sentence, with the shapes of ``draw.js``; ``form.js`` and ``explore.js`` move it in
a browser, and QuickJS runs it where there is none. ``core.js`` is what all widgets share, and a
style sheet is named like the module that it belongs to; ``html`` joins a widget's files. Views read
traces and never make them."""
