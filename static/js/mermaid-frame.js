// Runs alone in a sandboxed frame: gets the sources of diagrams and answers
// with SVG.
(() => {
  "use strict";
  let last = Promise.resolve(); // mermaid draws one at a time
  addEventListener("message", (e) => {
    const { id, source, dark } = e.data;
    last = last.then(async () => {
      try {
        mermaid.initialize({
          startOnLoad: false, securityLevel: "strict", theme: dark ? "dark" : "neutral", htmlLabels: false,
          flowchart: { htmlLabels: false }, maxTextSize: 50000, maxEdges: 500, fontFamily: "system-ui, sans-serif",
        });
        const { svg } = await mermaid.render("d" + id, source);
        // As an image it needs a size of its own, and to be well-formed XML.
        const el = new DOMParser().parseFromString(svg, "text/html").querySelector("svg");
        const [, , width, height] = (el.getAttribute("viewBox") || "0 0 600 400").split(/[ ,]+/).map(Number);
        el.setAttribute("width", width);
        el.setAttribute("height", height);
        parent.postMessage({ id, svg: new XMLSerializer().serializeToString(el), width: Math.ceil(width), height: Math.ceil(height) }, "*");
      } catch (err) {
        document.body.replaceChildren();
        parent.postMessage({ id, error: String(err.message || err) }, "*");
      }
    });
  });
  parent.postMessage("ready", "*");
})();
