// Paper is white: while a page is printed it wears the light theme, code colours and widgets included.
(() => {
  "use strict";
  const root = document.documentElement;
  const print = matchMedia("print");
  let before = null;
  const follow = () => {
    if (print.matches && root.dataset.theme === "dark") {
      before = "dark";
      root.dataset.theme = "light";
    } else if (!print.matches && before !== null) {
      root.dataset.theme = before;
      before = null;
    }
  };
  print.addEventListener("change", follow);
  // on a long page the theme chooses its colours late
  new MutationObserver(follow).observe(root, { attributeFilter: ["data-theme"] });
})();
