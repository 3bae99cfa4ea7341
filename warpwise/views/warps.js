// The warps widget: what each warp of an SM does, clock by clock, below what its scheduler issues.
import { percent, plural, thousands } from "./core.js";
import { legend, n, oblong, path, svg, text, worded } from "./draw.js";
import { explore } from "./explore.js";
import { ABSENT, DOES, ISSUES } from "./stalls.js";

// Pixels: names of warps; a scheduler's words and its strip of issue slots; between schedulers;
// the axis.
const LEFT = 34;
const WORDS = 18;
const STRIP = 12;
const GAP = 16;
const AXIS = 26;
const PARTS = 4;
// In the data an instruction that a warp issues is -1 less its place in ops, and a wait this many
// times its kind, plus its clocks (stopwatch/timeline.py).
const PACKED = 10_000;
const MOST_LETTERS = 52; // of an instruction and its line, beside a mark

const sum = (some) => some.reduce((total, one) => total + one, 0);

// What a warp does in the clocks in sight: [what, first clock, clocks, instruction]. It waits to
// issue what it issues next, which may be out of sight.
function inSight(row, total, from, clocks) {
  const found = [];
  let at = total;
  let next = 0;
  for (const one of [...row].reverse()) {
    if (one < 0) next = one;
    const end = Math.min(at, from + clocks);
    at -= one < 0 ? 1 : one % PACKED;
    const start = Math.max(at, from);
    const what = one < 0 ? ISSUES : Math.floor(one / PACKED);
    if (end > start && what !== ABSENT) found.push([what, start, end - start, -1 - next]);
  }
  return found.reverse();
}

// The warps of one scheduler, all that they do, and the clocks in which one of them issues, with it.
function scheduler(film, part, from, clocks) {
  const rows = film.warps
    .map((row, warp) => ({ warp, runs: inSight(row, film.clocks, from, clocks) }))
    .filter(({ warp }) => warp % PARTS === part);
  const issues = rows.flatMap(({ warp, runs }) =>
    runs.filter(([what]) => what === ISSUES).map(([, at]) => [at, warp]),
  );
  return { part, rows, runs: rows.flatMap(({ runs }) => runs), issues };
}

// What most of the clocks go to in which a warp issues nothing, and their share.
function longest(runs) {
  const spent = DOES.map((_, what) =>
    sum(runs.filter((run) => run[0] === what).map((run) => run[2])),
  );
  spent[ISSUES] = 0;
  const most = Math.max(...spent);
  return most ? [...DOES[spent.indexOf(most)].slice(0, 2), most / sum(spent)] : undefined;
}

// An instruction and its line, as much of it as fits beside a mark.
function named({ ops, lines }, op) {
  const [name, line] = ops[op] ?? [];
  const words = [name, ...(lines[line] ?? [])].filter(Boolean).join(", ").replaceAll(":", "");
  return words.length > MOST_LETTERS ? `${words.slice(0, MOST_LETTERS - 1)}…` : words;
}

function told(film, warp, [what, at, clocks, op]) {
  const first = film.first + at;
  const until = clocks > 1 ? ` to ${thousands(first + clocks - 1)}` : "";
  const when = `warp ${warp}, clock${clocks > 1 ? "s" : ""} ${thousands(first)}${until}`;
  const of = named(film, op);
  if (what === ISSUES) return worded(when, `issues ${of}`);
  return worded(when, DOES[what][0], of && `before ${of}`);
}

// Marks of one look are one shape.
function drawn(rows, top, high, x) {
  const shapes = new Map();
  rows.forEach(({ runs }, row) => {
    for (const [what, at, clocks] of runs) {
      const [, , look, , share] = DOES[what];
      const tall = Math.max(1.5, (high - 1) * share);
      const y = top + row * high + (high - 1 - tall) / 2;
      const shape = oblong(x(at), y, x(at + clocks) - x(at), tall);
      shapes.set(look, (shapes.get(look) ?? "") + shape);
    }
  });
  return [...shapes].map(([look, shape]) => path(look, shape));
}

