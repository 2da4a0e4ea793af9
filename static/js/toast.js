// Toasts go away by themselves after six seconds unless they are errors or the
// pointer or focus is on them.
(() => {
  "use strict";
  const box = document.getElementById("toasts");
  if (!box) return;

  function arm(toast) {
    if (toast.dataset.armed !== undefined) return;
    toast.dataset.armed = "";
    if (toast.dataset.toast === "danger") return;
    let timer = setTimeout(() => toast.remove(), 6000);
    const hold = () => clearTimeout(timer);
    const release = () => {
      clearTimeout(timer);
      timer = setTimeout(() => toast.remove(), 3000);
    };
    toast.addEventListener("pointerenter", hold);
    toast.addEventListener("focusin", hold);
    toast.addEventListener("pointerleave", release);
    toast.addEventListener("focusout", release);
  }

  const armAll = () => box.querySelectorAll("[data-toast]").forEach(arm);
  armAll();
  new MutationObserver(armAll).observe(box, { childList: true, subtree: true });
  document.addEventListener("click", (e) => e.target.closest?.("[data-toast-close]")?.closest("[data-toast]")?.remove());

  // Other scripts say something: dispatch "toast" with { kind, text }.
  document.addEventListener("toast", (e) => {
    const toast = document.createElement("div");
    toast.className = "toast";
    toast.dataset.toast = e.detail.kind || "info";
    toast.setAttribute("role", e.detail.kind === "danger" ? "alert" : "status");
    const text = document.createElement("p");
    text.className = "grow";
    text.textContent = e.detail.text;
    const close = document.createElement("button");
    close.type = "button";
    close.dataset.toastClose = "";
    close.textContent = "×";
    close.setAttribute("aria-label", "Close");
    toast.append(text, close);
    box.append(toast);
  });
})();
