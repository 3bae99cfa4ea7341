// Python for a page: fetches its parts, hands them to a sandboxed frame, and runs cells there. All
// editors of a page share one.

import { frame, keeperPage } from "./frame.js";
import { imaging } from "./image.js";
import { forgetImages, keepImage, keptImage } from "./images.js";
import { keepForOffline } from "./offline.js";
import { worker } from "./worker.js";

const LONG = 5_000; // milliseconds after which a run is said to be still running
const MEGABYTE = 1e6;
export const STOPPED = "Stopped.";

// What Python asks for by these names; the others carry versions in theirs.
const called = (name) => /^(numpy|warpwise)-.*\.whl$/.exec(name)?.[1] ?? name.split("/").pop();

const isWheel = ({ url }) => url.endsWith(".whl");

export class Runtime {
  // tell({ loaded, all, seconds }) hears of the progress of the start, in megabytes, and
  // tell({ started }) of its end.
  constructor(base, tell) {
    this.base = base;
    this.tell = tell;
    this.runs = new Map(); // id -> { shown, failed, slow, timer }
    this.fetched = []; // [address, Blob] of each file
    this.count = 0;
    addEventListener("message", (event) => event.source === this.frame?.contentWindow && this.hear(event.data));
    this.ready = this.begin();
  }

  async begin() {
    // Whatever a frame is made to do, it goes nowhere: it cannot even leave for another page.
    const policy = document.createElement("meta");
    policy.httpEquiv = "Content-Security-Policy";
    policy.content = "frame-src 'none'";
    document.head.append(policy);
    const answer = await fetch(new URL("manifest.json", this.base), { cache: "no-cache" });
    if (!answer.ok) throw new Error(`${answer.url} answers ${answer.status}`);
    const { version, files } = await answer.json();
    this.version = version;
    const wanted = Object.entries(files).filter(([name]) => !name.endsWith("editor.js"));
    this.files = wanted.map(([name, file]) => ({ name: called(name), ...file }));
    const [image] = await Promise.all([keptImage(version), this.open()]);
    if (image) this.post({ kind: "image", image });
    await this.fetchAll(this.files.filter((file) => !image || !isWheel(file)));
  }

  post(message, ...transferred) {
    this.frame.contentWindow?.postMessage(message, "*", transferred);
  }

  open() {
    this.frame = frame("Python", keeperPage(worker, imaging));
    this.frame.hidden = true;
    const opened = new Promise((found) => (this.opened = found));
    document.body.append(this.frame);
    return opened;
  }

  async fetchAll(files) {
    this.quiet?.();
    const began = performance.now();
    const all = files.reduce((sum, file) => sum + file.bytes, 0);
    let loaded = 0;
    const told = () => this.tell({ loaded: loaded / MEGABYTE, all: all / MEGABYTE, seconds: (performance.now() - began) / 1000 });
    const clock = setInterval(told, 500);
    this.quiet = () => clearInterval(clock);
    await Promise.all(
      files.map(async ({ name, url, sha256, bytes }) => {
        const address = new URL(`${url}?${sha256.slice(0, 8)}`, this.base).href;
        const answer = await fetch(address);
        if (!answer.ok) throw new Error(`${url} answers ${answer.status}`);
        const parts = [];
        for (let reader = answer.body.getReader(), part; !(part = await reader.read()).done; ) {
          parts.push(part.value);
          loaded += part.value.length;
        }
        const content = new Blob(parts);
        this.fetched.push([address, content]);
        const whole = await content.arrayBuffer();
        if (whole.byteLength !== bytes) throw new Error(`${url} has ${whole.byteLength} bytes, not ${bytes}`);
        this.post({ kind: "file", name, bytes: whole }, whole);
      }),
    ).catch((error) => (this.quiet(), Promise.reject(error)));
  }

  // Run a cell: what it shows, or an error if Python ended. slow() is called when it takes long,
  // check() returns what a frame says in a known form.
  run(request, slow, check = checked) {
    const id = ++this.count;
    return new Promise((shown, failed) => {
      this.runs.set(id, { shown: (said) => shown(check(said)), failed, slow });
      if (this.started) this.watch();
      const begin = () => this.runs.has(id) && this.post({ kind: "run", id, ...request });
      this.ready.then(begin, (error) => this.end(id)?.failed(error)); // one that is stopped meanwhile does not begin
    });
  }

  // From now on the time of the runs counts: Python has started.
  watch() {
    this.quiet?.();
    if (!this.started) this.tell({ started: true });
    this.started = true;
    for (const run of this.runs.values()) run.timer ??= setTimeout(run.slow, LONG);
  }

  // End the worker. The next run starts another; files that are on their way still come.
  stop(why = STOPPED) {
    this.post({ kind: "stop" });
    this.started = false;
    for (const id of [...this.runs.keys()]) this.end(id)?.failed(new Error(why));
  }

  // Leave nothing behind: Python has ended, or could not begin.
  close() {
    this.quiet?.();
    this.frame?.remove();
  }

  // After the first result, which it would only delay.
  keep() {
    if (this.fetched.length) keepForOffline(this.base, this.version, this.fetched);
    this.fetched = [];
  }

  // What was kept does not fit: Python starts from its files.
  again() {
    forgetImages();
    this.fetchAll(this.files.filter(isWheel)).catch((error) => this.stop(error.message));
  }

  end(id) {
    const run = this.runs.get(id);
    this.runs.delete(id);
    clearTimeout(run?.timer);
    return run;
  }

  // A frame is not to be believed: only messages of a known form are heard.
  hear(data) {
    if (data?.kind === "open") this.opened();
    else if (data?.kind === "ready") this.watch();
    else if (data?.kind === "image") keepImage(this.version, data.image);
    else if (data?.kind === "spoiled") this.again();
    else if (data?.kind === "failed") forgetImages(), this.stop(`Python ended: ${String(data.message).slice(0, 2000)}`);
    else if (data?.kind === "shown") this.end(data.id)?.shown(data.shown), this.keep();
  }
}

export function checked(shown) {
  const text = (name) => (typeof shown?.[name] === "string" ? shown[name] : "");
  const line = Number.isInteger(shown?.line) ? shown.line : 0;
  return { printed: text("printed"), html: text("html"), value: text("value"), error: text("error"), line };
}
