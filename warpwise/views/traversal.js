// The traversal widget: one warp walks over a matrix request by request. A sector counts each time
// that a request asks for it, as in Metrics.
import { percent, plural, thousands, undelta } from "./core.js";
import { cells, is, legend, moves, n, path, press, rect, svg, text, worded } from "./draw.js";
import { explore } from "./explore.js";

const SECTOR = 32;
const LEFT = 34;

// By hand: lane i stands in column i of row k, or in row i of column k, and lanes beyond the matrix
// are idle.
function walk({ itemsizes }, { lanes, dtype, rows, columns, padded }) {
  const pitch = columns + padded;
  const itemsize = itemsizes[dtype];
  const along = lanes === "row";
  const [count, active] = along ? [rows, columns] : [columns, rows];
  const requests = [...Array(count).keys()].map((k) => ({
    lead: `lanes 0 to ${active - 1} read ${lanes} ${k}`,
    named: [...Array(active).keys()].map((i) => (along ? k * pitch + i : i * pitch + k) * itemsize),
  }));
  const what = `A matrix of ${rows} by ${columns} ${dtype}${padded ? ", rows padded by one element" : ""}.`;
  return { what, rows, columns, pitch, itemsize, requests };
}

// Of a trace: first bytes come as steps from one lane to the next.
function traced({ requests, ...array }) {
  return {
    ...array,
    requests: requests.map((r) => {
      const lanes = undelta(r.deltas);
      return { ...r, lanes, named: lanes.filter((a) => a >= 0) };
    }),
  };
}

const unique = (list) => [...new Set(list)];

export function show(data, values, width) {
  const {
    what,
    rows,
    columns,
    pitch,
    itemsize,
    shift = 0,
    top = 0,
    left = 0,
    requests,
  } = data.arrays ? traced(data.arrays[values.array]) : walk(data, values);
  const k = Math.min(values.step, requests.length) - 1;
  const { lead, named, lanes = named } = requests[k];
  const touched = requests.map((r) =>
    unique(r.named.flatMap((a) => [a, a + itemsize - 1].map((b) => Math.floor(b / SECTOR)))),
  );
  const wide = pitch - columns < 5 ? pitch : columns;
  const room = width - 36;
  const cell = Math.min(18, room / wide);
  const tall = Math.max(Math.min(cell, 14, 280 / rows), 3);
  const x = (c) => n(LEFT + c * cell);
  const y = (r) => n(20 + (r - top) * tall);
  const low = y(top + rows);
  const shapes = [];
  // A stretch of bytes as boxes, one for each row that it lies in.
  const boxes = (name, from, to, key) => {
    for (let e = Math.max((from - shift) / itemsize, 0), end = (to - shift) / itemsize; e < end;) {
      const r = Math.floor(e / pitch);
      const stop = Math.min(end, (r + 1) * pitch);
      const c = e - r * pitch;
      const right = Math.min(c + stop - e, wide);
      if (r >= top && r < top + rows && c < right)
        shapes.push(rect(name, x(c), y(r), (right - c) * cell, tall, key ? moves(key()) : ""));
      e = stop;
    }
  };
  // The request moves on: its boxes glide to those of the next.
  let made = 0;
  const next = (name) => () => `${name} ${made++}`;
  const runs = (name, list, key) => {
    let from;
    unique(list)
      .sort((a, b) => a - b)
      .forEach((a, i, sorted) => {
        from ??= a;
        if (sorted[i + 1] !== a + itemsize) from = boxes(name, from, a + itemsize, key);
      });
  };
  const sectors = (name) =>
    touched[k].forEach((s) => boxes(name, s * SECTOR, (s + 1) * SECTOR, next(name)));
  runs(
    "faint",
    requests.slice(0, k).flatMap((r) => r.named),
  );
  sectors("hatched");
  runs("one", named, next("one"));
  // The start of sectors in each row: where the pitch is not a multiple of a sector, they differ.
  let grid = "";
  for (let r = top; r < top + rows; r++) {
    const start = shift + r * pitch * itemsize;
    for (let b = Math.ceil(start / SECTOR) * SECTOR; b < start + wide * itemsize; b += SECTOR)
      grid += `M${x((b - start) / itemsize)} ${y(r)}v${tall}`;
    if (tall > 6) grid += `M${LEFT} ${y(r)}h${wide * cell}`;
    if (r % 8 === 0) shapes.push(text("end small", LEFT - 5, +y(r) + tall / 2 + 4, r));
  }
  for (let c = 0; c < columns; c += cell < 5 ? 32 : 8)
    shapes.push(text("small", x(c), 14, left + c));
  shapes.push(
    path("rule", grid),
    rect("edge", LEFT, 20, columns * cell, low - 20),
    rect("dots", LEFT, 20, wide * cell, low - 20),
  );
  sectors("edge");

  const key = legend(
    [
      ["one", "used now"],
      ["hatched", "moved, not used"],
      ["faint", "used before"],
      ["dots", "padding"],
    ].slice(0, wide > columns ? 4 : 3),
    width,
    low + 12,
  );
  const foot = +low + 64 + key.height;
  const most = Math.max(...touched.map((s) => s.length));
  const pace = room / requests.length;
  touched.forEach(({ length }, i) => {
    const h = (length / most) * 32;
    const look = i < k ? "faint" : i > k ? "empty" : "one";
    const words = is(`request ${i + 1}`, plural(length, "sector"));
    shapes.push(
      rect(look, LEFT + i * pace, foot - h, pace * 0.8, h, press({ step: i + 1 }) + words),
    );
  });
  shapes.push(key.shapes, text("", 0, foot - 40, `Sectors of each request, at most ${most}`));
  const before = new Set(requests.slice(0, k).flatMap((r) => r.named));
  const element = (r, c) => {
    const a = shift + (r * pitch + c) * itemsize;
    const s = Math.floor(a / SECTOR);
    const use = named.includes(a)
      ? `lane ${lanes.indexOf(a)}, used now`
      : touched[k].includes(s)
        ? "moved, not used"
        : before.has(a)
          ? "used before"
          : "";
    return worded(c < columns ? `[${r}, ${left + c}]` : "padding", `sector ${s}`, use);
  };

  const done = touched.slice(0, k + 1).flat();
  const moved = done.length * SECTOR;
  const bytes = (r) => unique(r.named).length * itemsize;
  const here = touched[k].length;
  const used = requests.slice(0, k + 1).reduce((sum, r) => sum + bytes(r), 0);
  const ideal = Math.ceil(bytes(requests[k]) / SECTOR);
  const distinct = thousands(unique(done).length);
  const share = percent(used, moved);
  const would = here > ideal ? `, where ${ideal} would do` : "";
  return {
    picture: svg(width, foot + 2, "Matrix in memory", shapes),
    rows: [
      ["sectors of this request", here, `fewest possible: ${ideal}`],
      ["sectors so far", thousands(done.length), `${distinct} different`],
      ["bytes used so far", share, `${thousands(used)} of ${thousands(moved)} moved`],
    ],
    text:
      `${what} Request ${k + 1} of ${requests.length}: ${lead}. It touches ` +
      `${plural(here, "sector")}${would}. So far ${plural(done.length, "sector")} moved, ` +
      `${distinct} of them different, and ${share} of their bytes were used.`,
    limits: { step: [1, requests.length] },
    marks: () =>
      cells(LEFT, 20, cell, tall, wide, rows * wide, (k) =>
        element(top + Math.floor(k / wide), k % wide),
      ),
  };
}

export default explore("ww-traversal", show);
