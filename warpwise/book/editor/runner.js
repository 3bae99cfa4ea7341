// The runs of an editor, one at a time, and what its status says of them. All of a page share one Python.

import { Runtime, STOPPED } from "./runtime.js";

const PAUSE = 500; // milliseconds after the last key
const runners = new Set();
let runtime;

const progress = ({ loaded, all, seconds }) => {
  const what = loaded < all ? `Loading Python: ${loaded.toFixed(1)} of ${all.toFixed(1)} MB` : "Starting Python";
  for (const runner of runners) if (runner.waiting) runner.say(`${what}, ${seconds.toFixed(0)} s.`, true);
};

// The page's Python, started when it is first asked for.
export const python = (base) => (runtime ??= new Runtime(base, progress));

// A class that extends it has request(), which is what to run, and show(shown, seconds, request).
export class Runner {
  constructor(base, status) {
    Object.assign(this, { base, status });
    this.runButton = this.button("Run", () => this.press());
    this.stopButton = this.button("Stop", () => runtime?.stop());
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
    this.status.setAttribute("aria-live", ticking ? "off" : "polite");
    if (this.status.textContent !== text) this.status.textContent = text;
  }

  // Run after a pause, unless the text is held: nothing of a link runs before the reader says so.
  later() {
    clearTimeout(this.timer);
    if (!this.held) this.timer = setTimeout(() => this.run(), PAUSE);
  }

  press() {
    this.held = false;
    clearTimeout(this.timer);
    return this.run();
  }

  // End what runs or is about to.
  rest() {
    clearTimeout(this.timer);
    if (this.running) runtime?.stop();
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
    this.waiting = !runtime?.started;
    this.say(this.waiting ? "Starting Python." : "Running.");
    const began = performance.now();
    try {
      const request = this.request();
      const shown = await this.ask(request, this.check, () => this.say("Still running. Stop ends it."));
      this.waiting = false;
      this.show(shown, (performance.now() - began) / 1000, request);
    } catch (error) {
      this.waiting = false;
      this.say(error.message);
      if (error.message !== STOPPED) runtime = void runtime?.close();
    }
    this.stopButton.disabled = true;
  }

  // Python's answer to a request, of which check() takes what has the expected form.
  ask(request, check, slow = () => {}) {
    return python(this.base).run(request, slow, check);
  }
}
