// A widget whose picture, numbers and sentence follow from its data and its controls alone: show(data, values, width) gives
// { picture, text, rows?, limits?, outputs?, disabled? } and needs no page, so that Python can run it for the picture that is there before
// any script. Controls: every form element by its name; players with Back, Play and Next; what is pressed in the picture; drag.
import { numbers, read, widget } from "./core.js";

const EVERY = 700; // milliseconds from one step of a player to the next

function put(form, values) {
  for (const [name, value] of Object.entries(values)) {
    const control = form.elements[name];
    if (control) control[control.type === "checkbox" ? "checked" : "value"] = value;
  }
}

// Ends of sliders, words beside them, and what cannot be used now; says whether a value had to give way.
function adapt(form, { limits = {}, outputs = {}, disabled = {} }) {
  let moved = false;
  for (const [name, [min, max]] of Object.entries(limits)) {
    const slider = form.elements[name], before = slider.value;
    Object.assign(slider, { min, max });
    moved ||= slider.value !== before;
  }
  for (const [name, words] of Object.entries(outputs)) form.querySelector(`output[for=${name}]`).value = words;
  for (const [name, off] of Object.entries(disabled)) form.elements[name].disabled = off;
  return moved;
}

function play(ui, form, player) {
  const slider = player.querySelector("input"), [back, start, next] = player.querySelectorAll("button"), live = ui.find("[aria-live]");
  let timer = 0;
  const at = (end) => +slider.value === +slider[end];
  const go = (by) => (put(form, { [slider.name]: +slider.value + by }), form.oninput());
  const stop = () => {
    clearInterval(timer);
    timer = 0;
    start.textContent = "Play";
    live.ariaLive = "polite"; // while it plays, a screen reader could not keep up
  };
  back.onclick = () => (stop(), go(-1));
  next.onclick = () => (stop(), go(1));
  start.onclick = () => {
    if (timer) return stop();
    live.ariaLive = "off";
    start.textContent = "Pause";
    if (at("max")) put(form, { [slider.name]: slider.min }), form.oninput();
    timer = setInterval(() => (go(1), at("max") && stop()), EVERY);
  };
  player.update = () => ([back.disabled, next.disabled] = [at("min"), at("max")]);
  return () => clearInterval(timer);
}

// drag(data, x, y, width) gives the values of controls for a place in the picture, or nothing.
export const explore = (tag, show, drag) => widget(tag, (ui, data) => {
  const form = ui.find("form"), picture = ui.find(".picture"), players = [...form.querySelectorAll(".player")];
  ui.draw = (width) => {
    let made = show(data, read(form), width);
    if (adapt(form, made)) adapt(form, (made = show(data, read(form), width)));
    picture.innerHTML = made.picture;
    ui.find("dl").innerHTML = numbers(made.rows ?? []);
    ui.find("p.text").textContent = made.text;
    for (const player of players) player.update();
  };
  form.oninput = () => (ui.redraw(), ui.tell("values", read(form)));
  const bring = (values) => values && (put(form, values), form.oninput());
  picture.onclick = (e) => {
    const at = e.target.closest("[data-set]");
    if (at) bring(Object.fromEntries(new URLSearchParams(at.dataset.set)));
  };
  if (drag) {
    const moved = (e) => {
      const { left, top } = picture.firstElementChild.getBoundingClientRect();
      bring(drag(data, e.clientX - left, e.clientY - top, ui.width()));
    };
    picture.classList.add("drag");
    picture.onpointerdown = (e) => (picture.setPointerCapture(e.pointerId), moved(e));
    picture.onpointermove = (e) => picture.hasPointerCapture(e.pointerId) && moved(e);
  }
  form.onsubmit = (e) => e.preventDefault();
  ui.hear("values", (values) => (put(form, values), ui.redraw()));
  for (const player of players) ui.end(play(ui, form, player));
});
