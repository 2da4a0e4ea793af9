// Applies a theme at once when it is chosen ([data-theme-choice] radios or
// buttons); the form around them stores it.
(() => {
  "use strict";
  const root = document.documentElement;
  const choose = (el) => {
    if (el.dataset.themeChoice !== undefined) root.dataset.theme = el.dataset.themeChoice || el.value;
    if (el.dataset.diffChoice !== undefined) {
      const cb = el.type === "checkbox" ? el.checked : el.dataset.diffChoice === "cb";
      if (cb) root.dataset.diff = "cb";
      else delete root.dataset.diff;
    }
  };
  document.addEventListener("change", (e) => choose(e.target));
})();
