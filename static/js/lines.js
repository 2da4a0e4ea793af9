// Line numbers select: a click one line, Shift and a click a range, which goes
// into the address as #L3-L7. Rows of table[data-lines] have ids that end in the
// line's number, with any prefix: L3, or diff-1R3 for one side of a diff.
(() => {
  "use strict";
  const pattern = /^#(.*?)(\d+)(?:-[A-Za-z]*(\d+))?$/;
  const idOf = (el) => /^(.*?)(\d+)$/.exec(el?.id || "");

  function parse(hash) {
    let text = hash;
    try {
      text = decodeURIComponent(hash);
    } catch {
      // A stray percent sign: take it as it stands.
    }
    const m = pattern.exec(text);
    if (!m) return null;
    const from = Number(m[2]);
    const to = Number(m[3] || m[2]);
    return { prefix: m[1], from: Math.min(from, to), to: Math.min(Math.max(from, to), Math.min(from, to) + 5000) };
  }

  function show(scroll) {
    for (const el of document.querySelectorAll("[data-lines] .selected")) el.classList.remove("selected");
    const range = parse(location.hash);
    if (!range) return;
    const first = document.getElementById(range.prefix + range.from);
    if (!first?.closest("[data-lines]")) return;
    for (let n = range.from; n <= range.to; n++) document.getElementById(range.prefix + n)?.classList.add("selected");
    if (scroll) first.scrollIntoView({ block: range.to - range.from > 20 ? "start" : "center" });
  }

  document.addEventListener("click", (e) => {
    const num = e.target.closest?.("[data-lines] .num");
    if (!num || e.ctrlKey || e.metaKey) return;
    const here = idOf(num.id ? num : num.closest("tr"));
    if (!here) return;
    e.preventDefault();
    const range = e.shiftKey && parse(location.hash);
    let hash = `#${here[1]}${here[2]}`;
    if (range && range.prefix === here[1]) {
      const n = Number(here[2]);
      const from = Math.min(range.from, n);
      const to = Math.max(range.from, n);
      const letter = /[A-Za-z]?$/.exec(here[1])[0];
      if (from !== to) hash = `#${here[1]}${from}-${letter}${to}`;
      getSelection()?.removeAllRanges();
    }
    history.replaceState(history.state, "", hash);
    show(false);
  });
  addEventListener("hashchange", () => show(true));
  document.addEventListener("htmx:afterSettle", () => show(false));
  show(true);
})();
