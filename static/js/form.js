// Forms: a button that was pressed is busy until the answer comes; Ctrl-Enter in
// a text area sends; what failed on the way is said; [data-autosubmit] sends on
// change; a list's checkboxes know "all".
(() => {
  "use strict";
  const say = (text) => document.dispatchEvent(new CustomEvent("toast", { detail: { kind: "danger", text } }));

  document.addEventListener("submit", (e) => {
    const form = e.target;
    if (e.defaultPrevented || form.method === "get") return;
    const button = e.submitter;
    if (button) setTimeout(() => button.setAttribute("aria-busy", "true"));
  });
  addEventListener("pageshow", () => {
    for (const b of document.querySelectorAll("form button[aria-busy=true]")) b.removeAttribute("aria-busy");
  });
  document.addEventListener("htmx:afterRequest", (e) => {
    const form = e.detail.elt.closest?.("form");
    form?.querySelectorAll("button[aria-busy=true]").forEach((b) => b.removeAttribute("aria-busy"));
  });

  document.addEventListener("keydown", (e) => {
    if (e.key !== "Enter" || !(e.ctrlKey || e.metaKey) || e.isComposing) return;
    const form = e.target.matches?.("textarea, input") && e.target.form;
    if (!form) return;
    e.preventDefault();
    form.requestSubmit(form.querySelector("button[data-default]") || form.querySelector(".btn.primary") || undefined);
  });

  document.addEventListener("change", (e) => {
    const el = e.target;
    if (el.matches?.("[data-autosubmit]")) el.form?.requestSubmit();
    if (el.matches?.("[data-check-all]")) {
      const scope = el.closest("[data-check-scope]") || el.form || document;
      for (const box of scope.querySelectorAll("[data-row] > input[type=checkbox]")) {
        if (box.checked !== el.checked) {
          box.checked = el.checked;
          box.dispatchEvent(new Event("change", { bubbles: true }));
        }
      }
    }
  });

  // An error is shown where the server says (HX-Retarget), else as a toast; it
  // never replaces what the request aimed at.
  document.addEventListener("htmx:beforeSwap", (e) => {
    const { xhr } = e.detail;
    if (xhr.status < 400 || xhr.status === 422) return;
    if (xhr.getResponseHeader("HX-Retarget")) {
      e.detail.shouldSwap = true;
      return;
    }
    say(xhr.status === 503 ? "gitfor is not ready just now. Try again in a moment." : `That did not work (${xhr.status}). Reload the page and try again.`);
  });
  document.addEventListener("htmx:sendError", () => say("gitfor cannot be reached. What you typed is kept; try again when you are online."));
  document.addEventListener("htmx:timeout", () => say("The answer takes too long. Try again."));

  // After a refused form was swapped in, the first field at fault gets the focus.
  document.addEventListener("htmx:afterSettle", (e) => {
    if (e.detail.xhr?.status === 422) e.detail.elt.querySelector("[aria-invalid=true]")?.focus();
  });
  document.querySelector("[aria-invalid=true]")?.focus();
})();
