// The hierarchy widget: one thread in its warp, block and grid, and its SM. Data: held (by device,
// the blocks on an SM for each number of warps in a block), sms, the most along each axis of grid
// and block, and in all, the size of a warp, and the legend.
import { plural, thousands, widget } from "./core.js";
import { is, legend, oblong, path, press, rect, svg, text, worded } from "./draw.js";
import { follow } from "./form.js";

// From so many things on, none is drawn by itself.
const AXES = ["x", "y", "z"];
const MANY = 4096;
// An index from a number, counted along x, then y, then z.
const index = (at, [x, y]) => [at % x, Math.floor(at / x) % y, Math.floor(at / x / y)];
const tuple = (values) => (values.length > 1 ? `(${values.join(", ")})` : values[0]);
const product = ([x, y, z]) => x * y * z;

// The shape that three sliders give; where there would be too many in all, y and then x give way.
function shape([x, y, z], most) {
  const high = Math.min(y, Math.floor(most / z));
  return [Math.min(x, Math.floor(most / z / high)), high, z];
}
const ends = (name, all, each, most) =>
  AXES.map((axis, i) => [
    name + axis,
    [1, Math.min(each[i], Math.floor((most * all[i]) / product(all)))],
  ]);

// Things of a shape, with a layer for each z: neighbours of one look are one piece, and things that
// are large enough can be pressed.
function things([nx, ny, nz], look, here, [left, top, wide, high], set, words) {
  const across = Math.min(nz, Math.ceil(Math.sqrt((nz * wide) / high)));
  const gap = nz > 1 && nz <= 64 ? 7 : 0;
  const all = nx * ny * nz;
  const looks = {};
  const w = Math.min(20, (wide / across - gap) / nx);
  const h = Math.min(20, (high / Math.ceil(nz / across) - gap) / ny);
  const at = (k) => {
    const [x, y, z] = index(k, [nx, ny]);
    return [
      left + (z % across) * (nx * w + gap) + x * w,
      top + Math.floor(z / across) * (ny * h + gap) + y * h,
    ];
  };
  for (let k = 0; k < all && all <= MANY;) {
    const from = k;
    const kind = look(k);
    do {
      k++;
    } while (k % nx && look(k) === kind);
    if (kind) looks[kind] = (looks[kind] ?? "") + oblong(...at(from), (k - from) * w, h);
  }
  for (let k = 0; k < all; k += nx * ny)
    looks.rule = (looks.rule ?? "") + oblong(...at(k), nx * w, ny * h);
  const hits =
    w > 5 && h > 5 && all <= 1024
      ? Array.from({ length: all }, (_, k) => rect("rule", ...at(k), w, h, press(set(k))))
      : "";
  const [x, y] = at(here);
  const over = (side) => Math.max(0, 5 - side);
  const shapes = [
    Object.entries(looks).map(([kind, d]) => path(kind, d)),
    rect(
      "two wh-here",
      x - over(w) / 2,
      y - over(h) / 2,
      w + over(w),
      h + over(h),
      is(`${words(here)}, this one`),
    ),
    hits,
  ];
  const marks = () =>
    all > MANY ? [] : Array.from({ length: all }, (_, k) => [...at(k), w, h, words(k)]);
  return [shapes, at(all - 1)[1] + h, marks];
}

