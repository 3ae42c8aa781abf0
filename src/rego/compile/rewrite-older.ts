import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { inTemporaryDirectoryBelow } from '../../lib/temporary-directory.js'
import type { OpaProgram } from '../opa/find-opa.js'
import { runOpa } from '../opa/run-opa.js'
import type { RegoFile } from './collect-sources.js'

/**
 * Files of version 0 in the words of version 1, as `opa fmt` of OPA 1.x puts them: the same packages and rules, on other lines. None
 * when it refuses one of them. All in one run: a run for each file would take a minute for a thousand.
 */
export async function inNewerWords(opa: OpaProgram, files: readonly RegoFile[]): Promise<RegoFile[]> {
  if (files.length === 0) return []
  return await inTemporaryDirectoryBelow(opa.temporaryFolder, async (cwd) => {
    const name = (index: number): string => join(cwd, `${index}.rego`)
    for (const [index, { text }] of files.entries()) await writeFile(name(index), text)
    const run = await runOpa(opa, ['fmt', '--v0-compatible', '--v0-v1', '--write', '.'], { cwd })
    if (run.exitCode !== 0) return []
    return await Promise.all(
      files.map(async ({ file }, index) => ({ file, text: await readFile(name(index), 'utf8') })),
    )
  })
}
