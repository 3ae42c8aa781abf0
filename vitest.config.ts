import { readdirSync } from 'node:fs'

import { defineConfig } from 'vitest/config'

import { compilerVariables, newerOpa, olderOpa } from './test/support/compilers.js'
import { nameRetried } from './test/support/name-retried.js'
import { postgresPrograms } from './test/support/postgres/postgres-programs.js'

/** These run the built program as processes of their own; the others need no build. */
const END_TO_END = 'test/e2e/**/*.test.ts'
const WHOLE_PROCESSES = ['test/cli/**/*.test.ts', END_TO_END]

/** Of these, what needs no more than the routes and the log of a service: they run in `unit`, too, over one in the process of the tests. */
const ALSO_IN_PROCESS = [
  'analysis-report-page',
  'analysis-routes',
  'denial-rules',
  'denying-packages',
  'execution-timeline',
  'gate-policies-and-lookups',
  'gates',
  'openapi',
  'orchestrator-dialects',
  'reconciliation',
  'refusals',
  'request-targets',
  'trail',
]
const OTHER_END_TO_END = readdirSync('test/e2e')
  .filter((file) => !ALSO_IN_PROCESS.includes(file.replace('.test.ts', '')))
  .map((file) => `test/e2e/${file}`)

/** What features ask of a store, whichever engine it is: these run over SQLite in `unit`, and over PostgreSQL in `postgres`. */
const STORE_CONTRACT = [
  'test/audit/{decision-trail,execution-timeline,export-trail}.test.ts',
  'test/events/{event-intake,registry}.test.ts',
  'test/events/registry/compare-list.test.ts',
  'test/gates/{callback-urls,secret-parameters,trigger-again}.test.ts',
  'test/gates/{work/gate-operations,work/gate-work,instances/remove-ended,instances/list-instances}.test.ts',
  'test/outbox/{purge-messages,sender}.test.ts',
  'test/analysis/runs/{remove-old-data,late-runs,define-analysis,secret-queries,analysis-runner}.test.ts',
  'test/analysis/runs/{lost-threads,concurrent-intervals}.test.ts',
  'test/store/contract/**/*.test.ts',
]
/** Whole processes share a machine with all else that runs there: what fails is tried once more, and named if it holds then. */
const WHOLE_PROCESS_RETRIES = 1
/** These need PostgreSQL. */
const ON_POSTGRES = 'test/store/postgres/**/*.test.ts'
const hasPostgres = postgresPrograms() !== undefined
if (!hasPostgres)
  process.stderr.write('PostgreSQL is not installed: the tests of several machines are skipped\n')

/** Of the whole processes, what depends most on the compiler: these run with OPA 1.x where it is present, and with OPA 0.70 otherwise. */
const COMPILING_PROCESSES = [
  'test/cli/{build,check,eval,policy-warnings,serve,test,verification-flags}.test.ts',
  'test/e2e/{bundle-keys,denial-rules,policy-warnings,watching}.test.ts',
]
/** What compiles policies, or asks what was compiled: these run with OPA 1.x once more. */
const COMPILING = [
  'test/conformance/**/*.test.ts',
  'test/rego/*.test.ts',
  'test/rego/{archive,bundle,compile,data,lint,modules,slow,snapshot,wasm,workarounds}/**/*.test.ts',
  'test/rego/builtins/*.test.ts',
  'test/rego/requests/parse-module.test.ts',
  'test/policies/sample-verdicts.test.ts',
]
const [older, newer] = [process.env['OPA_BIN'] ?? olderOpa(), newerOpa()]
if (newer === undefined)
  process.stderr.write('no opa 1.x on PATH or in TEST_OPA_1: the tests of it are skipped\n')

export default defineConfig({
  test: {
    // Longer than what tests wait for what they see: these say what was not seen.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: 'threads',
    maxWorkers: 2,
    reporters: ['default', nameRetried],
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/cli/**/*.test.ts', ...OTHER_END_TO_END, ON_POSTGRES],
          globalSetup: 'test/support/build-wasm.ts',
          // A newer one on PATH has its own tests.
          env: { TIDEGATE_IN_PROCESS: 'yes', ...(older !== undefined && { OPA_BIN: older }) },
        },
      },
      {
        extends: true,
        test: {
          name: 'postgres',
          retry: WHOLE_PROCESS_RETRIES,
          include: hasPostgres ? [...STORE_CONTRACT, ON_POSTGRES] : [],
          env: { TIDEGATE_TEST_STORE: 'postgres' },
          globalSetup: ['test/support/build-wasm.ts', 'test/support/postgres/start-postgres.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'opa-1',
          include: newer === undefined ? [] : [...COMPILING, ...COMPILING_PROCESSES],
          // The parser that these compare with reads version 1 alone there.
          exclude: ['test/rego/lint/find-references.test.ts'],
          env: newer === undefined ? {} : compilerVariables(newer),
          globalSetup: ['test/support/build-wasm.ts', 'test/support/build-once.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'process',
          retry: WHOLE_PROCESS_RETRIES,
          include: WHOLE_PROCESSES,
          exclude: newer === undefined ? [] : COMPILING_PROCESSES,
          globalSetup: ['test/support/build-wasm.ts', 'test/support/build-once.ts'],
        },
      },
    ],
  },
})
