// Threads: task lists ticked in place, replies with a quote, saved replies, and
// names completed after an @.
(() => {
  "use strict";
  const say = (text) => document.dispatchEvent(new CustomEvent("toast", { detail: { kind: "danger", text } }));

  // A box of a task list is ticked on the server; what that refuses is undone.
  document.addEventListener("change", async (e) => {
    const box = e.target.closest?.("input[data-task]");
    const post = box?.closest("[data-tasks]");
    if (!post) return;
    const line = box.closest("li")?.cloneNode(true);
    line?.querySelectorAll("ul, ol").forEach((l) => l.remove());
    const body = new URLSearchParams({ index: box.dataset.task, checked: String(box.checked), comment: post.dataset.comment, text: line ? line.textContent.trim().replace(/\s+/g, " ") : "" });
    box.disabled = true;
    try {
      const answer = await fetch(post.dataset.tasks, { method: "POST", body, headers: { "HX-Request": "true" } });
      if (!answer.ok) throw new Error(answer.status === 409 ? "The list has been changed meanwhile. Reload the page." : `That could not be saved (${answer.status}).`);
      box.defaultChecked = box.checked;
    } catch (err) {
      box.checked = !box.checked;
      say(err.message || "gitfor cannot be reached. The box is as it was.");
    }
    box.disabled = false;
  });

  function insert(field, text) {
    field.focus();
    const end = field.value.length;
    const gap = field.value === "" || field.value.endsWith("\n\n") ? "" : field.value.endsWith("\n") ? "\n" : "\n\n";
    field.setSelectionRange(end, end);
    if (!document.execCommand("insertText", false, gap + text)) {
      field.value += gap + text;
      field.dispatchEvent(new Event("input", { bubbles: true }));
    }
  }

  document.addEventListener("click", (e) => {
    const quote = e.target.closest?.("[data-quote-from]");
    const field = document.getElementById("reply-body");
    if (quote && field) {
      const post = document.getElementById(quote.dataset.quoteFrom);
      const chosen = getSelection();
      const part = chosen && !chosen.isCollapsed && post?.contains(chosen.anchorNode) ? chosen.toString() : post?.innerText;
      insert(field, (part || "").trim().split("\n").map((l) => `> ${l}`.trimEnd()).join("\n") + "\n\n");
      quote.closest("details")?.removeAttribute("open");
    }
    const saved = e.target.closest?.("[data-insert]");
    if (saved) {
      const into = document.getElementById(saved.dataset.insertInto);
      if (into) insert(into, saved.dataset.insert);
      saved.closest("details")?.removeAttribute("open");
    }
  });

  document.addEventListener("click", async (e) => {
    const copy = e.target.closest?.("[data-copy-address]");
    if (!copy) return;
    try {
      await navigator.clipboard.writeText(new URL(copy.dataset.copyAddress, location.href).href);
      document.dispatchEvent(new CustomEvent("toast", { detail: { kind: "success", text: "The link is on the clipboard." } }));
    } catch {
      say("The browser does not let this page use the clipboard.");
    }
    copy.closest("details")?.removeAttribute("open");
  });

  // Names: what is typed after an @ is completed from the field's address.
  let list = null;
  let field = null;
  let at = 0;
  let asked = 0;
  const close = () => {
    list?.remove();
    list = null;
    field?.removeAttribute("aria-activedescendant");
    field?.setAttribute("aria-expanded", "false");
  };
  const options = () => [...(list?.children || [])];
  const active = () => options().findIndex((o) => o.getAttribute("aria-selected") === "true");
  function choose(i) {
    options().forEach((o, n) => o.setAttribute("aria-selected", String(n === i)));
    field.setAttribute("aria-activedescendant", `mention-${i}`);
    options()[i]?.scrollIntoView({ block: "nearest" });
  }
  function take(name) {
    const end = field.selectionStart;
    const text = field.matches("textarea") ? `@${name} ` : name;
    field.focus();
    field.setSelectionRange(at, end);
    if (!document.execCommand("insertText", false, text)) field.setRangeText(text, at, end, "end");
    close();
  }

  function show(people) {
    close();
    if (!people.length) return;
    list = document.createElement("div");
    list.id = "mentions";
    list.className = "menu-panel mentions";
    list.setAttribute("role", "listbox");
    list.setAttribute("aria-label", "People");
    people.forEach((p, i) => {
      const o = document.createElement("div");
      o.id = `mention-${i}`;
      o.className = "menu-item";
      o.setAttribute("role", "option");
      o.dataset.name = p.name;
      const b = document.createElement("b");
      b.textContent = p.name;
      const s = document.createElement("span");
      s.textContent = p.shown || "";
      o.append(b, s);
      list.append(o);
    });
    (field.closest("[data-composer]") || field.parentElement).append(list);
    field.setAttribute("aria-controls", "mentions");
    field.setAttribute("aria-expanded", "true");
    choose(0);
  }

  document.addEventListener("input", async (e) => {
    if (!e.target.matches?.("[data-mentions]")) return;
    field = e.target;
    const before = field.value.slice(0, field.selectionStart);
    const m = field.matches("textarea") ? /(^|[\s(])@([\w-]{0,39})$/.exec(before) : /(^)@?([\w-]{1,39})$/.exec(before);
    if (!m) return close();
    at = before.length - m[2].length - (field.matches("textarea") ? 1 : m[0].length - m[2].length);
    const mine = ++asked;
    try {
      const answer = await fetch(`${field.dataset.mentions}?q=${encodeURIComponent(m[2])}`, { headers: { Accept: "application/json" } });
      const people = answer.ok ? await answer.json() : [];
      if (mine === asked && document.activeElement === field) show(people);
    } catch {
      close();
    }
  });
  document.addEventListener(
    "keydown",
    (e) => {
      if (!list || e.target !== field) return;
      const all = options();
      if (e.key === "ArrowDown" || e.key === "ArrowUp") {
        choose((active() + (e.key === "ArrowDown" ? 1 : -1) + all.length) % all.length);
      } else if ((e.key === "Enter" || e.key === "Tab") && !e.ctrlKey && !e.metaKey && active() >= 0) {
        take(all[active()].dataset.name);
      } else if (e.key === "Escape") {
        close();
      } else return;
      e.preventDefault();
      e.stopPropagation();
    },
    true,
  );
  document.addEventListener("mousedown", (e) => {
    const o = e.target.closest?.("#mentions [data-name]");
    if (!o) return;
    e.preventDefault();
    take(o.dataset.name);
  });
  document.addEventListener("focusout", (e) => e.target === field && close());
})();
