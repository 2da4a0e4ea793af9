// The command palette: search or jump to. Options are HTML from the server, each
// an <a role="option">; what was asked before comes at once from memory.
(() => {
  "use strict";
  const dialog = document.getElementById("palette");
  const form = dialog?.querySelector("form");
  if (!form) return;
  const input = form.querySelector("input");
  const list = document.getElementById("palette-options");
  const cache = new Map();
  let timer = 0;
  let asked = 0;

  const options = () => [...list.querySelectorAll("[role=option]")];

  function choose(i) {
    const all = options();
    all.forEach((el, n) => {
      el.id ||= `palette-option-${n}`;
      el.classList.add("menu-item");
      el.tabIndex = -1;
      el.setAttribute("aria-selected", String(n === i));
    });
    if (all[i]) {
      input.setAttribute("aria-activedescendant", all[i].id);
      all[i].scrollIntoView({ block: "nearest" });
    } else input.removeAttribute("aria-activedescendant");
  }

  const chosen = () => options().findIndex((el) => el.getAttribute("aria-selected") === "true");

  function show(html) {
    list.innerHTML = html.trim();
    choose(0);
  }

  async function ask() {
    const q = input.value.trim();
    const here = encodeURIComponent(location.pathname);
    const url = `${form.dataset.palette}?q=${encodeURIComponent(q)}&at=${here}`;
    if (cache.has(url)) return show(cache.get(url));
    const mine = ++asked;
    try {
      const answer = await fetch(url, { headers: { "HX-Request": "true" } });
      if (!answer.ok) throw new Error(answer.status);
      const html = await answer.text();
      cache.set(url, html);
      if (mine === asked) show(html);
    } catch {
      if (mine === asked) list.replaceChildren();
    }
  }

  function open(text) {
    if (dialog.open) return;
    cache.clear();
    input.value = text || "";
    list.replaceChildren();
    dialog.showModal();
    input.focus();
    ask();
  }

  document.addEventListener("palette:open", () => open(""));
  document.addEventListener("pointerdown", (e) => {
    if (!e.target.closest?.("[data-palette-open]")) return;
    e.preventDefault();
    open(e.target.value);
  });
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(ask, 80);
  });
  input.addEventListener("keydown", (e) => {
    const n = options().length;
    if (n && (e.key === "ArrowDown" || e.key === "ArrowUp")) {
      e.preventDefault();
      choose((chosen() + (e.key === "ArrowDown" ? 1 : n - 1)) % n);
    } else if (e.key === "Enter" && !e.isComposing) {
      const el = options()[chosen()];
      if (!el) return;
      e.preventDefault();
      if (e.ctrlKey || e.metaKey) window.open(el.href, "_blank", "noopener");
      else el.click();
    }
  });
  list.addEventListener("pointermove", (e) => {
    const i = options().indexOf(e.target.closest("[role=option]"));
    if (i >= 0 && i !== chosen()) choose(i);
  });
})();
