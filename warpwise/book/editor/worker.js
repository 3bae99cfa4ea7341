// The worker in the sandboxed frame: starts Python, and runs cells in it. The function is passed on
// as text, so it uses nothing from outside itself; image.js gives it the ways to take an image and to resume.

export function worker({ taken, resumed }) {
  const files = new Map(); // name -> promise of the bytes
  const arrived = new Map(); // name -> what fulfils it
  const file = (name) => {
    if (!files.has(name)) files.set(name, new Promise((found) => arrived.set(name, found)));
    return files.get(name);
  };
  const HERE = "https://inside.invalid/"; // where Python believes its files are

  // Python's own loader asks for files by address. They are here already, and nothing can be fetched.
  function answerFromMemory(compiled) {
    self.fetch = async (url) => new Response(await file(String(url).slice(HERE.length)));
    WebAssembly.instantiateStreaming = async (response, imports) => ({
      module: compiled,
      instance: await WebAssembly.instantiate(compiled, imports),
    });
  }

  async function start({ asm, loader, compiled, image }) {
    answerFromMemory(compiled);
    const [{ loadPyodide }] = await Promise.all([import(loader), import(asm)]);
    const settings = { indexURL: HERE, stdout: () => {}, stderr: () => {} };
    return (image && (await again(image, loadPyodide, settings))) || (await anew(loadPyodide, settings));
  }

  // An image that does not fit is forgotten, and the rest of the files are asked for.
  async function again(image, loadPyodide, settings) {
    try {
      return await resumed(image, loadPyodide, settings);
    } catch {
      self.postMessage({ kind: "spoiled" });
    }
  }

  async function anew(loadPyodide, settings) {
    const python = await loadPyodide({ ...settings, _makeSnapshot: true });
    const site = python.runPython("import site; site.getsitepackages()[0]");
    for (const name of ["numpy", "warpwise"])
      python.unpackArchive(await file(name), "wheel", { extractDir: site });
    python.runPython("from warpwise.cuda import as_numba; as_numba.install(); from warpwise.playground.first import first_run; first_run()");
    offer(python);
    python.runPython("import sys; sys.modules.pop('js', None)"); // a stand-in for the browser, as images need it
    python.registerJsModule("js", self);
    return python;
  }

  // Without an image the next start takes longer; nothing else depends on it.
  function offer(python) {
    try {
      self.postMessage({ kind: "image", image: taken(python) });
    } catch { /* this browser cannot */ }
  }

  function answer(python, { id, call, ...request }) {
    if (!call) return run(python, { id, ...request });
    const shown = python.pyimport("warpwise.playground")[call](python.toPy(request)).toJs({ dict_converter: Object.fromEntries });
    self.postMessage({ kind: "shown", id, shown });
  }

  function run(python, { id, cells, at, text, then }) {
    const page = python.pyimport("warpwise.cells").Page(python.toPy(cells));
    const shown = page.run.callKwargs(text, { at, then }).data.toJs({ dict_converter: Object.fromEntries });
    self.postMessage({ kind: "shown", id, shown });
  }

  let begin;
  const started = new Promise((begun) => (begin = begun));
  self.onmessage = async ({ data }) => {
    try {
      if (data.kind === "file") file(data.name), arrived.get(data.name)(new Uint8Array(data.bytes));
      else if (data.kind === "start") begin(await start(data)), self.postMessage({ kind: "ready" });
      else if (data.kind === "run") answer(await started, data);
    } catch (error) {
      self.postMessage({ kind: "failed", message: String(error?.message ?? error).slice(-2000) });
    }
  };
}
