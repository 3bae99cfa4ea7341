// What a mark is, in words beside it: of the mark under the pointer, that a finger touches, or that
// arrow keys have come to. Left and right go through all marks, up and down to the nearest, Enter
// presses. Shapes carry their words (is, in draw.js); of cells that are drawn as one shape, a
// picture's marks() gives [x, y, width, height, words, shy]. Keys pass the shy, such as the points
// of a curve, which sliders reach. The shapes that belong to a mark, by the keys in its data-with,
// stand out with it.
const MOST_ACROSS = 4;

const list = (picture, marks) => {
  const svg = picture.querySelector("svg");
  if (!svg) return [];
  const { left, top } = svg.getBoundingClientRect();
  const shapes = [...svg.querySelectorAll("[data-is]")].map((node) => {
    const box = node.getBoundingClientRect();
    const { width: w, height: h } = box;
    return { x: box.left - left, y: box.top - top, w, h, words: node.dataset.is, node };
  });
  const cells = (marks?.() ?? []).map(([x, y, w, h, words, shy]) => ({ x, y, w, h, words, shy }));
  return [...shapes, ...cells.filter(({ words }) => words)];
};

const holds = ({ x, y, w, h }, at, down) => at >= x && at <= x + w && down >= y && down <= y + h;

// The place in a list of the mark nearest above (-1) or below (1) another.
function beyond(all, from, way) {
  const far = ({ x, y, w, h }) => {
    const down = way * (y + h / 2 - from.y - from.h / 2);
    return down < 2 ? Infinity : down + MOST_ACROSS * Math.abs(x + w / 2 - from.x - from.w / 2);
  };
  const least = all.reduce((best, one, i) => (far(one) < far(all[best]) ? i : best), 0);
  return far(all[least]) < Infinity ? least : all.indexOf(from);
}

// Give a picture its words; returns a function that takes the marks of each new picture.
export function pointed(ui, press) {
  const picture = ui.find(".picture");
  const root = picture.getRootNode();
  const [ring, tip] = ["ring", "tip"].map((name) => {
    const made = ui.body.appendChild(document.createElement("div"));
    return Object.assign(made, { className: name, hidden: true });
  });
  let marks;
  let known;
  let at = 0;
  let pointer;
  const all = () => (known ??= list(picture, marks));
  const steps = () => all().filter(({ shy }) => !shy);
  const join = (mark) => {
    for (const node of picture.querySelectorAll(".with")) node.classList.remove("with");
    for (const key of mark?.node?.dataset.with?.split(" ") ?? [])
      picture.querySelector(`[data-key="${key}"]`)?.classList.add("with");
  };
  const hide = () => (join(), (ring.hidden = tip.hidden = true));
  const say = (mark, byKeys) => {
    if (!mark) return hide();
    join(mark);
    const svg = picture.querySelector("svg").getBoundingClientRect();
    const body = ui.body.getBoundingClientRect();
    const [x, y] = [svg.left - body.left + mark.x, svg.top - body.top + mark.y];
    ring.hidden = !byKeys;
    tip.hidden = false;
    // What the pointer is on, the reader sees; what keys have come to is said.
    tip.ariaLive = byKeys ? "polite" : "off";
    if (tip.textContent !== mark.words) tip.textContent = mark.words;
    const room = ui.body.clientWidth - tip.offsetWidth;
    const place = (node, left, top) =>
      Object.assign(node.style, { left: `${left}px`, top: `${top}px` });
    place(
      tip,
      Math.max(0, Math.min(room, x + mark.w / 2 - tip.offsetWidth / 2)),
      y - tip.offsetHeight - 7,
    );
    place(ring, x - 2, y - 2);
    Object.assign(ring.style, { width: `${mark.w + 4}px`, height: `${mark.h + 4}px` });
  };
  const go = (place) => say(steps()[(at = Math.max(0, Math.min(place, steps().length - 1)))], true);
  const under = () => {
    const node = root.elementFromPoint(...pointer)?.closest?.("[data-is]");
    const svg = picture.querySelector("svg")?.getBoundingClientRect();
    const [x, y] = svg ? [pointer[0] - svg.left, pointer[1] - svg.top] : pointer;
    return all().findLast((one) => (node ? one.node === node : !one.node && holds(one, x, y)));
  };
  const hover = (e) => ((pointer = [e.clientX, e.clientY]), say(under()));
  const leave = () => ((pointer = undefined), hide());
  const keys = {
    ArrowLeft: () => go(at - 1),
    ArrowRight: () => go(ring.hidden ? at : at + 1),
    ArrowUp: () => go(beyond(steps(), steps()[at], -1)),
    ArrowDown: () => go(beyond(steps(), steps()[at], 1)),
    Home: () => go(0),
    End: () => go(steps().length - 1),
    Escape: hide,
  };
  const enter = () => {
    const { x, y, w, h } = steps()[at];
    const svg = picture.querySelector("svg").getBoundingClientRect();
    press(root.elementFromPoint(svg.left + x + w / 2, svg.top + y + h / 2));
  };
  Object.assign(picture, { tabIndex: 0, role: "application" });
  picture.ariaLabel = "Picture: arrow keys go from mark to mark";
  picture.addEventListener("pointermove", hover);
  picture.addEventListener("pointerdown", hover);
  picture.addEventListener("pointerleave", (e) => e.pointerType === "touch" || leave());
  picture.addEventListener("focus", () => picture.matches(":focus-visible") && go(at));
  picture.addEventListener("blur", hide);
  picture.addEventListener("keydown", (e) => {
    const does = ["Enter", " "].includes(e.key) && !ring.hidden ? enter : keys[e.key];
    if (!does || e.ctrlKey || e.metaKey || e.target !== picture || !steps().length) return;
    e.preventDefault();
    does();
  });
  const elsewhere = (e) => e.composedPath().includes(picture) || leave();
  document.addEventListener("pointerdown", elsewhere);
  ui.end(() => document.removeEventListener("pointerdown", elsewhere));
  return (next) => {
    [marks, known] = [next, undefined];
    if (!ring.hidden) go(at);
    else if (!tip.hidden) say(pointer && under());
  };
}
