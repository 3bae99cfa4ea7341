// Makes the quizzes of a page forms, and shows how far the reader is, here and in the list of chapters.
// An answer is kept in this browser, under the quiz's name, as {option, first}: the option chosen last, and whether the first
// choice was right. Nothing is sent. Where the browser keeps nothing, answers last as long as the page.
(() => {
  "use strict";
  const PREFIX = "warpwise.quiz.";
  const unkept = new Map();

  const kept = (name) => {
    try {
      const found = JSON.parse(localStorage.getItem(PREFIX + name));
      return found && typeof found.option === "string" ? found : unkept.get(name);
    } catch {
      return unkept.get(name);
    }
  };

  const keep = (name, answer) => {
    unkept.set(name, answer);
    try {
      localStorage.setItem(PREFIX + name, JSON.stringify(answer));
    } catch { /* storage is full or forbidden */ }
  };

  const forget = (name) => {
    unkept.delete(name);
    try {
      localStorage.removeItem(PREFIX + name);
    } catch { /* as above */ }
  };

  const make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  };

  const progress = (names) => {
    const answers = names.map(kept).filter(Boolean);
    return { answered: answers.length, first: answers.filter((answer) => answer.first).length, all: names.length };
  };

  // An option of the form: what its <details> held, with the explanation moved to where answers are announced.
  const option = (quiz, details, result) => {
    const why = details.querySelector(".ww-why");
    const radio = make("input", { type: "radio", name: `quiz-${quiz.dataset.quiz}`, value: details.dataset.option });
    const words = make("span", { class: "ww-words" }, ...details.querySelector("summary").childNodes);
    const label = make("label", { class: "ww-choice" }, radio, words, make("span", { class: "ww-mark", "aria-hidden": "true" }));
    why.hidden = true;
    result.append(why);
    details.replaceWith(label);
    return { key: details.dataset.option, right: "right" in details.dataset, radio, label, why };
  };

  // Arrow keys move without choosing: in a plain radio group they would use up the first try on the way to the third option.
  const walk = (event, options) => {
    const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
    const at = options.findIndex((one) => one.radio === event.target);
    if (event.ctrlKey || event.metaKey || event.altKey || at < 0) return;
    if (event.key === "Enter") event.target.click();
    else if (step) options[(at + step + options.length) % options.length].radio.focus();
    else return;
    event.preventDefault();
  };

  const form = (quiz, changed) => {
    const asked = quiz.querySelector(".ww-asked");
    const name = quiz.dataset.quiz;
    const legend = make("legend", {}, ...asked.lastElementChild.childNodes);
    asked.lastElementChild.remove();
    const result = make("div", { class: "ww-result", role: "status" });
    const options = [...quiz.querySelectorAll(".ww-option")].map((details) => option(quiz, details, result));
    const fieldset = make("fieldset", {}, legend, ...options.map((one) => one.label), result);
    if (asked.childElementCount) {
      asked.id = `asked-${name}`;
      fieldset.setAttribute("aria-describedby", asked.id);
    }
    quiz.append(fieldset);

    const show = () => {
      let answer = kept(name);
      if (answer && !options.some((one) => one.key === answer.option)) answer = forget(name); // its words have changed since
      for (const one of options) {
        const chosen = one.key === answer?.option;
        one.radio.checked = chosen;
        one.why.hidden = !chosen;
        one.label.classList.toggle("ww-chosen", chosen);
        one.label.classList.toggle("ww-right", chosen && one.right);
        one.label.querySelector(".ww-mark").textContent = chosen ? (one.right ? "\u2713" : "\u2717") : "";
      }
    };
    fieldset.addEventListener("keydown", (event) => walk(event, options));
    fieldset.addEventListener("change", (event) => {
      const one = options.find((option) => option.radio === event.target);
      keep(name, { option: one.key, first: kept(name)?.first ?? one.right });
      changed();
    });
    return { name, show, start: options[0].radio };
  };

  const begin = () => {
    const show = () => {
      for (const quiz of quizzes) quiz.show();
      const { answered, first, all } = progress(quizzes.map((quiz) => quiz.name));
      for (const line of lines) line.textContent = `${answered} of ${all} answered, ${first} right at the first try.`;
      again.disabled = answered === 0;
      for (const count of document.querySelectorAll("[data-quizzes]")) {
        const far = progress(count.dataset.quizzes.split(" "));
        count.textContent = far.answered ? `Quiz: ${far.answered} of ${far.all} answered, ${far.first} right at the first try` : count.dataset.fresh;
      }
    };
    const again = make("button", { type: "button", class: "ww-again" }, "Begin again");
    const lines = [make("span"), make("span")];
    const quizzes = [...document.querySelectorAll(".ww-quiz")].map((quiz) => form(quiz, show));
    again.addEventListener("click", () => {
      for (const quiz of quizzes) forget(quiz.name);
      show();
      quizzes[0].start.focus();
    });
    document.querySelector(".ww-quiz-how")?.replaceChildren("Choose an answer to see whether it is right. Answers are kept in this browser only. ", lines[0]);
    const end = document.querySelector(".ww-quiz-progress");
    end?.append(lines[1], again);
    end?.removeAttribute("hidden");
    // Also when the reader comes back to this page, or answers in another window.
    addEventListener("pageshow", show);
    addEventListener("storage", show);
    show();
  };

  begin();
})();
