// The clocks widget: where the clocks of a modelled launch go, as groups of bars.
import { escape } from "./core.js";
import { is, letters, line, rect, svg, text } from "./draw.js";
import { explore } from "./explore.js";

// Pixels: names beside their bars where there is room; of a row, a bar, a group's title.
const NAMES = 190;
const SIDE = 58;
const ROW = 22;
const BAR = 12;
const TITLE = 26;
const SPACE = 14;
const NARROW = 480;

// As much of a text as fits, in letters of one width or in others.
const fitting = (words, code, room) => {
  const most = Math.floor(room / (code ? 7.3 : 6.6));
  return escape(words.length > most ? `${words.slice(0, most - 1)}…` : words);
};

// A bar with its name beside it, or above it.
function bar({ name, share, figure, look, place }, top, width) {
  const above = place || width < NARROW;
  const left = above ? 0 : NAMES;
  const y = top + (above ? 18 : 3);
  const room = width - left - SIDE;
  return {
    shapes: [
      above
        ? text(place, 0, top + 13, fitting(name, place === "code", width))
        : text("end", left - 10, top + 13, escape(name)),
      rect("track", left, y, room, BAR),
      rect(look, left, y, Math.max(1, room * share), BAR),
      rect("over", left, y, room, BAR, is(name.replaceAll(":", ","), figure)),
      text("", left + room + 8, y + 10.5, escape(figure)),
    ],
    end: y + ROW - 3,
  };
}

function group({ title, note, bars, mark }, top, width) {
  const shapes = [text("strong", 0, top + 12, escape(title))];
  const beside = letters(title, 13) + 14;
  if (note) {
    const below = beside + letters(note, 11) > width;
    shapes.push(text("small", below ? 0 : beside, top + (below ? 27 : 12), escape(note)));
    if (below) top += 15;
  }
  let at = top + TITLE;
  const first = at;
  for (const one of bars) {
    const made = bar(one, at, width);
    shapes.push(made.shapes);
    at = made.end;
  }
  if (mark) {
    const left = width < NARROW ? 0 : NAMES;
    const x = left + (width - left - SIDE) * mark;
    shapes.push(line("dots", x, first, x, at - 4));
  }
  return { shapes, end: at + SPACE };
}

export function show({ label, groups, sentence }, _, width) {
  let top = 0;
  const shapes = groups.map((one) => {
    const made = group(one, top, width);
    top = made.end;
    return made.shapes;
  });
  return { picture: svg(width, Math.max(1, top - SPACE), label, shapes), text: sentence };
}

export default explore("ww-clocks", show);
