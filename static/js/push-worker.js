// Shows the pushes that the server sends, opens what they tell of, and does
// nothing else: it answers no requests and keeps nothing.
"use strict";
self.addEventListener("push", (event) => {
  let told = {};
  try {
    told = event.data.json();
  } catch {
    // What cannot be read is still told: browsers ask that each push shows.
  }
  event.waitUntil(self.registration.showNotification(told.title || "gitfor", {
    body: told.body || "", tag: told.tag, data: told.url, icon: "/-/static/favicon.svg",
  }));
});

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  const to = new URL(event.notification.data || "/notifications", self.location.origin);
  if (to.origin !== self.location.origin) return;
  event.waitUntil((async () => {
    for (const page of await self.clients.matchAll({ type: "window", includeUncontrolled: true })) {
      if (page.url === to.href) return page.focus();
    }
    return self.clients.openWindow(to.href);
  })());
});

// The browser gives an endpoint up and takes another.
self.addEventListener("pushsubscriptionchange", (event) => {
  event.waitUntil((async () => {
    const old = event.oldSubscription;
    const it = event.newSubscription || (old && await self.registration.pushManager.subscribe(old.options));
    if (!it) return;
    await fetch("/settings/notifications/browsers", {
      method: "POST", credentials: "same-origin", headers: { "Content-Type": "application/json" }, body: JSON.stringify(it.toJSON()),
    });
  })());
});
