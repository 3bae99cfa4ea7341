// The occupancy widget: the warps that one SM holds, the resource that allows no more, and what
// other numbers would give. The rule is that of model/occupancy.py. Data: sms, names of the limits,
// axes of the curves, key, and the threads and bytes that the sliders' places stand for.
import { percent, plural, thousands } from "./core.js";
import { cells, circle, is, legend, line, n, path, rect, svg, text, worded } from "./draw.js";
import { explore } from "./explore.js";

const LEFT = 112;
const CURVES = 264;
const PITCH = 64;
const up = (amount, unit) => Math.ceil(amount / unit) * unit;

// The most blocks that each resource alone would allow, in the order of the names.
function limits(data, values) {
  const { warps, registers } = values;
  const sm = data.sms[values.device];
  const parts = sm.sub_partitions;
  const perWarp = up(registers * 32, sm.registers_unit);
  const perPart = Math.floor(sm.registers / parts / perWarp);
  const taken = up(data.bytes[values.shared] + sm.shared_bytes_reserved, sm.shared_bytes_unit);
  return [
    Math.floor(sm.warps / warps),
    sm.blocks,
    Math.floor((parts * perPart) / warps),
    Math.floor(sm.shared_bytes / taken),
  ];
}

// The places for warps, a row for each sub-partition: warps are dealt to them in turn, and
// neighbouring blocks look different.
function places(sm, warps, blocks, width) {
  const rows = sm.sub_partitions;
  const pitch = Math.min(34, ((width - LEFT) / sm.warps) * rows);
  const shapes = [];
  for (let k = 0; k < sm.warps; k++) {
    const block = Math.floor(k / warps);
    const held = block < blocks;
    const x = LEFT + Math.floor(k / rows) * pitch;
    const y = 22 + (k % rows) * 22;
    const words = is(
      `place ${k}`,
      `sub-partition ${k % rows}`,
      held ? `warp of block ${block}` : "free",
    );
    shapes.push(rect(held ? ["one", "three"][block % 2] : "empty", x + 1, y, pitch - 2, 19, words));
    if (held && pitch >= 19) shapes.push(text("inside strong", x + pitch / 2, y + 14, block));
    if (k < rows) shapes.push(text("", 0, y + 14, `sub-partition ${k}`));
  }
  return shapes;
}

// A bar ends at the blocks that an SM can have: more are of no use.
const bars = (names, allowed, limiter, y, width) =>
  allowed.map((count, i) => {
    const top = y + 21 * i;
    const wide = Math.min(count / allowed[1], 1) * (width - LEFT - 100);
    const sets = i === limiter;
    const least = count === allowed[limiter];
    const look = sets ? "strong" : "";
    const words =
      (count < Infinity ? count : "no limit") + (sets ? ": the limit" : least ? ": as few" : "");
    return [
      text(look, 0, top + 13, names[i]),
      rect(
        least ? "hatched" : "faint",
        LEFT,
        top,
        Math.max(wide, 1),
        16,
        is(names[i], count < Infinity ? `${plural(count, "block")} at most` : "no limit"),
      ),
      text(look, LEFT + wide + 6, top + 13, words),
    ];
  });

// The occupancy for every place of one slider while the others stay. Gives the best, and the
// shapes.
function curve(data, values, [name, least, most, words, low, high], top, width) {
  const right = width - 12;
  const x = (v) => n(LEFT + ((v - least) * (right - LEFT)) / (most - least));
  const y = (part) => n(top + 44 - part * 40);
  const parts = Array.from({ length: most - least + 1 }, (_, i) => {
    const other = { ...values, [name]: least + i };
    return (Math.min(...limits(data, other)) * other.warps) / data.sms[values.device].warps;
  });
  const steps = parts
    .map((part, i) => `${y(part)}H${x(Math.min(least + i + 0.5, most))}`)
    .join("V");
  const at = x(values[name]);
  const now = y(parts[values[name] - least]);
  return [
    Math.max(...parts),
    [
      text("", 0, top + 28, words),
      text("small end", LEFT - 5, top + 8, "100 %"),
      text("small end", LEFT - 5, top + 48, 0),
      line("rule", LEFT, y(0), right, y(0)),
      line("rule", LEFT, y(1), right, y(1)),
      path("stroke-one", `M${LEFT} ${steps}`),
      line("dots", at, now, at, y(0)),
      circle("two", at, now, 5, is(words, `occupancy ${percent(parts[values[name] - least], 1)}`)),
      text("small", LEFT, top + 57, low),
      text("small end", right, top + 57, high),
    ],
    () => {
      const pitch = (right - LEFT) / (most - least);
      const place = (v) =>
        ({ warps: data.threads[v], shared: `${n(data.bytes[v] / 1024)} KiB` })[name] ?? v;
      const told = (k) =>
        worded(`${words} ${place(least + k)}`, `occupancy ${percent(parts[k], 1)}`);
      return cells(LEFT - pitch / 2, top, pitch, 50, parts.length, parts.length, told, true);
    },
  ];
}

export function show(data, values, width) {
  const { device, warps, registers } = values;
  const sm = data.sms[device];
  const allowed = limits(data, values);
  const blocks = Math.min(...allowed);
  const limiter = allowed.indexOf(blocks);
  const limit = data.names[limiter];
  const active = blocks * warps;
  const share = percent(active, sm.warps);
  const threads = data.threads[warps];
  const kib = data.bytes[values.shared] / 1024;
  const what = `SM of ${device}: ${sm.warps} warps fit`;
  const curves = data.axes.map((axis, i) => curve(data, values, axis, CURVES + PITCH * i, width));
  const title = (y, words) => text("strong", 0, y, words);
  return {
    picture: svg(width, CURVES + 3 * PITCH, what, [
      title(12, what),
      places(sm, warps, blocks, width),
      legend(data.key, width, 114).shapes,
      title(146, `Blocks that each resource allows, of ${allowed[1]}`),
      bars(data.names, allowed, limiter, 153, width),
      title(CURVES - 12, "Occupancy, with one number changed"),
      curves.map(([, drawn]) => drawn),
    ]),
    rows: [
      ["occupancy", share, `${active} of ${sm.warps} warps`],
      ["blocks per SM", blocks, ""],
      ["limited by", limit, ""],
    ],
    text:
      `Blocks of ${plural(threads, "thread")} with ${plural(registers, "register")} each and ${+kib.toFixed(3)} KiB of ` +
      `shared memory: an SM of ${device} holds ${plural(blocks, "block")}, ${active} of ${sm.warps} warps, occupancy ${share}. ` +
      `The limit is set by ${limit}. With one number changed, occupancy is at most ` +
      `${curves.map(([best], i) => `${percent(best, 1)} by ${data.axes[i][3]}`).join(", ")}.`,
    marks: () => curves.flatMap(([, , points]) => points()),
    outputs: { warps: thousands(threads), shared: n(kib) + " KiB" },
  };
}

export function drag({ axes }, x, y, width) {
  const [name, least, most] = axes[Math.floor((y - CURVES) / PITCH)] ?? [];
  return (
    name && { [name]: Math.round(least + ((most - least) * (x - LEFT)) / (width - 12 - LEFT)) }
  );
}

export default explore("ww-occupancy", show, drag);
