// What people wrote, once rendered: formulas and diagrams are drawn where the
// page has some, and an address with a heading's plain name finds the heading.
(() => {
  "use strict";
  const base = "/-/static/";

  // Headings have ids apart from those of the page; links from elsewhere
  // (#usage) mean them all the same.
  function toHeading() {
    const name = decodeURIComponent(location.hash.slice(1));
    if (!name || document.getElementById(name)) return;
    document.getElementById("user-content-" + name)?.scrollIntoView();
  }
  addEventListener("hashchange", toHeading);
  toHeading();

  let katex;
  const loadKatex = () =>
    (katex ??= new Promise((ready, failed) => {
      const s = document.createElement("script");
      s.src = base + "vendor/katex.min.js";
      s.onload = () => ready(window.katex);
      s.onerror = failed;
      document.head.append(s);
    }));

  async function formulas(list) {
    const k = await loadKatex();
    for (const el of list) {
      const display = el.classList.contains("math-display");
      const source = el.textContent;
      const box = document.createElement(display ? "div" : "span");
      box.className = el.className;
      box.title = source;
      try {
        // MathML needs neither styles nor fonts of its own.
        k.render(source, box, { displayMode: display, output: "mathml", maxExpand: 200, maxSize: 20, throwOnError: true });
      } catch {
        el.classList.add("math-error"); // its source stays
        continue;
      }
      el.replaceWith(box);
    }
  }

  // Diagrams are drawn in a frame that may do nothing else, and come back as
  // images, which run no scripts.
  let frame, next = 0;
  const waiting = new Map();
  const loadFrame = () =>
    (frame ??= new Promise((ready) => {
      const f = document.createElement("iframe");
      f.setAttribute("sandbox", "allow-scripts");
      f.src = base + "js/mermaid.html";
      f.className = "mermaid-frame";
      f.tabIndex = -1;
      f.setAttribute("aria-hidden", "true");
      addEventListener("message", (e) => {
        if (e.source !== f.contentWindow) return;
        if (e.data === "ready") return ready(f);
        waiting.get(e.data.id)?.(e.data);
        waiting.delete(e.data.id);
      });
      document.body.append(f);
    }));

  async function diagram(pre) {
    const f = await loadFrame();
    const id = ++next;
    const dark = getComputedStyle(document.documentElement).colorScheme.includes("dark");
    const answer = await new Promise((done) => {
      waiting.set(id, done);
      f.contentWindow.postMessage({ id, source: pre.textContent, dark }, "*");
    });
    if (!answer.svg) {
      pre.classList.add("mermaid-error");
      pre.title = answer.error;
      return;
    }
    const img = new Image(answer.width, answer.height);
    img.alt = "Diagram; its source follows";
    img.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(answer.svg);
    const box = document.createElement("div");
    box.className = "mermaid-drawn";
    const details = document.createElement("details");
    const summary = document.createElement("summary");
    summary.textContent = "Source";
    pre.replaceWith(box);
    pre.classList.remove("mermaid");
    details.append(summary, pre);
    box.append(img, details);
  }

  function draw(root) {
    const math = [...root.querySelectorAll("code.math, pre.math")].filter((el) => !el.closest(".math-error"));
    if (math.length) formulas(math).catch(() => {});
    for (const pre of root.querySelectorAll("pre.mermaid:not(.mermaid-error)")) {
      if (pre.dataset.drawing === undefined) {
        pre.dataset.drawing = "";
        diagram(pre);
      }
    }
  }
  draw(document);
  document.addEventListener("htmx:load", (e) => draw(e.detail.elt));
})();
