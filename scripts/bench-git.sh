#!/usr/bin/env bash
# Measures git's protocol against plain git http-backend, by turns in one run, on
# a repository of many commits (COMMITS, or REPO for one of your own), and writes
# the medians to docs/git.md, whose sections (##) stay.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$(GITFOR_BENCH_COMMITS=${COMMITS:-50000} GITFOR_BENCH_REPO=${REPO:-} \
  go test -vet=off -run '^$' -bench HTTPBackend -benchtime "${TIMES:-10}x" -timeout 60m ./app/git/protocol)
echo "$out"
sections=$(sed -n '/^## /,$p' docs/git.md)
{
  cat <<'END'
# Git: measured

Written by `make bench-git`: git's own client against gitfor's protocol and
against plain `git http-backend`, by turns in the same run, the client included;
medians by the clock, and the ratios of time and of CPU. Permissions and the event
of a push come on top and are measured by the tests of the whole instance.

END
  echo "On $(nproc) processors, $(git --version), $([ -n "${REPO:-}" ] && echo "a repository of your own" || echo "${COMMITS:-50000} commits"), ${TIMES:-10} times each."
  echo
  echo "| what | gitfor, ms | http-backend, ms | time | CPU |"
  echo "|---|---:|---:|---:|---:|"
  echo "$out" | awk '/gitfor-ms/ {
    name = $1; sub(/^[^\/]*\//, "", name); sub(/-[0-9]+$/, "", name)
    for (i = 2; i < NF; i++) v[$(i + 1)] = $i
    printf "| %s | %s | %s | %.2f | %.2f |\n", name, v["gitfor-ms"], v["plain-ms"], v["ratio"], v["cpu-ratio"]
  }'
  echo "$out" | awk '/eight-fetches-cpu/ {
    for (i = 2; i < NF; i++) v[$(i + 1)] = $i
    printf "\nEight equal fetches at once use %.2f times the CPU time of one.\n", v["ratio"]
  }'
  printf '\n%s\n' "$sections"
} > docs/git.md