function group(film, { part, rows, issues }, top, high, x, from, clocks) {
  const strip = top + WORDS;
  const first = strip + STRIP + 5;
  const slot = (at, long = 1) => [x(at), strip, x(at + long) - x(at), STRIP];
  const place = ([, at, long], row) => [x(at), first + row * high, x(at + long) - x(at), high - 1];
  const name = ({ warp }, row) => text("end small", LEFT - 6, first + (row + 1) * high - 2.5, warp);
  const share = `issues in ${issues.length} of ${clocks} clocks`;
  const wide = x(from + clocks) > 400 ? `, ${percent(issues.length, clocks)}` : "";
  return {
    shapes: [
      text("strong", 0, top + 11, `Scheduler ${part}: ${share}${wide}`),
      path("faint", oblong(...slot(from, clocks))),
      path("one", issues.map(([at]) => oblong(...slot(at))).join("")),
      high < 11 ? [] : rows.map(name),
      drawn(rows, first, high, x),
    ],
    marks: () => [
      [...slot(from, clocks), worded(`scheduler ${part}`, share)],
      ...issues.map(([at, warp]) => {
        const slotted = worded(`clock ${thousands(film.first + at)}`, `warp ${warp} issues`);
        return [...slot(at), slotted, true];
      }),
      ...rows.flatMap(({ warp, runs }, row) =>
        runs.map((run) => [...place(run, row), told(film, warp, run)]),
      ),
    ],
    end: first + rows.length * high + GAP,
  };
}

function axis(film, from, clocks, y, x) {
  const step = [10, 20, 50, 100, 200, 500].find((some) => clocks / some <= 6);
  const begin = Math.ceil((film.first + from) / step) * step;
  const count = Math.floor((film.first + from + clocks - begin) / step) + 1;
  return Array.from({ length: count }, (_, i) => {
    const clock = begin + i * step;
    const at = Math.min(x(clock - film.first), x(from + clocks) - 12);
    return [
      path("rule", `M${n(x(clock - film.first))} ${n(y)}v5`),
      text("middle small", at, y + 17, thousands(clock)),
    ];
  });
}

// Schedulers one below the other.
function stacked(film, found, x, from, clocks) {
  const rows = sum(found.map((one) => one.rows.length));
  const high = rows > 32 ? 6 : found.length > 1 ? 11 : 15;
  const groups = [];
  let top = 0;
  for (const one of found) {
    groups.push(group(film, one, top, high, x, from, clocks));
    top = groups.at(-1).end;
  }
  return { groups, top };
}

// Sentence and numbers.
function said(data, film, on, found, from, clocks) {
  const issued = sum(found.map(({ issues }) => issues.length));
  const all = on.scheduler === "all";
  const slots = clocks * (all ? PARTS : 1);
  const warps = plural(sum(found.map((one) => one.rows.length)), "warp");
  const waits = longest(found.flatMap((one) => one.runs));
  const first = film.first + from;
  const when = `clocks ${thousands(first)} to ${thousands(first + clocks - 1)}`;
  const whose = all ? "four schedulers" : `scheduler ${on.scheduler}`;
  const used = `${thousands(issued)} of ${thousands(slots)} issue slots`;
  const share = waits && `Of the warps' other clocks ${percent(waits[2], 1)} go to ${waits[0]}`;
  const others = waits ? ` ${share}, waiting for ${waits[1]}.` : "";
  return {
    rows: [
      ["issue slots used", percent(issued, slots), `${thousands(issued)} of ${thousands(slots)}`],
      ["most other clocks", waits ? waits[0] : "none", waits ? `waiting for ${waits[1]}` : ""],
    ],
    text:
      `One SM of ${data.device}, ${when}, ${whose}: ${warps}, ` +
      `an instruction in ${used}.${others} Modelled.`,
    outputs: { first: thousands(first) },
  };
}

export function show(data, on, width) {
  const film = data.films[[on.warps, on.loads].filter(Boolean).join(" ")];
  const clocks = Math.min(on.clocks, film.clocks);
  const from = Math.min(on.first, film.clocks - clocks);
  const x = (clock) => LEFT + ((width - LEFT - 2) * (clock - from)) / clocks;
  const parts = on.scheduler === "all" ? [0, 1, 2, 3] : [+on.scheduler];
  const found = parts
    .map((part) => scheduler(film, part, from, clocks))
    .filter(({ rows }) => rows.length);
  const { groups, top } = stacked(film, found, x, from, clocks);
  const seen = new Set(found.flatMap(({ runs }) => runs.map(([what]) => DOES[what][2])));
  const looks = new Map([...DOES].reverse().map(([, , look, words]) => [look, words]));
  const key = legend(
    [...looks].filter(([look]) => seen.has(look)),
    width,
    top + AXIS,
  );
  return {
    picture: svg(width, top + AXIS + key.height, `Warps of one SM of ${data.device}`, [
      groups.map(({ shapes }) => shapes),
      axis(film, from, clocks, top - GAP + 4, x),
      key.shapes,
    ]),
    ...said(data, film, on, found, from, clocks),
    limits: {
      clocks: [Math.min(40, film.clocks), film.clocks],
      first: [0, film.clocks - clocks],
    },
    marks: () => groups.flatMap(({ marks }) => marks()),
  };
}

export default explore("ww-warps", show);
