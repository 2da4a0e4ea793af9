// Conflicts in the browser: the next mark, and one side or both of it.
(() => {
  "use strict";
  const pattern = /^<<<<<<< .*\n([\s\S]*?)(?:^\|\|\|\|\|\|\| .*\n[\s\S]*?)?^=======\n([\s\S]*?)^>>>>>>> .*\n?/m;

  function find(field) {
    const from = field.selectionEnd || 0;
    const rest = pattern.exec(field.value.slice(from));
    if (rest) return { at: from + rest.index, m: rest };
    const first = pattern.exec(field.value);
    return first && { at: first.index, m: first };
  }

  function show(field, hit) {
    field.focus();
    field.setSelectionRange(hit.at, hit.at + hit.m[0].length);
    const line = field.value.slice(0, hit.at).split("\n").length;
    field.scrollTop = Math.max(0, (line - 4) * parseFloat(getComputedStyle(field).lineHeight || "20"));
  }

  document.addEventListener("click", (e) => {
    const b = e.target.closest?.("[data-conflict-next], [data-conflict-take]");
    const field = b?.closest("section")?.querySelector("[data-conflict]");
    if (!field) return;
    const way = b.dataset.conflictTake;
    if (way) {
      // The mark that the selection is in, or the next one.
      field.setSelectionRange(field.selectionStart, field.selectionStart);
      const hit = find(field);
      if (!hit) return;
      const [, ours, theirs] = hit.m;
      field.focus();
      field.setSelectionRange(hit.at, hit.at + hit.m[0].length);
      document.execCommand("insertText", false, way === "ours" ? ours : way === "theirs" ? theirs : ours + theirs);
      field.setSelectionRange(hit.at, hit.at);
      const radio = field.closest("section").querySelector("input[type=radio][value=text]");
      if (radio) radio.checked = true;
    }
    const hit = find(field);
    if (hit) show(field, hit);
    else document.dispatchEvent(new CustomEvent("toast", { detail: { kind: "success", text: "No marks are left in this file." } }));
  });
})();
