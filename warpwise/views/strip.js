// A request of a warp as a picture: 32 lanes, the strip of sectors, and a line from each lane to
// the bytes that it names.
import { escape, percent, plural } from "./core.js";
import { is, legend, letters, moves, n, path, press, rect, svg, text } from "./draw.js";

export const TOY_BURST = 4;
// From top to bottom: caption, lanes from 36 to 48, the strip, counts and first bytes to 216,
// legend.
const TOP = 142;
const TALL = 40;
const KEY = 230;
const MARGIN = 4;
const UNITS_PER_LINE = 4;
const FEWEST_SHOWN = 16;
const NARROWEST = 8;
const THINNEST = 2.5;

// A request with its counts. Addresses are -1 where a lane is not active; parts are bytes, or
// values in the toy memory.
export function measure({ addresses, itemsize, unit, verb = "reads", array = "x", bare = false }) {
  const parts = new Set();
  const [word, part] = unit === TOY_BURST ? ["burst", "value"] : ["sector", "byte"];
  for (const a of addresses) for (let b = a; a >= 0 && b < a + itemsize; b++) parts.add(b);
  const touched = [...new Set([...parts].map((b) => Math.floor(b / unit)))].sort((a, b) => a - b);
  const used = parts.size;
  return {
    addresses,
    itemsize,
    unit,
    verb,
    array,
    bare,
    word,
    part,
    touched,
    used,
    moved: unit * touched.length,
    ideal: Math.ceil(used / unit),
  };
}

// Shapes, and the items of a legend. The followed lane's line is heavier, and on top. A bare strip
// has no addresses below it.
export function strip(
  { addresses, itemsize, unit, bare, touched, word, part },
  width,
  lane,
  caption,
) {
  const pitch = width / 32;
  const mark = (i) => (i === lane ? " followed" : "");
  // Untouched units are left out when all would be too narrow; a gap is half a unit wide.
  const origin = touched[0] - (touched[0] % UNITS_PER_LINE);
  const most = Math.max(FEWEST_SHOWN, Math.ceil((touched.at(-1) + 1 - origin) / 8) * 8);
  const shown =
    width / most < NARROWEST ? touched : Array.from({ length: most }, (_, i) => origin + i);
  const gap = (i) => i && shown[i] > shown[i - 1] + 1;
  let end = 0;
  const places = shown.map((_, i) => (end += i && (gap(i) ? 1.5 : 1)));
  const cell = width / Math.max(FEWEST_SHOWN, end + 1);
  const whole = end + 1 === shown.length;
  const x = (u) => places[shown.indexOf(u)] * cell;
  const at = (a) => x(Math.floor(a / unit)) + ((a % unit) * cell) / unit;
  const size = (itemsize * cell) / unit;
  // How much of a unit is used, the bytes of an element, and the lanes that name it, in words.
  const bytes = (a) => (itemsize > 1 ? `${part}s ${a} to ${a + itemsize - 1}` : `${part} ${a}`);
  const used = (u) => {
    const named = new Set();
    for (const a of addresses)
      for (let b = a; a >= 0 && b < a + itemsize; b++) if (Math.floor(b / unit) === u) named.add(b);
    return named.size;
  };
  const told = (u) => (touched.includes(u) ? `${used(u)} of ${unit} ${part}s used` : "not touched");
  const lanes = (a) => addresses.flatMap((one, i) => (one === a ? [i] : []));
  const naming = (a) =>
    `lane${lanes(a)[1] ? "s" : ""} ${lanes(a).slice(0, 4)}${lanes(a)[4] ? ", …" : ""}`;
  const box = (name) => (u) => rect(name, x(u), TOP, cell, TALL, is(`${word} ${u}`, told(u)));
  // A request travels from the lanes to what they name.
  const line = (i) => {
    const from = n((i + 0.5) * pitch);
    const to = n(at(addresses[i]) + size / 2);
    return path(
      "line" + mark(i),
      `M${from} 48C${from} 98 ${to} 92 ${to} ${TOP}`,
      moves(`line ${i} ${addresses[i]}`, [Math.min(from, to), 48, Math.abs(to - from), 0]),
    );
  };
  // First bytes: of every unit, or of every 2nd, 4th, ... where numbers need the room.
  const able = shown.filter(
    (u) => !bare && (!whole || unit === TOY_BURST || u % UNITS_PER_LINE === 0),
  );
  const name = (u) => (u === able[0] ? part + " " : "") + u * unit;
  const right = (u) => x(u) + 3 + letters(name(u));
  let by = 1;
  while (able.some((u, i) => i % by === 0 && right(u) + 12 > x(able[i + by]))) by *= 2;
  // Numbers of the touched units, or their places: of all, or of every 2nd, 4th, ...
  const number = (u) => (bare ? touched.indexOf(u) : u);
  const half = (u) => letters(number(u)) / 2;
  const close = (u, next) => x(u) + half(u) + 6 > x(next) - half(next);
  const tight = touched.some((u) => 2 * half(u) + 4 > cell);
  let every = 1;
  while (touched.some((u, i) => i % every === 0 && close(u, touched[i + every]))) every *= 2;
  const shapes = [
    text("", 0, 12, escape(caption)),
    shown.filter((u) => !touched.includes(u)).map(box("empty")),
    touched.map(box("hatched")),
    [...new Set(addresses)].map((a) =>
      a < 0
        ? ""
        : rect(
            size < 4 ? "one" : "one used",
            at(a),
            TOP,
            Math.max(size, THINNEST),
            TALL,
            is(bytes(a), `${word} ${Math.floor(a / unit)}`, naming(a)) +
              moves(`bytes ${a}`, [lanes(a)[0] * pitch, 36, pitch, 12]),
          ),
    ),
    touched.map(box("edge")),
    shown.map((u, i) =>
      gap(i)
        ? rect(
            "dots",
            x(u) - cell / 2,
            TOP,
            cell / 2,
            TALL,
            is(`${word}s left out`, u - shown[i - 1] - 1),
          )
        : "",
    ),
    addresses.map((a, i) =>
      rect(
        (a < 0 ? "idle" : "lane") + mark(i),
        i * pitch + 1,
        36,
        pitch - 2,
        12,
        (lane < 0 ? "" : press({ lane: i })) +
          (a < 0
            ? is(`lane ${i}`, "not active")
            : is(`lane ${i}`, bytes(a), `${word} ${Math.floor(a / unit)}`)),
      ),
    ),
    addresses.map((_, i) => (pitch < 17 && i % 8 ? "" : text("middle", (i + 0.5) * pitch, 31, i))),
    [...addresses.keys()]
      .filter((i) => addresses[i] >= 0)
      .sort((i, j) => (i === lane) - (j === lane))
      .map(line),
    touched.map((u, i) =>
      i % every ? "" : text("middle strong", x(u) + cell / 2, TOP + TALL + 15, number(u)),
    ),
    // Numbers are wider than narrow cells: there the tick leaves room for them.
    able.map((u, i) =>
      i % by || right(u) > width
        ? ""
        : path("rule", `M${n(x(u))} 182${tight ? "v4m0 14" : ""}V216`) +
          text("", x(u) + 3, 216, name(u)),
    ),
  ];
  return {
    shapes,
    items: [
      ["one", `${part}s used`],
      ["hatched", "moved, not used"],
      whole ? ["empty", `${word} not touched`] : ["dots", "left out"],
    ],
  };
}

