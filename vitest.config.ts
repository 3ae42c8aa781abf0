import { readFileSync, readdirSync } from 'node:fs'

import { defineConfig } from 'vitest/config'

import { compilerVariables, newerOpa, olderOpa } from './test/support/compilers.js'
import { keepTemporaryFilesInMemory } from './test/support/memory-directory.js'
import { postgresPrograms } from './test/support/postgres/postgres-programs.js'
import { PATIENT } from './test/support/wait-until.js'

/** `make test-all` runs everything; `make test` leaves the long tests out. */
const RUNS_ALL = process.env['TESTS'] === 'all'

/** Simulations, kill loops, fuzzing and faults with long timeouts, up to minutes each. */
const LONG = [
  'test/canary/judge/{simulation,runs-in-small}.test.ts',
  'test/cli/{opa-flags,opa-install}.test.ts',
  'test/e2e/{chaos,demo,events-kill,gates-kill,policy-path-fuzz,replica-faults,restored-point}.test.ts',
  'test/e2e/{silent-database,site,standby,storage-faults,tls-command-line}.test.ts',
  'test/rego/builtins/{host,native}-parity.test.ts',
  'test/rego/{bundle/mutated-modules,evaluation/generated-policies,workarounds/lookups-next-to-opa}.test.ts',
  'test/store/postgres/faults.test.ts',
]

/** End-to-end tests that need only the routes and the log of a service. It runs in the test process. */
const IN_PROCESS = [
  'analysis-report-page',
  'analysis-routes',
  'approval-lists',
  'approval-rules',
  'armory',
  'data-api-parity',
  'denial-rules',
  'denying-packages',
  'discovery',
  'execution-timeline',
  'gate-policies-and-lookups',
  'gates',
  'notifications',
  'openapi',
  'orchestrator-dialects',
  'pages',
  'policy-revisions',
  'policy-sources',
  'reconciliation',
  'refusals',
  'reload',
  'request-targets',
  'sign-on',
  'stage-forms',
  'stage-gates',
  'trail',
  'webhooks',
]
/**
 * Tests that replace a module, and one that checks which modules are loaded. Files of `unit` share
 * modules, so a replaced one would serve other tests, too.
 */
const WITH_OWN_MODULES = [
  'test/rego/builtins/index.test.ts',
  ...readdirSync('test', { recursive: true, encoding: 'utf8' })
    .map((file) => `test/${file}`)
    .filter((file) => file.endsWith('.test.ts') && !file.startsWith('test/store/postgres/'))
    .filter((file) => readFileSync(file, 'utf8').includes('vi.mock(')),
]
/** Tests that run the built program as processes; other commands run in the test process. */
const WHOLE_PROCESSES = [
  ...WITH_OWN_MODULES,
  'test/cli/{analysis-templates,audit-export,audit-timeline,ci-files,completion,doctor,doctor-database}.test.ts',
  'test/cli/{opa-flags,page,serve,signals,watch-policies}.test.ts',
  ...readdirSync('test/e2e')
    .filter((file) => file.endsWith('.test.ts') && !IN_PROCESS.includes(file.replace('.test.ts', '')))
    .map((file) => `test/e2e/${file}`),
]

/** Tests of store operations, which run over SQLite in `unit` and over PostgreSQL in `postgres`. */
const STORE_CONTRACT = [
  'test/audit/{decision-trail,execution-timeline,export-trail}.test.ts',
  'test/events/{event-intake,registry}.test.ts',
  'test/events/registry/compare-list.test.ts',
  'test/gates/{callback-urls,secret-parameters,trigger-again}.test.ts',
  'test/gates/{work/gate-operations,work/gate-work,instances/remove-ended,instances/list-instances}.test.ts',
  'test/outbox/{purge-messages,sender}.test.ts',
  'test/notifications/follow-trail.test.ts',
  'test/analysis/runs/{remove-old-data,late-runs,define-analysis,secret-queries,analysis-runner}.test.ts',
  'test/analysis/runs/{lost-threads,concurrent-intervals}.test.ts',
  'test/store/contract/**/*.test.ts',
]
const ON_POSTGRES = 'test/store/postgres/**/*.test.ts'
const hasPostgres = postgresPrograms() !== undefined
if (!hasPostgres)
  process.stderr.write('PostgreSQL is not installed: the tests of several machines are skipped\n')

/** Tests of compiling and of compiled policies: `make test-all` repeats these with OPA 0.70. */
const COMPILING = [
  'test/conformance/**/*.test.ts',
  'test/rego/*.test.ts',
  'test/rego/{archive,bundle,compile,data,lint,modules,slow,snapshot,wasm,workarounds}/**/*.test.ts',
  'test/rego/builtins/*.test.ts',
  'test/rego/requests/parse-module.test.ts',
  'test/policies/sample-verdicts.test.ts',
  'test/cli/{build,check,eval,policy-warnings,serve,test,verification-flags}.test.ts',
  'test/e2e/{bundle-keys,denial-rules,policy-warnings,watching}.test.ts',
]
/** Compares with the parser of OPA 0.70, which reads version 0. */
const OLDER_ALONE = 'test/rego/lint/find-references.test.ts'

const [older, newer] = [process.env['OPA_BIN'] ?? olderOpa(), newerOpa()]
if (newer === undefined)
  process.stderr.write(
    'no opa 1.x on PATH or in TEST_OPA_1: tests use OPA 0.70, and those of 1.x are skipped\n',
  )
const compiler = newer ?? older
const opa = compiler === undefined ? {} : compilerVariables(compiler)
const notNow = RUNS_ALL ? [] : LONG

keepTemporaryFilesInMemory()

const buildWasm = 'test/support/build-wasm.ts'
const buildProgram = [buildWasm, 'test/support/build-once.ts']
const unit = { TIDEGATE_IN_PROCESS: 'yes' }

export default defineConfig({
  test: {
    // Longer than `waitUntil` waits: its message says what did not happen.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: PATIENT },
    setupFiles: 'test/support/no-exit.ts',
    // Tests start many processes, and a large process is slow to fork: 130 ms at 1.5 GB.
    pool: 'forks',
    // Of two cores: tests of processes wait a part of their time.
    maxWorkers: 3,
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          isolate: false,
          include: ['test/**/*.test.ts'],
          exclude: [
            ...WHOLE_PROCESSES,
            ON_POSTGRES,
            ...(newer === undefined ? [] : [OLDER_ALONE]),
            ...notNow,
          ],
          globalSetup: buildWasm,
          env: { ...unit, ...opa },
        },
      },
      {
        extends: true,
        test: {
          name: 'postgres',
          include: hasPostgres ? [...STORE_CONTRACT, ON_POSTGRES] : [],
          exclude: notNow,
          env: { TIDEGATE_TEST_STORE: 'postgres', ...opa },
          globalSetup: [buildWasm, 'test/support/postgres/start-postgres.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'process',
          include: WHOLE_PROCESSES,
          exclude: notNow,
          env: opa,
          globalSetup: buildProgram,
        },
      },
      {
        extends: true,
        test: {
          name: 'opa-0.70',
          include: RUNS_ALL && older !== undefined && newer !== undefined ? [...COMPILING, OLDER_ALONE] : [],
          env: { ...unit, ...(older !== undefined && compilerVariables(older)) },
          globalSetup: buildProgram,
        },
      },
    ],
  },
})
