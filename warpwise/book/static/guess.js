// Makes a form of each guess: a number, then the true one beside it. What the next cell shows is covered until then.
(() => {
  "use strict";
  const NUMBER = /[-\u2212]?\d[\d,]*(?:\.\d+)?/;
  const read = (text) => {
    const found = NUMBER.exec(text.replace(/(\d)[ \u2009\u202f](?=\d{3}\b)/g, "$1"));
    return found ? Number(found[0].replaceAll(",", "").replace("\u2212", "-")) : NaN;
  };
  const make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  };

  // How a guess compares with the truth, as a reader would say it.
  const compare = (guess, truth) => {
    if (guess === truth) return "Exactly.";
    const off = Math.abs(guess - truth);
    if (off <= 0.1 * Math.abs(truth)) return "Close.";
    if (guess <= 0 || truth <= 0) return guess < truth ? "Too low." : "Too high.";
    const times = guess > truth ? guess / truth : truth / guess;
    const shown = times < 10 ? times.toFixed(1).replace(/\.0$/, "") : Math.round(times).toLocaleString("en");
    return times < 1.5 ? `A little too ${guess < truth ? "low" : "high"}.` : `${shown} times too ${guess < truth ? "low" : "high"}.`;
  };

  const form = (box, i) => {
    const told = box.querySelector(".ww-told");
    const asked = box.querySelector(".ww-ask");
    const next = box.nextElementSibling; // a cell that can be edited is wrapped
    const shown = next?.matches(".cell, .ww-editable") ? next.querySelector(".cell_output") : null;
    asked.id = `ww-ask-${i}`;
    const field = make("input", { type: "text", inputmode: "decimal", autocomplete: "off", "aria-labelledby": asked.id, size: "8" });
    const look = make("button", { type: "submit" }, "Look");
    const skip = make("button", { type: "button", class: "ww-skip" }, "just show it");
    const said = make("strong");
    const row = make("form", { class: "ww-commit" }, field, look, skip);
    const answer = make("div", { class: "ww-answer", role: "status" });
    const reveal = (words) => {
      shown?.classList.remove("ww-covered");
      said.textContent = words;
      told.querySelector("summary").remove();
      answer.replaceChildren(said, " ", ...told.childNodes);
      told.remove();
      row.remove();
      answer.tabIndex = -1;
      answer.focus({ preventScroll: true });
    };
    row.addEventListener("submit", (event) => {
      event.preventDefault();
      const guess = read(field.value);
      if (Number.isNaN(guess)) return field.focus();
      const truth = read(told.lastElementChild.textContent);
      reveal(`You said ${field.value.trim()}. ${Number.isNaN(truth) ? "" : compare(guess, truth)}`);
    });
    skip.addEventListener("click", () => reveal(""));
    shown?.classList.add("ww-covered");
    told.hidden = true;
    box.append(row, answer);
  };
  [...document.querySelectorAll(".ww-guess")].forEach(form);
})();
