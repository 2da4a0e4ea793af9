// Live pages: one WebSocket a tab. Elements say what they show with
// data-live-topic="repo:1 thread:1:5"; when the server tells that a topic has
// changed, they get the event live:changed and, with hx-trigger="live:changed",
// fetch themselves anew. Nothing is sent over the socket but topics.
(() => {
  "use strict";
  const url = document.body.dataset.live;
  if (!url || !("WebSocket" in window)) return;
  const attr = "data-live-topic";
  const seen = new Map(); // topic → seq of its newest message
  let socket = null;
  let subscribed = new Set();
  let tries = 0;
  let timer = 0;
  let dropped = false;
  let fresh = true;

  function wanted() {
    const topics = new Set();
    for (const el of document.querySelectorAll(`[${attr}]`)) {
      for (const t of el.getAttribute(attr).split(/\s+/)) if (t) topics.add(t);
    }
    return topics;
  }

  function tell(topic, detail) {
    for (const el of document.querySelectorAll(`[${attr}~="${CSS.escape(topic)}"]`)) {
      el.dispatchEvent(new CustomEvent("live:changed", { bubbles: false, detail }));
    }
  }

  // Who is here: elements with the topic here:REPO:NUMBER name the others.
  function here(m) {
    const me = document.body.dataset.viewer;
    const names = m.present.map((p) => p.username).filter((n) => n !== me);
    for (const el of document.querySelectorAll(`[${attr}~="${CSS.escape(m.topic)}"]`)) {
      el.textContent = names.length ? names.join(", ") + (names.length > 1 ? " are here" : " is here") : "";
      el.hidden = names.length === 0;
    }
  }

  function sync() {
    const topics = wanted();
    if (topics.size === 0) {
      socket?.close(1000);
      return;
    }
    if (!socket) {
      if (!timer) connect();
      return;
    }
    if (socket.readyState !== WebSocket.OPEN) return;
    const add = [...topics].filter((t) => !subscribed.has(t));
    const drop = [...subscribed].filter((t) => !topics.has(t));
    // The page is older than the line: what came between is asked for.
    const age = fresh ? Math.round(performance.now()) : 0;
    fresh = false;
    if (add.length) socket.send(JSON.stringify({ subscribe: add, age }));
    if (drop.length) socket.send(JSON.stringify({ unsubscribe: drop }));
    subscribed = topics;
  }

  function connect() {
    timer = 0;
    if (socket || wanted().size === 0 || document.visibilityState === "hidden") return;
    const ws = new WebSocket(url.replace(/^\//, `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/`));
    socket = ws;
    ws.onopen = () => {
      tries = 0;
      subscribed = new Set();
      sync();
      // What happened while the line was down is not known: look at all.
      if (dropped) for (const t of wanted()) tell(t, { topic: t, kind: "reconnected" });
      dropped = false;
    };
    ws.onmessage = (e) => {
      let m;
      try {
        m = JSON.parse(e.data);
      } catch {
        return;
      }
      if (m.present) here(m);
      if (!m.topic || m.present || (m.seq && m.seq <= (seen.get(m.topic) || 0))) return;
      if (m.seq) seen.set(m.topic, m.seq);
      // Many readers of one topic do not ask all at once.
      if (m.jitter) setTimeout(() => tell(m.topic, m), Math.random() * m.jitter);
      else tell(m.topic, m);
    };
    ws.onclose = (e) => {
      if (socket !== ws) return;
      socket = null;
      subscribed = new Set();
      if (e.code === 1000 || e.code === 1008) return;
      dropped = true;
      retry();
    };
  }

  function retry() {
    if (timer) return;
    const most = Math.min(60000, 1000 * 2 ** tries++);
    timer = setTimeout(connect, Math.random() * 10000 * (tries > 1 ? 1 : 0.2) + most / 2);
  }

  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible" && !socket) {
      clearTimeout(timer);
      timer = 0;
      connect();
    }
  });
  addEventListener("online", () => {
    clearTimeout(timer);
    timer = 0;
    connect();
  });
  addEventListener("pagehide", () => socket?.close(1000));
  addEventListener("pageshow", (e) => e.persisted && connect());
  document.addEventListener("htmx:afterSettle", sync);
  connect();
})();
