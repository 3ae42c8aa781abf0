import { z } from 'zod'
import { ProblemCollector } from '../../../lib/validation/problem-collector.js'
import {
  DEFAULT_THRESHOLDS,
  readMetricSpecs,
  unknownKeys,
  type ScoreThresholds,
} from '../../../canary/index.js'
import { readCanaryQueries } from './canary-queries.js'
import type { MetricTemplate } from './metric-template.js'

/** `readMetricSpecs` refuses a malformed classifier. Kayenta writes what is left out as null. */
const Classified = z.looseObject({
  classifier: z
    .looseObject({
      groupWeights: z.record(z.string(), z.number()).nullish(),
      scoreThresholds: z
        .looseObject({ pass: z.number().nullish(), marginal: z.number().nullish() })
        .nullish(),
    })
    .nullish(),
})
type Classifier = NonNullable<z.output<typeof Classified>['classifier']>

/** The metrics of a canary config with the scores that it asks for, if any. */
export interface CanaryGroups extends MetricTemplate {
  readonly thresholds: ScoreThresholds | undefined
  /** The stores of metrics that its queries say to be of. */
  readonly queryTypes: readonly string[]
}

/** A canary config of Kayenta with the queries and groups of its metrics. Raises `invalid` naming everything wrong. */
export function readCanaryGroups(canaryConfig: unknown): CanaryGroups {
  const problems = new ProblemCollector()
  const queries = problems.attempt(() => readCanaryQueries(canaryConfig))
  const specs = problems.attempt(() => readMetricSpecs(canaryConfig)) ?? []
  problems.raise()
  const warnings = unknownKeys(canaryConfig)
  const { classifier } = Classified.safeParse(canaryConfig).data ?? {}
  return {
    metrics: specs.flatMap((spec) => {
      const asked = queries?.byMetric.get(spec.name)
      return asked === undefined ? [] : [{ spec, ...asked }]
    }),
    groupWeights: classifier?.groupWeights ?? {},
    thresholds: thresholdsOf(classifier),
    queryTypes: queries?.types ?? [],
    ...(warnings.length > 0 && { warnings }),
  }
}

function thresholdsOf(classifier: Classifier | null | undefined): ScoreThresholds | undefined {
  const { pass, marginal } = classifier?.scoreThresholds ?? {}
  if (typeof pass !== 'number' && typeof marginal !== 'number') return undefined
  return { pass: pass ?? DEFAULT_THRESHOLDS.pass, marginal: marginal ?? DEFAULT_THRESHOLDS.marginal }
}
