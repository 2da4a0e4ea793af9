#!/usr/bin/env bash
# Measures what the budgets are about, on the program as built with its private
# database, and writes docs/benchmarks.md. Fails when one is exceeded.
set -euo pipefail
cd "$(dirname "$0")/.."
table=$(mktemp)
trap 'rm -f "$table"' EXIT
status=0
GITFOR_BUDGET_FILE=$table go test -vet=off -run '^$' -bench Budget -benchtime 1x -timeout 30m ./cmd/gitfor || status=$?
[ -s "$table" ] || exit "$status"
{
  cat <<'END'
# Budgets: measured

Written by `make bench`: the program as built, with its private Postgres, a
repository of 10,000 files and 2,000 commits, and 1,000 issues. Pages and API are
timed until the first byte, by a client on the same machine, warm, one after
another; medians. git is its own client, by turns against plain `git
http-backend` in the same run. [git.md](git.md) and [events.md](events.md) have
more.

END
  echo "On $(nproc) processors beside everything else, $(git --version)."
  echo
  cat "$table"
} >docs/benchmarks.md
exit "$status"
