// Lines that are too long for the editor go on below, behind their own indentation.

import { RangeSetBuilder } from "@codemirror/state";
import { Decoration, EditorView, ViewPlugin } from "@codemirror/view";

const MOST = 24; // of an indentation that is kept, in characters

function hanging(line) {
  const indent = Math.min(/^\s*/.exec(line.text)[0].length, MOST) + 2;
  return Decoration.line({ attributes: { style: `padding-left: calc(6px + ${indent}ch); text-indent: -${indent}ch` } });
}

function decorations({ state, visibleRanges }) {
  const built = new RangeSetBuilder();
  for (const { from, to } of visibleRanges)
    for (let at = from; at <= to; ) {
      const line = state.doc.lineAt(at);
      built.add(line.from, line.from, hanging(line));
      at = line.to + 1;
    }
  return built.finish();
}

const indented = ViewPlugin.fromClass(
  class {
    constructor(view) {
      this.decorations = decorations(view);
    }
    update({ docChanged, viewportChanged, view }) {
      if (docChanged || viewportChanged) this.decorations = decorations(view);
    }
  },
  { decorations: (plugin) => plugin.decorations },
);

export const wrapping = [EditorView.lineWrapping, indented];
