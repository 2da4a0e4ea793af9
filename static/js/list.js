// Lists: j and k move a cursor over [data-row], Enter opens, x chooses.
(() => {
  "use strict";
  const rows = () => [...document.querySelectorAll("[data-row]")].filter((r) => r.offsetParent !== null);
  const current = () => document.querySelector("[data-row][data-cursor]");

  function put(row) {
    const before = current();
    if (before) delete before.dataset.cursor;
    if (!row) return;
    row.dataset.cursor = "";
    row.querySelector(".row-link")?.focus({ preventScroll: true });
    row.scrollIntoView({ block: "nearest" });
  }

  document.addEventListener("keydown", (e) => {
    if (e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey || document.querySelector("dialog[open]")) return;
    if (e.target.isContentEditable || (e.target.matches?.("input, textarea, select") && e.target.type !== "checkbox")) return;
    const all = rows();
    if (!all.length) return;
    const at = all.indexOf(current());
    if (e.key === "j" || e.key === "k") {
      e.preventDefault();
      put(e.key === "j" ? all[Math.min(at + 1, all.length - 1)] : all[Math.max(at - 1, 0)]);
    } else if (e.key === "x" && at >= 0) {
      const box = all[at].querySelector(":scope > input[type=checkbox]");
      if (!box) return;
      e.preventDefault();
      box.click();
    } else if (e.key === "Enter" && at >= 0 && e.target === document.body) {
      all[at].querySelector(".row-link")?.click();
    }
  });
  document.addEventListener("focusin", (e) => {
    const row = e.target.closest?.("[data-row]");
    if (row && e.target.matches(".row-link") && row.dataset.cursor === undefined) put(row);
  });
  // What is chosen is counted for the bar that acts on it.
  document.addEventListener("change", (e) => {
    if (!e.target.closest?.("[data-row]")) return;
    const scope = e.target.closest("[data-check-scope]");
    if (!scope) return;
    const n = scope.querySelectorAll("[data-row] > input:checked").length;
    for (const el of scope.querySelectorAll("[data-check-count]")) el.textContent = String(n);
    for (const el of scope.querySelectorAll("[data-check-bar]")) el.hidden = n === 0;
    for (const el of scope.querySelectorAll("[data-check-none]")) el.hidden = n !== 0;
  });
})();
