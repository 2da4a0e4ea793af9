// The field for Markdown: tabs Write and Preview, the toolbar, attachments by
// paste, drop and choosing.
(() => {
  "use strict";
  const box = (el) => el.closest?.("[data-composer]");
  const area = (c) => c.querySelector("textarea");
  const pane = (c, which) => c.querySelector(`[data-composer-pane=${which}]`);

  function insert(field, text, from = field.selectionStart, to = field.selectionEnd) {
    field.focus();
    field.setSelectionRange(from, to);
    // execCommand keeps the browser's undo; setRangeText does not.
    if (!document.execCommand("insertText", false, text)) {
      field.setRangeText(text, from, to, "end");
      field.dispatchEvent(new Event("input", { bubbles: true }));
    }
  }

  function wrap(field, before, after = before, placeholder = "") {
    const { selectionStart: from, selectionEnd: to, value } = field;
    const text = value.slice(from, to) || placeholder;
    insert(field, before + text + after, from, to);
    field.setSelectionRange(from + before.length, from + before.length + text.length);
  }

  function lines(field, mark) {
    const { value } = field;
    const from = value.lastIndexOf("\n", field.selectionStart - 1) + 1;
    const end = value.indexOf("\n", field.selectionEnd);
    const to = end < 0 ? value.length : end;
    const text = value
      .slice(from, to)
      .split("\n")
      .map((line, i) => (typeof mark === "function" ? mark(i) : mark) + line)
      .join("\n");
    insert(field, text, from, to);
  }

  const tools = {
    bold: (f) => wrap(f, "**", "**", "bold"),
    italic: (f) => wrap(f, "_", "_", "italic"),
    link: (f) => {
      const text = f.value.slice(f.selectionStart, f.selectionEnd);
      if (/^https?:\/\/\S+$/.test(text)) wrap(f, "[](", ")");
      else wrap(f, "[", "](url)", "text");
    },
    code: (f) => (f.value.slice(f.selectionStart, f.selectionEnd).includes("\n") ? wrap(f, "```\n", "\n```") : wrap(f, "`", "`", "code")),
    heading: (f) => lines(f, "### "),
    quote: (f) => lines(f, "> "),
    list: (f) => lines(f, "- "),
    task: (f) => lines(f, "- [ ] "),
    ordered: (f) => lines(f, (i) => `${i + 1}. `),
  };

  async function show(c, which) {
    for (const tab of c.querySelectorAll("[data-composer-tab]")) {
      const on = tab.dataset.composerTab === which;
      tab.setAttribute("aria-selected", String(on));
      tab.tabIndex = on ? 0 : -1;
    }
    const write = pane(c, "write");
    const preview = pane(c, "preview");
    c.querySelector("[data-composer-tools]").classList.toggle("invisible", which !== "write");
    if (which === "write") {
      preview.hidden = true;
      write.hidden = false;
      area(c).focus();
      return;
    }
    preview.style.minHeight = `${write.offsetHeight}px`;
    write.hidden = true;
    preview.hidden = false;
    preview.setAttribute("aria-busy", "true");
    const body = new URLSearchParams({ text: area(c).value, context: c.dataset.context || "" });
    try {
      const answer = await fetch(c.dataset.composer, { method: "POST", body, headers: { "HX-Request": "true" } });
      if (!answer.ok) throw new Error(answer.status);
      const html = await answer.text();
      preview.innerHTML = html.trim() || "Nothing to preview.";
      window.htmx?.process(preview);
    } catch {
      preview.textContent = "The preview cannot be made just now. What you typed is kept.";
    }
    preview.removeAttribute("aria-busy");
  }

  async function attach(c, files) {
    const field = area(c);
    for (const file of files) {
      const mark = `![Uploading ${file.name}…]()`;
      insert(field, (field.value && !field.value.endsWith("\n") && field.selectionStart === field.value.length ? "\n" : "") + mark + "\n");
      let text;
      try {
        const body = new FormData();
        body.append("file", file);
        body.append("context", c.dataset.context || "");
        const answer = await fetch(c.dataset.upload, { method: "POST", body, headers: { Accept: "application/json" } });
        const said = await answer.json().catch(() => ({}));
        if (!answer.ok) throw new Error(said.message || `${file.name} was refused (${answer.status}).`);
        text = said.markdown || `${file.type.startsWith("image/") ? "!" : ""}[${file.name.replace(/[[\]]/g, "")}](${said.url})`;
      } catch (err) {
        text = "";
        document.dispatchEvent(new CustomEvent("toast", { detail: { kind: "danger", text: err.message || `${file.name} could not be sent.` } }));
      }
      const at = field.value.indexOf(mark);
      if (at >= 0) insert(field, text, at, at + mark.length);
      else if (text) insert(field, text + "\n", field.value.length, field.value.length);
    }
  }

  document.addEventListener("click", (e) => {
    const c = box(e.target);
    if (!c) return;
    const tab = e.target.closest("[data-composer-tab]");
    const tool = e.target.closest("[data-md]");
    if (tab) show(c, tab.dataset.composerTab);
    if (tool) tools[tool.dataset.md]?.(area(c));
  });

  document.addEventListener("keydown", (e) => {
    const c = box(e.target);
    if (!c) return;
    if (e.target.matches("[data-composer-tab]") && (e.key === "ArrowLeft" || e.key === "ArrowRight")) {
      const other = [...c.querySelectorAll("[data-composer-tab]")].find((t) => t !== e.target);
      show(c, other.dataset.composerTab).then(() => other.focus());
      return;
    }
    if (!e.target.matches("textarea") || e.isComposing) return;
    const mod = (e.ctrlKey || e.metaKey) && !e.altKey && !e.shiftKey;
    const tool = mod && { b: "bold", i: "italic", e: "code", k: "link" }[e.key.toLowerCase()];
    if (tool) {
      e.preventDefault();
      e.stopPropagation();
      tools[tool](e.target);
      return;
    }
    if (e.key === "Enter" && !e.ctrlKey && !e.metaKey && !e.shiftKey) continueList(e);
  });

  // Enter goes on with a list; on an empty item it ends the list.
  function continueList(e) {
    const field = e.target;
    if (field.selectionStart !== field.selectionEnd) return;
    const from = field.value.lastIndexOf("\n", field.selectionStart - 1) + 1;
    const line = field.value.slice(from, field.selectionStart);
    const m = /^(\s*)([-*+]|(\d+)[.)])( \[[ xX]\])? (.*)$/.exec(line);
    if (!m) return;
    e.preventDefault();
    if (m[5] === "") {
      insert(field, "", from, field.selectionStart);
      return;
    }
    const mark = m[3] ? `${Number(m[3]) + 1}.` : m[2];
    insert(field, `\n${m[1]}${mark}${m[4] ? " [ ]" : ""} `);
  }

  document.addEventListener("paste", (e) => {
    const c = box(e.target);
    if (!c || !e.target.matches("textarea")) return;
    const files = [...(e.clipboardData?.files || [])];
    if (files.length && c.dataset.upload) {
      e.preventDefault();
      attach(c, files);
      return;
    }
    const text = e.clipboardData?.getData("text/plain").trim() || "";
    const { selectionStart: from, selectionEnd: to, value } = e.target;
    if (from !== to && /^https?:\/\/\S+$/.test(text) && !value.slice(from, to).includes("\n")) {
      e.preventDefault();
      insert(e.target, `[${value.slice(from, to)}](${text})`);
    }
  });
  document.addEventListener("dragover", (e) => {
    if (box(e.target)?.dataset.upload && e.dataTransfer?.types.includes("Files")) e.preventDefault();
  });
  document.addEventListener("drop", (e) => {
    const c = box(e.target);
    if (!c?.dataset.upload || !e.dataTransfer?.files.length) return;
    e.preventDefault();
    attach(c, [...e.dataTransfer.files]);
  });
  document.addEventListener("change", (e) => {
    if (!e.target.matches?.("[data-composer-file]")) return;
    attach(box(e.target), [...e.target.files]);
    e.target.value = "";
  });
})();
