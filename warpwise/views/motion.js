// Motion that shows cause: after a step, a shape glides from where it stood, or from where it comes
// from, to its place. Shapes say so with moves, in draw.js. Whoever drags a slider sees the new
// picture at once, and readers who ask for less motion always do.
const TIME = { duration: 250, easing: "ease-in-out" };

// Where the shapes that can move stand, by their keys.
export const standing = (picture) =>
  new Map(
    [...picture.querySelectorAll("[data-move]")].map((node) => [node.dataset.move, node.getBBox()]),
  );

const origin = ({ from }) => {
  if (!from) return;
  const [x, y, width, height] = from.split(" ").map(Number);
  return { x, y, width, height };
};

// Let the shapes of a new picture glide from where they stood before.
export function glide(picture, before) {
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  for (const node of picture.querySelectorAll("[data-move]")) {
    const to = node.getBBox();
    const from = before.get(node.dataset.move) ?? origin(node.dataset);
    if (!from || ["x", "y", "width", "height"].every((side) => Math.abs(from[side] - to[side]) < 1))
      continue;
    const scale = ["width", "height"].map((side) => (to[side] ? from[side] / to[side] : 1));
    const start = `translate(${from.x - to.x}px, ${from.y - to.y}px) scale(${scale.join()})`;
    node.animate({ transform: [start, "none"] }, TIME);
  }
}
