// What runs inside the sandboxed frames, passed on as text: each function stands for itself.

const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

// The frame that holds the worker: it keeps the files, so that a worker can be started anew.
export function keeper(worker, imaging) {
  const files = new Map();
  const NEEDED = ["pyodide.mjs", "pyodide.asm.js", "pyodide.asm.wasm"];
  let running, ready, compiled, addresses, image;
  const script = (text) => URL.createObjectURL(new Blob([text], { type: "text/javascript" }));

  async function start() {
    compiled ??= files.get("pyodide.asm.wasm").arrayBuffer().then(WebAssembly.compile);
    addresses ??= {
      worker: script(`(${worker})((${imaging})())`),
      loader: script(files.get("pyodide.mjs")),
      asm: script(files.get("pyodide.asm.js")),
    };
    const { worker: address, loader, asm } = addresses;
    const begun = (running = new Worker(address));
    begun.onmessage = ({ data }) => begun === running && tell(data);
    begun.onerror = (event) => begun === running && parent.postMessage({ kind: "failed", message: event.message ?? "it failed" }, "*");
    ready = false;
    for (const name of files.keys()) give(name, begun);
    begun.postMessage({ kind: "start", loader, asm, compiled: await compiled, image });
  }

  // Once cells run there, an image could be anyone's.
  function tell(data) {
    if (["image", "spoiled"].includes(data.kind) && ready) return;
    if (data.kind === "image") image = data.image;
    if (data.kind === "spoiled") image = undefined;
    if (data.kind === "ready") ready = true;
    parent.postMessage(data, "*");
  }

  async function give(name, to) {
    if (NEEDED.includes(name)) return;
    const bytes = await files.get(name).arrayBuffer();
    to.postMessage({ kind: "file", name, bytes }, [bytes]);
  }

  const heard = {
    image(message) {
      image = message.image;
    },
    file({ name, bytes }) {
      files.set(name, new Blob([bytes]));
      if (running) give(name, running);
      else if (NEEDED.every((one) => files.has(one))) start();
    },
    run(message) {
      if (!running) start();
      running.postMessage(message);
    },
    stop() {
      running?.terminate();
      running = undefined;
    },
  };
  addEventListener("message", ({ source, data }) => source === parent && heard[data.kind]?.(data));
  parent.postMessage({ kind: "open" }, "*");
}

// A frame that shows one result: its scripts run here, away from the page.
export function result() {
  const say = () => parent.postMessage({ kind: "height", height: Math.ceil(document.body.getBoundingClientRect().height) }, "*");
  addEventListener("message", ({ source, data }) => {
    if (source !== parent || data.kind !== "theme") return;
    document.documentElement.dataset.theme = data.theme;
    document.documentElement.style.cssText = `color-scheme: ${data.theme}; color: ${data.ink}; font: ${data.font}`;
  });
  addEventListener("DOMContentLoaded", () => new ResizeObserver(say).observe(document.body));
}

const page = (policy, head, body = "") =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>Result</title>` +
  `<meta http-equiv="Content-Security-Policy" content="${policy}">${head}<body>${body}</body></html>`;

const asText = (code) => JSON.stringify(String(code)).replaceAll("<", "\\u003c");

export const keeperPage = (worker, imaging) =>
  page(
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval' blob:; worker-src blob:",
    `<script>(${keeper})(${asText(worker)}, ${asText(imaging)})</script>`,
  );

export const resultPage = (html) =>
  page(`${POLICY}; script-src 'unsafe-inline'`, `<style>body { display: flow-root; margin: 0; }</style><script>(${result})()</script>`, html);

// A frame of an origin of its own: it runs scripts, and may do nothing else.
export function frame(title, html) {
  const made = document.createElement("iframe");
  made.setAttribute("sandbox", "allow-scripts");
  made.title = title;
  made.srcdoc = html;
  return made;
}
