// Pushes to this browser: the button on the page of settings asks the browser
// for permission and for an endpoint, and gives that to the server.
(() => {
  "use strict";
  const worker = "/-/push-worker.js";
  const place = "/settings/notifications/browsers";
  const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
  const say = (box, text) => { box.querySelector("[data-push-said]").textContent = text; };

  const active = (registration) => new Promise((resolve, reject) => {
    const it = registration.active || registration.waiting || registration.installing;
    if (!it) return reject(new Error("no worker"));
    const look = () => {
      if (it.state === "activated") resolve();
      if (it.state === "redundant") reject(new Error("the worker did not start"));
    };
    it.addEventListener("statechange", look);
    look();
  });

  async function on(box) {
    if (await Notification.requestPermission() !== "granted") {
      say(box, "The browser was told to show no notifications of this site. Allow them in its settings for this site, then press the button again.");
      return;
    }
    const registration = await navigator.serviceWorker.register(worker);
    await active(registration);
    const old = await registration.pushManager.getSubscription();
    // One that was made with another key of the instance takes no pushes.
    if (old) await old.unsubscribe();
    const it = await registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: bytes(box.dataset.push) });
    const res = await fetch(place, {
      method: "POST", credentials: "same-origin", redirect: "manual",
      headers: { "Content-Type": "application/json", Accept: "application/json" }, body: JSON.stringify(it.toJSON()),
    });
    if (!res.ok) throw new Error("answer " + res.status);
    location.reload();
  }

  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-push-on]");
    if (!button) return;
    const box = button.closest("[data-push]");
    button.disabled = true;
    say(box, "");
    try {
      await on(box);
    } catch (err) {
      say(box, "The browser could not turn pushes on (" + err.message + "). Try again, or use another browser.");
    }
    button.disabled = false;
  });

  const able = () => window.isSecureContext && "serviceWorker" in navigator && "PushManager" in window && "Notification" in window;
  const show = () => document.querySelectorAll("[data-push]").forEach((box) => {
    if (able()) box.querySelector("[data-push-on]").hidden = false;
    else say(box, window.isSecureContext ? "This browser takes no pushes." : "Pushes need a secure address: https, or localhost.");
  });
  show();
  document.addEventListener("htmx:load", show);
})();
