// The burst widget: which sectors of memory one request of a warp touches. strip.py draws the same picture, shape for shape.
import { escape, numbers, percent, plural, read, widget } from "./core.js";

const LANE_TOP = 36, LANE_HEIGHT = 12, STRIP_TOP = 142, STRIP_HEIGHT = 40, BOTTOM = STRIP_TOP + STRIP_HEIGHT;
const UNITS_PER_LINE = 4, FEWEST_SHOWN = 16, NARROWEST = 8, LETTER = 7.2, TOY_BURST = 4, HEIGHT = 222, MARGIN = 4, THINNEST = 2.5;

const n = (value) => Math.floor(value * 10 + 0.5) / 10;
const rect = (name, x, y, w, h) => `<rect class="${name}" x="${n(x)}" y="${y}" width="${n(w)}" height="${h}"/>`;
const path = (name, d) => `<path class="${name}" d="${d}"/>`;
const text = (name, x, y, what) => `<text class="${name}" x="${n(x)}" y="${y}">${what}</text>`;

const HATCH = `<pattern id="ww-hatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">${path("hatch", "M0 0V5")}</pattern>`;

// A request with its counts. Addresses are -1 where a lane is not active; parts are bytes, or values in the toy memory.
export function measure({ addresses, itemsize, unit, verb = "reads", array = "x" }) {
  const parts = new Set(), units = new Set(), [word, part] = unit === TOY_BURST ? ["burst", "value"] : ["sector", "byte"];
  for (const a of addresses) for (let b = a; a >= 0 && b < a + itemsize; b++) parts.add(b) && units.add(Math.floor(b / unit));
  const touched = [...units].sort((a, b) => a - b), used = parts.size;
  return { addresses, itemsize, unit, verb, array, word, part, touched, used, moved: unit * touched.length, ideal: Math.ceil(used / unit) };
}

// Which units are drawn, where each starts and how wide one is; untouched ones are left out when all would be too narrow.
function layout(touched, width) {
  const origin = Math.floor(touched[0] / UNITS_PER_LINE) * UNITS_PER_LINE;
  const most = Math.max(FEWEST_SHOWN, Math.ceil((touched.at(-1) + 1 - origin) / 8) * 8);
  const shown = width / most >= NARROWEST ? Array.from({ length: most }, (_, i) => origin + i) : touched;
  const steps = shown.map((unit, i) => (i ? (unit === shown[i - 1] + 1 ? 1 : 1.5) : 0));
  const cell = width / Math.max(FEWEST_SHOWN, steps.reduce((a, b) => a + b) + 1);
  let place = 0;
  return { whole: shown.at(-1) - shown[0] === shown.length - 1, shown, cell, x: new Map(shown.map((unit, i) => [unit, (place += steps[i]) * cell])) };
}

