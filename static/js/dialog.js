// Dialogs: [data-dialog-open="id"] opens, [data-dialog-close] and a click on the
// backdrop close. Focus goes back by the browser itself.
(() => {
  "use strict";
  document.addEventListener("click", (e) => {
    const opener = e.target.closest?.("[data-dialog-open]");
    if (opener) {
      const dialog = document.getElementById(opener.dataset.dialogOpen);
      if (dialog && !dialog.open) {
        e.preventDefault();
        dialog.showModal();
        dialog.dispatchEvent(new CustomEvent("dialog:open", { bubbles: true }));
      }
      return;
    }
    if (e.target.closest?.("[data-dialog-close]")) e.target.closest("dialog")?.close();
    else if (e.target instanceof HTMLDialogElement) {
      const box = e.target.getBoundingClientRect();
      const inside = e.clientX >= box.left && e.clientX <= box.right && e.clientY >= box.top && e.clientY <= box.bottom;
      if (!inside) e.target.close();
    }
  });
})();
