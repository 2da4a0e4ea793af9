// [data-copy] copies its text and says so for a moment; [data-select-all] is
// chosen as a whole when it gets the focus.
(() => {
  "use strict";
  async function write(text) {
    if (navigator.clipboard) return navigator.clipboard.writeText(text);
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "sr-only";
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    if (!done) throw new Error("refused");
  }

  document.addEventListener("click", async (e) => {
    const button = e.target.closest?.("[data-copy]");
    if (!button) return;
    const use = button.querySelector("use");
    const before = use?.getAttribute("href");
    const label = button.getAttribute("aria-label");
    const show = (icon, word) => {
      if (before) use.setAttribute("href", before.replace(/#.*/, icon));
      if (label) button.setAttribute("aria-label", word);
    };
    try {
      await write(button.dataset.copy);
      show("#check", "Copied");
    } catch {
      show("#x", "Copying was refused by the browser");
    }
    setTimeout(() => show(before?.replace(/.*#/, "#"), label), 1500);
  });

  document.addEventListener("focusin", (e) => {
    if (e.target.matches?.("[data-select-all]")) e.target.select();
  });
})();
