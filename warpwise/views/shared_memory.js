// The shared memory of one block over time: the elements that the lanes of a warp name at a step,
// and those that have been written by then.
import { plural, thousands } from "./core.js";
import { cells, is, legend, letters, moves, n, path, rect, svg, text, worded } from "./draw.js";
import { explore } from "./explore.js";

// GAP: pixels between arrays.
const WARP = 32;
const GAP = 24;

// Runs [step, how often], thread by thread, as the element that each i names; -1 for none.
function unpack(runs) {
  const all = [];
  let sum = 0;
  for (const [step, times] of runs) for (let k = times; k--;) all.push((sum += step));
  return all;
}

// After some steps, the owner (the warp that wrote each element last, -1 for none), and the
// barriers that a warp has passed.
function replay({ arrays, patterns }, steps, warp) {
  const owner = arrays.map(({ size }) => Array(size).fill(-1));
  const known = [];
  let passed = 0;
  for (const { kind, array, pattern, span = 1 } of steps) {
    if (kind === "load" || kind === "copy") continue;
    const named = (known[pattern] ??= unpack(patterns[pattern]));
    if (kind === "barrier") passed += named[warp * WARP] >= 0;
    else
      named.forEach((k, i) => {
        if (k >= 0) owner[array].fill(i >> 5, k, k + span);
      });
  }
  return { owner, passed };
}

// All steps: writes are tall bars, reads short ones, barriers lines.
function strip(steps, step, width) {
  const pace = Math.min(30, width / steps.length);
  const bars = steps.map(({ kind }, i) => {
    const tall = { load: 7, copy: 7, barrier: 20 }[kind] ?? 14;
    return `M${n((i + 0.1) * pace)} 22v${-tall}h${n(pace * (tall > 14 ? 0.2 : 0.8))}v${tall}z`;
  });
  const words = text("small", 0, 38, "tall bars write, short read, lines: barriers");
  return [
    rect(
      "mem-now",
      step * pace - pace,
      0,
      Math.max(pace, 3),
      24,
      is(`step ${step}`, steps[step - 1].kind) + moves("now"),
    ),
    path("mem-step", bars.join("")),
    words,
  ];
}

// One array, a rank for each square: squares of equal rank in a row are one shape, and lines
// separate all. The last row may be short. Gives the shapes and their height.
function grid({ name, title, columns, row, scale: [rowsEach, along] }, ranks, looks, x, y, wide) {
  const { length } = ranks;
  const rows = Math.ceil(length / columns);
  const high = Math.min(wide, 420 / rows);
  const d = looks.map(() => "");
  const right = (k) => n(x + k * wide);
  const down = (k) => n(y + 18 + k * high);
  for (let c = 0; c <= columns; c++)
    d[0] += `M${right(c)} ${y + 18}V${down(Math.floor((length - (c || 1)) / columns + 1))}`;
  for (let r = 0; r <= rows; r++)
    d[0] += `M${x} ${down(r)}H${right(Math.min(columns, length - (r - 1) * columns))}`;
  const words = (k) => {
    const [i, j] = [Math.floor(k / columns) * rowsEach, (k % columns) * along];
    const which =
      rowsEach * along > 1
        ? `${name}, elements from ${i * row + j} on`
        : `element ${i * row + j} of ${name}`;
    return worded(which, looks[ranks[k]][1]);
  };
  for (let k = 0, from = 0; k < length; k++) {
    if (ranks[k] === ranks[k + 1] && (k + 1) % columns) continue;
    const left = right(from % columns);
    const row = Math.floor(k / columns);
    if (ranks[k])
      d[ranks[k]] += `M${left} ${down(row)}H${right((k % columns) + 1)}V${down(row + 1)}H${left}z`;
    from = k + 1;
  }
  return [
    [text("", x, y + 10, title), [1, 2, 3, 4, 0].map((k) => path(looks[k][0], d[k]))],
    34 + high * rows,
    () => cells(x, y + 18, wide, high, columns, length, words),
  ];
}

