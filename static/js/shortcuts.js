// Keys. [data-key="g i"] is pressed (a link is followed, a button clicked, a
// field focused) by its keys: single ones or chords of two. "?" lists those of
// the page, Ctrl-K and "/" open the command palette.
(() => {
  "use strict";
  const shown = (el) => el.offsetParent !== null && !el.disabled && el.getAttribute("aria-disabled") !== "true";
  const typing = (el) => el.isContentEditable || (el.matches?.("input, textarea, select") && !el.matches("[type=checkbox], [type=radio], [type=button], [type=submit]"));
  let pending = "";
  let timer = 0;

  function press(el) {
    if (el.matches("input:not([type=checkbox], [type=radio]), textarea, select")) {
      el.focus();
      el.select?.();
    } else if (el.matches("summary")) {
      el.parentElement.dataset.byKey = "";
      el.click();
      el.focus();
    } else el.click();
  }

  function find(keys) {
    return [...document.querySelectorAll("[data-key]")].find((el) => el.dataset.key === keys && (shown(el) || el.matches("a[href]")));
  }

  const starts = (keys) => [...document.querySelectorAll("[data-key]")].some((el) => el.dataset.key.startsWith(keys + " "));

  document.addEventListener("keydown", (e) => {
    if ((e.ctrlKey || e.metaKey) && !e.altKey && !e.shiftKey && e.key.toLowerCase() === "k" && !e.defaultPrevented) {
      e.preventDefault();
      document.dispatchEvent(new CustomEvent("palette:open"));
      return;
    }
    if (e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey || e.isComposing || typing(e.target)) return;
    if (document.querySelector("dialog[open]") || e.key === "Shift") return;
    if (e.key === "?") {
      e.preventDefault();
      list();
      return;
    }
    if (e.key === "/" && !find("/")) {
      e.preventDefault();
      document.dispatchEvent(new CustomEvent("palette:open"));
      return;
    }
    clearTimeout(timer);
    const keys = pending ? `${pending} ${e.key}` : e.key;
    pending = "";
    const el = find(keys) || (keys.includes(" ") ? null : undefined);
    if (el) {
      e.preventDefault();
      press(el);
    } else if (starts(keys)) {
      pending = keys;
      timer = setTimeout(() => (pending = ""), 1200);
    }
  });

  function label(el) {
    if (el.dataset.keyLabel || el.getAttribute("aria-label")) return el.dataset.keyLabel || el.getAttribute("aria-label");
    const copy = el.cloneNode(true);
    copy.querySelectorAll("kbd, .count, .sr-only").forEach((k) => k.remove());
    return copy.textContent.trim();
  }

  function list() {
    const dialog = document.getElementById("keys");
    const rows = [["?", "This list"], ["/", "Search or jump to"], ["Control K", "Search or jump to"]];
    if (document.querySelector("[data-row]")) rows.push(["j", "Next row"], ["k", "Row before"], ["Enter", "Open the row"]);
    if (document.querySelector("[data-row] > input[type=checkbox]")) rows.push(["x", "Choose the row"]);
    if (document.querySelector("form textarea")) rows.push(["Control Enter", "Send the form"]);
    const known = new Set(rows.map((r) => r[0]));
    for (const el of document.querySelectorAll("[data-key]")) {
      if (known.has(el.dataset.key)) continue;
      known.add(el.dataset.key);
      rows.push([el.dataset.key, label(el)]);
    }
    const into = dialog.querySelector("[data-keys-list]");
    into.replaceChildren(
      ...rows.map(([keys, word]) => {
        const row = document.createElement("div");
        row.className = "flex items-center justify-between gap-4";
        const what = document.createElement("dt");
        what.textContent = word;
        const how = document.createElement("dd");
        how.className = "flex gap-1";
        for (const k of keys.split(" ")) {
          const kbd = document.createElement("kbd");
          kbd.className = "kbd";
          kbd.textContent = k;
          how.append(kbd);
        }
        row.append(what, how);
        return row;
      }),
    );
    dialog.showModal();
  }
  document.addEventListener("dialog:open", (e) => {
    if (e.target.id !== "keys") return;
    e.target.close();
    list();
  });
})();
