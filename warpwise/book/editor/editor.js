// An editable cell once it is touched: the editor, its buttons, and what a run shows.

import { code } from "./code.js";
import { clearAddress, copied, forget, keep, kept, link, unpacked } from "./kept.js";
import { Outputs } from "./outputs.js";
import { asProgram, keep as keepProgram, playgroundPage, programLink } from "../playground/programs.js";
import { Runner } from "./runner.js";

export { python } from "./runner.js";
export { playground } from "../playground/playground.js";

const CELLS = JSON.parse(document.getElementById("ww-cells")?.textContent ?? "[]");
const edited = new Map(); // number of a cell -> text that the reader ran last

// Open the editor of a cell. A text that was shared by a link, and is not the reader's own, waits until the
// reader runs it.
export async function open({ cell, bar, status, runtime: base, shared }) {
  const text = shared ? await unpacked(shared) : undefined;
  const editor = new Editor(cell, bar, status, base, text === kept(cell) ? undefined : text);
  if (!editor.held) await editor.run();
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

class Editor extends Runner {
  constructor(cell, bar, status, base, shared) {
    super(base, status);
    this.cell = cell;
    const input = cell.querySelector(".cell_input");
    this.original = input.querySelector("pre").textContent.replace(/\n$/, "");
    this.outputs = new Outputs(cell);
    const place = document.createElement("div");
    place.className = "ww-code";
    input.after(place);
    input.hidden = true;
    const { then } = cell.dataset;
    if (then) bar.querySelector(".ww-prompt").after(after(then));
    bar.querySelector("button").replaceWith(...this.buttons());
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

  buttons() {
    const more = [this.button("Reset", () => this.reset()), this.button("Copy link", () => this.share())];
    if (playgroundPage()) more.push(this.button("Open in the playground", () => this.openInPlayground()));
    return [this.runButton, this.stopButton, ...more];
  }

  changed() {
    if (this.resetting) return;
    this.keep();
    this.later();
  }

  // A held text is not the reader's yet. What the address held is no longer what stands here.
  keep() {
    if (this.held) return;
    keep(this.cell, this.code.text());
    clearAddress();
  }

  press() {
    const adopted = this.held;
    const run = super.press();
    if (adopted) this.keep();
    return run;
  }

  request() {
    const at = Number(this.cell.dataset.at);
    const cells = CELLS.slice(0, at).map((text, i) => edited.get(i) ?? text);
    return { at, cells, text: this.code.text(), then: this.cell.dataset.then ?? "" };
  }

  show(shown, seconds, request) {
    if (!shown.error) edited.set(request.at, request.text);
    this.outputs.show(shown);
    this.code.mark(shown.line);
    const where = shown.line ? ` in line ${shown.line}` : "";
    this.say(shown.error ? `An error${where}, after ${seconds.toFixed(1)} s.` : `Done in ${seconds.toFixed(1)} s.`);
  }

  reset() {
    this.resetting = true;
    this.code.replace(this.original);
    this.resetting = false;
    this.code.mark(0);
    this.held = false;
    forget(this.cell);
    edited.delete(Number(this.cell.dataset.at));
    this.outputs.reset();
    this.halt("Reset: the original text and its result are back.");
  }

  async share() {
    const address = await link(this.cell, this.code.text());
    if (!this.held) keep(this.cell, this.code.text());
    this.note(`${await copied(address)} It holds this text, and no server sees it.`);
  }

  // The statements that the cell needs go with it, as the reader has changed them. Unless it is held, it is
  // the reader's own there, and stands here when the reader comes back.
  async openInPlayground() {
    try {
      const start = await this.ask({ call: "program", ...this.request() }, asProgram);
      const address = await programLink(playgroundPage(), start);
      if (!this.held) {
        const page = document.querySelector("h1")?.firstChild.textContent ?? document.title;
        keepProgram({ name: `A cell of ${page}`, told: "", start }, start);
        clearAddress({ cell: this.cell.dataset.at });
      }
      location.assign(address);
    } catch (error) {
      this.note(error.message);
    }
  }
}
