// The runs of an editor, one at a time, and what its status says of them. All of a page share one Python.

import { Runtime, STOPPED } from "./runtime.js";

const PAUSE = 500; // milliseconds after the last key
const RUNNING = "Running …";
const TYPING = "Runs by itself when you stop typing.";
const NEXT = "The text before this one is still running; this one comes next.";
const SHARED = "Stopped together with another editor: all on a page share one Python. Run, or a change, starts it again.";
const runners = new Set();
let runtime;

const progress = ({ started, loaded, all, seconds }) => {
  const what = loaded < all ? `Loading Python: ${loaded.toFixed(1)} of ${all.toFixed(1)} MB` : "Starting Python";
  const told = started ? RUNNING : `${what}, ${seconds.toFixed(0)} s.`;
  for (const runner of runners) if (runner.waiting) runner.say(told, !started);
};

// The page's Python, started when it is first asked for.
export const python = (base) => (runtime ??= new Runtime(base, progress));

// A class that extends it has request(), which is what to run, and show(shown, seconds, request).
export class Runner {
  constructor(base, status) {
    Object.assign(this, { base, status, said: "", noted: "" });
    this.runButton = this.button("Run", () => this.press());
    this.stopButton = this.button("Stop", () => this.halt(STOPPED));
    this.stopButton.disabled = true;
    runners.add(this);
  }

  button(text, pressed) {
    const made = document.createElement("button");
    Object.assign(made, { type: "button", className: "ww-edit", textContent: text });
    made.addEventListener("click", pressed);
    return made;
  }

  // A change of the clock in the status is seen and not read aloud.
  say(text, ticking = false) {
    this.said = text;
    const told = [text, this.noted].filter(Boolean).join(" ");
    this.status.setAttribute("aria-live", ticking ? "off" : "polite");
    if (this.status.textContent !== told) this.status.textContent = told;
  }

  // Say something that stays beside what is said of runs, until the text changes.
  note(text) {
    this.noted = text;
    this.say(this.said);
  }

  // Run after a pause, unless the text is held: nothing of a link runs before the reader says so.
  later() {
    clearTimeout(this.timer);
    this.note("");
    if (this.held) return;
    this.say(TYPING);
    this.timer = setTimeout(() => this.run(), PAUSE);
  }

  press() {
    this.held = false;
    this.noted = "";
    clearTimeout(this.timer);
    return this.run();
  }

  // End what runs or is about to. Of that no more is said than this.
  halt(text) {
    clearTimeout(this.timer);
    this.again = this.waiting = false;
    this.stopButton.disabled = true;
    this.halted = this.running;
    if (this.running) runtime?.stop();
    this.noted = "";
    this.say(text);
  }

  // Run the text; while a run goes on, remember to run once more.
  async run() {
    if (this.running) return this.next();
    this.running = true;
    do {
      this.again = false;
      await this.once();
    } while (this.again);
    this.running = false;
  }

  next() {
    this.again = true;
    this.stopButton.disabled = false;
    this.say(this.halted ? RUNNING : NEXT);
  }

  async once() {
    this.stopButton.disabled = false;
    this.waiting = !runtime?.started;
    this.say(this.waiting ? "Starting Python." : RUNNING);
    const began = performance.now();
    const request = this.request();
    const asked = this.ask(request, this.check, () => this.say("Still running. Stop ends it."));
    const used = runtime;
    try {
      const shown = await asked;
      this.waiting = false;
      this.show(shown, (performance.now() - began) / 1000, request);
    } catch (error) {
      this.failed(error.message, used);
    }
    this.halted = false;
    this.stopButton.disabled = true;
  }

  failed(message, used) {
    this.waiting = false;
    if (!this.halted) this.say(message === STOPPED ? SHARED : message);
    if (message !== STOPPED && used === runtime) runtime = void used.close();
  }

  // Python's answer to a request, of which check() takes what has the expected form.
  ask(request, check, slow = () => {}) {
    return python(this.base).run(request, slow, check);
  }
}
