#!/usr/bin/env bash
# Fails when generating has changed a committed file or left a new one.
set -euo pipefail
cd "$(dirname "$0")/.."
stale=$(git status --porcelain -- '*_templ.go' static)
if [ -n "$stale" ]; then
  echo "generated files are stale: run make generate and commit" >&2
  echo "$stale" >&2
  git --no-pager diff --stat -- '*_templ.go' static >&2
  exit 1
fi
echo "generated files are fresh"
