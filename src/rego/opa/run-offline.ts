import { AppError } from '../../errors/app-error.js'
import { inTemporaryDirectoryBelow } from '../../lib/temporary-directory.js'
import { capabilityFlags, parseCapabilities } from './capabilities.js'
import type { OpaProgram } from './find-opa.js'
import { opaRelease } from './opa-release.js'
import { runOpa } from './run-opa.js'
import type { OpaRun, OpaRunOptions } from './run-opa.js'

interface OfflineRun {
  readonly command: 'check' | 'eval' | 'test'
  readonly flags: readonly string[]
}

/**
 * Runs a command of `opa` that evaluates policies or loads their schemas. Policies compile against
 * the capabilities of the program, but reach no host: neither by `http.send` and
 * `net.lookup_ip_addr` nor by a `$ref` of a schema.
 */
export async function runOffline(
  opa: OpaProgram,
  { command, flags }: OfflineRun,
  options: OpaRunOptions = {},
): Promise<OpaRun> {
  const reason = await whySchemasAreWithheld(opa, command)
  const text = await offlineCapabilities(opa, reason === undefined ? [] : SCHEMA_CALLS)
  const run = await inTemporaryDirectoryBelow(opa.temporaryFolder, async (directory) => {
    return await runOpa(opa, [command, ...(await capabilityFlags(directory, { text })), ...flags], options)
  })
  if (reason === undefined) return run
  const explained = (output: string): string =>
    output.replaceAll(UNDEFINED_SCHEMA_CALL, (found) => `${found}: ${reason}`)
  return { ...run, stdout: explained(run.stdout), stderr: explained(run.stderr) }
}

const SCHEMA_CALLS: readonly string[] = ['json.match_schema', 'json.verify_schema']
const UNDEFINED_SCHEMA_CALL = /undefined function json\.(?:match|verify)_schema/g
/** The first minor release of OPA 1 known to keep schemas of these calls from other hosts. */
const FIRST_OFFLINE_MINOR = 20

/**
 * Why policies may not call the built-ins that load each `$ref` of a schema; undefined if they may.
 * Every release reads files, whose contents `eval` would show to its caller.
 */
async function whySchemasAreWithheld(
  opa: OpaProgram,
  command: OfflineRun['command'],
): Promise<string | undefined> {
  if (command === 'check') return undefined
  if (command === 'eval') return 'it would load each $ref from hosts and files, so it cannot be called here'
  const release = await opaRelease(opa)
  const [major = 0, minor = 0] = release.split('.').map(Number)
  if (major > 1 || (major === 1 && minor >= FIRST_OFFLINE_MINOR)) return undefined
  return `OPA ${release} would load each $ref from hosts, whatever policies allow. Install a newer one with tidegate opa install`
}

/** Returns the configured capabilities, or those of the program, without any host. */
async function offlineCapabilities(opa: OpaProgram, withheld: readonly string[]): Promise<string> {
  const { file, text } = opa.capabilities ?? (await currentCapabilities(opa))
  const { builtins, ...rest } = parseCapabilities(file, text)
  const offered = builtins.filter(({ name }) => !withheld.includes(name))
  return JSON.stringify({ ...rest, builtins: offered, allow_net: [] })
}

async function currentCapabilities(opa: OpaProgram): Promise<{ file: string; text: string }> {
  const { exitCode, stdout, stderr } = await runOpa(opa, ['capabilities', '--current'])
  if (exitCode !== 0)
    throw new AppError(
      'unavailable',
      `opa capabilities fails (${opa.path}, from ${opa.source}): ${stderr.trim()}. Name OPA 0.70 or later with --opa or OPA_BIN.`,
    )
  return { file: opa.path, text: stdout }
}
