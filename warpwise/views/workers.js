// The workers widget: tasks of one second each, done by one fast worker and, side by side, by many
// slow ones that together take its power. The rule is that of workers.py.
import { plural } from "./core.js";
import { is, letters, line, rect, svg, text } from "./draw.js";
import { explore } from "./explore.js";

// Pixels: of the fast worker's row; of all slow rows at most; around them.
const ROW = 18;
const ROOM = 190;
const TOP = 20;
const TICK = 30;

// One worker's tasks as boxes in a row: every so many-th, from the first on.
function row(look, worker, first, by, tasks, seconds, x, top, high) {
  const boxes = [];
  for (let task = first, turn = 0; task < tasks; task += by, turn++) {
    const from = turn * seconds;
    const wide = x(seconds) - x(0);
    const told = is(`task ${task + 1}`, worker, `done after ${from + seconds} s`);
    const gap = Math.min(2, wide / 4);
    boxes.push(rect(look, x(from), top, wide - gap, high - Math.min(2, high / 4), told));
  }
  return boxes;
}

// A line where all is done, with the time beside it, on the side where there is room, and beyond
// the title.
function done(seconds, title, x, top, foot, width) {
  const said = `${seconds} s`;
  const beside = Math.max(x(seconds) + 5, 1.15 * letters(title) + 8);
  const inside = beside + letters(said) + 3 < width;
  return [
    text("strong", 0, top - 6, title),
    line("edge", x(seconds), top, x(seconds), foot),
    text(inside ? "" : "end", inside ? beside : x(seconds) - 5, top - 5, said),
  ];
}

export function show(data, { tasks, slower }, width) {
  const workers = slower ** 3;
  const fast = tasks;
  const slow = slower * Math.ceil(tasks / workers);
  const x = (seconds) => (seconds * (width - 40)) / Math.max(fast, slow);
  const low = TOP + ROW + TICK;
  const high = Math.min(ROW, ROOM / workers);
  const foot = low + high * workers;
  const rows = Array.from({ length: workers }, (_, i) =>
    row("one", `slow worker ${i + 1}`, i, workers, tasks, slower, x, low + i * high, high),
  );
  const first = fast === slow ? "both at once" : fast < slow ? "the fast one" : "the slow ones";
  return {
    picture: svg(width, foot + 4, "Tasks of one fast worker and of many slow ones, over time", [
      row("two", "the fast worker", 0, 1, tasks, 1, x, TOP, ROW),
      done(fast, "1 fast worker", x, TOP, TOP + ROW, width),
      rect("empty", 0, low, x(slow), foot - low, is("a worker without a task", "idle")),
      rows,
      done(slow, `${plural(workers, "slow worker")}, the same power`, x, low, foot, width),
    ]),
    rows: [
      ["first task done", `${slower} s`, "the fast worker's after 1 s"],
      ["all tasks done", `${slow} s`, `the fast worker's after ${fast} s`],
      ["done first", first, ""],
    ],
    text:
      `${plural(tasks, "task")}: the fast worker is done after ${fast} s, ` +
      `${plural(workers, "worker")} ${slower} times slower after ${slow} s. ` +
      `Their first task is done after ${slower} s, where the fast worker's took 1 s.`,
  };
}

export default explore("ww-workers", show);
