import { Option } from 'commander'
import type { Command } from 'commander'
import { z } from 'zod'

import { EXPLAIN_MODES, type FailedCondition, type RuleExplanation } from '../../rego/index.js'
import { printable } from '../../lib/text/shown-text.js'
import { explanationText } from '../../explain/explanation-text.js'
import { makeServiceClient } from '../session/service-client.js'
import { addServiceOptions } from '../session/service-options.js'
import type { ServiceOptions } from '../session/service-options.js'
import { EXIT } from '../session/session.js'
import type { Session } from '../session/session.js'
import { examples, outJson } from '../session/shared-options.js'

const Values = z.array(z.object({ term: z.string(), values: z.array(z.string()) }))
const Sample = z.object({ values: Values, count: z.number() })
const Place = { file: z.string(), row: z.number(), col: z.number(), text: z.string() }
const Labels = {
  title: z.string().optional(),
  description: z.string().optional(),
  custom: z.record(z.string(), z.unknown()).optional(),
}
const Rule: z.ZodType<RuleExplanation> = z.lazy(() =>
  z.object({
    ...{ package: z.string(), rule: z.string(), ...Place, ...Labels },
    outcome: z.enum(['fired', 'not_fired', 'default', 'not_evaluated']),
    args: z.array(z.string()).optional(),
    results: z.array(Sample.extend({ value: z.string(), key: z.string().optional() })),
    failed: Failed.optional(),
    because: z.array(Rule),
  }),
)
const FailedMembers = z.object({
  ...{ ...Place, source: z.string(), count: z.number(), samples: z.array(Sample) },
  because: z.array(Rule),
})
const Failed: z.ZodType<FailedCondition> = z.lazy(() =>
  FailedMembers.extend({
    inEvery: z.intersection(Failed, z.object({ element: Values })).optional(),
  }),
)
const Answer = z.looseObject({
  ...{ decisionId: z.string(), revision: z.string(), outcome: z.string() },
  error: z.string().optional(),
  notes: z.array(z.object({ code: z.string(), message: z.string() })),
  packages: z.array(z.object({ package: z.string(), ...Labels, rules: z.array(Rule) })),
  rulesLeftOut: z.number(),
  isCut: z.boolean(),
})

interface WhyOptions extends ServiceOptions {
  readonly explain: string
  readonly package?: string
  readonly own?: boolean
}

/** `tidegate decisions why ID`: explains a decision by its rules, conditions and values. */
export function defineWhy(command: Command, session: Session): void {
  addServiceOptions(command)
    .description(
      'Explains a decision: the rules that fired with their values, and for each other rule the first condition that did not hold. The service evaluates the stored input with the policies that decided.',
    )
    .addOption(
      new Option('--explain <mode>', 'notes for rules that fired, fails for the others, full for both')
        .choices(EXPLAIN_MODES)
        .default('full'),
    )
    .option('--package <name>', 'only this package; by default those that denied, or all of them')
    .option('--own', 'if several services share a database: only decisions of the called service')
    .addHelpText(
      'after',
      examples(
        'tidegate decisions why 01a1fc8e-f0c0-751d-96e3-cdae4828646a',
        'tidegate decisions why 01a1fc8e-… --package static.wait_time --explain fails',
      ),
    )
    .action(async (id: string, { explain, package: name, own, ...options }: WhyOptions) => {
      const client = await makeServiceClient(options, session.terminal)
      const path = `/decisions/${encodeURIComponent(id)}/why`
      const answer = await client.request(Answer, { path, query: { explain, package: name, own } })
      if (options.format === 'json') outJson(session.terminal, answer)
      else session.terminal.out(whyText(answer))
      session.exitCode = EXIT.fine
    })
}

function whyText(answer: z.output<typeof Answer>): string {
  const { decisionId, outcome, revision, error, notes } = answer
  const lines = [
    `decision ${decisionId}: ${outcome}, by revision ${revision}`,
    ...(error === undefined ? [] : [`the evaluation failed: ${error}`]),
    ...notes.map(({ message }) => `note: ${message}`),
  ]
  return `${printable(`${lines.join('\n')}\n`)}\n${explanationText(answer)}`
}
