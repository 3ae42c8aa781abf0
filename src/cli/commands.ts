import type { DefineCommand } from './session/session.js'

/** A command that is known by name before its code is loaded: a decision must not wait for the parts of a server. */
export interface KnownCommand {
  readonly summary: string
  readonly load: () => Promise<DefineCommand>
}

/** All commands in the order of the help text. */
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
      summary: 'see and decide approval gates of a running service',
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
      summary: 'prepare a PostgreSQL that several services share',
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
      summary:
        'say what is missing between the orchestrator and the service; have it read its accounts again',
      load: async () => (await import('./orchestrator.js')).defineOrchestrator,
    },
  ],
  [
    'doctor',
    {
      summary: 'say what is wrong with a configuration, a data directory and a service',
      load: async () => (await import('./doctor.js')).defineDoctor,
    },
  ],
  [
    'backup',
    {
      summary: 'copy the data directory of a service that may run',
      load: async () => (await import('./backup.js')).defineBackup,
    },
  ],
  [
    'restore',
    {
      summary: 'make a data directory of a backup',
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
      summary: 'print what makes a shell complete commands and flags',
      load: async () => (await import('./completion.js')).makeDefineCompletion(loadAll),
    },
  ],
  [
    'opa',
    {
      summary: 'run or install the program that compiles policies',
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