export const share = ({ touched, used, moved, unit, word, part }) =>
  `The request touches ${plural(touched.length, word)} of ${unit} ${part}s and uses ${used} of the ${moved} ${part}s moved, ${percent(used, moved)}.`;

// The place of a lane's element. A unit's number counts from 0 at the array's start, as byte / 32
// does; its place among the touched is an ordinal.
function where({ addresses, itemsize, verb, array, unit, word, touched }, lane) {
  const a = addresses[lane];
  const u = Math.floor(a / unit);
  const nth = touched.indexOf(u) + 1;
  const th = ["st", "nd", "rd"][(nth % 100) - (nth % 10) === 10 ? 3 : (nth % 10) - 1] ?? "th";
  const what = unit === TOY_BURST ? `value ${a}` : `bytes ${a} to ${a + itemsize - 1} of ${array}`;
  const which = touched[1]
    ? `the ${nth}${th} of the ${touched.length} touched`
    : "the only one touched";
  return a < 0
    ? `Lane ${lane} is not active.`
    : `Lane ${lane} ${verb} ${what}, in ${word} ${u}: ${which}.`;
}

// A request for the front ends: picture, rows and text.
export function panel(request, lane, lead, caption, width) {
  const r = measure(request);
  const { used, moved, ideal, word, part, touched } = r;
  const room = width - 2 * MARGIN;
  const { shapes, items } = strip(r, room, lane, caption);
  const key = legend(items, room, KEY);
  const would = ideal < touched.length ? ` ${plural(ideal, word)} could hold what it uses.` : "";
  return {
    picture: svg(width, KEY + key.height, caption, [
      `<g transform="translate(${MARGIN})">`,
      shapes,
      key.shapes,
      "</g>",
    ]),
    rows: [
      [`${word}s per request`, touched.length, `fewest possible: ${ideal}`],
      [`${part}s used`, used, `of ${moved} moved`],
      ["efficiency", percent(used, moved), ""],
    ],
    text: `${lead} ${share(r)}${would} ${where(r, lane)}`,
  };
}
