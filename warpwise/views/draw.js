// Shapes as SVG text, for pictures that are drawn with and without a page. Lengths are CSS pixels;
// a shape's look is its class.
import { escape } from "./core.js";

export const n = (value) => Math.floor(value * 10 + 0.5) / 10;
export const rect = (name, x, y, w, h, more = "") =>
  `<rect class="${name}" x="${n(x)}" y="${n(y)}" width="${n(w)}" height="${n(h)}"${more}/>`;
export const path = (name, d, more = "") => `<path class="${name}" d="${d}"${more}/>`;
// A rectangle as part of a path, which has one look.
export const oblong = (x, y, w, h) => `M${n(x)} ${n(y)}h${n(w)}v${n(h)}h${n(-w)}z`;
export const line = (name, x1, y1, x2, y2) => path(name, `M${n(x1)} ${n(y1)}L${n(x2)} ${n(y2)}`);
export const circle = (name, x, y, r, more = "") =>
  `<circle class="${name}" cx="${n(x)}" cy="${n(y)}" r="${n(r)}"${more}/>`;
export const text = (name, x, y, what) =>
  `<text class="${name}" x="${n(x)}" y="${n(y)}">${what}</text>`;
// The approximate width of a text.
export const letters = (what, size = 12) => String(what).length * size * 0.56;

// An attribute for shapes that can be pressed: <rect ... data-set="lane=5"> sets the control "lane"
// to 5. Values are numbers or plain words.
export const press = (values) =>
  ` data-set="${escape(
    Object.entries(values)
      .map((pair) => pair.join("="))
      .join("&"),
  )}"`;

// What a mark is and its figures, as in "lane 5: bytes 20 to 23, sector 0", for its shape; marks.js
// shows it. Cells are marks that are drawn as one shape, row after row.
export const worded = (what, ...facts) =>
  [what, facts.filter((one) => one || one === 0).join(", ")].filter(Boolean).join(": ");
export const is = (what, ...facts) => ` data-is="${escape(worded(what, ...facts))}"`;
export const cells = (x, y, wide, high, columns, count, words, shy) =>
  Array.from({ length: count }, (_, k) => [
    x + (k % columns) * wide,
    y + Math.floor(k / columns) * high,
    wide,
    high,
    words(k),
    shy,
  ]);

// After a step, motion.js moves a shape from where the one of the same key stood, or else from a
// place [x, y, width, height].
export const moves = (key, from) =>
  ` data-move="${escape(key)}"` + (from ? ` data-from="${from.map(n).join(" ")}"` : "");

// The picture itself. label names it in a few words; the sentence below it says what it shows.
export const svg = (width, height, label, shapes) =>
  `<svg class="ww-svg" viewBox="0 0 ${n(width)} ${n(height)}" ` +
  `width="${n(width)}" height="${n(height)}" role="img" aria-label="${escape(label)}">` +
  `${HATCH}${shapes.flat(Infinity).join("")}</svg>`;
const HATCH =
  '<pattern id="ww-hatching" width="5" height="5" patternUnits="userSpaceOnUse" ' +
  `patternTransform="rotate(45)">${path("hatch", "M0 0V5")}</pattern>`;

// A legend: items [class, words] in rows of at most width pixels. Gives the shapes and their
// height.
export function legend(items, width, y = 0) {
  let x = 0;
  let row = 0;
  const shapes = items.map(([name, words]) => {
    const wide = 46 + letters(words);
    if (x && x + wide - 18 > width) [x, row] = [0, row + 1];
    const top = y + 20 * row;
    const shape = rect(name, x, top, 20, 12) + text("", x + 27, top + 10.5, escape(words));
    x += wide;
    return shape;
  });
  return { shapes: ['<g class="key">', shapes, "</g>"], height: 20 * (row + 1) };
}
