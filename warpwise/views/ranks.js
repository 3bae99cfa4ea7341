// The ranks widget: a lane for each rank over the time of a run, its work above, below it what it
// sends and receives, and a strip where both go on; then bars of the bytes of each link.
import { escape, percent, plural, thousands } from "./core.js";
import { is, legend, letters, line, oblong, path, rect, svg, text, worded } from "./draw.js";
import { explore } from "./explore.js";
import { timed } from "./timed.js";

// Pixels: the column of names, above the lanes, a row of links.
const LEFT = 50;
const TOP = 20;
const LINK = 18;
// Of a lane, by how many there are at most: its work, a message, the strip, the gap below.
const SIZES = [
  [8, 15, 7, 3, 8],
  [16, 9, 5, 2, 5],
  [64, 4, 2.5, 1, 2.5],
];
// By kind of mark.
const LOOK = ["one", "two", "four"];
const NOTE = 20;

const several = (names, more, last) =>
  names.length + (more ?? 0) > 1
    ? `${names.slice(0, more ? undefined : -1).join(", ")} and ${more ? last(more) : names.at(-1)}`
    : String(names[0]);
const when = (begin, seconds) => `at ${timed(begin)} for ${timed(seconds)}`;

function wordsOf({ r, k, t, d, n, b, l, x, to, y, u }, lines) {
  const place = l.length === 1 ? lines[l[0]][1] : "";
  const what = several(l.map((i) => lines[i][0]), x, (more) => `${more} others`);
  const often = n ? (k ? plural(n, "message") : `${n} times`) : "";
  const peers = k ? `${to.length > 1 || y ? "ranks" : "rank"} ${several(to, y, (more) => `${more} more`)}` : "";
  const who = [`rank ${r} works`, `rank ${r} sends to ${peers}`, `rank ${r} receives from ${peers}`];
  return [who[k], what, place, often, k ? plural(b ?? 0, "byte") : "", when(t, d), n && u < d ? `busy for ${timed(u)}` : ""];
}

function linksOf({ links, more }, width, top) {
  if (!links.length) return { shapes: [], height: 0 };
  const columns = width >= 560 && links.length > 4 ? 2 : 1;
  const rows = Math.ceil(links.length / columns);
  const wide = (width - 24 * (columns - 1)) / columns;
  const most = Math.max(1, ...links.map(([, nbytes]) => nbytes));
  const left = 8 + Math.max(...links.map(([name]) => letters(name, 12)));
  const right = 8 + letters(thousands(most), 12);
  const shapes = links.map(([name, nbytes, messages, busy], k) => {
    const x = (wide + 24) * Math.floor(k / rows);
    const y = top + NOTE + LINK * (k % rows);
    const bar = ((wide - left - right) * nbytes) / most;
    return [
      text("", x, y + 11.5, escape(name)),
      rect("grey", x + left, y + 2, Math.max(1, bar), LINK - 6,
        is(name, plural(nbytes, "byte"), plural(messages, "message"), `busy for ${timed(busy)}`)),
      text("end", x + wide, y + 11.5, thousands(nbytes)),
    ];
  });
  const head = `bytes by link${more ? `, the ${links.length} of ${links.length + more} with most` : ""}`;
  return {
    shapes: [text("strong", 0, top + 10, head), shapes],
    height: NOTE + LINK * rows,
  };
}

