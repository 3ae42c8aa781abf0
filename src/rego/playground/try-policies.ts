import { z } from 'zod'

import { AppError } from '../../errors/app-error.js'
import type { Extent } from '../../lib/json/scan/json-bytes.js'
import { readMembers } from '../../lib/json/scan/scan-members.js'
import { inTemporaryDirectoryBelow } from '../../lib/temporary-directory.js'
import { compileError, readOpaErrors } from '../modules/opa-errors.js'
import { parseModules } from '../modules/parse-modules.js'
import type { RegoFile } from '../modules/rego-module.js'
import { sourceFiles, stageBundle } from '../modules/stage-bundle.js'
import type { OpaProgram } from '../opa/find-opa.js'
import { runOffline } from '../opa/run-offline.js'
import { CoverageRanges, linesOf } from '../testing/coverage.js'
import type { FileCoverage, LineCoverage } from '../testing/coverage.js'
import { parseDataPath } from '../values/data-path.js'
import { printDataRef } from '../values/print-data-ref.js'
import type { RegoObject } from '../values/value.js'

/** Name of a tried file that replaces none. */
export const NEW_FILE = 'playground.rego'

interface TriedPolicies {
  readonly files: readonly RegoFile[]
  readonly data: RegoObject
}

/** Policies, among them the tried file, and an input to try. */
export interface PolicyTrial extends TriedPolicies {
  /** Name of the tried file. */
  readonly file: string
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

/** An input with the document that is evaluated with it. */
export interface CoveredInput {
  /** `app/rules/deny`. */
  readonly path: string
  /** JSON text. */
  readonly input: string
}

const NO_COVERAGE: LineCoverage = { covered: [], uncovered: [] }
const MAX_RESULT_BYTES = 1024 * 1024
/** The coverage of a line takes a few hundred bytes, and all loaded files are in it. */
const MAX_OUTPUT_BYTES = 32 * 1024 * 1024
const Result = z.array(z.object({ expressions: z.array(z.object({ value: z.unknown() })) }))
/**
 * Evaluates a document of policies that are not in service, in a process of `opa` without network.
 * Raises `invalid` with every problem of the Rego, and `unavailable` beyond the limits of the
 * program.
 */
export async function tryPolicies(
  opa: OpaProgram,
  { file, path, input, ...policies }: PolicyTrial,
): Promise<PolicyTrialResult> {
  const query = printDataRef(parseDataPath(path))
  const { output, sourceOf } = await evaluate(opa, policies, {
    ...{ query, input },
    flags: ['--strict-builtin-errors'],
  })
  return inAnswer(() => {
    const answer = membersAt(output, { start: 0, end: output.length })
    const { coverage = NO_COVERAGE } = coverageIn(output, answer, (name) => sourceOf(name) === file)[0] ?? {}
    const result = answer.get('result')
    if (result !== undefined && result.end - result.start > MAX_RESULT_BYTES)
      throw new AppError('too_large', `the result is larger than ${MAX_RESULT_BYTES} bytes: evaluate a part`)
    const value = result && Result.parse(partOf(output, result))[0]?.expressions[0]?.value
    return { value, coverage }
  })
}

/**
 * Evaluates documents with many inputs in one process of `opa` without network, and returns the
 * evaluated lines of some files. A failed built-in is undefined. Raises as `tryPolicies`.
 */
export async function coverInputs(
  opa: OpaProgram,
  policies: TriedPolicies,
  inputs: readonly CoveredInput[],
  wanted: ReadonlySet<string>,
): Promise<FileCoverage[]> {
  const groups = [...Map.groupBy(inputs, ({ path }) => path)]
  const queries = groups.map(
    ([path], index) =>
      `[true | value := input[${index}][_]; _ = ${printDataRef(parseDataPath(path))} with input as value]`,
  )
  const { output, sourceOf } = await evaluate(opa, policies, {
    query: `[${queries.join(', ')}]`,
    input: `[${groups.map(([, group]) => `[${group.map(({ input }) => input).join(',')}]`).join(',')}]`,
    flags: [],
  })
  return inAnswer(() => {
    const answer = membersAt(output, { start: 0, end: output.length })
    return coverageIn(output, answer, (name) => wanted.has(sourceOf(name))).map(({ name, coverage }) => ({
      file: sourceOf(name),
      ...coverage,
    }))
  })
}

interface TrialQuery {
  readonly query: string
  /** JSON text; undefined without an input. */
  readonly input: string | undefined
  readonly flags: readonly string[]
}

async function evaluate(
  opa: OpaProgram,
  { files, data }: TriedPolicies,
  { query, input, flags }: TrialQuery,
): Promise<{ readonly output: Buffer; readonly sourceOf: (name: string) => string }> {
  const modules = await parseModules(opa, files)
  return await inTemporaryDirectoryBelow(opa.temporaryFolder, async (cwd) => {
    await stageBundle(cwd, modules, data)
    const all = ['--format', 'json', '--coverage', ...flags, '--bundle', '.']
    const run = await runOffline(
      opa,
      { command: 'eval', flags: [...all, ...(input === undefined ? [] : ['--stdin-input']), query] },
      { cwd, maxOutputBytes: MAX_OUTPUT_BYTES, ...(input !== undefined && { stdin: input }) },
    )
    const sourceOf = sourceFiles(modules)
    if (run.exitCode !== 0) throw compileError(readOpaErrors(run, sourceOf))
    return { output: Buffer.from(run.stdout), sourceOf }
  })
}

function inAnswer<T>(read: () => T): T {
  try {
    return read()
  } catch (cause) {
    if (cause instanceof AppError && cause.kind === 'too_large') throw cause
    throw new AppError('unavailable', 'opa eval does not respond like opa', { cause })
  }
}

/** Parses only the parts that are needed: the whole output would delay decisions. */
function partOf(output: Buffer, { start, end }: Extent): unknown {
  return JSON.parse(output.toString('utf8', start, end))
}

function membersAt(output: Buffer, extent: Extent | undefined): ReadonlyMap<string, Extent> {
  return (extent && readMembers(output, extent.start)) ?? new Map<string, Extent>()
}

function coverageIn(
  output: Buffer,
  answer: ReadonlyMap<string, Extent>,
  isWanted: (name: string) => boolean,
): { readonly name: string; readonly coverage: LineCoverage }[] {
  const files = membersAt(output, membersAt(output, answer.get('coverage')).get('files'))
  return [...files]
    .filter(([name]) => isWanted(name))
    .map(([name, extent]) => ({ name, coverage: linesOf(CoverageRanges.parse(partOf(output, extent))) }))
}
