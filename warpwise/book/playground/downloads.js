// A program as a file: a Python program, or a notebook.

const HEAD = "# From the playground of GPUs without the magic. It takes warpwise and NumPy.\n";
const TRACE = /^trace\(/gm;

// The launch, with its trace named at the end, so that a file can show it.
function named(launch, end) {
  const text = launch.trimEnd().replace(/\.show\(\)$/, "");
  const at = [...text.matchAll(TRACE)].pop()?.index;
  return at === undefined ? text : `${text.slice(0, at)}traced = ${text.slice(at)}\n${end}`;
}

const cells = ({ kernel, launch, other }, end) => {
  const texts = [kernel.trimEnd(), named(launch, end)];
  return other.trim() ? [...texts, other.trimEnd(), named(launch, end)] : texts;
};

export const asPython = (program) => `${HEAD}\n${cells(program, "print(traced.show())").join("\n\n\n")}\n`;

export function asNotebook(program) {
  const made = cells(program, "traced.show()").map((source, i) => ({
    cell_type: "code", id: `cell-${i}`, metadata: {}, execution_count: null, outputs: [], source,
  }));
  const metadata = {
    kernelspec: { display_name: "Python 3", language: "python", name: "python3" },
    language_info: { name: "python" },
  };
  return `${JSON.stringify({ cells: made, metadata, nbformat: 4, nbformat_minor: 5 }, null, 1)}\n`;
}

export function save(name, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
