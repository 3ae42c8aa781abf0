import { z } from 'zod'

const Labels = {
  title: z.string().optional(),
  description: z.string().optional(),
  custom: z.looseObject({}).optional().describe('`custom` of `# METADATA`.'),
}
const Values = z.array(
  z.object({
    term: z.string(),
    values: z.array(z.string()).describe('JSON: none if undefined, several for `_`.'),
  }),
)
const Place = { file: z.string(), row: z.int(), col: z.int(), text: z.string() }
const Helpers = z.array(z.looseObject({})).describe('Rules and functions that it uses, in the same form.')
const FailedCondition = z.looseObject({
  ...Place,
  source: z.string().describe('The line of source.'),
  count: z.int().describe('How often it was evaluated.'),
  samples: z.array(z.object({ values: Values, count: z.int() })),
  inEvery: z.looseObject({}).optional().describe('The failed condition within `every`, and its element.'),
  because: Helpers,
})
const Rule = z.looseObject({
  ...{ package: z.string(), rule: z.string(), ...Place, ...Labels },
  outcome: z.enum(['fired', 'not_fired', 'default', 'not_evaluated']),
  args: z.array(z.string()).optional(),
  results: z.array(
    z.object({ value: z.string(), key: z.string().optional(), values: Values, count: z.int() }),
  ),
  failed: FailedCondition.optional(),
  because: Helpers,
})

/** Why the rules of a trial have their values. Rules nest through `because`. */
export const TrialExplanation = z.looseObject({
  packages: z.array(z.object({ package: z.string(), ...Labels, rules: z.array(Rule) })),
  rulesLeftOut: z.int(),
  isCut: z.boolean().describe('Whether the evaluation had more values than an explanation has.'),
})

/** Why a decision was made. */
export const Explanation = TrialExplanation.extend({
  ...{ decisionId: z.string(), revision: z.string(), outcome: z.string() },
  reproduced: z
    .boolean()
    .optional()
    .describe('Whether the evaluation gave the recorded result again; absent if unknown.'),
  error: z.string().optional().describe('Why the evaluation failed. The explanation ends there.'),
  notes: z.array(z.object({ code: z.string(), message: z.string() })),
})
