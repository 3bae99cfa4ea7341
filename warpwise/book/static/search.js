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

  const make = (tag, properties = {}, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };
  const said = make("p", { className: "ww-found-said", ariaLive: "polite" });
  const list = make("ol", { className: "ww-found" });
  dialog.append(said, list);

  let index;
  const load = () =>
    (index ??= import(new URL("pagefind/pagefind.js", here)).then(async (found) => {
      await found.options({ excerptLength: 18, baseUrl: new URL("..", here).pathname });
      return found;
    }));

  const weight = ({ weighted_locations: places = [] }) => places.reduce((sum, one) => sum + one.balanced_score, 0);

  // A page by the section that fits best, as a link with the words around the match, and two more of its sections.
  function entry({ url, meta, excerpt, sub_results: parts }) {
    const whole = { url, title: meta.title, excerpt };
    const [best = whole, ...more] = [...parts].sort((one, other) => weight(other) - weight(one)).slice(0, 3);
    const link = make("a", { href: best.url }, make("b", { textContent: meta.title }));
    if (best.title !== meta.title) link.append(`: ${best.title}`);
    const also = more.flatMap((part) => [" · ", make("a", { href: part.url, textContent: part.title })]).slice(1);
    const words = make("p", { innerHTML: best.excerpt });
    return make("li", {}, link, words, ...(also.length ? [make("p", { className: "ww-found-also" }, "Also: ", ...also)] : []));
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
