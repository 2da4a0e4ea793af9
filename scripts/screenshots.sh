#!/usr/bin/env bash
# Takes pictures of the main pages of a server with a little data of its own,
# into bin/screenshots: wide and as on a phone.
set -euo pipefail
cd "$(dirname "$0")/.."
port=${PORT:-3940}
url=http://localhost:$port
out=bin/screenshots
work=$(mktemp -d)
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || echo '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome')
mkdir -p "$out"

bin/gitfor serve --data "$work/data" --listen "127.0.0.1:$port" --ssh-listen off >"$work/log" 2>&1 &
server=$!
trap 'kill $server 2>/dev/null; wait $server 2>/dev/null || true; rm -rf "$work"' EXIT
for ((i = 0; i < 300; i++)); do
  curl -fs "$url/readyz" >/dev/null 2>&1 && break
  kill -0 $server 2>/dev/null || { cat "$work/log" >&2; exit 1; }
  sleep 0.1
done

bin/gitfor admin user create ada --email ada@example.com --admin --data "$work/data" >/dev/null
token=$(bin/gitfor admin token create ada --data "$work/data")
api() { curl -fsS -H "Authorization: Bearer $token" -H 'Content-Type: application/json' -X "$1" "$url/api/v3$2" -d "$3" >/dev/null; }

api POST /user/repos '{"name":"engine","description":"Notes on the analytical engine"}'
git clone -q . "$work/repo" 2>/dev/null
git -C "$work/repo" push -q "http://ada:$token@localhost:$port/ada/engine.git" HEAD:refs/heads/main
api POST /repos/ada/engine/issues '{"title":"Cards jam at the third variable","body":"It happens **every** time.\n\n- [x] seen twice\n- [ ] understood","labels":["bug"]}'
api POST /repos/ada/engine/issues '{"title":"Compute the Bernoulli numbers"}'

shot() {
  local name=$1 path=$2 size
  for size in 1280,900 390,844; do
    "$browser" --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
      --disable-component-update --disable-sync --hide-scrollbars --virtual-time-budget=3000 \
      --user-data-dir="$work/browser" --window-size=$size --screenshot="$out/$name-${size%,*}.png" "$url$path" >/dev/null 2>&1
    echo "$out/$name-${size%,*}.png"
  done
}
shot landing /
shot repository /ada/engine
shot file /ada/engine/blob/main/Makefile
shot commits /ada/engine/commits/main
shot issues /ada/engine/issues
shot issue /ada/engine/issues/1
shot signup /signup
