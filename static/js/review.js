// Reviewing on the page of changed files: comments below lines, marks of what
// was looked at, the keyboard, and what others write meanwhile. Without it the
// same forms are pages of their own.
(() => {
  "use strict";
  const files = () => document.getElementById("review-files");
  const rows = (f) => [...f.querySelectorAll("table.diff tr:not(.hunk, .thread)")];
  let current = null; // the row that the keyboard is on
  let anchor = null; // where a range begins: { file, side, line }

  // The place for conversations below a row, or over the lines of a file.
  function placeBelow(row, file) {
    if (!row) return document.getElementById(`${file}-top`);
    let next = row.nextElementSibling;
    if (!next?.matches("tr.thread")) {
      next = document.createElement("tr");
      next.className = "thread";
      const cell = document.createElement("td");
      cell.colSpan = row.closest("table").matches(".split") ? 4 : 3;
      const box = document.createElement("div");
      box.className = "grid max-w-[900px] gap-3";
      box.dataset.threads = "";
      cell.append(box);
      next.append(cell);
      row.after(next);
    }
    return next.querySelector("[data-threads]");
  }

  function tidy(box) {
    const row = box.closest("tr.thread");
    if (row && !row.querySelector("[data-threads] > *")) row.remove();
  }

  async function start(form, at, row, from) {
    const query = new URLSearchParams(new FormData(form));
    if (at) query.set("at", at);
    else query.set("whole", "1");
    if (from) query.set("start_line", from);
    const box = placeBelow(row, form.dataset.reviewComment);
    const open = box.querySelector("[data-review-form] textarea");
    if (open) {
      open.focus();
      return;
    }
    const slot = document.createElement("div");
    box.append(slot);
    try {
      const answer = await fetch(`${form.action}?${query}`, { headers: { "HX-Request": "true" } });
      if (!answer.ok) throw new Error(answer.status);
      slot.innerHTML = await answer.text();
      const made = slot.firstElementChild;
      slot.replaceWith(made);
      window.htmx.process(made);
      document.dispatchEvent(new CustomEvent("htmx:load", { detail: { elt: made } }));
      made.querySelector("textarea")?.focus();
    } catch {
      slot.remove();
      tidy(box);
      document.dispatchEvent(new CustomEvent("toast", { detail: { kind: "danger", text: "The form could not be loaded. Try again." } }));
    }
  }

  document.addEventListener("click", (e) => {
    const plus = e.target.closest?.(".diff-comment");
    if (plus?.form) {
      e.preventDefault();
      const side = plus.value[0];
      const line = Number(plus.value.slice(1));
      const here = { file: plus.form.id, side, line };
      let from = "";
      let row = plus.closest("tr");
      let at = plus.value;
      if (e.shiftKey && anchor && anchor.file === here.file && anchor.side === side && anchor.line !== line) {
        from = Math.min(anchor.line, line);
        if (anchor.line > line) {
          at = `${side}${anchor.line}`;
          row = anchor.row;
        }
      }
      anchor = { ...here, row: plus.closest("tr") };
      start(plus.form, at, row, from);
      return;
    }
    const cancel = e.target.closest?.("[data-review-cancel]");
    if (cancel?.closest("table.diff, [data-threads]")) {
      e.preventDefault();
      const form = cancel.closest("[data-review-form]");
      const box = form.parentElement;
      form.remove();
      tidy(box);
    }
    const suggest = e.target.closest?.("[data-suggest]");
    if (suggest) {
      const field = suggest.closest("form").querySelector("textarea");
      const source = field.dataset.source || "";
      const fence = source.includes("```") ? "````" : "```";
      const gap = field.value === "" || field.value.endsWith("\n") ? "" : "\n";
      field.focus();
      field.setSelectionRange(field.value.length, field.value.length);
      document.execCommand("insertText", false, `${gap}${fence}suggestion\n${source}\n${fence}\n`);
    }
  });

  // The button "Comment" of a file begins a comment on the file as a whole.
  document.addEventListener("submit", (e) => {
    const form = e.target;
    if (!form.matches("[data-review-comment]") || e.submitter?.matches(".diff-comment")) return;
    e.preventDefault();
    form.closest("[data-diff-file]")?.querySelector("details")?.setAttribute("open", "");
    start(form, "", null, "");
  });

  document.addEventListener("change", (e) => {
    const form = e.target.closest?.("[data-review-viewed]");
    if (!form) return;
    const file = document.getElementById(form.dataset.reviewViewed);
    const on = e.target.checked;
    const details = file?.querySelector("details");
    if (details) details.open = !on;
    const count = document.querySelector("[data-review-viewed-count]");
    if (count) count.textContent = Math.max(0, Number(count.textContent.replace(/\D/g, "")) + (on ? 1 : -1)).toLocaleString("en");
    const row = document.querySelector(`[data-tree] [data-path="${CSS.escape(file?.dataset.diffFile || "")}"]`);
    row?.toggleAttribute("data-viewed", on);
  });

  // What others write meanwhile.
  let asking = false;
  let again = false;
  async function refresh() {
    const root = files();
    const from = root?.dataset.reviewLive;
    if (!from) return;
    if (asking) {
      again = true;
      return;
    }
    asking = true;
    try {
      const answer = await fetch(from, { headers: { "HX-Request": "true" } });
      if (answer.ok) {
        const head = answer.headers.get("X-Pull-Head");
        const note = document.querySelector("[data-review-outdated]");
        if (note && head && head !== root.dataset.reviewHead) note.hidden = false;
        if (!head || head === root.dataset.reviewHead) put(root, await answer.text());
      }
    } catch {
      // The next change asks again.
    }
    asking = false;
    if (again) {
      again = false;
      refresh();
    }
  }

  function put(root, text) {
    const doc = new DOMParser().parseFromString(text, "text/html");
    const known = new Set();
    for (const placed of doc.querySelectorAll("[data-placed]")) {
      const fresh = placed.firstElementChild;
      known.add(fresh.id);
      const old = document.getElementById(fresh.id);
      if (old) {
        if (old.outerHTML !== fresh.outerHTML && !old.contains(document.activeElement)) window.htmx.swap(old, fresh.outerHTML, { swapStyle: "keep" });
        else if (old.contains(document.activeElement)) grow(old, fresh);
        continue;
      }
      const spot = document.getElementById(placed.dataset.placed);
      const row = spot?.closest("tr");
      const box = placeBelow(row, placed.dataset.file);
      if (!box) continue;
      box.append(document.importNode(fresh, true));
      const made = document.getElementById(fresh.id);
      window.htmx.process(made);
      document.dispatchEvent(new CustomEvent("htmx:load", { detail: { elt: made } }));
    }
    for (const old of root.querySelectorAll("table.diff [data-thread]")) {
      if (!known.has(old.id) && !old.contains(document.activeElement)) {
        const box = old.parentElement;
        old.remove();
        tidy(box);
      }
    }
  }

  // Somebody types in the conversation: only what is new is added to it.
  function grow(old, fresh) {
    for (const article of fresh.querySelectorAll("article[id]")) {
      if (document.getElementById(article.id)) continue;
      const list = old.querySelector("article[id]")?.parentElement;
      list?.append(document.importNode(article, true));
      const made = document.getElementById(article.id);
      if (made) window.htmx.process(made);
    }
  }
  document.addEventListener("live:changed", (e) => e.target.id === "review-files" && refresh(), true);

  // The keyboard.
  function go(row) {
    if (!row) return;
    current?.classList.remove("current");
    current = row;
    row.classList.add("current");
    row.closest("details")?.setAttribute("open", "");
    row.scrollIntoView({ block: "center" });
  }
  const file = () => current?.closest("[data-diff-file]") || inView();
  function inView() {
    return [...document.querySelectorAll("[data-diff-file]")].find((f) => f.getBoundingClientRect().bottom > 120) || null;
  }
  function step(list, by, from) {
    const at = list.indexOf(from);
    return list[at < 0 ? (by > 0 ? 0 : list.length - 1) : Math.min(list.length - 1, Math.max(0, at + by))];
  }
  function move(what, by) {
    const root = files();
    if (!root) return;
    if (what === "file") {
      const all = [...root.querySelectorAll("[data-diff-file]")];
      const to = step(all, by, file());
      if (!to) return;
      to.scrollIntoView({ block: "start" });
      current?.classList.remove("current");
      current = null;
      const first = rows(to)[0];
      if (first) {
        current = first;
        first.classList.add("current");
      }
      to.querySelector("summary")?.focus({ preventScroll: true });
    } else if (what === "line") {
      const all = rows(root).filter((r) => r.offsetParent);
      go(current ? step(all, by, current) : rows(file() || root)[0]);
    } else if (what === "hunk") {
      const all = rows(root).filter((r) => r.offsetParent);
      const changed = (r) => r && (r.matches(".add, .del") || r.querySelector(".add, .del"));
      let i = Math.max(0, all.indexOf(current));
      while (i < all.length && changed(all[i])) i++;
      while (i < all.length && !changed(all[i])) i++;
      go(all[i]);
    } else {
      const all = [...document.querySelectorAll("[data-thread]:not([data-resolved])")].filter((t) => t.offsetParent);
      const top = (t) => t.getBoundingClientRect().top;
      const held = document.activeElement?.closest?.("[data-thread]");
      const to = held ? step(all, by, held) : by > 0 ? all.find((t) => top(t) > 130) || all[0] : all.filter((t) => top(t) < 100).pop();
      if (!to) return;
      to.scrollIntoView({ block: "center" });
      to.tabIndex = -1;
      to.focus({ preventScroll: true });
    }
  }
  document.addEventListener("click", (e) => {
    const b = e.target.closest?.("[data-review-next], [data-review-previous], [data-review-act]");
    if (!b) return;
    if (b.dataset.reviewNext) move(b.dataset.reviewNext, 1);
    if (b.dataset.reviewPrevious) move(b.dataset.reviewPrevious, -1);
    if (b.dataset.reviewAct === "comment") {
      const plus = current?.querySelectorAll(".diff-comment");
      if (plus?.length) plus[plus.length - 1].click();
    }
    if (b.dataset.reviewAct === "viewed") file()?.querySelector("[data-review-viewed] input[name=on]")?.click();
    if (b.dataset.reviewAct === "reply") {
      const reply = document.activeElement?.closest?.("[data-thread]")?.querySelector("[data-reply-to]");
      if (reply) {
        reply.parentElement.open = true;
        reply.parentElement.querySelector("textarea")?.focus();
      }
    }
  });

  // The list of all files is filtered by name and by kind.
  function filter(box) {
    const words = box.querySelector("[data-tree-filter]")?.value.toLowerCase().split(/\s+/).filter(Boolean) || [];
    const kind = box.querySelector("[data-tree-kind]")?.value || "";
    let folder = null;
    for (const row of box.querySelectorAll("[data-tree] > li")) {
      if (row.matches("[data-tree-folder]")) {
        folder = row;
        folder.hidden = true;
        continue;
      }
      const path = row.dataset.path.toLowerCase();
      const fits = words.every((w) => path.includes(w)) && (kind === "" || (kind === "unviewed" ? !row.hasAttribute("data-viewed") : row.hasAttribute("data-comments")));
      row.hidden = !fits;
      if (fits && folder) folder.hidden = false;
    }
  }
  for (const kind of ["input", "change"]) {
    document.addEventListener(kind, (e) => {
      if (!e.target.matches?.("[data-tree-filter], [data-tree-kind]")) return;
      const box = e.target.closest("details");
      // A filter of a list that is not loaded yet loads it.
      const later = box.querySelector("#changed-files > a[hx-get]");
      if (later) {
        document.addEventListener("htmx:afterSettle", () => filter(box), { once: true });
        later.click();
      } else filter(box);
    });
  }

  // Without a pointer that hovers, a tap on a line shows its button.
  document.addEventListener("click", (e) => {
    const row = e.target.closest?.("#review-files table.diff tr:not(.hunk, .thread)");
    if (!row || e.target.closest("button, a") || !getSelection()?.isCollapsed) return;
    if (!matchMedia("(hover: none)").matches && !e.target.closest(".num")) return;
    current?.classList.remove("current");
    current = row;
    row.classList.add("current");
  });

  // A link to a line or comment inside a folded part opens it.
  function unfold() {
    const to = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!to) return;
    let shut = to.closest("details:not([open])");
    if (!shut) return;
    while (shut) {
      shut.open = true;
      shut = shut.parentElement.closest("details:not([open])");
    }
    to.scrollIntoView({ block: "center" });
  }
  addEventListener("hashchange", unfold);
  unfold();
})();
