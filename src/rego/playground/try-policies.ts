import { z } from 'zod'

import { AppError } from '../../errors/app-error.js'
import { inTemporaryDirectoryBelow } from '../../lib/temporary-directory.js'
import { compileError, readOpaErrors } from '../modules/opa-errors.js'
import { parseModules } from '../modules/parse-modules.js'
import type { RegoFile } from '../modules/rego-module.js'
import { sourceFiles, stageBundle } from '../modules/stage-bundle.js'
import type { OpaProgram } from '../opa/find-opa.js'
import { runOffline } from '../opa/run-offline.js'
import { parseDataPath } from '../values/data-path.js'
import { printDataRef } from '../values/print-data-ref.js'
import type { RegoObject } from '../values/value.js'

/** Policies and an input to try. */
export interface PolicyTrial {
  readonly files: readonly RegoFile[]
  readonly data: RegoObject
  /** The document to evaluate: `app/rules/deny`. */
  readonly path: string
  /** JSON text; undefined without an input. */
  readonly input: string | undefined
}

const MAX_RESULT_BYTES = 1024 * 1024
const Answer = z.object({
  result: z.array(z.object({ expressions: z.array(z.object({ value: z.unknown() })) })).optional(),
})

/**
 * Evaluates a document of policies that are not in service, in a process of `opa` without network.
 * Returns its value; undefined for an undefined document. Raises `invalid` with every problem of the
 * Rego, and `unavailable` beyond the limits of the program.
 */
export async function tryPolicies(
  opa: OpaProgram,
  { files, data, path, input }: PolicyTrial,
): Promise<unknown> {
  const query = printDataRef(parseDataPath(path))
  const modules = await parseModules(opa, files)
  return await inTemporaryDirectoryBelow(opa.temporaryFolder, async (cwd) => {
    await stageBundle(cwd, modules, data)
    const flags = ['--format', 'json', '--strict-builtin-errors', '--bundle', '.']
    const run = await runOffline(
      opa,
      { command: 'eval', flags: [...flags, ...(input === undefined ? [] : ['--stdin-input']), query] },
      { cwd, maxOutputBytes: MAX_RESULT_BYTES, ...(input !== undefined && { stdin: input }) },
    )
    if (run.exitCode !== 0) throw compileError(readOpaErrors(run, sourceFiles(modules)))
    return readResult(run.stdout)
  })
}

function readResult(stdout: string): unknown {
  try {
    return Answer.parse(JSON.parse(stdout)).result?.[0]?.expressions[0]?.value
  } catch (cause) {
    throw new AppError('unavailable', 'opa eval does not respond like opa', { cause })
  }
}
