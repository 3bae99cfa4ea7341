// The text of a cell in CodeMirror: Python, in the page's own colours, left with Escape.

import { minimalSetup } from "codemirror";
import { indentWithTab } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import { HighlightStyle, bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { lintKeymap, linter, setDiagnostics } from "@codemirror/lint";
import { Prec, StateEffect, StateField } from "@codemirror/state";
import { Decoration, EditorView, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { wrapping } from "./wrapping.js";

// Colours are those of editable.css, in light and dark.
const colour = (name) => ({ color: `var(--ww-code-${name})` });
const HIGHLIGHT = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.self], ...colour("keyword") },
  { tag: [tags.string, tags.special(tags.string)], ...colour("string") },
  { tag: [tags.number, tags.bool, tags.null], ...colour("number") },
  { tag: tags.comment, ...colour("comment") },
  { tag: [tags.function(tags.definition(tags.variableName)), tags.meta], ...colour("name") },
]);
const THEME = EditorView.theme({
  "&": { color: "inherit", backgroundColor: "transparent", fontSize: "inherit" },
  ".cm-content": { caretColor: "var(--pst-color-text-base)", fontFamily: "var(--pst-font-family-monospace)" },
  ".cm-scroller": { fontFamily: "var(--pst-font-family-monospace)", lineHeight: "1.45" },
  ".cm-cursor": { borderLeftColor: "var(--pst-color-text-base)" },
  ".cm-gutters": { background: "transparent", color: "var(--pst-color-text-muted)", border: "none" },
  ".cm-activeLine, .cm-activeLineGutter": { background: "var(--ww-code-line)" },
  "&.cm-focused .cm-matchingBracket": { background: "var(--ww-code-match)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { background: "var(--ww-code-selected) !important" },
  ".cm-tooltip, .cm-panels": { background: "var(--pst-color-surface)", color: "var(--pst-color-text-base)", maxWidth: "36rem" },
  ".cm-diagnosticText": { whiteSpace: "pre-wrap" },
  ".cm-lintRange": { backgroundImage: "none", paddingBottom: 0, textDecoration: "underline wavy 2px", textUnderlineOffset: "3px", textDecorationSkipInk: "none" },
  ".cm-lintRange-warning": { textDecorationColor: "var(--ww-code-race)" },
  ".cm-lintRange-error": { textDecorationColor: "var(--ww-code-error)" },
  ".cm-line.ww-wrong": { background: "var(--ww-code-wrong)", boxShadow: "inset 3px 0 var(--ww-code-error)" },
});

const blame = StateEffect.define();
const wrong = StateField.define({
  create: () => Decoration.none,
  update(marks, transaction) {
    for (const effect of transaction.effects)
      if (effect.is(blame)) {
        const line = effect.value >= 1 && effect.value <= transaction.state.doc.lines && transaction.state.doc.line(effect.value);
        return line ? Decoration.set([Decoration.line({ class: "ww-wrong", attributes: { "aria-invalid": "true" } }).range(line.from)]) : Decoration.none;
      }
    return marks.map(transaction.changes);
  },
  provide: (field) => EditorView.decorations.from(field),
});

// A remark on a line, as CodeMirror underlines it: from its first letter to its end.
function remark(doc, { line, kind, text }) {
  const { from, to, text: written } = doc.line(line);
  return { from: from + written.search(/\S|$/), to, severity: kind === "error" ? "error" : "warning", message: text };
}

// changed() hears of every edit, run() of Ctrl-Enter, leave() of Escape.
export function code({ text, parent, changed, run, leave, label = "Python code" }) {
  const keys = [
    { key: "Mod-Enter", run: () => (run(), true) },
    { key: "Escape", run: () => (leave(), true) },
    indentWithTab,
    ...lintKeymap,
  ];
  const view = new EditorView({
    doc: text,
    parent,
    extensions: [
      Prec.high(keymap.of(keys)),
      minimalSetup,
      lineNumbers(),
      highlightActiveLineGutter(),
      highlightActiveLine(),
      bracketMatching(),
      wrapping,
      indentOnInput(),
      python(),
      indentUnit.of("    "),
      syntaxHighlighting(HIGHLIGHT),
      THEME,
      wrong,
      linter(null, { tooltipFilter: () => [] }), // what is said of lines stands below the code, not over it
      EditorView.contentAttributes.of({ "aria-label": `${label}. Escape leaves the editor.` }),
      EditorView.updateListener.of((update) => update.docChanged && changed()),
    ],
  });
  return {
    focus: () => view.focus(),
    text: () => view.state.doc.toString(),
    replace: (text) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } }),
    // Underline lines: { line, kind: "race" or "error", text }.
    remark(list) {
      const { doc } = view.state;
      const found = list.filter(({ line }) => line >= 1 && line <= doc.lines).map((one) => remark(doc, one));
      view.dispatch(setDiagnostics(view.state, found));
    },
    mark: (line) => view.dispatch({ effects: blame.of(line) }),
  };
}
