// The recomputation widget: three sigmoids forward and backward, with each access to memory drawn.
// Data: items, values and gradients by level, and variants: words, what it does, kernels [side,
// first level, last], accesses [kernel, side, kind, value, level, lower, right], since when a value
// is in memory, the values kept, the levels that are recomputed, flops and special.
import { is, legend, line, moves, n, path, press, rect, svg, text } from "./draw.js";
import { explore } from "./explore.js";

const CELL = 42;
const PITCH = 50;
const BARS = 68;
const LOOK = { read: "one", write: "two" };
const level = (i) => 54 + PITCH * i;

// Left ends of the columns: forward, values in memory, backward, gradients in memory; and the width
// of a kernel.
function columns(width) {
  const wide = Math.min(110, (width - 2 * CELL - 90) / 2);
  const gap = Math.min(150, (width - 2 * (wide + CELL) - 6) / 3);
  const half = wide + CELL + 2 * gap;
  return { wide, gap, places: [1, 1 + wide + gap, 1 + half, 1 + half + wide + gap] };
}

// A kernel between two levels, with its operations from one level to the next.
function kernel([side, first, last], when, again, { wide, places }) {
  const x = places[2 * side];
  const y = level(first) + 4;
  const middle = x + wide / 2;
  const told = is(
    side ? "backward kernel" : "forward kernel",
    when > 0 ? "to come" : when ? "has run" : "runs",
  );
  const box = (look, words) => rect(look, x, y, wide, level(last) - y - 4, words);
  const shapes = [box(when > 0 ? "empty" : "faint", told), when ? "" : box("edge", "")];
  for (let i = first; i < last; i++) {
    const twice = side && again.includes(i);
    const at = level(i) + PITCH / 2 + 4;
    if (twice)
      shapes.push(
        rect("hatched", x + 4, at - 21, 7, 34, is("σ", "recomputed")),
        text("middle", middle + 4, at - 9, "σ again"),
      );
    shapes.push(text("middle", middle, at + 10 * twice, side ? "× σ′" : "σ"));
  }
  return shapes;
}

// An access between a kernel and the memory beside it, with its number.
function access([, side, kind, value, at, lower, right], i, step, { wide, gap, places }) {
  const middle = gap / 2 + (right ? places[2 * side] + wide : places[2] - gap);
  const y = level(at) + (lower ? -10 : 10);
  const aim = right === +(kind === "write") ? 1 : -1;
  const head = middle + aim * (gap / 2 - 2);
  const done = i < step;
  return [
    line(done ? `stroke-${LOOK[kind]}` : "rule", 2 * middle - head, y, head - 6 * aim, y),
    path(
      done ? LOOK[kind] : "faint",
      `M${n(head)} ${n(y)}l${-8 * aim} -4v8z`,
      is(`access ${i + 1}`, `the ${side ? "back" : "for"}ward pass ${kind}s ${value}`) +
        (done ? moves(`access ${i}`, [2 * middle - head - 4, y - 4, 8, 8]) : ""),
    ),
    text(i === step - 1 ? "small middle strong" : "small middle", middle - 3 * aim, y - 3, i + 1),
  ];
}

// A value's place in memory.
function cell(name, x, i, look, kept) {
  const y = level(i) - 17;
  const middle = x + CELL / 2;
  const when = { empty: "not yet stored", faint: "in memory" }[look] ?? "never stored";
  return [
    rect(look, x, y, CELL, 34, is(name, when, kept && "kept for the backward pass")),
    text("middle", middle, y + (kept ? 14 : 21), name),
    kept ? text("small middle", middle, y + 28, "kept") : "",
  ];
}

// All variants: their accesses, and below them their operations.
const compare = (variants, chosen, step, y, width) =>
  Object.entries(variants).map(([name, { words, accesses, flops, special }], k) => {
    const pitch = Math.min(26, (width - BARS - 22) / 15);
    const top = y + 28 * k;
    const now = name === chosen;
    const work = flops + special;
    const look = now ? "strong" : "";
    const bar = (work * pitch) / 2;
    return [
      `<g${press({ variant: name })}>`,
      rect("press", 0, top - 2, width, 27),
      text(look, 0, top + 12, words),
      text(look, BARS + 4 + pitch * accesses.length, top + 12, accesses.length),
      accesses.map(([, side, kind, value], i) =>
        rect(
          !now ? "faint" : i < step ? LOOK[kind] : "empty",
          BARS + pitch * i,
          top,
          pitch - 2,
          15,
          is(words, `access ${i + 1}`, `the ${side ? "back" : "for"}ward pass ${kind}s ${value}`),
        ),
      ),
      rect(
        now ? "three" : "faint",
        BARS,
        top + 17,
        bar,
        7,
        is(words, `${flops} flops`, `${special} exponentials`),
      ),
      text("small", BARS + 6 + bar, top + 25, work),
      "</g>",
    ];
  });

export function show({ variants, items, values, gradients }, { variant, dtype, step }, width) {
  const { does, accesses, kernels, since, kept, again, flops, special } = variants[variant];
  const count = accesses.length;
  const s = Math.min(step, count);
  const where = columns(width);
  const item = items[dtype];
  const work = flops + special;
  const [latest, side, kind, value] = accesses[s - 1] ?? [-1];
  const memory = (names, k) =>
    names.map((name, i) => {
      const look = name in since ? (since[name] > s ? "empty" : "faint") : "recomputation-never";
      return cell(name, where.places[k], i, look, kept.includes(name));
    });
  const heads = ["forward", "memory", "backward", "memory"].map((word, k) =>
    text("small middle", where.places[k] + (k % 2 ? CELL : where.wide) / 2, 24, word),
  );
  const looks = [
    ["one", "read"],
    ["two", "written"],
    ["empty", "to come"],
    ["recomputation-never", "never stored"],
    ["three", "operations"],
    ["hatched", "recomputed"],
  ];
  const y = level(3) + 46;
  const foot = y + 128;
  const key = legend(again.length ? looks : looks.slice(0, 5), width, foot);
  const first = s
    ? `Access ${s} of ${count}: the ${side ? "back" : "for"}ward pass ${kind}s ${value}`
    : "Nothing has been read yet";
  return {
    picture: svg(width, foot + key.height, "Three sigmoids, forward and backward", [
      heads,
      kernels.map((one, i) => kernel(one, i - latest, again, where)),
      memory(values, 1),
      memory(gradients, 3),
      accesses.map((one, i) => access(one, i, s, where)),
      text("strong", 0, y, "Accesses and operations for each element"),
      compare(variants, variant, s, y + 14, width),
      key.shapes,
    ]),
    rows: [
      ["accesses per element", s, `of ${count}`],
      ["bytes per element", s * item, `of ${count * item}`],
      ["operations per element", work, `${flops} flops, ${special} exp`],
      ["operations per byte", +(work / count / item).toFixed(3), "in all"],
    ],
    text:
      `${does} ${first}. ` +
      `In all, ${count} accesses move ${count * item} bytes for each element, for ${flops} flops and ${special} exponentials. ` +
      `Kept for the backward pass: ${kept.join(", ")}.`,
    limits: { step: [0, count] },
  };
}

export default explore("ww-recomputation", show);
