import type { Command } from 'commander'

import { OPA_DOWNLOADS_VARIABLE, SERVER_URL_TEXT, isServerUrl } from '../../config/values/server-url.js'
import { AppError } from '../../errors/app-error.js'
import {
  DEFAULT_RELEASE,
  OFFICIAL_BASE,
  installFolder,
  installOpa,
  isRelease,
  proxiesOf,
} from '../../rego/index.js'
import { Progress } from '../output/progress.js'
import { EXIT, wrongUse } from '../session/session.js'
import type { ExitCode, Session } from '../session/session.js'
import { addOutputOptions, examples, outJson } from '../session/shared-options.js'
import type { OutputOptions } from '../session/shared-options.js'
import type { Terminal } from '../session/terminal.js'

interface InstallOptions extends OutputOptions {
  readonly from?: string
  readonly sha256?: string
}

const SUM = /^[\da-f]{64}$/i
const BYTES_PER_MB = 1e6

/** `tidegate opa install`: fetches the official program into the user's cache. */
export function defineInstall(command: Command, session: Session): void {
  addOutputOptions(command)
    .description(
      "Downloads the official opa program for this platform, checks its SHA-256 and keeps it in the user's cache, where it is found before the copy that npm installed.",
    )
    .argument('[version]', 'the release, such as 1.20.2', DEFAULT_RELEASE)
    .option('--from <url>', `a mirror of ${OFFICIAL_BASE} (else ${OPA_DOWNLOADS_VARIABLE})`)
    .option(
      '--sha256 <digits>',
      'the SHA-256 that the program must have, for a release that tidegate does not know',
    )
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
  if (!isRelease(release))
    throw wrongUse(`${given} is not the number of a release, such as ${DEFAULT_RELEASE}`)
  const { sha256 } = options
  if (sha256 !== undefined && !SUM.test(sha256)) throw wrongUse('--sha256 must be 64 hexadecimal digits')
  const folder = installFolder(terminal.env)
  if (folder === undefined)
    throw new AppError('unavailable', 'there is no home directory: set XDG_CACHE_HOME')
  const progress = new Progress(terminal)
  const onProgress = (bytes: number): void =>
    progress.show(`downloading opa ${release} … ${(bytes / BYTES_PER_MB).toFixed(1)} MB`)
  const installed = await installOpa({
    ...{ release, folder, base: downloadBase(options, terminal), sum: sha256?.toLowerCase(), onProgress },
    ...{ platform: process.platform, arch: process.arch, proxies: proxiesOf(terminal.env) },
  }).finally(() => progress.end())
  if (options.format === 'json') outJson(terminal, { release, ...installed })
  else terminal.out(`opa ${release} is installed: ${installed.path}\n`)
  return EXIT.fine
}

/** The SHA-256 is what vouches for the program, so that a mirror may be asked without TLS. */
function downloadBase({ from }: InstallOptions, { env }: Terminal): string {
  const configured = env[OPA_DOWNLOADS_VARIABLE] ?? ''
  const base = from ?? (configured === '' ? OFFICIAL_BASE : configured)
  if (!isServerUrl(base)) throw wrongUse(`--from (or ${OPA_DOWNLOADS_VARIABLE}) must be ${SERVER_URL_TEXT}`)
  return base.replace(/\/+$/, '')
}
