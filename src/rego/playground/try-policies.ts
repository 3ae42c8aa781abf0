import { z } from 'zod'

import { AppError } from '../../errors/app-error.js'
import type { Extent } from '../../lib/json/scan/json-bytes.js'
import { readMembers } from '../../lib/json/scan/scan-members.js'
import { inTemporaryDirectoryBelow } from '../../lib/temporary-directory.js'
import { lineNumbers } from '../../lib/text/line-ranges.js'
import { compileError, readOpaErrors } from '../modules/opa-errors.js'
import { parseModules } from '../modules/parse-modules.js'
import type { RegoFile } from '../modules/rego-module.js'
import { sourceFiles, stageBundle } from '../modules/stage-bundle.js'
import type { OpaProgram } from '../opa/find-opa.js'
import { runOffline } from '../opa/run-offline.js'
import { parseDataPath } from '../values/data-path.js'
import { printDataRef } from '../values/print-data-ref.js'
import type { RegoObject } from '../values/value.js'

/** Name of a tried file that replaces none. */
export const NEW_FILE = 'playground.rego'

/** Policies and an input to try. */
export interface PolicyTrial {
  /** All policies, among them the tried file. */
  readonly files: readonly RegoFile[]
  /** Name of the tried file. */
  readonly file: string
  readonly data: RegoObject
  /** The document to evaluate: `app/rules/deny`. */
  readonly path: string
  /** JSON text; undefined without an input. */
  readonly input: string | undefined
}

/** The result of a trial. */
export interface PolicyTrialResult {
  /** Undefined for an undefined document. */
  readonly value: unknown
  /** Lines of the tried file. */
  readonly coverage: LineCoverage
}

/** Lines that were evaluated, and those that were not, in order. Neither has lines without code. */
interface LineCoverage {
  readonly covered: readonly number[]
  readonly uncovered: readonly number[]
}

const MAX_RESULT_BYTES = 1024 * 1024
/** The coverage of a line takes a few hundred bytes, and all loaded files are in it. */
const MAX_OUTPUT_BYTES = 32 * 1024 * 1024
const Result = z.array(z.object({ expressions: z.array(z.object({ value: z.unknown() })) }))
const Ranges = z
  .array(z.object({ start: z.object({ row: z.int() }), end: z.object({ row: z.int() }) }))
  .default([])
const Covered = z.object({ covered: Ranges, not_covered: Ranges })

/**
 * Evaluates a document of policies that are not in service, in a process of `opa` without network.
 * Raises `invalid` with every problem of the Rego, and `unavailable` beyond the limits of the
 * program.
 */
export async function tryPolicies(
  opa: OpaProgram,
  { files, file, data, path, input }: PolicyTrial,
): Promise<PolicyTrialResult> {
  const query = printDataRef(parseDataPath(path))
  const modules = await parseModules(opa, files)
  return await inTemporaryDirectoryBelow(opa.temporaryFolder, async (cwd) => {
    await stageBundle(cwd, modules, data)
    const flags = ['--format', 'json', '--coverage', '--strict-builtin-errors', '--bundle', '.']
    const run = await runOffline(
      opa,
      { command: 'eval', flags: [...flags, ...(input === undefined ? [] : ['--stdin-input']), query] },
      { cwd, maxOutputBytes: MAX_OUTPUT_BYTES, ...(input !== undefined && { stdin: input }) },
    )
    const sourceOf = sourceFiles(modules)
    if (run.exitCode !== 0) throw compileError(readOpaErrors(run, sourceOf))
    return readAnswer(Buffer.from(run.stdout), (name) => sourceOf(name) === file)
  })
}

/** Parses only the parts that are needed: the whole output would delay decisions. */
function readAnswer(output: Buffer, isTried: (name: string) => boolean): PolicyTrialResult {
  const parse = ({ start, end }: Extent): unknown => JSON.parse(output.toString('utf8', start, end))
  const membersAt = (extent: Extent | undefined): ReadonlyMap<string, Extent> =>
    (extent && readMembers(output, extent.start)) ?? new Map<string, Extent>()
  try {
    const answer = membersAt({ start: 0, end: output.length })
    const files = membersAt(membersAt(answer.get('coverage')).get('files'))
    const tried = [...files].find(([name]) => isTried(name))?.[1]
    const result = answer.get('result')
    if (result !== undefined && result.end - result.start > MAX_RESULT_BYTES)
      throw new AppError('too_large', `the result is larger than ${MAX_RESULT_BYTES} bytes: evaluate a part`)
    const value = result && Result.parse(parse(result))[0]?.expressions[0]?.value
    return { value, coverage: coverageOf(tried && parse(tried)) }
  } catch (cause) {
    if (cause instanceof AppError && cause.kind === 'too_large') throw cause
    throw new AppError('unavailable', 'opa eval does not respond like opa', { cause })
  }
}

function coverageOf(tried: unknown): LineCoverage {
  const ranges = Covered.parse(tried ?? {})
  const covered = lineNumbers(ranges.covered)
  const known = new Set(covered)
  return { covered, uncovered: lineNumbers(ranges.not_covered).filter((line) => !known.has(line)) }
}
