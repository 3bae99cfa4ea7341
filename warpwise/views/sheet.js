// Requests one below the other, each with its caption and counts, and one legend: a picture for a
// file, on white.
import { legend, svg, text } from "./draw.js";
import { measure, share, strip } from "./strip.js";

const EDGE = 20;
const ROOM = 256;

export function show({ requests, captions }, _, width) {
  const measured = requests.map(measure);
  const drawn = measured.map((request, i) => strip(request, width, -1, captions[i]));
  const panels = drawn.map(({ shapes }, i) => [
    `<g transform="translate(${EDGE} ${16 + ROOM * i})">`,
    shapes,
    text("", 0, 236, share(measured[i])),
    "</g>",
  ]);
  const items = new Map(drawn.flatMap((one) => one.items));
  const key = legend([...items], width, 0);
  const y = 26 + ROOM * requests.length;
  const words = measured.map(share).join(" ");
  const shapes = [`<rect width="100%" height="100%" fill="#fff"/>`, panels];
  return {
    picture: svg(width + 2 * EDGE, y + key.height + 14, words, [
      shapes,
      `<g transform="translate(${EDGE} ${y})">`,
      key.shapes,
      "</g>",
    ]),
    text: words,
  };
}