export function picture({ addresses, itemsize, unit, touched, part }, width, lane, caption) {
  const inner = width - 2 * MARGIN, { whole, shown, cell, x } = layout(touched, inner);
  const size = (itemsize * cell) / unit, pitch = inner / addresses.length, top = LANE_TOP + LANE_HEIGHT;
  const place = (a) => x.get(Math.floor(a / unit)) + ((a % unit) * cell) / unit;
  const box = (name, u) => rect(name, x.get(u), STRIP_TOP, cell, STRIP_HEIGHT);

  const runs = [];
  for (const a of [...new Set(addresses)].filter((a) => a >= 0).sort((a, b) => a - b)) {
    const left = place(a), last = runs.at(-1);
    if (size < 4 && last && left - last[1] < 0.01) last[1] = left + size;
    else runs.push([left, left + size]);
  }
  const gap = (u, i) => (u === shown[i] + 1 ? "" : path("gap", `M${n(x.get(shown[i]) + cell + 1)} ${STRIP_TOP + STRIP_HEIGHT / 2}H${n(x.get(u) - 1)}`));

  const step = pitch < 17 ? 8 : 1, mark = (i) => (i === lane ? " followed" : "");
  const laneBox = (a, i) => rect((a < 0 ? "idle" : "lane") + mark(i), i * pitch + 1, LANE_TOP, pitch - 2, LANE_HEIGHT) +
    (i % step ? "" : text("middle", (i + 0.5) * pitch, LANE_TOP - 5, i));
  const line = (i) => {
    const from = n((i + 0.5) * pitch), to = n(place(addresses[i]) + size / 2);
    return path("line" + mark(i), `M${from} ${top}C${from} ${top + 50} ${to} ${STRIP_TOP - 50} ${to} ${STRIP_TOP}`);
  };
  const active = [...addresses.keys()].filter((i) => addresses[i] >= 0).sort((a, b) => (a === lane) - (b === lane));

  const every = cell < 17 ? 4 : 1, labels = touched.map((u, i) =>
    (i + 1) % every && i + 1 < touched.length ? "" : text("count", x.get(u) + cell / 2, BOTTOM + 15, i + 1));
  // Counts are wider than narrow cells: there the tick lets them pass.
  const across = cell < 17 ? `v4m0 14` : "";
  const able = shown.filter((u) => !whole || unit === TOY_BURST || u % UNITS_PER_LINE === 0);
  const name = (u) => `${u === able[0] ? part + " " : ""}${u * unit}`, end = (u) => x.get(u) + LETTER * name(u).length;
  const tight = (by) => able.some((u, i) => i % by === 0 && i + by < able.length && end(u) + 12 > x.get(able[i + by]));
  let by = 1;
  while (tight(by)) by *= 2;
  for (const u of able.filter((u, i) => i % by === 0 && end(u) <= inner))
    labels.push(path("tick", `M${n(x.get(u))} ${BOTTOM}${across}V${BOTTOM + 34}`) + text("", x.get(u) + 3, BOTTOM + 34, name(u)));
  const shapes = [
    text("", 0, 12, escape(caption)),
    shown.filter((u) => !touched.includes(u)).map((u) => box("empty", u)), touched.map((u) => box("moved", u)),
    runs.map(([l, r]) => rect("used", l, STRIP_TOP, Math.max(r - l, THINNEST), STRIP_HEIGHT)),
    touched.map((u) => box("touched", u)), shown.slice(1).map(gap), addresses.map(laneBox), active.map(line), labels,
  ];
  return `<svg class="ww-burst" viewBox="-${MARGIN} 0 ${n(width)} ${HEIGHT}" width="${n(width)}" height="${HEIGHT}" role="img" aria-label="${escape(caption)}">${
    HATCH}${shapes.flat().join("")}</svg>`;
}

export const share = ({ touched, used, moved, ideal, unit, word, part }) => `The request touches ${plural(touched.length, word)} of ${
  unit} ${part}s and uses ${used} of the ${moved} ${part}s moved, ${percent(used, moved)}.${
  ideal < touched.length ? ` ${plural(ideal, word)} could hold what it uses.` : ""}`;

const ordinal = (k) => k + ([, "st", "nd", "rd"][k % 100 - k % 10 === 10 ? 0 : k % 10] ?? "th");

// Where a lane's element lies. A unit's number counts from 0 at the array's start, as byte / 32 does; its place among the touched is an ordinal.
function laneText({ addresses, itemsize, unit, verb, array, touched, word }, lane) {
  const first = addresses[lane], what = unit === TOY_BURST ? `value ${first}` : `bytes ${first} to ${first + itemsize - 1} of ${array}`;
  const at = Math.floor(first / unit), nth = touched.indexOf(at) + 1;
  const which = touched.length > 1 ? `the ${ordinal(nth)} of the ${touched.length} touched` : "the only one touched";
  return first < 0 ? `Lane ${lane} is not active.` : `Lane ${lane} ${verb} ${what}, in ${word} ${at}: ${which}.`;
}