export function show(data, values, width) {
  const { device } = values;
  const { most, all, warp: size } = data;
  const [grid, block] = ["g", "b"].map((name, i) =>
    shape(
      AXES.map((axis) => values[name + axis]),
      all[i],
    ),
  );
  const blocks = product(grid);
  const threads = product(block);
  const b = Math.min(values.block, blocks - 1);
  const t = Math.min(values.thread, threads - 1);
  const bi = index(b, grid);
  const ti = index(t, block);
  const warp = Math.floor(t / size);
  const lane = t % size;
  const last = Math.min(size, threads - warp * size);
  const sms = data.sms[device];
  const held = data.held[device][Math.ceil(threads / size) - 1];
  const sm = b % sms;
  const wave = Math.floor(b / sms / held);
  const busy = blocks - wave * sms * held;
  // Only the axes that are used; numbers and words along them.
  const axes = Math.max(1, ...AXES.map((_, i) => (grid[i] * block[i] > 1 ? i + 1 : 1)));
  const cut = (numbers) => numbers.slice(0, axes);
  const times = (numbers) => cut(numbers).map(thousands).join(" × ");
  const words = (one, word) => times(one) + (one[2] > 1 ? ", by z" : ` ${word}`);
  const bt = tuple(cut(bi));
  const tt = tuple(cut(ti));
  const counted = (at, of) =>
    axes > 1
      ? cut(at)
          .map((v, i) => [v, ...of.slice(0, i)].join(" × "))
          .join(" + ")
      : "along x";
  const place = cut(bi.map((v, i) => v * block[i] + ti[i]));
  const linear = b * threads + t;
  const what = `cuda.grid(${axes})`;
  // Grid and block stand side by side, or one below the other; then the warp and the SMs.
  const beside = width > 560;
  const room = beside ? width / 2 - 14 : width - 6;
  const left = beside ? room + 25 : 3;
  const title = (x, y, said) => text("strong", x, y - 8, said);
  const sameSm = (k) => (k % sms === sm ? "hatched" : "");
  const sameWarp = (k) =>
    Math.floor(k / size) === warp ? "one" : Math.floor(k / size) % 2 ? "faint" : "";
  const [gridDrawn, end, blockMarks] = things(
    grid,
    sameSm,
    b,
    [3, 20, room, 150],
    (k) => ({ block: k }),
    (k) => worded(`block ${tuple(cut(index(k, grid)))}`, `SM ${k % sms}`),
  );
  const low = beside ? 20 : end + 36;
  const thread = (k) =>
    worded(
      `thread ${tuple(cut(index(k, block)))}`,
      `warp ${Math.floor(k / size)}`,
      `lane ${k % size}`,
    );
  const [blockDrawn, done, threadMarks] = things(
    block,
    sameWarp,
    t,
    [left, low, room, 150],
    (k) => ({ thread: k }),
    thread,
  );
  const strip = Math.max(end, done) + 36;
  const far = strip + 66;
  const [warpDrawn, , laneMarks] = things(
    [size, 1, 1],
    (k) => (k < last ? "one" : ""),
    lane,
    [3, strip, width - 6, 20],
    (k) => ({ thread: warp * size + k }),
    (k) =>
      k < last
        ? worded(`lane ${k}`, `thread ${tuple(cut(index(warp * size + k, block)))}`)
        : worded(`lane ${k}`, "not in use"),
  );
  const lanes = [0, last - 1].map((k) => tuple(cut(index(warp * size + k, block))));
  const across = Math.floor((width - 3) / 15);
  const foot = far + Math.ceil(sms / across) * 19 + 10;
  const look = (i) => (i === sm ? "two wh-here" : i < busy ? "grey" : "empty");
  const key = legend(data.key, width, foot);
  const machine = Array.from({ length: sms }, (_, i) =>
    rect(
      look(i),
      3 + (i % across) * 15,
      far + Math.floor(i / across) * 19,
      12,
      16,
      is(
        `SM ${i}`,
        `${plural(Math.max(0, Math.min(held, Math.ceil((busy - i) / sms))), "block")} in this wave`,
      ),
    ),
  );
  return {
    picture: svg(width, foot + key.height, "Grid, block, warp and SMs of a launch", [
      title(0, 20, `Grid: ${words(grid, "blocks")}`),
      gridDrawn,
      title(left - 3, low, `Block ${bt}: ${words(block, "threads")}`),
      blockDrawn,
      title(0, strip, `Warp ${warp}: ${plural(last, "lane")} in use`),
      warpDrawn,
      text("", 0, strip + 36, `threadIdx ${lanes.join(" to ")}`),
      title(0, far, `SM ${sm} of ${device}, wave ${wave + 1}`),
      machine,
      key.shapes,
    ]),
    rows: [
      [
        "global index",
        tuple(place),
        `${what}: ${place.map((_, i) => `${bi[i]} × ${block[i]} + ${ti[i]}`).join(", ")}`,
      ],
      ["thread in block", t, counted(ti, block)],
      ["warp", warp, `${t} // ${size}`],
      ["lane", lane, `${t} % ${size}`],
      ["block in grid", b, counted(bi, grid)],
      ["linear index", linear, `${b} × ${threads} + ${t}`],
      ["SM", sm, `modelled: ${b} % ${sms}`],
      [
        "blocks on this SM",
        Math.min(held, Math.ceil((busy - sm) / sms)),
        `in this wave, of ${held} that fit`,
      ],
    ],
    text:
      `Of ${times(grid)} blocks of ${times(block)} threads: threadIdx ${tt} of blockIdx ${bt} is ${what} ${tuple(place)}, ` +
      `thread ${t} of its block, lane ${lane} of warp ${warp}, linear index ${linear}. ` +
      `Modelled: an SM of ${device} holds ${plural(held, "block")}, and this one is on SM ${sm} in wave ${wave + 1}.`,
    limits: Object.fromEntries([
      ...ends("g", grid, most[0], all[0]),
      ...ends("b", block, most[1], all[1]),
      ["block", [0, blocks - 1]],
      ["thread", [0, threads - 1]],
    ]),
    outputs: { block: bt, thread: tt },
    marks: () => [...blockMarks(), ...threadMarks(), ...laneMarks()],
  };
}

export default widget("ww-hierarchy", (ui, data) => follow(ui, data, show));
