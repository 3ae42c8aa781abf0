import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Command } from 'commander'

import { loadConfig } from '../config/load-config.js'
import { loadOptions } from './input/open-policies.js'
import { EXIT, wrongUse } from './session/session.js'
import type { ExitCode, Session } from './session/session.js'
import {
  addConfigOption,
  examples,
  policyFlags,
  addOutputOptions,
  outJson,
} from './session/shared-options.js'
import type { OutputOptions } from './session/shared-options.js'
import type { Terminal } from './session/terminal.js'
import { OPA_DOWNLOADS_VARIABLE, SERVER_URL_TEXT, isServerUrl } from '../config/values/server-url.js'
import { AppError } from '../errors/app-error.js'
import {
  DEFAULT_RELEASE,
  OFFICIAL_BASE,
  installFolder,
  installOpa,
  isRelease,
  proxiesOf,
} from '../rego/index.js'
import { Progress } from './output/progress.js'

interface OpaOptions {
  readonly config?: string
  readonly opa?: string
}

/** `tidegate opa`: runs or installs the opa program. */
export function defineOpa(command: Command, session: Session): void {
  addConfigOption(command)
    .description(
      'Runs the opa program that compiles the policies, with the arguments after --. tidegate version shows its path.',
    )
    .argument('[args...]', 'arguments of opa, after --')
    .option('--opa <file>', 'opa program to run')
    .addHelpText(
      'after',
      examples(
        'tidegate opa -- fmt --list policies',
        'tidegate opa -- inspect bundle.tar.gz',
        'tidegate opa install',
      ),
    )
    .action(async (args: readonly string[], options: OpaOptions) => {
      if (args.length === 0)
        throw wrongUse('missing arguments for opa; write them after --, as in tidegate opa -- version')
      session.exitCode = await runOpaProgram(args, options, session.terminal)
    })
  defineInstall(command.command('install'), session)
}

/** Runs opa with the caller's files and environment. Exit codes other than 0 and 1 become 2. */
async function runOpaProgram(
  args: readonly string[],
  options: OpaOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const config = loadConfig({ file: options.config, env: terminal.env, flags: policyFlags(options) })
  const { path } = await loadOptions(config, terminal).findOpa()
  const child = spawn(path, args, { stdio: ['inherit', 'pipe', 'pipe'] })
  child.stdout.setEncoding('utf8').on('data', terminal.out)
  child.stderr.setEncoding('utf8').on('data', terminal.err)
  const [code] = (await once(child, 'close')) as [number | null]
  return code === EXIT.fine || code === EXIT.denied ? code : EXIT.error
}

interface InstallOptions extends OutputOptions {
  readonly from?: string
  readonly sha256?: string
}

const SUM = /^[\da-f]{64}$/i
const BYTES_PER_MB = 1e6

/** `tidegate opa install`: downloads opa to the user's cache. */
function defineInstall(command: Command, session: Session): void {
  addOutputOptions(command)
    .description(
      "Downloads the official opa program for this platform, verifies its SHA-256 and stores it in the user's cache, which takes precedence over the copy installed by npm.",
    )
    .argument('[version]', 'release, such as 1.20.2', DEFAULT_RELEASE)
    .option('--from <url>', `mirror of ${OFFICIAL_BASE} (default: ${OPA_DOWNLOADS_VARIABLE})`)
    .option('--sha256 <digits>', 'expected SHA-256, for a release that tidegate does not know')
    .addHelpText(
      'after',
      examples('tidegate opa install', 'tidegate opa install 1.20.2 --from https://mirror.example/opa'),
    )
    .action(async (release: string, options: InstallOptions) => {
      session.exitCode = await install(release, options, session.terminal)
    })
}

async function install(given: string, options: InstallOptions, terminal: Terminal): Promise<ExitCode> {
  const release = given.replace(/^v/, '')
  if (!isRelease(release)) throw wrongUse(`${given} is not a release number such as ${DEFAULT_RELEASE}`)
  const { sha256 } = options
  if (sha256 !== undefined && !SUM.test(sha256)) throw wrongUse('--sha256 must be 64 hexadecimal digits')
  const folder = installFolder(terminal.env)
  if (folder === undefined) throw new AppError('unavailable', 'home directory not found; set XDG_CACHE_HOME')
  const progress = new Progress(terminal)
  const onProgress = (bytes: number): void =>
    progress.show(`downloading opa ${release} … ${(bytes / BYTES_PER_MB).toFixed(1)} MB`)
  const installed = await installOpa({
    ...{ release, folder, base: downloadBase(options, terminal), sum: sha256?.toLowerCase(), onProgress },
    ...{ platform: process.platform, arch: process.arch, proxies: proxiesOf(terminal.env) },
  }).finally(() => progress.end())
  if (options.format === 'json') outJson(terminal, { release, ...installed })
  else terminal.out(`installed opa ${release}: ${installed.path}\n`)
  return EXIT.fine
}

/** A mirror without TLS is allowed, since the SHA-256 is verified. */
function downloadBase({ from }: InstallOptions, { env }: Terminal): string {
  const configured = env[OPA_DOWNLOADS_VARIABLE] ?? ''
  const base = from ?? (configured === '' ? OFFICIAL_BASE : configured)
  if (!isServerUrl(base)) throw wrongUse(`--from (or ${OPA_DOWNLOADS_VARIABLE}) must be ${SERVER_URL_TEXT}`)
  return base.replace(/\/+$/, '')
}
