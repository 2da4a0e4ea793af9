// The inbox: keys act on the chosen rows, or on the row under the cursor when
// none is chosen. e done, r read, u unread, s save, m mute.
(() => {
  "use strict";
  document.addEventListener("keydown", (e) => {
    if (e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey || e.isComposing || document.querySelector("dialog[open]")) return;
    if (e.target.isContentEditable || (e.target.matches?.("input, textarea, select") && e.target.type !== "checkbox")) return;
    const inbox = document.querySelector("[data-inbox]");
    const button = inbox?.querySelector(`[data-inbox-key="${CSS.escape(e.key)}"]`);
    if (!button) return;
    if (!inbox.querySelector("[data-row] > input:checked")) {
      const row = inbox.querySelector("[data-row][data-cursor]");
      const box = row?.querySelector(":scope > input[type=checkbox]");
      if (!box) return;
      box.click();
    }
    e.preventDefault();
    button.click();
  }, true); // before the page's own keys: s is the search elsewhere
})();
// The number in the tab's title follows the badge.
document.addEventListener("htmx:afterSettle", () => {
  const n = Number(document.getElementById("inbox-link")?.dataset.unread || 0);
  document.title = document.title.replace(/^Inbox( \(\d+\))?/, n ? `Inbox (${n})` : "Inbox");
});
