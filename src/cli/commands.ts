import type { DefineCommand } from './session/session.js'

/** A command whose code is loaded on demand, since a decision must not load the server. */
export interface KnownCommand {
  readonly summary: string
  readonly load: () => Promise<DefineCommand>
}

/** All commands, in the order of the help. */
export const commands: ReadonlyMap<string, KnownCommand> = new Map([
  ['serve', { summary: 'run the service', load: async () => (await import('./serve.js')).defineServe }],
  [
    'eval',
    {
      summary: 'evaluate one rule or package and print {"result": …}',
      load: async () => (await import('./eval.js')).defineEval,
    },
  ],
  [
    'check',
    {
      summary: 'check pipeline definitions against the static policies',
      load: async () => (await import('./check.js')).defineCheck,
    },
  ],
  ['test', { summary: 'run Rego unit tests', load: async () => (await import('./test.js')).defineTest }],
  [
    'build',
    {
      summary: 'compile policies to an OPA bundle',
      load: async () => (await import('./build.js')).defineBuild,
    },
  ],
  [
    'decisions',
    {
      summary: 'list and show decisions of a running service',
      load: async () => (await import('./decisions.js')).defineDecisions,
    },
  ],
  [
    'gates',
    {
      summary: 'list and review approval gates of a running service',
      load: async () => (await import('./gates.js')).defineGates,
    },
  ],
  [
    'analysis',
    {
      summary: 'judge canaries against their baseline',
      load: async () => (await import('./analysis.js')).defineAnalysis,
    },
  ],
  [
    'audit',
    {
      summary: 'search, export and verify the audit trail',
      load: async () => (await import('./audit.js')).defineAudit,
    },
  ],
  [
    'store',
    {
      summary: 'prepare a PostgreSQL database that several services share',
      load: async () => (await import('./store.js')).defineStore,
    },
  ],
  [
    'pipelines',
    {
      summary: 'pull, push and check the pipelines of the orchestrator',
      load: async () => (await import('./pipelines.js')).definePipelines,
    },
  ],
  [
    'orchestrator',
    {
      summary: 'check the connection to the orchestrator; reload its accounts',
      load: async () => (await import('./orchestrator.js')).defineOrchestrator,
    },
  ],
  [
    'doctor',
    {
      summary: 'check a configuration, a data directory and a service',
      load: async () => (await import('./doctor.js')).defineDoctor,
    },
  ],
  [
    'backup',
    {
      summary: 'copy the data directory of a running service',
      load: async () => (await import('./backup.js')).defineBackup,
    },
  ],
  [
    'restore',
    {
      summary: 'create a data directory from a backup',
      load: async () => (await import('./backup.js')).defineRestore,
    },
  ],
  [
    'config',
    {
      summary: 'print the effective configuration',
      load: async () => (await import('./config.js')).defineConfig,
    },
  ],
  [
    'openapi',
    {
      summary: 'print the OpenAPI document of the service',
      load: async () => (await import('./openapi.js')).defineOpenApi,
    },
  ],
  [
    'completion',
    {
      summary: 'print a script that completes commands and flags in a shell',
      load: async () => (await import('./completion.js')).makeDefineCompletion(loadAll),
    },
  ],
  [
    'opa',
    {
      summary: 'run or install the opa program that compiles policies',
      load: async () => (await import('./opa.js')).defineOpa,
    },
  ],
  [
    'hash-token',
    {
      summary: 'print the SHA-256 of a token for the configuration',
      load: async () => (await import('./hash-token.js')).defineHashToken,
    },
  ],
  [
    'version',
    {
      summary: 'print the versions of tidegate, Node.js and the opa program',
      load: async () => (await import('./version.js')).defineVersion,
    },
  ],
])

async function loadAll(): Promise<ReadonlyMap<string, DefineCommand>> {
  const loaded = [...commands].map(async ([name, { load }]) => [name, await load()] as const)
  return new Map(await Promise.all(loaded))
}
