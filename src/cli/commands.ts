import type { DefineCommand } from './session/session.js'

/** A command whose code is loaded on demand, since a decision must not load the server. */
export interface KnownCommand {
  readonly summary: string
  readonly load: () => Promise<DefineCommand>
}

type CommandEntry = readonly [name: string, summary: string, load: KnownCommand['load']]

const ENTRIES: readonly CommandEntry[] = [
  [
    'init',
    'create a starter policy with a test, a configuration and a CI workflow',
    async () => (await import('./init.js')).defineInit,
  ],
  ['serve', 'run the service', async () => (await import('./serve.js')).defineServe],
  [
    'eval',
    'evaluate one rule or package and print {"result": …}',
    async () => (await import('./eval.js')).defineEval,
  ],
  [
    'check',
    'check pipeline definitions against the static policies',
    async () => (await import('./check.js')).defineCheck,
  ],
  [
    'impact',
    'show what a change of policies would decide differently',
    async () => (await import('./impact.js')).defineImpact,
  ],
  ['test', 'run Rego unit tests', async () => (await import('./test.js')).defineTest],
  ['build', 'compile policies to an OPA bundle', async () => (await import('./build.js')).defineBuild],
  [
    'policies',
    'show, refresh and pin the policies of a running service',
    async () => (await import('./policies.js')).definePolicies,
  ],
  [
    'decisions',
    'list and show decisions of a running service',
    async () => (await import('./decisions.js')).defineDecisions,
  ],
  [
    'gates',
    'list and review approval gates of a running service',
    async () => (await import('./gates.js')).defineGates,
  ],
  [
    'analysis',
    'judge canaries against their baseline',
    async () => (await import('./analysis.js')).defineAnalysis,
  ],
  [
    'audit',
    'search, export and verify the audit trail',
    async () => (await import('./audit.js')).defineAudit,
  ],
  [
    'exceptions',
    'add, list, approve and remove exceptions from policies',
    async () => (await import('./exceptions.js')).defineExceptions,
  ],
  [
    'fleet',
    'list the instances of a fleet with their revisions and health',
    async () => (await import('./fleet.js')).defineFleet,
  ],
  [
    'notifications',
    'list and test the channels of notifications',
    async () => (await import('./notifications.js')).defineNotifications,
  ],
  [
    'sessions',
    'list and end the sessions of browsers',
    async () => (await import('./sessions.js')).defineSessions,
  ],
  [
    'store',
    'prepare a PostgreSQL database that several services share',
    async () => (await import('./store.js')).defineStore,
  ],
  [
    'pipelines',
    'pull, push and check the pipelines of the orchestrator',
    async () => (await import('./pipelines.js')).definePipelines,
  ],
  [
    'orchestrator',
    'check the connection to the orchestrator; reload its accounts',
    async () => (await import('./orchestrator.js')).defineOrchestrator,
  ],
  [
    'doctor',
    'check a configuration, a data directory and a service',
    async () => (await import('./doctor.js')).defineDoctor,
  ],
  [
    'backup',
    'copy the data directory of a running service',
    async () => (await import('./backup.js')).defineBackup,
  ],
  [
    'restore',
    'create a data directory from a backup',
    async () => (await import('./backup.js')).defineRestore,
  ],
  [
    'reload',
    'make a running service read its configuration again',
    async () => (await import('./reload.js')).defineReload,
  ],
  ['config', 'print the effective configuration', async () => (await import('./config.js')).defineConfig],
  [
    'openapi',
    'print the OpenAPI document of the service',
    async () => (await import('./openapi.js')).defineOpenApi,
  ],
  [
    'completion',
    'print a script that completes commands and flags in a shell',
    async () => (await import('./completion.js')).makeDefineCompletion(loadAll),
  ],
  [
    'opa',
    'run or install the opa program that compiles policies',
    async () => (await import('./opa.js')).defineOpa,
  ],
  [
    'hash-token',
    'print the SHA-256 of a token for the configuration',
    async () => (await import('./hash-token.js')).defineHashToken,
  ],
  [
    'version',
    'print the versions of tidegate, Node.js and the opa program',
    async () => (await import('./version.js')).defineVersion,
  ],
]

/** All commands, in the order of the help. */
export const commands: ReadonlyMap<string, KnownCommand> = new Map(
  ENTRIES.map(([name, summary, load]) => [name, { summary, load }]),
)

async function loadAll(): Promise<ReadonlyMap<string, DefineCommand>> {
  const loaded = [...commands].map(async ([name, { load }]) => [name, await load()] as const)
  return new Map(await Promise.all(loaded))
}
