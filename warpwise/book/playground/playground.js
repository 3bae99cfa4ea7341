// The playground once it is touched: the texts of a kernel and its launch, and what they show.

import { code } from "../editor/code.js";
import { Runner } from "../editor/runner.js";
import { asNotebook, asPython, save } from "./downloads.js";
import { choice } from "./examples.js";
import { PARTS, asProgram, keep, kept, linked, programLink, same } from "./programs.js";
import { Ran, element, played, table } from "./shown.js";

const NAMES = { kernel: "Kernel", other: "Other kernel", launch: "Launch" };
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
    this.example = asProgram({ kernel: inputs[0], launch: inputs[1] });
    this.start = this.example; // what Reset comes back to
    this.told = element("p", { class: "ww-told" });
    this.ran = { kernel: new Ran("kernel", root.querySelector(".cell_output")), other: new Ran("other") };
    this.difference = element("div", { class: "ww-differs" });
    this.parts = Object.fromEntries(PARTS.map((part) => [part, this.part(part)]));
    bar.querySelector("button").replaceWith(...this.buttons());
    const places = PARTS.map((part) => this.parts[part].place);
    root.replaceChildren(bar, this.told, ...places, this.difference, this.ran.kernel.place, this.ran.other.place);
    root.classList.add("ww-open");
    this.put(kept() ?? this.example);
    this.parts.kernel.code.focus();
  }

  part(name) {
    const holder = element("div", { class: "ww-code" });
    const place = element("section", { class: `ww-part ww-part-${name}` }, element("p", { class: "ww-name" }, NAMES[name]), holder);
    const made = code({
      text: "",
      parent: holder,
      label: NAMES[name],
      changed: () => this.changed(),
      run: () => this.press(),
      leave: () => this.runButton.focus(),
    });
    return { place, code: made };
  }

  buttons() {
    this.twoButton = this.button("Second kernel", () => this.two(!this.parts.other.code.text().trim()));
    return [
      this.runButton,
      this.stopButton,
      this.button("Reset", () => this.reset()),
      this.button("Copy link", () => this.share()),
      this.twoButton,
      this.button("Download .py", () => save("playground.py", asPython(this.program))),
      this.button("Download notebook", () => save("playground.ipynb", asNotebook(this.program))),
    ];
  }

  async choose(address) {
    try {
      const chooser = await choice(address, (example) => this.take(example));
      this.stopButton.after(chooser);
    } catch {
      this.told.textContent = "The list of examples could not be loaded.";
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
    keep(same(this.program, this.start) ? undefined : this.program);
    this.later();
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

  // The program of the address, which is held; return whether it is the address that says what is shown.
  async open() {
    try {
      const program = await linked(location.href);
      if (!program) return false;
      this.rest();
      this.held = true;
      this.from(program, "");
      this.say(FROM_LINK);
    } catch (error) {
      this.held = true;
      this.from(this.example, "");
      this.say(error.message);
    }
    for (const one of Object.values(this.ran)) one.reset();
    if (!same(this.start, this.example)) this.ran.kernel.outputs.original.hidden = true;
    return true;
  }

  from(program, told) {
    this.start = program;
    this.told.textContent = told;
    this.put(program);
  }

  take(example) {
    this.from(asProgram(example), typeof example.told === "string" ? example.told : "");
    keep(undefined);
    this.press();
  }

  reset() {
    this.rest();
    this.held = false;
    keep(undefined);
    this.put(this.start);
    for (const one of Object.values(this.ran)) one.reset();
    this.ran.kernel.outputs.original.hidden = !same(this.start, this.example);
    this.say("The program is as it was.");
  }

  async share() {
    try {
      const address = await programLink(location.href.split("#")[0], this.program);
      history.replaceState(null, "", address);
      const copied = navigator.clipboard ? await navigator.clipboard.writeText(address).then(() => true, () => false) : false;
      this.say(`The link ${copied ? "is copied" : "stands in the address bar"}. It holds this program, and no server sees it.`);
    } catch (error) {
      this.say(error.message);
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
  }
}
