import { z } from 'zod'

import { jsonAnswer } from '../../exchange/json-answer.js'
import { jsonBody } from '../../input/body-reader.js'
import { json } from '../../pipeline/answer-schemas.js'
import { routesOf } from '../../pipeline/define-routes.js'
import type {
  CoveredInput,
  Explanation,
  FileCoverage,
  PackageTestRun,
  PolicyTrialResult,
} from '../../../rego/index.js'
import { TrialExplanation } from '../trail/explanation-schema.js'

/** A file of Rego to try together with the loaded policies. */
export interface SourceTrial {
  /** Loaded file that it replaces, as `sources` of the policy names it. */
  readonly file?: string | undefined
  readonly text: string
  /** The document to evaluate: `app/rules/deny`. */
  readonly path: string
  /** JSON text; undefined without an input. */
  readonly input?: string | undefined
  /** Whether to explain which rules fired and why the others did not. */
  readonly explain?: boolean
}

/** The value of the document, and the evaluated lines of the file. */
export interface TriedSource extends PolicyTrialResult {
  /** Present if it was requested. */
  readonly explanation?: Explanation
}

/**
 * Evaluations for authors of policies, off the path of decisions. Each raises `invalid` with every
 * problem of the Rego, and `unavailable` if too many wait or a limit is exceeded.
 */
export interface PolicyTrials {
  /** Evaluates a document with a changed file. */
  readonly trySource: (trial: SourceTrial) => Promise<TriedSource>
  /** Runs the tests of a loaded package. */
  readonly testPackage: (packagePath: readonly string[]) => Promise<PackageTestRun>
  /** Returns the lines of loaded files that inputs evaluate. */
  readonly coverInputs: (
    inputs: readonly CoveredInput[],
    files: ReadonlySet<string>,
  ) => Promise<readonly FileCoverage[]>
}

export interface PlaygroundRoutesDeps {
  readonly trials: Pick<PolicyTrials, 'trySource'>
  readonly maxBodyBytes: number
}

const MAX_PATH = 1000
const MAX_FILE = 1000
const Trial = z.strictObject({
  file: z
    .string()
    .max(MAX_FILE)
    .optional()
    .describe('The loaded file that the text replaces. Without it, the text is added.'),
  text: z.string().min(1).describe('Rego.'),
  path: z.string().max(MAX_PATH).describe('Path of the document to evaluate, such as `app/rules/deny`.'),
  input: z.unknown().optional(),
  explain: z
    .boolean()
    .default(false)
    .describe('Whether to explain which rules fired and why the others did not.'),
})
const Lines = z.array(z.int())

/** `POST /playground`: tries a changed policy. Nothing is recorded and nothing is put in service. */
export const playgroundRoutes = [
  routesOf<PlaygroundRoutesDeps>().route({
    method: 'POST',
    path: '/playground',
    roles: ['author', 'auditor'],
    handler: 'playground',
    summary: 'Evaluate a document with a changed policy file, without putting it in service',
    body: jsonBody(Trial),
    answers: {
      200: json(
        'The result; without `result` if the document is undefined.',
        z.object({
          result: z.unknown().optional(),
          coverage: z
            .object({ covered: Lines, uncovered: Lines })
            .describe('Lines of the file that were evaluated, and those that were not.'),
          explanation: TrialExplanation.optional(),
        }),
      ),
    },
    answer: async ({ body: { input, ...trial } }, { trials }) => {
      const { value, ...tried } = await trials.trySource({
        ...trial,
        input: input === undefined ? undefined : JSON.stringify(input),
      })
      return jsonAnswer({ result: value, ...tried })
    },
  }),
]
