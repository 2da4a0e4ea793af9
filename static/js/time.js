// Keeps <time data-ago> current and gives every time its local form on hover.
// The words are those of ui.Ago.
(() => {
  "use strict";
  const full = new Intl.DateTimeFormat(undefined, { dateStyle: "long", timeStyle: "short" });
  const date = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
  const plural = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;
  const span = (s) => (s < 3600 ? plural(Math.max(1, Math.floor(s / 60)), "minute") : plural(Math.floor(s / 3600), "hour"));

  function day(t, now) {
    const year = t.getUTCFullYear() === now.getUTCFullYear() ? undefined : "numeric";
    return new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year, timeZone: "UTC" }).format(t);
  }

  function ago(t, now) {
    const s = (now - t) / 1000;
    if (s < 0) {
      if (-s < 45) return "in a moment";
      if (-s < 86400) return `in ${span(-s)}`;
      if (-s < 172800) return "tomorrow";
      if (-s < 2592000) return `in ${plural(Math.floor(-s / 86400), "day")}`;
      return `on ${day(t, now)}`;
    }
    if (s < 45) return "just now";
    if (s < 86400) return `${span(s)} ago`;
    if (s < 172800) return "yesterday";
    if (s < 2592000) return `${plural(Math.floor(s / 86400), "day")} ago`;
    return `on ${day(t, now)}`;
  }

  function refresh(root) {
    const now = new Date();
    for (const el of root.querySelectorAll("time[datetime]")) {
      const t = new Date(el.dateTime);
      if (isNaN(t)) continue;
      if (!el.dataset.told) {
        el.title = full.format(t);
        el.dataset.told = "";
      }
      const text = el.dataset.ago !== undefined ? ago(t, now) : el.dataset.local !== undefined ? date.format(t) : null;
      if (text !== null && el.textContent !== text) el.textContent = text;
    }
  }

  refresh(document);
  document.addEventListener("htmx:load", (e) => refresh(e.detail.elt.parentElement || e.detail.elt));
  setInterval(() => document.visibilityState === "visible" && refresh(document), 30000);
  document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && refresh(document));
})();
