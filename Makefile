# The menu: `make help` prints it.
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

.PHONY: help run demo site test test-releases bench bench-analysis bench-bodies bench-decision-log bench-decisions bench-gates bench-growth bench-judge bench-logs bench-policy-counts bench-postgres bench-registry bench-runaways bench-saves bench-scale bench-start bench-trail bench-upkeep check build clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: $(BUILT) ## Install, build, compile policies/ and serve decisions on http://127.0.0.1:8181
	node dist/cli.js serve --policies policies $(ARGS)

demo: $(BUILT) ## Two minutes with an orchestrator and a canary that gets worse, on loopback (ARGS=--once does not wait for anybody)
	@npm run --silent build:demo
	@node dist-bench/demo.js $(ARGS)

site: $(BUILT) ## The documentation as HTML, with search and the references of API and command line: site/index.html
	node build/site/run.js site

test: $(BUILT) ## Rego tests, type check, unit and end-to-end tests
	node dist/cli.js test policies
	npm run --silent typecheck
	npm test

test-releases: $(BUILT) $(OTHER_NODES) ## Start, decide, open a gate, judge a canary and stop on each supported Node.js (STARTS=50)
	TEST_NODES=$$(ls -d $(CURDIR)/build/node/others/node_modules/*/bin/node | paste -sd: -) npx vitest run --project process test/e2e/node-releases.test.ts

bench: bench-decisions bench-gates bench-trail bench-registry bench-judge bench-logs bench-analysis ## All figures, one after another (needs wrk: apt-get install wrk)

bench-decisions: $(BUILT) ## Compare with `opa run --server`, one core each (needs wrk)
	@command -v wrk >/dev/null || { echo "make bench-decisions needs wrk: apt-get install wrk"; exit 2; }
	npx tsc -p tsconfig.bench.json
	node dist-bench/bench/run.js $(ARGS)

bench-growth: $(BUILT) ## Load, memory and decisions with up to 3,000 packages and 100 MB of data, beside OPA (half an hour)
	npx tsc -p tsconfig.bench.json
	node dist-bench/bench/growth/run.js $(ARGS)

bench-saves: $(BUILT) ## From a saved file of 1,000 packages to serving, with one process and two, and requests meanwhile (RUN=kinds: other changes than of one file, RUN=data: much data)
	npx tsc -p tsconfig.bench.json
	node dist-bench/bench/saves/$(or $(RUN),run).js $(ARGS)

bench-scale: $(BUILT) ## 16 to 2,000 connections and a new one each, bodies of 1 KB to 10 MB, one process and two, OPA beside them, pages asked for by hundreds (needs wrk)
	@command -v wrk >/dev/null || { echo "make bench-scale needs wrk: apt-get install wrk"; exit 2; }
	npx tsc -p tsconfig.bench.json
	node dist-bench/bench/scale/run.js $(ARGS)

bench-start: $(BUILT) ## From `serve` to the first decision, and memory when idle, with a bundle and sources, one process and two
	npx tsc -p tsconfig.bench.json
	node dist-bench/bench/start/run.js $(ARGS)

bench-decision-log: $(BUILT) ## What keeping a decision costs, and how many a second are kept whole
	npx tsc -p tsconfig.bench.json
	node dist-bench/bench/decision-log/run.js $(ARGS)

bench-upkeep: $(BUILT) ## 20,000 gates that expire, a trail that is cut and a storm of saves, with decisions and events beside them
	npx tsc -p tsconfig.bench.json
	node dist-bench/bench/upkeep/run.js $(ARGS)

bench-gates: $(BUILT) ## Approval gates with 1,000 and 100,000 instances in the file (needs wrk)
	@command -v wrk >/dev/null || { echo "make bench-gates needs wrk: apt-get install wrk"; exit 2; }
	npx tsc -p tsconfig.bench.json
	taskset -c 1 node dist-bench/bench/gates/run.js $(ARGS)

bench-judge: $(BUILT) ## The judge's false alarms, detection and speed on simulated canaries
	npx tsc -p tsconfig.bench.json
	taskset -c 1 node dist-bench/bench/judge/run.js $(ARGS)

bench-logs: $(BUILT) ## How well and how fast log lines are grouped and judged, and the memory for a million a side, on one core
	npx tsc -p tsconfig.bench.json
	taskset -c 1 node dist-bench/bench/logs/run.js
	taskset -c 1 node dist-bench/bench/logs/looks.js
	taskset -c 1 node dist-bench/bench/logs/pairs.js
	taskset -c 1 node dist-bench/bench/analysis/run.js 3

bench-analysis: $(BUILT) ## Whole looks of analyses: time, memory and size, on one core
	npx tsc -p tsconfig.bench.json
	taskset -c 1 node dist-bench/bench/analysis/run.js $(ARGS)

bench-bodies: $(BUILT) ## The worst bodies that each route takes, and cheap decisions beside them
	npx tsc -p tsconfig.bench.json
	node dist-bench/bench/worst-bodies/run.js $(ARGS)

bench-policy-counts: $(BUILT) ## Load every number of packages from 1 to 800 (half an hour on one core; ARGS="--step 25" is quick)
	npx tsc -p tsconfig.bench.json
	taskset -c 1 node dist-bench/bench/policy-counts/run.js $(ARGS)

bench-trail: $(BUILT) ## The audit trail: intake over HTTP, search, export and verification at 1,000,000 records (needs wrk)
	@command -v wrk >/dev/null || { echo "make bench-trail needs wrk: apt-get install wrk"; exit 2; }
	npx tsc -p tsconfig.bench.json
	taskset -c 1 node dist-bench/bench/trail/run.js

bench-postgres: $(BUILT) ## Two services over one PostgreSQL of its own, SQLite beside it (ARGS=--help)
	npx tsc -p tsconfig.bench.json
	node dist-bench/bench/postgres/run.js $(ARGS)

bench-runaways: $(BUILT) ## Cheap decisions alone, and beside 5 a second of the same path that never end
	npx tsc -p tsconfig.bench.json
	node dist-bench/bench/runaways/run.js $(ARGS)

bench-registry: $(BUILT) ## Reconciliations and pages of 50,000 pipelines, with decisions meanwhile, and exports
	npx tsc -p tsconfig.bench.json
	taskset -c 1 node dist-bench/bench/registry/run.js $(ARGS)

.PHONY: chaos soak fuzz fuzz-builtins fuzz-paths evil
fuzz: $(BUILT) ## Send 200,000 malformed requests over all routes
	npx tsc -p tsconfig.bench.json
	node dist-bench/bench/fuzz/run.js $(ARGS)

fuzz-paths: $(BUILT) ## Compare 20,000 answers with those of OPA (POLICY_PATHS=10000 in both dialects, POLICY_PATHS_SEED)
	POLICY_PATHS=$${POLICY_PATHS:-10000} npx vitest run --project process test/e2e/policy-path-fuzz.test.ts $(ARGS)

fuzz-builtins: $(BUILT) ## Compare 100,000 calls of native built-ins and 20,000 of others with OPA (NATIVE_CALLS=1000 of each, HOST_CALLS=300, and _SEED)
	NATIVE_CALLS=$${NATIVE_CALLS:-1000} HOST_CALLS=$${HOST_CALLS:-300} npx vitest run --project unit test/pdp/builtins/native-parity.test.ts test/pdp/builtins/host-parity.test.ts $(ARGS)

evil: $(BUILT) ## Policies and inputs that ask for too much, one row each, with cheap requests beside them
	npx tsc -p tsconfig.bench.json
	node dist-bench/bench/evil/run.js $(ARGS)

chaos: $(BUILT) ## Kill the service 100 times under load, stop it 20 times, kill one of two over PostgreSQL 100 times (ARGS="--kills 0 --stops 0 --replicas 20"; --old PATH: another build beside this one)
	npx tsc -p tsconfig.bench.json
	node dist-bench/bench/chaos/run.js $(ARGS)

soak: $(BUILT) ## Ten minutes of everything at once: memory, files and answers over time (ARGS="--seconds 240 --rate 2000 --writers 4 --runaways 1 --reload 30 --workers 2")
	npx tsc -p tsconfig.bench.json
	MALLOC_MMAP_THRESHOLD_=131072 MALLOC_TRIM_THRESHOLD_=16777216 MALLOC_ARENA_MAX=2 node dist-bench/bench/soak/run.js $(ARGS)

check: $(INSTALLED) ## Format, lint, imports and types
	npm run --silent format:check
	npm run --silent lint
	npm run --silent lint:imports
	npm run --silent typecheck

build: $(BUILT) ## Compile to dist/

clean: ## Remove what was built
	rm -rf dist dist-bench coverage site

$(INSTALLED): package.json package-lock.json $(PINNED_NODE)
	npm ci --no-fund --no-audit
	@touch $@

$(BUILT): $(INSTALLED) $(SOURCES) build/bundle.js build/bill-of-materials.js
	npm run --silent build
	@touch $@

build/node/%/node_modules/.package-lock.json: build/node/%/package.json build/node/%/package-lock.json
	npm ci --prefix $(<D) --silent --no-fund --no-audit
	@touch $@