// Picture, numbers and sentences of a request; the sentences stand in a live region.
function show(ui, request, lane, lead, caption, width) {
  const r = measure(request), text = `${lead} ${share(r)}`;
  ui.find(".picture").innerHTML = picture(r, width, lane, caption);
  for (const name of ["word", "part"]) for (const node of ui.body.querySelectorAll(`.${name}`)) node.textContent = r[name];
  ui.find(".key").lastChild.hidden = !ui.find(".gap");
  ui.find("dl").innerHTML = numbers([
    [`${r.word}s per request`, r.touched.length, `fewest possible: ${r.ideal}`],
    [`${r.part}s used`, r.used, `of ${r.moved} moved`],
    ["efficiency", percent(r.used, r.moved), `<span class="bar"><i style="width:${(100 * r.used) / r.moved}%"></i></span>`],
  ]);
  ui.find("p.share").textContent = text;
  ui.find("p.lane").textContent = laneText(r, lane);
}

function explorer(ui, { itemsizes, sector }) {
  const form = ui.find("form");
  ui.draw = (width) => {
    const { memory, dtype, stride, offset, lane } = read(form), toy = memory === "toy", itemsize = toy ? 1 : itemsizes[dtype];
    form.dtype.disabled = toy;
    const addresses = Array.from({ length: 32 }, (_, i) => (offset + stride * i) * itemsize);
    const lead = `Stride ${stride}, offset ${offset}, ${toy ? "toy memory" : dtype}.`;
    show(ui, { addresses, itemsize, unit: toy ? TOY_BURST : sector }, lane, lead, `Lane i reads x[${offset} + ${stride} * i]`, width);
  };
  form.oninput = ui.redraw;
}

function listing(ui, { lines, line, kind, sector }) {
  const form = ui.find("form.steps"), source = ui.find("form.source"), [back, next] = form.querySelectorAll("button");
  let row;
  const key = (r) => `${r.number} ${r.kind}`;
  const select = (test) => {
    row = lines.find(test) ?? lines[0];
    for (const radio of source.querySelectorAll("[name=line]")) {
      radio.checked = radio.value === key(row);
      radio.closest("tr").className = radio.value.startsWith(`${row.number} `) ? "on" : "";
    }
    Object.assign(form.step, { min: row.first, max: row.first + row.requests.length - 1, value: row.worst });
    const chosen = source.querySelector(".on"), box = source.firstChild;
    if (chosen.offsetTop > box.scrollTop + box.clientHeight - 40) box.scrollTop = chosen.offsetTop - 80;
  };
  ui.draw = (width) => {
    const { step, lane } = read(form), { requests, number, total, first } = row, r = requests[step - first], last = +form.step.max;
    let at = 0;
    const addresses = r.deltas.map((d) => (at += d)), active = addresses.filter((a) => a >= 0).length, lead = `Line ${number}: ${r.who}`;
    [back.disabled, next.disabled] = [step === first, step === last];
    form.querySelector("[for=step]:is(output)").value = `${step} of ${total}${total > requests.length ? `, shown: ${first} to ${last}` : ""}`;
    show(ui, { ...r, addresses, unit: sector }, lane, `${lead} with ${plural(active, "lane")}.`, lead, width);
  };
  const go = (by) => () => ((form.step.value = +form.step.value + by), ui.redraw());
  [back.onclick, next.onclick, form.oninput] = [go(-1), go(1), ui.redraw];
  source.oninput = (e) => (select((r) => key(r) === e.target.value), ui.redraw(), ui.tell("line", row.number));
  // What was told comes back as heard: the reader's choice within the line stays.
  ui.hear("line", (number) => number !== row.number && (select((r) => r.number === number && r.opens), ui.redraw()));
  select((r) => r.number === line && r.kind === kind);
}

export default widget("ww-burst", (ui, data) => data.lines?.length ? listing(ui, data) : data.itemsizes && explorer(ui, data));
