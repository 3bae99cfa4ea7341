// The playground once it is touched: the texts of a kernel and its launch, and what they show.

import { code } from "../editor/code.js";
import { clearAddress, copied } from "../editor/kept.js";
import { Runner } from "../editor/runner.js";
import { asNotebook, asPython, save } from "./downloads.js";
import { choice } from "./examples.js";
import { PARTS, asProgram, keep, kept, linked, programLink, same } from "./programs.js";
import { Ran, element, played, remarks, table } from "./shown.js";

const NAMES = { kernel: "Kernel", other: "Other kernel", launch: "Launch" };
const LINKED = "The program of a link";
const FROM_LINK = "This program comes from a link. Read it, then press Run.";

// Open it. A program that was shared by a link waits until the reader runs it.
export async function playground({ root, bar, status, runtime, examples }) {
  const page = new Playground(root, bar, status, runtime);
  page.choose(examples);
  addEventListener("hashchange", () => page.open());
  if (!(await page.open())) await page.run();
}

class Playground extends Runner {
  constructor(root, bar, status, base) {
    super(base, status);
    this.root = root;
    this.bar = bar;
    this.check = played;
    const inputs = [...root.querySelectorAll(".cell_input pre")].map((pre) => pre.textContent.trimEnd() + "\n");
    this.example = { name: "The page's own program", told: "", start: asProgram({ kernel: inputs[0], launch: inputs[1] }) };
    this.told = element("p", { class: "ww-told" });
    this.ran = { kernel: new Ran("kernel", root.querySelector(".cell_output")), other: new Ran("other") };
    this.difference = element("div", { class: "ww-differs" });
    this.parts = Object.fromEntries(PARTS.map((part) => [part, this.part(part)]));
    bar.querySelector("button").replaceWith(...this.buttons());
    const places = PARTS.map((part) => this.parts[part].place);
    root.replaceChildren(bar, this.told, ...places, this.difference, this.ran.kernel.place, this.ran.other.place);
    root.classList.add("ww-open");
    this.take(kept()[0] ?? this.example);
    this.parts.kernel.code.focus();
  }

  part(name) {
    const holder = element("div", { class: "ww-code" });
    const said = element("ul", { class: "ww-remarks" });
    const place = element("section", { class: `ww-part ww-part-${name}` }, element("p", { class: "ww-name" }, NAMES[name]), holder, said);
    const made = code({
      text: "",
      parent: holder,
      label: NAMES[name],
      changed: () => this.changed(),
      run: () => this.press(),
      leave: () => this.runButton.focus(),
    });
    return { place, code: made, said };
  }

  buttons() {
    this.twoButton = this.button("Second kernel", () => this.two(!this.parts.other.code.text().trim()));
    this.runs = element("div", { class: "ww-group" }, this.runButton, this.stopButton);
    return [
      this.runs,
      element("div", { class: "ww-group" }, ...this.moreButtons()),
    ];
  }

  moreButtons() {
    return [
      this.button("Reset", () => this.reset()),
      this.button("Copy link", () => this.share()),
      this.twoButton,
      this.button("Download .py", () => save("playground.py", asPython(this.program))),
      this.button("Download notebook", () => save("playground.ipynb", asNotebook(this.program))),
    ];
  }

  async choose(address) {
    try {
      this.choice = await choice(address, (one) => this.chosen(one));
      this.runs.append(this.choice.list);
      this.choice.offer(kept());
    } catch {
      this.note("The list of examples could not be loaded.");
    }
  }

  get program() {
    return asProgram(Object.fromEntries(PARTS.map((part) => [part, this.parts[part].code.text()])));
  }

  // Show another program, which does not run by that.
  put(program) {
    this.putting = true;
    for (const part of PARTS) this.parts[part].code.replace(program[part]);
    this.putting = false;
    this.clear();
    this.sides();
  }

  // The marks and results of the last run belong to another text.
  clear() {
    for (const part of PARTS) this.mark(part, []);
    this.difference.replaceChildren();
  }

  changed() {
    if (this.putting) return;
    this.sides();
    this.keep();
    this.later();
  }

