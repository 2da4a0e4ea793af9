#!/usr/bin/env bash
# Installs what is missing on this machine for one purpose, or names the
# command that does where it may not install. Quick when nothing is missing.
#
#   setup.sh run|build|generate|test|lint|vuln|all
#
# System packages are installed on Debian and Ubuntu (apt-get) and Fedora (dnf)
# as root, and on macOS with Homebrew. Tools written in Go go below .tools/,
# kept between checkouts in the user's cache folder.
# shellcheck disable=SC2317,SC2329 # the checks are called by name
set -euo pipefail
cd "$(dirname "$0")/.."

golangci_lint=v2.15.0
govulncheck=v1.9.0
# The advisories, as a Go module: the newest when this was last looked at.
vulndb=v0.0.0-20261105234957-e22db6528018

export GOTOOLCHAIN=${GOTOOLCHAIN:-go1.26.10} CGO_ENABLED=0
purpose=${1:-run}
missing=()

have() { command -v "$1" >/dev/null 2>&1; }
wants() { [[ " $* " == *" $purpose "* || $purpose == all ]]; }

# at_least MAJOR.MINOR VERSION
at_least() {
  local a=${1%%.*} b=${1#*.} v=${2//[^0-9.]/}
  local c=${v%%.*} d=${v#*.}
  d=${d%%.*}
  [ "${c:-0}" -gt "$a" ] || { [ "${c:-0}" -eq "$a" ] && [ "${d:-0}" -ge "$b" ]; }
}

go_works() { have go && at_least 1.21 "$(GOTOOLCHAIN=local go version | awk '{ print substr($3, 3) }')"; }
has_go() { have go; }
git_works() { have git && at_least 2.38 "$(git version | awk '{ print $3 }')"; }
node_works() { have node && have npm && at_least 20.0 "$(node --version)"; }

# postgres_works looks where gitfor does, see db/embedpg; without a server here
# gitfor itself fetches one with npm.
postgres_works() {
  [ -n "${GITFOR_PG_BIN:-}" ] && return 0
  have initdb && return 0
  compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null && return 0
  compgen -G '/usr/pgsql-*/bin/initdb' >/dev/null && return 0
  compgen -G '/opt/homebrew/opt/postgresql*/bin/initdb' >/dev/null && return 0
  compgen -G '/usr/local/opt/postgresql*/bin/initdb' >/dev/null && return 0
  have npm && wants run
}

chromium_works() {
  have chromium || have chromium-browser || have google-chrome ||
    [ -d '/Applications/Chromium.app' ] || [ -d '/Applications/Google Chrome.app' ]
}

# need CHECK DEBIAN FEDORA HOMEBREW notes the package when the check fails.
need() {
  if ! $1; then
    local packages
    case $manager in
      apt-get) packages=$2 ;;
      dnf) packages=$3 ;;
      brew) packages=$4 ;;
      *) packages=${1%_works} ;;
    esac
    # shellcheck disable=SC2206 # some are two packages
    missing+=($packages)
  fi
}

manager=none
for m in apt-get dnf brew; do
  if have $m; then manager=$m; break; fi
done

has_lfs() { have git-lfs; }
has_ssh() { have ssh && have ssh-keygen; }

need git_works git git git
wants run build lint vuln test && need has_go golang-go golang go
wants run test && need postgres_works postgresql postgresql-server postgresql@17
wants generate test && need node_works "nodejs npm" "nodejs npm" node
if wants test; then
  need has_lfs git-lfs git-lfs git-lfs
  need has_ssh openssh-client openssh-clients openssh
  need chromium_works chromium chromium chromium
fi

install() {
  case $manager in
    apt-get)
      # A database server of the system's own is not wanted: only its programs.
      if [[ " $* " == *" postgresql "* ]]; then
        mkdir -p /etc/postgresql-common/createcluster.d
        echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.d/gitfor.conf
      fi
      export DEBIAN_FRONTEND=noninteractive
      apt-get install -y --no-install-recommends "$@" || { apt-get update && apt-get install -y --no-install-recommends "$@"; }
      ;;
    dnf) dnf install -y "$@" ;;
    brew) brew install "$@" ;;
  esac
}

command_for() {
  case $manager in
    apt-get) echo "sudo apt-get install -y $*" ;;
    dnf) echo "sudo dnf install -y $*" ;;
    brew) echo "brew install $*" ;;
  esac
}

if [ ${#missing[@]} -gt 0 ]; then
  if [ "$manager" = none ]; then
    echo "setup: install these with your system's package manager: ${missing[*]}" >&2
    exit 1
  fi
  if [ "$manager" != brew ] && [ "$(id -u)" != 0 ]; then
    echo "setup: ${missing[*]} missing; run:  $(command_for "${missing[@]}")" >&2
    exit 1
  fi
  echo "setup: installing ${missing[*]}"
  install "${missing[@]}" >&2
  hash -r
fi

# A Go from before 1.21 cannot switch to another toolchain, but it can fetch one
# as the module that toolchains are.
old_go_fetches() {
  local module dir
  module=golang.org/toolchain@v0.0.1-$GOTOOLCHAIN.$(go env GOOS)-$(go env GOARCH)
  echo "setup: $(go version) is old; fetching $GOTOOLCHAIN" >&2
  dir=$(cd / && go mod download -json "$module" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
  [ -x "$dir/bin/go" ] || chmod -R u+w,+x "$dir/bin" "$dir/pkg/tool"
  mkdir -p .tools
  ln -sfn "$dir" .tools/go
  export PATH=$PWD/.tools/go/bin:$PATH
  hash -r
}

if wants run build lint vuln test && ! go_works; then
  if ! have go || ! old_go_fetches || ! go_works; then
    echo "setup: Go 1.21 or newer is needed (it fetches $GOTOOLCHAIN by itself): see https://go.dev/doc/install" >&2
    exit 1
  fi
fi
if ! git_works; then
  echo "setup: git 2.38 or newer is needed, this is $(git version)" >&2
  exit 1
fi

# tool NAME PACKAGE VERSION puts a program of Go's into .tools/. It is built
# once for a version and user: golangci-lint takes minutes.
tool() {
  local cache=${XDG_CACHE_HOME:-$HOME/.cache}/gitfor/tools/$1-$3
  if [ ! -x "$cache/$1" ]; then
    echo "setup: building $1 $3" >&2
    mkdir -p "$cache"
    GOFLAGS='' GOBIN=$cache go install "$2@$3"
  fi
  mkdir -p .tools
  ln -sfn "$cache/$1" ".tools/$1"
}

# What the pages are checked with, and GitHub's own client.
if wants test generate && { [ ! -d node_modules ] || ! cmp -s package-lock.json .tools/package-lock.json; }; then
  mkdir -p .tools
  npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >&2
  cp package-lock.json .tools/package-lock.json
fi

wants lint && tool golangci-lint github.com/golangci/golangci-lint/v2/cmd/golangci-lint $golangci_lint
if wants vuln; then
  tool govulncheck golang.org/x/vuln/cmd/govulncheck $govulncheck
  if [ "$(cat .tools/vulndb/version 2>/dev/null)" != $vulndb ]; then
    echo "setup: advisories $vulndb" >&2
    # Outside the module: go mod download would add it to go.sum.
    dir=$(cd / && GOFLAGS=-mod=mod go mod download -json golang.org/x/vulndb@$vulndb | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
    rm -rf .tools/vulndb
    go run ./scripts/vulndb "$dir/data/osv" .tools/vulndb
    echo $vulndb >.tools/vulndb/version
  fi
fi
exit 0
