import { z } from 'zod'
import { AppError } from '../../errors.js'
import { readMetricSpecs } from '../judge/canary-config.js'
import type { ScoreThresholds } from '../judge/types.js'
import { readCanaryQueries } from './canary-queries.js'
import type { MetricTemplate } from './metric-template.js'

/** `readMetricSpecs` refuses a malformed classifier. */
const Classified = z.looseObject({
  classifier: z
    .looseObject({
      groupWeights: z.record(z.string(), z.number()).optional(),
      scoreThresholds: z.looseObject({ pass: z.number(), marginal: z.number() }).optional(),
    })
    .optional(),
})

/** The metrics of a canary config with the scores that it asks for, if any. */
export interface CanaryGroups extends MetricTemplate {
  readonly thresholds: ScoreThresholds | undefined
}

/** A canary config of Kayenta with the queries and groups of its metrics. Raises `invalid` naming everything wrong. */
export function readCanaryGroups(canaryConfig: unknown): CanaryGroups {
  const queries = readCanaryQueries(canaryConfig)
  const metrics = readMetricSpecs(canaryConfig).map((spec) => {
    const asked = queries.get(spec.name)
    if (asked === undefined) throw new AppError('invalid', `metric ${spec.name} has no query`)
    return { spec, ...asked }
  })
  const { classifier } = Classified.safeParse(canaryConfig).data ?? {}
  return {
    metrics,
    groupWeights: classifier?.groupWeights ?? {},
    thresholds: classifier?.scoreThresholds,
  }
}
