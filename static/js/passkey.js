// Passkeys: a form[data-passkey] runs a ceremony when it is sent. The server
// gives the options (data-options) and takes the key's answer (data-finish);
// what goes wrong is said in the form, with what to do.
(() => {
  "use strict";
  const bytes = (text) => {
    const s = atob(text.replace(/-/g, "+").replace(/_/g, "/"));
    return Uint8Array.from(s, (c) => c.charCodeAt(0));
  };
  const text = (buffer) => {
    if (!buffer) return undefined;
    let s = "";
    for (const b of new Uint8Array(buffer)) s += String.fromCharCode(b);
    return btoa(s).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
  };
  const ids = (list) => (list || []).map((c) => ({ ...c, id: bytes(c.id) }));

  // What the person can do about an error of the browser.
  function advice(err, kind) {
    switch (err.name) {
      case "NotAllowedError":
        return kind === "create"
          ? "No passkey was made: the window was closed, or it took too long. Press the button to try again."
          : "You were not signed in: the window was closed, it took too long, or no passkey for this site is on this device. Press the button to try again, or use a recovery code.";
      case "InvalidStateError":
        return "This device or key has a passkey of this account already. Sign in with it, or use another key.";
      case "ConstraintError":
        return "This key cannot keep passkeys, or it has no PIN. Set a PIN or screen lock on it, or use another one.";
      case "NotSupportedError":
        return "This key does not know the kinds of passkeys used here. Use another one, such as your phone.";
      case "SecurityError":
        return `Passkeys of this site do not work at ${location.origin}. Open it at its proper address.`;
      case "AbortError":
        return "The browser ended the attempt. Press the button to try again.";
      case "UnknownError":
        return "The key could not do it; it may have no room for another passkey. Remove an old one from it, or use another key.";
    }
    return "The browser could not use a passkey (" + err.name + "). Try again, or use another browser.";
  }

  function unsupported() {
    if (!window.isSecureContext) {
      return "Passkeys need a secure address: https, or localhost. Ask the operator of this site to set one up.";
    }
    if (!window.PublicKeyCredential || !navigator.credentials) {
      return "This browser does not know passkeys. Use a current Chrome, Edge, Firefox or Safari.";
    }
    return "";
  }

  async function post(url, body) {
    let res;
    try {
      res = await fetch(url, {
        method: "POST", credentials: "same-origin", redirect: "manual",
        headers: { "Content-Type": "application/json", Accept: "application/json" }, body: JSON.stringify(body),
      });
    } catch {
      throw { message: "gitfor cannot be reached. Try again when you are online." };
    }
    if (!(res.headers.get("Content-Type") || "").startsWith("application/json")) {
      throw { message: res.type === "opaqueredirect" ? "You were signed out in the meantime. Reload the page." : `That did not work (${res.status}). Reload the page and try again.` };
    }
    const answer = await res.json();
    if (!res.ok) throw answer;
    return answer;
  }

  async function make(options) {
    const credential = await navigator.credentials.create({
      publicKey: { ...options, challenge: bytes(options.challenge), user: { ...options.user, id: bytes(options.user.id) }, excludeCredentials: ids(options.excludeCredentials) },
    });
    return {
      ...common(credential),
      response: {
        clientDataJSON: text(credential.response.clientDataJSON),
        attestationObject: text(credential.response.attestationObject),
        transports: credential.response.getTransports?.() ?? [],
      },
    };
  }

  async function prove(options) {
    const credential = await navigator.credentials.get({
      publicKey: { ...options, challenge: bytes(options.challenge), allowCredentials: ids(options.allowCredentials) },
    });
    return {
      ...common(credential),
      response: {
        clientDataJSON: text(credential.response.clientDataJSON),
        authenticatorData: text(credential.response.authenticatorData),
        signature: text(credential.response.signature),
        userHandle: text(credential.response.userHandle),
      },
    };
  }

  const common = (credential) => ({
    id: credential.id, rawId: text(credential.rawId), type: credential.type,
    authenticatorAttachment: credential.authenticatorAttachment ?? undefined,
    clientExtensionResults: {},
  });

  // say shows one of the form's messages; without text, none.
  function say(form, kind, message) {
    const place = form.querySelector("[data-passkey-status]");
    place.replaceChildren();
    const template = kind && form.querySelector(`template[data-passkey-${kind}]`);
    if (!template) return;
    const box = template.content.cloneNode(true);
    if (message) {
      const walker = document.createTreeWalker(box, NodeFilter.SHOW_TEXT);
      for (let n = walker.nextNode(); n; n = walker.nextNode()) if (n.data.trim() === "…") n.data = message;
    }
    place.append(box);
  }

  function clear(form) {
    for (const note of form.querySelectorAll("[data-passkey-field]")) note.remove();
    for (const el of form.querySelectorAll("[aria-invalid]")) el.removeAttribute("aria-invalid");
  }

  // fields puts messages below their fields; what has no field is returned.
  function fields(form, messages) {
    const rest = [];
    let first;
    for (const [name, message] of Object.entries(messages || {})) {
      const input = form.querySelector(`[data-field="${CSS.escape(name)}"] input`);
      if (!input) {
        rest.push(message);
        continue;
      }
      const note = document.createElement("p");
      note.dataset.passkeyField = "";
      note.id = name + "-refused";
      note.className = "text-dense text-danger-ink";
      note.textContent = message;
      input.closest("[data-field]").append(note);
      input.setAttribute("aria-invalid", "true");
      input.setAttribute("aria-describedby", note.id);
      first ??= input;
    }
    first?.focus();
    return rest;
  }

  async function run(form, input) {
    const kind = form.dataset.passkey;
    const { id, options } = await post(form.dataset.options, input);
    say(form, "wait");
    let credential;
    try {
      credential = await (kind === "create" ? make(options) : prove(options));
    } catch (err) {
      throw { message: advice(err, kind) };
    }
    try {
      const { next } = await post(form.dataset.finish, { id, credential, name: input.name, next: input.next });
      location.assign(next);
    } catch (refusal) {
      // A passkey that the server does not know may go from the browser's list.
      if (refusal.unknown) {
        PublicKeyCredential.signalUnknownCredential?.({ rpId: refusal.unknown, credentialId: credential.id })?.catch?.(() => {});
      }
      throw refusal;
    }
  }

  document.addEventListener("submit", async (e) => {
    const form = e.target;
    if (!form.matches?.("form[data-passkey]")) return;
    e.preventDefault();
    const button = e.submitter || form.querySelector("button");
    if (form.dataset.running) return;
    form.dataset.running = "";
    clear(form);
    say(form);
    try {
      const missing = unsupported();
      if (missing) throw { message: missing };
      const input = Object.fromEntries([...new FormData(form)].filter(([name]) => name !== "idempotency_key"));
      await run(form, input);
      return; // busy until the next page comes
    } catch (refusal) {
      const rest = refusal.fields ? fields(form, refusal.fields) : [refusal.message || "That did not work. Reload the page and try again."];
      if (rest.length) say(form, "error", rest.join(" "));
      else say(form);
    }
    delete form.dataset.running;
    setTimeout(() => button?.removeAttribute("aria-busy"));
  });
  // A passkey of one host does not work at another: go to the proper address.
  const home = document.querySelector("form[data-origin]")?.dataset.origin;
  if (home && home !== location.origin) location.replace(home + location.pathname + location.search);

  addEventListener("pageshow", () => {
    for (const form of document.querySelectorAll("form[data-passkey]")) delete form.dataset.running;
  });

  // The page of new recovery codes.
  document.addEventListener("click", (e) => {
    if (e.target.closest?.("[data-print]")) print();
    const download = e.target.closest?.("[data-download]");
    if (!download) return;
    const a = document.createElement("a");
    a.href = URL.createObjectURL(new Blob([document.querySelector("[data-codes]").dataset.codes], { type: "text/plain" }));
    a.download = download.dataset.download;
    a.click();
    setTimeout(() => URL.revokeObjectURL(a.href), 1000);
  });
})();
