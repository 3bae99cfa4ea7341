// Controls, and a picture with numbers and a sentence that follow from them and the data alone:
// show(data, values, width) gives { picture, text, rows?, limits?, outputs?, disabled?, marks? }
// and needs no page, so that Python can run it for the picture that is there before any script.
// Controls are read by their names; pressing a shape in the picture moves them too.
import { numbers, read } from "./core.js";
import { pointed } from "./marks.js";
import { glide, standing } from "./motion.js";

export function put(form, values) {
  for (const [name, value] of Object.entries(values)) {
    const control = form.elements[name];
    if (control) control[control.type === "checkbox" ? "checked" : "value"] = value;
  }
}

// Set the ends of sliders, the words beside them, and which are disabled; true if a value changed.
function adapt(form, { limits = {}, outputs = {}, disabled = {} }) {
  let moved = false;
  for (const [name, [min, max]] of Object.entries(limits)) {
    const slider = form.elements[name];
    const before = slider.value;
    Object.assign(slider, { min, max });
    moved ||= slider.value !== before;
  }
  for (const [name, words] of Object.entries(outputs))
    form.querySelector(`output[for=${name}]`).value = form.elements[name].ariaValueText = words;
  for (const [name, off] of Object.entries(disabled)) form.elements[name].disabled = off;
  return moved;
}

// Draw, and redraw when a control is moved; gives a function that sets controls to values.
export function follow(ui, data, show) {
  const form = ui.find("form.auto");
  const picture = ui.find(".picture");
  ui.draw = (width) => {
    let made = show(data, (ui.values = read(form)), width);
    if (adapt(form, made)) adapt(form, (made = show(data, (ui.values = read(form)), width)));
    const before = ui.steps && standing(picture);
    const open = picture.querySelector("details")?.open;
    picture.innerHTML = made.picture;
    if (open) picture.querySelector("details").open = true;
    if (before) glide(picture, before);
    point(made.marks);
    ui.find("dl").innerHTML = numbers(made.rows ?? []);
    ui.find("p.text").textContent = made.text;
  };
  // What a step changes glides into its place.
  ui.step = (change) => {
    ui.steps = true;
    change();
    ui.steps = false;
  };
  form.oninput = () => (ui.redraw(), ui.tell("values", ui.values));
  form.onsubmit = (e) => e.preventDefault();
  // Twice, because the limits of one control may depend on another.
  const reach = (wanted) => [0, 1].forEach(() => (put(form, wanted), ui.redraw()));
  const bring = (wanted, stay) => {
    if (!wanted) return;
    reach(wanted);
    ui.tell("values", ui.values);
    // Arrow keys go on from here.
    if (!stay) form.elements[Object.keys(wanted)[0]]?.focus({ preventScroll: true });
  };
  const press = (target, stay) => {
    const at = target?.closest("[data-set]");
    if (at) bring(Object.fromEntries(new URLSearchParams(at.dataset.set)), stay);
  };
  const point = pointed(ui, (target) => press(target, true));
  picture.onclick = (e) => press(e.target);
  ui.hear("values", reach);
  return bring;
}
