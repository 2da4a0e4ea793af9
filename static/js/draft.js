// Drafts: what is typed into a form with data-draft="key" is kept in the
// browser, and for who is signed in on the server too, until the form is taken.
// The key is bound to the viewer, so two people at one browser do not see each
// other's.
(() => {
  "use strict";
  const who = document.body.dataset.viewer || "";
  const prefix = "draft:" + who + ":";
  const fields = "textarea[name], input[name]:is([type=text], [type=email], [type=url], :not([type]))";
  const name = (form) => prefix + form.dataset.draft;
  const month = 30 * 24 * 3600 * 1000;

  const read = (key) => {
    try {
      return JSON.parse(localStorage.getItem(key));
    } catch {
      return null;
    }
  };

  // The server has a copy, for another tab, browser or day. It comes a little
  // later than the browser's own.
  const waiting = new Map();
  function send(key) {
    const values = waiting.get(key);
    if (!values) return;
    clearTimeout(values.timer);
    waiting.delete(key);
    fetch("/-/drafts", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ key, values: values.fields }),
      keepalive: true,
    }).catch(() => {});
  }
  function keep(form, fields, now) {
    const key = form.dataset.draft;
    if (!who || key.length > 300) return;
    clearTimeout(waiting.get(key)?.timer);
    waiting.set(key, { fields, timer: setTimeout(() => send(key), now ? 0 : 1500) });
  }
  const forget = (form) => keep(form, {}, true);

  // What the server has is put into fields that nobody has touched since.
  async function fetchDraft(form, since) {
    if (!who || form.querySelector("[aria-invalid=true]")) return;
    let draft;
    try {
      const answer = await fetch(`/-/drafts?key=${encodeURIComponent(form.dataset.draft)}`, { headers: { Accept: "application/json" } });
      if (answer.status !== 200) return;
      draft = await answer.json();
    } catch {
      return;
    }
    if (draft.at > since) put(form, draft.values);
  }

  function put(form, values) {
    for (const el of form.querySelectorAll(fields)) {
      const kept = values[el.name];
      if (kept !== undefined && el.value === el.defaultValue && el.value !== kept && !form.querySelector("[aria-invalid=true]")) {
        el.value = kept;
        el.dispatchEvent(new Event("input", { bubbles: true }));
      }
    }
  }

  function save(form) {
    const values = {};
    let any = false;
    for (const el of form.querySelectorAll(fields)) {
      if (el.value !== el.defaultValue) {
        values[el.name] = el.value;
        any = any || el.value.trim() !== "";
      }
    }
    if (form.dataset.kept !== JSON.stringify(values)) keep(form, values);
    form.dataset.kept = JSON.stringify(values);
    try {
      if (any) localStorage.setItem(name(form), JSON.stringify({ at: Date.now(), values }));
      else localStorage.removeItem(name(form));
    } catch {
      // A full or forbidden store only means that drafts are not kept.
    }
  }

  function restore(form) {
    if (form.dataset.drafted !== undefined) return;
    form.dataset.drafted = "";
    const draft = read(name(form));
    if (!draft) {
      fetchDraft(form, 0);
      return;
    }
    // The form was sent and the page that followed shows it anew: it is done.
    // After going back or reloading it may have failed: then it is kept.
    const sent = sessionStorage.getItem("sent:" + name(form));
    sessionStorage.removeItem("sent:" + name(form));
    const way = performance.getEntriesByType("navigation")[0]?.type;
    if (sent && way === "navigate" && !form.querySelector("[aria-invalid=true]")) {
      localStorage.removeItem(name(form));
      forget(form);
      return;
    }
    put(form, draft.values);
    fetchDraft(form, draft.at);
  }

  const all = (root) => {
    if (root.matches?.("form[data-draft]")) restore(root);
    root.querySelectorAll("form[data-draft]").forEach(restore);
  };

  let timer = 0;
  let pending = null;
  const flush = () => {
    clearTimeout(timer);
    if (pending) save(pending);
    pending = null;
  };
  const flushAll = () => {
    flush();
    for (const key of [...waiting.keys()]) send(key);
  };
  document.addEventListener("input", (e) => {
    const form = e.target.closest?.("form[data-draft]");
    if (!form) return;
    if (pending !== form) flush();
    pending = form;
    clearTimeout(timer);
    timer = setTimeout(flush, 250);
  });
  addEventListener("pagehide", flushAll);
  document.addEventListener("visibilitychange", () => document.visibilityState === "hidden" && flushAll());
  document.addEventListener("submit", (e) => {
    const form = e.target;
    if (!form.matches("form[data-draft]") || e.defaultPrevented) return;
    clearTimeout(timer);
    pending = null;
    save(form);
    try {
      sessionStorage.setItem("sent:" + name(form), "1");
    } catch {}
  });
  document.addEventListener("htmx:afterRequest", (e) => {
    const form = e.detail.elt.closest?.("form[data-draft]");
    if (form && e.detail.successful && e.detail.requestConfig.verb !== "get") {
      clearTimeout(timer);
      pending = null;
      localStorage.removeItem(name(form));
      sessionStorage.removeItem("sent:" + name(form));
      forget(form);
      form.dataset.kept = "{}";
      if (document.contains(form)) form.reset();
    }
  });

  // The server's page that followed a sent form holds no such form any more:
  // forget what was sent, and what is older than a month. A page that says that
  // something failed, or that asks to sign in, forgets nothing.
  function sweep() {
    if (document.querySelector("[data-unfinished]")) return;
    const here = new Set([...document.querySelectorAll("form[data-draft]")].map(name));
    const failed = document.querySelector("[aria-invalid=true]");
    for (const key of Object.keys(sessionStorage)) {
      if (key.startsWith("sent:" + prefix) && !here.has(key.slice(5)) && !failed) {
        localStorage.removeItem(key.slice(5));
        sessionStorage.removeItem(key);
        forget({ dataset: { draft: key.slice(5 + prefix.length) } });
      }
    }
    for (const key of Object.keys(localStorage)) {
      if (key.startsWith("draft:") && Date.now() - (read(key)?.at || 0) > month) localStorage.removeItem(key);
    }
  }

  try {
    all(document);
    sweep();
  } catch {
    // Storage is forbidden here; drafts are not kept.
  }
  document.addEventListener("htmx:load", (e) => all(e.detail.elt));
})();
