import { z } from 'zod'

import { ProblemCollector } from '../../../lib/validation/problem-collector.js'
import {
  DEFAULT_THRESHOLDS,
  readMetricSpecs,
  unknownKeys,
  type ScoreThresholds,
  CanaryQuery,
  type CanaryQueryMembers,
} from '../../../canary/index.js'
import type { MetricTemplate } from './metric-template.js'
import { AppError } from '../../../errors/app-error.js'
import type { ErrorDetail } from '../../../errors/app-error.js'
import { readBySchema } from '../../../lib/validation/read-by-schema.js'
import type { SeriesAggregate } from '../../sources.js'
import type { BuiltQuery } from './prometheus-query.js'
import { foreignMembers, withMetricName, buildStoreQuery, storeOf } from './store-query.js'

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

/** The metrics of a canary config with its scores, if any. */
interface CanaryGroups extends MetricTemplate {
  readonly thresholds: ScoreThresholds | undefined
  /** The stores of metrics that its queries say to be of. */
  readonly queryTypes: readonly string[]
}

/**
 * Reads a canary config of Kayenta with the queries and groups of its metrics. Raises `invalid`
 * with all problems.
 */
export function readCanaryGroups(canaryConfig: unknown): CanaryGroups {
  const problems = new ProblemCollector()
  const queries = problems.attempt(() => readCanaryQueries(canaryConfig))
  const specs = problems.attempt(() => readMetricSpecs(canaryConfig)) ?? []
  problems.raise()
  const warnings = unknownKeys(canaryConfig)
  const { classifier } = Classified.safeParse(canaryConfig).data ?? {}
  return {
    metrics: specs.flatMap((spec) => {
      const configured = queries?.byMetric.get(spec.name)
      return configured === undefined ? [] : [{ spec, ...configured }]
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

const Config = z.looseObject({
  metrics: z
    .array(
      z.looseObject({
        name: z.string().min(1),
        query: CanaryQuery.nullish(),
        exposureQuery: CanaryQuery.nullish(),
      }),
    )
    .min(1),
  templates: z.record(z.string(), z.string()).nullish(),
})

type Built = Extract<BuiltQuery, { readonly text: string }>

/** The queries of one metric: its values, and its exposure if configured. */
interface CanaryQueries {
  readonly query: string
  readonly exposureQuery: string | undefined
  /** The aggregate of several series, if configured. */
  readonly aggregate?: SeriesAggregate | undefined
}

/** The queries of a canary config, and the types of their stores. */
interface ConfigQueries {
  readonly byMetric: ReadonlyMap<string, CanaryQueries>
  /** Each `query.type`, once. */
  readonly types: readonly string[]
}

/**
 * The queries of each metric of a canary config of Kayenta, by the metric's name (analysis.md 1.1).
 * Raises `invalid` with all queries that cannot be built.
 */
export function readCanaryQueries(document: unknown): ConfigQueries {
  const { metrics, templates } = readBySchema(Config, document, {
    name: 'the canary config',
    code: 'invalid_field',
  })
  const byMetric = new Map<string, CanaryQueries>()
  const problems: ErrorDetail[] = []
  const build = (name: string, member: string, configured: CanaryQueryMembers | null | undefined): Built => {
    const query = configured ?? {}
    const refuse = (problem: string): void =>
      void problems.push({ code: 'invalid_query', message: `metric ${name}: ${member} ${problem}` })
    foreignMembers(query, storeOf(query)).forEach(refuse)
    const built = buildStoreQuery(query, templates ?? {})
    const named = 'text' in built ? withMetricName(built.text, query.metricName) : built
    if ('text' in named) return { ...built, ...named }
    refuse(named.problem)
    return { text: '' }
  }
  for (const { name, query, exposureQuery } of metrics) {
    const { text, aggregate } = build(name, 'query', query)
    byMetric.set(name, {
      query: text,
      exposureQuery: exposureQuery ? build(name, 'exposureQuery', exposureQuery).text : undefined,
      ...(aggregate !== undefined && { aggregate }),
    })
  }
  if (problems.length > 0) {
    throw new AppError(
      'invalid',
      `these queries cannot be built: ${problems.map(({ message }) => message).join('; ')}`,
      {
        details: problems,
      },
    )
  }
  const configured = metrics.flatMap(({ query, exposureQuery }) => [
    storeOf(query ?? {}),
    storeOf(exposureQuery ?? {}),
  ])
  return { byMetric, types: [...new Set(configured.filter((type) => type !== undefined))] }
}
