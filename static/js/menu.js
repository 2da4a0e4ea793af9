// Menus are <details data-menu>. Here: one open at a time, Escape and a click
// outside close, arrow keys move, letters jump, [data-menu-filter] filters.
(() => {
  "use strict";
  const open = () => document.querySelectorAll("details[data-menu][open]");
  const items = (menu) =>
    [...menu.querySelectorAll(".menu-panel :is(a[href], button, input:not([type=hidden]))")].filter((el) => !el.disabled && el.offsetParent);

  function close(menu, focus) {
    menu.open = false;
    if (focus) menu.querySelector("summary").focus();
  }

  document.addEventListener("click", (e) => {
    for (const menu of open()) if (!menu.contains(e.target)) close(menu, false);
  });

  document.addEventListener(
    "toggle",
    (e) => {
      const menu = e.target;
      if (!(menu instanceof HTMLDetailsElement) || !menu.matches("[data-menu]") || !menu.open) return;
      for (const other of open()) if (other !== menu && !other.contains(menu)) close(other, false);
      const filter = menu.querySelector("[data-menu-filter]");
      if (filter) {
        filter.value = "";
        filter.dispatchEvent(new Event("input", { bubbles: true }));
        filter.focus();
      } else if (menu.dataset.byKey !== undefined) items(menu)[0]?.focus();
      delete menu.dataset.byKey;
    },
    true,
  );

  document.addEventListener("keydown", (e) => {
    const menu = e.target.closest?.("details[data-menu]");
    if (!menu) return;
    if (!menu.open) {
      if (e.key === "ArrowDown" && e.target.matches("summary")) {
        e.preventDefault();
        menu.dataset.byKey = "";
        menu.open = true;
      }
      return;
    }
    if (e.key === "Escape") {
      e.preventDefault();
      e.stopPropagation();
      close(menu, true);
      return;
    }
    const list = items(menu);
    const at = list.indexOf(e.target);
    const typing = e.target.matches("input, textarea, select");
    const go = (i) => {
      e.preventDefault();
      list[(i + list.length) % list.length]?.focus();
    };
    if (e.key === "ArrowDown") go(at + 1);
    else if (e.key === "ArrowUp") go(at < 0 ? list.length - 1 : at - 1);
    else if (e.key === "Home" && !typing) go(0);
    else if (e.key === "End" && !typing) go(list.length - 1);
    else if (e.key === "Tab" && !e.shiftKey && at === list.length - 1) close(menu, false);
    else if (!typing && e.key.length === 1 && !e.ctrlKey && !e.metaKey && !e.altKey && e.key !== " ") {
      const next = [...list.slice(at + 1), ...list].find((el) => el.textContent.trim().toLowerCase().startsWith(e.key.toLowerCase()));
      if (next) {
        e.preventDefault();
        e.stopPropagation();
        next.focus();
      }
    }
  });

  document.addEventListener("input", (e) => {
    const filter = e.target;
    if (!filter.matches?.("[data-menu-filter]")) return;
    const want = filter.value.trim().toLowerCase();
    for (const el of filter.closest(".menu-panel").querySelectorAll("[data-menu-item]")) {
      el.hidden = want !== "" && !el.textContent.toLowerCase().includes(want);
    }
  });
})();
