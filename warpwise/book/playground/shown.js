// What a run of the playground shows: each kernel's output under its verdict, and how the two differ.

import { Outputs } from "../editor/outputs.js";
import { checked } from "../editor/runtime.js";

const MOST = 200; // rows and marks
const text = (value) => (typeof value === "string" ? value : "");
const list = (value) => (Array.isArray(value) ? value.slice(0, MOST) : []);

export const element = (tag, attributes = {}, ...children) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
};

// A frame is not to be believed: what is said to have been shown, in the form that the page expects.
export function played(shown) {
  const mark = (one) => ({ cell: text(one?.cell), line: Number(one?.line) || 0, kind: text(one?.kind), text: text(one?.text) });
  const kernel = (one) => ({ ...checked(one), verdict: text(one?.verdict), marks: list(one?.marks).map(mark) });
  return {
    kernels: list(shown?.kernels).slice(0, 2).map(kernel),
    difference: list(shown?.difference).map((row) => list(row).slice(0, 4).map(text)),
  };
}

// The output of one kernel. The page's own, if there is one, stays until the first run.
export class Ran {
  constructor(name, original = element("div", { class: "cell_output", hidden: "" })) {
    this.verdict = element("p", { class: "ww-verdict" });
    this.place = element("div", { class: `cell ww-ran ww-ran-${name}` }, this.verdict, original);
    this.outputs = new Outputs(this.place);
  }

  show(kernel, name) {
    this.outputs.show(kernel);
    const races = new Set(kernel.marks.filter((one) => one.kind === "race").map((one) => one.text)).size;
    const raced = races && `${races === 1 ? "One race" : `${races} races`}, underlined in the kernel.`;
    const said = [kernel.verdict, raced].filter(Boolean).join(" ");
    this.verdict.textContent = name && said ? `${name}: ${said}` : name || said;
  }

  reset() {
    this.outputs.reset();
    this.verdict.textContent = "";
  }
}

// The races below a text, each with the lines that it is underlined in.
export function remarks(marks) {
  const lines = new Map(); // text -> its lines
  for (const { kind, line, text } of marks) if (kind === "race") lines.set(text, (lines.get(text) ?? new Set()).add(line));
  const where = (of) => `${of.size > 1 ? "Lines" : "Line"} ${[...of].sort((a, b) => a - b).join(" and ")}`;
  return [...lines].map(([said, of]) => element("li", {}, element("b", {}, where(of)), `: ${said}`));
}

// A table of what differs between two kernels.
export function table(rows) {
  const cells = (tag, row) => row.map((one, i) => element(tag, tag === "th" ? { scope: "col" } : i ? { class: "ww-number" } : {}, one));
  return element(
    "table", { class: "ww-difference" },
    element("caption", {}, "What the two kernels do differently"),
    element("thead", {}, element("tr", {}, ...cells("th", ["Counter", "Kernel", "Other kernel", "Change"]))),
    element("tbody", {}, ...rows.map((row) => element("tr", {}, ...cells("td", row)))),
  );
}
