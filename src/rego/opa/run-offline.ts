import { AppError } from '../../errors/app-error.js'
import { inTemporaryDirectoryBelow } from '../../lib/temporary-directory.js'
import { capabilityFlags, parseCapabilities } from './capabilities.js'
import type { OpaProgram } from './find-opa.js'
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
  const text = await offlineCapabilities(opa)
  return await inTemporaryDirectoryBelow(opa.temporaryFolder, async (directory) => {
    return await runOpa(opa, [command, ...(await capabilityFlags(directory, { text })), ...flags], options)
  })
}

/** Returns the configured capabilities, or those of the program, without any host. */
async function offlineCapabilities(opa: OpaProgram): Promise<string> {
  const { file, text } = opa.capabilities ?? (await currentCapabilities(opa))
  return JSON.stringify({ ...parseCapabilities(file, text), allow_net: [] })
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