// The rank of each square, the greatest of its elements': 0 not written, 1 and 2 written, 3 and 4
// named now; 2 and 4 by the warp. span: elements that each lane names.
function rank({ size, row, scale: [down, along], columns }, owner, now, warp, span = 1) {
  const place = (k) => Math.floor(k / row / down) * columns + Math.floor((k % row) / along);
  const ranks = Array(place(size - 1) + 1).fill(0);
  const raise = (k, by, least) =>
    k < 0 || by < 0 || (ranks[place(k)] = Math.max(ranks[place(k)], least + (by === warp)));
  owner.forEach((by, k) => raise(k, by, 1));
  now.forEach((k, i) => {
    for (let s = 0; k >= 0 && s < span; s++) raise(k + s, i >> 5, 3);
  });
  return ranks;
}

// What a warp does in a step, by what its lanes name.
function doing({ name, shape, steps } = {}, lanes, span = 1) {
  const on = [...lanes.keys()].filter((i) => lanes[i] >= 0);
  if (!on.length) return "is not in it";
  if (!name) return "passes it";
  const at = (i) =>
    `lane ${i} ${name}[${shape.map((size, axis) => Math.floor(lanes[i] / steps[axis]) % size).join(", ")}]`;
  const count = span * new Set(on.map((i) => lanes[i])).size;
  const from = span > 1 ? "from " : "";
  return `names ${plural(count, "element")}, ${from}${at(on[0])} and ${from}${at(on.at(-1))}`;
}

export function show(data, { step, warp }, width) {
  if (data.nothing) return { picture: "", text: data.nothing };
  const { arrays, steps, patterns, source, total } = data;
  const now = steps[step - 1];
  const all = unpack(patterns[now.pattern]);
  const mark = `warp ${warp}`;
  const { owner, passed } = replay(data, steps.slice(0, step), warp);
  const shapes = strip(steps, step, width);
  const looks = [
    ["grid", "not written"],
    ["faint", "written"],
    ["hatched", `by ${mark}`],
    ["mem-other", "now"],
    ["one", `now, ${mark}`],
  ];
  const room =
    (width + GAP - GAP * arrays.length) / arrays.reduce((sum, { columns }) => sum + columns, 0);
  let x = 0;
  let y = 54;
  let tall = 0;
  const pace = Math.min(30, width / steps.length);
  const marks = [
    () =>
      cells(0, 0, pace, 24, steps.length, steps.length, (k) =>
        worded(`step ${k + 1}`, steps[k].kind),
      ),
  ];
  arrays.forEach((array, i) => {
    // Where there is no room for all in a row, each gets one of its own.
    const { columns, title } = array;
    const wide = Math.min(18, room < 5 ? width / columns : room);
    const span = Math.max(columns * wide, letters(title));
    if (x && x + span > width) [x, y, tall] = [0, y + tall, 0];
    const [drawn, height, squares] = grid(
      array,
      rank(array, owner[i], now.array === i ? all : [], warp, now.span),
      looks,
      x,
      y,
      wide,
    );
    shapes.push(drawn);
    marks.push(squares);
    x += span + GAP;
    tall = Math.max(tall, height);
  });
  const key = legend(looks, width, y + tall);
  const who = doing(arrays[now.array], all.slice(warp * WARP, (warp + 1) * WARP), now.span);
  const rows = arrays.map(({ name, size }, i) => [
    `written in ${name}`,
    thousands(owner[i].filter((by) => by >= 0).length),
    `of ${thousands(size)} elements`,
  ]);
  return {
    picture: svg(width, y + tall + key.height + 4, "Shared memory", [shapes, key.shapes]),
    rows: [...rows, ["barriers", passed, `passed by ${mark}`]],
    text:
      `Step ${step} of ${steps.length}, ${source[now.line]}, ${now.what} ${plural(now.warps, "warp")} of ${total}. ` +
      `Warp ${warp} ${who}. By now ${rows.map(([term, count, of]) => `${count} ${of} are ${term}`).join(", ")}; ` +
      `${plural(passed, "barrier")} passed.`,
    outputs: { step: `${step} of ${steps.length}` },
    marks: () => marks.flatMap((some) => some()),
  };
}

export default explore("ww-shared_memory", show);
