// The fusion widget: kernels take values from memory to compute and back. Data: traced, or
// programs, sizes and items; a program is two lists of kernels, unfused and fused, each with names
// of operations, reads, writes, flops, and its bytes if it was traced.
import { plural, thousands } from "./core.js";
import { is, legend, letters, line, moves, n, path, rect, svg, text } from "./draw.js";
import { explore } from "./explore.js";

const SHELF = 58;
const BENCH = 112;
const BELT = 21;
const LINE = 17;
const GAP = 8;
const WAYS = ["unfused", "fused"];

// A moving value, as a parcel on a belt: it is taken along from where it was.
function belt(label, look, from, to, y, moved) {
  const aim = Math.sign(to - from);
  const wide = Math.max(24, letters(label, 11) + 12);
  const middle = (from + to) / 2;
  const words = is(label, look === "one" ? "read" : "written", moved ? "" : "to come");
  const key = `${label} ${n(from)} ${n(y)} ${moved}`;
  return [
    line(moved ? `stroke-${look}` : "rule", from, y, to - 7 * aim, y),
    path(
      moved ? look : "faint",
      `M${n(to)} ${n(y)}l${-9 * aim} -4.5v9z`,
      words + (moved ? moves(`head ${key}`, [from, y - 4.5, 9, 9]) : ""),
    ),
    `<g${moved ? moves(`parcel ${key}`, [from - wide / 2, y - 17, wide, 15]) : ""}>`,
    rect(moved ? "faint" : "empty", middle - wide / 2, y - 17, wide, 15, words),
    text("small middle", middle, y - 5.5, label),
    "</g>",
  ];
}

// A kernel and its belts: what it reads comes in at its top, what it writes leaves at its bottom.
function kernel({ names, reads, writes }, left, right, y, high, done, latest) {
  const top = y + (high - LINE * names.length) / 2 + 12.5;
  return [
    rect(
      done ? "faint" : "empty",
      right,
      y,
      BENCH,
      high,
      is("kernel", names.join(", "), done ? "has run" : "to come"),
    ),
    latest ? rect("edge", right, y, BENCH, high) : "",
    names.map((name, i) => text("middle", right + BENCH / 2, top + LINE * i, name)),
    reads.map((label, i) => belt(label, "one", left, right, y + 21 + BELT * i, done)),
    writes.map((label, i) =>
      belt(label, "two", right, left, y + high - 5 - BELT * (writes.length - 1 - i), done),
    ),
  ];
}

// Memory and compute with their kernels, one below the other. Gives the shapes and where they end.
function factory(title, kernels, step, x, y, width) {
  const left = x + SHELF;
  const right = x + width - BENCH - 1;
  let top = y + 30;
  const shapes = kernels.map((one, i) => {
    const high =
      Math.max(BELT * (one.reads.length + one.writes.length), LINE * one.names.length) + 7;
    const at = top;
    top += high + GAP;
    return kernel(one, left, right, at, high, i < step, i === Math.min(step, kernels.length) - 1);
  });
  const words = `${title}: ${plural(kernels.length, "kernel")}`;
  const end = top - GAP;
  return {
    end,
    shapes: [
      text("strong", x, y, words),
      text("small middle", x + SHELF / 2, y + 21, "memory"),
      text("small middle", right + BENCH / 2, y + 21, "compute"),
      rect("empty", x + 1, y + 30, SHELF - 1, end - y - 30, is("memory", title.toLowerCase())),
      shapes,
    ],
  };
}

// Bytes for a sentence, and rounded for a big number.
const short = (count, unit) => +count.toPrecision(3) + unit;
const rounded = (count) =>
  count < 1e6
    ? thousands(count)
    : count < 1e9
      ? short(count / 1e6, "\u00a0MB")
      : short(count / 1e9, "\u00a0GB");
const sum = (kernels, of) => kernels.reduce((total, one) => total + of(one), 0);

export function show(
  { traced, programs, sizes, items },
  { operations, links, n: place, dtype, step },
  width,
) {
  const ways = traced ?? programs[operations][operations === "chain" ? links - 1 : 0];
  const count = ways[0].length;
  const s = Math.min(step, count);
  const elements = traced ? 1 : sizes[place];
  const size = elements * items?.[dtype];
  const bytes = (one) => one.bytes ?? (one.reads.length + one.writes.length) * size;
  const all = ways.map((way) => sum(way, bytes));
  const far = ways.map((way) => sum(way.slice(0, s), bytes));
  const most = Math.max(...all);
  const each = ways.map(
    (way, i) => +((sum(way, (one) => one.flops) * elements) / all[i]).toFixed(4),
  );
  const gain = +(all[0] / all[1]).toFixed(2);
  const big = width > 560;
  const half = big ? (width - 36) / 2 : width;
  const apart = factory("Unfused", ways[0], s, 0, 13, half);
  const fused = factory("Fused", ways[1], s, big ? half + 36 : 0, big ? 13 : apart.end + 34, half);
  // Below the fused kernels there is room beside the others.
  const aside = big && fused.end + 120 < apart.end;
  const y = (aside ? fused.end : Math.max(apart.end, fused.end)) + 36;
  const left = aside ? half + 36 : 0;
  const room = width - left - 60;
  const bars = WAYS.map((way, i) => {
    const top = y + 10 + 23 * i;
    const bar = (look, part, key) =>
      rect(
        look,
        left + 58,
        top,
        (room * part) / most,
        16,
        is(way, `${thousands(far[i])} of ${thousands(all[i])} bytes moved`) + key,
      );
    const moved = moves(`bytes ${way}`, [left + 58, top, 0, 16]);
    return [text("", left, top + 12.5, way), bar("empty", all[i], ""), bar("three", far[i], moved)];
  });
  const low = aside ? apart.end + 18 : y + 68;
  const key = legend(
    [
      ["one", "read"],
      ["two", "written"],
      ["empty", "to come"],
      ["three", "bytes so far"],
    ],
    width,
    low,
  );
  const bound =
    gain === 1 ? "fusion gains nothing" : `the fused kernel is at most ${gain} times as fast`;
  return {
    picture: svg(width, low + key.height, "Memory, compute, and what travels", [
      apart.shapes,
      fused.shapes,
      text("strong", left, y, "Bytes moved"),
      bars,
      key.shapes,
    ]),
    rows: [
      ...WAYS.map((way, i) => [`bytes moved, ${way}`, rounded(far[i]), `of ${rounded(all[i])}`]),
      ["unfused to fused", gain, "times the bytes"],
      ["FLOP per byte", each[1], `fused; ${each[0]} unfused`],
    ],
    text:
      `${s} of ${plural(count, "unfused kernel")} ${s === 1 ? "has" : "have"} run ` +
      `and moved ${thousands(far[0])} of ${thousands(all[0])} bytes; ` +
      `the fused kernel has moved ${thousands(far[1])} of ${thousands(all[1])}. Where memory is the limit, ${bound}.`,
    limits: { step: [0, count] },
    ...(!traced && {
      outputs: { n: thousands(elements) },
      disabled: { links: operations !== "chain" },
    }),
  };
}

export default explore("ww-fusion", show);