export function show(data, _, width) {
  const { seconds, lanes, lines, ranks } = data;
  const [, work, message, strip, gap] = SIZES.find(([most]) => lanes.length <= most);
  const lane = work + 2 * message + strip + 3 + gap;
  const scale = seconds ? (width - LEFT - 1) / seconds : 0;
  const x = (time) => LEFT + time * scale;
  const y = (rank) => TOP + lane * rank;
  const below = [0, work + 1, work + message + 2, work + 2 * message + 3];
  const bottom = TOP + lane * lanes.length;
  const mark = (one, key) => {
    const { r, k, t, d, p, l } = one;
    const [from, top, high] = [x(t), y(r) + below[k], k ? message : work];
    const wide = Math.max(0.8, d * scale);
    const name = l.length === 1 ? lines[l[0]][0] : "";
    const joined = one.with ? ` data-with="${one.with.join(" ")}"` : "";
    const [who, ...facts] = wordsOf(one, lines);
    const late = k && !one.n;
    const more = `${is(who, ...facts)} data-key="${key}"${joined}`;
    // Of several, their pieces: the times at which they begin and end, in turn.
    const piece = (begin, i) =>
      i % 2 ? "" : oblong(x(begin), top, Math.max(0.8, (one.at[i + 1] - begin) * scale), high);
    return [
      one.at ? path(LOOK[k], one.at.map(piece).join(""), more) : rect(`${LOOK[k]}${late ? " late" : ""}`, from, top, wide, high, more),
      late && p * scale > 0.3 ? rect(`${LOOK[k]} still`, from, top, Math.min(wide, p * scale), high) : "",
      !k && work > 12 && wide > letters(name, 11) + 6 ? text("inside", from + wide / 2, top + 11.5, escape(name)) : "",
    ];
  };
  const stretch = (words, shape) => ([r, t, d, of]) =>
    [x(t), y(r) + shape[0], d * scale, shape[1], worded(`rank ${r} ${words}`, when(t, of)), true];
  const both = data.both.map(stretch("works and moves bytes", [below[3], strip]));
  const idle = data.idle.map(stretch("is idle", [0, lane - gap]));
  const every = lane < 14 ? 2 : 1;
  const label = ([own, moves, at, no, sent, received], r) =>
    rect("press", 0, y(r), LEFT - 3, lane - 1,
      is(`rank ${r}`, `works ${timed(own)}`, `moves bytes ${timed(moves)}`, `both ${timed(at)}`, `idle ${timed(no)}`, `sends ${plural(sent, "byte")}`));
  const ground = (_, r) => [
    rect("grid ground", LEFT, y(r), width - LEFT, lane - gap),
    r % every ? "" : text("", 0, y(r) + Math.min(12, work / 2 + 6), `rank ${r}`),
  ];
  const ticks = width < 480 ? 2 : 4;
  const axis = Array.from({ length: ticks + 1 }, (_, k) => [
    line("grid", x((seconds * k) / ticks), TOP - 5, x((seconds * k) / ticks), bottom - gap),
    text(k === ticks ? "end" : k ? "middle" : "", x((seconds * k) / ticks), TOP - 8, timed((seconds * k) / ticks)),
  ]);
  const key = legend(
    [["one", "own work"], ["two", "sends"], ["four", "receives"], ["two late", "latency"], ["three", "both at once"]],
    width, bottom + 4,
  );
  const links = linksOf(data, width, bottom + key.height + 14);
  const [, moved, hidden, waits] = data.shares;
  const share = moved ? percent(hidden, moved) : "";
  const merged = data.marks.some(({ n }) => n);
  return {
    picture: svg(width, bottom + key.height + 14 + links.height, `${plural(ranks, "rank")} over time`, [
      lanes.map(ground),
      seconds ? axis : "",
      lanes.map((one, r) => [label(one, r), data.marks.map((each, key) => (each.r === r ? mark(each, key) : ""))]),
      both.map(([left, top, wide, high]) => rect("three", left, top, Math.max(0.8, wide), high)),
      key.shapes,
      links.shapes,
    ]),
    marks: () => [...both, ...idle],
    rows: [
      ["the run takes", timed(seconds), "modelled"],
      ["both at once", share || "none", share && "of the time of messages"],
      ["idle", percent(waits, seconds * ranks || 1), ranks > 1 ? "of the ranks' time" : "of the time"],
    ],
    text:
      `${plural(ranks, "rank")} on ${data.name}: the run takes ${timed(seconds)}, modelled. ` +
      (share
        ? `Of the time in which ranks send or receive, ${share} goes on beside their own work, and `
        : "Nothing is sent, and ") +
      `ranks are idle for ${percent(waits, seconds * ranks || 1)} of the time.` +
      (lanes.length < ranks ? ` The lanes are those of the first ${lanes.length} ranks, the figures those of all.` : "") +
      (merged ? ` There are many, so neighbours are one mark${data.closed ? ", without the gaps between them" : ""}.` : ""),
  };
}

export default explore("ww-ranks", show);
