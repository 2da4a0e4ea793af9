#!/usr/bin/env bash
# Makes the committed files that are made from others: views/**/*_templ.go,
# static/css/app.built.css, static/icons.svg, static/vendor, and the part of
# docs/events.md that follows from the code.
#
#   generate.sh          what changed since the last time
#   generate.sh edited   the same, but only when a source has uncommitted edits
#   generate.sh all      everything
set -euo pipefail
cd "$(dirname "$0")/.."
mode=${1:-changed}

if [ "$mode" = edited ]; then
  sources=$(git status --porcelain -- '*.templ' static/css static/icons.txt tailwind.config.js package-lock.json \
    ':!:static/css/app.built.css' 2>/dev/null || true)
  [ -n "$sources" ] || exit 0
fi
mkdir -p .tools

if [ -n "$(git ls-files '*.templ' | head -1)" ]; then
  # Quiet unless it fails; it skips what has not changed by itself.
  go tool templ generate >.tools/templ.log 2>&1 || { cat .tools/templ.log >&2; exit 1; }
fi
[ -f package-lock.json ] || exit 0

# digest FILE… is one number for the contents and names of files and folders.
digest() {
  find "$@" -type f \( -name '*.css' -o -name '*.js' -o -name '*.mjs' -o -name '*.json' -o -name '*.txt' -o -name '*.svg' \
    -o -name '*.templ' -o -name '*.go' -o -name '*.woff2' -o -name VERSIONS \) -print0 2>/dev/null |
    LC_ALL=C sort -z | xargs -0 sh -c 'printf "%s\n" "$@"; cat "$@"' sh | git hash-object --stdin
}

# unchanged NAME FILE… says whether the files, inputs and outputs together,
# are as they were after the last time.
unchanged() {
  [ "$mode" != all ] && [ "$(cat ".tools/$1.digest" 2>/dev/null)" = "$(digest "${@:2}")" ]
}

modules() { scripts/setup.sh generate; }

# step NAME COMMAND -- FILE… runs the command unless the files are unchanged.
step() {
  local name=$1 command=$2
  shift 3
  if unchanged "$name" "$@"; then return; fi
  modules
  $command >.tools/step.log 2>&1 || { cat .tools/step.log >&2; exit 1; }
  digest "$@" >".tools/$name.digest"
}

step vendor "node static/vendor.mjs" -- package-lock.json static/vendor.mjs static/vendor
step icons "node static/icons.mjs" -- package-lock.json static/icons.mjs static/icons.txt static/icons.svg
step css "node_modules/.bin/tailwindcss -i static/css/app.css -o static/css/app.built.css --minify" -- \
  package-lock.json tailwind.config.js static/css views
step events "go test ./app -count=1 -run TestEventsPage -update" -- \
  docs/events.md docs/events.schema.json app/payloads.go app/events app/accounts app/repos app/codes app/issues app/threads app/pulls
