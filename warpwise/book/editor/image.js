// Python's memory once all is imported, and the files of its packages: an image that spares a later
// start nearly all of its work. A function that is passed on as text, as in worker.js.

export function imaging() {
  const SITE = "/lib/python3.12/site-packages";

  function* below(FS, folder) {
    for (const name of FS.readdir(folder)) {
      const path = `${folder}/${name}`;
      if (name === "." || name === "..") continue;
      if (FS.isDir(FS.stat(path).mode)) yield* below(FS, path);
      else yield path;
    }
  }

  // Taken before any cell runs, so that none can leave something behind in it.
  function taken(python) {
    const { FS, LDSO } = python._module;
    const paths = [...below(FS, SITE)];
    const contents = paths.map((path) => FS.readFile(path));
    const memory = new Blob([python.makeMemorySnapshot()]);
    return {
      memory,
      bytes: memory.size,
      contents: new Blob(contents),
      files: paths.map((path, i) => ({ path, time: FS.stat(path).mtime.getTime(), bytes: contents[i].length })),
      libraries: Object.entries(LDSO.loadedLibsByHandle)
        .map(([handle, { name, global }]) => ({ handle: Number(handle), name, global }))
        .filter(({ handle }) => handle),
    };
  }

  // Python as it was. Its memory says where each library lay, so they are linked there again.
  async function resumed(image, loadPyodide, settings) {
    if (image.memory.size !== image.bytes) throw new Error("this image is not whole");
    const bytes = async (blob) => new Uint8Array(await blob.arrayBuffer());
    const [memory, contents] = await Promise.all([bytes(image.memory), bytes(image.contents)]);
    const create = self._createPyodideModule;
    self._createPyodideModule = async (given) => {
      const module = await create(given);
      write(module.FS, image.files, contents);
      module.API.restoreSnapshot(memory);
      for (const { handle, name, global } of image.libraries)
        await module.loadDynamicLibrary(name, { global, nodelete: true, loadAsync: true }, global ? undefined : {}, handle);
      return module; // to be restored once more: linking has begun each library anew
    };
    try {
      const python = await loadPyodide({ ...settings, _loadSnapshot: memory });
      python.runPython("import random; random.seed()");
      return python;
    } finally {
      self._createPyodideModule = create;
    }
  }

  function write(FS, files, contents) {
    let begin = 0;
    for (const { path, time, bytes } of files) {
      FS.mkdirTree(path.slice(0, path.lastIndexOf("/")));
      FS.writeFile(path, contents.subarray(begin, (begin += bytes)), { canOwn: true });
      FS.utime(path, time, time);
    }
  }

  return { taken, resumed };
}
