# gitfor's entry points; `make help` lists them. scripts/setup.sh installs what
# a target needs or names the command that does.

SHELL := bash
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

# Go fetches this toolchain by itself when another one is installed. go.mod
# names the oldest that builds gitfor; this one has the fixes that `make vuln`
# asks for.
export GOTOOLCHAIN := go1.26.10
# Where the system's Go is too old to do so, setup puts it here.
export PATH := $(CURDIR)/.tools/go/bin:$(PATH)
# Plain Go, on every machine the same: no C compiler is needed.
export CGO_ENABLED := 0

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X main.version=$(VERSION)

# What to test and with which further flags: make test PKG=./app/git/... ARGS='-run TestTree -v'
PKG ?= ./...
ARGS ?=

##@ Run and build

.PHONY: run
run: ## Install what is missing, build, and serve on http://localhost:3000
	@scripts/setup.sh run
	@$(MAKE) build
	@exec bin/gitfor serve $(ARGS)

.PHONY: build
build: ## Build bin/gitfor (and the other programs below cmd/)
	@scripts/setup.sh build
	@scripts/generate.sh edited
	@mkdir -p bin
	go build -trimpath -ldflags '$(LDFLAGS)' -o bin/ $(sort $(patsubst %/,./%,$(filter-out cmd/dev/,$(wildcard cmd/*/))))

.PHONY: generate
generate: ## Regenerate templates, stylesheet, icons and vendored files where their sources changed
	@scripts/generate.sh

.PHONY: screenshots
screenshots: build ## Take pictures of the main pages into bin/screenshots
	@scripts/setup.sh test
	@scripts/screenshots.sh

##@ Check

.PHONY: test
test: ## Install what the tests need, then run all of them (PKG=./app/git/... ARGS=-v narrow it)
	@scripts/setup.sh test
	go test -timeout 15m -shuffle on $(ARGS) $(PKG)

.PHONY: race
race: ## Run the tests under the race detector (needs a C compiler)
	@scripts/setup.sh test
	CGO_ENABLED=1 go test -race -timeout 30m $(ARGS) $(PKG)

.PHONY: lint
lint: ## Check style and layers (.golangci.yml)
	@scripts/setup.sh lint
	.tools/golangci-lint run $(PKG)

.PHONY: vuln
vuln: ## Look for known vulnerabilities in what gitfor calls
	@scripts/setup.sh vuln
	.tools/govulncheck -db "file://$(CURDIR)/.tools/vulndb" $(PKG)

.PHONY: fresh
fresh: ## Fail when what is generated differs from what is committed
	@scripts/setup.sh generate
	@scripts/generate.sh all
	@scripts/fresh.sh

.PHONY: check
check: fresh lint vuln test ## All that CI runs

.PHONY: bench
bench: ## Print the table of budgets as measured here, into docs/benchmarks.md (PKG=./app/git: Go's benchmarks of a package)
	@scripts/setup.sh test
ifeq ($(PKG),./...)
	@scripts/bench.sh
else
	go test -run '^$$' -bench . -benchmem -timeout 60m $(ARGS) $(PKG)
endif

.PHONY: chaos-events
chaos-events: ## Kill the server 100 times while events are published (KILLS=n)
	@scripts/setup.sh test
	GITFOR_KILLS=$(or $(KILLS),100) go test -run TestKilledServer -v -timeout 60m ./cmd/gitfor

.PHONY: chaos-git
chaos-git: ## Kill the server or its database 45 times at the steps of 200 pushes (KILLS=n at each)
	@scripts/setup.sh test
	GITFOR_KILLS=$(or $(KILLS),5) GITFOR_PUSHES=$(or $(PUSHES),200) go test -run TestKilledPushes -v -timeout 60m ./cmd/gitfor

.PHONY: bench-events
bench-events: ## Measure the log: latencies to webhook, page and follower, events a second
	@$(MAKE) --no-print-directory bench PKG=./jobs ARGS='-benchtime 20x'

.PHONY: bench-git
bench-git: ## Measure git against plain git http-backend in the same run and write docs/git.md
	@scripts/setup.sh test
	scripts/bench-git.sh

.PHONY: cover
cover: ## Run the tests and write coverage/index.html
	@scripts/setup.sh test
	@mkdir -p coverage
	go test -timeout 30m -coverpkg ./... -coverprofile coverage/profile $(ARGS) $(PKG)
	go tool cover -html coverage/profile -o coverage/index.html
	@go tool cover -func coverage/profile | tail -1

.PHONY: fmt
fmt: ## Format Go and templates
	@git ls-files -z '*.go' ':!:*_templ.go' | xargs -0 gofmt -s -w
	@go tool templ fmt views
	@$(MAKE) generate

##@ Else

.PHONY: setup
setup: ## Install everything that building, testing and checking need
	@scripts/setup.sh all

.PHONY: clean
clean: ## Remove what was built and fetched; data in .gitfor stays
	rm -rf bin .tools node_modules coverage

.PHONY: help
help: ## List the targets
	@awk 'BEGIN { FS = ":.*## " } \
		/^##@ / { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile
