// [data-swipe] lays the image after a change over the one before; its slider
// says how much of it is shown.
(() => {
  "use strict";
  function set(slider) {
    const over = slider.closest("[data-swipe]").querySelector("[data-swipe-over]");
    over.style.clipPath = `inset(0 0 0 ${100 - slider.value}%)`;
  }

  function show(root) {
    for (const box of root.querySelectorAll?.("[data-swipe][hidden]") ?? []) {
      box.hidden = false;
      set(box.querySelector("input"));
    }
  }

  document.addEventListener("input", (e) => {
    if (e.target.matches?.("[data-swipe] input")) set(e.target);
  });
  document.addEventListener("htmx:load", (e) => show(e.target));
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", () => show(document));
  else show(document);
})();
