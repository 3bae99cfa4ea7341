// What the editor takes of CodeMirror.

export { basicSetup, EditorView } from "codemirror";
export { python } from "@codemirror/lang-python";
