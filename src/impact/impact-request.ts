import { z } from 'zod'

/** The default and largest number of inputs of a run. */
export const DEFAULT_CASES = 100_000
const MAX_CASES = 1_000_000
const MAX_INPUTS = 10_000
const MAX_FILES = 20_000
const MAX_NAME = 1000

/** A path that stays below its directory on every system. */
const FilePath = z
  .string()
  .regex(
    /^(?!.*(?:^|\/)\.{1,2}(?:\/|$))(?:[^/\\\0:]+\/)*[^/\\\0:]+\.(?:rego|json|ya?ml)$/,
    'must be a relative path to a .rego, .json or .yaml file, with / between names',
  )
  .max(500)

const PolicyFiles = z
  .record(FilePath, z.string())
  .refine((files) => Object.keys(files).length <= MAX_FILES, `holds over ${MAX_FILES} files`)

/** A set of policies as sent: directories of files, a bundle, or changes of those that serve. */
export const SentPolicies = z
  .strictObject({
    name: z.string().min(1).max(200).optional().describe('Name in the result, such as a branch.'),
    directories: z
      .array(PolicyFiles)
      .min(1)
      .max(100)
      .optional()
      .describe(
        'Texts of Rego and data files by path, for each policy directory. They are compiled together.',
      ),
    bundle: z.base64().optional().describe('An OPA bundle (`.tar.gz`) in base64.'),
    changes: z
      .record(z.string().min(1).max(MAX_NAME), z.string())
      .optional()
      .describe(
        'Texts of Rego files by name, which replace or join those of the policies that serve. `sources` of a policy has the names.',
      ),
  })
  .refine(
    ({ directories, bundle, changes }) =>
      [directories, bundle, changes].filter((each) => each !== undefined).length === 1,
    'must have exactly one of directories, bundle and changes',
  )
export type SentPolicies = z.output<typeof SentPolicies> & {
  /** A bundle that was sent as it is, in place of `bundle`. */
  readonly archive?: Uint8Array
}

/** The policies that serve. */
export const SERVING = 'serving'

const OVER = ['decisions', 'pipelines'] as const

/** What to compare, and over which inputs. */
export const ImpactRequest = z.strictObject({
  policies: SentPolicies.describe('The candidate: the whole set of policies and data.'),
  against: z
    .union([z.string().min(1), SentPolicies])
    .default(SERVING)
    .describe('`serving`, a revision whose policies are stored because they served, or another set.'),
  over: z
    .array(z.enum(OVER))
    .default([])
    .describe(
      'Stored inputs: `decisions` of the log, `pipelines` of the registry. By default decisions, unless there are `inputs`.',
    ),
  inputs: z
    .array(
      z.strictObject({
        name: z.string().min(1).max(1000),
        input: z
          .union([z.looseObject({}), z.string()])
          .describe('Input of the static policies; as a string with JSON, numbers keep their digits.'),
      }),
    )
    .max(MAX_INPUTS)
    .default([]),
  since: z.iso.datetime({ offset: true }).optional().describe('Earliest decision.'),
  until: z.iso.datetime({ offset: true }).optional().describe('Latest decision, exclusive.'),
  application: z.string().min(1).optional(),
  limit: z
    .int()
    .min(1)
    .max(MAX_CASES)
    .default(DEFAULT_CASES)
    .describe('Maximum inputs, the newest decisions first.'),
})
export type ImpactRequest = Omit<z.output<typeof ImpactRequest>, 'policies'> & {
  readonly policies: SentPolicies
}

/** Returns the stored inputs to evaluate. */
export function storedInputs({ over, inputs }: ImpactRequest): ImpactRequest['over'] {
  return over.length === 0 && inputs.length === 0 ? ['decisions'] : over
}
