import { Option } from 'commander'
import type { Command } from 'commander'

import type { Config } from '../config/config.js'
import { traceConfig } from '../config/load-config.js'
import type { OriginatedValue } from '../config/values/layered-values.js'
import { trialHint, withShippedPolicies } from './input/shipped-policies.js'
import { EXIT } from './session/session.js'
import type { Session } from './session/session.js'
import { addOutputOptions, addPolicyOptions, examples, policyFlags } from './session/shared-options.js'
import type { OutputOptions, PolicyOptions } from './session/shared-options.js'
import type { Terminal } from './session/terminal.js'

interface ServeOptions extends PolicyOptions, OutputOptions {
  readonly addr?: string
  readonly dataDir?: string
  readonly watch?: true
  readonly insecure?: true
  readonly opaConfig?: string
  readonly authorization?: string
  readonly logLevel?: string
  readonly logFormat?: string
}

/** Time for the process to exit by itself after the service stopped. */
const EXIT_GRACE_MS = 2000

const HELP = `
Defaults and all other settings are in the configuration; print it with tidegate config.
${examples(
  'tidegate serve',
  'tidegate serve --policies policies --watch',
  'tidegate serve --config tidegate.yaml --addr 0.0.0.0:8181',
)}`

/** `tidegate serve`: runs the service until SIGTERM or SIGINT. */
export function defineServe(command: Command, session: Session): void {
  addOutputOptions(addPolicyOptions(command))
    .description('Runs the service until SIGTERM or SIGINT, then finishes running requests and exits with 0.')
    .option(
      '--addr <host:port>',
      'address to listen on (default: 127.0.0.1:8181), or unix:PATH; beyond loopback it requires tokens or --insecure',
    )
    .option('--data-dir <dir>', 'directory for databases and secrets (default: data)')
    .option(
      '--opa-config <file>',
      'configuration file of OPA with services and bundles; members without an effect are logged',
    )
    .option(
      '--authorization <rule>',
      'basic: the rule system.authz.allow authorizes each request, as in OPA (default: off)',
    )
    .option('--watch', 'reload policies when a file changes')
    .option('--insecure', 'listen beyond loopback without tokens')
    .addOption(new Option('--log-level <level>', 'debug, info, warn, error or silent (default: info)'))
    .addOption(new Option('--log-format <format>', 'json, or text for people (default: json)'))
    .addHelpText('after', HELP)
    .action(async (options: ServeOptions) => {
      const reread = (): Config => readServeConfig(options, session.terminal.env)
      const config = reread()
      const { runServer } = await import('../main/start-service.js')
      try {
        const hint = trialHint(config.policies.directories)
        const isClosed = await runServer(config, { hint, reread })
        session.exitCode = isClosed ? EXIT.fine : EXIT.denied
      } finally {
        if (session.terminal.ownsProcess) exitAfterGrace()
      }
    })
}

function readServeConfig(options: ServeOptions, env: Terminal['env']): Config {
  const flags = [...policyFlags(options), ...serverFlags(options)]
  const { config, originOf } = traceConfig({ file: options.config, env, flags })
  const isDefault = originOf(['policies', 'directories']) === undefined
  return withShippedPolicies(config, { configFile: options.config, env, isDefault })
}

/** Exits the process if a resource that could not be closed keeps it alive. */
function exitAfterGrace(): void {
  setTimeout(() => process.exit(), EXIT_GRACE_MS).unref()
}

function serverFlags({
  addr,
  dataDir,
  watch,
  insecure,
  opaConfig,
  authorization,
  logLevel,
  logFormat,
}: ServeOptions): OriginatedValue[] {
  const values: OriginatedValue[] = [
    { path: ['server', 'addr'], value: addr, origin: '--addr' },
    { path: ['dataDir'], value: dataDir, origin: '--data-dir' },
    { path: ['policies', 'watch'], value: watch, origin: '--watch' },
    { path: ['server', 'insecure'], value: insecure, origin: '--insecure' },
    { path: ['policies', 'opaConfig'], value: opaConfig, origin: '--opa-config' },
    { path: ['policies', 'authorization'], value: authorization, origin: '--authorization' },
    { path: ['log', 'level'], value: logLevel, origin: '--log-level' },
    { path: ['log', 'format'], value: logFormat, origin: '--log-format' },
  ]
  return values.filter(({ value }) => value !== undefined)
}
