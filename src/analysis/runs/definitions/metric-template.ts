import { z } from 'zod'
import { readBySchema } from '../../../lib/validation/read-by-schema.js'
import { anyCase, readMetricSpecs } from '../../../canary/index.js'
import { QueryText } from './definition.js'
import type { PlannedMetric } from './plan.js'

const PERCENT = 100
/** Maximum length of a group's name, which each of its metrics repeats. */
const MAX_GROUP_LENGTH = 200

const percent = z.coerce.number().min(0).max(10_000)
const flag = z.union([z.boolean(), z.enum(['true', 'false']).transform((text) => text === 'true')])

/** The words of the GitOps clients, and those of a canary config. */
const DIRECTIONS = {
  ...{ Higher: 'increase', Lower: 'decrease', HigherOrLower: 'either' },
  ...{ increase: 'increase', decrease: 'decrease', either: 'either' },
} as const
const riskDirection = anyCase(['Higher', 'Lower', 'HigherOrLower', 'increase', 'decrease', 'either'])
  .transform((word) => DIRECTIONS[word])
  .nullish()

/** Settings for all metrics or for a single one. */
const Shared = {
  riskDirection,
  direction: z.null({ error: 'is riskDirection in a metric template' }).optional(),
  metricWeight: z.coerce.number().min(0).optional(),
  nanStrategy: z.string().optional(),
  criticality: z.string().optional(),
  customThresholdHigher: percent.optional(),
  customThresholdHigherPercentage: percent.optional(),
  customThresholdLower: percent.optional(),
  customThresholdLowerPercentage: percent.optional(),
}

const Metric = z.looseObject({
  ...Shared,
  name: QueryText,
  watchlist: flag.optional(),
  exposureQuery: QueryText.optional(),
})

const Data = z.looseObject({
  ...Shared,
  groups: z
    .array(z.looseObject({ group: z.string().min(1).max(MAX_GROUP_LENGTH), metrics: z.array(Metric).min(1) }))
    .min(1),
})

const Template = z
  .looseObject({ ...Shared, data: Data.optional(), metricTemplateSetup: Data.optional() })
  .refine(({ data, metricTemplateSetup }) => (data ?? metricTemplateSetup) !== undefined, {
    error: 'needs data, with its groups of metrics',
  })

/** The metrics of a template, with the weight of each group. */
export interface MetricTemplate {
  readonly metrics: readonly PlannedMetric[]
  readonly groupWeights: Readonly<Record<string, number>>
  /** Sentences about unread members. */
  readonly warnings?: readonly string[] | undefined
}

type SharedMembers = Pick<z.output<typeof Metric>, keyof typeof Shared>

/**
 * Reads a metric template in the shape of the GitOps clients (analysis.md 3.4, "Metric template
 * fields"), in which a metric's name is its query. Weights within a group only mark metrics that do
 * not count (0). Raises `invalid` with all problems.
 */
export function readMetricTemplate(document: unknown): MetricTemplate {
  const template = readBySchema(Template, document, { name: 'the metric template', code: 'invalid_field' })
  const data = template.data ?? template.metricTemplateSetup
  const groups = data?.groups ?? []
  const shared: SharedMembers = { ...template, ...data }
  const metrics = groups.flatMap(({ group, metrics: members }) =>
    members.map((metric) => ({ group, metric: { ...metric, ...withDefaults(metric, shared) } })),
  )
  const times = new Map<string, number>()
  for (const { metric } of metrics) times.set(metric.name, (times.get(metric.name) ?? 0) + 1)
  const specs = readMetricSpecs({
    metrics: metrics.map(({ group, metric }) => ({
      // A query may be in several groups; results are distinguished by their names.
      name: (times.get(metric.name) ?? 0) > 1 ? `${group}: ${metric.name}` : metric.name,
      groups: [group],
      analysisConfigurations: { canary: toCanary(metric) },
    })),
  })
  const planned = specs.map((spec, index) => {
    const { name = spec.name, exposureQuery } = metrics[index]?.metric ?? {}
    return { spec, query: name, ...(exposureQuery !== undefined && { exposureQuery }) }
  })
  return { metrics: planned, groupWeights: weighGroups(metrics) }
}

function withDefaults(metric: SharedMembers, shared: SharedMembers): SharedMembers {
  const names = Object.keys(Shared) as (keyof SharedMembers)[]
  return Object.fromEntries(names.map((name) => [name, metric[name] ?? shared[name]]))
}

function toCanary(metric: SharedMembers & { readonly watchlist?: boolean | undefined }): object {
  const higher = metric.customThresholdHigherPercentage ?? metric.customThresholdHigher
  const lower = metric.customThresholdLowerPercentage ?? metric.customThresholdLower
  const margins = [higher, lower].filter((margin) => margin !== undefined)
  return {
    direction: metric.riskDirection,
    nanStrategy: /replace|zero/i.test(metric.nanStrategy ?? '') ? 'replace' : 'remove',
    critical: /critical|high|must/i.test(metric.criticality ?? ''),
    // A metric on the watch list is shown and does not count.
    muted: metric.watchlist === true || metric.metricWeight === 0,
    ...(margins.length > 0 && marginOf(Math.min(...margins) / PERCENT)),
  }
}

/** A margin above all of the baseline is an allowed ratio. */
function marginOf(margin: number): object {
  return margin <= 1 ? { margin } : { effectSize: { allowedIncrease: 1 + margin, allowedDecrease: 0 } }
}

/**
 * The weight of a group is the sum of its metrics' weights, as a share of 100. Without any weight
 * all groups are equal.
 */
function weighGroups(
  metrics: readonly { readonly group: string; readonly metric: SharedMembers }[],
): Readonly<Record<string, number>> {
  const sums = new Map<string, number>()
  for (const { group, metric } of metrics) {
    sums.set(group, (sums.get(group) ?? 0) + (metric.metricWeight ?? 0))
  }
  const total = [...sums.values()].reduce((sum, weight) => sum + weight, 0)
  if (total === 0) return {}
  return Object.fromEntries([...sums].map(([group, weight]) => [group, (weight / total) * PERCENT]))
}
