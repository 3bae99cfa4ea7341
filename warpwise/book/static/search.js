// Results below the search dialog's field while one types, from Pagefind's index. Nothing is loaded
// before the first letter. Enter still opens Sphinx's search page, as it does without this script.
(() => {
  const here = document.currentScript.src;
  const MOST = 8;
  const SMALL = new Set("and are can does for how the that this what when which why with".split(" "));
  // Of "how do I install" only the last word tells pages apart.
  const telling = (text) =>
    text.split(/\s+/).filter((word) => word.length > 2 && !SMALL.has(word.toLowerCase()));

  // The page that a search led to marks those words, and not each i.
  const KEY = "sphinx_highlight_terms";
  const marked = telling(localStorage.getItem(KEY) ?? "");
  localStorage.setItem(KEY, marked.join(" "));

  const dialog = document.getElementById("pst-search-dialog");
  const field = dialog?.querySelector("input[type=search]");
  if (!field || location.protocol === "file:") return;

  const said = Object.assign(document.createElement("p"), { className: "ww-found-said" });
  said.setAttribute("aria-live", "polite");
  const list = Object.assign(document.createElement("ol"), { className: "ww-found" });
  dialog.append(said, list);

  let index;
  const load = () =>
    (index ??= import(new URL("pagefind/pagefind.js", here)).then(async (found) => {
      await found.options({ excerptLength: 18, baseUrl: new URL("..", here).pathname });
      return found;
    }));

  // The section of a page that fits best, as a link with the words around the match.
  function entry({ url, meta, excerpt, sub_results: parts }) {
    const best = parts[0] ?? { url, title: meta.title, excerpt };
    const link = Object.assign(document.createElement("a"), { href: best.url });
    const title = Object.assign(document.createElement("b"), { textContent: meta.title });
    link.append(title, best.title === meta.title ? "" : `: ${best.title}`);
    const words = Object.assign(document.createElement("p"), { innerHTML: best.excerpt });
    const item = document.createElement("li");
    item.append(link, words);
    return item;
  }

  const asked = () => telling(field.value).join(" ") || field.value.trim();
  field.addEventListener("input", async () => {
    const query = asked();
    if (!query) return (said.textContent = ""), list.replaceChildren();
    const search = await (await load()).debouncedSearch(query, {}, 120);
    if (!search) return; // a letter came meanwhile
    const found = await Promise.all(search.results.slice(0, MOST).map((one) => one.data()));
    if (asked() !== query) return;
    const count = search.results.length;
    said.textContent = count ? `${count} page${count === 1 ? "" : "s"}` : `Nothing fits “${query}”.`;
    list.replaceChildren(...found.map(entry));
  });

  dialog.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    const stops = [field, ...list.querySelectorAll("a")];
    const next = stops[stops.indexOf(document.activeElement) + step];
    if (next) event.preventDefault(), next.focus();
  });
})();
