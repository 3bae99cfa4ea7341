// Offers to edit the page's cells, and the playground's program. The editor and Python are loaded when a reader touches one of them, or opens a link to a text; until then this is all.
(() => {
  "use strict";
  const SITE = new URL(document.documentElement.dataset.content_root, location.href);
  const RUNTIME = new URL("_static/runtime/", SITE).href;
  const EXAMPLES = new URL("_static/playground/examples.json", SITE).href;
  const make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  };

  // A bar with a button, and touch(shared): it or the code, touched, has open(editor, place) called once.
  const offer = (codes, name, open, above = []) => {
    const button = make("button", { type: "button", class: "ww-edit" }, name);
    const status = make("p", { class: "ww-status", role: "status" });
    const bar = make("div", { class: "ww-bar" }, ...above, button, status);
    let touched = false;
    const touch = async (shared = "") => {
      if (touched) return;
      if (location.protocol === "file:") {
        status.textContent = "Running code takes a page from a web server: make serve shows the book from one.";
        return;
      }
      touched = true;
      status.textContent = "Loading the editor.";
      try {
        await open(await import(`${RUNTIME}editor.js`), { bar, status, runtime: RUNTIME, shared });
      } catch (error) {
        touched = false;
        status.textContent = `The editor could not be loaded: ${error.message}`;
      }
    };
    button.addEventListener("click", () => touch());
    for (const code of codes) {
      code.tabIndex = 0;
      code.setAttribute("role", "group");
      code.setAttribute("aria-label", "Code. Enter edits it.");
      code.addEventListener("click", () => String(getSelection()) || touch());
      code.addEventListener("keydown", (event) => event.key === "Enter" && (event.preventDefault(), touch()));
    }
    return { bar, touch };
  };

  const kept = (cell) => {
    try {
      const found = JSON.parse(localStorage.getItem(`warpwise.cell.${location.pathname}.${cell.dataset.at}`));
      return found?.version === cell.dataset.version;
    } catch {
      return false;
    }
  };

  const offerCell = (cell) => {
    const input = cell.querySelector(".cell_input");
    const name = kept(cell) ? "Go on editing" : "Edit and run";
    const open = (editor, place) => editor.open({ cell, ...place });
    const { bar, touch } = offer([input.querySelector("pre")], name, open, [make("p", { class: "ww-prompt" }, cell.dataset.prompt)]);
    input.after(bar);
    return touch;
  };

  const offerProgram = (root) => {
    const open = (editor, place) => editor.playground({ root, examples: EXAMPLES, ...place });
    const { bar, touch } = offer(root.querySelectorAll(".cell_input pre"), "Edit and run", open);
    root.prepend(bar);
    return touch;
  };

  const touches = new Map([...document.querySelectorAll(".ww-editable")].map((cell) => [cell.dataset.at, offerCell(cell)]));
  const program = [...document.querySelectorAll(".ww-playground")].map(offerProgram)[0];
  const openCell = (at, shared) => {
    if (!touches.has(at)) return;
    document.querySelector(`.ww-editable[data-at="${at}"]`).scrollIntoView();
    touches.get(at)(shared);
  };

  // A link holds its text behind #. It is shown, and runs when the reader says so.
  const open = () => {
    const [, at, packed] = /^#cell-(\d+)=([\w-]+)$/.exec(location.hash) ?? [];
    if (at) openCell(at, packed);
    else if (location.hash.startsWith("#program=")) program?.();
  };
  addEventListener("hashchange", open);
  open();

  // Who comes back from the playground finds the cell as it was left.
  const left = history.state?.cell;
  if (left === undefined) return;
  history.replaceState(null, "");
  openCell(left);
})();
