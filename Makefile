# `make help` lists the targets.
.DEFAULT_GOAL := help
SHELL := /bin/sh

# These targets replace a Node.js that is older than package.json's "engines" with one from npm.
ifneq ($(shell node -p 'parseInt(process.versions.node) >= 22' 2>/dev/null),true)
$(info Node.js 22 or later is needed and $(or $(shell node --version 2>/dev/null),none) is installed: using Node.js 24 from build/node/pinned, for these targets only)
PINNED_NODE := build/node/pinned/node_modules/.package-lock.json
export PATH := $(CURDIR)/build/node/pinned/node_modules/.bin:$(PATH)
endif

OTHER_NODES := build/node/others/node_modules/.package-lock.json

INSTALLED := node_modules/.package-lock.json
BUILT := dist/.built
SOURCES := $(shell find src -type f)

.PHONY: help run demo site release test test-unit test-changed test-all test-releases bench check build clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: $(BUILT) ## Install, build, compile policies/ and serve decisions on http://127.0.0.1:8181
	node dist/cli.js serve --policies policies $(ARGS)

demo: $(BUILT) ## Two-minute demo with an orchestrator and a failing canary, on loopback (ARGS=--once does not wait for input)
	@npm run --silent build:demo
	@node dist-bench/demo.js $(ARGS)

site: $(INSTALLED) ## Build the documentation as a site with search into site/, and fail on dead links
	node build/site/run.js site

release: $(BUILT) ## Build and check the npm package, the bill of materials, the chart and the image recipe
	node build/release/check-release.js

test: $(BUILT) ## Rego tests, unit and end-to-end tests
	node dist/cli.js test policies
	npm test

test-unit: $(INSTALLED) ## Unit tests alone (ARGS="test/gates" for a folder)
	npx vitest run --project unit $(ARGS)

test-changed: $(INSTALLED) ## Unit tests that import what has changed since the last commit (SINCE=main for a branch)
	npx vitest run --project unit --changed $${SINCE:-HEAD} --passWithNoTests

test-all: $(BUILT) ## All tests: also simulations, kills, fuzzing, OPA's whole suite and OPA 0.70 as compiler (an hour)
	node dist/cli.js test policies
	TESTS=all CONFORMANCE=all npm test

test-releases: $(BUILT) $(OTHER_NODES) ## Start, decide, open a gate, judge a canary and stop on each supported Node.js (STARTS=50)
	TEST_NODES=$$(ls -d $(CURDIR)/build/node/others/node_modules/*/bin/node | paste -sd: -) npx vitest run --project process test/e2e/node-releases.test.ts

bench: bench-decisions bench-start bench-judge bench-logs ## Benchmarks that take a few minutes each (needs wrk: apt-get install wrk)

bench-decisions: ## Decisions per second compared with `opa run --server`, during endless evaluations, and for 2,000 simultaneous requests (needs wrk)
bench-distribution: ## Time from publishing a signed revision to two services and 100 simulated clients having it
bench-growth: ## Up to 3,000 packages and 100 MB of data, compared with OPA (half an hour)
bench-saves: ## Time from saving one of 1,000 packages to serving it, and request latency during it (ten minutes)
bench-start: ## Time from `serve` to the first decision, and idle memory, for a bundle and sources, one process and two
bench-judge: ## The canary judge on simulated canaries: false alarms, detection, speed, and duration of whole intervals
bench-lifecycle: ## Stored inputs, comparisons of policies over 100,000 decisions and 50,000 pipelines, explanations and batches (five minutes)
bench-logs: ## Quality and speed of the grouping and judging of log lines
bench-stores: ## Gates, trail and registry over SQLite and PostgreSQL, with concurrent decisions (ten minutes)
soak: ## Twenty minutes of mixed load (other parts: ARGS="--only kills,stops,replicas,malformed,evil,bodies")
evil: ONLY = --only evil
evil: soak ## Policies and inputs that exceed limits, one line each, during cheap requests

BENCHES := bench-decisions bench-distribution bench-growth bench-lifecycle bench-saves bench-start bench-judge bench-logs bench-stores
bench-judge bench-logs: ONE_CORE = taskset -c 1
# The settings of the image and the systemd unit.
soak: export MALLOC_MMAP_THRESHOLD_ = 131072
soak: export MALLOC_TRIM_THRESHOLD_ = 16777216
soak: export MALLOC_ARENA_MAX = 2
.PHONY: $(BENCHES) soak evil fuzz-builtins fuzz-paths
$(BENCHES) soak: $(BUILT)
	@command -v wrk >/dev/null || [ $@ != bench-decisions ] || { echo "make $@ needs wrk: apt-get install wrk"; exit 2; }
	npx tsc -p tsconfig.bench.json
	$(ONE_CORE) node dist-bench/bench/$(@:bench-%=%)/run.js $(ONLY) $(ARGS)

fuzz-paths: $(BUILT) ## Compare 20,000 answers with those of OPA (POLICY_PATHS=10000 in both dialects, POLICY_PATHS_SEED)
	POLICY_PATHS=$${POLICY_PATHS:-10000} TESTS=all npx vitest run --project process test/e2e/policy-path-fuzz.test.ts $(ARGS)

fuzz-builtins: $(BUILT) ## Compare 100,000 calls of native built-ins and 20,000 of others with OPA (NATIVE_CALLS=1000 of each, HOST_CALLS=300, and _SEED)
	NATIVE_CALLS=$${NATIVE_CALLS:-1000} HOST_CALLS=$${HOST_CALLS:-300} TESTS=all npx vitest run --project unit test/rego/builtins/native-parity.test.ts test/rego/builtins/host-parity.test.ts $(ARGS)

check: $(INSTALLED) ## Format, lint, imports and types
	npm run --silent format:check
	npm run --silent lint
	npm run --silent lint:imports
	npm run --silent typecheck

build: $(BUILT) ## Compile to dist/

clean: ## Remove what was built
	rm -rf dist dist-bench dist-release coverage site

$(INSTALLED): package.json package-lock.json $(PINNED_NODE)
	npm ci --no-fund --no-audit
	@touch $@

$(BUILT): $(INSTALLED) $(SOURCES) build/bundle.js build/bill-of-materials.js
	npm run --silent build
	@touch $@

build/node/%/node_modules/.package-lock.json: build/node/%/package.json build/node/%/package-lock.json
	npm ci --prefix $(<D) --silent --no-fund --no-audit
	@touch $@
