import { z } from 'zod'

import { queryDecisionsAbout } from '../../../decisions/query-decisions.js'
import type { DecisionView } from '../../../decisions/decision-view.js'
import { AppError } from '../../../errors/app-error.js'
import {
  coveragePercent,
  pathOfKey,
  printPackageName,
  type CoveredInput,
  type FileCoverage,
  type OpaTest,
  type Snapshot,
} from '../../../rego/index.js'
import { jsonAnswer } from '../../exchange/json-answer.js'
import { textOf } from '../../input/path-parameter.js'
import { json, pageSize } from '../../pipeline/answer-schemas.js'
import { routesOf } from '../../pipeline/define-routes.js'
import type { KeptDecisions } from '../trail/decisions.js'
import type { PolicyTrials } from './playground.js'

export interface PackageTestsDeps {
  readonly policies: { readonly current: Snapshot }
  readonly trials: Pick<PolicyTrials, 'testPackage' | 'coverInputs'>
  /** Absent if decisions are not stored. */
  readonly decisions: KeptDecisions | undefined
}

/** Largest number of decisions whose coverage is measured. */
const MAX_DECISIONS = 200
export const DEFAULT_DECISIONS = 100

/** The tests of a package, and the lines of its files that they evaluate. */
export interface TestedPackage {
  readonly tests: readonly OpaTest[]
  readonly coverage: readonly FileCoverage[]
}

/** The lines of a package's files that stored decisions evaluate. */
export interface CoveredPackage {
  /** Number of decisions with a complete input. */
  readonly decisions: number
  readonly coverage: readonly FileCoverage[]
}

/** Runs the tests of a loaded package. Raises `not_found`, and as `PolicyTrials`. */
export async function runPackageTests(name: string, deps: PackageTestsDeps): Promise<TestedPackage> {
  const { path, files } = packageNamed(name, deps)
  const { tests, coverage } = await deps.trials.testPackage(path)
  return { tests, coverage: coverage.filter(({ file }) => files.has(file)) }
}

/**
 * Evaluates the inputs of the latest stored decisions about a package again, and returns the
 * evaluated lines. Raises `not_found`, and as `PolicyTrials`.
 */
export async function coverPackage(
  name: string,
  limit: number,
  deps: PackageTestsDeps,
): Promise<CoveredPackage> {
  const { path, files } = packageNamed(name, deps)
  const { decisions } = deps
  if (decisions === undefined)
    throw new AppError('not_found', 'Decisions are not stored. Set decisions.enabled to true.')
  const own = path.join('/')
  const about = { path: own, packageName: name }
  const latest = await queryDecisionsAbout(decisions, about, { limit, inputs: 'true' })
  const inputs = latest.decisions.flatMap((decision) => coveredInput(decision, own))
  const coverage = inputs.length === 0 ? [] : await deps.trials.coverInputs(inputs, files)
  return { decisions: inputs.length, coverage }
}

/** A decision over several packages evaluates the whole package. */
function coveredInput({ path, input }: DecisionView, own: string): CoveredInput[] {
  if (input === undefined) return []
  return [{ path: `${path}/`.startsWith(`${own}/`) ? path : own, input: input.text }]
}

function packageNamed(
  name: string,
  { policies: { current } }: PackageTestsDeps,
): { readonly path: readonly string[]; readonly files: ReadonlySet<string> } {
  const key = current.packages.find((each) => printPackageName(pathOfKey(each)) === name)
  if (key === undefined) throw new AppError('not_found', `The package ${name} is not loaded.`)
  const sources = current.sourcesOf(key)
  if (sources.length === 0)
    throw new AppError('not_found', `The bundle with the package ${name} does not include Rego sources.`)
  return { path: pathOfKey(key), files: new Set(sources.map(({ file }) => file)) }
}

const Lines = z.array(z.int())
const Coverage = z
  .array(
    z.object({
      file: z.string(),
      covered: Lines,
      uncovered: Lines.describe('Lines with code that were not evaluated.'),
      percent: z.number(),
    }),
  )
  .describe('Coverage of the files of the package; empty if nothing was evaluated.')
const Test = z.object({
  ...{ package: z.string(), name: z.string(), file: z.string(), row: z.int() },
  outcome: z.enum(['pass', 'fail', 'error', 'skip']),
  notes: z.array(z.string()).describe('The error, failed cases, and printed output.'),
  cases: z.array(z.object({ names: z.array(z.string()), passes: z.boolean() })).optional(),
  values: z
    .array(z.object({ file: z.string(), row: z.int(), text: z.string() }))
    .optional()
    .describe('The failed expressions of a failed test, with the values of their variables.'),
})
const PACKAGE = { package: textOf('Name of a loaded package, such as `app.rules`.') }

const { route } = routesOf<PackageTestsDeps>()

/** Tests and coverage of a loaded package. Nothing is recorded. */
export const packageTestRoutes = [
  route({
    method: 'POST',
    path: '/policies/packages/:package/tests',
    roles: ['author', 'auditor'],
    handler: 'policies',
    summary: 'Run the tests of a package against the policies that serve',
    params: PACKAGE,
    answers: {
      200: json('The results.', z.object({ tests: z.array(Test), coverage: Coverage })),
      404: { description: 'The package is not loaded, or its sources are not available.' },
    },
    answer: async ({ params }, deps) => {
      const { tests, coverage } = await runPackageTests(params.package, deps)
      return jsonAnswer({ tests, coverage: withPercent(coverage) })
    },
  }),
  route({
    method: 'POST',
    path: '/policies/packages/:package/coverage',
    roles: ['auditor'],
    handler: 'policies',
    summary: 'The lines of a package that its latest stored decisions evaluate',
    params: PACKAGE,
    query: z.strictObject({ limit: pageSize(MAX_DECISIONS, DEFAULT_DECISIONS) }),
    answers: {
      200: json(
        'The evaluated lines.',
        z.object({
          decisions: z
            .int()
            .describe('Number of decisions with a complete input, as it was stored after masking.'),
          coverage: Coverage,
        }),
      ),
      404: { description: 'The package is not loaded, or decisions are not stored.' },
    },
    answer: async ({ params, query: { limit } }, deps) => {
      const { decisions, coverage } = await coverPackage(params.package, limit, deps)
      return jsonAnswer({ decisions, coverage: withPercent(coverage) })
    },
  }),
]

function withPercent(coverage: readonly FileCoverage[]): z.output<typeof Coverage> {
  return coverage.map(({ file, covered, uncovered }) => ({
    ...{ file, covered: [...covered], uncovered: [...uncovered] },
    percent: coveragePercent([{ covered, uncovered }]),
  }))
}
