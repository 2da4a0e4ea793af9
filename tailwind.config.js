// The vocabulary of gitfor's pages. Colours, type, radii and shadows come from
// the tokens in static/css/tokens.css and replace Tailwind's own, so that a
// page cannot use a raw colour by accident.
const token = (name) => `var(--${name})`;
const tokens = (...names) => Object.fromEntries(names.map((n) => [n, token(n)]));
const state = (name) => ({ ink: token(`${name}-ink`), soft: token(`${name}-soft`), line: token(`${name}-line`) });
const diff = (name) => ({ bg: token(`${name}-bg`), word: token(`${name}-word`), gutter: token(`${name}-gutter`) });

const sans = ['"Inter Variable"', "system-ui", "sans-serif"];
const mono = ['"JetBrains Mono Variable"', "ui-monospace", "monospace"];
const type = {
  meta: ["0.75rem", "1rem"],
  dense: ["0.8125rem", "1.25rem"],
  base: ["0.875rem", "1.25rem"],
  read: ["1rem", "1.5rem"],
  title: ["1.25rem", "1.75rem"],
  landing: ["1.75rem", "2.25rem"],
};

/** @type {import('tailwindcss').Config} */
module.exports = {
  content: ["./views/**/*.templ", "./views/**/*.go"],
  theme: {
    colors: {
      transparent: "transparent",
      current: "currentColor",
      ...tokens("canvas", "line", "line-strong", "ink", "ink-muted", "ink-faint"),
      ...tokens("surface", "surface-raised", "surface-sunken"),
      ...tokens("accent", "accent-strong", "accent-ink", "accent-soft"),
      open: state("open"),
      merged: state("merged"),
      closed: state("closed"),
      danger: { ...state("danger"), fill: token("danger-fill"), "fill-ink": token("danger-fill-ink") },
      warning: state("warning"),
      pending: state("pending"),
      draft: state("draft"),
      add: diff("add"),
      del: diff("del"),
    },
    // The usual short names are kept as other names for the same six sizes.
    fontSize: { ...type, xs: type.meta, sm: type.dense, lg: type.read, xl: type.title, "2xl": type.landing },
    fontFamily: { sans, mono },
    fontWeight: { normal: "400", medium: "500", semibold: "600" },
    borderRadius: { none: "0", sm: "4px", DEFAULT: "6px", md: "6px", panel: "10px", lg: "10px", full: "9999px" },
    boxShadow: { none: "none", float: token("shadow-float") },
    screens: { sm: "640px", md: "800px", lg: "1000px", xl: "1280px" },
    extend: {
      maxWidth: { content: "1280px", read: "80ch", form: "640px", card: "400px" },
      width: { side: "296px" },
      spacing: { side: "296px", bar: "48px" },
      transitionDuration: { DEFAULT: "120ms" },
    },
  },
};
