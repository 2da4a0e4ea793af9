// Copies the scripts and fonts that pages load from node_modules into
// static/vendor, with their versions and licences: npm run vendor
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync, gzipSync } from "node:zlib";

const here = dirname(fileURLToPath(import.meta.url));
const modules = join(here, "..", "node_modules");
const out = join(here, "vendor");
const fonts = join(out, "fonts");

const scripts = [
  ["htmx.org", "dist/htmx.min.js", "htmx.min.js"],
  ["htmx-ext-preload", "dist/preload.min.js", "htmx-ext-preload.min.js"],
  ["htmx-ext-response-targets", "dist/response-targets.min.js", "htmx-ext-response-targets.min.js"],
  ["htmx-ext-ws", "dist/ws.min.js", "htmx-ext-ws.min.js"],
  ["idiomorph", "dist/idiomorph.min.js", "idiomorph.min.js"],
  ["katex", "dist/katex.min.js", "katex.min.js"],
  // A large one, kept compressed; static.go serves it under the name without .gz.
  ["@mermaid-js/tiny", "dist/mermaid.tiny.js", "mermaid.min.js.gz"],
];
const families = [
  ["@fontsource-variable/inter", "inter", "Inter Variable", "100 900"],
  ["@fontsource-variable/jetbrains-mono", "jetbrains-mono", "JetBrains Mono Variable", "100 800"],
];
const subsets = ["latin", "latin-ext", "cyrillic"];

const about = (pkg) => JSON.parse(readFileSync(join(modules, pkg, "package.json"), "utf8"));
const versions = [];
mkdirSync(join(out, "licences"), { recursive: true });
mkdirSync(fonts, { recursive: true });
for (const f of readdirSync(fonts)) rmSync(join(fonts, f));

function licence(pkg, file) {
  for (const name of ["LICENSE", "LICENSE.md", "LICENCE"]) {
    const from = join(modules, pkg, name);
    if (existsSync(from)) {
      copyFileSync(from, join(out, "licences", file));
      return;
    }
  }
}

// writeCompressed leaves a file alone that holds the same: compressed bytes
// differ between versions of the compressor.
function writeCompressed(to, source) {
  if (existsSync(to) && gunzipSync(readFileSync(to)).toString() === source) return;
  writeFileSync(to, gzipSync(source, { level: 9 }));
}

for (const [pkg, from, to] of scripts) {
  const { version, license = "0BSD" } = about(pkg);
  const source = readFileSync(join(modules, pkg, from), "utf8").replace(/\n\/\/# sourceMappingURL=.*\s*$/, "\n");
  if (to.endsWith(".gz")) writeCompressed(join(out, to), source);
  else writeFileSync(join(out, to), source);
  licence(pkg, `${pkg.replace("@", "").replace("/", "-")}.txt`);
  versions.push(`${to}  ${pkg} ${version}  ${license}`);
}

let css = "/* Made by static/vendor.mjs. The file names carry the version, so they may be cached for ever. */\n";
for (const [pkg, short, family, weight] of families) {
  const { version, license = "0BSD" } = about(pkg);
  const ranges = JSON.parse(readFileSync(join(modules, pkg, "unicode.json"), "utf8"));
  for (const subset of subsets) {
    const to = `${short}-${version}-${subset}.woff2`;
    copyFileSync(join(modules, pkg, "files", `${short}-${subset}-wght-normal.woff2`), join(fonts, to));
    css += `@font-face {\n  font-family: "${family}";\n  font-style: normal;\n  font-display: swap;\n  font-weight: ${weight};\n`;
    css += `  src: url("/-/static/vendor/fonts/${to}") format("woff2");\n  unicode-range: ${ranges[subset]};\n}\n`;
    versions.push(`fonts/${to}  ${pkg} ${version}  ${license}`);
  }
  licence(pkg, `${pkg.replace("@", "").replace("/", "-")}.txt`);
}
writeFileSync(join(here, "css", "fonts.css"), css);

const lucide = about("lucide-static");
licence("lucide-static", "lucide-static.txt");
versions.push(`../icons.svg  lucide-static ${lucide.version}  ${lucide.license}`);
writeFileSync(join(out, "VERSIONS"), versions.join("\n") + "\n");
