// Builds static/icons.svg, the sprite behind ui.Icon, from the Lucide icons
// named in icons.txt and gitfor's own mark: npm run icons
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const icons = join(here, "..", "node_modules", "lucide-static", "icons");
const names = readFileSync(join(here, "icons.txt"), "utf8")
  .split("\n")
  .map((s) => s.trim())
  .filter((s) => s && !s.startsWith("#"))
  .sort();

// A g drawn as one commit on a branch that turns back to where it came from.
const mark =
  '<circle cx="11" cy="9.5" r="5.75"/><path d="M16.75 3.75v11.5a5.75 5.75 0 0 1-10.4 3.35"/>' +
  '<circle cx="11" cy="9.5" r="1.6" fill="currentColor" stroke="none"/>';

const missing = [];
const symbols = [`<symbol id="mark" viewBox="0 0 24 24">${mark}</symbol>`];
for (const name of new Set(names)) {
  try {
    const svg = readFileSync(join(icons, `${name}.svg`), "utf8");
    const body = svg.slice(svg.indexOf(">", svg.indexOf("<svg")) + 1, svg.lastIndexOf("</svg>"));
    symbols.push(`<symbol id="${name}" viewBox="0 0 24 24">${body.replace(/\s*\n\s*/g, "").replace(/ \/>/g, "/>")}</symbol>`);
  } catch {
    missing.push(name);
  }
}
if (missing.length) {
  console.error(`icons.txt names icons that Lucide does not have: ${missing.join(", ")}`);
  process.exit(1);
}
writeFileSync(join(here, "icons.svg"), `<svg xmlns="http://www.w3.org/2000/svg">\n${symbols.join("\n")}\n</svg>\n`);
