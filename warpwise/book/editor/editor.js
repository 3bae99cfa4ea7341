// An editable cell once it is touched: the editor, its buttons, and what a run shows.

import { code } from "./code.js";
import { forget, keep, kept, link, unpacked } from "./kept.js";
import { Outputs } from "./outputs.js";
import { Runtime, STOPPED } from "./runtime.js";

const PAUSE = 500; // milliseconds after the last key
const CELLS = JSON.parse(document.getElementById("ww-cells")?.textContent ?? "[]");
const edited = new Map(); // number of a cell -> text that the reader ran last
const editors = new Set();
let runtime;

const progress = ({ loaded, all, seconds }) => {
  const what = loaded < all ? `Loading Python: ${loaded.toFixed(1)} of ${all.toFixed(1)} MB` : "Starting Python";
  for (const editor of editors) if (editor.waiting) editor.say(`${what}, ${seconds.toFixed(0)} s.`, true);
};

// The page's Python, started when it is first asked for.
export const python = (base) => (runtime ??= new Runtime(base, progress));

// Open the editor of a cell. A text that was shared by a link waits until the reader runs it.
export async function open({ cell, bar, status, runtime: base, shared }) {
  const text = shared ? await unpacked(shared) : undefined;
  const editor = new Editor(cell, bar, status, base, text);
  editors.add(editor);
  if (text === undefined) await editor.run();
}

// The line that the page runs after the reader's.
function after(then) {
  const line = document.createElement("p");
  const shown = document.createElement("code");
  shown.textContent = then;
  line.className = "ww-then";
  line.append("After it the page runs ", shown);
  return line;
}

class Editor {
  constructor(cell, bar, status, base, shared) {
    Object.assign(this, { cell, status, base });
    const input = cell.querySelector(".cell_input");
    this.original = input.querySelector("pre").textContent.replace(/\n$/, "");
    this.outputs = new Outputs(cell);
    const place = document.createElement("div");
    place.className = "ww-code";
    input.after(place);
    input.hidden = true;
    this.buttons(bar);
    this.held = shared !== undefined; // nothing runs before the reader says so
    this.code = code({
      text: shared ?? kept(cell) ?? this.original,
      parent: place,
      changed: () => this.changed(),
      run: () => this.press(),
      leave: () => this.runButton.focus(),
    });
    if (this.held) this.say("This text comes from a link. Read it, then press Run.");
    this.code.focus();
  }

  buttons(bar) {
    const button = (text, pressed) => {
      const made = document.createElement("button");
      Object.assign(made, { type: "button", className: "ww-edit", textContent: text });
      made.addEventListener("click", pressed);
      return made;
    };
    this.runButton = button("Run", () => this.press());
    this.stopButton = button("Stop", () => runtime?.stop());
    this.stopButton.disabled = true;
    const more = [button("Reset", () => this.reset()), button("Copy link", () => this.share())];
    const { then } = this.cell.dataset;
    if (then) bar.querySelector(".ww-prompt").after(after(then));
    bar.querySelector("button").replaceWith(this.runButton, this.stopButton, ...more);
  }

  // A change of the clock in the status is seen and not read aloud.
  say(text, ticking = false) {
    this.status.setAttribute("aria-live", ticking ? "off" : "polite");
    if (this.status.textContent !== text) this.status.textContent = text;
  }

  changed() {
    if (this.resetting) return;
    keep(this.cell, this.code.text());
    clearTimeout(this.timer);
    if (!this.held) this.timer = setTimeout(() => this.run(), PAUSE);
  }

  press() {
    this.held = false;
    clearTimeout(this.timer);
    return this.run();
  }

  // Run the text; while a run goes on, remember to run once more.
  async run() {
    if (this.running) return void (this.again = true);
    this.running = true;
    do {
      this.again = false;
      await this.once();
    } while (this.again);
    this.running = false;
  }

  async once() {
    this.stopButton.disabled = false;
    this.waiting = !runtime;
    this.say(runtime ? "Running." : "Loading Python.");
    const began = performance.now();
    try {
      const request = this.request();
      const shown = await python(this.base).run(request, () => this.say("Still running. Stop ends it."));
      this.waiting = false;
      if (!shown.error) edited.set(request.at, request.text);
      this.show(shown, (performance.now() - began) / 1000);
    } catch (error) {
      this.waiting = false;
      this.say(error.message);
      if (error.message !== STOPPED) runtime = void runtime?.close();
    }
    this.stopButton.disabled = true;
  }

  request() {
    const at = Number(this.cell.dataset.at);
    const cells = CELLS.slice(0, at).map((text, i) => edited.get(i) ?? text);
    return { at, cells, text: this.code.text(), then: this.cell.dataset.then ?? "" };
  }

  show(shown, seconds) {
    this.outputs.show(shown);
    this.code.mark(shown.line);
    const where = shown.line ? ` in line ${shown.line}` : "";
    this.say(shown.error ? `An error${where}, after ${seconds.toFixed(1)} s.` : `Done in ${seconds.toFixed(1)} s.`);
  }

  reset() {
    clearTimeout(this.timer);
    if (this.running) runtime?.stop();
    this.resetting = true;
    this.code.replace(this.original);
    this.resetting = false;
    this.code.mark(0);
    this.held = false;
    forget(this.cell);
    edited.delete(Number(this.cell.dataset.at));
    this.outputs.reset();
    this.say("The original text and its result are back.");
  }

  async share() {
    const address = await link(this.cell, this.code.text());
    history.replaceState(null, "", address);
    try {
      await navigator.clipboard.writeText(address);
      this.say("The link is copied. It holds this text, and no server sees it.");
    } catch {
      this.say("The link stands in the address bar. It holds this text, and no server sees it.");
    }
  }
}