  // A held program is not the reader's yet. What the address held is no longer what stands here.
  keep(program = this.program) {
    if (this.held) return;
    keep(this.from, same(program, this.from.start) ? undefined : program);
    this.choice?.offer(kept());
    clearAddress();
  }

  press() {
    const adopted = this.held;
    const run = super.press();
    if (adopted && !same(this.program, this.from.start)) this.keep();
    return run;
  }

  // Show the second kernel's side if there is one.
  sides(open = Boolean(this.parts.other.code.text().trim())) {
    this.root.classList.toggle("ww-two", open);
    this.parts.other.place.hidden = this.ran.other.place.hidden = !open;
    this.twoButton.textContent = open ? "One kernel" : "Second kernel";
  }

  // A second kernel begins as a copy of the first.
  two(open) {
    const { kernel, other } = this.parts;
    other.code.replace(open ? kernel.code.text() : "");
    (open ? other : kernel).code.focus();
  }

  // The program of the address, which is held unless it is the reader's own; return whether there is one.
  async open() {
    try {
      const program = await linked(location.href);
      if (!program) return false;
      const own = kept().find((one) => same(one.program, program));
      this.halt(own ? "" : FROM_LINK);
      this.held = !own;
      this.take(own ?? { name: LINKED, told: "", start: program });
    } catch (error) {
      this.halt(error.message);
      this.held = true;
      this.take(this.example);
    }
    this.results();
    if (!this.held) this.run();
    return true;
  }

  // Show a program as the reader has changed it: { name, told, start, program }. Reset comes back to its start.
  take(one) {
    const { start, program = start } = one;
    this.from = one;
    const changed = !same(start, program) && `“${one.name}”, as you changed it. Reset brings the original back.`;
    this.told.textContent = [changed, one.told].filter(Boolean).join(" ");
    this.put(program);
  }

  chosen(one) {
    clearAddress();
    this.take(kept().find(({ start }) => same(start, one.start)) ?? one);
    this.press();
  }

  // Drop the results of the last run. The page's own belongs to its program.
  results() {
    for (const one of Object.values(this.ran)) one.reset();
    this.ran.kernel.outputs.original.hidden = !same(this.program, this.example.start);
  }

  reset() {
    this.held = false;
    this.keep(this.from.start);
    this.take({ ...this.from, program: undefined });
    this.results();
    this.halt(`Reset: “${this.from.name}” is as it was.`);
  }

  async share() {
    try {
      const { program } = this;
      const address = await programLink(location.href.split("#")[0], program);
      if (!this.held) keep(this.from, program);
      this.note(`${await copied(address)} It holds this program, and no server sees it.`);
    } catch (error) {
      this.note(error.message);
    }
  }

  request() {
    return { call: "play", ...this.program };
  }

  show({ kernels, difference }, seconds) {
    const [first, second] = kernels;
    const names = second ? [NAMES.kernel, NAMES.other] : [""];
    this.ran.kernel.show(first, names[0]);
    if (second) this.ran.other.show(second, names[1]);
    else this.ran.other.reset();
    this.mark("kernel", first.marks.filter((one) => one.cell === "kernel"));
    this.mark("other", second ? second.marks.filter((one) => one.cell === "kernel") : []);
    this.mark("launch", [first, second].flatMap((one) => one?.marks ?? []).filter((one) => one.cell === "launch"));
    this.difference.replaceChildren(...(difference.length ? [table(difference)] : []));
    this.say(this.summary(kernels, seconds));
  }

  summary(kernels, seconds) {
    const [wrong] = kernels.flatMap((one) => (one.error ? [one.marks[0] ?? { cell: "" }] : []));
    const where = wrong?.line ? ` in line ${wrong.line} of the ${wrong.cell}` : "";
    return wrong ? `An error${where}, after ${seconds.toFixed(1)} s.` : `Done in ${seconds.toFixed(1)} s.`;
  }

  mark(part, marks) {
    this.parts[part].code.mark(marks.find((one) => one.kind === "error")?.line ?? 0);
    this.parts[part].code.remark(marks);
    this.parts[part].said.replaceChildren(...remarks(marks));
  }
}
