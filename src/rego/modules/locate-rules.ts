import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { z } from 'zod'

import type { ErrorDetail } from '../../errors/app-error.js'
import { inTemporaryDirectoryBelow } from '../../lib/temporary-directory.js'
import type { OpaProgram } from '../opa/find-opa.js'
import { regoVersionFlags } from '../opa/opa-release.js'
import { runOpa } from '../opa/run-opa.js'
import type { RegoModule } from './rego-module.js'

const FILE = 'module.rego'
const LocatedModule = z.object({
  rules: z.array(z.object({ location: z.object({ row: z.number(), col: z.number() }).optional() })),
})

/**
 * Returns the locations of a module's rules, in the order of `rules`; empty if OPA reports none.
 * Only errors need locations, and they make OPA's output many times larger, so this is a separate
 * run.
 */
export async function locateRules(
  opa: OpaProgram,
  module: RegoModule,
): Promise<NonNullable<ErrorDetail['location']>[]> {
  const run = await inTemporaryDirectoryBelow(opa.temporaryFolder, async (directory) => {
    await writeFile(join(directory, FILE), module.text)
    const flags = await regoVersionFlags(opa, module.version)
    const args = ['parse', '--format', 'json', '--json-include', 'locations', ...flags, FILE]
    return await runOpa(opa, args, { cwd: directory })
  })
  if (run.exitCode !== 0) return []
  const located = LocatedModule.safeParse(JSON.parse(run.stdout))
  if (!located.success) return []
  return located.data.rules.map(({ location }) => ({
    file: module.file,
    row: location?.row ?? 1,
    col: location?.col ?? 1,
  }))
}
