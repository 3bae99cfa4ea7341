// Run a Python script in Pyodide: node run.mjs ARGUMENTS..., with what it needs in WARPWISE_ROOM (JSON).
import { execFileSync, spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";

const PACKAGES = "/lib/python3.12/site-packages";
const room = JSON.parse(process.env.WARPWISE_ROOM);
const { loadPyodide } = await import(pathToFileURL(path.join(room.pyodide, "pyodide.mjs")));

// What Python can ask of this machine: processes, which Pyodide lacks. Nothing here waits for an event.
const setting = (pairs) => ({ ...process.env, ...Object.fromEntries(pairs) });
const host = {
  run: ([command, ...args], pairs) => {
    const done = spawnSync(command, args, { env: setting(pairs), stdio: ["ignore", "pipe", "pipe"] });
    return [done.status, new Uint8Array(done.stdout), new Uint8Array(done.stderr)];
  },
  start: (command, pairs) => {
    const folder = fs.mkdtempSync(path.join(room.scratch, "pipes-"));
    const [there, back] = ["there", "back"].map((name) => path.join(folder, name));
    execFileSync("mkfifo", [there, back]);
    const redirected = ["-c", 'exec "$@" < "$0/there" > "$0/back"', folder, ...command];
    spawn("sh", redirected, { env: setting(pairs), stdio: ["ignore", "ignore", 2] });
    const [out, into] = [fs.openSync(there, "w"), fs.openSync(back, "r")];
    return { write: (data) => send(out, data), read: (count) => receive(into, count), close: () => fs.closeSync(out) };
  },
};

const send = (file, data) => {
  for (let done = 0; done < data.length; ) done += fs.writeSync(file, data, done);
};

const receive = (file, count) => {
  const data = new Uint8Array(count);
  let done = 0;
  for (let more = 1; more && done < count; done += more) more = fs.readSync(file, data, done, count - done, null);
  return data.slice(0, done);
};

const print = (file) => ({ write: (bytes) => (send(file, bytes), bytes.length) });

const pyodide = await loadPyodide({ indexURL: room.pyodide + path.sep, env: room.env, args: [] });
pyodide.setStdout(print(1));
pyodide.setStderr(print(2));
pyodide.registerJsModule("host", host);
for (const wheel of room.wheels)
  pyodide.unpackArchive(new Uint8Array(fs.readFileSync(wheel)), "zip", { extractDir: PACKAGES });
for (const folder of room.folders) {
  pyodide.FS.mkdirTree(folder);
  pyodide.FS.mount(pyodide.FS.filesystems.NODEFS, { root: folder }, folder);
}
pyodide.FS.chdir(process.cwd());
pyodide.globals.set("given", pyodide.toPy([room.script, ...process.argv.slice(2)]));
const script = `
import runpy, sys
sys.argv, status = given, 0
try:
    runpy.run_path(given[0], run_name="__main__")
except SystemExit as error:
    status = error.code if isinstance(error.code, int) else int(bool(error.code))
status`;
try {
  process.exitCode = pyodide.runPython(script);
} catch (error) {
  console.error(error.message); // without the line of Pyodide's minified script
  process.exitCode = 2;
}
