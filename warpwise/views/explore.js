// A widget over controls, as in form.js, with players and a picture that can be dragged.
import { widget } from "./core.js";
import { follow, put } from "./form.js";

// Milliseconds between two steps of a player.
const EVERY = 700;

function play(ui, form, player) {
  const slider = player.querySelector("input");
  const [back, start, next] = player.querySelectorAll("button");
  const live = ui.find("[aria-live]");
  let timer = 0;
  const at = (end) => +slider.value === +slider[end];
  const go = (by) =>
    ui.step(() => (put(form, { [slider.name]: +slider.value + by }), form.oninput()));
  const stop = () => {
    clearInterval(timer);
    timer = 0;
    start.textContent = "Play";
    live.ariaLive = "polite";
  };
  back.onclick = () => (stop(), go(-1));
  next.onclick = () => (stop(), go(1));
  // While it plays, a screen reader could not keep up: where it stops is said, once.
  start.onclick = () => {
    if (timer) return (stop(), (live.firstChild.textContent += ""));
    live.ariaLive = "off";
    start.textContent = "Pause";
    if (at("max")) (put(form, { [slider.name]: slider.min }), form.oninput());
    timer = setInterval(() => (slider.max - slider.value < 2 && stop(), go(1)), EVERY);
  };
  player.update = () => ([back.disabled, next.disabled] = [at("min"), at("max")]);
  return () => clearInterval(timer);
}

// drag(data, x, y, width, values) gives the controls' values for a place in the picture, or
// nothing.
export const explore = (tag, show, drag) =>
  widget(tag, (ui, data) => {
    const bring = follow(ui, data, show);
    const draw = ui.draw;
    const form = ui.find("form.auto");
    const picture = ui.find(".picture");
    const players = [...form.querySelectorAll(".player")];
    ui.draw = (width) => {
      draw(width);
      for (const player of players) player.update();
    };
    if (drag) {
      const moved = (e) => {
        const { left, top } = picture.firstElementChild.getBoundingClientRect();
        bring(drag(data, e.clientX - left, e.clientY - top, ui.width(), ui.values));
      };
      picture.classList.add("drag");
      picture.onpointerdown = (e) =>
        e.target.closest("[data-set]") || (picture.setPointerCapture(e.pointerId), moved(e));
      picture.onpointermove = (e) => picture.hasPointerCapture(e.pointerId) && moved(e);
    }
    for (const player of players) ui.end(play(ui, form, player));
  });
