import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'

import { AppError } from '../../errors/app-error.js'
import { inTemporaryDirectoryBelow } from '../../lib/temporary-directory.js'
import type { OpaProgram } from './find-opa.js'
import { runOpa } from './run-opa.js'
import type { OpaRun, OpaRunOptions } from './run-opa.js'

const Capabilities = z.looseObject({ builtins: z.array(z.unknown()) })

interface OfflineRun {
  readonly command: 'check' | 'test'
  readonly flags: readonly string[]
}

/**
 * Runs a command of `opa` that evaluates policies or loads their schemas. Policies compile against all built-in functions
 * of the program, but reach no host: neither by `http.send` and `net.lookup_ip_addr` nor by a `$ref` of a schema.
 */
export async function runOffline(
  opa: OpaProgram,
  { command, flags }: OfflineRun,
  options: OpaRunOptions = {},
): Promise<OpaRun> {
  const capabilities = await offlineCapabilities(opa)
  return await inTemporaryDirectoryBelow(opa.temporaryFolder, async (directory) => {
    const file = join(directory, 'capabilities.json')
    await writeFile(file, capabilities)
    return await runOpa(opa, [command, '--capabilities', file, ...flags], options)
  })
}

/** The capabilities of the program itself without any host; each release has its own. */
async function offlineCapabilities(opa: OpaProgram): Promise<string> {
  const { exitCode, stdout, stderr } = await runOpa(opa, ['capabilities', '--current'])
  if (exitCode !== 0)
    throw new AppError(
      'unavailable',
      `opa capabilities fails (${opa.path}, from ${opa.source}): ${stderr.trim()}. Name OPA 0.70 or later with --opa or OPA_BIN.`,
    )
  return JSON.stringify({ ...Capabilities.parse(JSON.parse(stdout)), allow_net: [] })
}
