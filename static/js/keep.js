// The htmx swap styles "keep" (the element) and "keep:inner" (its content):
// a morph by Idiomorph that never touches what the reader is typing, has opened
// or has chosen. Idiomorph's own htmx extension would need eval for its options,
// and without them it overwrites typed text.
(() => {
  "use strict";
  const typed = (el) => el === document.activeElement || ("defaultValue" in el && el.value !== el.defaultValue);

  const callbacks = {
    beforeAttributeUpdated(attr, el, kind) {
      if (attr === "value" && el.matches("input, textarea, select") && typed(el)) return false;
      if (attr === "checked" && el.matches("input") && el.checked !== el.defaultChecked) return false;
      if (attr === "open" && el.matches("details, dialog")) return false;
      if (attr === "hidden" && kind === "update" && el.matches("[data-js]")) return false;
      return true;
    },
    beforeNodeMorphed(old, fresh) {
      if (!(old instanceof Element)) return true;
      if (old.matches("[data-keep]")) return false;
      if (old.matches("textarea") && typed(old)) return false;
      if (old.matches("[data-js]") && fresh instanceof Element && !old.hidden) fresh.removeAttribute("hidden");
      return true;
    },
    beforeNodeRemoved(node) {
      const active = document.activeElement;
      return !(node instanceof Element && active && node.contains(active) && active.matches("input, textarea, select, [contenteditable]"));
    },
  };

  window.htmx?.defineExtension("keep", {
    isInlineSwap: (style) => style === "keep",
    handleSwap(style, target, fragment) {
      if (style !== "keep" && style !== "keep:inner") return false;
      const options = { ignoreActiveValue: true, morphStyle: style === "keep" ? "outerHTML" : "innerHTML", callbacks };
      const content = style === "keep" ? fragment.firstElementChild || fragment : fragment.childNodes;
      const made = window.Idiomorph.morph(target, content, options);
      return Array.isArray(made) ? made.filter((n) => n instanceof Element) : true;
    },
  });
})();
