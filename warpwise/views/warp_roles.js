// The warp roles widget: warps by role as rows, what each does tick by tick, what units do for it
// below that, and the stages of the ring. warp_roles.py packs it all.
import { escape } from "./core.js";
import { is, legend, letters, line, press, rect, svg, text } from "./draw.js";
import { explore } from "./explore.js";

// Pixels: between names and rows; right of the rows; of a row, its bar, the thin bar below; a stage; a heading; a source
// line; the fewest for a tick.
const NAME = 8;
const RIGHT = 14;
const ROW = 27;
const BAR = 14;
const THIN = 5;
const STAGE = 18;
const HEAD = 19;
const SOURCE = 17;
const TICK = 5;
const MOST_WORDS = 108;

// The first tick in sight and one behind the last: a part that has room, and has the tick in it.
function part(end, tick, room) {
  const count = Math.floor(room / TICK);
  if (end <= count) return [0, end];
  const half = Math.floor(count / 2);
  const from = Math.floor(tick / half) * half - Math.floor(half / 2);
  const first = Math.max(0, Math.min(from, end - count));
  return [first, first + count];
}

const cut = (words, most) => (words.length > most ? `${words.slice(0, most - 1)}…` : words);
// A source line as part of a mark's words, which have one colon.
const inWords = (source, most) => cut(source.replaceAll(":", ""), most);
const during = (from, to) => (to - from > 1 ? `ticks ${from} to ${to}` : `tick ${from}`);

const listed = (names) =>
  [names.slice(0, -1).join(", "), names.at(-1)].filter(Boolean).join(" and ");

// What a row does at a tick, if it is at a word.
const doing = ({ steps }, tick) => steps.find(([from, to]) => from <= tick && tick < to);

export function show(data, { tick }, width) {
  if (data.nothing) return { picture: "", text: data.nothing };
  const { end, rows, ring, lines, facts } = data;
  const named = [...rows.map(({ name }) => name), ...ring.map(([name]) => name)];
  const beside = Math.ceil(Math.max(...named.map((name) => letters(name)))) + NAME;
  const room = width - beside - RIGHT;
  const [first, last] = part(end, tick, room);
  const x = (at) =>
    beside + ((Math.min(Math.max(at, first), last) - first) * room) / (last - first);
  const shapes = [];
  let y = 4;
  const bar = (look, from, to, high, more) => {
    if (to > first && from < last)
      shapes.push(rect(look, x(from), y, Math.max(1, x(to) - x(from) - 0.7), high, more));
  };
  const heading = (words) => {
    shapes.push(text("strong", 0, y + 12, words));
    y += HEAD;
  };
  const label = (words) => shapes.push(text("end", beside - NAME, y + 11.5, escape(words)));
  rows.forEach(({ role, name, steps, under }, k) => {
    if (role !== rows[k - 1]?.role) heading(role);
    label(name);
    for (const [from, to, look, act, at] of steps) {
      const words = [act, during(from, to), `line ${at}`];
      const left = MOST_WORDS - words.join(", ").length - name.length - 4;
      const source = inWords(lines[at], left);
      bar(look, from, to, BAR, press({ tick: from }) + is(name, ...words, left > 12 && source));
    }
    y += BAR + 1;
    for (const [from, to, look, words] of under)
      bar(look, from, to, THIN, is(name, words, during(from, to)));
    y += ROW - BAR - 1;
  });
  if (ring.length) heading("Stages of the ring, by mbarrier");
  for (const [name, spans] of ring) {
    label(name);
    for (const [from, to, look, words] of spans)
      bar(look, from, to, BAR, is(name, words, during(from, to)));
    y += STAGE;
  }
  const foot = y;
  const by = [1, 2, 5, 10, 20, 50, 100].find((one) => (one * room) / (last - first) >= 34) ?? 200;
  const axis = Array.from({ length: last - first + 1 }, (_, k) => first + k)
    .filter((at) => at % by === 0)
    .map((at) => text("middle", x(at), foot + 13, at));
  y += 32;
  const here = rows.map((row) => [row, doing(row, tick)]).filter(([, step]) => step);
  const most = Math.floor(width / 7.3);
  for (const [{ name }, [, , , , at]] of here) {
    const source = `${name}, line ${at}: ${lines[at]}`;
    shapes.push(text("code", 0, y, escape(cut(source, most))));
    y += SOURCE;
  }
  y += SOURCE * (rows.length - here.length);
  const key = legend(
    [
      ["one", "a copy"],
      ["three", "a product, a stage in use"],
      ["hatched", "waits"],
      ["faint", "a full stage"],
      ["grey", "another word"],
    ],
    width,
    y,
  );
  const acts = [...new Set(here.map(([, [, , , act]]) => act))];
  const whose = (act) => here.filter(([, step]) => step[3] === act).map(([{ name }]) => name);
  const said = acts.map((act) => `${listed(whose(act))}, ${act}`).join("; ");
  return {
    picture: svg(width, y + key.height, "Warps over time, by role", [
      shapes,
      axis,
      line("edge", x(tick + 0.5), 0, x(tick + 0.5), foot),
      key.shapes,
    ]),
    rows: [["ticks", end, "the simulator's order, no clock"], ...facts],
    text:
      `At tick ${tick} of ${end}: ${said || "no warp is at a word of hopper"}. ` +
      "Ticks are the order in which the simulator ran the warps, and no clock.",
  };
}

export default explore("ww-warp_roles", show);
