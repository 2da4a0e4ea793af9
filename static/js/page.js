// Marks that scripts run and reveals what needs them ([data-js][hidden]).
(() => {
  "use strict";
  const reveal = (root) => {
    for (const el of root.querySelectorAll("[data-js][hidden]")) el.hidden = false;
  };
  document.documentElement.dataset.js = "";
  reveal(document);
  document.addEventListener("htmx:load", (e) => reveal(e.detail.elt));

  // The loading bar: nothing under 150 ms, then 2 px under the top bar.
  let running = 0;
  let timer = 0;
  const start = () => {
    if (running++ === 0) timer = setTimeout(() => (document.body.dataset.loading = ""), 150);
  };
  const stop = () => {
    if (running > 0 && --running === 0) {
      clearTimeout(timer);
      delete document.body.dataset.loading;
    }
  };
  document.addEventListener("htmx:beforeRequest", start);
  document.addEventListener("htmx:afterRequest", stop);
  addEventListener("pageshow", () => {
    running = 0;
    clearTimeout(timer);
    delete document.body.dataset.loading;
  });
})();
